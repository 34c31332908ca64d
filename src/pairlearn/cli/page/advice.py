"""How many more pairs would make a certificate narrower."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.cli.sizes import WIDTHS, certificate_plan
from pairlearn.trust.in_words import NOTHING
from pairlearn.trust.kinds_counts import kinds_certificate_from_counts

if TYPE_CHECKING:
    from pairlearn.trust.certificate import Certificate
    from pairlearn.trust.kinds_certificate import KindsCertificate

__all__ = ["narrower", "narrower_within"]

PROPOSED = 3
# So many answers about pairs within groups are proposed.
WITHIN = (100, 300, 1000, 3000, 10_000)


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
