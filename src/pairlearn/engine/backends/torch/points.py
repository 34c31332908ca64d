"""Points as torch tensors: they stay on their device, and so do their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from pairlearn.engine.backends.protocol import Points
from pairlearn.engine.backends.torch.risk_sums import TorchPairRiskSum, TorchRiskSum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pairlearn.data.types import Floats, Ints

__all__ = ["TorchPoints"]

# Rows whose sum is formed in the precision of X; such sums are added in float64.
ROWS = 8192
# Numbers that are held in float64 at a time.
ENTRIES = 2**25
# Rows worth fetching from a device, at least, and for each feature.
FEW_ROWS, ROWS_PER_FEATURE = 2**16, 40


class TorchPoints(Points):
    """Points in a torch tensor of float32 or float64, on any device.

    Scores and sums are float64, products of X are in the precision of X: the same
    numbers as from a NumPy array, but for rounding. A sum over many points is formed
    in blocks, since float32 would lose digits.

    Parameters
    ----------
    X : Tensor of shape (n_points, n_features)
        The points.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> points = TorchPoints(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    >>> points.scores(np.array([1.0, 1.0]), 0.5)
    array([3.5, 7.5])
    >>> points.own_scores(np.array([1.0, 1.0]), 0.5)
    tensor([3.5000, 7.5000])
    """

    risk_sum_class = TorchRiskSum
    pair_risk_sum_class = TorchPairRiskSum

    @property
    def most_rows(self) -> int:
        """How many points `take` should be asked for at most.

        A device passes over all points in less time than it takes to fetch many.
        """
        if self.X.device.type == "cpu":
            return super().most_rows
        return max(FEW_ROWS, ROWS_PER_FEATURE * self.n_features)

    def scores(self, w: Floats, b: float | Floats = 0.0) -> Floats:
        """Return X w + b, in memory."""
        return np.asarray(self.wide_scores(w, b).cpu().numpy())

    def own_scores(self, w: Floats, b: float | Floats = 0.0) -> Tensor:
        """Return X w + b as a tensor like X."""
        return self.wide_scores(w, b).to(self.X.dtype)

    def pullback(self, r: Floats) -> Floats:
        """Return X^T r, for one vector or a matrix of them as columns."""
        return np.asarray(self.wide_pullback(self.upload(r)).cpu().numpy())

    def take(self, rows: Ints) -> TorchPoints:
        """Return some of the points."""
        return TorchPoints(self.X.index_select(0, self.upload(rows)))

    def mean_and_variance(self, rows: Ints | None = None) -> tuple[Floats, Floats]:
        """Return mean and variance of each feature, without a wide copy of X."""
        if rows is not None:
            return self.take(rows).mean_and_variance()
        sums = torch.zeros(
            2, self.n_features, dtype=torch.float64, device=self.X.device
        )
        for block in self._blocks():
            wide = block.double()
            sums[0] += wide.sum(0)
            sums[1] += wide.square().sum(0)
        mean, square = (sums / self.n_points).cpu().numpy()
        return mean, np.maximum(square - mean**2, 0.0)

    def upload(self, array: Any) -> Tensor:
        """Return an array as a tensor on the device of X."""
        # Torch warns of arrays that must not be written to, and knows no steps back.
        return torch.as_tensor(
            np.require(array, requirements=["C", "W"]), device=self.X.device
        )

    def wide_scores(self, w: Floats, b: float | Floats = 0.0) -> Tensor:
        """Return X w + b on the device, in float64."""
        product: Tensor = self.X @ self.upload(w).to(self.X.dtype)
        return product.double() + (self.upload(b) if np.ndim(b) else float(b))

    def wide_pullback(self, r: Tensor) -> Tensor:
        """Return X^T r on the device, in float64."""
        X: Tensor = self.X
        r = r.to(X.dtype)
        many = self.n_points // ROWS
        if many < 2 or X.dtype == torch.float64:
            return (X.T @ r).double()
        head = many * ROWS
        blocks = X[:head].reshape(many, ROWS, self.n_features)
        columns = r[:head].reshape(many, ROWS, -1)
        sums = torch.bmm(blocks.transpose(1, 2), columns).double().sum(0)
        return sums.reshape(-1, *r.shape[1:]) + X[head:].T @ r[head:]

    def _blocks(self) -> Iterator[Tensor]:
        n_rows = max(1, ENTRIES // max(1, self.n_features))
        for start in range(0, self.n_points, n_rows):
            yield self.X[start : start + n_rows]
