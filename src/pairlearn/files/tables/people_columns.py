"""Who answered, when, and what they said beside it, in a table of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.files.tables.cells import id_of, is_missing, shown
from pairlearn.files.tables.columns import plain_name
from pairlearn.files.tables.words import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Collection

    from pairlearn.data.types import Bools, Floats, Ints
    from pairlearn.files.tables.cell_columns import Cells
    from pairlearn.files.tables.reading import Table

__all__ = ["RANDOM_CHECK", "PeopleColumns", "SaidRows", "read_people"]

# What the column `why` says of a question that repeats a pair drawn at random.
RANDOM_CHECK = "second opinion: a random check"
# What `pairlearn label` writes there; a column that says none of this is not ours.
_OURS = frozenset(
    (
        RANDOM_CHECK,
        "second opinion: somebody was unsure",
        "second opinion: the answer is in doubt",
        "to judge the model",
        "to find the kinds",
        "to learn most",
        "drawn at random",
    )
)
# Moments as numbers: seconds or milliseconds since 1970, from 1973 to 5138.
_SECONDS, _MILLISECONDS = (1e8, 1e11), (1e11, 1e14)


@dataclass(frozen=True)
class PeopleColumns:
    """Who said what when, row by row; None where the table has no such column.

    Attributes
    ----------
    names : list of str or None
        Who answered; empty where a row names nobody.
    times : ndarray of float or None
        When, in seconds since 1970 (UTC); NaN where a row does not say.
    comments : list of str or None
        What was said beside the answer; mostly empty.
    random : ndarray of bool or None
        Rows that repeat a pair that was drawn at random for a second opinion.
    notes : list of str
        Columns that were not understood.
    """

    names: list[str] | None
    times: Floats | None
    comments: list[str] | None
    random: Bools | None
    notes: list[str]

    def take(self, rows: Ints) -> PeopleColumns:
        """Return what is said of some rows."""
        some = rows.tolist()
        return PeopleColumns(
            None if self.names is None else [self.names[row] for row in some],
            None if self.times is None else self.times[rows],
            None if self.comments is None else [self.comments[row] for row in some],
            None if self.random is None else self.random[rows],
            self.notes,
        )

    @classmethod
    def joined(cls, parts: list[PeopleColumns], n_rows: list[int]) -> PeopleColumns:
        """Return the columns of several tables, of so many rows each.

        What one table does not say is empty there. Only where none says which repeats
        are random is it unknown.
        """
        sized = list(zip(parts, n_rows, strict=True))
        names = comments = times = random = None
        if any(part.names is not None for part in parts):
            names = [x for part, n in sized for x in part.names or [""] * n]
        if any(part.comments is not None for part in parts):
            comments = [x for part, n in sized for x in part.comments or [""] * n]
        if any(part.times is not None for part in parts):
            times = np.concatenate(
                [np.full(n, np.nan) if p.times is None else p.times for p, n in sized]
            )
        if any(part.random is not None for part in parts):
            random = np.concatenate(
                [
                    np.zeros(n, dtype=bool) if p.random is None else p.random
                    for p, n in sized
                ]
            )
        notes = [note for part in parts for note in part.notes]
        return cls(names, times, comments, random, notes)


@dataclass(frozen=True)
class SaidRows:
    """All answers that people gave about pairs of known points, row by row.

    Attributes
    ----------
    index : ndarray of shape (n_rows, 2)
        Row numbers of the two points.
    t : ndarray of shape (n_rows,)
        The answers; 0 where somebody was unsure.
    lines : list
        Where each stands, as `PairRows.line` says it.
    people : PeopleColumns
        Who said it, when, and with what comment.
    places : ndarray of int
        The place of each among all rows of the tables, in their order.
    """

    index: Ints
    t: Floats
    lines: list[int | str]
    people: PeopleColumns
    places: Ints

    @classmethod
    def joined(cls, parts: list[SaidRows]) -> SaidRows:
        """Return what several parts of the same tables say, in the tables' order."""
        places = np.concatenate([part.places for part in parts])
        order = np.argsort(places, kind="stable")
        lines = [line for part in parts for line in part.lines]
        sizes = [len(part.t) for part in parts]
        people = PeopleColumns.joined([part.people for part in parts], sizes)
        return cls(
            np.concatenate([part.index for part in parts])[order],
            np.concatenate([part.t for part in parts])[order],
            [lines[row] for row in order.tolist()],
            people.take(order),
            places[order],
        )


