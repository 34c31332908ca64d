"""Small data files, in every form that can be read."""

import bz2
import gzip
import lzma

import numpy as np

from pairlearn.datasets.files import Part, Source, fingerprint
from pairlearn.datasets.parsers import read_csv

COMPRESS = {
    "": lambda content: content,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".Z": lambda content: unix_compress(content),
}
CSV = b"0.5,1,a\n-2,3e1,b\n"


def unix_compress(content, max_width=10, clear_every=400):
    """What the program compress writes, in the simplest way; gzip -d agrees."""
    out, n_bits, group, width, n_codes, n_known = 0, 0, 0, 9, 0, 257
    table, word = {bytes([k]): k for k in range(256)}, b""

    def fill_up():
        return n_bits + -(n_bits - group) % (8 * width)

    for k in range(len(content) + 1):
        letter = content[k : k + 1]
        if letter and word + letter in table:
            word += letter
            continue
        if word:
            out |= table[word] << n_bits
            n_bits, n_codes = n_bits + width, n_codes + 1
            # The reader knows a string one code later than the writer.
            n_known = min(257 + n_codes - 1, 1 << max_width)
            if n_known == 1 << width and width < max_width:
                n_bits = group = fill_up()
                width += 1
            if len(table) + 1 < 1 << max_width:
                table[word + letter] = len(table) + 1
        if n_codes == clear_every:
            out |= 256 << n_bits
            n_bits += width
            n_bits = group = fill_up()
            width, n_codes = 9, 0
            table = {bytes([k]): k for k in range(256)}
        word = letter
    head = b"\x1f\x9d" + bytes([128 + max_width])
    return head + out.to_bytes(-(-n_bits // 8), "little")


def table(source=None, right=True):
    """A part with one file, the CSV above."""
    content = np.array([[0.5, 1], [-2, 30]]), np.array(["a", "b"])
    source = source or Source("set/table", "http://127.0.0.1:9/table")
    good = fingerprint(content)
    return Part((source,), lambda paths: read_csv(paths[0], 2), good if right else "0")
