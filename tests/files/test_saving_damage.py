"""Model files that are cut, changed or not ours: refused, never another model."""

import io
import json
import pickle
import struct
import subprocess
import sys
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.lib import format as npy
from scipy import sparse

from pairlearn import CIPSClassifier, load
from pairlearn.files.archive import HEADER, SCHEMA
from tests.support.model_files import (
    attribute,
    forged,
    json_node,
    members_of,
    node,
    refused,
    refused_by_both,
    saved,
    tuple_node,
    unchecked,
    zipped,
)


def test_truncated_files_are_refused(model_file, tmp_path):
    data = model_file[0].read_bytes()
    for size in [*range(60), *np.linspace(60, len(data) - 1, 60).astype(int)]:
        refused(data[:size], tmp_path)
    refused(data[len(data) // 2 :], tmp_path)
    # Zip files may have anything before them; this one then has the wrong length.
    refused(b"#!/bin/sh\n" + data[100:], tmp_path)


FLIPS = """
import json, mmap, resource, signal, sys, warnings
from pathlib import Path
import numpy as np
import pandas as pd
from pairlearn import load
from pairlearn.files.saving import ModelFileError, describe
path, bad, n_flips = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
warnings.simplefilter("ignore")
data, said = path.read_bytes(), describe(path)
points = json.loads(path.with_suffix(".json").read_text())["points"]
X = pd.DataFrame(points) if isinstance(points, dict) else np.array(points)
expected = load(path).decision_function(X)
now = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
resource.setrlimit(resource.RLIMIT_AS, (now + 2**30, now + 2**30))
rng, n_refused = np.random.default_rng(0), 0
places = rng.choice(8 * len(data), n_flips, replace=False)
for place in places:
    broken = bytearray(data)
    broken[place // 8] ^= 1 << (place % 8)
    bad.write_bytes(broken)
    signal.setitimer(signal.ITIMER_PROF, 30)
    try:
        again = load(bad)
    except ModelFileError as error:
        assert "MemoryError" not in str(error), error
        n_refused += 1
        continue
    # The date of a member, say, may be flipped without harm.
    np.testing.assert_array_equal(again.decision_function(X), expected)
    assert describe(bad) == said
print(n_refused)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
@pytest.mark.parametrize(("name", "n_flips"), [("cips", 200), ("columns", 100)])
def test_flipped_bits_never_load_as_another_model(name, n_flips, tmp_path):
    """Within a gigabyte, and half a minute each; `make fuzz` flips more."""
    path = Path(__file__).parent / "stored" / f"{name}-0.1.0.skops"
    done = subprocess.run(
        [sys.executable, "-c", FLIPS, path, tmp_path / "bad.skops", str(n_flips)],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert n_flips // 2 < int(done.stdout) < n_flips


def test_shuffled_and_zeroed_blocks_are_refused(model_file, tmp_path):
    data = model_file[0].read_bytes()
    for start in range(0, len(data) - 64, 97):
        zeroed = data[:start] + bytes(64) + data[start + 64 :]
        if zeroed != data:
            refused(zeroed, tmp_path)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "it is empty"),
        (b"hello", "damaged, or of another kind"),
        (pickle.dumps({"a": 1}), "damaged, or of another kind"),
        (np.random.default_rng(0).bytes(5000), "damaged, or of another kind"),
        (b"PK\x03\x04" + bytes(100), "damaged, or of another kind"),
    ],
    ids=["empty", "text", "pickle", "noise", "zip"],
)
def test_files_of_other_kinds(data, says, tmp_path):
    assert says in refused(data, tmp_path)


def test_other_zips(model_file, tmp_path):
    import skops.io

    path, model, _ = model_file
    members = members_of(path.read_bytes())
    assert "not written by pairlearn.save" in refused(skops.io.dumps(model), tmp_path)
    alone = {HEADER: members[HEADER]}
    assert f"no {SCHEMA}" in refused(zipped(alone), tmp_path)
    for name in ("../evil.npy", "/etc/passwd", "evil.py", "..\\0.npy", "sub/0.npy"):
        message = refused(zipped({**members, name: b"x"}), tmp_path)
        assert "which does not belong to a model" in message
    extra = zipped({**members, "99.npy": members["0.npy"]}, sign=False)
    assert f"not those that its {HEADER} lists" in refused(extra, tmp_path)
    missing = {name: value for name, value in members.items() if name != "0.npy"}
    message = refused(zipped(missing, sign=False), tmp_path)
    assert f"not those that its {HEADER} lists" in message
    changed = {**members, "0.npy": members["0.npy"][:-1] + b"x"}
    message = refused(zipped(changed, sign=False), tmp_path)
    assert "a checksum is wrong" in message
    refused(zipped(missing), tmp_path)
    doubled = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(doubled, "a") as target, pytest.warns(match="Dupl"):
        target.writestr("0.npy", members["0.npy"])
    assert "two members of one name" in refused(doubled.getvalue(), tmp_path)


@pytest.mark.parametrize(
    "header",
    [
        {"format": "1"}, {"format": 0}, {"format": None}, {"versions": []},
        {"about": "x"}, {"kind": None}, {"sha256": None}, {"sha256": []},
    ],
    ids=str,
)  # fmt: skip
def test_odd_headers(header, model_file, tmp_path):
    refused(forged(model_file[0].read_bytes(), header=header), tmp_path)


def test_headers_that_are_no_dict(model_file, tmp_path):
    members = members_of(model_file[0].read_bytes())
    for text in (b"[]", b"3", b"{}", b"{", b"\xff\xfe", b"[" * 100_000):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as target:
            for name, content in {**members, HEADER: text}.items():
                target.writestr(name, content)
        refused(buffer.getvalue(), tmp_path)


def test_bombs_are_refused_before_they_unfold(model_file, tmp_path):
    members = members_of(model_file[0].read_bytes())
    bomb = {**members, "0.npy": bytes(5_000_000)}
    assert "is compressed" in refused(zipped(bomb, compress=True), tmp_path)
    bomb = {HEADER: members[HEADER], SCHEMA: b" " * 51_000_000}
    message = refused(zipped(bomb, compress=True), tmp_path)
    assert "claims to have 51000000 bytes" in message
    # An array whose header asks for more than there is.
    header = io.BytesIO()
    npy.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**13,)}
    )
    huge = {**members, "0.npy": header.getvalue() + bytes(80)}
    assert "not as long as it says" in refused(zipped(huge), tmp_path)
    objects = io.BytesIO()
    np.save(objects, np.array([print], dtype=object), allow_pickle=True)
    pickled = {**members, "0.npy": objects.getvalue()}
    refused(zipped(pickled), tmp_path)


def test_text_that_unfolds_is_refused(model_file, tmp_path):
    """Millions of empty lists are nothing in a file, and a thousand times in memory."""
    members = members_of(model_file[0].read_bytes())
    many = "[" + "[]," * 1_500_000 + "[]]"
    header = json.loads(members[HEADER])
    for inside in ({"about": {"x": 0}}, {"x": 0}):
        text = json.dumps({**header, **inside}).replace('"x": 0', f'"x": {many}')
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
            target.writestr(HEADER, text)
            target.writestr(SCHEMA, members[SCHEMA])
            for name in members.keys() - {HEADER, SCHEMA}:
                target.writestr(name, members[name], zipfile.ZIP_STORED)
        data = buffer.getvalue()
        assert len(data) < 20_000
        tracemalloc.start()
        message = refused_by_both(data, tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert f"its {HEADER} is compressed in a way" in message
        assert peak < 2_000_000


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_text_is_compressed_in_one_way(kind, model_file, tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name, content in members_of(model_file[0].read_bytes()).items():
            target.writestr(name, content, kind if name == SCHEMA else None)
    message = refused_by_both(buffer.getvalue(), tmp_path)
    assert f"its {SCHEMA} is compressed in a way" in message


def test_text_is_as_long_as_it_says(model_file, tmp_path):
    """zipfile unfolds all there is, and only then cuts it to the length claimed."""
    members = members_of(model_file[0].read_bytes())
    schema = members[SCHEMA]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr(HEADER, members[HEADER])
        target.writestr(SCHEMA, schema + b" " * 30_000_000)
        for name in members.keys() - {HEADER, SCHEMA}:
            target.writestr(name, members[name], zipfile.ZIP_STORED)
    with zipfile.ZipFile(buffer) as source:
        info = source.getinfo(SCHEMA)
    data = buffer.getvalue()
    for old, new in (
        (info.file_size, len(schema)),
        (info.CRC, zlib.crc32(schema)),
    ):
        assert data.count(struct.pack("<I", old)) == 2
        data = data.replace(struct.pack("<I", old), struct.pack("<I", new))
    tracemalloc.start()
    message = refused_by_both(data, tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert f"its {SCHEMA} is compressed in a way" in message
    assert peak < 10 * len(data)


def test_long_text_is_stored_as_it_is(tmp_path):
    model = CIPSClassifier()
    rng = np.random.default_rng(0)
    values = {
        "an array": np.array([f"word {k:045}" for k in range(8_000)], dtype=object),
        "a list": [None, True, -1.5, "\u0437"] * 10_000,
        "a dict": {f"word {k:045}": int(rng.integers(99)) for k in range(8_000)},
        "letters": "\ud800\u2028\U0001f600" * 99,
    }
    for extra in ({}, values):
        model.extra_ = extra
        path = saved(model, tmp_path)
        with zipfile.ZipFile(path) as source:
            info = source.getinfo(SCHEMA)
        kind = zipfile.ZIP_STORED if extra else zipfile.ZIP_DEFLATED
        assert info.compress_type == kind
        assert (info.file_size > 1_000_000) == bool(extra)
        # Plain values take few bytes each.
        assert info.file_size < 1_500_000
        again = load(path).extra_
        assert repr(again) == repr(extra)
        assert [type(value) for value in again.values()] == [
            type(value) for value in extra.values()
        ]


def test_too_much_text_is_refused_when_saving(tmp_path, monkeypatch):
    monkeypatch.setattr("pairlearn.files.archive._MOST_TEXT", 1000)
    with pytest.raises(TypeError, match=r"cannot be saved: .* at most 1000 are read"):
        saved(CIPSClassifier(), tmp_path)
    assert not list(tmp_path.iterdir())


def overlapping(members, n_members, content):
    """A zip in which each of many members holds all that comes after it."""

    def entry(kind, name, inside, *more):
        sizes = (zlib.crc32(inside), len(inside), len(inside), len(name))
        made = (20, 20) if kind == b"PK\x01\x02" else (20,)
        head = struct.pack(
            f"<4s{len(made)}HHHHHIIIHH", kind, *made, 0, 0, 0, 33, *sizes, 0
        )
        return head + b"".join(more) + name

    tail, folder, made = content, [], []
    for k in range(n_members):
        name = b"%d.npy" % (900_000_000 + k)
        made.append((name, tail, len(tail)))
        tail = entry(b"PK\x03\x04", name, tail) + tail
    start = b""
    for name, inside in members.items():
        place = struct.pack("<HHHII", 0, 0, 0, 0, len(start))
        folder.append(entry(b"PK\x01\x02", name.encode(), inside, place))
        start += entry(b"PK\x03\x04", name.encode(), inside) + inside
    total = len(start) + len(tail)
    for name, inside, size in made:
        offset = total - size - 30 - len(name)
        place = struct.pack("<HHHII", 0, 0, 0, 0, offset)
        folder.append(entry(b"PK\x01\x02", name, inside, place))
    directory = b"".join(folder)
    n = len(folder)
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, n, n, len(directory), total, 0)
    return start + tail + directory + end


def test_members_that_lie_on_each_other_are_refused(model_file, tmp_path):
    members = members_of(model_file[0].read_bytes())
    data = overlapping(members, 40, bytes(200_000))
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        assert len(source.infolist()) == len(members) + 40
    tracemalloc.start()
    message = refused_by_both(data, tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "its members are larger than the file" in message
    assert peak < 5 * len(data)
    # In a sparse array too.
    inner = overlapping({}, 40, bytes(20_000))
    model = CIPSClassifier()
    model.extra_ = sparse.csr_array(np.eye(3))
    members = members_of(unchecked(model))
    (name,) = [name for name in members if name.endswith(".npz")]
    message = refused_by_both(zipped({**members, name: inner}), tmp_path)
    assert "its members are larger than the file" in message


def test_only_members_that_are_listed_are_read(model_file, tmp_path, monkeypatch):
    members = members_of(model_file[0].read_bytes())
    extra = zipped({**members, "99.npy": bytes(10**6)}, sign=False)
    read = []
    original = zipfile.ZipFile.read
    monkeypatch.setattr(
        zipfile.ZipFile,
        "read",
        lambda self, name, *more: read.append(name) or original(self, name, *more),
    )
    message = refused_by_both(extra, tmp_path)
    assert f"its members are not those that its {HEADER} lists" in message
    assert set(read) == {HEADER}


def test_unknown_words_in_the_header_are_refused(model_file, tmp_path):
    data = forged(model_file[0].read_bytes(), header={"more": [1]})
    message = refused_by_both(data, tmp_path)
    assert f"its {HEADER} holds 'more', which does not belong there" in message


def test_an_array_is_read_once(model_file, tmp_path):
    """Or one array in the file could be a thousand in memory."""

    def change(schema):
        parts = schema["content"]["content"]
        array = next(part for part in parts.values() if "file" in part)
        copies = [{**array, "__id__": 10**6 + k} for k in range(3)]
        parts["alpha"] = tuple_node(*copies)

    message = refused(forged(model_file[0].read_bytes(), change), tmp_path)
    assert "reads an array more than once" in message

    def without_number(schema):
        parts = schema["content"]["content"]
        array = next(part for part in parts.values() if "file" in part)
        del array["__id__"]

    message = refused(forged(model_file[0].read_bytes(), without_number), tmp_path)
    assert "reads an array more than once" in message


def test_a_number_alone_is_no_node(model_file, tmp_path):
    """With it sixty tuples of two would be two to the power of sixty."""

    def change(schema):
        inner = {**tuple_node(json_node(1)), "__id__": 10**6}
        for k in range(1, 60):
            both = {"__id__": 10**6 + k - 1}
            inner = {**tuple_node(inner, both), "__id__": 10**6 + k}
        schema["content"]["content"]["alpha"] = inner

    assert "damaged" in refused(forged(model_file[0].read_bytes(), change), tmp_path)


@pytest.mark.parametrize("name", ["bytes_", "void"])
def test_a_number_does_not_become_so_many_bytes(name, tmp_path):
    model = CIPSClassifier()
    model.extra_ = np.int64(2 * 10**9)

    def change(schema):
        attribute(schema, "extra_")["__class__"] = name

    message = refused(forged(unchecked(model), change), tmp_path)
    assert f"numpy.{name} as a NdArrayNode, which no model needs" in message


def test_items_without_bytes_are_refused(model_file, tmp_path):
    members = members_of(model_file[0].read_bytes())
    header = io.BytesIO()
    npy.write_array_header_1_0(
        header, {"descr": "|V0", "fortran_order": False, "shape": (10**15,)}
    )
    endless = {**members, "0.npy": header.getvalue()}
    assert "not as long as it says" in refused_by_both(zipped(endless), tmp_path)


@pytest.mark.parametrize("kind", ["|V2000000000", "<U500000000"])
def test_an_item_of_which_there_is_none_is_not_huge(kind, model_file, tmp_path):
    members = members_of(model_file[0].read_bytes())
    header = io.BytesIO()
    npy.write_array_header_1_0(
        header, {"descr": kind, "fortran_order": False, "shape": (0,)}
    )
    huge = {**members, "0.npy": header.getvalue()}
    assert "not as long as it says" in refused_by_both(zipped(huge), tmp_path)


def test_an_error_is_one_line_whatever_the_file_says(model_file, tmp_path):
    def change(schema):
        evil = node("ObjectNode", "a\nb", "c" * 10**5)
        schema["content"]["content"]["alpha"] = evil

    message = refused(forged(model_file[0].read_bytes(), change), tmp_path)
    assert "it asks for a b.ccc" in message
    assert len(message) < 2000
