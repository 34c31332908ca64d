"""What `pairlearn fit` makes of answers to questions that `pairlearn ask` chose.

Pairs that were chosen to learn from are not random, so their errors say nothing about
the errors on random pairs: kept aside or cross-validated, they would make a certificate
that is wrong. Only audits tell the error, and nothing is learned from these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pairlearn.ask.judging import FIRST_LOOK
from pairlearn.cli.certify import certify_answers
from pairlearn.trust.kinds_certificate import KindsCertificate

if TYPE_CHECKING:
    from pairlearn.cli.summary import FitSummary
    from pairlearn.files.tables.answered_pairs import AnsweredPairs

__all__ = ["judge_by_audits", "notes_on_purposes"]


def judge_by_audits(
    summary: FitSummary, about: dict[str, Any], answered: AnsweredPairs, noise: Any
) -> None:
    """Add the certificate from audits to a summary, if there are enough.

    Parameters
    ----------
    summary : FitSummary
        What a fit found, without a certificate.
    about : dict
        What is to be stored beside the model.
    answered : AnsweredPairs
        The answers, audits apart.
    noise : "auto", None, float, tuple or FlipRateEstimate
        How often answers are wrong.
    """
    if summary.n_audits < FIRST_LOOK or answered.audits is None:
        return
    before = len(answered.notes)
    try:
        found = certify_answers(summary.model, about, answered, noise=noise)
    except ValueError as problem:
        summary.notes.append(f"the audits give no certificate: {problem}")
        return
    # That rows to learn from are not counted goes without saying here.
    summary.notes += [note for note in found.notes[before:] if "'learn'" not in note]
    certificate = found.certificate
    if isinstance(certificate, KindsCertificate):
        summary.kinds_certificate = certificate
    else:
        summary.certificate = certificate
    summary.certificate_pairs = certificate.n_pairs
    summary.one_group_error = found.one_group_error


def notes_on_purposes(summary: FitSummary, majority: str | None) -> list[str]:
    """Return sentences about audits, and about pairs that were chosen to learn from.

    Parameters
    ----------
    summary : FitSummary
        What a fit found.
    majority : str or None
        The class that the user says is the larger one.

    Returns
    -------
    list of str
    """
    n_audits, notes = summary.n_audits, []
    were = "1 audit was" if n_audits == 1 else f"{n_audits} audits were"
    measured = summary.certificate or summary.kinds_certificate
    if n_audits and not summary.chosen:
        notes.append(
            f"{were} left for pairlearn certify; nothing was learned from them"
        )
    if not summary.chosen:
        return notes
    if not measured and n_audits < FIRST_LOOK:
        there = f"{were} answered" if n_audits else "no audit was answered"
        notes.append(
            "pairs that were chosen to learn from say nothing about random ones, so "
            f"the error is known from audits only; {there}, and it takes "
            f"{FIRST_LOOK}. pairlearn ask puts them among its questions, unless you "
            "say --audits 0"
        )
    if majority is not None:
        notes.append(
            f"that class {majority!r} is the larger one tells which group it is only "
            "if pairs are random, and these were chosen; so check the names by some "
            "points that you know, or give these points with --labels"
        )
    return notes
