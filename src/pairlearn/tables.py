"""Tables of points: arrays, sparse matrices and data frames, handled alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from pairlearn._typing import Ints, PointsLike

__all__ = ["check_table", "stack_rows", "take_rows"]


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
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            "points must be a table of shape (n_points, n_features); got shape "
            f"{array.shape}"
        )
    return array


def stack_rows(left: PointsLike, right: PointsLike) -> PointsLike:
    """Return the rows of two tables of one kind, one below the other."""
    if sparse.issparse(left):
        return sparse.vstack([left, right], format="csr")
    module = type(left).__module__.partition(".")[0]
    if module == "pandas":
        import pandas as pd

        return pd.concat([left, right], ignore_index=True)
    if module == "polars":
        import polars as pl

        return pl.concat([left, right])
    return np.concatenate([left, right])
