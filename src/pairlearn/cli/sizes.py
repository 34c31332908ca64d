"""How many pairs a certificate and a class assignment need."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pairlearn.trust.certificate import Certificate

__all__ = [
    "SURE",
    "AssignmentPlan",
    "Budget",
    "CertificatePlan",
    "Plan",
    "assignment_chance",
    "certificate_plan",
    "make_plan",
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
    typical : int or None
        Pairs to test with, for which it is so narrow with probability 1/2; None if no
        number of pairs is enough.
    sure : int or None
        Those for which it is so narrow with probability `SURE`.
    rows : int or None
        How many rows pairs.csv needs for `sure`, if a share of them is kept aside; None
        if there are too few points for that.
    expected : Certificate or None
        The certificate from `sure` pairs, if as many disagree as expected.
    """

    width: float
    typical: int | None
    sure: int | None
    rows: int | None
    expected: Certificate | None


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
    """What a given number of rows of pairs.csv yields.

    Attributes
    ----------
    n_rows : int
        The rows.
    expected : Certificate or None
        The certificate from the pairs kept aside, if as many disagree as expected; None
        if these are too few.
    chance_of_width : float
        The probability that its interval is at most as wide as wanted.
    assignment : float or None
        The probability of the right class assignment; None at prior 1/2.
    """

    n_rows: int
    expected: Certificate | None
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
    holdout: float
    n_points: int | None
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
    holdout: float = 0.2,
    n_points: int | None = None,
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
        The rate at which answers are wrong. The interval is that of `pairlearn fit`:
        hard pairs may have more wrong answers than others.
    n_pairs : int, optional
        A number of rows of pairs.csv to judge.
    holdout : float, default=0.2
        The share of the rows that `pairlearn fit` keeps aside.
    n_points : int, optional
        How many points the pairs are drawn from. With few, pairs share points, and
        fewer can be counted. None: they share none.

    Returns
    -------
    Plan

    Examples
    --------
    >>> found = make_plan(prior=0.3, error=0.1, width=0.05)
    >>> found.wanted.typical, found.wanted.sure, found.wanted.rows
    (380, 448, 2240)
    >>> found.assignment.n_pairs
    59
    """
    from pairlearn.trust.planning import chance_of_width

    _check(prior, error, width, confidence, flip_rate, n_pairs)
    if not 0 < holdout <= 0.5:
        raise ValueError(f"--holdout must lie between 0 and 0.5; got {holdout:g}")
    if n_points is not None and n_points < 4:
        raise ValueError(f"--points must be 4 or more; got {n_points}")
    widths = sorted({width, *_others(width)}, reverse=True)
    shared = {"confidence": confidence, "flip_rate": flip_rate}
    rows = [certificate_plan(error, w, holdout, n_points, **shared) for w in widths]
    budget = None
    if n_pairs is not None:
        n_kept = n_kept_aside(n_pairs, holdout, n_points)
        chance = 0.0
        if n_kept:
            cautious = flip_rate > 0
            chance = chance_of_width(n_kept, error, width, cautious=cautious, **shared)
        budget = Budget(
            n_pairs,
            _expected(n_kept, error, **shared) if n_kept else None,
            chance,
            None
            if prior == 0.5
            else assignment_chance(n_pairs - n_kept, prior, error, flip_rate),
        )
    return Plan(
        prior,
        error,
        width,
        confidence,
        flip_rate,
        holdout,
        n_points,
        rows,
        _assignment_plan(prior, error, 1 - confidence, flip_rate),
        budget,
    )


def certificate_plan(
    error: float,
    width: float,
    holdout: float = 0.2,
    n_points: int | None = None,
    *,
    confidence: float = 0.95,
    flip_rate: float = 0.0,
) -> CertificatePlan:
    """Return how many pairs an interval of this width needs."""
    from pairlearn.trust.planning import pairs_for_certificate

    try:
        typical, sure = (
            pairs_for_certificate(
                error,
                width,
                probability=probability,
                confidence=confidence,
                flip_rate=flip_rate,
                cautious=flip_rate > 0,
            )
            for probability in (0.5, SURE)
        )
    except ValueError:
        return CertificatePlan(width, None, None, None, None)
    rows = rows_for(sure, holdout, n_points)
    return CertificatePlan(
        width, typical, sure, rows, _expected(sure, error, confidence, flip_rate)
    )


def n_kept_aside(n_rows: int, holdout: float, n_points: int | None = None) -> int:
    """Return how many pairs `pairlearn fit` keeps aside of so many random ones.

    By trying: with few points, pairs share them, and those that share one with a kept
    pair can be used for nothing.

    Examples
    --------
    >>> n_kept_aside(250, 0.2), n_kept_aside(250, 0.2, n_points=200)
    (50, 30)
    """
    import numpy as np

    from pairlearn.data.pairs import Pairs
    from pairlearn.trust.kept_pairs import LEAST_KEPT, keep_aside

    if n_points is None:
        n_kept = round(holdout * n_rows)
        return n_kept if n_kept >= LEAST_KEPT else 0
    rng = np.random.RandomState(0)
    left = rng.randint(n_points, size=n_rows)
    right = (left + rng.randint(1, n_points, size=n_rows)) % n_points
    pairs = Pairs(np.zeros((n_points, 1)), np.stack([left, right], axis=1))
    t = np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    return len(keep_aside(pairs, t, holdout, rng)[1])


def rows_for(n_kept: int, holdout: float, n_points: int | None = None) -> int | None:
    """Return how many rows keep so many pairs aside; None if no number does.

    Examples
    --------
    >>> rows_for(50, 0.2), rows_for(50, 0.2, n_points=60)
    (250, None)
    """
    from pairlearn.trust.kept_pairs import LEAST_KEPT

    rows = math.ceil(max(n_kept, LEAST_KEPT) / holdout)
    if n_points is None:
        return rows
    # Ever more rows about the same points leave ever fewer pairs that share none.
    while 2 * n_kept <= n_points and rows <= 50 * n_points:
        n_found = n_kept_aside(rows, holdout, n_points)
        if n_found >= n_kept:
            return rows
        rows = math.ceil(rows * max(1.05, min(2.0, n_kept / max(n_found, 1))))
    return None


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
    from pairlearn.trust.planning import at_most

    lost = at_most(n_votes // 2, n_votes, right / votes)
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
    n_pairs = pairs_for_assignment(prior, error, failure, flip_rate)
    chance = assignment_chance(n_pairs, prior, error, flip_rate)
    return AssignmentPlan(n_pairs, chance, n_points)


def _disagreement(error: float, flip_rate: float) -> float:
    """Return how often a classifier of this error disagrees with the answer."""
    from pairlearn.trust.theory import pair_error_from_error

    return flip_rate + (1 - 2 * flip_rate) * float(pair_error_from_error(error))


def _expected(
    n_pairs: int, error: float, confidence: float = 0.95, flip_rate: float = 0.0
) -> Certificate:
    from pairlearn.trust.certificate import certificate_from_counts

    n_wrong = round(_disagreement(error, flip_rate) * n_pairs)
    return certificate_from_counts(
        n_wrong, n_pairs, confidence, flip_rate, cautious=flip_rate > 0
    )


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
