"""Where points live.

A solver never touches the points. It asks for the scores of all points under given
weights, for the pullback of one number a point to the weights, and for both at once: a
risk and its gradient (`pairlearn.terms`). NumPy arrays and SciPy matrices answer with
the same products, so they share one class; a new place for points (a GPU, a cluster) is
a new class with these methods, and may keep the scores, too, where the points are.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import sparse

from pairlearn.dense import FEW, DensePairTerms, product, pulled_back, scored
from pairlearn.tables import is_dask, is_tensor
from pairlearn.terms import HostPairTerms, HostTerms

if TYPE_CHECKING:
    from pairlearn._typing import Floats, Ints, PointsLike
    from pairlearn.terms import PairTerms, Terms

__all__ = ["ArrayPoints", "Points", "as_points"]


class Points(Protocol):
    """What a solver needs of points."""

    @property
    def n_points(self) -> int:
        """Number of points."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def in_one_place(self) -> bool:
        """Whether all points are in one array, on a device or not."""

    @property
    def reads_rows(self) -> bool:
        """Whether a risk of few pairs reads no other points than theirs."""

    @property
    def most_rows(self) -> int:
        """How many points `take` should be asked for at most."""

    def scores(self, w: Floats, b: float | Floats = 0.0) -> Floats:
        """Return X w + b, in memory."""

    def own_scores(self, w: Floats, b: float | Floats = 0.0) -> Any:
        """Return X w + b as an array of the kind of X, where X is."""

    def pullback(self, r: Floats) -> Floats:
        """Return X^T r."""

    def take(self, rows: Ints) -> Points:
        """Return some of the points."""

    def mean_and_variance(self, rows: Ints | None = None) -> tuple[Floats, Floats]:
        """Return mean and variance of each feature, of some points or of all."""

    def weighted(self, positive: Floats, negative: Floats) -> Terms:
        """Return these points with how much either class counts for each."""

    def coupled(self, index: Ints, same: Floats, different: Floats) -> PairTerms:
        """Return pairs of these points with how much either answer counts for each."""


class ArrayPoints:
    """Points in memory: a NumPy array or a SciPy CSR matrix.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_points, n_features)
        The points; float32 stays float32, scores are always float64.

    Examples
    --------
    >>> import numpy as np
    >>> points = ArrayPoints(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> points.scores(np.array([1.0, 1.0]), 0.5)
    array([3.5, 7.5])
    >>> points.pullback(np.array([1.0, 1.0]))
    array([4., 6.])
    """

    def __init__(self, X: PointsLike) -> None:
        self.X = X

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def in_one_place(self) -> bool:
        """Whether all points are in one array, on a device or not."""
        return True

    @property
    def reads_rows(self) -> bool:
        """Whether a risk of few pairs reads no other points than theirs."""
        return not sparse.issparse(self.X) and bool(self.X.flags.c_contiguous)

    @property
    def most_rows(self) -> int:
        """How many points `take` should be asked for at most: any number."""
        return sys.maxsize

    def scores(self, w: Floats, b: float | Floats = 0.0) -> Floats:
        """Return X w + b, for one weight vector or a matrix of them as columns."""
        # The weights follow the dtype of X: the other way round would copy X.
        w = w.astype(self.X.dtype, copy=False)
        if not sparse.issparse(self.X) and self.X.size >= FEW:
            return scored(self.X, w, b)
        return np.asarray(product(self.X, w), dtype=np.float64) + b

    def own_scores(self, w: Floats, b: float | Floats = 0.0) -> Floats:
        """Return X w + b, as `scores` does."""
        return self.scores(w, b)

    def pullback(self, r: Floats) -> Floats:
        """Return X^T r, for one vector or a matrix of them as columns."""
        if not sparse.issparse(self.X) and self.X.size >= FEW:
            return pulled_back(self.X, r)
        pulled = product(self.X.T, r.astype(self.X.dtype, copy=False))
        return np.asarray(pulled, dtype=np.float64)

    def take(self, rows: Ints) -> ArrayPoints:
        """Return some of the points."""
        if sparse.issparse(self.X):
            return ArrayPoints(self.X[rows])
        return ArrayPoints(self.X.take(rows, axis=0))

    def mean_and_variance(self, rows: Ints | None = None) -> tuple[Floats, Floats]:
        """Return mean and variance of each feature, without a copy of the points."""
        if rows is not None:
            return self._moments_of(rows)
        if sparse.issparse(self.X):
            values, d = self.X.data.astype(np.float64), self.n_features
            total = np.bincount(self.X.indices, values, d)
            square = np.bincount(self.X.indices, values**2, d)
        else:
            square = np.einsum("ij,ij->j", self.X, self.X, dtype=np.float64)
            total = self.X.sum(axis=0, dtype=np.float64)
        mean = total / self.n_points
        return mean, np.maximum(square / self.n_points - mean**2, 0.0)

    def _moments_of(self, rows: Ints) -> tuple[Floats, Floats]:
        """Return mean and variance of some points, taken a block at a time."""
        size = max(1, FEW // self.n_features)
        total, square = np.zeros((2, self.n_features))
        for begin in range(0, len(rows), size):
            some = rows[begin : begin + size]
            mean, variance = self.take(some).mean_and_variance()
            total += len(some) * mean
            square += len(some) * (variance + mean**2)
        mean = total / len(rows)
        return mean, np.maximum(square / len(rows) - mean**2, 0.0)

    def weighted(self, positive: Floats, negative: Floats) -> HostTerms:
        """Return these points with how much either class counts for each."""
        return HostTerms(self, positive, negative)

    def coupled(self, index: Ints, same: Floats, different: Floats) -> HostPairTerms:
        """Return pairs of these points with how much either answer counts for each."""
        kind = DensePairTerms if self.reads_rows else HostPairTerms
        return kind(self, index, same, different)


def as_points(X: PointsLike) -> Points:
    """Return points as a solver wants them.

    Parameters
    ----------
    X : ndarray, CSR matrix, torch tensor or dask array, (n_points, n_features)
        Validated points.

    Returns
    -------
    Points
    """
    if is_tensor(X):
        from pairlearn.tensors.points import TensorPoints

        return TensorPoints(X)
    if is_dask(X):
        from pairlearn.blocks.points import DaskPoints

        return DaskPoints(X)
    return ArrayPoints(X)
