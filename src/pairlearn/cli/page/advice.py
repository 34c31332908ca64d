"""What a certificate means, and how many more pairs would make it narrower."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.cli.sizes import WIDTHS, certificate_plan
from pairlearn.trust.kinds_counts import kinds_certificate_from_counts

if TYPE_CHECKING:
    from pairlearn.trust.certificate import Certificate
    from pairlearn.trust.kinds_certificate import KindsCertificate

__all__ = ["in_words", "kinds_in_words", "narrower", "narrower_within"]

PROPOSED = 3
# So many answers about pairs within groups are proposed.
WITHIN = (100, 300, 1000, 3000, 10_000)
# An interval that is so wide says nothing yet.
NOTHING = 0.5


def in_words(certificate: Certificate) -> str:
    """Return the error as a count of points, for readers who know no statistics.

    Examples
    --------
    >>> from pairlearn.trust.certificate import certificate_from_counts
    >>> in_words(certificate_from_counts(40, 400))
    'Of 100 new points like these, about 5 are put into the wrong group; with 95%
    confidence at least 3 and at most 8.'
    >>> in_words(certificate_from_counts(52, 100))
    'The answers do not show that the groups are of any use: up to 50 of 100 points may
    be in the wrong group.'
    """
    low, high = certificate.clustering_interval
    if high >= 0.5:
        return (
            "The answers do not show that the groups are of any use: up to 50 of 100 "
            "points may be in the wrong group."
        )
    return _of_a_hundred(certificate.clustering_error, (low, high), certificate)


def kinds_in_words(certificate: KindsCertificate) -> str:
    """Return the same for more than two kinds.

    Examples
    --------
    >>> from pairlearn.trust.kinds_counts import kinds_certificate_from_counts
    >>> kinds_in_words(kinds_certificate_from_counts([2, 3], [50, 50], [0.5, 0.5]))
    'Of 100 new points like these, about 3 are put into the wrong group; with 95%
    confidence at most 7.'
    >>> kinds_in_words(kinds_certificate_from_counts([0, 0], [2, 2], [0.5, 0.5]))
    'How many points are in the wrong group is not known yet: only 4 of the pairs that
    were kept aside have both points in one group, which is too few.'
    """
    _, high = certificate.interval
    if high < NOTHING:
        return _of_a_hundred(certificate.error, certificate.interval, certificate)
    if certificate.error < NOTHING / 2:
        n = certificate.n_within
        return (
            f"How many points are in the wrong group is not known yet: only {n:,} of "
            "the pairs that were kept aside have both points in one group, which is "
            "too few."
        )
    return (
        f"The answers do not show that the groups are of any use: up to {high:.0%} of "
        "the points may be in the wrong group."
    )


def _of_a_hundred(
    error: float,
    interval: tuple[float, float],
    certificate: Certificate | KindsCertificate,
) -> str:
    low, high = interval
    # A share of less than one in a hundred wants a larger hundred.
    whole = 100 if high >= 0.02 else 1000
    about = round(whole * error)
    least, most = int(whole * low), -int(-whole * high // 1)
    at_least = f"at least {least} and " if least else ""
    return (
        f"Of {whole:,} new points like these, about {about} "
        f"{'is' if about == 1 else 'are'} put into the wrong group; with "
        f"{100 * certificate.confidence:g}% confidence {at_least}at most {most}."
    )


def narrower_within(
    certificate: KindsCertificate,
) -> list[tuple[int, tuple[float, float]]]:
    """Return the intervals that pairs drawn within the groups would give.

    Parameters
    ----------
    certificate : KindsCertificate
        The one at hand. Its purities are taken for about the truth, the more so the
        more pairs a group has; every answer is taken as right.

    Returns
    -------
    list of (int, tuple of float)
        How many pairs, and the interval; only those that are narrower than this one.

    Examples
    --------
    >>> from pairlearn.trust.kinds_counts import kinds_certificate_from_counts
    >>> found = kinds_certificate_from_counts([2, 3], [50, 50], [0.5, 0.5])
    >>> [n_pairs for n_pairs, _ in narrower_within(found)]
    [300, 1000, 3000]
    """
    groups, now = certificate.groups, certificate.interval
    shares = np.array([group.share for group in groups])
    if not shares.sum() or certificate.error >= NOTHING:
        return []
    shares = shares / shares.sum()
    n_known = np.array([group.n_pairs for group in groups])
    purity = np.nan_to_num([group.purity for group in groups])
    different = n_known * 2 * purity * (1 - purity)
    # As with half a pair more of each answer: few pairs without an error prove little.
    overall = (different.sum() + 0.5) / (n_known.sum() + 1)
    rate = (different + 2 * overall) / (n_known + 2)
    found = []
    for n_pairs in WITHIN:
        n_each = np.rint(n_pairs * shares)
        # Together as many as are expected: small groups would all be rounded to none.
        n_different = np.diff(np.ceil(np.cumsum(n_each * rate)), prepend=0)
        (low, high) = kinds_certificate_from_counts(
            n_different.astype(int),
            n_each.astype(int),
            shares,
            confidence=certificate.confidence,
            kinds=certificate.kinds,
        ).interval
        if high - low < 0.8 * (now[1] - now[0]):
            found.append((n_pairs, (low, high)))
    return found[:PROPOSED]


def narrower(certificate: Certificate, n_rows: int) -> list[tuple[float, int, int]]:
    """Return narrower intervals, and the rows of pairs.csv that they need.

    Parameters
    ----------
    certificate : Certificate
        The one at hand. Its error is taken for the truth, and as large a share of the
        rows is expected to be counted as was this time.
    n_rows : int
        How many rows pairs.csv has now.

    Returns
    -------
    list of (float, int, int)
        Width, rows in all, and rows in addition to those at hand; empty if the error is
        not told from 1/2, or no number of pairs would help.

    Examples
    --------
    >>> from pairlearn.trust.certificate import certificate_from_counts
    >>> narrower(certificate_from_counts(40, 400), 2000)
    [(0.02, 6370, 4370), (0.01, 23580, 21580)]
    """
    low, high = certificate.clustering_interval
    # Of an interval that begins at 0 for want of knowledge, the upper end is to come
    # down: as if all answers were right.
    if certificate.bolder_interval is not None and certificate.noise == "unknown":
        low, high = certificate.bolder_interval
    flip_rate = certificate.flip_rate if certificate.noise in ("known", "any") else 0.0
    error = certificate.clustering_error
    if error >= 0.5 or flip_rate >= 0.5 or not certificate.n_pairs:
        return []
    found = []
    for width in [w for w in WIDTHS if w < 0.9 * (high - low)][:PROPOSED]:
        needed = certificate_plan(
            error, width, confidence=certificate.confidence, flip_rate=flip_rate
        ).sure
        if needed is not None and needed > certificate.n_pairs:
            rows = math.ceil(needed * n_rows / certificate.n_pairs)
            found.append((width, rows, rows - n_rows))
    return found
