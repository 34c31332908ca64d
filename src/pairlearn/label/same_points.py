"""Whether a table of points is the one that a file of answers is about."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pairlearn.data.databases import called, is_address

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["mark_of_ids", "other_points"]


def mark_of_ids(ids: Iterable[str]) -> str:
    """Return what tells whether ids are the same, and in the same order.

    Parameters
    ----------
    ids : iterable of str
        The ids.

    Returns
    -------
    str

    Examples
    --------
    >>> mark_of_ids(["p1", "p2"]) == mark_of_ids(["p2", "p1"])
    False
    """
    lines = "\n".join(repr(str(each)) for each in ids)
    return f"ids {hashlib.sha256(lines.encode()).hexdigest()[:16]}"


def other_points(points: str, answers: str | Path) -> str:
    """Return what to say if the points are others.

    Parameters
    ----------
    points : str
        The name of the table.
    answers : str or Path
        The file of answers, or the address of their database.

    Returns
    -------
    str
    """
    another = "file of answers with --answers"
    if is_address(answers):
        another = "database with --database"
    return (
        f"the points of {points} are not those that the answers in {called(answers)} "
        "are about: rows, ids or cells have changed since. Give the table as it was, "
        f"or begin another {another}"
    )
