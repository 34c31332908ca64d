"""The averaged model that predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.auto.likelihood import probabilities
from pairlearn.auto.path import score

if TYPE_CHECKING:
    from pairlearn._typing import Floats, PointsLike
    from pairlearn.auto.columns import ColumnView
    from pairlearn.auto.kernels import FeatureMap
    from pairlearn.auto.stack import Calibration

__all__ = ["Ensemble", "Member"]

# Points at a time, so that memory does not grow with the table.
_CHUNK = 4096


@dataclass(frozen=True)
class Member:
    """The models on one set of features.

    Attributes
    ----------
    view, feature_map
        From a point to its features.
    weights : ndarray of shape (n_models, n_outputs, n_features + 1)
        One model for each scale.
    scales, slopes, shares : ndarray of shape (n_models,)
        Scale of the prior, factor of the scores, and share in the average.
    """

    view: ColumnView
    feature_map: FeatureMap
    weights: Floats
    scales: Floats
    slopes: Floats
    shares: Floats

    def probabilities(self, X: PointsLike) -> Floats:
        """Return this member's part of the average, (n_points, n_classes)."""
        features = self.feature_map.transform(self.view.transform(X))
        scores = score(features, self.weights) * self.slopes[:, None]
        return np.asarray(np.tensordot(probabilities(scores), self.shares, (1, 0)))


@dataclass(frozen=True)
class Ensemble:
    """An average of models and a constant one, calibrated.

    Attributes
    ----------
    members : list of Member
        The models, by features.
    constant_share : float
        Share of the constant model.
    constant : ndarray of shape (n_classes,)
        Its class probabilities.
    calibration : Calibration
        What follows the average.
    """

    members: list[Member]
    constant_share: float
    constant: Floats
    calibration: Calibration

    def logits(self, X: PointsLike) -> Floats:
        """Return calibrated log-probabilities, up to a constant for each point."""
        n_points = X.shape[0]
        out = np.empty((n_points, len(self.constant)))
        for start in range(0, n_points, _CHUNK):
            part = X[start : start + _CHUNK]
            mean = np.tile(self.constant_share * self.constant, (part.shape[0], 1))
            for member in self.members:
                mean += member.probabilities(part)
            out[start : start + _CHUNK] = self.calibration(mean)
        return out
