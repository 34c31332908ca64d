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
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from pairlearn.models.auto.likelihood import CERTAIN, says_same
from pairlearn.trust.calibration import least
from pairlearn.trust.probabilities import probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pairlearn.data.types import Floats
    from pairlearn.models.auto.likelihood import Rates

__all__ = [
    "Calibration",
    "HeldOut",
    "average",
    "calibrate_average",
    "estimate_rates",
    "prior_weights",
    "slopes",
]

SLOPES = np.geomspace(0.2, 4.0, 13)
# The prior on the scale of f: a factor of two away costs as much as one sigma.
TYPICAL_SCALE = 3.0
_LAMBDA = 3.0
_BIAS_SPREAD = 0.5
_FLOOR = 1e-6


@dataclass(frozen=True)
class HeldOut:
    """Answers to held-out pairs.

    Attributes
    ----------
    same, different : ndarray of shape (n_pairs,)
        How much either answer counts.
    rates : tuple of float
        (r1, r0) of the answers.
    """

    same: Floats
    different: Floats
    rates: Rates = CERTAIN

    @property
    def total(self) -> float:
        """How many answers there are, by weight."""
        return float(self.same.sum() + self.different.sum())

    def log_likelihood(self, p: Floats, rates: Rates | None = None) -> Floats:
        """Return the log-likelihood of probabilities (..., n_pairs, 2, n_classes)."""
        q = says_same(p[..., 0, :], p[..., 1, :], rates or self.rates)
        return np.asarray(np.log(q) @ self.same + np.log1p(-q) @ self.different)


def slopes(scores: Floats, held_out: HeldOut) -> Floats:
    """Return the best slope of each candidate.

    `scores` has shape (n_candidates, n_pairs, 2, n_outputs).
    """
    fit = np.array([held_out.log_likelihood(probabilities(a * scores)) for a in SLOPES])
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
    r1, r0 = held_out.rates
    weights, strength = prior.copy(), _LAMBDA / held_out.total
    # A larger step would overshoot when there is next to nothing to learn from.
    rate = min(0.5, 1 / strength)
    flat = np.ascontiguousarray(p).reshape(len(p), -1)
    for _ in range(n_iter):
        mean = (weights @ flat).reshape(p.shape[1:])
        left, right = mean[:, 0], mean[:, 1]
        q = says_same(left, right, held_out.rates)
        slope = (r1 - r0) * (held_out.same / q - held_out.different / (1 - q))
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
        return self.slope * np.log(np.maximum(p, _FLOOR)) + self.bias


def calibrate_average(p: Floats, held_out: HeldOut) -> Calibration:
    """Learn a calibration from averaged probabilities (n_pairs, 2, n_classes)."""
    return _calibrate(p, held_out)[0]


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
    log_p = np.log(np.maximum(p, _FLOOR))

    def read(u: Floats) -> tuple[Calibration, Rates]:
        free = u[1 : 1 + n_bias]
        bias = np.array([-free[0], free[0]]) / 2 if n_classes == 2 else free
        if not rates:
            return Calibration(float(np.exp(u[0])), bias), held_out.rates
        r1, r0 = (float(r) for r in expit(u[-2:]))
        r1 = min(max(r1, 0.05), CERTAIN[0])
        return Calibration(float(np.exp(u[0])), bias), (
            r1,
            min(max(r0, CERTAIN[1]), r1 - 0.02),
        )

    def loss(u: Floats) -> float:
        calibration, used = read(u)
        scores = calibration.slope * log_p + calibration.bias
        fit = held_out.log_likelihood(probabilities(scores), used)
        prior = u[0] ** 2 + (u[1 : 1 + n_bias] ** 2).sum() / _BIAS_SPREAD**2
        return float(prior / 2 - fit)

    start = np.zeros(1 + n_bias)
    u, value = least(loss, [np.append(start, logit(r)) for r in rates] or [start])
    return *read(u), value
