r"""Risks summed over points or pairs, where the points are.

A model f = w^T x + b of points with a risk R of their scores needs

.. math:: R, \qquad \nabla_w R = X^T r, \qquad \partial_b R = \sum_p r_p,
          \qquad r_p = \partial R / \partial f_p .

`Points.weighted` and `Points.coupled` return an object that holds the coefficients of
the risk next to the points and computes just these. The classes here do it with NumPy,
for any points that give their scores and take back one number each.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn._typing import Floats, Ints
    from pairlearn.points import Points

    Value = Callable[[float], float]

__all__ = ["HostPairTerms", "HostTerms", "PairTerms", "Terms"]


class Terms(Protocol):
    """A risk of a linear model of points: what an objective needs of it."""

    def value_and_gradient(
        self, risk: Any, w: Floats, b: float | Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the risk and its gradients in w and b."""

    def along(self, risk: Any, w: Floats, b: float | Floats) -> Value:
        """Return c -> risk of c f, which needs the scores only once."""


class PairTerms(Terms, Protocol):
    """A risk of pairs, and what starts and flip rates need besides."""

    def moment(self, w: Floats, b: float | Floats) -> tuple[Floats, Floats]:
        """Return X^T r and the sum of r, with r_p = sum of (a - b) f' / 2 at p.

        The sum is over the pairs of point p, and f' is the other point's score. `w`
        may be a matrix of columns.
        """

    def rate_gradient(self, risk: Any, w: Floats, b: float | Floats) -> Floats:
        """Return the derivatives of a likelihood risk in its two flip rates."""


class HostTerms:
    """A risk of single points, in NumPy.

    Parameters
    ----------
    points : Points
        The points.
    positive, negative : ndarray of shape (n_points,)
        How much either class counts for each point.
    """

    def __init__(self, points: Points, positive: Floats, negative: Floats) -> None:
        self.points = points
        self.positive = positive
        self.negative = negative

    def risk_of(self, risk: Any, scores: Floats) -> tuple[float, Floats]:
        """Return the risk of the scores of all points, and its derivatives."""
        value, r = risk.value_and_gradient(scores, self.positive, self.negative)
        return value, r

    def value_of(self, risk: Any, scores: Floats) -> float:
        """Return the risk of the scores of all points."""
        return self.risk_of(risk, scores)[0]

    def value_and_gradient(
        self, risk: Any, w: Floats, b: float | Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the risk and its gradients in w and b."""
        value, r = self.risk_of(risk, self.points.scores(w, b))
        return value, self.points.pullback(r), r.sum(axis=0)

    def along(self, risk: Any, w: Floats, b: float | Floats) -> Value:
        """Return c -> risk of c f, which needs the scores only once."""
        scores = self.points.scores(w, b)
        return lambda c: self.value_of(risk, c * scores)


class HostPairTerms(HostTerms):
    """A risk of pairs, in NumPy.

    Parameters
    ----------
    points : Points
        The points.
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    same, different : ndarray of shape (n_pairs,)
        How much either answer counts for each pair.
    """

    def __init__(
        self, points: Points, index: Ints, same: Floats, different: Floats
    ) -> None:
        super().__init__(points, same, different)
        self.left, self.right = np.ascontiguousarray(index.T)
        self.same = same
        self.different = different

    def risk_of(self, risk: Any, scores: Floats) -> tuple[float, Floats]:
        """Return the risk of the scores of all points, and its derivatives."""
        value, d_left, d_right = self._by_pair(risk, scores)
        return value, self._scatter(d_left, d_right)

    def value_of(self, risk: Any, scores: Floats) -> float:
        """Return the risk of the scores of all points."""
        return self._by_pair(risk, scores)[0]

    def moment(self, w: Floats, b: float | Floats) -> tuple[Floats, Floats]:
        """Return X^T r and the sum of r, with r_p = sum of (a - b) f' / 2 at p."""
        r = self._coupling @ self.points.scores(w, b)
        return self.points.pullback(r), r.sum(axis=0)

    def rate_gradient(self, risk: Any, w: Floats, b: float | Floats) -> Floats:
        """Return the derivatives of a likelihood risk in its two flip rates."""
        scores = self.points.scores(w, b)
        rates: Floats = risk.rate_gradient(
            scores[self.left], scores[self.right], self.same, self.different
        )
        return rates

    def _by_pair(self, risk: Any, scores: Floats) -> tuple[float, Floats, Floats]:
        value, d_left, d_right = risk.value_and_gradient(
            scores[self.left], scores[self.right], self.same, self.different
        )
        return value, d_left, d_right

    @cached_property
    def _coupling(self) -> sparse.csr_array:
        """The symmetric matrix of answers between points that `moment` applies."""
        n = self.points.n_points
        share = (self.same - self.different) / 2
        half = sparse.csr_array((share, (self.left, self.right)), shape=(n, n))
        return sparse.csr_array(half + half.T)

    @cached_property
    def _incidence(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """For each side of the pairs, the matrix that sums pairs at their points."""
        shape = (self.points.n_points, len(self.left))
        ones, numbers = np.ones(len(self.left)), np.arange(len(self.left))
        return (
            sparse.csr_array((ones, (self.left, numbers)), shape=shape),
            sparse.csr_array((ones, (self.right, numbers)), shape=shape),
        )

    def _scatter(self, d_left: Floats, d_right: Floats) -> Floats:
        """Sum the pairs' numbers at their points."""
        n = self.points.n_points
        if d_left.ndim > 1:
            at_left, at_right = self._incidence
            return np.asarray(at_left @ d_left + at_right @ d_right)
        # NumPy's types say that bincount returns integers, weights or not.
        total: Any = np.bincount(self.left, d_left, n)
        return np.asarray(total + np.bincount(self.right, d_right, n))
