r"""The risk of answers that share points, for linear models of any points.

With weights v_k of the answers and Z the likelihood of
:mod:`pairlearn.engine.components.likelihood`,

.. math:: R = -\frac{\log Z}{\sum_k v_k} , \qquad
          r_i(c) = \frac{p_i(c) - m_i(c)}{\sum_k v_k} .

Pairs that share no point are handled as ever, by the risk that an objective has. The
scores come to memory, whatever kind of array the points are in, and one number for each
point goes back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.engine.backends.numpy.risk_sums import NumpyPairRiskSum
from pairlearn.engine.components.likelihood import (
    Answers,
    Components,
    class_log_probabilities,
    shares_points,
)
from pairlearn.engine.components.propagation import Memory

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints
    from pairlearn.engine.components.likelihood import LinkTables, Posterior

__all__ = ["CERTAIN", "LIKELIHOODS", "ComponentRiskSum"]

# What estimators offer: whether answers that share points are seen together.
LIKELIHOODS = ("component", "pair")

# (r1, r0) of answers that are right. No answer is taken for certain: one that
# contradicts others would make all of them impossible.
CERTAIN = (1 - 1e-4, 1e-4)


class ComponentRiskSum(NumpyPairRiskSum):
    """Pairs of points, of which those that share points are seen together.

    Parameters
    ----------
    points : Points
        The points.
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    coefficients : Coefficients
        How much either answer counts for each pair, all together 1.
    total : float
        The sum of the weights of the pairs.
    n_classes : int
        Number of classes.
    """

    # A risk of all answers together has no parts that could be drawn or compiled.
    additive = False

    def __init__(
        self, points: Any, index: Ints, coefficients: Any, total: float, n_classes: int
    ) -> None:
        super().__init__(points, index, coefficients)
        self.total = total
        shared = shares_points(index, points.n_points)
        alone = np.flatnonzero(~shared)
        self._alone = NumpyPairRiskSum(
            points, index[alone], coefficients.scaled(alone, 1.0)
        )
        same, different = coefficients.scaled(np.flatnonzero(shared), total)
        self._answers = Answers(same[:, None], different[:, None])
        self._graph = Components(index[shared], points.n_points, n_classes)
        self._memory = Memory(1, tolerance=1e-7)

    def risk_of(self, risk: Any, scores: Floats) -> tuple[float, Floats]:
        """Return the risk of the scores of all points, and its derivatives."""
        value, r = self._alone.risk_of(risk, scores)
        log_p = class_log_probabilities(scores[:, None])
        found = self._look(risk, log_p)
        pull = (np.exp(log_p) - found.points)[:, :, 0] / self.total
        r = r + (pull[1] if scores.ndim == 1 else pull.T)
        return value - float(found.log_z[0]) / self.total, r

    def value_of(self, risk: Any, scores: Floats) -> float:
        """Return the risk of the scores of all points."""
        return self.risk_of(risk, scores)[0]

    def rate_gradient(self, risk: Any, w: Floats, b: float | Floats) -> Floats:
        """Return the derivatives of the risk in the two flip rates."""
        scores = self.points.scores(w, b)
        found = self._look(risk, class_log_probabilities(scores[:, None]))
        rates = _bounded(risk.flip_rates)
        slopes = self._graph.rate_slopes(self._answers, found.links, rates)
        joint = -slopes / self.total
        return self._alone.rate_gradient(risk, w, b) + joint

    def value_at_zero(self, risk: Any, n_outputs: int) -> float:
        """Return the risk of scores that are all zero."""
        n_points = self.points.n_points
        return self.value_of(
            risk, np.zeros(n_points if n_outputs == 1 else (n_points, n_outputs))
        )

    def _look(self, risk: Any, log_p: Floats) -> Posterior:
        return self._graph(log_p, self._tables(risk.flip_rates), self._memory)

    def _tables(self, rates: tuple[float, float]) -> LinkTables:
        return self._graph.tables(self._answers, _bounded(rates))


def _bounded(rates: tuple[float, float]) -> tuple[float, float]:
    """Keep rates from certainty."""
    low, high = CERTAIN[1], CERTAIN[0]
    return min(max(rates[0], low), high), min(max(rates[1], low), high)
