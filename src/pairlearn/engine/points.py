"""From an array of points to the backend that it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairlearn.data.containers import is_dask, is_tensor
from pairlearn.engine.backends.numpy.points import NumpyPoints

if TYPE_CHECKING:
    from pairlearn.data.types import PointsLike
    from pairlearn.engine.backends.protocol import Points

__all__ = ["as_points"]


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
        from pairlearn.engine.backends.torch.points import TorchPoints

        return TorchPoints(X)
    if is_dask(X):
        from pairlearn.engine.backends.dask.points import DaskPoints

        return DaskPoints(X)
    return NumpyPoints(X)
