"""One candidate of `PairClassifier` at all scales."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.models.auto.kernels import FeatureMap, Kernel
from pairlearn.models.auto.path import follow, score

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, PointsLike
    from pairlearn.models.auto.columns import View
    from pairlearn.models.auto.joint import JointLikelihood
    from pairlearn.models.auto.likelihood import PairLikelihood

__all__ = ["Bar", "Trial", "make_trial"]


@dataclass
class Trial:
    """One view and kernel: its features, and all of its models."""

    view: View
    feature_map: FeatureMap
    features: Floats
    weights: Floats = None  # type: ignore[assignment]
    n_iter: int = 0

    def follow(
        self,
        likelihood: PairLikelihood | JointLikelihood,
        scales: tuple[float, ...],
        bar: Bar | None,
    ) -> None:
        """Fit all models at all scales."""
        self.weights, self.n_iter = follow(self.features, likelihood, scales)
        if bar is not None:
            bar.step(str(self.feature_map.kernel))

    def scores(self) -> Floats:
        """Return (n_points, n_scales, n_models, n_outputs)."""
        shape = self.weights.shape
        flat = score(self.features, self.weights.reshape(-1, *shape[2:]))
        return flat.reshape(len(flat), *shape[:2], shape[2])


def make_trial(
    view: View,
    X: PointsLike,
    kernel: Kernel,
    seed: int,
    n_components: int,
    n_asked: int,
) -> Trial:
    """Return a candidate with the features of a view and a kernel.

    The points that were asked about come first; the others only shape the features.
    """
    rng = np.random.RandomState(seed)
    feature_map = FeatureMap(kernel, n_components)
    n_preferred = n_asked if n_asked < X.shape[0] else 0
    features = feature_map.fit_transform(X, rng, n_preferred)
    return Trial(view, feature_map, features[:n_asked])


class Bar:
    """A bar on standard error."""

    def __init__(self, total: int) -> None:
        self.done, self.total = 0, total

    def step(self, name: str) -> None:
        """Count one more, and say which."""
        self.done += 1
        full = "#" * round(20 * self.done / self.total)
        end = "\n" if self.done == self.total else ""
        text = f"\rPairClassifier [{full:<20}] {self.done}/{self.total} {name:<14}"
        sys.stderr.write(text + end)
        sys.stderr.flush()
