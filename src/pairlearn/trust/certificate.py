r"""Certificates: the error of a classifier, from pairs, without a class label.

By Theorem 1 the pair error is the classification error in disguise. Disagreements
between a fixed classifier and the answers of fresh random pairs are coin flips with
probability R_pair, so an exact binomial interval for R_pair, carried through the
theorem (which is monotone), is an interval for the clustering error with the same
confidence. What wrong answers make of it is in :mod:`pairlearn.trust.noise`.

A certificate is valid if the pairs

* were drawn at random: the two points of a pair are independent draws from the
  population that the classifier will be used on;
* were not used to train, choose or orient the classifier;
* share no point with each other, nor two points of one thing (one patient, say, of whom
  there are several rows);
* and if the answers are as right, or as wrong, as the certificate says.
"""

from __future__ import annotations

import html
import numbers
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pairlearn.data.checks import check_share
from pairlearn.trust.intervals import clopper_pearson, confidence_sequence
from pairlearn.trust.noise import Counts, Noise, as_noise
from pairlearn.trust.theory import clustering_error_from_pair_error

if TYPE_CHECKING:
    from pairlearn.data.types import Floats

__all__ = [
    "Certificate",
    "certificate_from_answers",
    "certificate_from_counts",
]

Interval = tuple[float, float]

# What each kind of noise adds to a certificate's line.
_WRONG = {
    "none": "",
    "known": ", {:.1%} wrong answers",
    "any": ", {:.1%} wrong answers, perhaps those of hard pairs",
    "unknown": ", some answers may be wrong",
}
BOLDER = {
    "any": "if wrong answers are as likely for easy pairs as for hard ones",
    "unknown": "if every answer is right",
}


