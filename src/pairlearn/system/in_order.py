"""A row of tasks that threads work on, with the results in the order of the tasks."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

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

    def work(part: Part) -> Result:
        with on_one_thread():
            return function(part)

    waiting: deque[Future[Result]] = deque()
    mistake: Exception | None = None
    with own_threads():
        n = n_threads()
        pool = ThreadPoolExecutor(n)
        source = iter(parts)
        try:
            while mistake is None:
                try:
                    part = next(source)
                except StopIteration:
                    break
                except Exception as error:
                    mistake = error
                    break
                waiting.append(pool.submit(work, part))
                # Whoever uses it holds it no longer than needed.
                del part
                if len(waiting) > n:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
    if mistake is not None:
        raise mistake
