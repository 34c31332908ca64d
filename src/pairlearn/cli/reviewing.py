"""Whether points are still what they were when somebody was asked about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pairlearn.files.tables.cells import (
    DATE_ORDERS,
    NUMBER_STYLES,
    days_of,
    id_of,
    is_missing,
    number_of,
    shown,
    text_of,
)
from pairlearn.files.tables.reading import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pairlearn.files.tables.points import Points

__all__ = ["note_on_changes"]


def note_on_changes(
    pairs: Sequence[Path],
    points: Points,
    names: Sequence[str],
    *,
    delimiter: str | None = None,
) -> list[str]:
    """Return a sentence if the points that answers are about have changed since.

    Parameters
    ----------
    pairs : sequence of Path
        Tables with answers; those of `pairlearn ask` show what both points held.
    points : Points
        The points as they are now.
    names : sequence of str
        The columns to compare.
    delimiter : str, optional
        What divides the cells of the tables.

    Returns
    -------
    list of str
        Empty if nothing has changed, or if it cannot be told.
    """
    changed: dict[str, str] = {}
    for file in pairs:
        table = read_table(file, delimiter=delimiter)
        for side in ("left", "right"):
            if side not in table.columns:
                continue
            ids = [id_of(cell) for cell in table.columns[side]]
            rows = points.rows_of(set(ids))
            for name in names:
                then = table.columns.get(f"{side}_{name}")
                if then is None:
                    continue
                now = points.table.columns[name]
                for place, (point, cell) in enumerate(zip(ids, then, strict=True)):
                    if point in rows and not _alike(cell, now[rows[point]]):
                        changed.setdefault(
                            point,
                            f"{shown(point)} had {shown(_text(cell))} in the column "
                            f"{name!r} when it was asked about ({table.place(place)}), "
                            f"and has {shown(_text(now[rows[point]]))} now",
                        )
    if not changed:
        return []
    more = f"; {len(changed) - 1} other point(s) have changed, too" * (len(changed) > 1)
    note = (
        f"{points.table.name} has changed since: {next(iter(changed.values()))}{more}. "
        "If answers no longer fit, take them out of the table"
    )
    return [note]


def _text(cell: Any) -> str:
    return "" if is_missing(cell) else str(cell)


def _alike(one: Any, other: Any) -> bool:
    """Tell whether two cells hold the same, however a spreadsheet writes it."""
    if text_of(one) == text_of(other):
        return True
    if is_missing(one) or is_missing(other):
        return False
    meanings = [
        {
            number
            for read, ways in ((number_of, NUMBER_STYLES), (days_of, DATE_ORDERS))
            for number in (read(cell, way) for way in ways)
            if number is not None
        }
        for cell in (one, other)
    ]
    return any(
        abs(a - b) <= 1e-6 * max(abs(a), abs(b))
        for a in meanings[0]
        for b in meanings[1]
    )
