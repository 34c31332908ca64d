"""How the numbers of a column are written, and what their decimal sign is.

1.234 and 1,234 may be a little more than one, or more than a thousand. The other cells
of the column tell, or the other columns, or what divides the cells of the table; where
nothing does, there is a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pairlearn.files.tables.cells import shown

if TYPE_CHECKING:
    from pairlearn.data.types import Bools, Floats
    from pairlearn.files.tables.cell_columns import Cells
    from pairlearn.files.tables.reading import Table

__all__ = [
    "ParsedColumn",
    "choose_number_style",
    "common_decimal_sign",
    "parse_column",
    "share_of_lone_groups",
]


class ParsedColumn(NamedTuple):
    """A column whose cells have been read as numbers, in each way that they fit.

    Attributes
    ----------
    name : str
        Its name.
    cells, present : Cells
        All its cells, and those that are not missing.
    missing : ndarray of bool
        Which are missing.
    numbers : dict
        Those that are not missing as numbers, by each way of writing that all of them
        fit.
    """

    name: str
    cells: Cells
    present: Cells
    missing: Bools
    numbers: dict[str, Floats]

    def on_all_rows(self, values: Floats) -> Floats:
        """Return values of the present cells with NaN where cells are missing."""
        if len(values) == len(self.cells):
            return values
        whole = np.full(len(self.cells), np.nan)
        whole[~self.missing] = values
        return whole


def parse_column(name: str, cells: Cells) -> ParsedColumn:
    """Read the cells of a column as the numbers that they may be."""
    missing = cells.missing()
    present = cells.take(np.flatnonzero(~missing)) if missing.any() else cells
    no_numbers = not len(present) or bool in present.kinds
    numbers = {} if no_numbers else present.all_numbers()
    return ParsedColumn(name, cells, present, missing, numbers)


def common_decimal_sign(columns: list[ParsedColumn]) -> str:
    """Return the decimal sign of all columns that show one; empty if they differ."""
    signs = {_decimal_sign(column) for column in columns} - {""}
    return signs.pop() if len(signs) == 1 else ""


def _decimal_sign(column: ParsedColumn) -> str:
    if "comma" not in column.numbers:
        return "." if column.numbers else ""
    clear = len(column.numbers) == 1 and column.present.have_separator()
    return "," if clear else ""


def choose_number_style(
    column: ParsedColumn, sign: str, table: Table
) -> tuple[str, str]:
    """Return how the numbers of a column are written, and a note if that is a guess.

    Parameters
    ----------
    column : ParsedColumn
        The column; its cells fit at least one way of writing.
    sign : str
        The decimal sign of other columns; empty if they do not show one.
    table : Table
        The table, for what divides its cells.

    Returns
    -------
    style, note : str
        The way of writing; a sentence, or nothing.
    """
    numbers = column.numbers
    style = next(iter(numbers))
    differ = [s for s in numbers if not _equal(numbers[s], numbers[style])]
    if not differ:
        # Whole numbers; those to come may be written as in the other columns.
        return ("comma" if sign == "," and "comma" in numbers else style), ""
    if style == "point":  # 1.234
        own, settled = ".", sign or ("." if table.delimiter == "," else "")
    else:  # 1,234
        own, settled = ",", sign or ("," if table.decimal_comma else "")
    if settled == own:
        return style, ""
    small, large = numbers[style], numbers[differ[0]]
    row = int(np.flatnonzero(np.abs(small - large) > 0)[0])
    less, more = f"{small[row]:.10g}", f"{large[row]:.10g}"
    cell = shown(column.present[row])
    read_as = f"column {column.name!r}: numbers such as {cell} are read as"
    if style == "point" and not settled:
        return style, (
            f"{read_as} {less}; if {more} is meant, write it without a separator"
        )
    style = differ[0]
    return style, (
        f"{read_as} thousands, {more}; if {less} is meant, write it with a decimal "
        f"{'comma' if style == 'comma' else 'point'}"
    )


def share_of_lone_groups(column: ParsedColumn, style: str) -> float | None:
    """Return the share of lone groups among numbers with a separator.

    See :func:`pairlearn.files.tables.cells.is_lone_group`. None if no number has a
    separator.
    """
    if style == "point":
        return 0.0
    marks = column.present.lone_groups(style)
    n_lone, n_marks = int(np.sum(marks == 1)), int(np.sum(marks >= 0))
    return n_lone / n_marks if n_marks else None


def _equal(a: Floats, b: Floats) -> bool:
    return bool(np.array_equal(a, b, equal_nan=True))
