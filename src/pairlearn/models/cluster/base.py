"""What clusterings from pairs share: points without answers may join."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pairlearn.data.blockwise import by_blocks
from pairlearn.data.checks import check_both_kinds, check_integer
from pairlearn.data.containers import stack_rows
from pairlearn.data.pairs import Pairs, as_pairs
from pairlearn.models.base import (
    Answered,
    KeptPairs,
    PairClassifierBase,
    split_for_assignment,
)
from pairlearn.trust import metrics

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike, NDArray

    from pairlearn.data.types import Floats, Ints, PairsLike, PointsLike

__all__ = ["PairClusterer", "as_dense", "order_clusters"]


class PairClusterer(PairClassifierBase):
    """Base of clusterings from pairs: points without answers may join.

    A subclass provides ``_cluster(given, numbers, rng)``, which returns the cluster
    number of each point (`numbers` is what the user calls the pairs), and
    ``_affinities(X)``, of shape (n_points, n_clusters), largest for the cluster of a
    point.
    """

    n_clusters: int
    # What more clusters than two cannot do is said where a score is asked for.
    _n_kinds = 2
    majority: int | None
    assignment_size: float
    random_state: int | RandomState | None
    _clusters: Ints

    def fit(
        self,
        pairs: PairsLike,
        t: ArrayLike,
        sample_weight: ArrayLike | None = None,
        unlabeled: PointsLike | None = None,
    ) -> Self:
        """Cluster the points of the pairs.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs. Points are told apart by their row numbers; in an array every row
            is a point of its own.
        t : array-like of shape (n_pairs,)
            Answers: +1 for same, -1 for different, a number in between if
            uncertain; or bool.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs; a pair of weight zero is left out.
        unlabeled : array-like, sparse or data frame of shape (n_points, n_features)
            Points without answers that join the clustering. With them, or with more
            than two clusters, one kind of answers is enough.

        Returns
        -------
        self
        """
        self._check_parameters()
        given = as_pairs(pairs)
        answered = self._validate_fit(given, t, sample_weight, both_kinds=False)
        rng = check_random_state(self.random_state)
        used, held_out = self._split(answered, rng)
        part = answered.part(used).compact()
        if unlabeled is not None:
            more = self._validate_points(unlabeled, reset=False)
            joined = Pairs(stack_rows(part.pairs.X, more), part.pairs.index)
            part = part._replace(pairs=joined)
        self._learn(part, used, rng)
        self.rows_ = np.unique(given.index[used])
        return self._assign_from(KeptPairs(answered, held_out))

    def fit_predict(
        self,
        X: PointsLike,
        pairs: PairsLike,
        t: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[Any]:
        """Cluster all rows of X, with answers about some pairs of them.

        Parameters
        ----------
        X : array-like, sparse or data frame of shape (n_points, n_features)
            Points, with or without answers.
        pairs : array-like of shape (n_pairs, 2), or Pairs over X
            Row numbers in X of the two points of each pair.
        t : array-like of shape (n_pairs,)
            Answers.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.

        Returns
        -------
        ndarray of shape (n_points,)
            `labels_`: the class of every row of X.
        """
        self._check_parameters()
        if isinstance(pairs, Pairs) and pairs.n_points != np.shape(X)[0]:
            raise ValueError(
                f"the pairs refer to {pairs.n_points} points, but X holds "
                f"{np.shape(X)[0]}; give row numbers in X, of shape (n_pairs, 2)"
            )
        given = Pairs(X, pairs.index if isinstance(pairs, Pairs) else pairs)
        answered = self._validate_fit(given, t, sample_weight, both_kinds=False)
        everywhere = given.with_points(self._validate_points(X, reset=False))
        rng = check_random_state(self.random_state)
        used, held_out = self._split(answered, rng)
        self._learn(answered._replace(pairs=everywhere).part(used), used, rng)
        self.rows_ = np.arange(everywhere.n_points)
        self._assign_from(KeptPairs(answered, held_out))
        return self.labels_

    @by_blocks
    def predict(self, X: PointsLike) -> NDArray[Any]:
        """Return the class of each point.

        Parameters
        ----------
        X : array-like, sparse or data frame of shape (n_points, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_points,)
            Entries of `classes_`.
        """
        check_is_fitted(self)
        affinities = self._affinities(self._validate_points(X, reset=False))
        return self._named(X, np.argmax(affinities, axis=1))

    def predict_pairs(self, pairs: PairsLike) -> Floats:
        """Return +1 for pairs predicted to be of the same cluster, -1 for the others.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
        return metrics.predict_pairs(self, pairs)

    def _scores(self, X: PointsLike) -> Floats:
        if self.n_clusters != 2:
            raise ValueError(
                f"with n_clusters={self.n_clusters} there is no score f(x) and no "
                "class assignment, which are for two classes; use predict for points "
                "and predict_pairs for pairs"
            )
        affinities = self._affinities(X)
        return affinities[:, 1] - affinities[:, 0]

    def _affinities(self, X: PointsLike) -> Floats:
        raise NotImplementedError

    def _cluster(self, given: Answered, numbers: Ints, rng: RandomState) -> Ints:
        raise NotImplementedError

    def _flip(self) -> None:
        self._clusters = 1 - self._clusters
        self.labels_ = self.classes_[self._clusters]

    def _split(self, given: Answered, rng: RandomState) -> tuple[Ints, Ints]:
        """Return the numbers of the pairs to learn from, and of those for step 2."""
        train, held_out = split_for_assignment(
            *given,
            majority=self.majority,
            assignment_size=self.assignment_size,
            rng=rng,
        )
        return np.flatnonzero(train & (given.weight > 0)), held_out

    def _learn(self, given: Answered, numbers: Ints, rng: RandomState) -> None:
        n_points = given.pairs.n_points
        if self.n_clusters == 2 and len(np.unique(given.pairs.index)) == n_points:
            check_both_kinds(given.t)
        if n_points < self.n_clusters:
            raise ValueError(
                f"n_clusters={self.n_clusters}, but there are {n_points} points"
            )
        if self.n_clusters != 2:
            self.classes_ = np.arange(self.n_clusters)
        self._clusters = self._cluster(given, numbers, rng)
        self.labels_ = self.classes_[self._clusters]

    def _check_parameters(self) -> None:
        check_integer("n_clusters", self.n_clusters, minimum=2)
        for name in ("n_init", "max_iter", "n_neighbors"):
            check_integer(name, getattr(self, name, 1))
        self._check_majority()
        if self.majority is not None and self.n_clusters != 2:
            raise ValueError(
                "majority names one of two classes; with "
                f"n_clusters={self.n_clusters} leave it at None"
            )


def order_clusters(centres: Floats) -> Ints:
    """Return clusters in order of the coordinate in which they differ most."""
    return np.argsort(centres[:, np.argmax(np.ptp(centres, axis=0))], kind="stable")


def as_dense(table: Any) -> Any:
    """Return a small table as an array, whether it is sparse or not."""
    return table.toarray() if sparse.issparse(table) else table