@dataclass(frozen=True)
class Certificate:
    """The error of a classifier, estimated from pairs.

    Attributes
    ----------
    pair_error : float
        How often the classifier disagrees with the (noise-free) answer.
    pair_interval : tuple of float
        Its interval.
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
    noise : {"none", "known", "any", "unknown"}
        What the interval takes for known about wrong answers: that there are none; how
        frequent they are, and that they do not depend on how hard a pair is; how
        frequent they are, and nothing else; nothing but that answers are more often
        right than wrong, hard pairs or not. See :mod:`pairlearn.trust.noise`.
    n_unsure : int
        How many of the pairs have an unsure answer. It counts as wrong for the upper
        end of the intervals, as right for the lower end, and half for the estimate.
    anytime : bool
        Whether the interval holds at all looks, also for those who stop asking when
        they like what they see.
    bolder_interval : tuple of float or None
        What the interval of the clustering error would be under the bolder assumption:
        for "unknown" that there are no wrong answers, for "any" that they do not depend
        on how hard a pair is; None for the others.
    n_doubtful : int
        Pairs, in addition to `n_pairs`, with a point that equals in all features one
        that the model was trained on, or one of another pair. Whether it is the same
        point is not known; the interval covers both cases, with and without them.
    unseen : bool or None
        Whether the model knows which points it was trained on, and these are others: by
        their features, which may have been rounded to six digits since, and by their
        groups if there are any. A row whose cells were changed counts as another. None
        if that is not known.
    n_points : int
        Where points rather than pairs were counted, how many: points that answers tie
        to others whose side is known, so that each shows an error of its own. `n_pairs`
        is 0 then.
    n_left_out : int
        Pairs, in addition to `n_pairs`, that only people have answered who seem to
        answer at random, or of whom nothing is known. They do not count, whatever was
        said: who answers is independent of the pair.
    """

    pair_error: float
    pair_interval: Interval
    clustering_error: float
    clustering_interval: Interval
    n_pairs: int
    confidence: float
    flip_rate: float = 0.0
    cross_validated: bool = False
    noise: str = "none"
    n_unsure: int = 0
    anytime: bool = False
    bolder_interval: Interval | None = None
    n_doubtful: int = 0
    unseen: bool | None = None
    n_points: int = 0
    n_left_out: int = 0

    def __str__(self) -> str:
        return (
            f"error {self.clustering_error:.1%}, {self.range_in_words()}, up to "
            f"swapping the classes ({100 * self.confidence:g}% confidence, "
            f"{self.n_judged}{self._caveats()})"
        )

    @property
    def n_judged(self) -> str:
        """How many pairs or points were counted, in words."""
        if self.n_points:
            return f"{self.n_points} points"
        return f"{self.n_pairs} pairs"

    def range_in_words(self) -> str:
        """Return the interval of the clustering error as words.

        Examples
        --------
        >>> certificate_from_counts(5, 100).range_in_words()
        'between 0.8% and 6.0%'
        """
        low, high = self.clustering_interval
        # Where nothing is known of wrong answers, nothing is claimed from below.
        if self.noise == "unknown":
            return f"at most {high:.1%}"
        return f"between {low:.1%} and {high:.1%}"

    def _caveats(self) -> str:
        return (
            f", {self.n_unsure} of them unsure" * bool(self.n_unsure)
            + f", with or without {self.n_doubtful} more" * bool(self.n_doubtful)
            + f", {self.n_left_out} more by people who do not count"
            * bool(self.n_left_out)
            + _WRONG.get(self.noise, "").format(self.flip_rate)
            + ", at all looks" * bool(self.anytime)
            + ", cross-validated: an estimate" * bool(self.cross_validated)
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
        caption = html.escape(
            f"Certificate: {100 * self.confidence:g}% confidence from {self.n_judged}"
            f"{self._caveats()}; no class labels used"
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
    n_unsure: int = 0,
    cautious: bool = False,
    anytime: bool = False,
    cross_validated: bool = False,
) -> Certificate:
    """Return the certificate of so many disagreements in so many pairs.

    Parameters
    ----------
    n_wrong, n_pairs : int
        How many answers disagree with the classifier, and out of how many pairs.
    confidence : float, default=0.95
        Confidence of the intervals.
    flip_rate : float, default=0.0
        The rate at which answers are wrong, whatever the truth.
    n_unsure : int, default=0
        How many of the pairs have an unsure answer.
    cautious : bool, default=False
        Whether wrong answers may fall on hard pairs above all.
    anytime : bool, default=False
        Whether the intervals are to hold at all looks.
    cross_validated : bool, default=False
        Whether each pair was judged by a model trained without it.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> certificate_from_counts(40, 400).clustering_error.__round__(3)
    0.053
    """
    if not isinstance(flip_rate, numbers.Real):
        raise ValueError(
            f"flip_rate must be a single rate here; got {flip_rate!r}. For two rates, "
            "use certificate_from_answers"
        )
    counts = Counts(n_pairs, n_wrong, 0, 0, n_unsure)
    noise = as_noise(flip_rate, cautious=cautious)
    return make_certificate(
        counts, noise, confidence, anytime=anytime, cross_validated=cross_validated
    )


def certificate_from_answers(
    says: Floats,
    t: Floats,
    rates: Any = None,
    *,
    confidence: float = 0.95,
    cautious: bool = False,
    anytime: bool = False,
    cross_validated: bool = False,
) -> Certificate:
    """Return the certificate of what a classifier says of pairs, and the answers.

    Parameters
    ----------
    says : ndarray of shape (n_pairs,)
        What the classifier says, -1 or +1.
    t : ndarray of shape (n_pairs,)
        Answers, -1 or +1, or 0 for unsure.
    rates : None, float, tuple, FlipRateEstimate or "unknown", default=None
        How often answers are wrong; as `flip_rates` of :func:`~pairlearn.certify`.
    confidence : float, default=0.95
        Confidence of the intervals.
    cautious : bool, default=False
        Whether wrong answers may fall on hard pairs above all.
    anytime : bool, default=False
        Whether the intervals are to hold at all looks.
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
    return make_certificate(
        Counts.of(says, t),
        as_noise(rates, cautious=cautious),
        confidence,
        anytime=anytime,
        cross_validated=cross_validated,
    )


def make_certificate(
    counts: Counts,
    noise: Noise,
    confidence: float,
    *,
    anytime: bool = False,
    cross_validated: bool = False,
) -> Certificate:
    """Return the certificate of counts, for what is known about wrong answers."""
    check_share("confidence", confidence)
    ends = confidence_sequence if anytime else clopper_pearson

    def errors(assumed: Noise) -> tuple[Floats, Floats]:
        pair = assumed.pair_error(counts, confidence, ends)
        return pair, clustering_error_from_pair_error(pair)

    pair, clustering = errors(noise)
    bolder = None if noise.bolder is None else errors(noise.bolder)[1]
    return Certificate(
        pair_error=float(pair[0]),
        pair_interval=(float(pair[1]), float(pair[2])),
        clustering_error=float(clustering[0]),
        clustering_interval=(float(clustering[1]), float(clustering[2])),
        n_pairs=counts.n_pairs,
        confidence=confidence,
        flip_rate=noise.wrong_answers(counts),
        cross_validated=cross_validated,
        noise=noise.kind,
        n_unsure=counts.n_unsure,
        anytime=anytime,
        bolder_interval=None
        if bolder is None
        else (float(bolder[1]), float(bolder[2])),
    )


def certificate_from_points(
    n_wrong: int,
    n_points: int,
    noise: Noise,
    confidence: float = 0.95,
    *,
    n_unsure: int = 0,
) -> Certificate:
    """Return the certificate of points whose side answers tell, relative to others.

    Such a point disagrees with a probability that is the error R itself, if all
    answers are right. If what they say is wrong with a probability q < 1/2, it is
    R (1 - q) + (1 - R) q >= R: an upper limit for it is one for R.

    Parameters
    ----------
    n_wrong, n_points : int
        How many points the models put on the other side, and out of how many.
    noise : Noise
        "none" if all answers are right, else "unknown".
    confidence : float, default=0.95
        Confidence of the intervals.
    n_unsure : int, default=0
        Points whose side the answers leave open; wrong for the upper end of the
        interval, right for the lower end.

    Returns
    -------
    Certificate
        Cross-validated: an estimate.

    Examples
    --------
    >>> certificate_from_points(5, 100, Noise("none")).range_in_words()
    'between 1.6% and 11.3%'
    """
    low = clopper_pearson(n_wrong, n_points, confidence)[0]
    high = clopper_pearson(n_wrong + n_unsure, n_points, confidence)[1]
    # Which side is which is a convention: no rule errs on more than half.
    ends = ((n_wrong + n_unsure / 2) / n_points, low, high)
    error, low, high = (min(end, 0.5) for end in ends)
    known = noise.kind == "none"
    pair = [2 * end * (1 - end) for end in (error, low, high)]
    return Certificate(
        pair_error=pair[0],
        pair_interval=(pair[1] if known else 0.0, pair[2]),
        clustering_error=error,
        clustering_interval=(low if known else 0.0, high),
        n_pairs=0,
        confidence=confidence,
        cross_validated=True,
        noise=noise.kind,
        n_unsure=n_unsure,
        bolder_interval=None if known else (low, high),
        n_points=n_points,
    )


def covering(one: Certificate, other: Certificate) -> Certificate:
    """Return a certificate that holds if one of two does, with the higher error.

    It counts the pairs of the other one, which may be a part of those of the first.
    """

    def hull(name: str) -> Interval | None:
        ends = [getattr(each, name) for each in (one, other)]
        if None in ends:
            return None
        return min(end[0] for end in ends), max(end[1] for end in ends)

    worse = max(one, other, key=lambda each: each.clustering_error)
    intervals: dict[str, Any] = {
        name: hull(name)
        for name in ("pair_interval", "clustering_interval", "bolder_interval")
    }
    return replace(
        worse,
        n_pairs=other.n_pairs,
        n_unsure=other.n_unsure,
        n_doubtful=one.n_pairs - other.n_pairs,
        **intervals,
    )


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
