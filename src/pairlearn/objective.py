r"""The objective of a linear pair model: points, pairs, answers, a risk, a penalty.

For f(x) = w^T x + b, pairs (i_k, j_k), answers t_k and weights v_k,

.. math::

    J(w, b) = R(f_{i_1}, f_{j_1}, \dots; t, v) + \tfrac{\alpha}{2} |w|^2 .

With r_p the sum of dR/df over all places where point p occurs, the gradient is

.. math:: \nabla_w J = X^T r + \alpha w, \qquad \partial_b J = \sum_p r_p .

Each point is scored once, however many pairs it is in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn._typing import Floats, Ints
    from pairlearn.points import Points
    from pairlearn.risks import PairRisk

__all__ = ["Frame", "PairObjective"]


@dataclass(frozen=True)
class Frame:
    """Coordinates u in which a linear model is well conditioned.

    f(x) = sum_j u_j (x_j - centre_j) / scale_j + c, that is w = u / scale and
    b = c - w^T centre. The points themselves are never centred, scaled or copied.
    The objective stays the same function; only the optimiser sees it rounder.
    """

    centre: Floats
    scale: Floats
    fit_intercept: bool

    @property
    def size(self) -> int:
        """Length of the vector that a solver works on."""
        return len(self.scale) + self.fit_intercept

    @classmethod
    def plain(cls, n_features: int, fit_intercept: bool) -> Frame:
        """Return the frame in which u is (w, b) itself."""
        return cls(np.zeros(n_features), np.ones(n_features), fit_intercept)

    @classmethod
    def of(cls, points: Points, alpha: float, fit_intercept: bool) -> Frame:
        """Return the frame that makes the features and the penalty even.

        The curvature of the objective along w_j is about var_j + alpha; scaling by
        its root also keeps constant and very rare features harmless.
        """
        mean, variance = points.mean_and_variance()
        if not fit_intercept:
            mean, variance = np.zeros_like(mean), variance + mean**2
        # Below this the variance is rounding noise of the mean.
        noise = 1e-12 * mean**2
        scale = np.sqrt(np.where(variance > noise, variance, 0.0) + alpha)
        return cls(mean, np.where(scale > 0, scale, 1.0), fit_intercept)

    def weights(self, u: Floats) -> tuple[Floats, Floats]:
        """Return w and b of coordinates u (or of a matrix of them, as columns)."""
        n_features = len(self.scale)
        w = (u[:n_features].T / self.scale).T
        if not self.fit_intercept:
            return w, np.zeros(u.shape[1:])
        return w, u[n_features] - self.centre @ w

    def coordinates(self, w: Floats, b: float) -> Floats:
        """Return the coordinates of weights w and b."""
        u = w * self.scale
        return np.append(u, b + self.centre @ w) if self.fit_intercept else u

    def gradient(self, d_w: Floats, d_b: Floats | float) -> Floats:
        """Return the gradient in u from the gradients in w and b."""
        if not self.fit_intercept:
            return (d_w.T / self.scale).T
        d_w = d_w - np.multiply.outer(self.centre, d_b)
        return np.concatenate([(d_w.T / self.scale).T, np.asarray(d_b)[None]])


class PairObjective:
    """J(u) and its gradient, in the coordinates of a frame.

    Parameters
    ----------
    points : Points
        The points.
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    t, weight : ndarray of shape (n_pairs,)
        Answers and weights of the pairs.
    risk : PairRisk
        The risk of the pairs' scores.
    alpha : float
        Strength of the penalty on w; the intercept is free.
    frame : Frame
        The coordinates.
    """

    def __init__(
        self,
        points: Points,
        index: Ints,
        t: Floats,
        weight: Floats,
        risk: PairRisk,
        alpha: float,
        frame: Frame,
    ) -> None:
        self.points = points
        self.left, self.right = np.ascontiguousarray(index.T)
        self.t = t
        self.weight = weight
        self.risk = risk
        self.alpha = alpha
        self.frame = frame
        self.n_evaluations = 0

    def __call__(self, u: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient at u."""
        self.n_evaluations += 1
        w, b = self.frame.weights(u)
        scores = self.points.scores(w, b)
        value, d_left, d_right = self.risk.value_and_gradient(
            scores[self.left], scores[self.right], self.t, self.weight
        )
        r = self._scatter(d_left, d_right)
        d_w = self.points.pullback(r) + self.alpha * w
        value += self.alpha / 2 * float(w @ w)
        return value, self.frame.gradient(d_w, r.sum())

    def along(self, u: Floats) -> Callable[[float], float]:
        """Return c -> J(c u), which needs the scores of u only once."""
        w, b = self.frame.weights(u)
        scores = self.points.scores(w, b)
        left, right, square = scores[self.left], scores[self.right], float(w @ w)

        def value(c: float) -> float:
            risk = self.risk.value_and_gradient(
                c * left, c * right, self.t, self.weight
            )
            return risk[0] + self.alpha / 2 * c**2 * square

        return value

    def moment(self, u: Floats) -> Floats:
        """Return M u, M = sum of v t (z z'^T + z' z^T) / (2 sum of v), z in the frame.

        M is the matrix whose leading eigenvector minimises the product risk of the
        unhinged loss on the unit sphere. `u` may be a matrix of columns.
        """
        w, b = self.frame.weights(u)
        r = self._coupling @ self.points.scores(w, b)
        return self.frame.gradient(self.points.pullback(r), r.sum(axis=0))

    def with_risk(self, risk: PairRisk) -> PairObjective:
        """Return the same objective with another risk."""
        index = np.stack([self.left, self.right], axis=1)
        return PairObjective(
            self.points, index, self.t, self.weight, risk, self.alpha, self.frame
        )

    def batch(self, pairs: Ints) -> PairObjective:
        """Return the objective of some of the pairs, over their points alone."""
        rows = np.concatenate([self.left[pairs], self.right[pairs]])
        return PairObjective(
            self.points.take(rows),
            np.arange(len(rows)).reshape(2, -1).T,
            self.t[pairs],
            self.weight[pairs],
            self.risk,
            self.alpha,
            self.frame,
        )

    @cached_property
    def _coupling(self) -> sparse.csr_array:
        """The symmetric matrix of answers between points that `moment` applies."""
        n = self.points.n_points
        share = self.t * self.weight / (2 * self.weight.sum())
        half = sparse.csr_array((share, (self.left, self.right)), shape=(n, n))
        return sparse.csr_array(half + half.T)

    def _scatter(self, d_left: Floats, d_right: Floats) -> Floats:
        """Sum the pairs' numbers at their points."""
        n = self.points.n_points
        # NumPy's types say that bincount returns integers, weights or not.
        total: Any = np.bincount(self.left, d_left, n)
        return np.asarray(total + np.bincount(self.right, d_right, n))
