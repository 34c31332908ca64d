r"""What the paper proves, as functions.

Throughout, R is the error of a classifier of points, R_pair the rate at which
sign f(x) f(x') disagrees with the answer, R_clus = min(R, 1 - R) the clustering
error, p the prior P(y = +1), and the two points of a pair are independent.

References
----------
H. Bao, T. Shimada, L. Xu, I. Sato and M. Sugiyama, "Pairwise Supervision Can
Provably Elicit a Decision Boundary", AISTATS 2022. Lemma, theorem and equation
numbers are those of that paper.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.data.checks import check_prior, check_share
from pairlearn.engine.losses import get_loss

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats
    from pairlearn.engine.losses import MarginLoss

__all__ = [
    "assignment_error_bound",
    "classification_excess_bound",
    "clustering_error_from_pair_error",
    "clustering_excess_bound",
    "error_from_q",
    "linear_rademacher_bound",
    "naive_assignment_is_right",
    "pair_error_from_error",
    "pairs_for_assignment",
    "prior_from_same_rate",
    "q_from_error",
    "same_rate_from_prior",
]


def pair_error_from_error(error: ArrayLike) -> Floats:
    """Return the pair error R_pair = 2 R (1 - R) of a classifier with error R.

    Parameters
    ----------
    error : array-like
        The error R, or the clustering error: both give the same pair error.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> round(float(pair_error_from_error(0.1)), 12)
    0.18
    """
    error = _check_probability("error", error)
    return 2 * error * (1 - error)


def clustering_error_from_pair_error(pair_error: ArrayLike) -> Floats:
    """Return R_clus = 1/2 - sqrt(1 - 2 R_pair)/2 (Theorem 1).

    Parameters
    ----------
    pair_error : array-like
        The pair error. Its expectation is at most 1/2; an estimate above that is
        noise and gives a clustering error of 1/2.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> round(float(clustering_error_from_pair_error(0.18)), 12)
    0.1
    """
    pair_error = _check_probability("pair_error", pair_error)
    return 0.5 - np.sqrt(np.maximum(0.0, 1 - 2 * pair_error)) / 2


def q_from_error(error: ArrayLike, prior: float) -> Floats:
    """Return Q = (2p - 1) R + 1 - p, the share of points that differ from the answer.

    Parameters
    ----------
    error : array-like
        The error R.
    prior : float
        P(y = +1).

    Returns
    -------
    ndarray

    Examples
    --------
    >>> round(float(q_from_error(0.1, prior=0.7)), 12)
    0.34
    """
    error, prior = _check_probability("error", error), check_prior(prior)
    return (2 * prior - 1) * error + 1 - prior


def error_from_q(q: ArrayLike, prior: float) -> Floats:
    """Return the error R = (Q - 1 + p) / (2p - 1); undefined at prior 1/2.

    Parameters
    ----------
    q : array-like
        The share of points that differ from their pair's answer.
    prior : float
        P(y = +1).

    Returns
    -------
    ndarray

    Examples
    --------
    >>> round(float(error_from_q(0.34, prior=0.7)), 12)
    0.1
    """
    prior = check_prior(prior, allow_half=False)
    return (_check_probability("q", q) - 1 + prior) / (2 * prior - 1)


def same_rate_from_prior(prior: float) -> float:
    """Return P(t = +1) = p^2 + (1 - p)^2 of two random points.

    Parameters
    ----------
    prior : float
        P(y = +1).

    Returns
    -------
    float

    Examples
    --------
    >>> round(same_rate_from_prior(0.7), 12)
    0.58
    """
    prior = check_prior(prior)
    return prior**2 + (1 - prior) ** 2


def prior_from_same_rate(same_rate: ArrayLike) -> Floats:
    """Return the prior of the majority class, (1 + sqrt(2 P(t = +1) - 1)) / 2.

    Parameters
    ----------
    same_rate : array-like
        P(t = +1) of random pairs; a rate below 1/2 is noise and gives 1/2.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> round(float(prior_from_same_rate(0.58)), 12)
    0.7
    """
    same_rate = _check_probability("same_rate", same_rate)
    return 0.5 + np.sqrt(np.maximum(0.0, 2 * same_rate - 1)) / 2


def assignment_error_bound(
    n_pairs: int, prior: float, error: float, flip_rate: float = 0.0
) -> float:
    """Bound the probability that step 2 picks the wrong sign (Lemma 3).

    exp(-(m/2) (1 - 2e)^2 (2p - 1)^2 (2R - 1)^2), with e the rate of wrong answers.

    Parameters
    ----------
    n_pairs : int
        The number m of pairs kept out of step 1.
    prior : float
        P(y = +1); not 1/2.
    error : float
        The error R of the classifier, with either sign.
    flip_rate : float, default=0.0
        The rate e at which answers are wrong, below 1/2.

    Returns
    -------
    float

    Examples
    --------
    >>> round(assignment_error_bound(100, prior=0.7, error=0.1), 4)
    0.006
    """
    prior = check_prior(prior, allow_half=False)
    return math.exp(-n_pairs * _assignment_rate(prior, error, flip_rate))


def pairs_for_assignment(
    prior: float, error: float, failure: float = 0.01, flip_rate: float = 0.0
) -> int:
    """Return how many pairs make a wrong class assignment less likely than `failure`.

    The smallest m for which the bound of Lemma 3 is at most `failure`.

    Parameters
    ----------
    prior : float
        P(y = +1); not 1/2.
    error : float
        The error that the classifier is expected to have; not 1/2.
    failure : float, default=0.01
        The accepted probability of a wrong assignment.
    flip_rate : float, default=0.0
        The rate at which answers are wrong, below 1/2.

    Returns
    -------
    int

    Examples
    --------
    >>> pairs_for_assignment(prior=0.7, error=0.1)
    90
    """
    prior = check_prior(prior, allow_half=False)
    _check_probability("error", error)
    if error == 0.5:
        raise ValueError(
            "a classifier with error 1/2 is equally bad with both signs, so there is "
            "nothing to find out"
        )
    check_share("failure", failure)
    rate = _assignment_rate(prior, error, flip_rate)
    return math.ceil(math.log(1 / failure) / rate)


def _assignment_rate(prior: float, error: float, flip_rate: float) -> float:
    """Return the exponent of Lemma 3 per pair."""
    _check_probability("error", error)
    if not 0 <= flip_rate < 0.5:
        raise ValueError(f"flip_rate must be at least 0 and below 1/2; got {flip_rate}")
    clear = (1 - 2 * flip_rate) * (2 * prior - 1) * (2 * error - 1)
    return clear**2 / 2


def linear_rademacher_bound(
    n_pairs: int, weight_norm: float, point_norm: float
) -> float:
    """Bound the Rademacher complexity of f(x) f(x') for linear f.

    With w of norm at most B and x of norm at most K (append a constant feature for an
    intercept),
    f(x) f(x') = <w w^T, x x'^T> is linear in a matrix of norm at most B^2, hence
    the complexity is at most B^2 K^2 / sqrt(m).

    Parameters
    ----------
    n_pairs : int
        The number m of pairs.
    weight_norm, point_norm : float
        The bounds B and K.

    Returns
    -------
    float

    Examples
    --------
    >>> linear_rademacher_bound(10_000, weight_norm=1.0, point_norm=1.0)
    0.01
    """
    return (weight_norm * point_norm) ** 2 / math.sqrt(n_pairs)


def clustering_excess_bound(
    n_pairs: int,
    *,
    loss: str | MarginLoss = "logistic",
    rademacher: float,
    score_bound: float,
    delta: float = 0.05,
    approximation: float = 0.0,
) -> float:
    r"""Bound the excess clustering error of step 1 (Lemma 2).

    With probability at least 1 - delta over the m pairs it is at most

    .. math::

        \sqrt{\tfrac{1}{2} \psi^{-1}\left(a + 4 \rho \mathfrak{R}_m
        + \sqrt{2 C_\ell^2 \log(2/\delta) / m}\right)}

    where rho is the Lipschitz constant of the loss and C_l its largest value on
    products of scores, both on [-C_b^2, C_b^2].

    Parameters
    ----------
    n_pairs : int
        The number m of pairs in step 1.
    loss : str or MarginLoss, default="logistic"
        A classification-calibrated loss.
    rademacher : float
        The Rademacher complexity of f(x) f(x'), see
        :func:`linear_rademacher_bound`.
    score_bound : float
        C_b, a bound of the absolute score.
    delta : float, default=0.05
        Probability with which the bound may fail.
    approximation : float, default=0
        The excess surrogate risk a of the best model in the class.

    Returns
    -------
    float
        Never more than 1/2, which holds trivially.

    Examples
    --------
    >>> bound = clustering_excess_bound(
    ...     10**8, loss="hinge", rademacher=1e-4, score_bound=1.0
    ... )
    >>> round(bound, 3)
    0.022
    """
    loss = get_loss(loss)
    check_share("delta", delta)
    product_bound = score_bound**2
    largest = float(np.max(loss.value(np.array([-product_bound, product_bound]))))
    excess = (
        approximation
        + 4 * loss.lipschitz(product_bound) * rademacher
        + math.sqrt(2 * largest**2 * math.log(2 / delta) / n_pairs)
    )
    return min(0.5, math.sqrt(float(loss.psi_inverse(excess)) / 2))


def classification_excess_bound(
    n_pairs: int,
    n_assignment_pairs: int,
    *,
    prior: float,
    error: float,
    delta: float = 0.05,
    loss: str | MarginLoss = "logistic",
    rademacher: float,
    score_bound: float,
    approximation: float = 0.0,
) -> float:
    """Bound the excess error after both steps (Theorem 3).

    The bound of :func:`clustering_excess_bound` with delta - r in place of delta,
    where r is Lemma 3's bound for step 2.

    Parameters
    ----------
    n_pairs, n_assignment_pairs : int
        The number of pairs in step 1 and in step 2.
    prior, error : float
        P(y = +1), and the error of the classifier drawn by step 1.
    delta : float, default=0.05
        Probability with which the bound may fail; must exceed r.
    loss, rademacher, score_bound, approximation
        As for :func:`clustering_excess_bound`.

    Returns
    -------
    float

    Examples
    --------
    >>> bound = classification_excess_bound(
    ...     10**8, 1000, prior=0.7, error=0.1, loss="hinge", rademacher=1e-4,
    ...     score_bound=1.0)
    >>> round(bound, 3)
    0.022
    """
    r = assignment_error_bound(n_assignment_pairs, prior, error)
    if delta <= r:
        enough = pairs_for_assignment(prior, error, delta)
        raise ValueError(
            f"delta = {delta} must exceed the bound {r:.3g} on a wrong assignment; use "
            f"more than {enough} pairs in step 2"
        )
    return clustering_excess_bound(
        n_pairs,
        loss=loss,
        rademacher=rademacher,
        score_bound=score_bound,
        delta=delta - r,
        approximation=approximation,
    )


def naive_assignment_is_right(
    prior: float, missed_positive: ArrayLike, missed_negative: ArrayLike
) -> np.ndarray:
    """Tell where the naive class assignment finds the right sign (Appendix B).

    The naive rule compares the majority of sign f(x) on unlabelled points with the
    majority class. It is right exactly if

    sign(2p - 1) sign(-2 R+ + 2 R- + 2p - 1) sign(1 - 2 R+ - 2 R-) > 0,

    which fails for some classifiers whatever the prior, and no amount of
    unlabelled points mends it.

    Parameters
    ----------
    prior : float
        P(y = +1); not 1/2.
    missed_positive : array-like
        R+ = P(y = +1, sign f = -1), between 0 and p.
    missed_negative : array-like
        R- = P(y = -1, sign f = +1), between 0 and 1 - p.

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> naive_assignment_is_right(0.6, [0.1, 0.3], [0.1, 0.1])
    array([ True, False])
    """
    prior = check_prior(prior, allow_half=False)
    plus = _check_probability("missed_positive", missed_positive)
    minus = _check_probability("missed_negative", missed_negative)
    if np.any(plus > prior) or np.any(minus > 1 - prior):
        raise ValueError(
            "a class cannot be missed more often than it occurs: missed_positive is at "
            "most prior and missed_negative at most 1 - prior"
        )
    # Rounded so that points on the boundary lines fall where sign(0) = -1 puts them.
    mean_sign = np.round(-2 * plus + 2 * minus + 2 * prior - 1, 12) > 0
    better_as_is = np.round(1 - 2 * plus - 2 * minus, 12) > 0
    right: np.ndarray = (mean_sign == better_as_is) == (prior > 0.5)
    return right


def _check_probability(name: str, value: ArrayLike) -> Floats:
    array = np.asarray(value, dtype=float)
    if np.any(~((array >= 0) & (array <= 1))):
        raise ValueError(f"{name} must lie between 0 and 1; got {value!r}")
    return array
