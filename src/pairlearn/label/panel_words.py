"""The sentences of the progress panel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.ask.judging import FIRST_LOOK
from pairlearn.label.values import SAID
from pairlearn.trust.certificate import certificate_from_answers
from pairlearn.trust.in_words import NOTHING, caveats, in_words, kinds_in_words
from pairlearn.trust.kinds_certificate import KindsCertificate
from pairlearn.trust.live import live_confidence

if TYPE_CHECKING:
    from pairlearn.ask.history import Advice
    from pairlearn.trust.certificate import Certificate

__all__ = ["advice_in_words", "certificate_in_words", "why_no_certificate"]
__all__ += ["taken_for_granted", "why_suspicious"]

# The first model is learned from so many answers.
_FIRST_MODEL = 10
# An interval that ends below this says something; none is looked for beyond so many.
_KNOWN, _FURTHEST = 0.4, 1000


def certificate_in_words(
    certificate: Certificate | KindsCertificate,
    n_wrong: int = 0,
    share: float = 0.2,
    n_versions: int = 1,
) -> str:
    """Return a certificate in plain words.

    Parameters
    ----------
    certificate : Certificate or KindsCertificate
        The certificate.
    n_wrong : int
        How many of its pairs the model got wrong.
    share : float
        The share of questions that test the model.
    n_versions : int
        How many versions of the model there were.

    Returns
    -------
    str

    Examples
    --------
    >>> from pairlearn.trust.certificate import certificate_from_counts
    >>> certificate_in_words(certificate_from_counts(40, 400))
    'Of 100 new points like these, about 5 are put into the wrong group; with 95%
    confidence at least 3 and at most 8, however often you look.'
    >>> certificate_in_words(certificate_from_counts(1, 4), n_wrong=1)
    '4 questions have tested the model so far, and it got 1 of them wrong. That is too
    few to be sure; about 375 more answers are needed.'
    """
    if isinstance(certificate, KindsCertificate):
        sentence = kinds_in_words(certificate)
    else:
        more = _audits_until_known(certificate, n_wrong, n_versions)
        if more is not None:
            n = certificate.n_pairs
            many = "1 question has" if n == 1 else f"{n} questions have"
            return (
                f"{many} tested the model so far, and it "
                f"got {n_wrong} of them wrong. That is too few to be sure; about "
                f"{math.ceil(more / share):,} more answers are needed."
            )
        sentence = in_words(certificate)
    return f"{sentence.removesuffix('.')}, however often you look."


def taken_for_granted(certificate: Certificate | KindsCertificate) -> list[str]:
    """Return what a certificate takes for granted, as sentences.

    Parameters
    ----------
    certificate : Certificate or KindsCertificate
        The certificate.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from pairlearn.trust.certificate import certificate_from_counts
    >>> taken_for_granted(certificate_from_counts(40, 400))
    ['Every answer is taken as right, so a wrong one counts as an error.']
    """
    # A question that lies before somebody while later ones are answered counts so, too.
    said = "; ".join(caveats(certificate)).replace(" unsure:", " unsure or open:")
    return [f"{each[0].upper()}{each[1:]}." for each in said.split("; ")]


def _audits_until_known(
    certificate: Certificate, n_wrong: int, n_versions: int
) -> int | None:
    """Return how many more audits tell the error from one half; None if others do not.

    The model is taken to get as large a share of them wrong as so far.
    """
    n_pairs = certificate.n_pairs
    if certificate.clustering_interval[1] < NOTHING or not n_pairs:
        return None
    rates = {"none": None, "unknown": "unknown"}.get(
        certificate.noise, certificate.flip_rate
    )
    n = n_pairs
    while n < _FURTHEST:
        n += max(1, n // 10)
        says = np.where(np.arange(n) % 2, 1.0, -1.0)
        wrong = np.arange(n) < round(n * n_wrong / n_pairs)
        found = certificate_from_answers(
            says,
            np.where(wrong, -says, says),
            rates,
            confidence=live_confidence(certificate.confidence, n_versions),
            anytime=True,
        )
        if found.clustering_interval[1] < _KNOWN:
            return n - n_pairs
    return None


def why_no_certificate(n_audits: int, share: float, n_answers: int) -> str:
    """Return why nothing can be said yet of how good the model is.

    Parameters
    ----------
    n_audits : int
        Answers so far to questions that test the model.
    share : float
        The share of questions that do.
    n_answers : int
        Answers so far that the model learns from.

    Returns
    -------
    str

    Examples
    --------
    >>> why_no_certificate(4, 0.2, 30)
    'About 20% of the questions only test the model. How good it is can be said when 10
    of them are answered; 4 are, so it takes about 30 more answers.'
    """
    if not share:
        return (
            "How good the model is cannot be said: no points were put aside to test "
            "it, as --audits 0 said."
        )
    by_audits = math.ceil(max(0, FIRST_LOOK - n_audits) / share)
    by_model = math.ceil(max(0, _FIRST_MODEL - n_answers) / max(1e-9, 1 - share))
    more = max(by_audits, by_model)
    tested = (
        f"About {share:.0%} of the questions only test the model. How good it is can "
        f"be said when {FIRST_LOOK} of them are answered"
    )
    if n_audits >= FIRST_LOOK and n_answers >= _FIRST_MODEL:
        return (
            "An answer was taken back or changed, so the model was made anew. How good "
            "this one is can be said after some more questions."
        )
    if not n_answers and not n_audits:
        return (
            f"There is no model yet. {tested}, which is after about {more} answers "
            "in all."
        )
    if n_audits >= FIRST_LOOK:
        return (
            "There is no model yet: it takes about "
            f"{more} more answers, of which some are same and some different."
        )
    are = "is" if n_audits == 1 else "are"
    return f"{tested}; {n_audits} {are}, so it takes about {more} more answers."


def advice_in_words(advice: Advice) -> str:
    """Return about how many more answers are needed.

    Examples
    --------
    >>> from pairlearn.ask.history import Advice
    >>> advice_in_words(Advice(0.05, 120, (80, None), "it fell"))
    'About 120 more answers for an error below 5%, perhaps 80, perhaps many more, if
    learning goes on as it did. This is what the model expects of itself.'
    >>> advice_in_words(Advice(0.05, None, None, "a forecast needs 3 versions"))
    'How many more answers an error below 5% takes is not known yet: a forecast needs 3
    versions.'
    """
    goal = f"an error below {100 * advice.error:g}%"
    if advice.n_more is None:
        return f"How many more answers {goal} takes is not known yet: {advice.reason}."
    if not advice.n_more:
        return (
            f"The model itself expects {goal} already: {advice.reason}. The questions "
            "that test it tell whether that is true."
        )
    text = f"About {advice.n_more:,} more answers for {goal}"
    if advice.n_more_range is not None:
        low, high = advice.n_more_range
        text += f", perhaps {low:,}, perhaps "
        text += "many more" if high is None else f"{high:,}"
    return (
        f"{text}, if learning goes on as it did. This is what the model expects of "
        "itself."
    )


def why_suspicious(said: int, chance: float) -> str:
    """Return why an answer should be looked at again.

    Examples
    --------
    >>> why_suspicious(1, 0.034)
    'The answer is "same", and the model thinks that they are different (97%).'
    """
    return (
        f'The answer is "{SAID[said]}", and the model thinks that they are '
        f"{'different' if said > 0 else 'the same'} ({1 - chance:.0%})."
    )
