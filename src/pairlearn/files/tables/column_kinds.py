"""What each column of a table of points is: numbers, text, images, or nothing.

It is decided once, over all points, when the model is made; and each cell is read once:
its value stands in the description of its column.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pairlearn.files.tables.cell_columns import HEAD
from pairlearn.files.tables.cells import shown, text_of
from pairlearn.files.tables.encoders.deferred import Deferred
from pairlearn.files.tables.encoders.image_files import is_readable_name
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.free_text import words_per_cell
from pairlearn.files.tables.number_formats import (
    choose_number_style,
    common_decimal_sign,
    parse_column,
    share_of_lone_groups,
)
from pairlearn.files.tables.vector_columns import describe_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from pairlearn.data.types import Ints
    from pairlearn.files.tables.cell_columns import Cells
    from pairlearn.files.tables.number_formats import ParsedColumn
    from pairlearn.files.tables.reading import Table

__all__ = ["Categories", "Column", "describe_columns", "frame_of_values"]

# A text column with more different values than this share of its cells is names or
# free text.
_SELDOM_AGAIN = 0.5
# Columns of so few cells are categories unless every cell differs.
_FEW = 20
# More categories than this of so many words each, which come again now and then, are
# texts, too.
_MOST_CATEGORIES, _LONG = 100, 6
# Squares and sums of larger numbers overflow.
_LARGEST = 1e100
_WRITTEN = {
    "point": "numbers",
    "comma": "numbers with decimal commas",
    "thousands": "numbers with commas between thousands",
}


class Categories(NamedTuple):
    """Categories by name, and the number of that of each row; -1 where missing."""

    names: list[str]
    codes: Ints


@dataclass(frozen=True)
class Column:
    """What a column is, and the values of its cells.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        What it is: "numbers", "dates", "categories", "text", "vector", "image",
        "embedded images", "embedded texts" or "left out".
    form : str
        How numbers or dates are written, or the name of an embedding; else empty.
    how : str
        In words, how it was encoded, or why it was left out.
    note : str
        What to tell about it; empty if nothing.
    lone : float
        Of numbers with a separator, the share with one between thousands alone.
    values : ndarray, Categories, Deferred or None
        Numbers, or days since 1970, with NaN where a cell is missing; or categories; or
        texts, empty where a cell is missing; or vectors, which are made when they are
        needed; None if it is left out.
    """

    name: str
    kind: str
    form: str
    how: str
    note: str = ""
    lone: float = 0.0
    values: NDArray[Any] | Categories | Deferred | None = field(
        default=None, compare=False, repr=False
    )


def describe_columns(
    features: Mapping[str, Cells],
    table: Table,
    embed: str | None = None,
    step: Callable[[int, int], None] | None = None,
) -> list[Column]:
    """Decide for each column of a table of points what it is.

    Parameters
    ----------
    features : dict of Cells
        The columns but the ids.
    table : Table
        The table that they are from.
    embed : str, optional
        The name of an embedding of texts or images; see `tables.encoders.embedders`.
    step : callable, optional
        Told how many of how many images or texts are done, when that takes a while.

    Returns
    -------
    list of Column

    Raises
    ------
    TableError
        If there is nothing to learn from.
    """
    vectors = describe_vectors(features, table, embed, step)
    parsed = [
        parse_column(name, cells)
        for name, cells in features.items()
        if name not in vectors
    ]
    sign = common_decimal_sign(parsed)
    others = {column.name: _describe(column, sign, table) for column in parsed}
    found = others | {name: Column(name, *what) for name, what in vectors.items()}
    columns = [found[name] for name in features]
    if all(column.kind == "left out" for column in columns):
        why = "; ".join(column.note for column in columns[:5])
        raise TableError(
            f"{table.name} has no column to learn from ({why}); points need numbers, "
            "dates, categories, texts or images that differ"
        )
    return columns


def frame_of_values(columns: list[Column]) -> Any:
    """Return the columns to learn from as a pandas frame.

    Numbers are floats; categories are categories, and free text is as it is; a cell of
    images, of vectors, or of what is embedded is a vector, or None.
    """
    import pandas as pd

    return pd.DataFrame(
        {
            column.name: _values_of(column)
            for column in columns
            if column.kind != "left out"
        }
    )


def _values_of(column: Column) -> Any:
    import pandas as pd

    values = column.values
    if isinstance(values, Categories):
        return pd.Categorical.from_codes(values.codes, values.names)
    if isinstance(values, Deferred):
        return pd.Series(values.cells.tolist(), dtype=object)
    return values


class _Grouped(NamedTuple):
    """Different cells and categories, and which of them each cell and each is."""

    distinct: Cells
    codes: Ints
    names: Cells
    name_of: Ints


def _group(cells: Cells) -> _Grouped:
    codes, distinct = cells.factorize()
    name_of, names = distinct.categories().factorize()
    return _Grouped(distinct, codes, names, name_of)


def _describe(column: ParsedColumn, sign: str, table: Table) -> Column:
    name, present = column.name, column.present
    n_missing = len(column.cells) - len(present)
    if not len(present):
        return _left_out(name, "no cell holds anything")
    missing = f"; {n_missing} missing" if n_missing else ""
    grouped = None
    # Most columns show at once that their cells differ.
    differ = len({text_of(cell) for cell in present[:HEAD]}) > 1
    if not differ:
        grouped = _group(present)
        differ = len(grouped.names) > 1
        if not differ and not n_missing:
            return _left_out(name, f"every cell is {shown(grouped.names[0])}")
    if differ:
        found = _as_numbers(column, sign, table, missing) or _as_dates(column, missing)
        if found is not None:
            return found
    distinct, codes, names, name_of = grouped or _group(present)
    note = _nearly_numbers(column, codes, distinct, table)
    seldom_again = (len(names) == len(present) > 2) or (
        len(present) > _FEW and len(names) > _SELDOM_AGAIN * len(present)
    )
    if seldom_again or len(names) > _MOST_CATEGORIES:
        n_words = words_per_cell(names)
        if n_words is not None and (seldom_again or n_words >= _LONG):
            return _as_text(column, n_words, missing, note)
    if seldom_again and is_readable_name(str(present[0]).strip()):
        return _left_out(
            name,
            f"its cells name images, such as {shown(present[0])}, and there are no "
            f"such files; paths begin in the folder of {table.name}",
            note,
        )
    if seldom_again:
        return _left_out(
            name,
            f"{len(names)} different texts in {len(present)} rows, such as "
            f"{shown(present[0])}: names or codes, with too few words for free text",
            note,
        )
    on_all_rows = np.full(len(column.cells), -1)
    on_all_rows[~column.missing] = name_of[codes]
    values = Categories(names.tolist(), on_all_rows)
    how = f"{len(names)} categories{missing}"
    return Column(name, "categories", "", how, note, values=values)


def _as_text(column: ParsedColumn, n_words: float, missing: str, note: str) -> Column:
    texts = np.full(len(column.cells), "", dtype=object)
    texts[~column.missing] = column.present.categories().tolist()
    how = f"free text, about {n_words:.0f} words per cell{missing}"
    return Column(column.name, "text", "", how, note, values=texts)


def _left_out(name: str, why: str, note: str = "") -> Column:
    return Column(name, "left out", "", why, note or f"column {name!r} left out: {why}")


def _as_numbers(
    column: ParsedColumn, sign: str, table: Table, missing: str
) -> Column | None:
    if not column.numbers:
        return None
    name, cells = column.name, column.cells
    style, note = choose_number_style(column, sign, table)
    values = column.numbers[style]
    n_infinite = int(np.isnan(values).sum())
    if n_infinite:
        infinite = (
            f"column {name!r}: {n_infinite} number(s) that are infinite or too large "
            "are treated as missing"
        )
        note = f"{note}; {infinite}" if note else infinite
    if n_infinite == len(values):
        return _left_out(name, "no cell holds a finite number")
    low, high = np.nanmin(values), np.nanmax(values)
    values = column.on_all_rows(values)
    if max(-low, high) > _LARGEST:
        row = int(np.argmax(np.abs(values) > _LARGEST))
        raise TableError(
            f"{table.place(row)}: column {name!r} holds {shown(cells[row])}, a number "
            "too large to be squared; correct it, or leave the cell empty"
        )
    if high == low and not missing and not n_infinite:
        return _left_out(name, f"every cell is {shown(cells[0])}")
    lone = share_of_lone_groups(column, style)
    how = ("numbers" if lone is None else _WRITTEN[style]) + missing
    return Column(name, "numbers", style, how, note, lone or 0.0, values)


def _as_dates(column: ParsedColumn, missing: str) -> Column | None:
    name, present = column.name, column.present
    days = present.all_days()
    if not days:
        return None
    # Dates that have a type of their own, as in Parquet, are in no order.
    if len(days) > 1 and "." not in next(
        (cell for cell in present if isinstance(cell, str)), "."
    ):
        return _left_out(
            name,
            f"in dates such as {shown(present[0])} the day or the month may come "
            "first; write them as 2024-05-31",
        )
    order, found = next(iter(days.items()))
    how = f"dates, as days ({order}){missing}"
    return Column(name, "dates", order, how, values=column.on_all_rows(found))


def _nearly_numbers(
    column: ParsedColumn, codes: Ints, distinct: Cells, table: Table
) -> str:
    """Return a note if a few cells alone keep a column from being numbers."""
    values, fits = distinct.numbers("point")
    words = np.flatnonzero(~fits[codes])
    n_numbers = int(np.sum(~np.isnan(values[codes])))
    if not len(words) or n_numbers < 9 * len(words):
        return ""
    row = int(np.flatnonzero(~column.missing)[words[0]])
    return (
        f"column {column.name!r} is read as text, although {n_numbers} of its cells "
        f"are numbers: {len(words)} are not, the first is {shown(column.cells[row])} "
        f"({table.place(row)}). To use it as numbers, correct these cells or leave "
        "them empty"
    )
