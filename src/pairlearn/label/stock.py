"""How many questions are chosen ahead.

A question that was chosen long before it is answered was chosen by an old model, so
there should be few; but nobody should wait for one, so there should be enough for the
time that choosing takes. One person needs a handful, and fifty need hundreds.
"""

from __future__ import annotations

import math
from collections import deque

__all__ = ["Stock"]

# Questions that are always ahead, seconds of answers that are ahead beyond them, and
# the most that are ahead.
_LEAST, _AHEAD, _MOST = 3, 3.0, 3000
# Questions that a page has ahead.
_PAGE = 3
# Seconds that the rate of answers is taken from, and after which a page is forgotten.
_SPAN, _GONE = 3.0, 30.0


class Stock:
    """Counts answers and pages, and says how many questions should be ready.

    Examples
    --------
    >>> stock = Stock()
    >>> for second in range(5):
    ...     stock.saw_page("page", second)
    ...     stock.saw_answers(1, second)
    >>> stock.wanted(5.0)
    5
    >>> stock.saw_answers(600, 5.0)
    >>> stock.wanted(5.0) > 400
    True
    """

    def __init__(self) -> None:
        self._answers: deque[tuple[float, int]] = deque()
        self._pages: dict[str, float] = {}
        self._elsewhere = 0

    def saw_others(self, n_pages: int) -> None:
        """Note how many pages there are at all processes."""
        self._elsewhere = n_pages

    def saw_page(self, page: str, now: float) -> None:
        """Note that a page asked for questions."""
        self._pages.pop(page, None)
        self._pages[page] = now

    def saw_answers(self, n_answers: int, now: float) -> None:
        """Note that answers came."""
        self._answers.append((now, n_answers))

    def wanted(self, now: float) -> int:
        """Return how many questions should be ready."""
        while self._answers and self._answers[0][0] <= now - _SPAN:
            self._answers.popleft()
        while self._pages:
            page, last = next(iter(self._pages.items()))
            if last > now - _GONE:
                break
            del self._pages[page]
        rate = sum(n for _, n in self._answers) / _SPAN
        # Each page but the first may ask for several at the same moment.
        pages = _PAGE * max(0, max(len(self._pages), self._elsewhere) - 1)
        return min(_MOST, _LEAST + pages + math.ceil(_AHEAD * rate))
