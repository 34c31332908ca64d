"""The averaged model that predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.models.auto.columns import DENSE_ENTRIES
from pairlearn.models.auto.path import score
from pairlearn.trust.probabilities import probabilities

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, PointsLike
    from pairlearn.models.auto.columns import ColumnView
    from pairlearn.models.auto.kernels import FeatureMap
    from pairlearn.models.auto.stack import Calibration

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

    def features(self, X: PointsLike) -> Floats:
        """Return the features of points, made of a chunk of them at a time."""
        parts = [
            self.feature_map.transform(self.view.transform(X[rows]))
            for rows in chunks(X)
        ]
        return np.concatenate(parts)

    def probabilities(self, X: PointsLike) -> Floats:
        """Return this member's part of the average, (n_points, n_classes)."""
        scores = score(self.features(X), self.weights) * self.slopes[:, None]
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
        for rows in chunks(X):
            part = X[rows]
            mean = np.tile(self.constant_share * self.constant, (part.shape[0], 1))
            for member in self.members:
                mean += member.probabilities(part)
            out[rows] = self.calibration(mean)
        return out


def chunks(X: PointsLike) -> list[slice]:
    """Return slices of rows that are small enough to be filled in."""
    n_points, n_features = X.shape
    size = max(1, min(_CHUNK, DENSE_ENTRIES // max(1, n_features)))
    return [slice(start, start + size) for start in range(0, n_points, size)]
