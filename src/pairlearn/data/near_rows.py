"""Places by which rows of features are known again when they come back rounded.

A table comes back as float32, or with six digits. So features are measured on a scale
that is linear below the median of their column and logarithmic above it (the inverse
hyperbolic sine), in steps of 1/50,000, and projected on a few fixed directions. Rows
whose projections are within half a step are taken for the same: whatever is that near
to a row is rounded to a corner of the cell that the row is in.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pairlearn.data.containers import on_host

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pairlearn.data.types import Floats, Ints, PointsLike

__all__ = ["column_steps", "corners", "places"]

# The last digit of six, or of a float32, is well below it.
_STEP = 2e-5


def column_steps(X: PointsLike) -> Ints:
    """Return the scale of each column, the median of its sizes, as a power of two.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_points, n_features)
        Points, as numbers. Zeros do not count.

    Returns
    -------
    ndarray of int of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> column_steps(np.array([[0.0, 100.0], [0.5, -130.0]]))
    array([-1,  7])
    """
    middle = np.ones(X.shape[1])
    if sparse.issparse(X):
        columns = sparse.csc_array(X)
        ends = columns.indptr
        for j in np.flatnonzero(np.diff(ends)).tolist():
            middle[j] = _median(np.abs(columns.data[ends[j] : ends[j + 1]]))
    else:
        sizes = np.abs(np.asarray(X, dtype=float))
        full = ((sizes > 0) & np.isfinite(sizes)).all(axis=0) & (len(sizes) > 0)
        middle[full] = np.median(sizes[:, full], axis=0)
        for j in np.flatnonzero(~full).tolist():
            middle[j] = _median(sizes[:, j])
    return np.round(np.log2(middle)).astype(np.intp)


def _median(sizes: Floats) -> float:
    """Return the median of what is not zero; 1 if there is nothing."""
    known = sizes[(sizes > 0) & np.isfinite(sizes)]
    return float(np.median(known)) if len(known) else 1.0


def places(X: PointsLike, steps: Ints, n_directions: int) -> Floats:
    """Return the projections of points on fixed directions, in steps.

    Parameters
    ----------
    X : ndarray, sparse matrix or tensor of shape (n_points, n_features)
        Points, as numbers.
    steps : ndarray of int of shape (n_features,)
        The scales of the columns.
    n_directions : int
        How many directions.

    Returns
    -------
    ndarray of shape (n_points, n_directions)
    """
    X = on_host(X)
    n_features = X.shape[1]
    rng = np.random.RandomState(0)
    shape = n_features, n_directions
    # No weight is near 0: every column is to count.
    weights = rng.uniform(1, 2, shape) * rng.choice((-1.0, 1.0), shape)
    scaled: Any
    if sparse.issparse(X):
        scaled = sparse.csr_array(X, dtype=float)
        scaled.sum_duplicates()
        scaled.data = _scaled(scaled.data, steps[scaled.indices])
    else:
        scaled = _scaled(np.asarray(X, dtype=float), steps)
    found: Floats = np.asarray(scaled @ weights) / np.sqrt(n_features) / _STEP
    return found


def _scaled(values: Floats, steps: Ints) -> Floats:
    with np.errstate(over="ignore"):
        scaled = np.clip(np.ldexp(values, -steps), -1e300, 1e300)
    return np.asarray(np.arcsinh(scaled))


def corners(found: Floats) -> Iterator[Ints]:
    """Yield the whole numbers to which rows within half a step of these are rounded.

    Parameters
    ----------
    found : ndarray of shape (n_points, n_directions)
        What `places` returned.

    Yields
    ------
    ndarray of int64 of shape (n_points, n_directions)
    """
    low = np.floor(found).astype("<i8")
    for corner in product((0, 1), repeat=found.shape[1]):
        yield low + np.array(corner, dtype="<i8")
