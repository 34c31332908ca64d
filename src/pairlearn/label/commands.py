"""What the writer is given to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.label.clerk import Clerk

__all__ = ["Command"]


class Command(NamedTuple):
    """Something to do.

    Attributes
    ----------
    do : callable
        Does it, with the clerk, within a transaction.
    settle : callable
        Told the result, or the problem, when it is on the disk.
    owed : bool
        Whether it is done later if it cannot be done now: it comes from the program
        itself, and nobody would ask for it again.
    log : bool
        Whether something may be added to the log.
    room : int or None
        The back room that it comes from; nothing is done for one that has gone.
    """

    do: Callable[[Clerk], Any]
    settle: Callable[[Any, BaseException | None], None]
    owed: bool = False
    log: bool = True
    room: int | None = None
