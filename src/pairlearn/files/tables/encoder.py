"""Columns of a table to numbers: a ColumnTransformer that is part of the model.

What a column is (numbers, dates, categories, or nothing to learn from) is decided once,
over all points, when the model is made. The model then reads the same cells in the same
way for ever, whether they come as text or as numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from pairlearn.files.tables.cell_columns import HEAD
from pairlearn.files.tables.cells import DATE_ORDERS, STYLES, number_of, shown, text_of
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.make_cells import cells_of
from pairlearn.files.tables.number_formats import (
    common_sign,
    lone_groups,
    see,
    style_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pairlearn.files.tables.cell_columns import Cells, Read
    from pairlearn.files.tables.number_formats import SeenColumn
    from pairlearn.files.tables.reading import Points, Table

__all__ = [
    "CellError",
    "Column",
    "ReadDates",
    "ReadNumbers",
    "ReadText",
    "look_at_columns",
    "make_encoder",
    "tidy",
]

# A text column with more different values than this share of its cells is names or
# free text.
_SELDOM_AGAIN = 0.5
# Columns of so few cells are categories unless every cell differs.
_FEW = 20
# Categories beyond so many, the rarest, count as one; so do those seen once or twice.
_MOST_CATEGORIES = 40
_LEAST_OFTEN = 3
# Squares and sums of larger numbers overflow.
_LARGEST = 1e100
_WRITTEN = {
    "point": "numbers",
    "comma": "numbers with decimal commas",
    "thousands": "numbers with commas between thousands",
}
_SUCH_AS = {"point": "1234.5", "comma": "1234,5", "thousands": "1,234.5"}
# How unlikely numbers must be to be taken for written in another way.
_UNLIKELY = 1e-3


class CellError(ValueError):
    """A cell that is not what its column held when the model was made.

    Attributes
    ----------
    column : str
        The column.
    row : int
        The row, from 0.
    """

    def __init__(
        self, column: str, row: int, cell: Any, expected: str, advice: str = ""
    ) -> None:
        super().__init__(
            f"column {column!r} holds {shown(cell)}, but held {expected} when the "
            f"model was made{advice}"
        )
        self.column, self.row = column, row


class _ReadCells(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Base of transformers that read cells, column by column; nothing is learnt."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Record the names of the columns.

        Parameters
        ----------
        X : DataFrame
            Cells.
        y : ignored
            For the interface of scikit-learn.

        Returns
        -------
        self
        """
        self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Read the cells.

        Parameters
        ----------
        X : DataFrame
            Cells.

        Returns
        -------
        ndarray of shape (n_points, n_columns)
        """
        read = [self._read(str(name), X[name]) for name in X.columns]
        return np.stack(read, axis=1)

    def _read(self, name: str, column: Any) -> NDArray[Any]:
        if getattr(column.dtype, "kind", "O") in "iuf":
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
            return np.where(np.isfinite(values), values, np.nan)
        cells = cells_of(column.tolist())
        values, fits = self._cells(cells)
        if not fits.all():
            row = int(np.argmin(fits))
            cell = cells[row]
            raise CellError(name, row, cell, self._expected(), self._advice(cell))
        return values

    def _cells(self, cells: Cells) -> Read:
        raise NotImplementedError

    def _expected(self) -> str:
        raise NotImplementedError

    def _advice(self, cell: Any) -> str:  # noqa: ARG002
        return ""


class ReadNumbers(_ReadCells):
    """Read cells as numbers; missing and infinite ones become NaN.

    Parameters
    ----------
    style : {"point", "comma", "thousands"}, default="point"
        How numbers are written, where they are text: 1234.5, or 1 234,5 and 1.234,5,
        or 1,234.5.
    lone : dict, optional
        By column, the share of numbers that hold one separator between thousands and no
        decimal sign, among those that hold any. A table in which all are so, against
        expectation, is refused: the sign is likely a decimal one.

    Examples
    --------
    >>> import pandas as pd
    >>> ReadNumbers("comma").fit_transform(pd.DataFrame({"x": ["1,5", "", "2"]}))
    array([[1.5],
           [nan],
           [2. ]])
    """

    def __init__(
        self, style: str = "point", lone: dict[str, float] | None = None
    ) -> None:
        self.style = style
        self.lone = lone

    def _cells(self, cells: Cells) -> Read:
        return cells.numbers(self.style)

    def _expected(self) -> str:
        return f"numbers such as {_SUCH_AS[self.style]}"

    def _advice(self, cell: Any) -> str:
        if all(number_of(cell, style) is None for style in STYLES):
            return ""
        return ". Write numbers in that way, or save the table as Parquet"

    def _read(self, name: str, column: Any) -> NDArray[Any]:
        numbers = super()._read(name, column)
        if self.style == "point" or getattr(column.dtype, "kind", "O") != "O":
            return numbers
        marks = cells_of(column.tolist()).lone_groups(self.style)
        n_lone, n_other = int(np.sum(marks == 1)), int(np.sum(marks == 0))
        share = (self.lone or {}).get(name, 0.0)
        if n_lone and not n_other and share**n_lone < _UNLIKELY:
            row = int(np.argmax(marks == 1))
            cell = str(column.iloc[row]).strip()
            number = float(numbers[row])
            sign = "," if self.style == "comma" else "."
            raise CellError(
                name,
                row,
                cell,
                self._expected(),
                f". Is it {number / 1000:g} or {number:g}? Write "
                f"{re.sub('[.,]', sign, cell)} or {number:g}; or save the table as "
                "Parquet",
            )
        return numbers


class ReadDates(_ReadCells):
    """Read cells as days since 1970; missing ones become NaN.

    Parameters
    ----------
    order : {"year first", "day first", "month first"}, default="year first"
        Which way round dates are written.

    Examples
    --------
    >>> import pandas as pd
    >>> dates = pd.DataFrame({"day": ["31.01.1970", "01.02.1970"]})
    >>> ReadDates("day first").fit_transform(dates)
    array([[30.],
           [31.]])
    """

    def __init__(self, order: str = "year first") -> None:
        self.order = order

    def _cells(self, cells: Cells) -> Read:
        return cells.days(self.order)

    def _expected(self) -> str:
        return "dates"

    def _read(self, name: str, column: Any) -> NDArray[Any]:
        if getattr(column.dtype, "kind", "O") == "M":
            column = column.astype(object).where(column.notna(), None)
        return super()._read(name, column)


class ReadText(_ReadCells):
    """Read cells as categories: text without outer blanks, empty where missing.

    Examples
    --------
    >>> import pandas as pd
    >>> ReadText().fit_transform(pd.DataFrame({"x": [" red", None]})).tolist()
    [['red'], ['']]
    """

    def _read(self, name: str, column: Any) -> NDArray[Any]:  # noqa: ARG002
        out = np.empty(len(column), dtype=object)
        out[:] = cells_of(column.tolist()).categories().tolist()
        return out


@dataclass(frozen=True)
class Column:
    """What a column is.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"numbers", "dates", "categories", "left out"}
        What it is.
    form : str
        How numbers or dates are written; else empty.
    how : str
        In words, how it was encoded, or why it was left out.
    note : str
        What to tell about it; empty if nothing.
    lone : float
        Of numbers with a separator, the share with one between thousands alone.
    """

    name: str
    kind: str
    form: str
    how: str
    note: str = ""
    lone: float = 0.0


def look_at_columns(points: Points) -> list[Column]:
    """Decide for each column of a table of points what it is.

    Parameters
    ----------
    points : Points
        The points.

    Returns
    -------
    list of Column

    Raises
    ------
    TableError
        If there is nothing to learn from.
    """
    seen = [see(name, cells) for name, cells in points.features.items()]
    sign = common_sign(seen)
    columns = [_look_at(column, sign, points.table) for column in seen]
    if all(column.kind == "left out" for column in columns):
        why = "; ".join(column.note for column in columns[:5])
        raise TableError(
            f"{points.table.name} has no column to learn from ({why}); points need "
            "numbers, dates or categories that differ"
        )
    return columns


def _look_at(seen: SeenColumn, sign: str, table: Table) -> Column:
    name, cells, _ = seen
    there = cells.present()
    n_missing = len(cells) - len(there)
    if not len(there):
        return _left_out(name, "no cell holds anything")
    # Most columns show at once that their cells differ.
    differ = len({text_of(cell) for cell in there[:HEAD]}) > 1
    if not differ:
        distinct = there.distinct_categories()
        differ = len(distinct) > 1
        if not differ and not n_missing:
            return _left_out(name, f"every cell is {shown(distinct[0])}")
    missing = f"; {n_missing} missing" if n_missing else ""
    if differ:
        found = _as_numbers(seen, sign, table, missing) or _as_dates(
            name, there, missing
        )
        if found is not None:
            return found
    n_distinct = len(there.distinct_categories())
    if (n_distinct == len(there) and len(there) > 2) or (
        len(there) > _FEW and n_distinct > _SELDOM_AGAIN * len(there)
    ):
        return _left_out(
            name,
            f"{n_distinct} different texts in {len(there)} rows, such as "
            f"{shown(there[0])}: names or free text",
            _nearly_numbers(name, cells, table),
        )
    how = f"{n_distinct} categories{missing}"
    return Column(name, "categories", "", how, _nearly_numbers(name, cells, table))


def _left_out(name: str, why: str, note: str = "") -> Column:
    return Column(name, "left out", "", why, note or f"column {name!r} left out: {why}")


def _as_numbers(
    seen: SeenColumn, sign: str, table: Table, missing: str
) -> Column | None:
    if not seen.fits:
        return None
    name, cells, fits = seen
    style, note = style_of(seen, sign, table)
    values = fits[style]
    n_infinite = int(np.isnan(values).sum())
    if n_infinite:
        infinite = (
            f"column {name!r}: {n_infinite} number(s) that are infinite or too large "
            "are treated as missing"
        )
        note = f"{note}; {infinite}" if note else infinite
    if n_infinite == len(values):
        return _left_out(name, "no cell holds a finite number")
    if np.nanmax(np.abs(values)) > _LARGEST:
        row = int(np.argmax(np.abs(cells.numbers(style).values) > _LARGEST))
        raise TableError(
            f"{table.place(row)}: column {name!r} holds {shown(cells[row])}, a number "
            "too large to be squared; correct it, or leave the cell empty"
        )
    if np.nanmax(values) == np.nanmin(values) and not missing and not n_infinite:
        return _left_out(name, f"every cell is {shown(cells[0])}")
    lone = lone_groups(seen, style)
    how = ("numbers" if lone is None else _WRITTEN[style]) + missing
    return Column(name, "numbers", style, how, note, lone or 0.0)


def _as_dates(name: str, there: Cells, missing: str) -> Column | None:
    fits = [order for order in DATE_ORDERS if there.are_days(order)]
    if not fits:
        return None
    # Dates that have a type of their own, as in Parquet, are in no order.
    text = next((cell for cell in there if isinstance(cell, str)), ".")
    if len(fits) > 1 and "." not in text:
        return _left_out(
            name,
            f"in dates such as {shown(there[0])} the day or the month may come first; "
            "write them as 2024-05-31",
        )
    order = fits[0]
    return Column(name, "dates", order, f"dates, as days ({order}){missing}")


def _nearly_numbers(name: str, cells: Cells, table: Table) -> str:
    """Return a note if a few cells alone keep a column from being numbers."""
    values, fits = cells.numbers("point")
    words = np.flatnonzero(~fits).tolist()
    n_numbers = int(np.sum(~np.isnan(values)))
    if n_numbers < 9 * len(words):
        return ""
    row = words[0] if words else 0
    return (
        f"column {name!r} is read as text, although {n_numbers} of its cells are "
        f"numbers: {len(words)} are not, the first is {shown(cells[row])} "
        f"({table.place(row)}). To use it as numbers, correct these cells or leave "
        "them empty"
    )


def make_encoder(columns: list[Column]) -> ColumnTransformer:
    """Return the transformer that turns these columns into numbers.

    Numbers and dates: missing ones are replaced by the median, and a column more tells
    where. Categories: a column for each but the rare, and one for missing; a category
    that was not there when the model was made counts as a rare one. There is no
    scaling, since PairClassifier scales by itself.

    Parameters
    ----------
    columns : list of Column
        The columns.

    Returns
    -------
    ColumnTransformer
    """
    steps = []
    for kind, forms in (("numbers", STYLES), ("dates", DATE_ORDERS)):
        for form in forms:
            these = [c for c in columns if (c.kind, c.form) == (kind, form)]
            lone = {c.name: c.lone for c in these if c.lone}
            read = ReadNumbers(form, lone) if kind == "numbers" else ReadDates(form)
            imputer = SimpleImputer(
                strategy="median", add_indicator=True, keep_empty_features=True
            )
            if these:
                label, names = f"{kind} ({form})", [c.name for c in these]
                steps.append((label, make_pipeline(read, imputer), names))
    names = [c.name for c in columns if c.kind == "categories"]
    if names:
        one_hot = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            min_frequency=_LEAST_OFTEN,
            max_categories=_MOST_CATEGORIES,
            sparse_output=False,
        )
        steps.append(("categories", make_pipeline(ReadText(), one_hot), names))
    return ColumnTransformer(steps, sparse_threshold=0, verbose_feature_names_out=False)


def tidy(points: Points, columns: list[Column]) -> Any:
    """Return the columns to learn from as a frame of floats and text.

    Parameters
    ----------
    points : Points
        The points.
    columns : list of Column
        What their columns are.

    Returns
    -------
    pandas.DataFrame
        Numbers, and days since 1970, as floats; categories as text.
    """
    import pandas as pd

    cells = points.features
    read: dict[str, Any] = {}
    for column in columns:
        if column.kind == "numbers":
            read[column.name] = cells[column.name].numbers(column.form).values
        elif column.kind == "dates":
            read[column.name] = cells[column.name].days(column.form).values
        elif column.kind == "categories":
            text = cells[column.name].categories().tolist()
            read[column.name] = pd.Series(text, dtype=object)
    return pd.DataFrame(read)
