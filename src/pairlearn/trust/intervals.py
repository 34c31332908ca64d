r"""Intervals for a probability: for one look at the answers, and for many looks.

One look: Clopper-Pearson. The interval holds the probability with at least the stated
confidence, for a number of trials that was fixed beforehand.

Many looks: whoever looks after every answer, and stops when the interval looks good,
gets one more chance to be misled with every look. A *confidence sequence* holds the
probability at all looks together. Ours is the beta-binomial mixture (Robbins 1970;
Howard, Ramdas, McAuliffe and Sekhon 2021). For a candidate p, with k hits in n trials
and a Beta(a, b) prior that is cut to [0, p],

.. math:: M_n(p) = \frac{\int_0^p x^k (1-x)^{n-k} x^{a-1} (1-x)^{b-1} dx}
                   {B(a, b)\, I_p(a, b)\, p^k (1-p)^{n-k}}
        = \frac{B(a+k, b+n-k)\, I_p(a+k, b+n-k)}
               {B(a, b)\, I_p(a, b)\, p^k (1-p)^{n-k}} .

If p is the truth this is a martingale with mean 1, so that by Ville's inequality it
reaches 1/alpha at any time with probability at most alpha. The upper end is the largest
p with M_n(p) < 1/alpha; the lower end is the same for misses instead of hits.

Trials of unequal probability: by a theorem of Hoeffding (1956), tails of their number
of hits are at most those of as many trials with the mean probability. So the interval
of Clopper and Pearson holds the mean; see :func:`mean_of_unequal`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaincinv, betaln, xlog1py, xlogy

from pairlearn.data.checks import check_share

if TYPE_CHECKING:
    from collections.abc import Callable

    Interval = tuple[float, float]
    Ends = Callable[[int, int, float], Interval]

__all__ = ["clopper_pearson", "confidence_sequence", "mean_of_unequal"]

# A prior that is best where about a tenth of the answers disagree, as with an error of
# five per cent; it costs little elsewhere.
_HITS, _MISSES = 1.0, 9.0


def clopper_pearson(n_hits: int, n_trials: int, confidence: float = 0.95) -> Interval:
    """Return the exact interval for a probability from hits in independent trials.

    Parameters
    ----------
    n_hits, n_trials : int
        How often it happened, and out of how many.
    confidence : float, default=0.95
        Confidence, shared equally by both sides.

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> low, high = clopper_pearson(5, 100)
    >>> round(low, 4), round(high, 4)
    (0.0164, 0.1128)
    """
    tail = _tail(n_hits, n_trials, confidence)
    low: float = betaincinv(n_hits, n_trials - n_hits + 1, tail) if n_hits else 0.0
    high = 1.0
    if n_hits < n_trials:
        high = betaincinv(n_hits + 1, n_trials - n_hits, 1 - tail)
    return float(low), float(high)


def mean_of_unequal(n_hits: int, n_trials: int, confidence: float = 0.95) -> Interval:
    """Return an exact interval for the mean probability of independent trials.

    Their probabilities p_1, ..., p_n need not be equal; let p be their mean. Hoeffding
    (1956): P(at most c hits) is at most its binomial value for c <= n p - 1, and P(at
    least c hits) for c >= n p + 1. Let l be the lower end of Clopper and Pearson for a
    risk a <= 1/4 on its side. It is too high if there are at least c hits, with c the
    smallest number whose l exceeds p, so that the binomial P(at least c hits) is below
    a. If c >= n p + 1, so is that of the trials. Otherwise c <= n p, rounded up; for p
    > 1/n that would have a binomial probability above 1/4 (Greenberg and Mohri 2014),
    and for p <= 1/n it means c = 1. So only the end for one hit differs: as P(at least
    one hit) <= n p, it is a / n. The upper end is the same for misses.

    Parameters
    ----------
    n_hits, n_trials : int
        How often it happened, and out of how many.
    confidence : float, default=0.95
        Confidence, shared equally by both sides, which get at most 1/4 each.

    Returns
    -------
    tuple of float

    References
    ----------
    W. Hoeffding, "On the distribution of the number of successes in independent
    trials", Annals of Mathematical Statistics 27, 1956, Theorem 4.

    S. Greenberg and M. Mohri, "Tight lower bound on the probability of a binomial
    exceeding its expectation", Statistics and Probability Letters 86, 2014.

    Examples
    --------
    >>> low, high = mean_of_unequal(5, 100)  # as that of Clopper and Pearson
    >>> round(low, 4), round(high, 4)
    (0.0164, 0.1128)
    >>> round(mean_of_unequal(1, 100)[0], 6)  # that of Clopper and Pearson: 0.000253
    0.00025
    """
    tail = min(_tail(n_hits, n_trials, confidence), 0.25)
    low, high = clopper_pearson(n_hits, n_trials, 1 - 2 * tail)
    if n_hits == 1:
        low = tail / n_trials
    if n_hits == n_trials - 1:
        high = 1 - tail / n_trials
    return low, high


def confidence_sequence(
    n_hits: int, n_trials: int, confidence: float = 0.95
) -> Interval:
    """Return an interval for a probability that holds however often one looks.

    Parameters
    ----------
    n_hits, n_trials : int
        How often it has happened so far, and out of how many.
    confidence : float, default=0.95
        The probability, at least, with which the interval contains the truth at all
        numbers of trials together; shared equally by both sides.

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> low, high = confidence_sequence(5, 100)
    >>> round(low, 4), round(high, 4)
    (0.0085, 0.1436)
    """
    tail = _tail(n_hits, n_trials, confidence)
    high = _upper_end(n_hits, n_trials, tail, _HITS, _MISSES)
    low = 1 - _upper_end(n_trials - n_hits, n_trials, tail, _MISSES, _HITS)
    return max(0.0, low), min(1.0, high)


def _tail(n_hits: int, n_trials: int, confidence: float) -> float:
    if not 0 <= n_hits <= n_trials or n_trials < 1:
        raise ValueError(f"there cannot be {n_hits} hits in {n_trials} trials")
    check_share("confidence", confidence)
    return (1 - confidence) / 2


def _upper_end(k: int, n: int, alpha: float, a: float, b: float) -> float:
    """Return the largest p with M_n(p) < 1 / alpha."""
    if k == n:
        return 1.0
    constant = betaln(a + k, b + n - k) - betaln(a, b) + np.log(alpha)

    def excess(p: float) -> float:
        """Return log(alpha M_n(p)), which grows with p above k / n."""
        mixture = np.log(betainc(a + k, b + n - k, p)) - np.log(betainc(a, b, p))
        log_likelihood = xlogy(k, p) + xlog1py(n - k, -p)
        return float(constant + mixture - log_likelihood)

    # M is below 1 / alpha at the estimate, and grows without bound towards 1.
    start, end = max(k / n, 1e-6 / n), 1 - 1e-14
    return float(brentq(excess, start, end, xtol=1e-15)) if excess(end) > 0 else 1.0
