"""Points in a dask array: what solvers ask of them, block by block."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.blockwise import map_rows
from pairlearn.data.checks import not_finite, where_not_finite
from pairlearn.data.dask.compute import in_memory
from pairlearn.data.dask.tables import take
from pairlearn.engine.backends.dask.risk_sums import DaskPairRiskSum, DaskRiskSum
from pairlearn.engine.backends.dask.run import Blocks, block_points
from pairlearn.engine.backends.numpy.points import NumpyPoints
from pairlearn.engine.backends.protocol import Points
from pairlearn.system.once import once

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints, PointsLike
    from pairlearn.engine.backends.dask.run import Result

__all__ = ["DaskPoints"]

# Points that are brought into memory at once, to learn from a sample of them.
SAMPLE_BYTES = 2**28


class DaskPoints(Points):
    """Points in a dask array, which need not fit into memory.

    Blocks are read, used by the ordinary code for points in memory, and forgotten; the
    array is never kept. Whether its numbers are finite shows in the results, so no pass
    is spent on that.

    Parameters
    ----------
    X : dask array of shape (n_points, n_features)
        The points, all features of a point in one block. Blocks are NumPy arrays or
        SciPy sparse matrices.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from pairlearn.engine.backends.dask.points import DaskPoints
    >>> points = DaskPoints(da.from_array([[1.0, 2.0], [3.0, 4.0]], chunks=(1, 2)))
    >>> points.scores(np.array([1.0, 1.0]), 0.5)
    array([3.5, 7.5])
    >>> points.pullback(np.array([1.0, 1.0]))
    array([4., 6.])
    """

    in_one_place = False
    risk_sum_class = DaskRiskSum
    pair_risk_sum_class = DaskPairRiskSum

    def __init__(self, X: Any) -> None:
        super().__init__(X)
        self._is_finite = False

    @property
    def most_rows(self) -> int:
        """How many points `take` should be asked for at most."""
        return max(1, SAMPLE_BYTES // (int(self.X.dtype.itemsize) * self.n_features))

    @once
    def blocks(self) -> Blocks:
        """The blocks that hold the points."""
        return Blocks(self.X)

    def scores(self, w: Floats, b: float | Floats = 0.0) -> Floats:
        """Return X w + b, in memory."""
        _, scores = self.blocks.reduce(_scores, (w, b))
        return np.asarray(self.checked([np.concatenate(scores)])[0])

    def own_scores(self, w: Floats, b: float | Floats = 0.0) -> Any:
        """Return X w + b as a dask array."""
        return map_rows(partial(_scores_of, w=w, b=b), self.X)

    def pullback(self, r: Floats) -> Floats:
        """Return X^T r, for one vector or a matrix of them as columns."""
        sums, _ = self.blocks.reduce(_pullback, None, self.blocks.split(r))
        return np.asarray(self.checked(sums)[0])

    def take(self, rows: Ints) -> NumpyPoints:
        """Return some of the points, in memory."""
        some, place = np.unique(rows, return_inverse=True)
        points: Any = block_points(in_memory(take(self.X, some)), place.reshape(-1))
        return NumpyPoints(points.X)

    def mean_and_variance(self, rows: Ints | None = None) -> tuple[Floats, Floats]:
        """Return mean and variance of each feature, of some points or of all."""
        if rows is not None:
            return DaskPoints(take(self.X, rows)).mean_and_variance()
        (n, total, square), _ = self.blocks.reduce(_moments, None)  # type: ignore[misc]
        mean = self.checked((total / n,))[0]
        return mean, np.maximum(square / n - mean**2, 0.0)

    def checked(self, results: Any) -> Any:
        """Return results; if they are not finite, refuse points that are not."""
        if self._is_finite or all(np.isfinite(one).all() for one in results):
            return results
        _, bad = self.blocks.reduce(_bad, None)
        for k, (n_bad, row, column) in enumerate(bad):
            if n_bad:
                number = self.blocks.row_number(k, row)
                raise not_finite(number, column, sum(n for n, *_ in bad))
        # The weights or the risk are too large, then; the points need no second look.
        self._is_finite = True
        return results


def _scores(points: Any, call: Any) -> Result:
    return None, [points.scores(*call)]


def _scores_of(X: PointsLike, w: Floats, b: float | Floats) -> Floats:
    return block_points(X, None).scores(w, b)


def _pullback(points: Any, _: None, r: Floats) -> Result:
    return (points.pullback(r),), []


def _moments(points: Any, _: None) -> Result:
    n = points.n_points
    mean, variance = points.mean_and_variance()
    return (n, n * mean, n * (variance + mean**2)), []


def _bad(points: Any, _: None) -> Result:
    """Return how many values are not finite, with row and column of the first."""
    rows, columns = where_not_finite(points.X)
    if not len(rows):
        return None, [(0, 0, 0)]
    return None, [(len(rows), int(rows[0]), int(columns[0]))]
