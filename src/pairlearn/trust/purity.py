r"""What pairs within a group say about its purity, and all groups about the error.

Let s_1, s_2, ... be the shares of the true classes in a group, m the largest of them,
the *purity*, and q the probability that two random members are the same,

.. math:: q = \sum_c s_c^2 .

*Least purity.* If no share exceeds m, the sum of squares is largest with as many shares
of m as there is room for, j = floor(1 / m), and one for the rest: q <= j m^2 + (1 - j
m)^2, which grows with m. So for 1/(j + 1) <= q <= 1/j

.. math:: m \ge \frac{1 + \sqrt{1 - (j + 1)(1 - q) / j}}{j + 1} ,

which for q >= 1/2 is (1 + sqrt(2 q - 1)) / 2, and never below q.

*Greatest purity.* For a given m, q is smallest if the rest is spread evenly over the
other C - 1 classes, or over infinitely many: q >= m^2 + (1 - m)^2 / (C - 1), so

.. math:: m \le \frac{1 + \sqrt{(C - 1)(C q - 1)}}{C}, \qquad m \le \sqrt q .

Both are reached. For C = 2 they are equal, which is the formula of Theorem 1.

*All groups.* Let w_k be the share of group k among the points, and p_k = 1 - q_k. If
each group bears the name of its largest class, the error is the sum of w_k (1 - m_k).
Its bounds are in :func:`error_interval`; the proof is in ``docs/theory.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincinv, rel_entr

from pairlearn.trust.intervals import confidence_sequence, mean_of_unequal

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats, Ints
    from pairlearn.trust.noise import Noise

    Interval = tuple[float, float]

__all__ = ["Within", "error_interval", "greatest_purity", "least_purity"]
__all__ += ["purity_intervals", "truly_different"]

# The part of the risk that goes to the upper ends of single groups; the rest is for the
# mean over all groups.
_FOR_GROUPS = 0.2
# The part of the risk that goes to the shares of the groups, if they are not known.
_FOR_SHARES = 0.1


def least_purity(same: ArrayLike) -> Floats:
    """Return the smallest share that the largest class of a group can have.

    Parameters
    ----------
    same : array-like
        The probability that two random members of the group are the same.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> least_purity([1.0, 0.905, 0.5, 0.2]).round(3)
    array([1.  , 0.95, 0.5 , 0.2 ])
    """
    q = np.clip(np.asarray(same, dtype=float), 0.0, 1.0)
    # How many classes of equal size would be the same at least as often.
    j = np.floor(1 / np.maximum(q, 1e-12))
    found = (1 + np.sqrt(np.maximum(1 - (j + 1) * (1 - q) / j, 0.0))) / (j + 1)
    return np.where(q > 0, np.clip(found, q, 1.0), 0.0)


def greatest_purity(same: ArrayLike, kinds: int | None = None) -> Floats:
    """Return the greatest share that the largest class of a group can have.

    Parameters
    ----------
    same : array-like
        The probability that two random members of the group are the same.
    kinds : int, optional
        How many classes there are at most; None: any number.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> greatest_purity([1.0, 0.905, 0.5]).round(3)
    array([1.   , 0.951, 0.707])
    >>> greatest_purity([1.0, 0.905, 0.5], kinds=2).round(3)
    array([1.  , 0.95, 0.5 ])
    """
    q = np.clip(np.asarray(same, dtype=float), 0.0, 1.0)
    if kinds is None:
        return np.asarray(np.sqrt(q))
    inside = np.maximum((kinds - 1) * (kinds * q - 1), 0.0)
    return np.asarray(np.minimum((1 + np.sqrt(inside)) / kinds, 1.0))


class Within(NamedTuple):
    """Pairs within each of several groups, in numbers: arrays of shape (n_groups,)."""

    n_pairs: Ints
    # Answers that are sure, and say "different".
    n_different: Ints
    n_unsure: Ints


def truly_different(noise: Noise, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    r"""Return bounds of P(different) within groups from those of P(told different).

    With r1 = P(says same | same) and r0 = P(says same | different) it is d = 1 - r1 +
    (r1 - r0) p, whatever the group. If hard pairs may have more wrong answers than
    others ("any"), but no more than a share e in each group, \|d - p\| <= e. With
    unknown rates below 1/2, d >= (1 - r0) p >= p / 2.

    Parameters
    ----------
    noise : Noise
        What is known about wrong answers.
    low, high : ndarray
        Bounds of the probability that an answer is "different".

    Returns
    -------
    tuple of ndarray
    """
    if noise.kind == "known":
        ends = [
            (end - (1 - r1)) / (r1 - r0)
            for end in (low, high)
            for r1, r0 in noise.corners
        ]
        low, high = np.min(ends, axis=0), np.max(ends, axis=0)
    elif noise.kind == "any":
        # A majority may be wrong so many times as often as one of its answers.
        factor = noise.majorities or 1.0
        most = factor * max(max(1 - r1, r0) for r1, r0 in noise.corners)
        low, high = low - most, high + most
    elif noise.kind == "unknown":
        low, high = 0 * low, 2 * high
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def purity_intervals(
    within: Within,
    noise: Noise,
    risk: float,
    *,
    kinds: int | None = None,
    anytime: bool = False,
) -> tuple[Floats, Floats]:
    """Return the ends of intervals for the purity of each group, good for all together.

    Disjoint pairs are independent given the groups, so that n intervals of confidence
    (1 - risk)^(1/n) hold together with confidence 1 - risk.

    Parameters
    ----------
    within : Within
        What was counted in each group.
    noise : Noise
        What is known about wrong answers.
    risk : float
        The probability, at most, that one of the intervals misses.
    kinds : int, optional
        How many classes there are at most; None: any number.
    anytime : bool, default=False
        Whether they are to hold at all looks.

    Returns
    -------
    low, high : ndarray of shape (n_groups,)
    """
    low, high = _each(within, _one_of(risk, len(within.n_pairs)) / 2, anytime=anytime)
    low, high = truly_different(noise, low, high)
    most = 1.0 if kinds is None else 1 - 1 / kinds
    least = least_purity(1 - np.minimum(high, most))
    return least, np.maximum(greatest_purity(1 - low, kinds), least)


def error_interval(
    within: Within,
    shares: Floats,
    noise: Noise,
    risk: float,
    *,
    kinds: int | None = None,
    n_points: int | None = None,
    anytime: bool = False,
) -> Interval:
    """Return an interval for the error if each group is named by its largest class.

    Two things bound the shares p_k of different pairs within the groups: an interval
    for their mean, weighted by the numbers of pairs, from all pairs together; and an
    upper end for each, from its own pairs, which is far wider. The upper end of the
    error is the largest that both allow; the chord of 1 - m as a function of p makes
    that a linear program with one constraint. The lower end follows from the mean by
    Jensen's inequality.

    Parameters
    ----------
    within : Within
        What was counted in each group.
    shares : ndarray of shape (n_groups,)
        The share of each group among the points.
    noise : Noise
        What is known about wrong answers.
    risk : float
        The probability, at most, that the interval misses.
    kinds : int, optional
        How many classes there are at most; None: any number.
    n_points : int, optional
        In how many random points the shares were counted; None: they are known.
    anytime : bool, default=False
        Whether it is to hold at all looks. Then the mean, whose weights change from
        look to look, is not used, and the shares must be known.

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn.trust.noise import Noise
    >>> within = Within(*np.array([[100] * 3, [9, 11, 10], [0] * 3]))
    >>> low, high = error_interval(within, np.full(3, 1 / 3), Noise(), 0.05)
    >>> round(low, 3), round(high, 3)
    (0.034, 0.081)
    """
    for_shares = 0.0 if n_points is None else _FOR_SHARES * risk
    rest = risk - for_shares
    limit = 1.0 if kinds is None else 1 - 1 / kinds
    n, n_all = within.n_pairs, int(within.n_pairs.sum())
    tail = _one_of(rest / 2 if anytime else _FOR_GROUPS * rest, len(n))
    least, most = truly_different(noise, *_each(within, tail, anytime=anytime))
    most = np.minimum(most, limit)
    # By how much each group errs at most, and all of them.
    highest = 1 - least_purity(1 - most)
    low, high = 0.0, float(shares @ highest)
    if anytime:
        lowest = 1 - greatest_purity(1 - np.minimum(least, limit), kinds)
        low = float(shares @ lowest)
    elif n_all:
        mean = _mean(within, noise, (1 - _FOR_GROUPS) * rest)
        # Along the chord 1 - m grows by so much with each group's p; from 1/2 on by p.
        slope = np.where(most < 0.5, highest / np.maximum(most, 1e-300), 1.0)
        high = min(high, _largest(shares * slope, n, most, mean[1] * n_all))
        # As much as must be different goes where it counts least.
        left = max(float(n @ most) - mean[0] * n_all, 0.0)
        mean_low = max(float(shares @ most) - _largest(shares, n, most, left), 0.0)
        low = float(1 - greatest_purity(1 - mean_low, kinds))
    if n_points is not None:
        # No group errs more often than this, and the points are draws of groups.
        bound = float(highest.max())
        high = _mean_error(high, bound, n_points, for_shares / 2)
        low = bound - _mean_error(bound - low, bound, n_points, for_shares / 2)
    return max(low, 0.0), high


def _mean(within: Within, noise: Noise, risk: float) -> Interval:
    """Return an interval for the mean of p over all pairs within groups."""
    n, n_least = int(within.n_pairs.sum()), int(within.n_different.sum())
    n_most = n_least + int(within.n_unsure.sum())
    low = np.array(mean_of_unequal(n_least, n, 1 - risk)[:1])
    high = np.array(mean_of_unequal(n_most, n, 1 - risk)[1:])
    low, high = truly_different(noise, low, high)
    return float(low[0]), float(high[0])


def _each(within: Within, tail: float, *, anytime: bool) -> tuple[Floats, Floats]:
    """Return one-sided ends for P(told different) in each group."""
    n, least, unsure = within
    low, high = np.zeros(len(n)), np.ones(len(n))
    if not anytime:
        # Clopper and Pearson's ends of all groups at once.
        most = least + unsure
        some, not_all = least > 0, most < n
        low[some] = betaincinv(least[some], (n - least + 1)[some], tail)
        high[not_all] = betaincinv((most + 1)[not_all], (n - most)[not_all], 1 - tail)
        return low, high
    for k in np.flatnonzero(n):
        hits, trials = int(least[k]), int(n[k])
        low[k] = confidence_sequence(hits, trials, 1 - 2 * tail)[0]
        hits += int(unsure[k])
        high[k] = confidence_sequence(hits, trials, 1 - 2 * tail)[1]
    return low, high


def _one_of(risk: float, n: int) -> float:
    """Return the risk of each of n independent statements that have it together."""
    return float(-np.expm1(np.log1p(-risk) / n))


def _largest(gain: Floats, cost: Ints, room: Floats, budget: float) -> float:
    """Return max gain p with cost p <= budget and 0 <= p <= room."""
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.where(cost > 0, gain / cost, np.inf)
    total = 0.0
    for k in np.argsort(-worth, kind="stable"):
        p = room[k]
        if cost[k] > 0:
            p = min(p, max(budget, 0.0) / cost[k])
        total += float(gain[k] * p)
        budget -= float(cost[k] * p)
    return total


def _mean_error(found: float, most: float, n_points: int, risk: float) -> float:
    """Return the largest mean that numbers in [0, most] with this average may have.

    Chernoff: P(average <= x) <= exp(-n kl(x, mean)) for numbers in [0, 1].
    """
    if found >= most:
        return most
    x, limit = found / most, -np.log(risk) / n_points

    def excess(mean: float) -> float:
        return float(rel_entr(x, mean) + rel_entr(1 - x, 1 - mean) - limit)

    end = 1 - 1e-15
    return most * (brentq(excess, x, end) if excess(end) > 0 else 1.0)
