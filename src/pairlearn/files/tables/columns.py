"""Which column is which: by option, by name, or by what it holds.

Whatever could be meant in two ways is an error that names the candidates and the option
that settles it. A wrong guess would make a wrong model.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from pairlearn.files.tables.cells import shown
from pairlearn.files.tables.errors import OptionError, TableError
from pairlearn.files.tables.make_cells import cells_of
from pairlearn.files.tables.overlap import (
    either,
    hold,
    id_by_content,
    is_row_number,
    is_unique,
    listed,
    sides_by_content,
)
from pairlearn.files.tables.text_file import UNNAMED
from pairlearn.files.tables.words import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Collection

    from pairlearn.files.tables.cell_columns import Cells
    from pairlearn.files.tables.reading import Table

__all__ = ["ANSWER_NAMES", "FoundIds", "check_numbering", "column_named", "find_id"]
__all__ += ["find_sides", "ids_in", "named_id", "plain_name"]

# From here on floats leave out whole numbers.
_LARGEST_EXACT = 2**53
# Names of the id column; those further down must also hold a different id in each row.
_IDS = [tier.split() for tier in COLUMNS["ids"]]
_IDS[-1].append(UNNAMED)
_SIDES = [pair.split("+") for pair in COLUMNS["sides"].split()]
ANSWER_NAMES = frozenset(COLUMNS["answers"].split())


class FoundIds(NamedTuple):
    """The ids of points, and where they come from."""

    ids: Cells
    column: str | None
    first_row: int | None
    notes: list[str]


def find_id(
    table: Table,
    option: str | None,
    wanted: Collection[str] | None,
    first_row: int | None,
) -> FoundIds:
    """Find the ids of points; see `pairlearn.files.tables.points.read_points`."""
    column: str | None = None
    notes: list[str] = []
    if option is not None:
        column = column_named(table, option, "--id")
    elif first_row is None:
        column = named_id(table, wanted)
        if wanted and column is not None:
            column, notes = _other_id(table, column, wanted)
        elif wanted:
            column = id_by_content(table, wanted)
    if column is None:
        return _row_numbers(table, wanted, first_row)
    ids = _checked_ids(table, column)
    notes += [] if option is not None else _row_numbers_instead(ids, column, wanted)
    return FoundIds(ids, column, None, notes)


def _other_id(
    table: Table, named: str, wanted: Collection[str]
) -> tuple[str, list[str]]:
    """Return the column called id, or, if it holds no id of the pairs, that which does.

    Numbers that may be those of rows are left to the message about unknown points.
    """
    names = set(wanted)
    if table.columns[named].ids().rows_of(names) or all(map(is_row_number, names)):
        return named, []
    found = id_by_content(table, wanted, besides=(named,))
    if found is None or not hold(table.columns[found], names):
        return named, []
    note = (
        f"the ids are read from column {found!r}, which holds those of the pairs; "
        f"column {named!r} holds none of them"
    )
    return found, [note]


def ids_in(table: Table, column: str) -> Cells:
    """Return the cells of a column as ids; refuse floats that may have been rounded."""
    cells = table.columns[column]
    for row, cell in enumerate(cells if float in cells.kinds else ()):
        if isinstance(cell, float) and abs(cell) >= _LARGEST_EXACT:
            raise TableError(
                f"{table.place(row)}: the id {shown(cell)} in column {column!r} is a "
                "floating-point number too large to be exact, so it may mean another "
                "id; store the ids as whole numbers or as text"
            )
    return cells.ids()


def named_id(table: Table, wanted: Collection[str] | None = None) -> str | None:
    """Find the column of points that is called like ids, if there is one.

    Parameters
    ----------
    table : Table
        The points.
    wanted : collection of str, optional
        The ids in the pairs, which settle it if several columns are called so.
    """
    for number, tier in enumerate(_IDS):
        found = [name for name in table.columns if plain_name(name) in tier]
        if number > 1:
            found = [name for name in found if is_unique(table.columns[name])]
        if len(found) > 1 and wanted:
            holding = [name for name in found if hold(table.columns[name], set(wanted))]
            found = holding if len(holding) == 1 else found
        if len(found) > 1:
            raise TableError(
                f"{table.name}: the ids may be in {either(found)}; say which with "
                f"--id, such as --id {found[0]!r}"
            )
        if found:
            return found[0]
    return None


def _row_numbers_instead(
    ids: Cells, column: str, wanted: Collection[str] | None
) -> list[str]:
    """Return a note if the pairs may hold row numbers, and not these ids."""
    n_points = len(ids)
    if not wanted or plain_name(column) not in _IDS[2] + _IDS[3]:
        return []
    if not all(is_row_number(name) and int(name) <= n_points for name in wanted):
        return []
    if any(ids == [str(k + first) for k in range(n_points)] for first in (0, 1)):
        return []
    note = (
        f"the ids are read from column {column!r}; if the pairs hold row numbers, use "
        "--first-row 0 or --first-row 1"
    )
    return [note]


def check_numbering(table: Table) -> None:
    """Refuse to number the rows of a table with a blank one between others."""
    if table.gap:
        raise TableError(
            f"{table.name}, line {table.gap}: a blank row between others. The points "
            "have no ids and are identified by their row numbers, and it is not clear "
            "whether this row counts: delete it, or write NA into its cells if it "
            "does, or give the points a column of ids"
        )


def _ids_wanted(table: Table) -> str:
    return "ids" if _is_array(table) else "column with the ids"


def _way_out(table: Table) -> str:
    if _is_array(table):
        return (
            "Its points are known by their row numbers: write these into the pairs, or "
            "save the array as .npz beside an array 'id' of one text for each point"
        )
    return (
        f"Its columns are {listed(table.columns)}; say which one holds the ids with "
        "--id"
    )


def _is_array(table: Table) -> bool:
    return table.name.lower().endswith((".npy", ".npz"))


def _row_numbers(
    table: Table, wanted: Collection[str] | None, first_row: int | None
) -> FoundIds:
    """Return row numbers as ids; where they begin must be said, or show itself."""
    check_numbering(table)
    n_points = len(table)
    if wanted is not None:
        strange = [name for name in wanted if not is_row_number(name)]
        if strange:
            raise TableError(
                f"{table.name} has no {_ids_wanted(table)} that the pairs use, such as "
                f"{shown(strange[0])}. {_way_out(table)}"
            )
        numbers = [int(name) for name in wanted]
        if first_row is None:
            first_row = _first_row(table, min(numbers), max(numbers))
        outside = [k for k in numbers if not first_row <= k < n_points + first_row]
        if outside:
            raise TableError(
                f"row {outside[0]} is not in {table.name}, whose {n_points} rows are "
                f"numbered from {first_row} to {n_points + first_row - 1}. If the "
                "pairs hold ids, say which column of the points holds them with --id"
            )
    first_row = 1 if first_row is None else first_row
    last = first_row + n_points - 1
    note = (
        f"{table.name} has no id column; its rows are numbered from {first_row} to "
        f"{last} (if a column holds ids, name it with --id)"
    )
    ids = cells_of(list(map(str, range(first_row, last + 1))))
    return FoundIds(ids, None, first_row, [note])


def _first_row(table: Table, lowest: int, highest: int) -> int:
    if lowest == 0 and highest < len(table):
        return 0
    if highest == len(table) and lowest > 0:
        return 1
    if highest > len(table) or lowest == 0:
        raise TableError(
            f"{table.name} has no column named id, and the pairs hold whole numbers "
            f"from {lowest} to {highest}, which cannot be the numbers of its "
            f"{len(table)} rows. Say which column holds the ids with --id"
        )
    raise TableError(
        f"{table.name} has no column of ids, so the pairs seem to hold row numbers; "
        "but it is not clear whether the first row is 0 or 1. Use --first-row 0 or "
        "--first-row 1, or say which column holds the ids with --id"
    )


def _checked_ids(table: Table, column: str) -> Cells:
    """Return the ids of a column, each of which must be there once."""
    ids = ids_in(table, column)
    for row, name in enumerate(() if ids.are_lines() else ids):
        if not name or "\n" in name or "\r" in name:
            what = "no id" if not name else f"a line break in the id {shown(name)}"
            raise TableError(
                f"{table.place(row)}: {what} in column {column!r}. Give each point its "
                "own id"
            )
    if len(ids.factorize()[1]) < len(ids):
        first: dict[str, int] = {}
        twice = [
            row for row, name in enumerate(ids) if first.setdefault(name, row) < row
        ]
        row = twice[0]
        raise TableError(
            f"{table.place(row)}: the id {shown(ids[row])} is already used in "
            f"{table.unit} {table.lines[first[ids[row]]]} "
            f"({len(twice)} row(s) repeat an id). Each point needs its own id; if a "
            f"column other than {column!r} holds the ids, say so with --id"
        )
    return ids


def find_sides(
    table: Table,
    left: str | None,
    right: str | None,
    answer: str | None,
    ids: Collection[str] | None,
) -> tuple[str, str]:
    """Find the two columns of ids in a table of pairs."""
    if (left is None) != (right is None):
        raise OptionError("give both --left and --right, or neither")
    if left is not None and right is not None:
        if left == right:
            raise OptionError(f"--left and --right are both {left!r}")
        return column_named(table, left, "--left"), column_named(
            table, right, "--right"
        )
    plain: dict[str, list[str]] = {}
    for name in table.columns:
        if name != answer:
            plain.setdefault(plain_name(name), []).append(name)
    found = [
        (one, other)
        for a, b in _SIDES
        for one in plain.get(a, [])
        for other in plain.get(b, [])
    ]
    if ("left", "right") in found and {"purpose", "question"} & table.columns.keys():
        # Questions of `pairlearn ask`, where left_id is a column of the points.
        return "left", "right"
    if len(found) > 1:
        raise TableError(
            f"{table.name}: the two points of a pair may be in "
            f"{' or in '.join(f'{a!r} and {b!r}' for a, b in found)}; say which with "
            "--left and --right"
        )
    if found:
        return found[0]
    return sides_by_content(table, _answers_among(table, answer), ids)


def _answers_among(table: Table, answer: str | None) -> list[str]:
    """Return the columns that hold answers, by option or by name."""
    if answer is not None:
        return [answer]
    return [name for name in table.columns if plain_name(name) in ANSWER_NAMES]


def column_named(table: Table, name: str, option: str) -> str:
    """Return the column that an option names."""
    if name in table.columns:
        return name
    same = [c for c in table.columns if c.casefold() == name.strip().casefold()]
    if len(same) == 1:
        return same[0]
    raise OptionError(
        f"{option} {name!r}: {table.name} has no such column; there are "
        f"{listed(table.columns)}"
    )


def plain_name(name: str) -> str:
    """Return a name without case, spaces and punctuation."""
    if name == UNNAMED:
        return name
    # One form of letters with accents, of which there are two in files.
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name)).casefold()
