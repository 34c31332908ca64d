"""`pairlearn label` as a process of its own, as a user starts it."""

import os
import queue
import re
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from pairlearn.data.databases import is_address

__all__ = ["LabelServer"]

# Seconds after which a start has failed, however busy the machine is.
PATIENCE = 120
_LINK = re.compile(r"https?://\S+\?token=\S+")
_READY = "Press Ctrl+C"


class LabelServer:
    """A server that is started, and killed or stopped.

    Parameters
    ----------
    points : Path
        The table of points.
    answers : Path or str
        Where answers are kept: a file, or the address of a database.
    names : list of str
        Who gets a link.
    port : int
        Where to listen; 0: any, which `port` tells after the start.
    options : list of str
        What else the command is given.

    Attributes
    ----------
    port : int
        The port.
    links : list of str
        The links of the people, in the order of their names.
    said : list of str
        What it printed.
    """

    def __init__(self, points, answers, names=(), port=0, options=()):
        self.points, self.answers, self.names = points, answers, list(names)
        self.port, self.options = port, list(options)
        self.process, self.links, self.said = None, [], []
        self._listeners = []

    def start(self):
        """Start it, and wait until the page is ready."""
        shared = is_address(self.answers)
        kept = "--database" if shared else "--answers"
        words = ["label", self.points, kept, self.answers, "--no-browser"]
        words += ["--port", self.port, "--name", "Owner", *self.options]
        for name in self.names:
            words += ["--invite", name]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pairlearn", *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "COLUMNS": "1000", "PYTHONUNBUFFERED": "1"},
        )
        self.said, lines = [], queue.Queue()
        listener = threading.Thread(target=self._listen, args=(self.process, lines))
        listener.start()
        self._listeners.append(listener)
        while not (self.said and _READY in self.said[-1]):
            line = lines.get(timeout=PATIENCE)
            if line is None:
                raise RuntimeError("the server did not start:\n" + "".join(self.said))
            self.said.append(line)
        found = _LINK.findall("".join(self.said))
        self.links = found[1:]
        assert len(self.links) == len(self.names), self.said
        self.port = int(re.search(r":(\d+)/", found[0])[1])
        return self

    def _listen(self, process, lines):
        """Hand on what it prints, so that it never waits for a reader.

        The end is there when the processes have ended that it has started, too.
        """
        with process.stdout:
            for line in process.stdout:
                lines.put(line)
        lines.put(None)

    def kill(self):
        """End it as a crash of the machine does."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """End it in order, and return its exit code."""
        self.process.terminate()
        return self.process.wait(timeout=PATIENCE)

    def processes(self):
        """Return the ids of the server, its children and theirs, in this order."""
        found = [self.process.pid]
        for number in found:
            # Each thread has its own children; one that has just ended has none.
            with suppress(OSError):
                for thread in Path(f"/proc/{number}/task").iterdir():
                    with suppress(OSError):
                        found += map(int, (thread / "children").read_text().split())
        return found

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()
        for listener in self._listeners:
            listener.join(PATIENCE)
