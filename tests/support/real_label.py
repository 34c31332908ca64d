"""`pairlearn label` in a process of its own, that can be killed and started again."""

import os
import re
import subprocess
import sys
import threading

import numpy as np
from sklearn.datasets import load_breast_cancer


def write_cancer(folder):
    """The practice data as a table; returns its path and the kind of every id."""
    data = load_breast_cancer()
    ids = [f"p{row:04}" for row in range(1, len(data.target) + 1)]
    lines = [",".join(["id", *data.feature_names])]
    lines += [
        ",".join([name, *(f"{value:g}" for value in row)])
        for name, row in zip(ids, data.data, strict=True)
    ]
    path = folder / "points.csv"
    path.write_text("\n".join(lines) + "\n")
    return path, dict(zip(ids, np.asarray(data.target).tolist(), strict=True))


class RealLabel:
    """The command, its link, and what it printed."""

    def __init__(self, points, *words):
        self.points, self.words = points, [str(word) for word in words]
        self.answers = points.parent / "answers.sqlite"
        self.process = None
        self.start()

    def start(self):
        command = [sys.executable, "-m", "pairlearn", "label", str(self.points)]
        command += ["--answers", str(self.answers), "--no-browser", *self.words]
        # Wide, so that no line is broken.
        surroundings = os.environ | {"COLUMNS": "400", "NO_COLOR": "1"}
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=surroundings,
        )
        self.printed = []
        for line in self.process.stdout:
            self.printed.append(line)
            found = re.search(r"http://\S+", line)
            if found:
                self.link = found[0]
                break
        else:
            raise AssertionError("".join(self.printed))
        # What it prints later must not fill the pipe.
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        with self.process.stdout as pipe:
            self.printed.extend(pipe)

    @property
    def site(self):
        return re.match(r"http://[^/]+/", self.link)[0]

    def kill(self):
        self.process.kill()
        self.process.wait(60)
        self.reader.join(60)

    def stop(self):
        """End it as Ctrl+C does."""
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self.reader.join(60)
