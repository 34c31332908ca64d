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
    from pairlearn.data.types import Floats
    from pairlearn.files.tables.cell_columns import Cells
    from pairlearn.files.tables.reading import Table

__all__ = ["SeenColumn", "common_sign", "lone_groups", "see", "style_of"]


class SeenColumn(NamedTuple):
    """A column whose cells have been looked at.

    Attributes
    ----------
    name : str
        Its name.
    cells : Cells
        All its cells.
    fits : dict
        Those that are not missing as numbers, by each way of writing that all of them
        fit.
    """

    name: str
    cells: Cells
    fits: dict[str, Floats]


def see(name: str, cells: Cells) -> SeenColumn:
    """Look at the cells of a column: what numbers they may be."""
    there = cells.present()
    no_numbers = not len(there) or bool in there.kinds
    return SeenColumn(name, cells, {} if no_numbers else there.all_numbers())


def common_sign(columns: list[SeenColumn]) -> str:
    """Return the decimal sign of all columns that show one; empty if they differ."""
    signs = {_sign(column) for column in columns} - {""}
    return signs.pop() if len(signs) == 1 else ""


def _sign(column: SeenColumn) -> str:
    if "comma" not in column.fits:
        return "." if column.fits else ""
    clear = len(column.fits) == 1 and column.cells.present().have_separator()
    return "," if clear else ""


def style_of(column: SeenColumn, sign: str, table: Table) -> tuple[str, str]:
    """Return how the numbers of a column are written, and a note if that is a guess.

    Parameters
    ----------
    column : SeenColumn
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
    fits = column.fits
    style = next(iter(fits))
    differ = [s for s in fits if not _equal(fits[s], fits[style])]
    if not differ:
        # Whole numbers; those to come may be written as in the other columns.
        return ("comma" if sign == "," and "comma" in fits else style), ""
    if style == "point":  # 1.234
        own, settled = ".", sign or ("." if table.delimiter == "," else "")
    else:  # 1,234
        own, settled = ",", sign or ("," if table.decimal_comma else "")
    if settled == own:
        return style, ""
    small, large = fits[style], fits[differ[0]]
    row = int(np.flatnonzero(np.abs(small - large) > 0)[0])
    less, more = f"{small[row]:.10g}", f"{large[row]:.10g}"
    cell = shown(column.cells.present()[row])
    told = f"column {column.name!r}: numbers such as {cell} are read as"
    if style == "point" and not settled:
        return style, f"{told} {less}; if {more} is meant, write it without a separator"
    style = differ[0]
    return style, (
        f"{told} thousands, {more}; if {less} is meant, write it with a decimal "
        f"{'comma' if style == 'comma' else 'point'}"
    )


def lone_groups(column: SeenColumn, style: str) -> float | None:
    """Return the share of lone groups among numbers with a separator.

    See :func:`pairlearn.files.tables.cells.is_lone_group`. None if no number has a
    separator.
    """
    if style == "point":
        return 0.0
    marks = column.cells.lone_groups(style)
    n_lone, n_marks = int(np.sum(marks == 1)), int(np.sum(marks >= 0))
    return n_lone / n_marks if n_marks else None


def _equal(a: Floats, b: Floats) -> bool:
    return bool(np.array_equal(a, b, equal_nan=True))
