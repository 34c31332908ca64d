r"""One model from many candidates, by the answers to pairs they have not seen.

Each candidate gives every point of a held-out pair class probabilities. Three things
are learned from these alone, by the likelihood of the held-out answers (see
:mod:`pairlearn.models.auto.likelihood`):

* A *slope* a for each candidate, which multiplies its scores. A prior on the weights
  shrinks all scores; whether the direction is good is another matter than whether the
  scores are long enough. Its prior is log a ~ N(0, 1).
* *Weights* v of the average P(x) = sum of v_c p_c(x), which maximise

  .. math:: \sum_k \log P(t_k \mid P) - \lambda \sum_c v_c \log(v_c / v^0_c) ,

  by exponentiated gradients. The prior weights v0 favour scales near 3, and lambda = 3
  keeps the average broad where few answers tell the candidates apart. 300 steps from v0
  do not reach the maximum where it is flat; stopping there keeps the average broader.
* The *calibration* of the average: log-odds times a slope plus a bias, with priors
  log slope ~ N(0, 1) and bias ~ N(0, 1/4): Platt's scaling with answers for labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from pairlearn.models.auto.likelihood import CERTAIN, says_same
from pairlearn.trust.calibration import least
from pairlearn.trust.probabilities import probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pairlearn.data.types import Bools, Floats, Ints
    from pairlearn.models.auto.likelihood import Rates

__all__ = [
    "Calibration",
    "HeldOut",
    "average",
    "calibrate_average",
    "clearly_better",
    "estimate_rates",
    "prior_weights",
    "slopes",
]

SLOPES = np.geomspace(0.2, 4.0, 13)
# The prior on the scale of f: a factor of two away costs as much as one sigma.
TYPICAL_SCALE = 3.0
_LAMBDA = 3.0
_BIAS_SPREAD = 0.5
# A search may look at slopes further out than e to this power, but need not tell them.
_FARTHEST = 50.0
FLOOR = 1e-6


@dataclass(frozen=True)
class HeldOut:
    """Answers to held-out pairs.

    Attributes
    ----------
    same, different : ndarray of shape (n_pairs,)
        How much either answer counts.
    rates : tuple of float, or of ndarray of shape (n_pairs,)
        (r1, r0) of the answers, of all or of each.
    anchored : ndarray of bool, shape (n_pairs,), or None
        Which of the pairs are a point that a model has not seen and what the answers
        say about it, instead of two points: the second half is given, and not changed
        by slopes and calibrations. Wrong answers are in it already. None: no pair.
    """

    same: Floats
    different: Floats
    rates: tuple[Any, Any] = CERTAIN
    anchored: Bools | None = None

    @property
    def total(self) -> float:
        """How many answers there are, by weight."""
        return float(self.same.sum() + self.different.sum())

    @property
    def pair_rates(self) -> tuple[Any, Any]:
        """(r1, r0) of each pair, or of all."""
        if self.anchored is None:
            return self.rates
        r1, r0 = (
            np.where(self.anchored, sure, rate)
            for sure, rate in zip(CERTAIN, self.rates, strict=True)
        )
        return r1, r0

    def bent(self, given: Floats, changed: Floats) -> Floats:
        """Return what was changed, but as it was given where it is anchored.

        Both have shape (..., n_pairs, 2, n_classes).
        """
        if self.anchored is not None:
            changed[..., self.anchored, 1, :] = given[..., self.anchored, 1, :]
        return changed

    def log_likelihood(self, p: Floats, rates: Rates | None = None) -> Floats:
        """Return the log-likelihood of probabilities (..., n_pairs, 2, n_classes)."""
        q = says_same(p[..., 0, :], p[..., 1, :], rates or self.pair_rates)
        return np.asarray(np.log(q) @ self.same + np.log1p(-q) @ self.different)

    def terms(self, p: Floats) -> Floats:
        """Return the terms of the log-likelihood, one for each pair."""
        q = says_same(p[:, 0], p[:, 1], self.pair_rates)
        return np.asarray(np.log(q) * self.same + np.log1p(-q) * self.different)


def slopes(scores: Floats, held_out: HeldOut) -> Floats:
    """Return the best slope of each candidate.

    `scores` has shape (n_candidates, n_pairs, 2, n_outputs).
    """
    fit = np.array(
        [
            held_out.log_likelihood(probabilities(held_out.bent(scores, a * scores)))
            for a in SLOPES
        ]
    )
    fit -= np.log(SLOPES)[:, None] ** 2 / 2
    return np.asarray(SLOPES[fit.argmax(axis=0)])


def prior_weights(scales: Floats) -> Floats:
    """Return v0 of candidates with these scales."""
    octaves = np.log2(np.asarray(scales) / TYPICAL_SCALE)
    weights = np.exp(-(octaves**2) / 2)
    return np.asarray(weights / weights.sum())


def average(p: Floats, prior: Floats, held_out: HeldOut, n_iter: int = 300) -> Floats:
    """Return the weights v of candidates' probabilities.

    `p` has shape (n_candidates, n_pairs, 2, n_classes).
    """
    r1, r0 = held_out.pair_rates
    weights, strength = prior.copy(), _LAMBDA / held_out.total
    # A larger step would overshoot when there is next to nothing to learn from.
    rate = min(0.5, 1 / strength)
    flat = np.ascontiguousarray(p).reshape(len(p), -1)
    for _ in range(n_iter):
        mean = (weights @ flat).reshape(p.shape[1:])
        left, right = mean[:, 0], mean[:, 1]
        q = says_same(left, right, held_out.pair_rates)
        slope = (r1 - r0) * (held_out.same / q - held_out.different / (1 - q))
        # The derivative in either half is the other half.
        both = mean[:, ::-1] * slope[:, None, None]
        gain = flat @ both.ravel() / held_out.total
        step = rate * (gain - strength * np.log(weights / prior))
        new = np.maximum(weights * np.exp(step - step.max()), 1e-12)
        new /= new.sum()
        moved, weights = np.abs(new - weights).max(), new
        if moved < 1e-6:
            break
    return weights


@dataclass(frozen=True)
class Calibration:
    """From averaged probabilities to calibrated ones.

    Attributes
    ----------
    slope : float
        Factor of the log-probabilities.
    bias : ndarray of shape (n_classes,)
        What is added to them.
    """

    slope: float
    bias: Floats

    def __call__(self, p: Floats) -> Floats:
        """Return calibrated log-probabilities, up to a constant for each point."""
        return self.slope * np.log(np.maximum(p, FLOOR)) + self.bias


def calibrate_average(p: Floats, held_out: HeldOut) -> Calibration:
    """Learn a calibration from averaged probabilities (n_pairs, 2, n_classes)."""
    return _calibrate(p, held_out)[0]


def clearly_better(new: Floats, old: Floats, held_out: HeldOut, judged: Ints) -> bool:
    r"""Tell whether one model explains held-out answers clearly better than another.

    With d_k how much more of the log-likelihood of answer k the new one explains, over
    all the times that it is judged: whether the sum of d_k is above its standard error,
    the root of the sum of d_k^2.

    Parameters
    ----------
    new, old : ndarray of shape (n_tested, 2, n_classes)
        Log-probabilities of both points, by either model.
    held_out : HeldOut
        The answers.
    judged : ndarray of shape (n_tested,)
        The number of each answer; one that is judged several times occurs again.

    Returns
    -------
    bool
    """
    gain = held_out.terms(probabilities(new)) - held_out.terms(probabilities(old))
    each = np.bincount(judged, gain)
    return bool(each.sum() > np.sqrt(each @ each))


def estimate_rates(p: Floats, held_out: HeldOut) -> tuple[Rates, float]:
    """Return flip rates learned with a calibration, and what the likelihood gains.

    The gain is against answers that are right, in units of log-likelihood.
    """
    sure = HeldOut(held_out.same, held_out.different)
    _, rates, value = _calibrate(p, sure, [(0.9, 0.1), (0.7, 0.02), (0.98, 0.3)])
    return rates, _calibrate(p, sure)[2] - value


def _calibrate(
    p: Floats, held_out: HeldOut, rates: Sequence[Rates] = ()
) -> tuple[Calibration, Rates, float]:
    """Minimise in slope and bias, and in the rates too if they have starts."""
    n_classes = p.shape[-1]
    # With two classes only the difference counts: one number, on the log-odds.
    n_bias = 1 if n_classes == 2 else n_classes
    log_p = np.log(np.maximum(p, FLOOR))

    def read(u: Floats) -> tuple[Calibration, Rates]:
        free = u[1 : 1 + n_bias]
        bias = np.array([-free[0], free[0]]) / 2 if n_classes == 2 else free
        slope = float(np.exp(np.clip(u[0], -_FARTHEST, _FARTHEST)))
        if not rates:
            return Calibration(slope, bias), held_out.rates
        r1, r0 = (float(r) for r in expit(u[-2:]))
        r1 = min(max(r1, 0.05), CERTAIN[0])
        return Calibration(slope, bias), (r1, min(max(r0, CERTAIN[1]), r1 - 0.02))

    def loss(u: Floats) -> float:
        calibration, used = read(u)
        scores = held_out.bent(log_p, calibration.slope * log_p + calibration.bias)
        fit = held_out.log_likelihood(probabilities(scores), used if rates else None)
        prior = u[0] ** 2 + (u[1 : 1 + n_bias] ** 2).sum() / _BIAS_SPREAD**2
        return float(prior / 2 - fit)

    start = np.zeros(1 + n_bias)
    u, value = least(loss, [np.append(start, logit(r)) for r in rates] or [start])
    return *read(u), value
