"""Classifiers with probabilities, for two classes or more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pairlearn.data.blockwise import by_blocks
from pairlearn.data.containers import is_tensor, on_device_of
from pairlearn.data.pairs import as_pairs
from pairlearn.engine.links import SoftmaxLink
from pairlearn.models.base import PairClassifierBase
from pairlearn.models.predictor import class_names
from pairlearn.trust.assignment import Assignment, match_classes
from pairlearn.trust.probabilities import probabilities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from pairlearn.data.types import Floats, Ints, PairsLike, PointsLike

__all__ = ["ProbabilisticPairClassifier"]


class ProbabilisticPairClassifier(PairClassifierBase):
    """Base of estimators whose scores are log-odds or, for more classes, logits.

    A subclass has the constructor parameters `n_classes` and `classes` (None for the
    usual names) and provides ``_reorder(order)``, which makes class c the group
    ``order[c]``.
    """

    n_classes: int

    @by_blocks
    def predict_proba(self, X: PointsLike) -> Floats:
        """Return the probability of each class for each point.

        Parameters
        ----------
        X : array-like, sparse, data frame, tensor or dask array
            Points, of shape (n_points, n_features).

        Returns
        -------
        ndarray or, for a tensor X, tensor of shape (n_points, n_classes)
            Columns in the order of `classes_`.
        """
        scores = self._own_scores(X)
        scores = scores if scores.ndim > 1 else scores[:, None]
        if not is_tensor(scores):
            each = probabilities(scores)
        elif self._n_kinds > 2:
            each = scores.softmax(1)
        else:
            # The softmax of (-f / 2, f / 2) is (s(-f), s(f)).
            each = (scores * scores.new_tensor([-0.5, 0.5])).softmax(1)
        on_device: Floats = on_device_of(X, each)
        return on_device

    def decision_function(self, X: PointsLike) -> Floats:
        """Return the scores of each point.

        Parameters
        ----------
        X : array-like, sparse, data frame, tensor or dask array
            Points, of shape (n_points, n_features).

        Returns
        -------
        ndarray, or tensor for a tensor X, of shape (n_points,) or (n_points, n_classes)
            One score for two classes, positive for the second; else one per class.
        """
        return super().decision_function(X)

    def pair_score(self, pairs: PairsLike) -> Floats:
        """Return a number for each pair that is positive for "same".

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.

        Returns
        -------
        ndarray of shape (n_pairs,)
            f(x) f(x') for two classes, else the log-odds of "same".
        """
        if self._n_kinds == 2:
            return super().pair_score(pairs)
        scores = self._pair_scores(as_pairs(pairs))
        same, different, _ = SoftmaxLink().log_probabilities(*scores)
        return same - different

    def assign_from_points(self, X: PointsLike, y: ArrayLike) -> Self:
        """Settle which group is which class from a few labelled points.

        With more than two classes the groups are matched to the labels one to one, so
        that the fewest labelled points disagree.

        Parameters
        ----------
        X : array-like, sparse or data frame of shape (n_points, n_features)
            Points.
        y : array-like of shape (n_points,)
            Their classes, from `classes_`.

        Returns
        -------
        self
        """
        if self._n_kinds == 2:
            return super().assign_from_points(X, y)
        group = self._host_scores(X).argmax(axis=1)
        labels = self._check_labels(y, len(group))
        table = np.stack(
            [np.bincount(group[labels == c], minlength=self._n_kinds)
             for c in self.classes_]
        )  # fmt: skip
        order = match_classes(table)
        self._reorder(order)
        error = 1 - table[np.arange(self._n_kinds), order].sum() / len(labels)
        self.assignment_ = Assignment(
            sign=1, method="points", bound=None, error=error, n_points=len(labels)
        )
        return self

    def _class_names(self) -> NDArray[Any]:
        names: Any = self.classes
        if names is None:
            names = (-1, 1) if self.n_classes == 2 else range(self.n_classes)
        return class_names(names, self.n_classes)

    def _reorder(self, order: Ints) -> None:
        raise NotImplementedError
