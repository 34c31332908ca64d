r"""What is taken for known about wrong answers, and what that makes of disagreements.

With E = "the classifier is wrong about a pair", W = "the answer is wrong", and
D = P(answer and classifier disagree) = P(E xor W),

.. math:: P(E) = D - P(W) + 2 P(E \cap W) .

All depends on the last term, and there are four things that one may know of it:

* *none*: no answer is wrong. P(E) = D.
* *known*: answers are wrong at the rates 1 - r1, with r1 = P(says same | same), and
  r0 = P(says same | different), whatever the classifier thinks of the pair. An answer
  then disagrees at the rate 1 - r1 with a right "same" of the classifier, at the rate
  r0 with a right "different", and more often by r1 - r0 if the classifier is wrong.
  With S = P(classifier says same),

  .. math:: P(E) = \frac{D - r_0 - (1 - r_1 - r_0) S}{r_1 - r_0} .

* *any*: a share e of the answers is wrong, but hard pairs, on which the classifier errs
  too, may have more of them than others. As 0 <= P(E and W) <= e, all that holds is

  .. math:: D - e \le P(E) \le D + e .

  (Also P(E) >= e - D; but a rate that is too high would make that end wrong, and it is
  not used.) For
  given r1 and r0 it is e = P(same) (1 - r1) + P(different) r0, with P(same) from
  P(says same) = r0 + (r1 - r0) P(same).

  Where the majority of several answers about a pair counts, and the rates are those of
  single answers, it is wrong for fewer pairs as a rule. But for a pair that more than
  half of all answers get wrong the majority is wrong more often than each of them: with
  M(a) = P(majority wrong) where a single answer is wrong with probability a, all that
  holds is M(a) <= c a with c = max M(a) / a, which is 9/8 for three answers, and below
  2 for any number. So e is replaced by c e, and P(same), which such answers do not tell
  in this way, by the worst value from 1/2 to 1.
* *unknown*: answers are wrong at rates below 1/2 that nobody knows, whatever the
  classifier thinks of the pair. The formula for known rates is
  D = P(E) + (1 - r1) (S - P(E)) + r0 (1 - S - P(E)). For random pairs of two kinds
  S >= 1/2 >= P(E), so that D < P(E) only if P(E) > 1 - S; and then, with r0 <= 1/2,
  P(E) <= 2 D - (1 - S). In both cases

  .. math:: 0 \le P(E) \le \max(D,\, 2 D + S - 1) .

Rates may be ranges. The ends are reached at corners of the ranges, since P(E) is
monotone in each rate when the other is fixed. Where the ends rest on the intervals of
two shares, each gets half of the risk.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pairlearn.data.checks import check_flip_rates

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.data.types import Floats

    Interval = tuple[float, float]
    Ends = Callable[[int, int, float], Interval]

__all__ = ["RIGHT", "Counts", "FlipRateEstimate", "Noise", "Rates"]
__all__ += ["as_noise", "rates_of"]

Rates = tuple[float, float]
# (r1, r0) = (P(says same | same), P(says same | different)) of right answers.
RIGHT: Rates = (1.0, 0.0)


@dataclass(frozen=True)
class FlipRateEstimate:
    """How often answers are wrong, the same for both kinds of pairs.

    Attributes
    ----------
    rate : float
        The estimate.
    interval : tuple of float
        Its interval.
    n_compared : int
        How many comparisons of answers it rests on; 0 if somebody just knows it.
    confidence : float
        Confidence of the interval; 1 if it is taken for certain.
    most : float or None
        The largest mean rate, with the same confidence, if hard pairs may have more
        wrong answers than others; None: the end of the interval.

    Examples
    --------
    >>> FlipRateEstimate(0.1, (0.05, 0.15)).interval
    (0.05, 0.15)
    """

    rate: float
    interval: Interval
    n_compared: int = 0
    confidence: float = 1.0
    most: float | None = None

    def __post_init__(self) -> None:
        low, high = self.interval
        if not 0 <= low <= self.rate <= high <= 0.5:
            raise ValueError(
                "a flip rate must lie in its interval, and that between 0 and 1/2; got "
                f"rate {self.rate} and interval ({low}, {high})"
            )


class Counts(NamedTuple):
    """What a classifier and answers say about pairs, in numbers."""

    n_pairs: int
    # Answers that are sure, and disagree with the classifier.
    n_wrong: int
    # Pairs that the classifier calls the same, and those that answers do.
    n_says_same: int
    n_told_same: int
    n_unsure: int = 0

    @classmethod
    def of(cls, says: Floats, t: Floats) -> Counts:
        """Count; answers of 0 are unsure."""
        sure = t != 0
        wrong, told = np.sum((says != t)[sure]), np.sum(t > 0)
        n_says, n_unsure = np.sum(says > 0), np.sum(~sure)
        return cls(len(t), *map(int, (wrong, n_says, told, n_unsure)))


class _Shares(NamedTuple):
    """Intervals for the shares of pairs, each with a part of the risk."""

    counts: Counts
    risk: float
    ends: Ends

    def disagree(self, part: float) -> Interval:
        """Return one for P(answer and classifier disagree)."""
        n_wrong, n_unsure = self.counts.n_wrong, self.counts.n_unsure
        return self._between(n_wrong, n_wrong + n_unsure, part)

    def says_same(self, part: float) -> Interval:
        """Return one for P(classifier says same)."""
        n_same = self.counts.n_says_same
        return self._between(n_same, n_same, part)

    def told_same(self, part: float) -> Interval:
        """Return one for P(answer says same)."""
        n_same, n_unsure = self.counts.n_told_same, self.counts.n_unsure
        return self._between(n_same, n_same + n_unsure, part)

    def _between(self, n_least: int, n_most: int, part: float) -> Interval:
        n, level = self.counts.n_pairs, 1 - part * self.risk
        return self.ends(n_least, n, level)[0], self.ends(n_most, n, level)[1]


@dataclass(frozen=True)
class Noise:
    """What is taken for known about wrong answers.

    Attributes
    ----------
    kind : {"none", "known", "any", "unknown"}
        As in the head of this file.
    rates : tuple of float
        (r1, r0) for the estimate.
    corners : tuple
        The extreme values of (r1, r0).
    confidence : float
        The confidence that the rates lie between them.
    majorities : float or None
        Where the majority of several answers about a pair counts, and the corners are
        rates of single answers: how many times as often as one of them the majority may
        be wrong, at most. None: the corners are rates of the answers that count.
    """

    kind: str = "none"
    rates: Rates = RIGHT
    corners: tuple[Rates, ...] = (RIGHT,)
    confidence: float = 1.0
    majorities: float | None = None

    def pair_error(self, counts: Counts, confidence: float, ends: Ends) -> Floats:
        """Return the pair error and the ends of its interval.

        Parameters
        ----------
        counts : Counts
            Unsure answers count as wrong for the upper end and as right for the lower
            one; half of them for the estimate.
        confidence : float
            Confidence of the interval.
        ends : callable
            From hits, trials and confidence to an interval for a probability.

        Returns
        -------
        ndarray of shape (3,)
        """
        risk = self.confidence - confidence
        if risk <= 0:
            raise ValueError(
                f"flip rates that are known with {100 * self.confidence:g}% confidence "
                f"are not enough for a certificate of {100 * confidence:g}%; estimate "
                "them with more confidence"
            )
        shares = _Shares(counts, risk, ends)
        low, high = {
            "none": self._no_noise,
            "known": self._known_noise,
            "any": self._any_noise,
            "unknown": self._unknown_noise,
        }[self.kind](shares)
        disagree = (counts.n_wrong + counts.n_unsure / 2) / counts.n_pairs
        says_same = counts.n_says_same / counts.n_pairs
        estimate = _error(disagree, says_same, self.rates)
        # A guess at the rates may leave the estimate outside of what is certain.
        low, high = np.clip((low, high), 0.0, 1.0)
        return np.array([np.clip(estimate, low, high), low, high])

    def _no_noise(self, shares: _Shares) -> Interval:
        return shares.disagree(1.0)

    def _known_noise(self, shares: _Shares) -> Interval:
        part = 1.0 if self._alike else 0.5
        corners = product(shares.disagree(part), shares.says_same(part), self.corners)
        found = [_error(*corner) for corner in corners]
        return min(found), max(found)

    def _any_noise(self, shares: _Shares) -> Interval:
        part = 1.0 if self._alike or self.majorities is not None else 0.5
        least, most = shares.disagree(part)
        if self.majorities is not None:
            each = max(max(1 - r1, (1 - r1 + r0) / 2) for r1, r0 in self.corners)
            return least - self.majorities * each, most + self.majorities * each
        told_same = shares.told_same(part)
        wrong = max(_wrong(*corner) for corner in product(told_same, self.corners))
        return least - wrong, most + wrong

    def _unknown_noise(self, shares: _Shares) -> Interval:
        # Of both intervals only the upper end is used: each may miss on its own.
        most, same = shares.disagree(1.0)[1], shares.says_same(1.0)[1]
        return 0.0, max(most, 2 * most + same - 1)

    def wrong_answers(self, counts: Counts) -> float:
        """Return the share of wrong answers among these, as estimated."""
        n_sure = max(1, counts.n_pairs - counts.n_unsure)
        return _wrong(counts.n_told_same / n_sure, self.rates)

    @property
    def bolder(self) -> Noise | None:
        """The assumption next to this one that makes the interval narrower."""
        if self.kind == "any":
            known = replace(self, kind="known")
            return known if self.majorities is None else None
        return Noise() if self.kind == "unknown" else None

    @property
    def _alike(self) -> bool:
        """Whether wrong answers are as frequent for both kinds of pairs."""
        return all(np.isclose(1 - r1, r0) for r1, r0 in self.corners)


def as_noise(flip_rates: Any, *, cautious: bool = False) -> Noise:
    """Return what is known about wrong answers, given in one of several ways.

    Parameters
    ----------
    flip_rates : None, float, tuple, FlipRateEstimate, "unknown" or Noise
        None: no answer is wrong. A number e or (r1, r0): these rates. Ranges of both,
        ((lowest r1, highest r1), (lowest r0, highest r0)), or an estimate: some rates
        between these. What is known already stays as it is.
    cautious : bool, default=False
        Whether wrong answers may fall on hard pairs above all.

    Returns
    -------
    Noise

    Examples
    --------
    >>> as_noise(0.1, cautious=True).kind
    'any'
    """
    if isinstance(flip_rates, Noise):
        return flip_rates
    unknown = isinstance(flip_rates, str) and flip_rates in ("auto", "unknown")
    if unknown and cautious:
        raise ValueError(
            "without rates nothing can be said where hard pairs may have more wrong "
            "answers than others; give flip_rates, or leave cautious out"
        )
    if unknown:
        return Noise("unknown")
    kind = "any" if cautious else "known"
    if isinstance(flip_rates, FlipRateEstimate):
        ends = flip_rates.interval
        if cautious and flip_rates.most is not None:
            ends = ends[0], flip_rates.most
        corners = tuple((1 - e, e) for e in ends)
        rates = (1 - flip_rates.rate, flip_rates.rate)
        return _checked(Noise(kind, rates, corners, flip_rates.confidence))
    if _are_ranges(flip_rates):
        highs, lows = (tuple(map(float, ends)) for ends in flip_rates)
        corners = tuple(product(highs, lows))
        return _checked(Noise(kind, (sum(highs) / 2, sum(lows) / 2), corners))
    checked = check_flip_rates(flip_rates, words=("auto",))
    if isinstance(checked, str):
        return Noise("unknown")
    if checked is None or checked == RIGHT:
        return Noise()
    return Noise(kind, checked, (checked,))


def rates_of(clf: Any) -> Rates:
    """Return (r1, r0) as a classifier, or the last step of a pipeline, takes them."""
    last = clf[-1] if hasattr(clf, "steps") else clf
    r1, r0 = getattr(last, "flip_rates_", None) or RIGHT
    # Rates that were learned may say that answers mean nothing; then they help nobody.
    return (float(r1), float(r0)) if r1 > r0 else RIGHT


def _are_ranges(flip_rates: Any) -> bool:
    """Tell whether something is two pairs of numbers."""
    return (
        isinstance(flip_rates, tuple | list)
        and len(flip_rates) == 2
        and all(
            isinstance(ends, tuple | list)
            and len(ends) == 2
            and all(isinstance(end, numbers.Real) for end in ends)
            for ends in flip_rates
        )
    )


def _checked(noise: Noise) -> Noise:
    for corner in noise.corners:
        check_flip_rates(corner, words=())
    return noise


def _error(disagree: float, said_same: float, rates: Rates) -> float:
    """Return P(E) for known rates."""
    r1, r0 = rates
    return (disagree - r0 - (1 - r1 - r0) * said_same) / (r1 - r0)


def _wrong(told_same: float, rates: Rates) -> float:
    """Return the share of wrong answers if so many of them are 'same'."""
    r1, r0 = rates
    same = float(np.clip((told_same - r0) / (r1 - r0), 0.0, 1.0))
    return same * (1 - r1) + (1 - same) * r0
