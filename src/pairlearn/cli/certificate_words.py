"""A certificate in words: the same on the terminal and on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pairlearn.cli.summary import FitSummary
    from pairlearn.trust.certificate import Certificate
    from pairlearn.trust.kinds_certificate import KindsCertificate

__all__ = ["error_line", "group_rows", "kinds_caveats", "kinds_source_line"]
__all__ += ["lopsided_group", "one_group_line", "source_line", "useless"]

# From this share of the points in one group on, there is no second group to speak of.
LOPSIDED = 0.98
# A model must err less often than this share of what one group for all would give; and
# less often than this, where that is not known.
_BETTER, _GUESSING = 0.9, 0.4
# If the error may be as large as this, the model may know nothing.
_CHANCE = 0.45


def error_line(certificate: Certificate) -> str:
    """Return the error and its interval.

    Examples
    --------
    >>> from pairlearn.trust.certificate import certificate_from_counts
    >>> error_line(certificate_from_counts(3, 50))
    '3.1%, between 0.6% and 9.1%'
    """
    return f"{certificate.clustering_error:.1%}, {certificate.range_in_words()}"


def source_line(certificate: Certificate) -> str:
    """Return what the interval rests on.

    Examples
    --------
    >>> from pairlearn.trust.certificate import certificate_from_counts
    >>> source_line(certificate_from_counts(3, 50))
    '95% confidence, 50 pairs'
    """
    kind = ""
    if certificate.cross_validated:
        kind = ", cross-validated, so an estimate"
    elif certificate.unseen:
        kind = ", from pairs that the model has not seen"
    looks = ", at all looks together" * certificate.anytime
    return (
        f"{100 * certificate.confidence:g}% confidence{looks}, "
        f"{certificate.n_judged}{kind}"
    )


def kinds_source_line(certificate: KindsCertificate) -> str:
    """Return what the intervals rest on, for any number of kinds.

    Examples
    --------
    >>> from pairlearn.trust.kinds_counts import kinds_certificate_from_counts
    >>> kinds_source_line(kinds_certificate_from_counts([1, 2], [50, 50], [0.5, 0.5]))
    '95% confidence, 100 pairs, 100 of them within a group'
    """
    kind = ", from pairs that the model has not seen" if certificate.unseen else ""
    looks = ", at all looks together" * certificate.anytime
    return (
        f"{100 * certificate.confidence:g}% confidence{looks}, {certificate.n_pairs} "
        f"pairs, {certificate.n_within} of them within a group{kind}"
    )


def kinds_caveats(certificate: KindsCertificate) -> list[str]:
    """Return what the intervals take for granted, as phrases, and what else is seen.

    Examples
    --------
    >>> from pairlearn.trust.kinds_counts import kinds_certificate_from_counts
    >>> kinds_caveats(kinds_certificate_from_counts([1, 2], [50, 50], [0.5, 0.5]))[1]
    'every answer is taken as right, so a wrong one counts as an error'
    """
    wrong = f"{certificate.flip_rate:.1%} of the answers are taken as wrong"
    lines = {
        "none": "every answer is taken as right, so a wrong one counts as an error",
        "known": f"{wrong}, no more often for hard pairs than for easy ones",
        "any": f"at most {certificate.flip_rate:.1%} of the answers in each group are "
        "taken as wrong, perhaps those about hard pairs",
        "unknown": "some answers may be wrong, but no more often for hard pairs than "
        "for easy ones; say --noise none if every answer is right",
    }
    found = [
        "if each group bears the name of its largest kind; there may be "
        + (f"up to {certificate.kinds}" if certificate.kinds else "any number of")
        + " kinds",
        lines[certificate.noise],
    ]
    if certificate.bolder_interval is not None:
        low, high = certificate.bolder_interval
        bolder = {
            "any": "if hard pairs have no more wrong answers than easy ones",
            "unknown": "if every answer is right",
        }
        found.append(f"{bolder[certificate.noise]}: between {low:.1%} and {high:.1%}")
    if certificate.n_unsure:
        found.append(
            f"{certificate.n_unsure} of the answers are unsure: within a group they "
            "count as different for the upper end of the error, as same for the lower"
        )
    if certificate.n_doubtful:
        found.append(
            f"{certificate.n_doubtful} more pairs have points that equal others in all "
            "columns, and may be the same ones: the intervals cover both cases"
        )
    if certificate.n_points is not None:
        found.append(
            "with pairs drawn within groups (--within-groups) the interval would be "
            "narrower"
        )
    return found + certificate.twins_in_words()


def group_rows(certificate: KindsCertificate) -> list[tuple[str, str]]:
    """Return a line for each group: how large and how pure it is.

    Examples
    --------
    >>> from pairlearn.trust.kinds_counts import kinds_certificate_from_counts
    >>> group_rows(kinds_certificate_from_counts([1, 0], [50, 0], [0.6, 0.4]))[0][1]
    '60.0% of the points; purity 99.0%, between 93.5% and 100.0% (1 of 50 pairs differ)'
    """
    rows = []
    for group in certificate.groups:
        low, high = group.interval
        purity = f"purity {group.purity:.1%}, " if group.n_pairs else "purity "
        counted = f"{group.n_different} of {group.n_pairs} pairs differ"
        line = (
            f"{group.share:.1%} of the points; {purity}between {low:.1%} and "
            f"{high:.1%} ({counted if group.n_pairs else 'no pair lies within it'})"
        )
        rows.append((f"group {group.name}", line))
    return rows


def one_group_line(error: float | None, name: str | None) -> str | None:
    """Return what putting all points into one group would give.

    Examples
    --------
    >>> one_group_line(0.08, "ok")
    'always saying ok would err on about 8.0%'
    """
    if error is None:
        return None
    if name is None:
        return f"one group for all points would err on about {error:.1%}"
    return f"always saying {name} would err on about {error:.1%}"


def lopsided_group(summary: FitSummary) -> str | None:
    """Return a sentence if the model has found no second group."""
    if not summary.shares:
        return None
    largest = max(summary.shares, key=summary.shares.__getitem__)
    share = summary.shares[largest]
    if share <= LOPSIDED:
        return None
    return (
        f"No second group was found: the model puts {share:.1%} of the points into "
        f"{largest}."
    )


def useless(summary: FitSummary) -> str | None:
    """Return a sentence if the model is no better than chance, as far as is known.

    For two kinds: its error is about that of one group for all points, or of guessing.
    For more: it contradicts about as many answers as saying the same of all pairs.
    """
    why = (
        "The columns do not tell what the answers are about, or there are too few "
        "answers. Add columns that have to do with the question, or more answers; do "
        "not use this model."
    )
    certificate, one_group = summary.certificate, summary.one_group_error
    if lopsided_group(summary) is not None:
        return None  # which is told already
    if len(summary.classes) == 2 and certificate is not None:
        error = certificate.clustering_error
        # The interval if every answer is right, which is the narrower one.
        high = (certificate.bolder_interval or certificate.clustering_interval)[1]
        compared = None
        if one_group is not None and error >= _BETTER * one_group and one_group > 0.02:
            compared = f"one group for all points errs on about {one_group:.0%}"
        elif error >= _GUESSING:
            compared = "guessing errs on 50%"
        if compared is not None:
            said = f"its error is about {error:.0%}, and {compared}"
            return f"This model has learned nothing: {said}. {why}"
        if high >= _CHANCE:
            return (
                "Nothing shows that this model is better than chance: its error may be "
                f"anything up to {high:.0%}. {why}"
            )
    told = summary.answer_error
    if len(summary.classes) > 2 and told is not None:
        n_same = int((summary.t > 0).sum())
        blind = min(n_same, len(summary.t) - n_same) / max(1, len(summary.t))
        error = told.n_wrong / told.n_pairs
        if error >= _BETTER * blind and blind > 0.02:
            return (
                f"This model has learned nothing: it contradicts {error:.0%} of the "
                f"answers kept aside, and one answer for all pairs {blind:.0%}. {why}"
            )
    return None
