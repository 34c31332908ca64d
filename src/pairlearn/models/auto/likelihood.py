r"""The likelihood of answers, for many models of the same points at once.

With class probabilities p(x), two points are the same with probability
S = sum of p_c(x) p_c(x'), and with rates r1 = P(answer same | same) and
r0 = P(answer same | different) the answer is "same" with probability
Q = r0 + (r1 - r0) S. A model's risk over pairs with weights a ("same") and b
("different"), and labelled points (x_l, y_l) with weights v, is

.. math:: R = -\sum_k [a_k \log Q_k + b_k \log(1 - Q_k)]
              - \sum_l v_l \log p_{y_l}(x_l) .

Two classes have one score f: p = (1 - s(f), s(f)) with the logistic function s, and
with z = tanh(f/2), S = (1 + z z') / 2 and dS/df = z' (1 - z^2) / 4. More classes have
one score each and p = softmax(f): dS/df_c = p_c (p'_c - S). Answers are never taken for
certain: a right one is given with probability 1 - 1e-4 at most, so that Q stays within
bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax

from pairlearn.engine.backends.numpy.risk_sums import incidence
from pairlearn.engine.components.risk_sum import CERTAIN
from pairlearn.models.auto.softmax_risk import softmax_risk
from pairlearn.system.once import once
from pairlearn.trust.probabilities import same_and_slopes, same_class

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.data.types import Floats, Ints

__all__ = ["CERTAIN", "Labels", "PairLikelihood", "says_same"]

Rates = tuple[float, float]


class Labels(NamedTuple):
    """Labelled points: their rows, class numbers, and weights for each model."""

    rows: Ints
    classes: Ints
    weight: Floats


@dataclass
class PairLikelihood:
    """R of the scores of all points, and its derivative, for each model.

    Parameters
    ----------
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    same, different : ndarray of shape (n_pairs, n_models)
        How much either answer counts for each model, such as zero in its test fold.
    n_points : int
        Number of points.
    rates : tuple of float, or of ndarray of shape (n_pairs, 1)
        (r1, r0), of all pairs or of each.
    labels : Labels or None
        Labelled points.
    """

    index: Ints
    same: Floats
    different: Floats
    n_points: int
    rates: Rates | tuple[Floats, Floats] = CERTAIN
    labels: Labels | None = None

    def __post_init__(self) -> None:
        self._at_left, self._at_right = incidence(self.index, self.n_points)

    def evaluator(
        self,
        models: Ints,
        memory: Any = None,  # noqa: ARG002 - as of JointLikelihood
    ) -> Callable[[Floats, Ints], tuple[Floats, Floats]]:
        """Return (scores, rows) -> R and its derivative, row k being models[k]."""
        return lambda scores, rows: self(scores, models[rows])

    @property
    def n_models(self) -> int:
        """Number of models."""
        return int(self.same.shape[1])

    def moment(self, Z: Floats, model: int) -> Floats:
        """Return the sum of t (z z'^T + z' z^T) over the pairs that a model sees."""
        t = self.same[:, model] - self.different[:, model]
        if np.ndim(self.rates[0]):
            t = t * np.subtract(*self.rates)[:, 0]
        left, right = Z[self.index[:, 0]], Z[self.index[:, 1]]
        moment = (left * t[:, None]).T @ right
        return np.asarray(moment + moment.T)

    def __call__(self, scores: Floats, models: Ints) -> tuple[Floats, Floats]:
        """Return R of each model and its derivative.

        `scores` has shape (n_points, n_models) for two classes, else (n_points,
        n_models, n_classes); `models` says which models these are.
        """
        if scores.ndim == 3:
            return self._several(scores, models)
        left, right = scores[self.index[:, 0]], scores[self.index[:, 1]]
        chance, by_left, by_right = same_and_slopes(left, right)
        r1, r0 = self.rates
        q = r0 + (r1 - r0) * chance
        same, different = self.same[:, models], self.different[:, models]
        risk = -(same * np.log(q) + different * np.log1p(-q)).sum(axis=0)
        slope = (r1 - r0) * (different / (1 - q) - same / q)
        by_scores = self._sum_at_points(slope * by_left, slope * by_right)
        if self.labels is not None:
            risk = risk + _add_labels(self.labels, models, scores, by_scores)
        return risk, by_scores

    def _several(self, scores: Floats, models: Ints) -> tuple[Floats, Floats]:
        """Return the same for more than two classes, in the precision of the scores."""
        risk, by_scores = softmax_risk(
            scores,
            self.index,
            (self.same[:, models], self.different[:, models]),
            self._single if scores.dtype == np.float32 else self._double,
            self.rates,
        )
        if self.labels is not None:
            risk = risk + _add_labels(self.labels, models, scores, by_scores)
        return risk, by_scores

    @property
    def _double(self) -> tuple[Any, Any]:
        return self._at_left, self._at_right

    @once
    def _single(self) -> tuple[Any, Any]:
        left, right = self._double
        return left.astype(np.float32), right.astype(np.float32)

    def _sum_at_points(self, by_left: Floats, by_right: Floats) -> Floats:
        shape = (self.n_points, *by_left.shape[1:])
        flat = (len(by_left), int(np.prod(by_left.shape[1:])))
        left, right = by_left.reshape(flat), by_right.reshape(flat)
        total: Floats = self._at_left @ left + self._at_right @ right
        return total.reshape(shape)


def _add_labels(
    labels: Labels, models: Ints, scores: Floats, by_scores: Floats
) -> Floats:
    """Return the labelled points' part of the risk; add its derivative in place."""
    rows, classes, weight = labels
    f, v = scores[rows], weight[:, models]
    if scores.ndim == 2:
        sign = np.where(classes == 1, 1.0, -1.0)[:, None]
        np.add.at(by_scores, rows, -v * sign * expit(-sign * f))
        return np.asarray(-(v * log_expit(sign * f)).sum(axis=0))
    member = np.eye(scores.shape[2])[classes][:, None, :]
    np.add.at(by_scores, rows, v[..., None] * (softmax(f, axis=2) - member))
    log_p = (member * log_softmax(f, axis=2)).sum(axis=2)
    return np.asarray(-(v * log_p).sum(axis=0))


def says_same(left: Floats, right: Floats, rates: tuple[Any, Any] = CERTAIN) -> Floats:
    """Return Q from the class probabilities of both points."""
    r1, r0 = rates
    return np.asarray(r0 + (r1 - r0) * same_class(left, right))
