"""What the commands take for known about answers, and the certificate of a model."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.graph import disjoint_pairs, shuffled
from pairlearn.trust.certify import judge
from pairlearn.trust.flip_rates import growth_of_majorities, majority_rates
from pairlearn.trust.kinds import judge_kinds
from pairlearn.trust.known_points import doubt_in_words
from pairlearn.trust.more_kinds import DOUBTFUL, two_kinds_evidence
from pairlearn.trust.noise import RIGHT, FlipRateEstimate, Noise, as_noise, rates_of
from pairlearn.trust.prior import prior_from_answers
from pairlearn.trust.sample_checks import MoreKindsError, refuse_more_kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Floats, Ints
    from pairlearn.files.tables.answered_pairs import AnsweredPairs
    from pairlearn.trust.certificate import Certificate
    from pairlearn.trust.kinds_certificate import KindsCertificate
    from pairlearn.trust.more_kinds import KindsEvidence
    from pairlearn.trust.noise import Rates

__all__ = [
    "BY_NATURE",
    "assumed_noise",
    "doubts_two_kinds",
    "in_options",
    "judged",
    "judged_kinds",
    "kinds_evidence",
    "more_than_two_kinds",
    "note_on_noise",
    "one_group_error",
    "warnings_as_notes",
]

BY_NATURE = (
    "rows repeat in these data: {} of {} pairs have a point that equals, in all "
    "columns, one that the model learned from or one of another pair. By their ids "
    "they are others; if they are the same points, listed twice, the error is higher "
    "than this says"
)
# Answers that may be wrong so often say nothing.
_TOO_NOISY = 0.45


def assumed_noise(
    answered: AnsweredPairs,
    noise: Any,
    confidence: float = 0.95,
    *,
    two_kinds: bool = True,
) -> tuple[Any, Noise | None]:
    """Return how often answers are wrong: for learning, and for the certificate.

    What is said on the command line holds. Otherwise repeated answers and triangles
    tell, if they show that some answers are wrong, with a fifth of the risk that the
    certificate may take; else nothing is known, and the second is None. Triangles tell
    only if there are two kinds.
    """
    if noise != "auto":
        known = as_noise(noise, cautious=True)
        return noise_for_learning(noise), _of_majorities(known, answered)
    measure = answered.flip_rate_at if two_kinds else answered.repeat_rate
    found = measure(1 - (1 - confidence) / 5)
    if found is None or found.interval[0] <= 0 or (found.most or 0.0) >= _TOO_NOISY:
        return "auto", None
    low, high = found.interval
    answered.notes.append(
        f"{found.rate:.1%} of the answers seem to be wrong (between {low:.1%} and "
        f"{high:.1%}), from {found.n_compared} comparisons of answers that must "
        "agree: pairs that were answered twice, or three answers about three points. "
        "That is right if no pair is answered wrong more often than right"
    )
    known = _of_majorities(as_noise(found, cautious=True), answered)
    # That rate is an upper one if no pair is answered wrong more often than right; and
    # then the majority is not wrong more often than one answer.
    if known.majorities is not None:
        known = replace(known, majorities=1.0)
    return found.rate, known


def _of_majorities(noise: Noise, answered: AnsweredPairs) -> Noise:
    """Return what rates of single answers tell about the majority of several."""
    if not answered.n_repeated or noise.kind == "none":
        return noise
    n_answers = np.array([len(lines) for lines in answered.lines])
    rates = majority_rates(noise.rates, n_answers)
    growth = growth_of_majorities(n_answers)
    answered.notes.append(
        "some pairs have several answers, of which the majority counts: about "
        f"{1 - rates[0]:.1%} of pairs of the same kind are then taken as answered "
        f"wrong, and {rates[1]:.1%} of the others"
    )
    return replace(noise, rates=rates, majorities=growth)


def noise_for_learning(noise: Any) -> Any:
    """Return the middle of rates that are ranges."""
    if isinstance(noise, FlipRateEstimate):
        return noise.rate
    return as_noise(noise).rates if noise is not None else None


def judged(
    model: Any, pairs: Pairs, t: Floats, noise: Noise, notes: list[str], **options: Any
) -> Certificate | None:
    """Return a certificate, or note why there is none; note what it rests on."""
    found: Certificate | None = _noted(judge, model, pairs, t, noise, notes, options)
    return found


def judged_kinds(
    model: Any, pairs: Pairs, t: Floats, noise: Noise, notes: list[str], **options: Any
) -> KindsCertificate | None:
    """Return one for any number of kinds, or note why there is none."""
    found: KindsCertificate | None = _noted(
        judge_kinds, model, pairs, t, noise, notes, options
    )
    return found


def _noted(
    judging: Callable[..., Any],
    model: Any,
    pairs: Pairs,
    t: Floats,
    noise: Noise,
    notes: list[str],
    options: dict[str, Any],
) -> Any:
    divided = int(np.sum((np.abs(t) != 1) & (t != 0)))
    if divided:
        notes.append(
            f"{divided} of the {len(t)} pairs for the certificate have divided "
            "answers, of which the majority counts"
        )
    with warnings_as_notes(notes):
        try:
            found = judging(model, pairs.compact(), np.sign(t), noise, **options)
        except ValueError as problem:
            notes.append(f"{in_options(str(problem))}. So there is no certificate")
            return None
    if 0 < found.n_doubtful < found.n_pairs:
        # With more of them, there was a warning.
        notes.append(in_options(doubt_in_words(options["doubtful"])))
    return found


def more_than_two_kinds(answered: AnsweredPairs, noise: Noise) -> str | None:
    """Return a sentence if random pairs of two kinds would not be answered so."""
    pairs, t = answered.with_unsure
    alone = _sharing_nothing(answered, pairs)
    same = int(np.sum(t[alone] >= 0))
    try:
        refuse_more_kinds(same, len(alone), noise)
    except MoreKindsError as problem:
        return in_options(str(problem))
    return None


def kinds_evidence(answered: AnsweredPairs, rates: Rates = RIGHT) -> KindsEvidence:
    """Return what the answers alone say about whether there are two kinds."""
    things = answered.points.groups[answered.index]
    return two_kinds_evidence(answered.pairs, answered.t, rates, things)


def doubts_two_kinds(answered: AnsweredPairs, rates: Rates = RIGHT) -> bool:
    """Return whether the answers alone make it doubtful that there are two kinds.

    How many answers are "same" tells that of random pairs alone.
    """
    evidence = kinds_evidence(answered, rates)
    if answered.n_chosen:
        return 2 * evidence.cycle_p_value < DOUBTFUL
    return evidence.doubtful


def _sharing_nothing(answered: AnsweredPairs, pairs: Pairs) -> Ints:
    """Return the numbers of pairs that share no point, and no group."""
    index = answered.points.groups[pairs.index]
    order = shuffled(len(index), np.random.RandomState(0))
    return disjoint_pairs(int(index.max(initial=0)) + 1, index, order)


def note_on_noise(
    model: Any, certificate: Certificate | KindsCertificate | None
) -> list[str]:
    """Return a sentence on what a certificate makes of rates that were not given."""
    r1, r0 = rates = rates_of(model)
    if certificate is None or rates == RIGHT:
        return []
    note = (
        f"the model assumes that some answers are wrong: that {1 - r1:.1%} of pairs of "
        f"the same kind are answered 'different', and {r0:.1%} of the others 'same'. "
        "The error relies on this, which is a guess; its interval does not. If you "
        f"know the rates, give them: --noise {r1:.3g},{r0:.3g}, or --noise none"
    )
    return [note]


def one_group_error(answered: AnsweredPairs, noise: Noise) -> float | None:
    """Return the error of putting all points into one group, from the answers."""
    rates = None if noise.kind == "unknown" else noise.rates
    t = answered.t[_sharing_nothing(answered, answered.pairs)]
    try:
        return 1 - prior_from_answers(np.sign(t), flip_rates=rates).majority_prior
    except ValueError:
        return None


def in_options(message: str) -> str:
    """Return a message of the library in the words of the command line."""
    message = message.replace("pass noise=None", "say --noise none")
    message = message.replace("with flip_rates", "with --noise R1,R0")
    message = message.replace("certify(..., points=X)", "say --within-groups")
    message = message.replace("pass points=X", "say --within-groups")
    message = message.replace("kinds='any' gives", "--kinds any gives")
    message = message.replace("flip_rates seem", "--noise seems")
    return message.replace("n_classes=2", "two").replace("classifier", "model")


@contextmanager
def warnings_as_notes(notes: list[str]) -> Iterator[None]:
    """Turn warnings of the library into notes, in the words of the command line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        message = str(warning.message)
        mine = issubclass(warning.category, UserWarning)
        # What is said about class assignment is told in other words, above.
        if mine and "class assignment" not in message:
            notes.append(in_options(message))
