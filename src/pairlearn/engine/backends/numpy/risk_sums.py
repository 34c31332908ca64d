r"""Risks summed over points or pairs, where the points are.

A model f = w^T x + b of points with a risk R of their scores needs

.. math:: R, \qquad \nabla_w R = X^T r, \qquad \partial_b R = \sum_p r_p,
          \qquad r_p = \partial R / \partial f_p .

`Points.weighted` and `Points.coupled` return an object that holds the coefficients of
the risk next to the points and computes just these. The classes here do it in memory,
for any points that give their scores and take back one number each.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pairlearn.data.graph import narrow
from pairlearn.engine.backends.compiled import compiled_module
from pairlearn.engine.backends.protocol import PairRiskSum, RiskSum
from pairlearn.engine.coefficients import EqualAnswers
from pairlearn.system.once import once
from pairlearn.system.threads import block_bounds, map_threads

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints
    from pairlearn.engine.backends.protocol import Value

__all__ = [
    "NumpyPairRiskSum",
    "NumpyRiskSum",
    "compiled_name",
    "incidence",
    "is_additive",
]

# Pairs that are worked on together, so that what is made of them stays in the cache.
BLOCK = 2**14
# The most parts that threads divide the pairs into, and the pairs a point in each.
PARTS, SHARE = 16, 4
# From so many blocks on, pairs that one thread has to take are worth compiled loops.
WORTH = 8


class NumpyRiskSum(RiskSum):
    """A risk of single points, in NumPy."""

    def risk_of(self, risk: Any, scores: Floats) -> tuple[float, Floats]:
        """Return the risk of the scores of all points, and its derivatives."""
        value, r = risk.value_and_gradient(scores, *self.coefficients)
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

    def value_along(self, risk: Any, w: Floats, b: float | Floats) -> Value:
        """Return c -> risk of c f, which needs the scores only once."""
        scores = self.points.scores(w, b)
        return lambda c: self.value_of(risk, c * scores)


class NumpyPairRiskSum(PairRiskSum, NumpyRiskSum):
    """A risk of pairs, in NumPy."""

    def risk_of(self, risk: Any, scores: Floats) -> tuple[float, Floats]:
        """Return the risk of the scores of all points, and its derivatives."""
        size = self._part_size(risk)
        n_pairs = len(self.index)
        few = not is_additive(risk) or n_pairs < WORTH * BLOCK
        if scores.ndim > 1 or (size == n_pairs and few):
            value, d_left, d_right = self._by_pair(risk, scores)
            return value, self._scatter(d_left, d_right)
        compiled = compiled_module() if compiled_name(risk) == "product" else None
        one = partial(
            self._compiled_slopes if compiled else self._numpy_slopes,
            compiled or risk,
            scores,
        )
        parts = map_threads(one, block_bounds(len(self.index), size))
        value = float(sum(value for value, _ in parts))
        if compiled and not np.isfinite(value):
            # Scores beyond the range of numbers: NumPy's risks know how to treat them.
            parts = [self._numpy_slopes(risk, scores, (0, len(self.index)))]
            value = parts[0][0]
        r = parts[0][1]
        for _, more in parts[1:]:
            r += more
        return value, r

    def value_of(self, risk: Any, scores: Floats) -> float:
        """Return the risk of the scores of all points."""
        size = min(self._part_size(risk), BLOCK)
        if scores.ndim > 1 or not is_additive(risk) or len(self.index) <= size:
            return self._by_pair(risk, scores)[0]
        blocks = block_bounds(len(self.index), size)
        return float(
            sum(map_threads(lambda part: self._by_pair(risk, scores, part)[0], blocks))
        )

    def moment(self, w: Floats, b: float | Floats) -> tuple[Floats, Floats]:
        """Return X^T r and the sum of r, with r_p = sum of (a - b) f' / 2 at p."""
        scores = self.points.scores(w, b)
        if scores.ndim > 1:
            r = self._coupling @ scores
        else:
            r = np.zeros(len(scores))
            for part in block_bounds(len(self.index), self._part_size(None)):
                left, right, same, different = self._sides(part)
                share = (same - different) / 2
                r += np.bincount(left, share * scores[right], len(r))
                r += np.bincount(right, share * scores[left], len(r))
        return self.points.pullback(r), r.sum(axis=0)

    def rate_gradient(self, risk: Any, w: Floats, b: float | Floats) -> Floats:
        """Return the derivatives of a likelihood risk in its two flip rates."""
        scores = self.points.scores(w, b)
        rates = []
        for part in block_bounds(len(self.index), BLOCK):
            left, right, same, different = self._sides(part)
            rates.append(
                risk.rate_gradient(scores[left], scores[right], same, different)
            )
        return np.asarray(np.sum(rates, axis=0))

    def _part_size(self, risk: Any) -> int:
        """Return how many pairs a thread takes at a time; all of them, if few.

        Each part has numbers of all points, so that there are only so many parts that
        these are few beside the pairs.
        """
        n_pairs = len(self.index)
        if risk is not None and not is_additive(risk):
            return n_pairs
        least = max(BLOCK, SHARE * int(self.points.n_points))
        n_parts = max(1, min(PARTS, n_pairs // least))
        return -(-n_pairs // n_parts)

    def _sides(self, part: tuple[int, int] | None) -> tuple[Ints, Ints, Floats, Floats]:
        """Return the points and the coefficients of some pairs; None: of all."""
        some = slice(None) if part is None else slice(*part)
        index = self.index[some]
        return index[:, 0], index[:, 1], *self.coefficients[some]

    def _by_pair(
        self, risk: Any, scores: Floats, part: tuple[int, int] | None = None
    ) -> tuple[float, Floats, Floats]:
        left, right, same, different = self._sides(part)
        value, d_left, d_right = risk.value_and_gradient(
            scores[left], scores[right], same, different
        )
        return value, d_left, d_right

    def _numpy_slopes(
        self, risk: Any, scores: Floats, part: tuple[int, int]
    ) -> tuple[float, Floats]:
        """Return the risk of some pairs and its derivatives, by NumPy."""
        begin, end = part
        value, n = 0.0, self.points.n_points
        slopes = np.empty((2, end - begin))
        for first, last in block_bounds(end - begin, BLOCK):
            more, *both = self._by_pair(risk, scores, (begin + first, begin + last))
            slopes[:, first:last] = both
            value += more
        left, right, _, _ = self._sides(part)
        # NumPy's types say that bincount returns integers, weights or not.
        total: Any = np.bincount(left, slopes[0], n)
        total += np.bincount(right, slopes[1], n)
        return value, total

    def _compiled_slopes(
        self, compiled: Any, scores: Floats, part: tuple[int, int]
    ) -> tuple[float, Floats]:
        """Return the product risk of some pairs and its derivatives, compiled."""
        r = np.zeros(self.points.n_points)
        value = compiled.pair_slopes(
            scores,
            *self._compiled_pairs,
            *part,
            r,
            *compiled.workspace(compiled.ALONE),
        )
        return value, r

    @once
    def _compiled_pairs(self) -> tuple[Any, ...]:
        """The points of all pairs, and their answers, as compiled functions want."""
        rows = narrow(self.index, self.points.n_points)
        rows = rows.view(f"u{rows.itemsize}")
        if isinstance(self.coefficients, EqualAnswers):
            return rows, self.coefficients.same, self.coefficients.weight, None, None
        return rows, np.empty(0, bool), 0.0, *self.coefficients

    @once
    def _coupling(self) -> sparse.csr_array:
        """The symmetric matrix of answers between points that `moment` applies."""
        n = self.points.n_points
        left, right, same, different = self._sides(None)
        half = sparse.csr_array(((same - different) / 2, (left, right)), shape=(n, n))
        return sparse.csr_array(half + half.T)

    @once
    def _incidence(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """For each side of the pairs, the matrix that sums pairs at their points."""
        return incidence(self.index, self.points.n_points)

    def _scatter(self, d_left: Floats, d_right: Floats) -> Floats:
        """Sum the pairs' numbers at their points."""
        n = self.points.n_points
        if d_left.ndim > 1:
            at_left, at_right = self._incidence
            return np.asarray(at_left @ d_left + at_right @ d_right)
        left, right, _, _ = self._sides(None)
        total: Any = np.bincount(left, d_left, n)
        return np.asarray(total + np.bincount(right, d_right, n))


def incidence(index: Ints, n_points: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return for each side of pairs the matrix that sums them at their points."""
    ones, numbers = np.ones(len(index)), np.arange(len(index))
    shape = (n_points, len(index))
    left, right = (
        sparse.csr_array((ones, (side, numbers)), shape=shape) for side in index.T
    )
    return left, right


def is_additive(risk: Any) -> bool:
    """Tell whether a risk is known to be a sum over its terms."""
    return bool(getattr(risk, "additive", False))


def compiled_name(risk: Any) -> str | None:
    """Return the name of a risk among the compiled ones, if it is one of them."""
    name: str | None = getattr(risk, "compiled", None)
    return name
