"""Batches of pairs: points are gathered by their numbers, a batch at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.utils.data import Dataset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pairlearn.data.types import Floats, Ints, PointsLike

    Batch = tuple[Tensor, tuple[Tensor, Tensor]]

__all__ = ["PairBatches", "as_is", "gather"]


def gather(X: PointsLike, rows: Any, dtype: torch.dtype) -> Tensor:
    """Return some points as a dense tensor, whatever they are stored in.

    Parameters
    ----------
    X : ndarray, CSR matrix or Tensor
        Points.
    rows : ndarray, Tensor or slice
        Their numbers, in any shape; with a CSR matrix, a slice or a 1-D array.
    dtype : torch.dtype
        The type of the result.

    Returns
    -------
    Tensor
        On the device of X.
    """
    part = X[rows]
    if sparse.issparse(part):
        part = part.toarray()
    if isinstance(part, np.ndarray) and not part.flags.writeable:
        # A slice of a frame or of a file that is read only: torch would warn.
        part = part.copy()
    return torch.as_tensor(part).to(dtype)


class PairBatches(Dataset[Any]):
    """Pairs for a data loader. A batch is ``(points, (t, weight))``.

    The points of a batch have shape (batch, 2, n_features); no more than a batch of
    pairs is ever there.

    Parameters
    ----------
    X : ndarray, CSR matrix or Tensor of shape (n_points, n_features)
        Points.
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    t, weight : ndarray of shape (n_pairs,)
        Answers, and weights of mean one.
    dtype : torch.dtype
        The type of the network's weights.
    """

    def __init__(
        self,
        X: PointsLike,
        index: Ints,
        t: Floats,
        weight: Floats,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.X = X
        self.dtype = dtype
        self.index: Any = index
        device = "cpu"
        if isinstance(X, Tensor):
            device = str(X.device)
            self.index = torch.as_tensor(index, device=device)
        self.t = torch.as_tensor(t, dtype=dtype, device=device)
        self.weight = torch.as_tensor(weight, dtype=dtype, device=device)

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, number: int) -> Batch:
        return self.__getitems__([number])

    def __getitems__(self, numbers: Sequence[int]) -> Batch:
        """Return a batch, in one go."""
        chosen: Any = np.asarray(numbers)
        if isinstance(self.X, Tensor):
            chosen = torch.as_tensor(chosen, device=self.X.device)
        rows = self.index[chosen]
        points = gather(self.X, rows.reshape(-1), self.dtype)
        points = points.reshape(len(rows), 2, *points.shape[1:])
        at = torch.as_tensor(chosen, device=self.t.device)
        return points, (self.t[at], self.weight[at])


def as_is(batch: Batch) -> Batch:
    """Return a batch that was made in one go."""
    return batch
