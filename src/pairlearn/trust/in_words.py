"""What a certificate means, in sentences for readers who know no statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pairlearn.trust.certificate import Certificate
    from pairlearn.trust.kinds_certificate import KindsCertificate

__all__ = ["NOTHING", "caveats", "in_words", "kinds_in_words"]

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


def caveats(certificate: Certificate | KindsCertificate) -> list[str]:
    """Return what the interval takes for granted, as phrases.

    Examples
    --------
    >>> from pairlearn.trust.certificate import certificate_from_counts
    >>> caveats(certificate_from_counts(3, 50))
    ['every answer is taken as right, so a wrong one counts as an error']
    """
    wrong = f"{certificate.flip_rate:.1%} of the answers are taken as wrong"
    lines = {
        "none": "every answer is taken as right, so a wrong one counts as an error",
        "known": f"{wrong}, no more often for hard pairs than for easy ones",
        "any": f"{wrong}, perhaps those about hard pairs",
        "unknown": "some answers may be wrong, but no more often for hard pairs than "
        "for easy ones",
    }
    found = [lines[certificate.noise]]
    if certificate.bolder_interval is not None:
        low, high = certificate.bolder_interval
        bolder = {
            "any": "if hard pairs have no more wrong answers than easy ones",
            "unknown": "if every answer is right",
        }
        found[0] += f"; {bolder[certificate.noise]}: between {low:.1%} and {high:.1%}"
    n = certificate.n_unsure
    if n:
        what = f"{n} pairs are unsure: they count"
        what = "1 pair is unsure: it counts" if n == 1 else what
        low_too = ", as right for the lower end" * (certificate.noise != "unknown")
        found.append(f"{what} as wrong for the upper end of the interval{low_too}")
    if certificate.n_doubtful:
        found.append(
            f"{certificate.n_doubtful} more pairs have points that equal others in all "
            "columns, and may be the same ones: the interval covers both cases"
        )
    left = certificate.n_left_out
    if left:
        found.append(
            f"{left} more {'pair was' if left == 1 else 'pairs were'} answered only by "
            "people who seem to answer at random, or of whom nothing is known yet, and "
            "not counted; the others are taken to be right more often than not"
        )
    return found
