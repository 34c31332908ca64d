"""Which columns hold ids, by the values that two tables have in common.

Names of columns are in any language, but a pair names two points, so that two columns
of the pairs hold what one column of the points holds. A column of small whole numbers
may hold them by chance; then, and wherever there are two ways, the candidates are named
with the option that settles it.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from pairlearn.files.tables.cells import shown
from pairlearn.files.tables.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from pairlearn.files.tables.cell_columns import Cells
    from pairlearn.files.tables.reading import Table

__all__ = ["either", "hint_about_ids", "hold", "id_by_content", "ids_of_sides"]
__all__ += ["is_row_number", "is_unique", "listed", "sides_by_content"]

# Where some pairs name points that are not there, at least this share of the different
# values must be known, and no other column may hold half as many.
_MOST = 0.5


def id_by_content(
    table: Table, wanted: Collection[str], besides: Collection[str] = ()
) -> str | None:
    """Find the column of points that holds the ids of pairs, each once.

    Parameters
    ----------
    table : Table
        The points.
    wanted : collection of str
        The ids in the pairs.
    besides : collection of str
        Columns that are not meant.

    Returns
    -------
    str or None
        None if no column holds most of them, or if they may be row numbers.

    Raises
    ------
    TableError
        If there are several such columns, or if they may be row numbers as well.
    """
    names = set(wanted)
    columns = {name: c for name, c in table.columns.items() if name not in besides}
    share = {name: share_held(cells, names) for name, cells in columns.items()}
    found = [name for name in share if share[name] == 1 and is_unique(columns[name])]
    if len(found) > 1:
        raise TableError(
            f"{table.name}: the ids of the pairs are in {either(found)}; say which is "
            f"meant with --id, such as --id {found[0]!r}"
        )
    numbers = all(map(is_row_number, names))
    if found and numbers and max(map(int, names)) <= len(table):
        ids = columns[found[0]].ids()
        counted = (range(first, len(ids) + first) for first in (0, 1))
        if not any(ids == list(map(str, each)) for each in counted):
            # A column of small whole numbers holds them by chance, or is a numbering.
            raise TableError(
                f"{table.name} has no column named id. The pairs hold whole numbers, "
                f"and so does column {found[0]!r}: use --id {found[0]!r}, or, if they "
                "are row numbers, --first-row 0 or --first-row 1"
            )
    if found or numbers:
        return found[0] if found else None
    # Some pairs may name points that are not there, which is told later.
    best = max(share, key=share.__getitem__, default=None)
    if best is None or share[best] < _MOST or not is_unique(columns[best]):
        return None
    others = (share[name] for name in share if name != best)
    return best if max(others, default=0) < _MOST * share[best] else None


def ids_of_sides(
    points: Table, pairs: Table, answer: str | None, first: str | None = None
) -> Cells | None:
    """Find the column of points whose values two columns of pairs hold.

    Parameters
    ----------
    points, pairs : Table
        The tables.
    answer : str or None
        A column of the pairs that holds none.
    first : str or None
        The column of the points that is called like ids, which comes first.

    Returns
    -------
    Cells or None
        The ids in that column; None if there is none.

    Raises
    ------
    TableError
        If the columns of two points may be two different ones.
    """
    values = {
        name: set(cells.ids().tolist()) - {""}
        for name, cells in pairs.columns.items()
        if name != answer
    }
    names = [name for name in points.columns if name != first]
    order = names if first is None else [first, *names]
    several = None
    for enough in (1.0, _MOST):
        found: dict[str, list[str]] = {}
        for column in order:
            cells = points.columns[column]
            sides = _those_that_hold(cells, values, enough)
            if len(sides) < 2 or not is_unique(cells):
                continue
            if len(sides) > 2:
                several = several or column
                continue
            found[column] = sides
            if column == first:
                break
        if len({tuple(sides) for sides in found.values()}) > 1:
            ways = " or in ".join(
                f"{a!r} and {b!r}, which hold values of column {column!r} of "
                f"{points.name}"
                for column, (a, b) in found.items()
            )
            raise TableError(
                f"{pairs.name}: the two points of a pair may be in {ways}; say which "
                "with --left and --right"
            )
        for column in found:
            return points.columns[column].ids()
    # Of more than two the user must choose, and the message names them.
    return None if several is None else points.columns[several].ids()


def _those_that_hold(
    cells: Cells, values: dict[str, set[str]], enough: float
) -> list[str]:
    """Return the columns of pairs whose values are in a column of points."""
    return [
        name
        for name, some in values.items()
        if some and share_held(cells, some) >= enough
    ]


def sides_by_content(
    table: Table, answer: Collection[str], ids: Collection[str] | None
) -> tuple[str, str]:
    """Find the two columns of pairs that hold ids of points.

    Parameters
    ----------
    table : Table
        The pairs.
    answer : collection of str
        Columns that hold answers, and no ids.
    ids : collection of str or None
        The ids of the points; None if they are not known yet.
    """
    say = (
        "say which two columns hold the ids with --left and --right; there are "
        f"{listed(table.columns)}"
    )
    if len(table.columns) < 2:
        raise TableError(
            f"{table.name} has one column, {listed(table.columns)}; a table of pairs "
            "has columns such as left,right,answer. Cells are separated by a comma, a "
            "semicolon, a tab or a vertical bar; name another sign with --delimiter"
        )
    if ids is None:
        raise TableError(f"{table.name}: {say}")
    known = set(ids)
    values = {
        name: set(cells.ids().tolist()) - {""}
        for name, cells in table.columns.items()
        if name not in answer
    }
    found: list[str] = []
    for enough in (1.0, _MOST):
        found = [
            name
            for name, some in values.items()
            if some and len(some & known) >= enough * len(some)
        ]
        if len(found) == 2:
            break
    if len(found) != 2:
        which = f" ({', '.join(map(repr, found))})" if found else ""
        raise TableError(
            f"{table.name}: no two columns have names such as left and right, and "
            f"{len(found)} column(s) hold ids of points{which}; {say}"
        )
    if any(name in known for name in found):
        raise TableError(
            f"{table.name}: the first line, {listed(table.columns)}, seems to be a "
            "pair, not a header; put a header line above it: left,right,answer"
        )
    return found[0], found[1]


def hint_about_ids(unknown: list[str], points: Table, ids: Collection[str]) -> str:
    """Return why ids of pairs are not among those of the points, if it shows."""
    known, names = set(ids), set(unknown)
    ways = (
        ("without “.0” at the end", lambda s: s.removesuffix(".0")),
        ("without leading zeros", lambda s: s.lstrip("0") or "0"),
        ("in upper or lower case", str.casefold),
        (
            "in the same Unicode form",
            lambda s: unicodedata.normalize("NFKC", s),
        ),
    )
    for how, change in ways:
        if {change(name) for name in names} <= {change(name) for name in known}:
            return f"; {how} they would be the same"
    for name, cells in points.columns.items():
        if hold(cells, names):
            return f"; but column {name!r} holds them: use --id {name!r}"
    return ""


def share_held(cells: Cells, names: set[str]) -> float:
    """Return the share of some ids that are in a column."""
    return len(cells.ids().rows_of(names)) / len(names) if names else 0.0


def hold(cells: Cells, names: set[str]) -> bool:
    """Tell whether all of these ids are in a column."""
    return not names or share_held(cells, names) == 1


def is_unique(cells: Cells) -> bool:
    """Tell whether each cell of a column is there, and another one."""
    ids = cells.ids()
    return "" not in ids.rows_of([""]) and len(ids.factorize()[1]) == len(ids)


def is_row_number(name: str) -> bool:
    """Tell whether an id may be the number of a row."""
    return (
        name.isascii() and name.isdigit() and len(name) < 16 and str(int(name)) == name
    )


def either(names: Iterable[str]) -> str:
    """Return names with "or" between them."""
    return " or ".join(repr(name) for name in names)


def listed(names: Collection[str], most: int = 12) -> str:
    """Return the first of some names, and how many more there are."""
    some = ", ".join(shown(name) for name in list(names)[:most])
    more = len(names) - most
    return some + (f" and {more} more" if more > 0 else "")
