"""Pairs as an array: their shape, parts of them, and the points that they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from pairlearn.data import graph
from pairlearn.data.checks import check_index
from pairlearn.data.containers import check_table, on_host, take_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from pairlearn.data.types import Bools, Ints, PointsLike

__all__ = ["PairArray"]


class PairArray:
    """What :class:`pairlearn.Pairs` has of an array of shape (n_pairs, 2, n_features).

    Parameters
    ----------
    X : array-like, sparse matrix, data frame, tensor or dask array
        The points.
    index : array-like of shape (n_pairs, 2)
        Row numbers of the two points of each pair.
    """

    def __init__(self, X: PointsLike, index: ArrayLike) -> None:
        self.X = check_table(X)
        self.index = check_index(index, self.X.shape[0])

    @property
    def n_points(self) -> int:
        """Number of points, whether in a pair or not."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features of a point."""
        return int(self.X.shape[1])

    @property
    def shape(self) -> tuple[int, int, int]:
        """(n_pairs, 2, n_features)."""
        return (len(self), 2, self.n_features)

    @property
    def ndim(self) -> int:
        """3, the number of dimensions of the array of pairs."""
        return 3

    @property
    def left(self) -> Ints:
        """Row numbers of the first point of each pair."""
        return self.index[:, 0]

    @property
    def right(self) -> Ints:
        """Row numbers of the second point of each pair."""
        return self.index[:, 1]

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, key: Any) -> Any:
        """Select pairs (a `Pairs` over the same points), or parts of the 3-D array."""
        if key is Ellipsis:
            return self
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]
        if isinstance(key, tuple):
            return np.asarray(self)[key]
        if np.ndim(key) == 0 and not isinstance(key, slice):
            return np.asarray(self._with_index(self.index[[key]]))[0]
        if isinstance(key, list):
            key = np.asarray(key, dtype=None if key else np.intp)
        if np.ndim(key) > 1:
            raise IndexError("pairs are selected by a slice, a mask or pair numbers")
        if isinstance(key, np.ndarray) and key.dtype == bool:
            return self._with_index(graph.chosen(self.index, key))
        return self._with_index(self.index[key])

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[Any]:
        if copy is False:
            raise ValueError("Pairs hold each point once; an array of them is a copy")
        pairs = self.compact()
        X = on_host(pairs.X)
        table = X.toarray() if sparse.issparse(X) else np.asarray(X)
        return table[pairs.index].astype(dtype or table.dtype, copy=False)

    def __repr__(self) -> str:
        return (
            f"Pairs(n_pairs={len(self)}, n_points={self.n_points}, "
            f"n_features={self.n_features})"
        )

    def compact(self) -> Self:
        """Return the same pairs over just the points that occur in them.

        Returns
        -------
        Pairs
            Itself if every point occurs in a pair.

        Examples
        --------
        >>> import numpy as np
        >>> from pairlearn import Pairs
        >>> Pairs(np.zeros((9, 1)), [[7, 2]]).compact().index
        array([[1, 0]])
        """
        mask = self._is_used()
        if mask.all():
            return self
        used = np.flatnonzero(mask)
        number = np.zeros(self.n_points, dtype=np.intp)
        number[used] = np.arange(len(used))
        return type(self)(take_rows(self.X, used), number[self.index])

    def used_points(self) -> Ints:
        """Return the numbers of the points that occur in a pair, ascending.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> import numpy as np
        >>> from pairlearn import Pairs
        >>> Pairs(np.zeros((9, 1)), [[7, 2]]).used_points()
        array([2, 7])
        """
        return np.flatnonzero(self._is_used())

    def _is_used(self) -> Bools:
        used = np.zeros(self.n_points, dtype=bool)
        used[self.index] = True
        return used

    def with_points(self, X: PointsLike) -> Self:
        """Return the same pairs with other points; the row numbers stay the same.

        Parameters
        ----------
        X : array-like, sparse, data frame or tensor of shape (n_points, n_features)
            As many points as there are now, such as the same ones transformed.

        Returns
        -------
        Pairs

        Examples
        --------
        >>> from pairlearn import Pairs
        >>> pairs = Pairs([[0.0], [1.0], [2.0]], [[0, 1], [1, 2]])
        >>> pairs.with_points([[0.0, 0.0], [1.0, 1.0], [2.0, 4.0]])
        Pairs(n_pairs=2, n_points=3, n_features=2)
        """
        X = check_table(X)
        if X.shape[0] != self.n_points:
            raise ValueError(f"the pairs need {self.n_points} points; got {X.shape[0]}")
        pairs = self._with_index(self.index)
        pairs.X = X
        return pairs

    def _with_index(self, index: Ints) -> Self:
        pairs = object.__new__(type(self))
        pairs.X, pairs.index = self.X, index
        return pairs
