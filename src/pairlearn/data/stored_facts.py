"""What a file of `pairlearn label` says beside the answers: ids, names of groups."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pairlearn.data.stored_answers import damaged, snapshot

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["StoredFacts", "read_stored_facts"]

# Questions by which it is seen where the row numbers begin.
_ASKED = """
SELECT json_extract(body, '$.left'), json_extract(body, '$.left_id')
FROM events WHERE kind = 'ask' ORDER BY number LIMIT 1000
"""
_NAMED = "SELECT body FROM events WHERE kind = 'name' ORDER BY number DESC LIMIT 1"


@dataclass
class StoredFacts:
    """How the points of a file of answers are known, and what its groups are called.

    Attributes
    ----------
    id : str or None
        The column of the ids that the page was begun with.
    first_row : int or None
        The number of the first row, if the ids look like row numbers.
    names : dict
        The name that somebody gave to the group of each of some points, by their ids.
    """

    id: str | None = None
    first_row: int | None = None
    names: dict[str, str] = field(default_factory=dict)


def read_stored_facts(path: str | Path) -> StoredFacts:
    """Read what a file of answers says beside the answers.

    Parameters
    ----------
    path : str or Path
        The file that `pairlearn label` writes.

    Returns
    -------
    StoredFacts

    Raises
    ------
    StoreError
        If it cannot be read, with the reason and the way out.
    """
    with snapshot(path) as connection:
        asked = connection.execute(_ASKED).fetchall()
        named = connection.execute(_NAMED).fetchone()
        try:
            kept = connection.execute(
                "SELECT value FROM facts WHERE name = 'settings'"
            ).fetchone()
        except sqlite3.OperationalError:
            kept = None  # a file without facts still has its answers
    try:
        settings = json.loads(kept[0]) if kept else {}
        groups = json.loads(named[0])["names"] if named else []
        names = {
            str(member): _text(group["name"])
            for group in groups
            if group.get("name")
            for member in group["members"]
        }
        column = settings.get("id")
        column = None if column is None else _text(column)
    except (ValueError, TypeError, KeyError, AttributeError):
        what = "its settings, or the names of its groups, are not understood"
        raise damaged(path, what) from None
    return StoredFacts(column, _first_row(settings, asked), names)


def _first_row(settings: dict[str, Any], asked: list[tuple[Any, Any]]) -> int | None:
    said = settings.get("first_row")
    if said in (0, 1):
        return int(said)
    for first in (0, 1):
        if asked and all(
            isinstance(row, int) and name == str(row + first) for row, name in asked
        ):
            return first
    return None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value
