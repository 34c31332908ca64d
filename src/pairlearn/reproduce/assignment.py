"""Exact probabilities of class assignment on two Gaussians (to be replaced)."""

from __future__ import annotations

from math import erf, sqrt

from pairlearn.theory import assignment_error_bound

__all__ = ["bound", "exact_failure", "threshold_error"]


def _rates(threshold: float) -> tuple[float, float]:
    def above(mean: float, sd: float) -> float:
        return (1 - erf((threshold - mean) / sd / sqrt(2))) / 2

    return above(1, 1), above(-1, 2)


def threshold_error(prior: float, threshold: float) -> float:
    """Return the error of h(x) = +1 if x >= threshold."""
    hit, false = _rates(threshold)
    return prior * (1 - hit) + (1 - prior) * false


def exact_failure(prior: float, threshold: float, m: int) -> float:
    """Return the probability that m pairs assign the wrong sign."""
    import numpy as np
    from scipy.stats import binom

    hit, false = _rates(threshold)
    p, q = prior, 1 - prior
    up = (p * hit) ** 2 + (q * false) ** 2 + 2 * p * q * (1 - hit) * (1 - false)
    down = (p * (1 - hit)) ** 2 + (q * (1 - false)) ** 2 + 2 * p * q * hit * false
    k = np.arange(m + 1)
    positive = float(
        np.sum(binom.pmf(k, m, up + down) * binom.sf(k // 2, k, up / (up + down)))
    )
    sign_if_positive = 1 if prior > 0.5 else -1
    better = 1 if threshold_error(prior, threshold) < 0.5 else -1
    return 1 - positive if sign_if_positive == better else positive


def bound(prior: float, threshold: float, m: int) -> float:
    """Return Lemma 3's bound."""
    return assignment_error_bound(m, prior, threshold_error(prior, threshold))
