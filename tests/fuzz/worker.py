"""A process that makes files of one kind, damages them and reads them.

It is a copy of one that has imported what all kinds need, and waits for lines of JSON:
the kind, a folder, the first case and the end. The copy prints a line of JSON before
and after each case, so that whoever waits for it knows which case ended it.
"""

import hashlib
import json
import os
import resource
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np

from tests.fuzz.subjects import SUBJECTS, TABLES, Refused
from tests.support.limited import most_memory

# Of the processor, which other work on the machine does not lengthen.
MOST_SECONDS = 30


def damaged(data, seed):
    """The bytes with one bit flipped, or in one case of four a few."""
    rng = np.random.default_rng(seed)
    broken = bytearray(data)
    for _ in range(1 if seed % 4 else int(rng.integers(2, 9))):
        broken[rng.integers(len(broken))] ^= 1 << int(rng.integers(8))
    return bytes(broken)


def outcome(read, path, expected):
    """What became of a file: refused, the same, another content, or a fault."""
    try:
        with warnings.catch_warnings():
            # Nothing on the way to a refusal, or to a table, is the user's to read.
            warnings.simplefilter("error")
            found = read(path)
    except Refused as error:
        text = str(error)
        return ("refused" if path.stem in text and len(text) < 1500 else "vague"), text
    except Exception as error:
        return "traceback", "".join(traceback.format_exception(error))[-1500:]
    if found == expected:
        return "same", ""
    if isinstance(found, dict) and found.keys() == expected.keys():
        n_rows = [len(next(iter(cells.values()))) for cells in (found, expected)]
        if n_rows[0] == n_rows[1]:
            return "values", ""
    return "other", str(found)[:300]


def limit_time():
    """End this process by a signal if the next case takes too long."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = int(usage.ru_utime + usage.ru_stime) + 1
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (used + MOST_SECONDS, most))


def main():
    """Import, and then go through cases in a copy of this process for each line."""
    with tempfile.TemporaryDirectory() as folder:
        make, read = SUBJECTS["csv"]
        read(make(Path(folder))[0])
    for line in sys.stdin:
        kind, folder, first, last = json.loads(line)
        child = os.fork()
        if not child:
            try:
                work(kind, Path(folder), first, last)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps({"exit": status}), flush=True)


def work(kind, folder, first, last):
    """Go through cases `first` to `last` of a kind, in a folder."""
    print(json.dumps({"process": os.getpid()}), flush=True)
    make, read = SUBJECTS[kind]
    paths = make(folder)
    whole = [(path, path.read_bytes(), read(path)) for path in paths]
    for path, data, expected in whole:
        # A training that goes on writes its checkpoint.
        path.write_bytes(data)
        assert outcome(read, path, expected) == ("same", "")
    for case in range(first, last):
        path, data, expected = whole[case % len(whole)]
        print(json.dumps({"case": case}), flush=True)
        limit_time()
        broken = damaged(data, case)
        path.write_bytes(broken)
        what, detail = outcome(read, path, expected)
        if kind in TABLES and what != "traceback":
            what, detail = with_checksum(read, path, data, expected, what, detail)
        done = {"case": case, "outcome": what, "detail": detail, "peak": most_memory()}
        print(json.dumps({**done, "file": path.name}), flush=True)


def with_checksum(read, path, data, expected, what, detail):
    """The outcome, unless a checksum beside the table does not show the damage."""
    beside = path.with_name(f"{path.name}.sha256")
    beside.write_text(f"{hashlib.sha256(data).hexdigest()}  {path.name}\n")
    try:
        again = outcome(read, path, expected)[0]
    finally:
        beside.unlink()
    return (what, detail) if again == "refused" else ("checksum", again)


if __name__ == "__main__":
    main()
