"""What classifiers have in common that predict by an average of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_softmax

from pairlearn.models.predictor import class_names
from pairlearn.models.probabilistic import ProbabilisticPairClassifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pairlearn.data.types import Floats, Ints, PointsLike
    from pairlearn.models.auto.ensemble import Ensemble

__all__ = ["AveragedClassifier"]


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
