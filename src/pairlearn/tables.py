"""Tables of points: arrays, sparse matrices and data frames, handled alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from pairlearn._typing import Ints, PointsLike

__all__ = ["check_table", "object_column", "stack_rows", "take_rows"]

_OBJECTS = "make it one column: Pairs(object_column(points), index)"


def take_rows(X: PointsLike, rows: Ints) -> PointsLike:
    """Return some rows of a table, whatever kind of table it is."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def check_table(X: PointsLike) -> PointsLike:
    """Return points as something with rows and columns that can be sliced by row."""
    if sparse.issparse(X):
        # Some formats cannot be sliced by row; CSR is what the products need.
        return X if X.format == "csr" else X.tocsr()
    if hasattr(X, "columns"):
        return X
    try:
        array = np.asarray(X)
    except ValueError:  # NumPy's word for rows of different lengths
        raise ValueError(
            "the points have different lengths and do not form a table; if each is one "
            f"object, {_OBJECTS}"
        ) from None
    if array.ndim == 1 and array.dtype.kind in "OUS":
        return object_column(X)
    if array.ndim != 2:
        raise ValueError(
            "points must be a table of shape (n_points, n_features); got shape "
            f"{array.shape}. If each point is one object, {_OBJECTS}"
        )
    return array


def stack_rows(left: PointsLike, right: PointsLike) -> PointsLike:
    """Return the rows of two tables of one kind, one below the other."""
    if sparse.issparse(left) or sparse.issparse(right):
        return sparse.vstack([left, right], format="csr")
    module = type(left).__module__.partition(".")[0]
    if module == "pandas":
        import pandas as pd

        return pd.concat([left, right], ignore_index=True)
    if module == "polars":
        import polars as pl

        return pl.concat([left, right])
    return np.concatenate([left, right])


def object_column(objects: Iterable[Any]) -> NDArray[Any]:
    """Return objects as points: a table with one column that holds them as they are.

    `Pairs` does this by itself for strings and for whatever NumPy does not take for
    an array. For lists, tuples, arrays or images as single points it must be said.

    Parameters
    ----------
    objects : iterable
        The objects, one a point.

    Returns
    -------
    ndarray of objects, of shape (n_points, 1)

    Examples
    --------
    >>> from pairlearn import Pairs
    >>> from pairlearn.tables import object_column
    >>> Pairs(object_column([[1, 2], [3, 4], [5, 6]]), [[0, 1], [1, 2]])
    Pairs(n_pairs=2, n_points=3, n_features=1)
    """
    objects = list(objects)
    column = np.empty((len(objects), 1), dtype=object)
    # One at a time: NumPy would unpack objects that look like arrays.
    for row, one in enumerate(objects):
        column[row, 0] = one
    return column
