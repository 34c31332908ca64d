"""The averaged model that predicts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.models.auto.columns import chunks
from pairlearn.models.auto.fused import FusedAverage

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, PointsLike
    from pairlearn.models.auto.columns import View
    from pairlearn.models.auto.kernels import FeatureMap
    from pairlearn.models.auto.stack import Calibration

__all__ = ["Ensemble", "Member"]


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

    view: View
    feature_map: FeatureMap
    weights: Floats
    scales: Floats
    slopes: Floats
    shares: Floats

    def features(self, X: PointsLike) -> Floats:
        """Return the features of points, made of a chunk of them at a time."""
        made = np.empty((X.shape[0], self.feature_map.n_features))
        for rows in chunks(X):
            made[rows] = self.feature_map.transform(self.view.transform(X[rows]))
        return made


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
        mean = self.average(X) + self.constant_share * self.constant
        return self.calibration(mean)

    @cached_property
    def average(self) -> FusedAverage:
        """What the members say together, made for speed when it is first used."""
        return FusedAverage(self.members, len(self.constant))

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved: not what can be made again of the rest."""
        state = dict(self.__dict__)
        state.pop("average", None)
        return state