def read_people(table: Table, used: Collection[str] = ()) -> PeopleColumns:
    """Read who answered, when, with what comment, and which repeats are random.

    Parameters
    ----------
    table : Table
        A table of pairs.
    used : collection of str
        Columns that mean something else: ids and answers.

    Returns
    -------
    PeopleColumns

    Examples
    --------
    >>> from pairlearn.files.tables.cell_columns import Cells
    >>> from pairlearn.files.tables.reading import Table
    >>> columns = {"Worker ID": Cells(["ann", "bob "]), "note": Cells(["", "blurred"])}
    >>> columns["time"] = Cells(["2026-05-01T12:00:00Z", ""])
    >>> found = read_people(Table("pairs.csv", columns, np.array([2, 3])))
    >>> found.names, found.comments, found.times, found.random
    (['ann', 'bob'], ['', 'blurred'], array([1.7776368e+09,           nan]), None)
    """
    notes: list[str] = []
    who = _named(table, "people", used)
    names = None
    if len(who) > 1:
        notes.append(
            f"{table.name}: who answered may be in {' or '.join(map(repr, who))}; "
            "rename the right column to annotator"
        )
    elif who:
        names = [_text(cell) for cell in table.columns[who[0]]]
        if not any(names):
            names = None
    said = _named(table, "comments", used)
    comments = [_text(cell) for cell in table.columns[said[0]]] if said else None
    return PeopleColumns(
        names, _times(table, used, notes), comments, _random(table, used), notes
    )


def _named(table: Table, what: str, used: Collection[str]) -> list[str]:
    """Return the columns with the surest of the names for this."""
    for tier in COLUMNS[what]:
        words = tier.split()
        found = [
            name
            for name in table.columns
            if name not in used and plain_name(name) in words
        ]
        if found:
            return found
    return []


def _text(cell: object) -> str:
    return "" if is_missing(cell) else id_of(cell)


def _times(table: Table, used: Collection[str], notes: list[str]) -> Floats | None:
    found = _named(table, "times", used)
    if not found:
        return None
    cells = table.columns[found[0]]
    seconds = _seconds(cells)
    if seconds is None:
        first = next(cell for cell in cells if not is_missing(cell))
        notes.append(
            f"{table.name}: column {found[0]!r}, with {shown(first)}, is not "
            "understood as times; write them as 2026-05-01T12:30:00Z"
        )
    elif np.isnan(seconds).all():
        return None
    return seconds


def _seconds(cells: Cells) -> Floats | None:
    """Return the cells as seconds since 1970, if they are moments."""
    days = cells.days("year first")
    if days.fits.all():
        return days.values * 86400.0
    numbers = cells.numbers("point")
    if not numbers.fits.all():
        return None
    given = numbers.values[~np.isnan(numbers.values)]
    for (low, high), unit in ((_SECONDS, 1.0), (_MILLISECONDS, 1e-3)):
        if np.all((low <= given) & (given < high)):
            return numbers.values * unit
    return None


def _random(table: Table, used: Collection[str]) -> Bools | None:
    """Return which rows are random repeats, if a column `why` of ours says it."""
    name = next(
        (n for n in table.columns if plain_name(n) == "why" and n not in used), None
    )
    if name is None:
        return None
    words = [_text(cell).casefold() for cell in table.columns[name]]
    if _OURS.isdisjoint(words):
        return None
    return np.array([word == RANDOM_CHECK for word in words], dtype=bool)
