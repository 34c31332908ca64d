"""Which column is which: by option, by name, or by what it holds.

Whatever could be meant in two ways is an error that names the candidates and the option
that settles it. A wrong guess would make a wrong model.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from pairlearn.files.tables.cells import id_of, shown
from pairlearn.files.tables.errors import OptionError, TableError
from pairlearn.files.tables.make_cells import cells_of
from pairlearn.files.tables.text_file import UNNAMED
from pairlearn.files.tables.words import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Collection

    from pairlearn.files.tables.cell_columns import Cells
    from pairlearn.files.tables.reading import Table

__all__ = [
    "FoundIds",
    "check_numbering",
    "column_named",
    "find_answer",
    "find_id",
    "find_sides",
    "hint_about_ids",
    "ids_in",
    "plain_name",
]

# From here on floats leave out whole numbers.
_LARGEST_EXACT = 2**53
# Names of the id column; those further down must also hold a different id in each row.
_IDS = [tier.split() for tier in COLUMNS["ids"]]
_IDS[-1].append(UNNAMED)
_SIDES = [pair.split("+") for pair in COLUMNS["sides"].split()]
_ANSWERS, _OPPOSITE = COLUMNS["answers"].split(), COLUMNS["opposite"].split()


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
    column = None
    if option is not None:
        column = column_named(table, option, "--id")
    elif first_row is None:
        column = _id_by_name(table)
        if column is None and wanted is not None:
            column = _id_by_content(table, wanted)
    if column is None:
        return _row_numbers(table, wanted, first_row)
    ids = _checked_ids(table, column)
    notes = [] if option is not None else _row_numbers_instead(ids, column, wanted)
    return FoundIds(ids, column, None, notes)


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


def _id_by_name(table: Table) -> str | None:
    for number, tier in enumerate(_IDS):
        found = [name for name in table.columns if plain_name(name) in tier]
        if number > 1:
            found = [name for name in found if _is_unique(table.columns[name])]
        if len(found) > 1:
            raise TableError(
                f"{table.name}: the ids may be in {_either(found)}; say which with "
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
    if not all(_is_row_number(name) and int(name) <= n_points for name in wanted):
        return []
    if any(ids == [str(k + first) for k in range(n_points)] for first in (0, 1)):
        return []
    note = (
        f"the ids are read from column {column!r}; if the pairs hold row numbers, use "
        "--first-row 0 or --first-row 1"
    )
    return [note]


def _id_by_content(table: Table, wanted: Collection[str]) -> str | None:
    names = set(wanted)
    found = [
        name
        for name, cells in table.columns.items()
        if _hold(cells, names) and _is_unique(cells)
    ]
    if len(found) > 1:
        raise TableError(
            f"{table.name}: the ids of the pairs are in {_either(found)}; say which is "
            "meant with --id"
        )
    if found and all(map(_is_row_number, names)):
        # A column of small whole numbers holds them by chance, or is a numbering.
        raise TableError(
            f"{table.name} has no column named id. The pairs hold whole numbers, and "
            f"so does column {found[0]!r}: use --id {found[0]!r}, or, if they are row "
            "numbers, --first-row 0 or --first-row 1"
        )
    return found[0] if found else None


def check_numbering(table: Table) -> None:
    """Refuse to number the rows of a table with a blank one between others."""
    if table.gap:
        raise TableError(
            f"{table.name}, line {table.gap}: a blank row between others. The points "
            "have no ids and are identified by their row numbers, and it is not clear "
            "whether this row counts: delete it, or write NA into its cells if it "
            "does, or give the points a column of ids"
        )


def _row_numbers(
    table: Table, wanted: Collection[str] | None, first_row: int | None
) -> FoundIds:
    """Return row numbers as ids; where they begin must be said, or show itself."""
    check_numbering(table)
    n_points = len(table)
    if wanted is not None:
        strange = [name for name in wanted if not _is_row_number(name)]
        if strange:
            raise TableError(
                f"{table.name} has no column with the ids that the pairs use, such as "
                f"{shown(strange[0])}. Its columns are {_listed(table.columns)}; say "
                "which one holds the ids with --id"
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
    return _sides_by_content(table, answer, ids)


def _sides_by_content(
    table: Table, answer: str | None, ids: Collection[str] | None
) -> tuple[str, str]:
    say = (
        "say which two columns hold the ids with --left and --right; there are "
        f"{_listed(table.columns)}"
    )
    if len(table.columns) < 2:
        raise TableError(
            f"{table.name} has one column, {_listed(table.columns)}; a table of pairs "
            "has columns such as left,right,answer. Cells are separated by a comma, a "
            "semicolon, a tab or a vertical bar"
        )
    if ids is None:
        raise TableError(f"{table.name}: {say}")
    known = set(ids)
    found = [
        name
        for name, cells in table.columns.items()
        if name != answer and all(id_of(cell) in known for cell in cells)
    ]
    if len(found) != 2:
        raise TableError(
            f"{table.name}: no two columns have names such as left and right, and "
            f"{len(found)} column(s) hold ids of points; {say}"
        )
    if any(name in known for name in found):
        raise TableError(
            f"{table.name}: the first line, {_listed(table.columns)}, seems to be a "
            "pair, not a header; put a header line above it: left,right,answer"
        )
    return found[0], found[1]


def find_answer(
    table: Table, option: str | None, sides: tuple[str, str], *, needed: bool
) -> str | None:
    """Find the column of the answers in a table of pairs."""
    if option is not None:
        if option in sides:
            raise OptionError(f"--answer {option!r} is a column of ids")
        return _refuse_opposite(table, column_named(table, option, "--answer"))
    rest = [name for name in table.columns if name not in sides]
    found = [name for name in rest if plain_name(name) in _ANSWERS]
    if len(found) == 1:
        return found[0]
    if not needed and not found:
        return None
    if not rest:
        raise TableError(
            f"{table.name} has no column of answers besides {sides[0]!r} and "
            f"{sides[1]!r}; add one with same or different in each row"
        )
    raise TableError(
        f"{table.name}: the answers may be in {_either(found or rest)}; say which with "
        f"--answer, such as --answer {(found or rest)[0]!r}"
    )


def _refuse_opposite(table: Table, name: str) -> str:
    """Refuse yes and no to the question whether two points are different."""
    said = {str(cell).casefold() for cell in table.columns[name] if cell is not None}
    clear = any(word in one for one in said for word in ("same", "diff", "link"))
    if plain_name(name) in _OPPOSITE and not clear:
        raise TableError(
            f"{table.name}: column {name!r} seems to ask whether two points are "
            "different, so yes would mean different there; write same or different in "
            "its cells"
        )
    return name


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
        if _hold(cells, names):
            return f"; but column {name!r} holds them: use --id {name!r}"
    return ""


def column_named(table: Table, name: str, option: str) -> str:
    """Return the column that an option names."""
    if name in table.columns:
        return name
    same = [c for c in table.columns if c.casefold() == name.strip().casefold()]
    if len(same) == 1:
        return same[0]
    raise OptionError(
        f"{option} {name!r}: {table.name} has no such column; there are "
        f"{_listed(table.columns)}"
    )


def plain_name(name: str) -> str:
    """Return a name without case, spaces and punctuation."""
    return name if name == UNNAMED else re.sub(r"[\W_]+", "", name).casefold()


def _hold(cells: Cells, names: set[str]) -> bool:
    """Tell whether all of these ids are in a column."""
    return len(cells.ids().rows_of(names)) == len(names)


def _is_unique(cells: Cells) -> bool:
    ids = cells.ids()
    return "" not in ids.rows_of([""]) and len(ids.factorize()[1]) == len(ids)


def _is_row_number(name: str) -> bool:
    return (
        name.isascii() and name.isdigit() and len(name) < 16 and str(int(name)) == name
    )


def _either(names: list[str]) -> str:
    return " or ".join(repr(name) for name in names)


def _listed(names: Collection[str], most: int = 12) -> str:
    some = ", ".join(shown(name) for name in list(names)[:most])
    more = len(names) - most
    return some + (f" and {more} more" if more > 0 else "")
