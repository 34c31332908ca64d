r"""Class assignment: finding which of the two groups is the positive class.

Pairs draw a boundary but do not name its sides. Four rules look for the sign s
such that s f(x) has the smaller error:

* from pairs, when the majority class is known (step 2 of the method, Theorem 2);
* from a few labelled points;
* of three or more classes, each against the rest, from the fact that a point is of
  exactly one of them;
* from unlabelled points and the majority class: the naive rule, which can be wrong
  however many points there are. It is here as the paper's counter-example.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import bdtrc

from pairlearn.data.checks import check_answers, check_weights, known_rates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Bools, Floats, Ints

__all__ = [
    "Assignment",
    "assign_from_pairs",
    "assign_from_points",
    "exclusive_signs",
    "match_classes",
    "naive_assignment",
]

# Warn when chance alone would speak as clearly for a sign at least this often.
_WEAK = 0.1
# The largest share of a capital that is put on one vote.
_BOLDEST = 0.75


@dataclass(frozen=True)
class Assignment:
    """The outcome of a class assignment.

    Attributes
    ----------
    sign : int
        +1 if the classifier keeps its sign, -1 if it is turned round.
    method : str
        "pairs", "points", "exclusion" or "naive".
    bound : float or None
        A bound on the probability of the wrong sign: from pairs that of Lemma 3,
        from points the like. The unknown Q (or error) in it is replaced by its
        estimate, so it is a guide rather than a guarantee. None for exclusion
        and the naive rule, which have no guarantee at all.
    p_value : float or None
        How likely votes that speak so clearly for either sign would be if neither were
        better: a two-sided test on pairs that share no point (method "pairs").
    q : float or None
        The estimate of Q (method "pairs").
    error : float or None
        The error on the labelled points before turning (method "points").
    n_pairs, n_points : int
        How many pairs or points were used.
    """

    sign: int
    method: str
    bound: float | None
    p_value: float | None = None
    q: float | None = None
    error: float | None = None
    n_pairs: int = 0
    n_points: int = 0


def assign_from_pairs(
    left: ArrayLike,
    right: ArrayLike,
    t: ArrayLike,
    *,
    majority: int,
    sample_weight: ArrayLike | None = None,
    independent: Bools | None = None,
    flip_rates: Any = None,
) -> Assignment:
    r"""Find the sign from pairs, knowing the majority class (Theorem 2).

    s = sign(2p - 1) sign(1 - 2 Q), with Q the share of points whose predicted class
    differs from their pair's answer. Only sign(2p - 1), the majority class, is
    needed. By Hoeffding's inequality the sign is wrong with probability at most

    .. math:: \exp(-2 m (Q - 1/2)^2) = \exp(-(m/2)(2p - 1)^2 (2R - 1)^2).

    Wrong answers are corrected: t' = (t - (r1 + r0 - 1)) / (r1 - r0) has the right
    answer for its expectation. It is at most c = (1 + \|r1 + r0 - 1\|) / (r1 - r0)
    in size, so that the exponent is divided by c^2; for symmetric noise e that is a
    factor (1 - 2e)^2.

    The p-value is two-sided, since the answers choose the side. With answers that are
    wrong equally often it is that of a sign test on the pairs whose points are put into
    one class. Otherwise the votes t' have two sizes, and the p-value is what a bet on
    the better sign would win (Waudby-Smith and Ramdas 2024), which is valid, too.

    The pairs must not have been used to train the classifier.

    Parameters
    ----------
    left, right : array-like of shape (n_pairs,)
        Scores of both points of each pair.
    t : array-like of shape (n_pairs,)
        Answers.
    majority : {+1, -1}
        The class with the prior above one half.
    sample_weight : array-like of shape (n_pairs,), optional
        Weights of the pairs.
    independent : ndarray of bool of shape (n_pairs,), optional
        Pairs that share no point with each other; bound and p-value count these alone.
        None: all.
    flip_rates : tuple, float or None, default=None
        How often answers are wrong: (r1, r0), a single rate, or None for never.

    Returns
    -------
    Assignment

    Examples
    --------
    >>> f, g = [1, 2, 1, 2, 1, 1], [1, 1, 3, 1, 1, -1]
    >>> result = assign_from_pairs(f, g, [1, 1, 1, 1, 1, -1], majority=-1)
    >>> result.sign, round(result.q, 3), result.p_value
    (-1, 0.083, 0.0625)
    """
    majority = majority_sign(majority)
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    if left.shape != right.shape or left.ndim != 1:
        raise ValueError(
            "left and right need one score per pair; got "
            f"{left.shape} and {right.shape}"
        )
    answers = check_answers(t, len(left))
    weight = check_weights(sample_weight, len(left))
    if not len(left):
        raise ValueError("class assignment from pairs needs at least one pair")
    r1, r0 = known_rates(flip_rates)
    shift, gain = r1 + r0 - 1, r1 - r0
    largest = (1 + abs(shift)) / gain
    # The mean of t' f, with f the mean of the two predicted signs.
    mean_sign = (np.where(left > 0, 1, -1) + np.where(right > 0, 1, -1)) / 2
    votes = (answers - shift) / gain * mean_sign
    q = (1 - float(np.average(votes, weights=weight))) / 2
    chosen = np.ones(len(left), dtype=bool) if independent is None else independent
    chosen = chosen & (weight > 0)
    n_effective = weight[chosen].sum() ** 2 / max((weight[chosen] ** 2).sum(), 1e-300)
    bound = math.exp(-2 * n_effective * ((q - 0.5) / largest) ** 2)
    counted = votes[chosen] * weight[chosen] / weight[chosen].max(initial=1e-300)
    sizes = np.abs(counted[counted != 0])
    # Whether votes for both signs have one size is for the rates to say, not for the
    # votes: those that happen to be alike would get the test that flatters them.
    even = abs(shift) < 1e-9 and (np.ptp(sizes) < 1e-9 if len(sizes) else True)
    p_value = _p_value(counted, largest, even=even)
    if p_value > _WEAK:
        warnings.warn(
            f"the {len(left)} pairs for class assignment do not show clearly which "
            f"class is which (p-value {p_value:.2f}): the two may be swapped. Use more "
            "pairs for it (pairlearn.trust.theory.pairs_for_assignment says how many; "
            "assignment_size is their share, in estimators that keep some aside), or "
            "use assign_from_points",
            stacklevel=3,
        )
    return Assignment(
        sign=majority if q < 0.5 else -majority,
        method="pairs",
        bound=bound,
        p_value=p_value,
        q=q,
        n_pairs=len(left),
    )


def _p_value(votes: Floats, largest: float, *, even: bool) -> float:
    """Return how likely votes so clear are, at most, if neither sign is better.

    Votes of one size: a sign test. Of two sizes: a bet. Whoever bets a share of a
    capital of 1 on each vote, on the sign that leads so far, keeps a capital of mean 1
    if the votes have mean 0; so it reaches K with probability at most 1/K (Markov).
    """
    if even:
        for_sign = max(int(np.sum(votes > 0)), int(np.sum(votes < 0)))
        one_sided = float(bdtrc(for_sign - 1, np.sum(votes != 0), 0.5))
        return min(1.0, 2 * one_sided)
    # Before each vote, a share of the capital is put on the sign that leads so far; as
    # no vote loses more than that share, the capital stays positive.
    before = np.arange(1, len(votes) + 1)
    total, squares = np.cumsum(votes) - votes, np.cumsum(votes**2) - votes**2
    mean, square = total / before, (squares + largest**2 / 4) / before
    stake = np.clip(mean / square, -_BOLDEST / largest, _BOLDEST / largest)
    log_capital = float(np.sum(np.log1p(stake * votes)))
    return min(1.0, math.exp(-log_capital))


def assign_from_points(scores: ArrayLike, y: ArrayLike) -> Assignment:
    """Find the sign with the smaller error on labelled points.

    Parameters
    ----------
    scores : array-like of shape (n_points,)
        Scores f(x).
    y : array-like of shape (n_points,)
        Classes, -1 or +1.

    Returns
    -------
    Assignment

    Examples
    --------
    >>> assign_from_points([1.0, 2.0, -1.0], [-1, -1, -1]).sign
    -1
    """
    scores, y = np.asarray(scores, dtype=float), np.asarray(y, dtype=float)
    if scores.shape != y.shape or scores.ndim != 1 or not len(y):
        raise ValueError(
            "class assignment from points needs one class for each of at least one "
            f"point; got {scores.shape} scores and {y.shape} classes"
        )
    if not np.isin(y, (-1, 1)).all():
        raise ValueError("classes must be -1 or +1 here")
    error = float(np.mean(np.where(scores > 0, 1, -1) != y))
    return Assignment(
        sign=1 if error <= 0.5 else -1,
        method="points",
        bound=math.exp(-2 * len(y) * (error - 0.5) ** 2),
        error=error,
        n_points=len(y),
    )


def exclusive_signs(log_odds: ArrayLike, settled: ArrayLike | None = None) -> Floats:
    r"""Find the signs of one-vs-rest columns, since a point is of just one class.

    The signs minimise the mean over the points of (sum of the classes' probabilities
    - 1)^2. With z_c = tanh(g_c / 2) the probability of class c is (1 + s_c z_c) / 2,
    and four times that mean is

    .. math:: s^T G s - 2 (2 - C) s^T m + (2 - C)^2,
              \quad G = \overline{z z^T}, \; m = \overline{z} .

    If all columns are right up to their signs (z_c = 1 for one c and -1 for all others,
    or the reverse), C > 2 and every class occurs, then only the right signs reach
    zero: a point of class k gives 2 s_k - sum of s = 2 - C, for each k, so that all s_k
    are equal, and equal to 1. No majority class is needed, and no label. Two classes
    are symmetric, and the rule cannot tell them apart. The search (turn the column
    that helps most, from several starts) need not find the best signs when columns
    are poor.

    Parameters
    ----------
    log_odds : array-like of shape (n_points, n_classes)
        Log-odds g_c of each class against the rest, up to a sign for each column.
    settled : array-like of shape (n_classes,), optional
        True for columns whose sign is known to be right.

    Returns
    -------
    ndarray of shape (n_classes,)
        +1 or -1; +1 where settled.

    Examples
    --------
    >>> exclusive_signs([[3, 4, -5], [-3, -4, -5], [-3, 4, 5]])
    array([ 1., -1.,  1.])
    """
    z = np.tanh(np.asarray(log_odds, dtype=float) / 2)
    n_classes = z.shape[1]
    fixed = np.zeros(n_classes, bool) if settled is None else np.asarray(settled, bool)
    gram, mean, target = z.T @ z / len(z), z.mean(axis=0), 2 - n_classes

    def misfit(signs: Floats) -> float:
        return float(signs @ gram @ signs - 2 * target * signs @ mean)

    # At most one class holds more than half of the points. So begin with every class
    # as the smaller side of its column, and with each class in turn as the larger.
    smaller = np.where(~fixed & (mean > 0), -1.0, 1.0)
    turned = np.where(np.eye(n_classes, dtype=bool), -smaller, smaller)
    begins = [smaller, *turned[~fixed]]
    for signs in begins:
        while True:
            gain = 4 * signs * (gram @ signs - target * mean) - 4 * np.diag(gram)
            gain[fixed] = 0.0
            best = np.argmax(gain)
            # Rounding must not turn a column to and fro.
            if gain[best] <= 1e-9:
                break
            signs[best] = -signs[best]
    return min(begins, key=misfit)


def match_classes(table: ArrayLike) -> Ints:
    """Return for each class the group that it is matched with, one to one.

    Parameters
    ----------
    table : array-like of shape (n_classes, n_classes)
        How well class c (row) and group g (column) agree.

    Returns
    -------
    ndarray of shape (n_classes,)
        The groups with the largest total.

    Examples
    --------
    >>> match_classes([[1, 5, 0], [0, 4, 2], [3, 0, 0]])
    array([1, 2, 0])
    """
    groups: Ints = linear_sum_assignment(np.asarray(table), maximize=True)[1]
    return groups


def naive_assignment(scores: ArrayLike, *, majority: int) -> Assignment:
    """Guess the sign from unlabelled points: call the larger group the majority.

    This is the counter-example of the paper's Appendix B, not a recommendation: it
    can be wrong even with infinitely many points. See
    :func:`pairlearn.trust.theory.naive_assignment_is_right` for when.

    Parameters
    ----------
    scores : array-like of shape (n_points,)
        Scores f(x) of unlabelled points.
    majority : {+1, -1}
        The class with the prior above one half.

    Returns
    -------
    Assignment

    Examples
    --------
    >>> naive_assignment([1.0, 2.0, -1.0], majority=-1).sign
    -1
    """
    majority = majority_sign(majority)
    scores = np.asarray(scores, dtype=float)
    if scores.ndim != 1 or not len(scores):
        raise ValueError("the naive rule needs the score of at least one point")
    mean_sign = np.where(scores > 0, 1, -1).mean()
    return Assignment(
        sign=majority if mean_sign > 0 else -majority,
        method="naive",
        bound=None,
        n_points=len(scores),
    )


def majority_sign(majority: Any, classes: Any = (-1, 1)) -> int:
    """Return +1 or -1 for the majority class, given as a sign or by its name."""
    # A name comes first: with classes=(1, 2), 1 is the first class, not the sign +1.
    names = list(classes)
    if np.ndim(majority) == 0 and majority in names:
        return 1 if majority == names[1] else -1
    if np.ndim(majority) == 0 and majority in (-1, 1):
        return int(majority)
    raise ValueError(
        "majority must be +1 or -1, or the name of the class that has more than half "
        f"of the points; got {majority!r}. If neither has (prior 1/2), pairs cannot "
        "tell which class is which: use assign_from_points with a few labelled points"
    )
