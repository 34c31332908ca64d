r"""Certificates: the error of a classifier, from pairs, without a class label.

By Theorem 1 the pair error is the classification error in disguise. Disagreements
between a fixed classifier and the answers of fresh random pairs are coin flips with
probability R_pair, so an exact binomial interval for R_pair, carried through the
theorem (which is monotone), is an interval for the clustering error with the same
confidence.

A certificate is valid if the pairs

* were drawn at random: the two points of a pair are independent draws from the
  population that the classifier will be used on;
* were not used to train, choose or orient the classifier;
* share no point with each other.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv

from pairlearn.data.checks import check_answers, check_share
from pairlearn.trust.theory import (
    clustering_error_from_pair_error,
    pair_error_from_error,
    prior_from_same_rate,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats

__all__ = [
    "Certificate",
    "PriorEstimate",
    "certificate_from_answers",
    "certificate_from_counts",
    "clopper_pearson",
    "pairs_for_certificate",
    "prior_from_answers",
]

Interval = tuple[float, float]
Rates = tuple[float, float]
# (r1, r0) = (P(answer same | same), P(answer same | different)) of right answers.
RIGHT: Rates = (1.0, 0.0)


@dataclass(frozen=True)
class Certificate:
    """The error of a classifier, estimated from pairs.

    Attributes
    ----------
    pair_error : float
        How often the classifier disagrees with the (noise-free) answer.
    pair_interval : tuple of float
        Its Clopper-Pearson interval.
    clustering_error : float
        The error up to swapping the two classes, by Theorem 1. It is the error
        itself if the class assignment is right.
    clustering_interval : tuple of float
        Its interval, at the same confidence.
    n_pairs : int
        How many pairs were counted.
    confidence : float
        The probability, at least, with which such an interval contains the truth.
    flip_rate : float
        The assumed rate of wrong answers.
    cross_validated : bool
        Whether each pair was judged by a model trained without it, rather than all by
        the model itself. Such a certificate is an estimate: those models had fewer
        pairs, and their judgements depend on each other.
    """

    pair_error: float
    pair_interval: Interval
    clustering_error: float
    clustering_interval: Interval
    n_pairs: int
    confidence: float
    flip_rate: float = 0.0
    cross_validated: bool = False

    def __str__(self) -> str:
        low, high = self.clustering_interval
        noise = f", {self.flip_rate:.1%} wrong answers" if self.flip_rate else ""
        noise += ", cross-validated: an estimate" * bool(self.cross_validated)
        return (
            f"error {self.clustering_error:.1%}, between {low:.1%} and {high:.1%}, "
            f"up to swapping the classes ({100 * self.confidence:g}% confidence, "
            f"{self.n_pairs} pairs{noise})"
        )

    def __repr__(self) -> str:
        return f"<Certificate: {self}>"

    def _repr_html_(self) -> str:
        """Return a table with a bar for each interval, for notebooks."""
        rows = [
            ("clustering error", self.clustering_error, self.clustering_interval),
            ("pair error", self.pair_error, self.pair_interval),
        ]
        left = 'style="text-align:left"'
        body = "".join(
            f"<tr><th {left}>{name}</th><td {left}><b>{value:.1%}</b></td>"
            f"<td {left}>{low:.1%} – {high:.1%}</td><td>{_bar(value, low, high)}</td>"
            "</tr>"
            for name, value, (low, high) in rows
        )
        noise = f", assuming {self.flip_rate:.1%} wrong answers" * bool(self.flip_rate)
        noise += ", cross-validated: an estimate" * bool(self.cross_validated)
        caption = html.escape(
            f"Certificate: {100 * self.confidence:g}% confidence from {self.n_pairs} "
            f"pairs{noise}; no class labels used"
        )
        return (
            f"<table><caption {left}>{caption}</caption><thead><tr><th></th>"
            f"<th {left}>estimate</th><th {left}>interval</th><th {left}>0 – 50 %</th>"
            f"</tr></thead><tbody>{body}</tbody></table>"
        )


def certificate_from_counts(
    n_wrong: int,
    n_pairs: int,
    confidence: float = 0.95,
    flip_rate: float = 0.0,
    *,
    cross_validated: bool = False,
) -> Certificate:
    """Return the certificate of so many disagreements in so many pairs.

    Parameters
    ----------
    n_wrong, n_pairs : int
        How many answers disagree with the classifier, and out of how many.
    confidence : float
        Confidence of the intervals.
    flip_rate : float
        The rate at which answers are wrong, whatever the truth.
    cross_validated : bool
        Whether each pair was judged by a model trained without it.

    Returns
    -------
    Certificate
    """
    pair = _pair_error(n_wrong, 0, n_pairs, (1 - flip_rate, flip_rate), confidence)
    return _certificate(pair, n_pairs, confidence, flip_rate, cross_validated)


def certificate_from_answers(
    says: Floats,
    t: Floats,
    rates: Rates = RIGHT,
    *,
    confidence: float = 0.95,
    guessed: bool = False,
    cross_validated: bool = False,
) -> Certificate:
    r"""Return the certificate of what a classifier says of pairs, and the answers.

    An answer disagrees with the classifier at the rate 1 - r1 if this says "same", and
    at the rate r0 if it says "different"; more often by r1 - r0 if it is wrong. With
    D = P(answer disagrees) and S = P(classifier says same), therefore,

    .. math:: R_{pair} = \frac{D - r_0 - (1 - r_1 - r_0) S}{r_1 - r_0} .

    The interval joins exact intervals for D and S, each with half of the risk. For
    rates that are alike, 1 - r1 = r0, S has no part in it, and D gets all of the risk.

    Parameters
    ----------
    says : ndarray of shape (n_pairs,)
        What the classifier says, -1 or +1.
    t : ndarray of shape (n_pairs,)
        Answers, -1 or +1.
    rates : tuple of float, default=(1.0, 0.0)
        (r1, r0): P(answer same | same) and P(answer same | different).
    confidence : float, default=0.95
        Confidence of the intervals.
    guessed : bool, default=False
        Whether the rates are a guess. Every disagreement may then be a wrong answer, so
        that the lower end is 0, and the upper end is the higher one of these rates and
        of answers that are all right.
    cross_validated : bool, default=False
        Whether each pair was judged by a model trained without it.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.choice([-1, 1], 4000)
    >>> says = np.where(rng.random(4000) < 0.1, -truth, truth)
    >>> t = np.where(rng.random(4000) < 0.4, -1, truth)  # "same" is often missed
    >>> certificate = certificate_from_answers(says, t, (0.6, 0.0))
    >>> round(certificate.pair_error, 1)
    0.1
    """
    r1, r0 = rates
    n_wrong, n_same, n_pairs = int(np.sum(says != t)), int(np.sum(says > 0)), len(t)
    pair = _pair_error(n_wrong, n_same, n_pairs, rates, confidence)
    if guessed and rates != RIGHT:
        plain = _pair_error(n_wrong, n_same, n_pairs, RIGHT, confidence)
        pair[1:] = 0.0, max(pair[2], plain[2])
    truly_same = float(np.clip((np.mean(t > 0) - r0) / (r1 - r0), 0.0, 1.0))
    flip_rate = truly_same * (1 - r1) + (1 - truly_same) * r0
    return _certificate(pair, n_pairs, confidence, flip_rate, cross_validated)


def _pair_error(
    n_wrong: int, n_same: int, n_pairs: int, rates: Rates, confidence: float
) -> Floats:
    """Return the pair error and the ends of its interval."""
    check_share("confidence", confidence)
    r1, r0 = rates
    alike = np.isclose(1 - r1, r0)
    level = confidence if alike else (1 + confidence) / 2

    def share(n_hits: int) -> Floats:
        return np.array([n_hits / n_pairs, *clopper_pearson(n_hits, n_pairs, level)])

    wrong_answers: Floats = np.full(3, r0)
    if not alike:
        more = 1 - r1 - r0
        # The more answers are wrong, the fewer errors are left.
        wrong_answers = r0 + more * share(n_same)[[0, 2, 1] if more > 0 else [0, 1, 2]]
    pair: Floats = (share(n_wrong) - wrong_answers) / (r1 - r0)
    return np.clip(pair, 0.0, 1.0)


def _certificate(
    pair: Floats, n_pairs: int, confidence: float, flip_rate: float, crossed: bool
) -> Certificate:
    """Return the certificate of a pair error and the ends of its interval."""
    pair_error, pair_low, pair_high = pair.tolist()
    error, low, high = clustering_error_from_pair_error(pair).tolist()
    return Certificate(
        pair_error=pair_error, pair_interval=(pair_low, pair_high),
        clustering_error=error, clustering_interval=(low, high),
        n_pairs=n_pairs, confidence=confidence,
        flip_rate=float(flip_rate), cross_validated=crossed,
    )  # fmt: skip


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
    if not 0 <= n_hits <= n_trials or n_trials < 1:
        raise ValueError(f"there cannot be {n_hits} hits in {n_trials} trials")
    check_share("confidence", confidence)
    tail = (1 - confidence) / 2
    low: float = betaincinv(n_hits, n_trials - n_hits + 1, tail) if n_hits else 0.0
    high = 1.0
    if n_hits < n_trials:
        high = betaincinv(n_hits + 1, n_trials - n_hits, 1 - tail)
    return float(low), float(high)


def pairs_for_certificate(
    error: float, width: float, *, confidence: float = 0.95, flip_rate: float = 0.0
) -> int:
    """Return how many pairs make the interval of a certificate at most `width` wide.

    Parameters
    ----------
    error : float
        The clustering error that the classifier is expected to have, below 1/2.
    width : float
        The wanted width of the interval for the clustering error.
    confidence, flip_rate : float
        As for :func:`certificate_from_counts`.

    Returns
    -------
    int

    Examples
    --------
    >>> pairs_for_certificate(error=0.1, width=0.05)
    380
    """
    if not 0 <= error < 0.5:
        raise ValueError(f"error must be at least 0 and below 1/2; got {error}")
    if not 0 < width < 0.5:
        raise ValueError(f"width must lie strictly between 0 and 1/2; got {width}")
    if not 0 <= flip_rate < 0.5:
        raise ValueError(f"flip_rate must be at least 0 and below 1/2; got {flip_rate}")
    rate = flip_rate + (1 - 2 * flip_rate) * float(pair_error_from_error(error))

    def is_narrow(n_pairs: int) -> bool:
        n_wrong = round(rate * n_pairs)
        found = certificate_from_counts(n_wrong, n_pairs, confidence, flip_rate)
        low, high = found.clustering_interval
        return high - low <= width

    enough = 1
    while not is_narrow(enough):
        enough *= 2
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        enough, too_few = (middle, too_few) if is_narrow(middle) else (enough, middle)
    return enough


@dataclass(frozen=True)
class PriorEstimate:
    """The prior of the majority class, estimated from answers.

    Attributes
    ----------
    majority_prior : float
        The estimate, at least 1/2.
    interval : tuple of float
        Its confidence interval.
    n_pairs : int
        How many answers it rests on.
    confidence : float
        Confidence of the interval.
    """

    majority_prior: float
    interval: Interval
    n_pairs: int
    confidence: float


def prior_from_answers(t: ArrayLike, *, confidence: float = 0.95) -> PriorEstimate:
    """Estimate the prior of the majority class from answers to random pairs.

    P(t = +1) = p^2 + (1 - p)^2, so max(p, 1 - p) = (1 + sqrt(2 P(t = +1) - 1)) / 2:
    this gives the prior up to a swap of the classes. Near prior 1/2 the square root
    makes the interval wide.

    Parameters
    ----------
    t : array-like of shape (n_pairs,)
        Answers to random pairs that share no point. Soft answers count by their
        expectation, and the interval is then wider than it need be.
    confidence : float, default=0.95
        Confidence of the interval.

    Returns
    -------
    PriorEstimate

    Examples
    --------
    >>> prior_from_answers([1] * 58 + [-1] * 42).majority_prior
    0.7
    """
    answers = check_answers(t, np.size(t))
    if not len(answers):
        raise ValueError("at least one answer is needed")
    n_same = float(np.sum((1 + answers) / 2))
    low, _ = clopper_pearson(math.floor(n_same), len(answers), confidence)
    _, high = clopper_pearson(math.ceil(n_same), len(answers), confidence)
    rates = np.array([n_same / len(answers), low, high])
    prior, low, high = np.round(prior_from_same_rate(rates), 12).tolist()
    return PriorEstimate(prior, (low, high), len(answers), confidence)


def _bar(value: float, low: float, high: float) -> str:
    """Draw an interval on a scale from 0 to 1/2, as inline SVG."""
    x, left, right = (400 * min(v, 0.5) for v in (value, low, high))
    return (
        '<svg width="200" height="14" viewBox="0 0 200 14" role="img">'
        '<rect x="0" y="6" width="200" height="2" fill="#bbb"/>'
        f'<rect x="{left:.1f}" y="3" width="{max(right - left, 1):.1f}" height="8" '
        'rx="4" fill="#4c78a8" fill-opacity="0.5"/>'
        f'<circle cx="{x:.1f}" cy="7" r="4" fill="#1f3b5c"/></svg>'
    )
