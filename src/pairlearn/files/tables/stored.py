"""Files of `pairlearn label` among tables of pairs: what they know about the points."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.files.tables.columns import named_id
from pairlearn.files.tables.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pairlearn.data.stored_facts import StoredFacts
    from pairlearn.data.types import Bools
    from pairlearn.files.tables.pair_rows import PairRows
    from pairlearn.files.tables.reading import Table

__all__ = ["how_points_are_known", "note_on_waiting", "stored_names"]
__all__ += ["waiting_audits"]


def _facts(files: Sequence[str | Path]) -> list[StoredFacts]:
    from pairlearn.files.tables.reading import STORE_SUFFIXES

    stores = [file for file in files if Path(file).suffix.lower() in STORE_SUFFIXES]
    if not stores:
        return []
    from pairlearn.data.stored_answers import StoreError
    from pairlearn.data.stored_facts import read_stored_facts

    try:
        return [read_stored_facts(file) for file in stores]
    except StoreError as problem:
        raise TableError(str(problem)) from None


def how_points_are_known(
    points: Table, files: Sequence[str | Path]
) -> tuple[str | None, int | None]:
    """Return the column of ids, or the number of the first row, as stores say.

    Parameters
    ----------
    points : Table
        The points.
    files : sequence of Path
        Tables of pairs, some of which may be files of `pairlearn label`.

    Returns
    -------
    id : str or None
        The column that the page was begun with, if the points have it.
    first_row : int or None
        The number of the first row, where no column is called like ids: then the page
        knew the points by row numbers.
    """
    facts = _facts(files)
    columns = {fact.id for fact in facts} - {None}
    if len(columns) == 1 and columns <= points.columns.keys():
        return columns.pop(), None
    begins = {fact.first_row for fact in facts}
    if facts and not columns and len(begins) == 1 and None not in begins:
        return None, begins.pop() if named_id(points) is None else None
    return None, None


def stored_names(files: Sequence[str | Path]) -> dict[str, str]:
    """Return what people called the groups of some points, by the ids of these.

    Parameters
    ----------
    files : sequence of Path
        Tables of pairs, some of which may be files of `pairlearn label`. What is said
        in a later one counts.
    """
    names: dict[str, str] = {}
    for fact in _facts(files):
        names |= fact.names
    return names


def waiting_audits(rows: PairRows) -> Bools:
    """Tell which rows are audits that are on somebody's page, without an answer.

    Parameters
    ----------
    rows : PairRows
        Rows of tables of pairs.
    """
    stores = np.array([table.unit == "question" for table in rows.tables], dtype=bool)
    empty = np.array([word == "" for word in rows.words], dtype=bool)
    waiting: Bools = stores[rows.where[:, 0]] & empty
    return waiting


def note_on_waiting(waiting: Bools) -> list[str]:
    """Return a sentence about audits that wait for an answer."""
    note = (
        f"{int(waiting.sum())} audit(s) were shown to somebody who has not answered "
        "yet, perhaps on a page that was closed; until they are answered on the page, "
        "they count as unsure, since hard ones must not be left out"
    )
    return [note] if waiting.any() else []
