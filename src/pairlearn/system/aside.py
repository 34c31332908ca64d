"""Long work aside: in a copy of this process, so that threads here are not held up.

Python runs one thread at a time, so that work in a thread slows down all others. A fork
copies this process as it is, at hardly any cost in time or memory, and the copy works
on a core of its own, at a lower priority. Where the system has no safe fork, or has no
room for a copy, the work is done in the calling thread.

BLAS must be held to one thread in a process that does this: a fork ends the threads of
OpenBLAS, and whoever is waiting for one of them, in another thread, waits for ever. The
copy may use as many as it likes.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, TypeVar

from threadpoolctl import ThreadpoolController, threadpool_limits

from pairlearn.system.forks import unforked

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EndedError", "work_aside"]

# Those who answer come first.
_NICE = 19
_GIVEN, _RAISED = b"g", b"r"

Result = TypeVar("Result")


class EndedError(RuntimeError):
    """The copy of this process ended before its work was done."""


def work_aside(work: Callable[[], Result], n_threads: int = 1) -> Result:
    """Do some work in a copy of this process, and wait for its result.

    Parameters
    ----------
    work : callable
        What to do. What it changes is changed in the copy alone; only what it returns,
        or raises, comes back, so that must be fit for pickle.
    n_threads : int, default=1
        How many threads BLAS may use for it.

    Returns
    -------
    object
        What the work returned.

    Raises
    ------
    EndedError
        If the copy was killed.
    Exception
        What the work raised.

    Examples
    --------
    >>> found = []
    >>> work_aside(lambda: found.append(1) or 42)
    42
    """
    # Elsewhere libraries of the system do not survive a fork.
    if sys.platform != "linux":
        with threadpool_limits(n_threads):
            return work()
    # Looked for here and not in the copy, where a lock of the loader that another
    # thread has at this moment would stay locked; and nobody forks meanwhile.
    with unforked:
        blas = ThreadpoolController() if n_threads > 1 else None
    reading, writing = os.pipe()
    parent = os.getpid()
    try:
        child = os.fork()
    except OSError:  # too many processes, or too little memory
        os.close(reading)
        os.close(writing)
        return work()
    if not child:
        os.close(reading)
        _be_the_copy(work, writing, parent, blas, n_threads)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    # Where whoever started us ignores the end of children, the system cleans up.
    with suppress(ChildProcessError):
        os.waitpid(child, 0)
    if not said:
        raise EndedError("work that was done aside ended before it was done")
    # From the copy of this very process, and through no file: nobody else can write it.
    result = pickle.loads(said[1:])  # noqa: S301
    if said[:1] == _RAISED:
        raise result
    return result  # type: ignore[no-any-return]


def _be_the_copy(
    work: Callable[[], object],
    writing: int,
    parent: int,
    blas: ThreadpoolController | None,
    n_threads: int,
) -> None:
    """Work, write the result and end, without what a program does at its end."""
    try:
        _end_with(parent)
        os.nice(_NICE)
        # What is collected would be looked at, and so be copied after all.
        gc.freeze()
        try:
            with blas.limit(limits=n_threads) if blas is not None else nullcontext():
                said = _GIVEN + pickle.dumps(work(), pickle.HIGHEST_PROTOCOL)
        except Exception as problem:
            said = _RAISED + pickle.dumps(problem)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(said)
    finally:
        os._exit(0)


def _end_with(parent: int) -> None:
    """Have this process killed when its parent ends, however that ends."""
    import ctypes
    import signal

    # PR_SET_PDEATHSIG of prctl(2).
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
