"""Model files that are loaded and used in a process of their own, within limits.

The process is a copy of one that has imported everything, so that what is measured is
the file alone. Time is that of the processor, which does not depend on what else runs.
"""

import gc
import json
import mmap
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np


class Limited:
    """A process that loads files, each in a copy of itself."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.limited"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(60)

    def load(self, path, *, memory, seconds=20, points=None):
        """Load a file, and predict if there are points.

        Parameters
        ----------
        path : Path
            The file.
        memory : int
            Bytes that may be taken, beyond those of the libraries.
        seconds : int
            Seconds of the processor; it is killed after.
        points : list, optional
            What to predict.

        Returns
        -------
        dict
            "end": "loaded", "refused", or the signal that ended it; "error";
            "seconds" and "bytes" that it took.
        """
        asked = [str(path), int(memory), seconds, points]
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "the process that loads files is gone"
        return json.loads(answer)


def main():
    import scipy.sparse.csgraph  # noqa: F401
    import sklearn.svm  # noqa: F401

    from pairlearn import CIPSClassifier, PairClassifier, Pairs, load

    # What is imported or compiled at first use is no part of a file.
    X = np.random.default_rng(0).normal(size=(60, 2))
    pairs, t = Pairs.sample(X, 30, X[:, 0] > 0, random_state=0)
    CIPSClassifier().fit(pairs, t).predict(X)
    repr(PairClassifier())
    # Else each copy goes through all of this in search of garbage.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.close(read)
            with os.fdopen(write, "w") as out:
                json.dump(_load(load, *asked), out)
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as source:
            text = source.read()
        _, status, _ = os.wait4(child, 0)
        if not text or status:
            code = os.WTERMSIG(status) or os.WEXITSTATUS(status)
            end = signal.Signals(code).name if os.WIFSIGNALED(status) else f"{code}"
            text = json.dumps({"end": end, "error": ""})
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def _load(load, path, memory, seconds, points):
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
    before = most_memory()
    resource.setrlimit(resource.RLIMIT_AS, (size + memory, size + memory))
    used = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + seconds, int(used) + seconds))
    try:
        model, end, error = load(path), "loaded", ""
        if points is not None:
            try:
                model.predict(np.array(points))
            except Exception as problem:
                end, error = "used", f"{type(problem).__name__}: {problem}"
    except Exception as problem:
        model, end, error = None, "refused", f"{type(problem).__name__}: {problem}"
    return {
        "end": end,
        "error": error,
        "seconds": time.process_time() - used,
        "bytes": max(0, most_memory() - before),
    }


def most_memory():
    """Return the most bytes that this program has had in memory at a time.

    Not `ru_maxrss`, which begins with what the process had that started the program.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise OSError("no figure of memory")


if __name__ == "__main__":
    main()
