"""What is refused, and the one line about it in the log."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NotAllowed", "RefusalLog"]

_LINES_PER_MINUTE = 30
_LONGEST = 120


class NotAllowed(Exception):  # noqa: N818 - it is an answer, not a mistake of ours
    """A request that is refused, with a sentence for whoever made it.

    Parameters
    ----------
    message : str
        What is wrong, and the way out.
    status : int
        The status of the response.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.message, self.status = message, status


class RefusalLog:
    """Write one line per refused request, and not too many of them.

    Parameters
    ----------
    logger : logging.Logger, optional
        Where to.
    most : int
        Lines per minute; of the rest only their number is told.
    now : callable
        The time in seconds.
    """

    def __init__(
        self,
        logger: logging.Logger | None = None,
        most: int = _LINES_PER_MINUTE,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._logger = logger or logging.getLogger("pairlearn.label")
        self._most, self._now = most, now
        self._begin, self._n_lines, self._n_silent = now(), 0, 0

    def write(self, method: str, path: str, status: int, why: str) -> None:
        """Tell of a refused request, without its query, which may hold a token."""
        now = self._now()
        if now - self._begin >= 60:
            self.tell_silent()
            self._begin, self._n_lines = now, 0
        if self._n_lines >= self._most:
            self._n_silent += 1
            return
        self._n_lines += 1
        self._logger.warning(
            "refused (%d): %s %s: %s", status, _line(method), _line(path), _line(why)
        )

    def tell_silent(self) -> None:
        """Tell how many refused requests were not told of."""
        if self._n_silent:
            self._logger.warning("refused %d more requests", self._n_silent)
        self._n_silent = 0


def _line(text: str) -> str:
    """Return text as part of one line, whatever stands in it."""
    safe = text.encode("unicode_escape").decode("ascii")
    return safe if len(safe) <= _LONGEST else safe[:_LONGEST] + "..."
