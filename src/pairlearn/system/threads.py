"""Work divided among threads, with BLAS kept to one thread meanwhile.

As many threads are used as BLAS may use at the moment: who limits BLAS, by
OMP_NUM_THREADS, by threadpoolctl or by running in a worker of joblib or dask, limits
this package too. Parts of the work are the same for any number of threads, and so are
sums over them. No thread outlives a fit, and a process may fork at any time.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from pairlearn.system.forks import unforked
from pairlearn.system.thread_pool import ThreadPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

__all__ = [
    "block_bounds",
    "map_threads",
    "n_threads",
    "on_one_thread",
    "own_threads",
    "single_blas",
]

# As many threads as BLAS had when we took them over.
_ours: ContextVar[ThreadPool | None] = ContextVar("pairlearn_threads", default=None)

Part = TypeVar("Part")
Result = TypeVar("Result")


def n_threads() -> int:
    """Return how many threads BLAS may use at the moment, or could but for us.

    Examples
    --------
    >>> from threadpoolctl import threadpool_limits
    >>> with threadpool_limits(1):
    ...     n_threads()
    1
    """
    ours = _open_pool()
    return ours.n_threads if ours is not None else _blas_threads()


@contextmanager
def own_threads() -> Iterator[None]:
    """Take over the threads of BLAS for a while.

    A thread of BLAS goes on waiting for work for some time after a product, at full
    speed, and takes a core from whoever works then. So during a fit BLAS has one
    thread, and we have as many as it had before.
    """
    if _open_pool() is not None:
        yield
        return
    with _taken.hold() as n, ThreadPool(n) as pool:
        token = _ours.set(pool)
        try:
            yield
        finally:
            _ours.reset(token)


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Divide no work for a while: who calls has divided it, and holds BLAS to one."""
    with ThreadPool(1) as pool:
        token = _ours.set(pool)
        try:
            yield
        finally:
            _ours.reset(token)


def single_blas() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread; its limit comes back after."""
    return nullcontext() if _open_pool() is not None else _taken.hold()


class _Taken:
    """The threads of BLAS, taken by one fit on behalf of all at the same time.

    The limit belongs to the whole process: a fit that finds it taken leaves it alone,
    and whoever took it puts back what was there. It would not do to restore what a
    second one has found.
    """

    def __init__(self) -> None:
        # The process and the thread that have taken them.
        self.taker: tuple[int, int] | None = None
        self.limiter: Any = None
        self.n_threads = 1

    @contextmanager
    def hold(self) -> Iterator[int]:
        """Keep BLAS at one thread; give the number that it had before."""
        mine = False
        # An interrupt may come at any step: what was taken is given back.
        try:
            with unforked:
                self._recover()
                if self.taker is None:
                    mine = True
                    self.taker = os.getpid(), get_ident()
                    self.n_threads = _blas_threads()
                    if self.n_threads > 1:
                        self.limiter = _blas().limit(limits=1)
            yield self.n_threads
        finally:
            if mine:
                with unforked:
                    self._give_back()

    def _recover(self) -> None:
        """Give back what was taken by a thread that is not in this process."""
        if self.taker is not None:
            process, thread = self.taker
            if process != os.getpid() and thread != get_ident():
                self._give_back()

    def _give_back(self) -> None:
        limiter, self.limiter, self.taker = self.limiter, None, None
        if limiter is not None:
            limiter.restore_original_limits()


_taken = _Taken()


def map_threads(
    function: Callable[[Part], Result], parts: Iterable[Part]
) -> list[Result]:
    """Return the results of the parts in their order, computed on all threads.

    Parameters
    ----------
    function : callable
        Part -> result; it should spend its time outside of Python's lock.
    parts : iterable
        The parts of the work.

    Examples
    --------
    >>> map_threads(abs, [-1, 2])
    [1, 2]
    """
    parts = list(parts)
    n = min(n_threads(), len(parts))
    if n <= 1:
        return [function(part) for part in parts]
    todo = deque(enumerate(parts))
    results: dict[int, Result] = {}
    errors: list[BaseException] = []

    def take() -> tuple[int, Part] | None:
        try:
            return todo.popleft()
        except IndexError:
            return None

    def work() -> None:
        for number, part in iter(take, None):
            try:
                results[number] = function(part)
            except BaseException as error:
                errors.append(error)
                todo.clear()

    # What the caller wants of overflows, the other threads do not know by themselves.
    state: Any = np.geterr()

    def work_alike() -> None:
        with np.errstate(**state):
            work()

    with single_blas(), _pool(n) as pool:
        jobs = []
        try:
            jobs = pool.hand_out(work_alike, n - 1)
            work()
        finally:
            # Also if this thread is interrupted: none goes on.
            todo.clear()
            pool.settle(jobs)
    if errors:
        raise errors[0]
    return [results[number] for number in range(len(parts))]


def _pool(n: int) -> AbstractContextManager[ThreadPool]:
    """Return the helpers of the fit that this is part of, or some for one call."""
    ours = _open_pool()
    return ThreadPool(n) if ours is None else nullcontext(ours)


def _open_pool() -> ThreadPool | None:
    """Return the helpers of the fit that this is part of, if it goes on.

    A context that was copied during a fit, by an event loop say, may outlive it.
    """
    pool = _ours.get()
    return pool if pool is not None and pool.is_open else None


def block_bounds(n: int, size: int, first: int = 0) -> list[tuple[int, int]]:
    """Return the bounds of blocks of the given size that cover n numbers.

    Examples
    --------
    >>> block_bounds(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    last = first + n
    return [(begin, min(begin + size, last)) for begin in range(first, last, size)]


def _blas_threads() -> int:
    """Return how many threads BLAS may use; one, if it does not say."""
    limits = [library.num_threads for library in _blas().lib_controllers]
    return max(1, min((n for n in limits if n is not None), default=1))


@cache
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")
