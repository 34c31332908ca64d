"""Commands in processes of their own, without the seconds that their imports take.

A process that has imported everything waits for requests, and for each makes a copy of
itself, which runs one command on the streams that it is given and then ends as Python
ends. For POSIX alone.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

# What the commands import when they begin.
IMPORTED = (
    "pairlearn.cli.app", "pairlearn.cli.certify", "pairlearn.cli.fit",
    "pairlearn.cli.outputs", "pairlearn.cli.page", "pairlearn.cli.practice",
    "pairlearn.cli.predict", "pairlearn.cli.show", "pairlearn.trust.suspicious",
    "pandas", "pyarrow.csv", "pyarrow.parquet", "pydantic", "sklearn.ensemble",
    "sklearn.svm", "typer.rich_utils",
)  # fmt: skip


class Copies:
    """A process that runs commands, each in a copy of itself, one at a time."""

    def __enter__(self):
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-W", "error", "-m", __name__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd=Path(__file__).parents[2],
            )
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.wait(60)

    def start(self, *words, cwd, stdout=None, stderr=None, limit=None, waits=None):
        """Begin a command.

        Parameters
        ----------
        words : str
            What stands behind `pairlearn`.
        cwd : Path
            Where it runs.
        stdout, stderr : file or int, optional
            Where it prints; if none, into a pipe.
        limit : int, optional
            Bytes that a file may have.
        waits : tuple of str, optional
            A file, and a function, instead of which it makes that file and waits.

        Returns
        -------
        Command
            What to end it with, and to ask for its end.
        """
        pipes = [os.pipe() if given is None else None for given in (stdout, stderr)]
        ends = [
            given if pipe is None else pipe[1]
            for given, pipe in zip((stdout, stderr), pipes, strict=True)
        ]
        asked = {"words": words, "cwd": cwd, "limit": limit, "waits": waits}
        numbers = [end if isinstance(end, int) else end.fileno() for end in ends]
        line = json.dumps(asked, default=str).encode()
        socket.send_fds(self.socket, [line], numbers)
        for pipe in filter(None, pipes):
            os.close(pipe[1])
        pid = int(self.socket.recv(100))
        return Command(self.socket, pid, [pipe and pipe[0] for pipe in pipes])

    def run(self, *words, **options):
        """Run a command to its end; see `start`."""
        return self.start(*words, **options).result()


class Command:
    """A command that runs."""

    def __init__(self, connection, pid, pipes):
        self.connection, self.pid, self.pipes = connection, pid, pipes

    def has_ended(self, seconds):
        """Return whether it ends within so many seconds."""
        return bool(select.select([self.connection], [], [], seconds)[0])

    def result(self):
        """Return its exit code, and what it printed into pipes: a few lines."""
        said = []
        for pipe in self.pipes:
            if pipe is None:
                said.append(None)
            else:
                with os.fdopen(pipe) as stream:
                    said.append(stream.read())
        code = int(self.connection.recv(100))
        return SimpleNamespace(returncode=code, stdout=said[0], stderr=said[1])


def serve(connection):
    """Make copies; return in each of them, and what it is to do."""
    while True:
        line, numbers, *_ = socket.recv_fds(connection, 100_000, 2)
        if not line:
            sys.exit()
        child = os.fork()
        if not child:
            connection.close()
            return json.loads(line), numbers
        for number in numbers:
            os.close(number)
        connection.send(str(child).encode())
        _, status = os.waitpid(child, 0)
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())


def become(asked, numbers):
    """Be like a process that has just been started with this command."""
    # A suite under nohup, or in the background, hands on that it ignores these.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in zip(numbers, (1, 2), strict=True):
        os.dup2(number, stream)
        os.close(number)
    # New ones: the old ones know whether the old files could be searched.
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", buffering=1, closefd=False)
    os.chdir(asked["cwd"])
    if asked["limit"] is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["limit"], asked["limit"]))
    if asked["waits"]:
        ready, where = asked["waits"]

        def wait(*_, **__):
            Path(ready).touch()
            while True:
                signal.pause()

        module, name = where.rsplit(".", 1)
        setattr(importlib.import_module(module), name, wait)
    sys.argv = ["pairlearn", *asked["words"]]


if __name__ == "__main__":
    from pairlearn.cli import main
    from pairlearn.cli.quick_imports import import_skops

    import_skops()
    for name in IMPORTED:
        with suppress(ModuleNotFoundError):  # only some versions have it
            importlib.import_module(name)
    gc.freeze()  # what a copy does not look through need not be copied
    become(*serve(socket.socket(fileno=int(sys.argv[1]))))
    main()
