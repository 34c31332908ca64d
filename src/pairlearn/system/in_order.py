"""A row of tasks that threads work on, with the results in the order of the tasks."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Generic, TypeVar

from pairlearn.system.threads import n_threads, on_one_thread, own_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["in_order"]

Part = TypeVar("Part")
Result = TypeVar("Result")


def in_order(
    function: Callable[[Part], Result], parts: Iterable[Part]
) -> Iterator[Result]:
    """Yield function(part) of each part, in their order.

    While threads work on some parts, the caller's own reads those that come next and
    uses the results, so that memory holds a few parts at a time. An error comes when
    the results before it have been used, as if everything were done one by one.

    Parameters
    ----------
    function : callable
        Part -> result; it should spend its time outside of Python's lock.
    parts : iterable
        The parts, which are taken from it in the caller's thread.

    Yields
    ------
    object
        The results.

    Examples
    --------
    >>> list(in_order(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    waiting: deque[Future[Result]] = deque()
    mistake: Exception | None = None
    with own_threads():
        n = n_threads()
        helpers = _Helpers(function, n)
        source = iter(parts)
        try:
            while True:
                try:
                    part = next(source)
                except StopIteration:
                    break
                except Exception as error:
                    mistake = error
                    break
                waiting.append(helpers.hand_out(part))
                # Whoever works on it holds it no longer than needed.
                del part
                if len(waiting) > n:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except Exception:
            helpers.end(wait=True)
            raise
        finally:
            # Who is interrupted, or needs no more, does not wait.
            helpers.end(wait=False)
        helpers.end(wait=True)
    if mistake is not None:
        raise mistake


class _Helpers(Generic[Part, Result]):
    """Threads that work on parts until they are told to end."""

    def __init__(self, function: Callable[[Part], Result], n: int) -> None:
        self._function = function
        self._todo: SimpleQueue[tuple[Future[Result], Part] | None] = SimpleQueue()
        self._ended = Event()
        # A process may end although one of them is at work.
        self._threads = [Thread(target=self._help, daemon=True) for _ in range(n)]
        for thread in self._threads:
            thread.start()

    def hand_out(self, part: Part) -> Future[Result]:
        """Ask a thread to work on a part; return where the result will be."""
        future: Future[Result] = Future()
        self._todo.put((future, part))
        return future

    def end(self, *, wait: bool) -> None:
        """Begin no part any more, and perhaps wait for those that were begun."""
        self._ended.set()
        self._todo.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def _help(self) -> None:
        with on_one_thread():
            while (task := self._todo.get()) is not None and not self._ended.is_set():
                future, part = task
                try:
                    future.set_result(self._function(part))
                except BaseException as error:
                    future.set_exception(error)
                # What it worked on is not ours to keep while we wait.
                del task, future, part
        self._todo.put(None)
