"""How a command ends: in order, with one clear message and an exit code.

This file is read for every `--help`, so what takes long to import is imported inside.
"""

from __future__ import annotations

import errno
import io
import math
import os
import signal
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from pairlearn.files.tables.errors import OptionError
from pairlearn.system.writing import NO_ROOM

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Terminated", "code_of", "end", "in_order", "reason", "reporting_errors"]

# All was done, but what was to be printed could not be.
UNPRINTED = 3
# Seconds for cleaning up, in which another signal to end is ignored.
_PATIENCE = 5.0

_NO_ROOM = {
    errno.ENOSPC: "there is no space left on the disk",
    errno.EFBIG: "it would be larger than the largest file allowed here",
}


class Terminated(KeyboardInterrupt):
    """The command is asked to end from outside, and cleans up as after Ctrl-C."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"ended by {signal.Signals(number).name}")


class _Unfailing(io.FileIO):
    """A standard stream that keeps its trouble for later.

    A disk that is full, or a reader that has gone, is no reason to stop the work.
    """

    trouble: OSError | None = None

    def write(self, data: Any, /) -> int:
        """Write, or else forget, all of it."""
        if self.trouble is None:
            try:
                return super().write(data)
            except OSError as error:
                self.trouble = error
        return memoryview(data).nbytes


@contextmanager
def in_order() -> Iterator[None]:
    """Run the command line, and end the process with its exit code.

    While it runs, SIGTERM and SIGHUP clean up first, as Ctrl-C does, and standard
    output and standard error cannot fail. Afterwards both are as they were.
    """
    code: Any = 0
    with ExitStack() as stack:
        received = stack.enter_context(_signals())
        stack.enter_context(_streams())
        try:
            yield
        except SystemExit as done:
            code = done.code
        except KeyboardInterrupt as stop:
            _say(f"{_how(stop)}; nothing was written")  # no command has begun
            code = code_of(stop)
        if received and code == code_of(KeyboardInterrupt()):
            code = 128 + received[0]
        problem = _unprinted()
        if not code and problem is not None:
            _say(problem)
            code = UNPRINTED
    sys.exit(code)


@contextmanager
def reporting_errors() -> Iterator[list[Path]]:
    """Turn whatever goes wrong into one clear message and an exit code.

    1: a problem in the data or with a file, 2: wrong usage, 3: what was to be printed
    could not be, 130: interrupted, 143: terminated.

    Yields
    ------
    list of Path
        To add the files to that have been written.
    """
    written: list[Path] = []
    try:
        yield written
    except KeyboardInterrupt as stop:
        done = _written(written) or "nothing was written"
        end(f"{_how(stop)}; {done}", code_of(stop))
    except OptionError as error:
        end(str(error), 2)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("pairlearn"):
            raise
        end(
            f"this needs {error.name}, which is not installed: "
            "pip install 'pairlearn[cli]'",
            1,
        )
    except MemoryError:
        end("there is not enough memory for these tables", 1)
    except OSError as error:
        end("; ".join(filter(None, [reason(error), _written(written)])), 1)
    except ValueError as error:
        end(str(error), 1)
    problem = _unprinted()
    if problem is not None:
        end("; ".join(filter(None, [problem, _written(written)])), UNPRINTED)


def reason(error: OSError) -> str:
    """Return what went wrong with which file."""
    if error.errno in NO_ROOM:
        why = _NO_ROOM.get(error.errno or 0, "your share of the disk is used up")
        return f"{error.filename or 'a file'} could not be written: {why}"
    if error.errno is None:
        return str(error)  # one of our own, a sentence
    return f"{error.filename or 'a file'}: {error.strerror or error}"


def end(message: str, code: int) -> NoReturn:
    """Print what went wrong, and end the command."""
    _say(message)
    raise typer.Exit(code) from None


def code_of(stop: KeyboardInterrupt) -> int:
    """Return the exit code of a command that was interrupted, as shells count."""
    return 128 + (stop.number if isinstance(stop, Terminated) else signal.SIGINT)


def _how(stop: KeyboardInterrupt) -> str:
    return str(stop) if isinstance(stop, Terminated) else "interrupted"


def _say(message: str) -> None:
    from pairlearn.cli.printing import show_error

    show_error(message)


def _written(files: list[Path]) -> str:
    return f"written: {', '.join(map(str, files))}" if files else ""


def _unprinted() -> str | None:
    """Return why standard output did not take all; nothing if its reader had enough."""
    stream = sys.stdout
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    if not isinstance(raw, _Unfailing):
        return None
    stream.flush()
    trouble = raw.trouble
    if trouble is None or trouble.errno == errno.EPIPE:
        return None
    return f"the result could not be printed on standard output: {trouble.strerror}"


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Let signals that would end the process raise an error; yield those that came."""
    received: list[int] = []
    last = -math.inf

    def stop(number: int, _: object) -> None:
        nonlocal last
        received.append(number)
        # `timeout` sends two at once. The second must not break off the cleaning up;
        # a later one counts, as the first may have come where errors get lost.
        if time.monotonic() - last > _PATIENCE:
            last = time.monotonic()
            raise Terminated(number)

    before = {}
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            # One that is ignored stays so: that is what nohup is for.
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, stop)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _streams() -> Iterator[None]:
    """Let standard output and standard error forget what they cannot write."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_unfailing, before)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        sys.stdout, sys.stderr = before


def _unfailing(stream: Any) -> Any:
    """Return a stream like another that does not fail."""
    if hasattr(stream, "reconfigure"):
        # A letter that the terminal does not know is no reason to stop.
        stream.reconfigure(errors="replace")
    try:
        number = stream.fileno()
        if os.name == "nt" and stream.isatty():
            return stream  # a console of Windows is no file
        return io.TextIOWrapper(
            io.BufferedWriter(_Unfailing(number, "w", closefd=False)),
            encoding=stream.encoding,
            errors="replace",
            line_buffering=stream.line_buffering,
        )
    except (AttributeError, OSError):
        return stream  # none at all, or one that a program put there
