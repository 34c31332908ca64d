"""How many pairs a certificate and a class assignment need."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.trust.certificate import Certificate

__all__ = [
    "SURE",
    "AssignmentPlan",
    "Budget",
    "CertificatePlan",
    "Plan",
    "assignment_chance",
    "certificate_plan",
    "chance_of_width",
    "make_plan",
    "pairs_for_sure",
    "points_for_assignment",
]

# A plan should not fail for bad luck: so often the interval is as narrow as wanted.
SURE = 0.9
# A narrower interval takes more pairs than there are people.
NARROWEST = 1e-4
_ERROR_RULE = "be at least 0 and below 0.5, the error of guessing"
_WIDTH_RULE = f"be at least {NARROWEST:g} and below 0.5, the largest error there is"
# Widths to propose: round ones, since nobody wants an interval of 3.7 %.
WIDTHS = (0.2, 0.1, 0.05, 0.02, 0.01)


@dataclass(frozen=True)
class CertificatePlan:
    """Pairs for an interval of a certain width.

    Attributes
    ----------
    width : float
        The width of the interval of the error, at most.
    typical : int
        Pairs with which it is so narrow if as many disagree as are expected to.
    sure : int
        Pairs with which it is so narrow with probability `SURE`.
    expected : Certificate
        The certificate from `sure` pairs, if as many disagree as expected.
    """

    width: float
    typical: int
    sure: int
    expected: Certificate


@dataclass(frozen=True)
class AssignmentPlan:
    """Pairs, or labelled points, to find out which class is which.

    Attributes
    ----------
    n_pairs : int or None
        So many pairs suffice, whatever mistakes the classifier makes (Lemma 3). None
        at prior 1/2, where pairs cannot tell.
    chance : float or None
        The probability of the right assignment with so many pairs, for a classifier
        that is as often wrong in one class as in the other.
    n_points : int
        So many labelled points suffice instead.
    """

    n_pairs: int | None
    chance: float | None
    n_points: int


@dataclass(frozen=True)
class Budget:
    """What a given number of pairs yields.

    Attributes
    ----------
    expected : Certificate
        The certificate, if as many pairs disagree as expected.
    chance_of_width : float
        The probability that its interval is at most as wide as wanted.
    assignment : float or None
        The probability of the right class assignment; None at prior 1/2.
    """

    expected: Certificate
    chance_of_width: float
    assignment: float | None


@dataclass(frozen=True)
class Plan:
    """What was asked, and the answers."""

    prior: float
    error: float
    width: float
    confidence: float
    flip_rate: float
    certificates: list[CertificatePlan]
    assignment: AssignmentPlan
    budget: Budget | None

    @property
    def wanted(self) -> CertificatePlan:
        """The row of the table for the width that was asked for."""
        return next(row for row in self.certificates if row.width == self.width)


def make_plan(
    prior: float,
    error: float,
    width: float,
    *,
    confidence: float = 0.95,
    flip_rate: float = 0.0,
    n_pairs: int | None = None,
) -> Plan:
    """Return how many pairs a certificate and a class assignment need.

    Parameters
    ----------
    prior : float
        The share of one of the two classes, of either.
    error : float
        The clustering error that the classifier is expected to have, below 1/2.
    width : float
        The wanted width of the interval of the error.
    confidence : float, default=0.95
        Confidence of the interval, and wanted probability of the right assignment.
    flip_rate : float, default=0
        The rate at which answers are wrong.
    n_pairs : int, optional
        A budget to judge.

    Returns
    -------
    Plan

    Examples
    --------
    >>> found = make_plan(prior=0.3, error=0.1, width=0.05)
    >>> found.wanted.typical, found.wanted.sure, found.assignment.n_pairs
    (380, 448, 59)
    """
    _check(prior, error, width, confidence, flip_rate, n_pairs)
    widths = sorted({width, *_others(width)}, reverse=True)
    rows = [certificate_plan(error, w, confidence, flip_rate) for w in widths]
    budget = None
    if n_pairs is not None:
        budget = Budget(
            _expected(n_pairs, error, confidence, flip_rate),
            chance_of_width(n_pairs, error, width, confidence, flip_rate),
            None
            if prior == 0.5
            else assignment_chance(n_pairs, prior, error, flip_rate),
        )
    return Plan(
        prior,
        error,
        width,
        confidence,
        flip_rate,
        rows,
        _assignment_plan(prior, error, 1 - confidence, flip_rate),
        budget,
    )


def certificate_plan(
    error: float, width: float, confidence: float = 0.95, flip_rate: float = 0.0
) -> CertificatePlan:
    """Return how many pairs an interval of this width needs."""
    from pairlearn.trust.certificate import pairs_for_certificate

    options = {"confidence": confidence, "flip_rate": flip_rate}
    typical = pairs_for_certificate(error, width, **options)
    sure = pairs_for_sure(error, width, confidence, flip_rate, at_least=typical)
    return CertificatePlan(
        width, typical, sure, _expected(sure, error, confidence, flip_rate)
    )


def chance_of_width(
    n_pairs: int,
    error: float,
    width: float,
    confidence: float = 0.95,
    flip_rate: float = 0.0,
) -> float:
    """Return the probability that a certificate's interval is at most `width` wide.

    Exact: the number of disagreements is binomial, and the width depends on nothing
    else. It grows with that number until the interval reaches 1/2, which no error
    exceeds, and shrinks from there on.

    Examples
    --------
    >>> round(chance_of_width(380, error=0.1, width=0.05), 2)
    0.51
    """
    from pairlearn.trust.certificate import certificate_from_counts

    def interval(n_wrong: int) -> tuple[float, float]:
        found = certificate_from_counts(n_wrong, n_pairs, confidence, flip_rate)
        return found.clustering_interval

    def is_wide(n_wrong: int) -> bool:
        low, high = interval(n_wrong)
        return high - low > width

    rate = _disagreement(error, flip_rate)
    reaches_half = _first(lambda k: interval(k)[1] >= 0.5, 0, n_pairs)
    too_wide = _first(is_wide, 0, reaches_half)
    narrow_again = reaches_half
    if reaches_half <= n_pairs and is_wide(reaches_half):
        narrow_again = _first(lambda k: not is_wide(k), reaches_half, n_pairs)
    elif too_wide == reaches_half:
        return 1.0
    below = _at_most(too_wide - 1, n_pairs, rate)
    above = 1 - _at_most(narrow_again - 1, n_pairs, rate)
    return float(min(1.0, below + above))


def pairs_for_sure(
    error: float,
    width: float,
    confidence: float = 0.95,
    flip_rate: float = 0.0,
    *,
    at_least: int = 1,
) -> int:
    """Return how many pairs make the interval narrow with probability `SURE`.

    The probability has small steps, as counts are whole numbers: a few pairs more or
    fewer may fall just short of it.

    Examples
    --------
    >>> pairs_for_sure(error=0.1, width=0.05)
    448
    """

    def is_enough(n_pairs: int) -> bool:
        return chance_of_width(n_pairs, error, width, confidence, flip_rate) >= SURE

    enough = at_least
    while not is_enough(enough):
        enough *= 2
    return _first(is_enough, max(at_least, enough // 2), enough)


def assignment_chance(
    n_pairs: int, prior: float, error: float, flip_rate: float = 0.0
) -> float:
    """Return the probability that pairs find out which class is which.

    Exact for a classifier that is wrong equally often in both classes: with a the
    share of points that it puts into the majority, a pair votes for the right side
    with probability a^2, for the wrong one with (1 - a)^2, and else abstains (wrong
    answers exchange the first two). A tie counts as wrong.

    Examples
    --------
    >>> round(assignment_chance(59, prior=0.3, error=0.1), 4)
    0.9998
    """
    import numpy as np
    from scipy.stats import binom

    larger = max(prior, 1 - prior)
    share = larger * (1 - error) + (1 - larger) * error
    right = (1 - flip_rate) * share**2 + flip_rate * (1 - share) ** 2
    votes = share**2 + (1 - share) ** 2
    # Numbers of votes outside these have no weight worth adding. Of very many, some
    # stand for their neighbours.
    low, high = binom.ppf([1e-15, 1 - 1e-15], n_pairs, votes).astype(int)
    n_votes = np.arange(max(low, 0), high + 1, 1 + (high - low) // 100_000)
    weight = binom.pmf(n_votes, n_pairs, votes)
    lost = _at_most(n_votes // 2, n_votes, right / votes)
    return float(1 - (weight @ lost) / weight.sum())


def points_for_assignment(error: float, failure: float) -> int:
    """Return how many labelled points settle which class is which.

    The smallest number n for which exp(-2 n (1/2 - R)^2) is at most `failure`.

    Examples
    --------
    >>> points_for_assignment(error=0.1, failure=0.05)
    10
    """
    return math.ceil(math.log(1 / failure) / (2 * (0.5 - error) ** 2))


def _others(width: float) -> list[float]:
    """Return the four widths of the table that are nearest to the wanted one."""
    far = {w: abs(math.log(w / width)) for w in WIDTHS}
    return [w for w in sorted(WIDTHS, key=far.__getitem__) if far[w] > 1e-9][:4]


def _assignment_plan(
    prior: float, error: float, failure: float, flip_rate: float
) -> AssignmentPlan:
    from pairlearn.trust.theory import pairs_for_assignment

    n_points = points_for_assignment(error, failure)
    if prior == 0.5:
        return AssignmentPlan(None, None, n_points)
    # Wrong answers bring Q nearer to 1/2, as a prior nearer to 1/2 would.
    nearer = 0.5 + (prior - 0.5) * (1 - 2 * flip_rate)
    n_pairs = pairs_for_assignment(nearer, error, failure)
    chance = assignment_chance(n_pairs, prior, error, flip_rate)
    return AssignmentPlan(n_pairs, chance, n_points)


def _disagreement(error: float, flip_rate: float) -> float:
    """Return how often a classifier of this error disagrees with the answer."""
    from pairlearn.trust.theory import pair_error_from_error

    return flip_rate + (1 - 2 * flip_rate) * float(pair_error_from_error(error))


def _expected(
    n_pairs: int, error: float, confidence: float, flip_rate: float
) -> Certificate:
    from pairlearn.trust.certificate import certificate_from_counts

    n_wrong = round(_disagreement(error, flip_rate) * n_pairs)
    return certificate_from_counts(n_wrong, n_pairs, confidence, flip_rate)


def _at_most(k: Any, n: Any, p: float) -> Any:
    """Return P(K <= k) for a binomial K of n trials, of which there may be very many.

    The functions of scipy for this count the trials in 32 bits.
    """
    import numpy as np
    from scipy.special import betainc

    k, n = np.asarray(k, dtype=float), np.asarray(n, dtype=float)
    inside = (k >= 0) & (k < n)
    # Any numbers do where the outcome is certain.
    tail = betainc(np.where(inside, n - k, 1), np.where(inside, k + 1, 1), 1 - p)
    return np.where(inside, tail, np.where(k < 0, 0.0, 1.0))


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first number in [low, high] for which `holds`, or high + 1.

    Once it holds, it must go on holding.
    """
    high += 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _check(
    prior: float,
    error: float,
    width: float,
    confidence: float,
    flip_rate: float,
    n_pairs: int | None,
) -> None:
    """Refuse wrong values in the words of the command line."""
    rules = {
        "prior": (prior, 0 < prior < 1, "lie strictly between 0 and 1"),
        "error": (error, 0 <= error < 0.5, _ERROR_RULE),
        "width": (width, NARROWEST <= width < 0.5, _WIDTH_RULE),
        "confidence": (confidence, 0 < confidence < 1, "lie strictly between 0 and 1"),
        "flip-rate": (flip_rate, 0 <= flip_rate < 0.5, "be at least 0 and below 0.5"),
    }
    for name, (value, fine, rule) in rules.items():
        if not fine:
            percent = f". For {value:g}% write {value / 100:g}" if value > 1 else ""
            raise ValueError(f"--{name} must {rule}; got {value:g}{percent}")
    if n_pairs is not None and n_pairs < 1:
        raise ValueError(f"--pairs must be 1 or more; got {n_pairs}")
