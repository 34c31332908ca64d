"""Splits of pairs for cross-validation in which no point is on both sides."""

from __future__ import annotations

import heapq
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from pairlearn.data.checks import check_groups, check_integer
from pairlearn.data.graph import spanning_forest
from pairlearn.data.pairs import Pairs, as_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Ints, PairsLike

__all__ = ["PairKFold", "joined_points", "point_folds"]


class PairKFold:
    """K folds of pairs such that no point of a test pair is in a training pair.

    Ordinary K-fold splits pairs, not points: when pairs share points, a test pair
    is then made of points that the model was trained on, and the estimate is too
    good. Here the *points* are divided into folds, or groups of points where there are
    several rows of one thing. Fold k tests on the pairs with
    both points in fold k, trains on those with neither, and leaves out the pairs
    that cross. Small components stay whole, so pairs that share no point are simply
    divided among the folds; a component with more than its share of pairs is cut
    along a breadth-first search, which keeps neighbours together.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=False
        Whether to assign the components to folds in random order.
    random_state : int, RandomState or None
        Seed; used with `shuffle`.

    Attributes
    ----------
    n_left_out_ : list of int
        After a split: how many pairs cross, and are in neither part, in each fold.

    Warns
    -----
    UserWarning
        If more than half of the pairs cross in some fold.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import PairKFold, Pairs
    >>> pairs = Pairs(np.zeros((5, 1)), [[0, 1], [1, 2], [2, 3], [3, 4]])
    >>> folds = PairKFold(2)
    >>> for train, test in folds.split(pairs):
    ...     print(train, test)
    [3] [0 1]
    [0 1] [3]
    >>> folds.n_left_out_
    [1, 1]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_splits = check_integer("n_splits", n_splits, minimum=2)
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002 - the signature is scikit-learn's
        """Return the number of folds."""
        return self.n_splits

    def split(
        self,
        X: PairsLike,
        y: Any = None,  # noqa: ARG002 - the signature is scikit-learn's
        groups: ArrayLike | None = None,
    ) -> Iterator[tuple[Ints, Ints]]:
        """Yield the pair numbers of the training and of the test part of each fold.

        Parameters
        ----------
        X : Pairs or array-like of shape (n_pairs, 2, n_features)
            The pairs.
        y : ignored
            For the interface of scikit-learn.
        groups : array-like of shape (n_points,) or (n_pairs, 2), optional
            Of whom or what each point is a row, or both points of each pair; a group
            is on one side.

        Yields
        ------
        train, test : ndarray
            Pair numbers.
        """
        pairs = as_pairs(X)
        if groups is not None:
            pairs = joined_points(pairs, groups)
        if len(pairs) < self.n_splits:
            raise ValueError(f"{len(pairs)} pairs cannot fill {self.n_splits} folds")
        rng = check_random_state(self.random_state) if self.shuffle else None
        fold = point_folds(pairs, self.n_splits, rng)
        left, right = fold[pairs.left], fold[pairs.right]
        parts = []
        for k in range(self.n_splits):
            inside = (left == k).astype(int) + (right == k)
            parts.append((np.flatnonzero(inside == 0), np.flatnonzero(inside == 2)))
        self.n_left_out_ = [len(pairs) - len(a) - len(b) for a, b in parts]
        for k, (train, test) in enumerate(parts):
            if not len(train) or not len(test):
                raise ValueError(
                    f"the pairs share so many points that fold {k} of {self.n_splits} "
                    f"has {len(train)} pairs to train on and {len(test)} to test on; "
                    "use fewer folds, or KFold, whose scores are too optimistic"
                )
        worst = max(self.n_left_out_)
        if 2 * worst > len(pairs):
            warnings.warn(
                f"up to {worst} of {len(pairs)} pairs cross the folds and are left out "
                "of a split; pairs that share fewer points lose fewer",
                stacklevel=2,
            )
        yield from parts

    def __repr__(self) -> str:
        return (
            f"PairKFold(n_splits={self.n_splits}, shuffle={self.shuffle}, "
            f"random_state={self.random_state})"
        )


def joined_points(pairs: Pairs, groups: ArrayLike) -> Pairs:
    """Return pairs of groups in the place of pairs of points.

    Parameters
    ----------
    pairs : Pairs
        The pairs.
    groups : array-like of shape (n_points,) or (n_pairs, 2)
        The group of each point, or of both points of each pair.

    Returns
    -------
    Pairs
        The same pairs, over as many points, whose features mean nothing.
    """
    index = check_groups(groups, pairs.index, pairs.n_points)
    n_points = max(pairs.n_points, int(index.max(initial=-1)) + 1)
    return Pairs(np.zeros((n_points, 1)), index)


def point_folds(
    pairs: Pairs, n_splits: int, rng: RandomState | None, *, scatter: bool = False
) -> Ints:
    """Return the fold of each point, such that few pairs cross.

    Points without pairs are in no fold (-1).

    Parameters
    ----------
    pairs : Pairs
        The pairs.
    n_splits : int
        Number of folds.
    rng : RandomState or None
        Source of the order in which components are dealt out; None: as they come.
    scatter : bool
        Whether the points of components that are too large for a fold are dealt out
        one by one, whatever pairs cross.

    Returns
    -------
    ndarray of shape (n_points,)
    """
    # Renumbering the points makes the search start elsewhere and turn elsewhere.
    names = np.arange(pairs.n_points)
    if rng is not None:
        names = rng.permutation(pairs.n_points)
    forest = spanning_forest(pairs.n_points, names[pairs.index])
    n_components = int(forest.component.max(initial=-1)) + 1
    n_pairs_of = np.bincount(
        forest.component[names[pairs.left]], minlength=n_components
    )
    shown = range(n_components) if rng is None else rng.permutation(n_components)
    with_pairs = [c for c in shown if n_pairs_of[c]]
    large = n_pairs_of > np.ceil(len(pairs) / n_splits)
    fold_of_component = np.full(n_components, -1, dtype=np.intp)
    load = [(0, k) for k in range(n_splits)]
    for c in sorted(with_pairs, key=lambda c: -n_pairs_of[c]):
        if not large[c]:
            filled, k = heapq.heappop(load)
            fold_of_component[c] = k
            heapq.heappush(load, (filled + int(n_pairs_of[c]), k))
    fold = fold_of_component[forest.component]
    where = np.argsort(names)
    for c in np.flatnonzero(large):
        members = forest.order[forest.component[forest.order] == c]
        if scatter and rng is not None:
            # In an order that does not depend on how the points are connected.
            members = names[rng.permutation(np.sort(where[members]))]
        fold[members] = np.arange(len(members)) * n_splits // len(members)
    return fold[names]
