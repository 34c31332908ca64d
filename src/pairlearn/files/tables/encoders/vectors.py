"""Columns of vectors: one row of numbers for each cell, side by side.

A cell is a vector, or None where it is missing. Whatever makes vectors of other cells,
such as of images, derives from `VectorColumn`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pairlearn.files.tables.cell_error import CellError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pairlearn.data.types import Floats

__all__ = ["VectorColumn"]


class VectorColumn(TransformerMixin, BaseEstimator):
    """Turn a column of vectors into columns of numbers.

    Missing numbers are replaced by the mean of the others at their place; if cells are
    missing as a whole, a column more tells where. Numbers are not scaled, since
    PairClassifier scales by itself.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"v": [np.array([1.0, 2.0]), None, np.array([3.0, 4.0])]})
    >>> encoder = VectorColumn().fit(frame)
    >>> encoder.transform(frame)
    array([[1., 2., 0.],
           [2., 3., 1.],
           [3., 4., 0.]])
    >>> encoder.get_feature_names_out().tolist()
    ['v[0]', 'v[1]', 'v: missing']
    """

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn how long vectors are, and what to put for missing ones.

        Parameters
        ----------
        X : DataFrame
            One column of cells.
        y : ignored
            For the interface of scikit-learn.

        Returns
        -------
        self
        """
        name = self._name(X)
        width = self._width(X[name].tolist())
        self.feature_names_in_ = np.asarray([name], dtype=object)
        self.n_features_in_ = 1
        self.n_numbers_ = width
        rows = self._rows(name, X[name].tolist())
        known = np.isfinite(rows)
        count = np.maximum(known.sum(axis=0), 1)
        self.mean_ = np.where(known, rows, 0.0).sum(axis=0) / count
        self.some_missing_ = bool(width) and bool((~known).all(axis=1).any())
        return self

    def transform(self, X: Any) -> Floats:
        """Return the numbers.

        Parameters
        ----------
        X : DataFrame
            One column of cells.

        Returns
        -------
        ndarray of shape (n_points, n_numbers)
        """
        check_is_fitted(self, "mean_")
        name = self._name(X)
        rows = self._rows(name, X[name].tolist())
        known = np.isfinite(rows)
        filled = np.where(known, rows, self.mean_)
        if not self.some_missing_:
            return filled
        gone = np.asarray(~known).all(axis=1, keepdims=True)
        return np.concatenate([filled, gone], axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of numbers.

        Parameters
        ----------
        input_features : ignored
            For the interface of scikit-learn.

        Returns
        -------
        ndarray of str
        """
        del input_features
        check_is_fitted(self, "mean_")
        name = self.feature_names_in_[0]
        names = [f"{name}[{k}]" for k in range(self.n_numbers_)]
        names += [f"{name}: missing"] * self.some_missing_
        return np.asarray(names, dtype=object)

    def _name(self, X: Any) -> str:
        if X.shape[1] != 1:
            raise ValueError(f"one column of vectors is needed; there are {X.shape[1]}")
        return str(X.columns[0])

    def _width(self, cells: list[Any]) -> int:
        """Return how long the first vector is."""
        for cell in cells:
            vector = _vector(cell)
            if vector is not None:
                return len(vector)
        return self._width_of_others(cells)

    def _width_of_others(self, cells: list[Any]) -> int:  # noqa: ARG002
        raise ValueError("no cell holds a vector")

    def _rows(self, name: str, cells: list[Any]) -> Floats:
        """Return the vectors as one array, with NaN where a cell is missing."""
        rows = np.full((len(cells), self.n_numbers_), np.nan)
        for row, cell in enumerate(cells):
            vector = _vector(cell)
            if vector is None and not _is_missing(cell):
                vector = self._made_of(name, row, cell)
            if vector is None:
                continue
            if len(vector) != self.n_numbers_:
                what = f"a vector of {len(vector)} numbers"
                expected = f"vectors of {self.n_numbers_}"
                raise CellError(name, row, what, expected)
            rows[row] = vector
        return rows

    def _made_of(self, name: str, row: int, cell: Any) -> Floats | None:
        """Return the vector of a cell that is none."""
        raise CellError(name, row, cell, f"vectors of {self.n_numbers_} numbers")


def _vector(cell: Any) -> Floats | None:
    """Return a cell that is a vector, or None."""
    if isinstance(cell, np.ndarray) and cell.ndim == 1 and cell.dtype.kind in "iufb":
        return cell
    if isinstance(cell, list | tuple) and cell:
        try:
            vector = np.asarray(cell, dtype=np.float64)
        except (TypeError, ValueError):
            return None
        return vector if vector.ndim == 1 else None
    return None


def _is_missing(cell: Any) -> bool:
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return True
    return isinstance(cell, str) and not cell.strip()
