"""How many pairs a certificate needs, before anybody has answered one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc, betaincinv, ndtri

from pairlearn.data.checks import check_share
from pairlearn.trust.theory import (
    clustering_error_from_pair_error,
    pair_error_from_error,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats, Ints

__all__ = ["chance_of_width", "pairs_for_certificate"]

# Numbers of disagreements that are as unlikely as this are left out of sums.
_NEVER = 1e-17
# Of more possible numbers of disagreements, some stand for their neighbours.
_MOST_COUNTS = 512


def pairs_for_certificate(
    error: float,
    width: float,
    *,
    probability: float = 0.9,
    confidence: float = 0.95,
    flip_rate: float = 0.0,
    cautious: bool = False,
) -> int:
    """Return how many pairs make the interval of a certificate at most `width` wide.

    Chance decides how many answers disagree, and so how wide the interval is. With as
    many pairs as this it is as narrow as wanted with the given probability.

    Parameters
    ----------
    error : float
        The clustering error that the classifier is expected to have, below 1/2.
    width : float
        The wanted width of the interval for the clustering error.
    probability : float, default=0.9
        How likely it is to be so narrow. Counts are whole numbers, so that the
        probability goes up in a saw-tooth: with a few pairs more it may be a little
        lower.
    confidence, flip_rate, cautious
        As for :func:`~pairlearn.trust.certificate.certificate_from_counts`.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If no number of pairs makes the interval so narrow, as with `cautious` wrong
        answers, which leave a part of it however many pairs there are.

    Examples
    --------
    >>> pairs_for_certificate(error=0.1, width=0.05)
    448
    >>> pairs_for_certificate(error=0.1, width=0.05, probability=0.5)
    380
    """
    check_share("probability", probability)
    if not 0 < width < 0.5:
        raise ValueError(f"width must lie strictly between 0 and 1/2; got {width}")

    def is_enough(n_pairs: int) -> bool:
        chance = chance_of_width(
            n_pairs, error, width,
            confidence=confidence, flip_rate=flip_rate, cautious=cautious,
        )  # fmt: skip
        return chance >= probability

    too_few = _at_least(error, width, confidence, flip_rate)
    enough = too_few if not is_enough(too_few) else 1
    while not is_enough(enough):
        enough *= 2
        if enough > 2**40:
            raise ValueError(
                f"no number of pairs makes the interval {width:g} wide: wrong answers "
                "that may fall on hard pairs leave more than that in doubt"
            )
    return first_that(is_enough, max(1, enough // 2), enough)


def _at_least(error: float, width: float, confidence: float, e: float) -> int:
    """Return a number of pairs to begin with: a quarter of what a normal law says."""
    rate = e + (1 - 2 * e) * float(pair_error_from_error(error))
    slope = 1 / (2 * (1 - 2 * e) * np.sqrt(max(1 - 2 * (rate - e), 1e-3)))
    steps = 2 * ndtri((1 + confidence) / 2) * slope / width
    return max(1, int(min(steps**2 * rate * (1 - rate) / 4, 2**39)))


def chance_of_width(
    n_pairs: int,
    error: float,
    width: float,
    *,
    confidence: float = 0.95,
    flip_rate: float = 0.0,
    cautious: bool = False,
) -> float:
    """Return the probability that a certificate's interval is at most `width` wide.

    Exact: the number of disagreements is binomial, and the width depends on nothing
    else. Of very many numbers, some stand for their neighbours.

    Parameters
    ----------
    n_pairs : int
        How many pairs there are.
    error, width, confidence, flip_rate, cautious
        As for :func:`pairs_for_certificate`.

    Returns
    -------
    float

    Examples
    --------
    >>> round(chance_of_width(380, error=0.1, width=0.05), 2)
    0.51
    """
    if not 0 <= error < 0.5:
        raise ValueError(f"error must be at least 0 and below 1/2; got {error}")
    if not 0 <= flip_rate < 0.5:
        raise ValueError(f"flip_rate must be at least 0 and below 1/2; got {flip_rate}")
    check_share("confidence", confidence)
    rate = flip_rate + (1 - 2 * flip_rate) * float(pair_error_from_error(error))
    spread = 8 * np.sqrt(n_pairs * rate * (1 - rate)) + 30
    least = max(0, int(n_pairs * rate - spread))
    most = min(n_pairs, int(n_pairs * rate + spread) + 1)
    step = 1 + (most - least) // _MOST_COUNTS
    first = np.arange(least, most + 1, step)
    last = np.minimum(first + step - 1, most)
    likely = np.diff(at_most(np.append(first - 1, most), n_pairs, rate))
    kept = likely > _NEVER
    middle = (first + last)[kept] // 2
    wide = _widths(middle, n_pairs, confidence, flip_rate, cautious=cautious)
    return float(min(1.0, likely[kept][wide <= width].sum() / likely.sum()))


def _widths(
    n_wrong: Ints, n: int, confidence: float, e: float, *, cautious: bool
) -> Floats:
    """Return how wide the interval is for each number of disagreements."""
    tail = (1 - confidence) / 2
    k = np.asarray(n_wrong, dtype=float)
    inner = np.clip(k, 1, None)
    low = np.where(k > 0, betaincinv(inner, n - inner + 1, tail), 0.0)
    inner = np.clip(k, None, n - 1)
    high = np.where(k < n, betaincinv(inner + 1, n - inner, 1 - tail), 1.0)
    if cautious:
        low, high = low - e, high + e
    else:
        low, high = (low - e) / (1 - 2 * e), (high - e) / (1 - 2 * e)
    ends = clustering_error_from_pair_error(np.clip([low, high], 0.0, 1.0))
    return np.asarray(ends[1] - ends[0])


def at_most(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """Return P(K <= k) for a binomial K of n trials, of which there may be very many.

    The functions of scipy for this count the trials in 32 bits.

    Examples
    --------
    >>> at_most(1, 2, 0.5)
    array(0.75)
    """
    k, n = np.asarray(k, dtype=float), np.asarray(n, dtype=float)
    inside = (k >= 0) & (k < n)
    # Any numbers do where the outcome is certain.
    fails = 1 - np.asarray(p, dtype=float)
    tail = betainc(np.where(inside, n - k, 1), np.where(inside, k + 1, 1), fails)
    return np.where(inside, tail, np.where(k < 0, 0.0, 1.0))


def first_that(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first number in [low, high] for which `holds`, or high + 1.

    Once it holds, it must go on holding.

    Examples
    --------
    >>> first_that(lambda k: k * k > 50, 0, 100)
    8
    """
    high += 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
