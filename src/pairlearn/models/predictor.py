"""What every classifier from pairs says of points and of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from pairlearn.data.blockwise import by_blocks
from pairlearn.data.containers import is_tensor, on_device_of, on_host
from pairlearn.data.notebook import NotebookMixin
from pairlearn.data.pairs import as_pairs
from pairlearn.trust.metrics import pair_error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Floats, PairsLike, PointsLike

__all__ = ["PairPredictor", "check_known", "class_names"]


def class_names(classes: Any, n_classes: int) -> NDArray[Any]:
    """Return the names of the classes as an array that keeps their types."""
    listed = np.ndim(classes) == 1 and not isinstance(classes, str)
    names = list(classes) if listed else []
    if len(names) != n_classes or len({repr(name) for name in names}) < n_classes:
        raise ValueError(
            f"classes must name {n_classes} classes"
            + ", (negative, positive)" * (n_classes == 2)
            + f"; got {classes!r}"
        )
    array = np.array(names)
    # NumPy would turn ("a", 1) into two strings.
    return array if array.tolist() == names else np.array(names, dtype=object)


def check_known(labels: NDArray[Any], classes: NDArray[Any], hint: str = "") -> None:
    """Refuse labels that are none of the classes."""
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise ValueError(
            f"label {labels[unknown].tolist()[0]!r} is not one of the classes "
            f"{classes.tolist()}{hint}"
        )


def _winners(scores: Any) -> Any:
    """Return the number of each point's class, from one score or one per class."""
    return scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)


class PairPredictor(NotebookMixin, ClassifierMixin, BaseEstimator):
    """Base of estimators that predict points and pairs from scores of points.

    A subclass provides ``_own_scores(X)`` and sets ``classes_``.

    Points may be a torch tensor. What is returned for points is then a tensor on the
    same device; what is returned for pairs is a NumPy array always. They may be a dask
    array: what is returned for points is then a dask array, computed block by block.
    """

    classes_: NDArray[Any]

    @by_blocks
    def decision_function(self, X: PointsLike) -> Floats:
        """Return the score f(x) of each point.

        Parameters
        ----------
        X : array-like, sparse, data frame, tensor or dask array
            Points, of shape (n_points, n_features).

        Returns
        -------
        ndarray or, for a tensor X, tensor of shape (n_points,)
            Positive for the second of `classes_`.
        """
        scores: Floats = on_device_of(X, self._own_scores(X))
        return scores

    @by_blocks
    def predict(self, X: PointsLike) -> NDArray[Any]:
        """Return the class of each point.

        Parameters
        ----------
        X : array-like, sparse, data frame, tensor or dask array
            Points, of shape (n_points, n_features).

        Returns
        -------
        ndarray or, for a tensor X and classes that are numbers, tensor (n_points,)
            Entries of `classes_`. A score of zero counts as the first class.
        """
        return self._named(X, _winners(self._own_scores(X)))

    def pair_score(self, pairs: PairsLike) -> Floats:
        """Return f(x) f(x') of each pair: positive means "same".

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
        left, right = self._pair_scores(as_pairs(pairs))
        return left * right

    def predict_pairs(self, pairs: PairsLike) -> Floats:
        """Return +1 for pairs predicted to be of the same class, -1 for the others.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
        # Not the sign of the product: a tiny score times a tiny score may underflow,
        # and two scores of zero are both of the first class.
        left, right = self._pair_scores(as_pairs(pairs))
        return np.where(_winners(left) == _winners(right), 1.0, -1.0)

    def score(
        self, pairs: PairsLike, t: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return 1 - pair error, so that model selection needs no labels.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.
        t : array-like of shape (n_pairs,)
            Answers.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.

        Returns
        -------
        float
        """
        predicted = self.predict_pairs(pairs)
        return 1.0 - pair_error(t, predicted, sample_weight=sample_weight)

    def _own_scores(self, X: PointsLike) -> Any:
        """Return the scores of points: an array, a tensor, or blocks."""
        raise NotImplementedError

    def _host_scores(self, X: PointsLike) -> Floats:
        """Return the scores of points in memory, wherever the points are."""
        scores: Floats = on_host(self._own_scores(X))
        return scores

    def _named(self, X: PointsLike, chosen: Any) -> NDArray[Any]:
        """Return classes by their numbers, on the device of X if they are numbers."""
        if is_tensor(X) and self.classes_.dtype.kind in "biuf":
            numbers = on_device_of(X, chosen).long()
            named: NDArray[Any] = on_device_of(X, self.classes_)[numbers]
        else:
            named = self.classes_[np.asarray(on_host(chosen), dtype=int)]
        return named

    def _pair_scores(self, pairs: Pairs) -> tuple[Floats, Floats]:
        pairs = pairs.compact()
        scores = self._host_scores(pairs.X)
        return scores[pairs.left], scores[pairs.right]

    def _check_labels(self, y: ArrayLike, n_points: int) -> NDArray[Any]:
        """Return labels of points, or say which is not one of the classes."""
        labels = np.asarray(on_host(y))
        if labels.shape != (n_points,):
            raise ValueError(
                f"there are {n_points} points, but labels of shape {labels.shape}"
            )
        check_known(labels, self.classes_, "; name them: classes=(negative, positive)")
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.sparse = True
        return tags
