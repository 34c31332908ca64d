"""What a certificate means, and how many more pairs would make it narrower."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pairlearn.cli.sizes import WIDTHS, certificate_plan

if TYPE_CHECKING:
    from pairlearn.trust.certificate import Certificate

__all__ = ["in_words", "narrower"]

PROPOSED = 3


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
    # A share of less than one in a hundred wants a larger hundred.
    whole = 100 if high >= 0.02 else 1000
    about = round(whole * certificate.clustering_error)
    least, most = int(whole * low), -int(-whole * high // 1)
    at_least = f"at least {least} and " if least else ""
    return (
        f"Of {whole:,} new points like these, about {about} "
        f"{'is' if about == 1 else 'are'} put into the wrong group; with "
        f"{100 * certificate.confidence:g}% confidence {at_least}at most {most}."
    )


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
    if error >= 0.5 or flip_rate >= 0.5:
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
