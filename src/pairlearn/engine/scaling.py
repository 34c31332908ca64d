"""Coordinates in which a linear model is well conditioned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints
    from pairlearn.engine.backends.protocol import Points

__all__ = ["Scaling"]


@dataclass(frozen=True)
class Scaling:
    """From coordinates u, in which a linear model is well conditioned, to its weights.

    f(x) = sum_j u_j (x_j - centre_j) / scale_j + c, that is w = u / scale and
    b = c - w^T centre. The points themselves are never centred, scaled or copied.
    The objective stays the same function; only the optimiser sees it rounder.
    """

    centre: Floats
    scale: Floats
    fit_intercept: bool
    # Then u is (w, b) itself, and a step of SGD need not convert it.
    is_identity: bool = False

    @property
    def size(self) -> int:
        """Length of the vector that a solver works on."""
        return len(self.scale) + self.fit_intercept

    @classmethod
    def identity(cls, n_features: int, fit_intercept: bool) -> Scaling:
        """Return the scaling in which u is (w, b) itself."""
        return cls(np.zeros(n_features), np.ones(n_features), fit_intercept, True)

    @classmethod
    def of(
        cls,
        points: Points,
        alpha: float,
        fit_intercept: bool,
        rows: Ints | None = None,
    ) -> Scaling:
        """Return the scaling that makes the features and the penalty even.

        Of some of the points, if rows are given.

        The curvature of the objective along w_j is about var_j + alpha; scaling by
        its root also keeps constant and very rare features harmless.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            mean, variance = points.mean_and_variance(rows)
        if not np.isfinite(variance).all():
            raise ValueError(
                "the points hold numbers too large to be squared; scale the features, "
                "for example with make_pair_pipeline(StandardScaler(), ...)"
            )
        if not fit_intercept:
            mean, variance = np.zeros_like(mean), variance + mean**2
        # Below this the variance is rounding noise of the mean.
        noise = 1e-12 * mean**2
        scale = np.sqrt(np.where(variance > noise, variance, 0.0) + alpha)
        return cls(mean, np.where(scale > 0, scale, 1.0), fit_intercept)

    def weights(self, u: Floats) -> tuple[Floats, Floats]:
        """Return w and b of coordinates u (or of a matrix of them, as columns)."""
        n_features = len(self.scale)
        w = u[:n_features]
        if not self.is_identity:
            w = (w.T / self.scale).T
        if not self.fit_intercept:
            return w, np.zeros(u.shape[1:])
        b = u[n_features]
        return w, b if self.is_identity else b - self.centre @ w

    def coordinates(self, w: Floats, b: float) -> Floats:
        """Return the coordinates of weights w and b."""
        u = w * self.scale
        return np.append(u, b + self.centre @ w) if self.fit_intercept else u

    def gradient(self, d_w: Floats, d_b: Floats | float) -> Floats:
        """Return the gradient in u from the gradients in w and b."""
        if not self.is_identity:
            if self.fit_intercept:
                d_w = d_w - np.multiply.outer(self.centre, d_b)
            d_w = (d_w.T / self.scale).T
        if not self.fit_intercept:
            return d_w
        return np.concatenate([d_w, np.asarray(d_b)[None]])
