"""Files with flipped bits: refused or read as what they were, never a crash.

`python -m tests.fuzz.flips` damages 1,000 files of each kind, reads each in another
process, and prints what became of them. It fails if one ends the process, raises
anything but a refusal in the user's words, takes more than a gigabyte or 30 seconds of
the processor, or, where the format has a checksum, is read as something else.
"""

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fuzz.subjects import SUBJECTS, TABLES

__all__ = ["Worker", "fuzz", "is_fault", "main"]

MOST_MEMORY = 2**30
# By the clock, for a case that only waits, and to import everything and make the files.
# Where the processor is busy with a case, the worker counts, in seconds of its own.
PATIENCE = 600
GOOD = ("refused", "same")
# In these formats another number is as good as the right one. A changed name of a
# column, and one row instead of another, are told from one value as little as that.
UNCHECKED = ("values", "other")


def is_fault(kind, result):
    """Whether something must not be."""
    if result["peak"] > MOST_MEMORY:
        return True
    # Pages of this one have checksums, the footer has none.
    without = kind in TABLES
    return result["outcome"] not in GOOD + (UNCHECKED if without else ())


class Worker:
    """A process that has imported everything, and reads files in copies of itself."""

    def __enter__(self):
        # All append to it, so that reading here does not move where they write.
        self.errors = tempfile.TemporaryFile("a+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        self.lines = queue.Queue()
        self.listener = threading.Thread(target=self._listen)
        self.listener.start()
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.listener.join()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()

    def _listen(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put('{"exit": 1}')

    def told(self, copy):
        """What is told next; the copy is ended if it says nothing."""
        try:
            line = self.lines.get(timeout=PATIENCE)
        except queue.Empty:
            os.kill(copy, signal.SIGKILL)
            line = self.lines.get()
        return json.loads(line)

    def read(self, kind, first, last):
        """Damage and read files; return what became of them until the copy ended."""
        before = self.errors.seek(0, os.SEEK_END)
        results, running, copy, code = [], None, self.process.pid, None
        with tempfile.TemporaryDirectory() as folder:
            print(
                json.dumps([kind, folder, first, last]),
                file=self.process.stdin,
                flush=True,
            )
            while code is None:
                said = self.told(copy)
                copy = said.get("process", copy)
                running = said.get("case", running)
                code = said.get("exit")
                if "outcome" in said:
                    results.append(said)
                    if said["peak"] > MOST_MEMORY:
                        # The most is of the whole process: the next one begins anew.
                        os.kill(copy, signal.SIGKILL)
                        while code is None:
                            code = self.told(copy).get("exit")
                        return results
        self.errors.seek(before)
        errors = self.errors.read()[-1500:]
        if running is None:
            raise RuntimeError(f"the files of {kind} could not be made:\n{errors}")
        if not results or results[-1]["case"] != running:
            name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            # SIGXCPU: its time was over; SIGKILL: ours was.
            how = "hang" if name in ("SIGXCPU", "SIGKILL") else "crash"
            detail = f"{name}\n{errors}"
            fault = {"case": running, "outcome": how, "detail": detail, "peak": 0}
            results.append({**fault, "file": ""})
        return results


def fuzz(kind, n_cases, first=0, worker=None):
    """Damage files of a kind; return what became of each, by its number.

    Parameters
    ----------
    kind : str
        One of `SUBJECTS`.
    n_cases : int
        How many files to damage.
    first : int
        Number of the first case, which decides what is flipped.
    worker : Worker, optional
        The process that reads them, if there is one already.

    Returns
    -------
    list of dict
        With "case", "file", "outcome", "detail" and "peak".
    """
    if worker is None:
        with Worker() as worker:
            return fuzz(kind, n_cases, first, worker)
    results, last = [], first + n_cases
    while first < last:
        results += worker.read(kind, first, last)
        # A process that was ended by a case is followed by another.
        first = results[-1]["case"] + 1
    return results


def main():
    """Fuzz every kind and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=1000, help="files of each kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--kinds", nargs="+", default=list(SUBJECTS), choices=SUBJECTS)
    options = parser.parse_args()
    with ThreadPoolExecutor(2) as pool:
        runs = {
            kind: pool.submit(fuzz, kind, options.n, options.first)
            for kind in options.kinds
        }
    n_faults = 0
    print(f"{'kind':12}{'files':>7}  {'peak MB':>7}  outcomes")
    for kind, run in runs.items():
        results = run.result()
        counts = Counter(result["outcome"] for result in results)
        peak = max(result["peak"] for result in results) / 1e6
        told = ", ".join(f"{count} {what}" for what, count in counts.most_common())
        print(f"{kind:12}{len(results):7}  {peak:7.0f}  {told}")
        faults = [result for result in results if is_fault(kind, result)]
        n_faults += len(faults)
        for fault in faults[:5]:
            print(f"  case {fault['case']}, {fault['file']}: {fault['outcome']}")
            print("    " + fault["detail"].strip().replace("\n", "\n    "))
    print(f"{n_faults} faults")
    sys.exit(bool(n_faults))


if __name__ == "__main__":
    main()
