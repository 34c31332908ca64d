"""Columns of a table to numbers: a ColumnTransformer that is part of the model.

What a column is has been decided when the model is made (`column_kinds`). The model
then reads the same cells in the same way for ever, whether they come as text or as
numbers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from pairlearn.files.tables.cell_error import CellError
from pairlearn.files.tables.cells import DATE_ORDERS, NUMBER_STYLES, number_of
from pairlearn.files.tables.encoders.embedding import EmbeddedColumn
from pairlearn.files.tables.encoders.images import ImageColumn
from pairlearn.files.tables.encoders.texts import PARTS, TextAxes, TextVectors
from pairlearn.files.tables.encoders.vectors import VectorColumn
from pairlearn.files.tables.make_cells import cells_in, cells_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from pairlearn.files.tables.cell_columns import Cells, Read
    from pairlearn.files.tables.column_kinds import Column

__all__ = ["CellError", "ReadDates", "ReadNumbers", "ReadText", "make_encoder"]

# Categories beyond so many, the rarest, count as one; so do those seen once or twice.
_MOST_CATEGORIES = 40
_LEAST_OFTEN = 3
_SUCH_AS = {"point": "1234.5", "comma": "1234,5", "thousands": "1,234.5"}
# How unlikely numbers must be to be taken for written in another way.
_UNLIKELY = 1e-3


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
        cells = cells_in(column)
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
        if all(number_of(cell, style) is None for style in NUMBER_STYLES):
            return ""
        return ". Write numbers in that way, or save the table as Parquet"

    def _read(self, name: str, column: Any) -> NDArray[Any]:
        numbers = super()._read(name, column)
        if self.style == "point" or getattr(column.dtype, "kind", "O") not in "OU":
            return numbers
        marks = cells_in(column).lone_groups(self.style)
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

    A model knows nothing of days before the first, or after the last, of the points
    that it has learned from: other dates count as the nearest of these.

    Parameters
    ----------
    order : {"year first", "day first", "month first"}, default="year first"
        Which way round dates are written.

    Attributes
    ----------
    first_, last_ : ndarray of shape (n_columns,)
        The range of the dates that were there, in days; NaN if there was none.

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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Record the names of the columns, and the range of their dates.

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
        super().fit(X, y)
        read = [self._read(str(name), X[name]) for name in X.columns]
        nothing = np.array([np.nan])
        days = [column[~np.isnan(column)] for column in read]
        days = [column if len(column) else nothing for column in days]
        self.first_ = np.array([column.min() for column in days])
        self.last_ = np.array([column.max() for column in days])
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Read the cells, and put dates out of range to its ends.

        Parameters
        ----------
        X : DataFrame
            Cells.

        Returns
        -------
        ndarray of shape (n_points, n_columns)
        """
        days = super().transform(X)
        if not hasattr(self, "first_"):  # of a model of an older version
            return days
        # What is missing stays so.
        kept: NDArray[Any] = np.fmin(np.fmax(days, self.first_), self.last_) + 0 * days
        return kept

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
        if column.dtype == "category":
            # Each category is read once, and not each cell. The last is for missing.
            names = [*cells_of(column.cat.categories.tolist()).categories(), ""]
            text: NDArray[Any] = np.array(names, dtype=object)[column.cat.codes]
            return text
        return np.array(cells_in(column).categories().tolist(), dtype=object)


def make_encoder(
    columns: list[Column], parts: Collection[str] = tuple(PARTS)
) -> ColumnTransformer:
    """Return the transformer that turns these columns into numbers.

    Numbers and dates: missing ones are replaced by the median, and a column more tells
    where. Categories: a column for each but the rare, and one for missing; a category
    that was not there when the model was made counts as a rare one. Texts: a column for
    each word, and for each run of characters; the table is then sparse. There is no
    scaling, since PairClassifier scales by itself.

    Parameters
    ----------
    columns : list of Column
        The columns.
    parts : collection of str
        By what texts are described: "words", "characters" or both. None of them: by a
        few numbers, their leading principal coordinates, so that the table is full.

    Returns
    -------
    ColumnTransformer
    """
    steps: list[Any] = []
    for kind, forms in (("numbers", NUMBER_STYLES), ("dates", DATE_ORDERS)):
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
    texts = [column.name for column in columns if column.kind == "text"]
    if not parts:
        steps += [(f"axes {k}", TextAxes(), [name]) for k, name in enumerate(texts)]
    steps += [
        (f"{part} {k}", TextVectors(part), [name])
        for part in parts
        for k, name in enumerate(texts)
    ]
    # Each of these is as wide as it is, and so is read by itself.
    for number, column in enumerate(columns):
        vectors = _vectors_of(column)
        if vectors is not None:
            # Not by its name: scikit-learn allows not all of them.
            steps.append((f"{column.kind} {number}", vectors, [column.name]))
    return ColumnTransformer(
        steps, sparse_threshold=bool(texts and parts), verbose_feature_names_out=False
    )


def _vectors_of(column: Column) -> VectorColumn | None:
    """Return what reads a column of vectors, or of what vectors are made from."""
    if column.kind == "vector":
        return VectorColumn()
    if column.kind == "image":
        return ImageColumn()
    if column.kind.startswith("embedded "):
        return EmbeddedColumn(column.form)
    return None
