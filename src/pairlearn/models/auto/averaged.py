"""What classifiers have in common that predict by an average of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_softmax

from pairlearn.engine.points import as_points
from pairlearn.models.predictor import class_names
from pairlearn.models.probabilistic import ProbabilisticPairClassifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pairlearn.data.types import Floats, Ints, PointsLike
    from pairlearn.models.auto.ensemble import Ensemble

__all__ = ["AveragedClassifier"]

# Points by which classes without a name are put in order.
_LOOKED_AT = 2000


class AveragedClassifier(ProbabilisticPairClassifier):
    """A base for classifiers with an ensemble, and a number of classes or "auto".

    Attributes
    ----------
    _ensemble : Ensemble
        The average; absent before `fit`.
    _order : ndarray of shape (n_classes,)
        The ensemble's classes in the order of `classes_`.
    """

    _ensemble: Ensemble
    _order: Ints

    def _class_names(self) -> NDArray[Any]:
        if not isinstance(self.n_classes, str):
            return super()._class_names()
        names: Any = (-1, 1) if self.classes is None else self.classes
        return class_names(names, max(2, np.size(names)))

    def _scores(self, X: PointsLike) -> Floats:
        logits = self._ensemble.logits(X)[:, self._order]
        if len(self._order) == 2:
            return np.asarray(logits[:, 1] - logits[:, 0])
        return np.asarray(log_softmax(logits, axis=1))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_ensemble")

    def _flip(self) -> None:
        self._reorder(np.array([1, 0]))

    def _reorder(self, order: Ints) -> None:
        self._order = self._order[order]

    def _fix_sign(self, X: PointsLike) -> None:
        """Make the column that the scores follow most grow with them: arbitrary."""
        X = X[:_LOOKED_AT]
        scores = np.tanh(self._scores(X))
        points = as_points(X)
        mean, variance = points.mean_and_variance()
        spread = np.sqrt(variance)
        # What a constant column says about the scores is rounding.
        spread = np.where(spread > 1e-6 * np.abs(mean), spread, np.inf)
        follows = points.pullback(scores - scores.mean()) / spread
        if follows[np.argmax(np.abs(follows))] < 0:
            self._flip()

    def _largest_first(self, X: PointsLike) -> None:
        """Order the classes by how many points are in each."""
        group = self._scores(X[:_LOOKED_AT]).argmax(axis=1)
        counts = np.bincount(group, minlength=len(self._order))
        self._reorder(np.argsort(-counts, kind="stable"))
