"""Points in memory, in a NumPy array or a SciPy CSR matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from pairlearn.engine.backends.numpy.dense import (
    FEW,
    DensePairRiskSum,
    product,
    pulled_back,
    scored,
)
from pairlearn.engine.backends.numpy.risk_sums import NumpyPairRiskSum, NumpyRiskSum
from pairlearn.engine.backends.protocol import Points

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints

__all__ = ["NumpyPoints"]


class NumpyPoints(Points):
    """Points in memory: a NumPy array or a SciPy CSR matrix.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_points, n_features)
        The points; float32 stays float32, scores are always float64.

    Examples
    --------
    >>> import numpy as np
    >>> points = NumpyPoints(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> points.scores(np.array([1.0, 1.0]), 0.5)
    array([3.5, 7.5])
    >>> points.pullback(np.array([1.0, 1.0]))
    array([4., 6.])
    """

    risk_sum_class = NumpyRiskSum

    @property
    def reads_rows(self) -> bool:
        """Whether a risk of few pairs reads no other points than theirs."""
        return not sparse.issparse(self.X) and bool(self.X.flags.c_contiguous)

    @property
    def pair_risk_sum_class(self) -> type[NumpyPairRiskSum]:  # type: ignore[override]
        """Where risks of pairs are summed."""
        return DensePairRiskSum if self.reads_rows else NumpyPairRiskSum

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

    def take(self, rows: Ints) -> NumpyPoints:
        """Return some of the points."""
        if sparse.issparse(self.X):
            return NumpyPoints(self.X[rows])
        return NumpyPoints(self.X.take(rows, axis=0))

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
