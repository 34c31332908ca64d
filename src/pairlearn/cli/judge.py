"""The certificate of a model from pairs it has not seen, whatever is known of noise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.trust.certificate import (
    certificate_from_noisy_answers,
    certify,
    clopper_pearson,
)

if TYPE_CHECKING:
    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Floats
    from pairlearn.trust.certificate import Certificate

__all__ = ["judge", "note_on_noise"]

_CERTAIN = (1.0, 0.0)


def judge(
    model: Any,
    pairs: Pairs,
    t: Floats,
    noise: Any,
    notes: list[str],
    *,
    confidence: float = 0.95,
) -> Certificate:
    """Return the certificate of a model, from fresh pairs that share no point.

    Parameters
    ----------
    model : Pipeline
        A model, as `pairlearn fit` makes it.
    pairs : Pairs
        The pairs.
    t : ndarray of shape (n_pairs,)
        Their answers; soft ones count by their sign.
    noise : "auto", None, float or tuple
        How often the answers are wrong: never, at one rate, or at (r1, r0). "auto": as
        the model takes it, which is a guess. The lower end of the interval then counts
        on it, and the upper end does not.
    notes : list of str
        To add to what is to be told.
    confidence : float
        As for :func:`pairlearn.certify`.

    Returns
    -------
    Certificate
    """
    answers = np.sign(t)
    guessed = isinstance(noise, str)
    rates = _rates_of(model) if guessed else noise
    if not isinstance(rates, tuple):
        flip_rate = 0.0 if rates is None else float(rates)
        return certify(
            model, pairs, answers, confidence=confidence, flip_rate=flip_rate
        )
    plain = certify(model, pairs, answers, confidence=confidence)
    if rates == _CERTAIN:
        return plain
    compact = pairs.compact()
    says = compact.answers(model.predict(compact.X))
    found = replace(
        certificate_from_noisy_answers(says, answers, rates, confidence=confidence),
        cross_validated=False,
    )
    if not guessed:
        notes += _too_many(says, answers, rates, confidence)
        return found
    # There may be fewer wrong answers than the model takes for wrong, even none.
    return replace(
        found,
        pair_interval=(
            min(found.pair_interval[0], plain.pair_interval[0]),
            max(found.pair_error, plain.pair_interval[1]),
        ),
        clustering_interval=(
            min(found.clustering_interval[0], plain.clustering_interval[0]),
            max(found.clustering_error, plain.clustering_interval[1]),
        ),
    )


def note_on_noise(model: Any, certificate: Certificate | None) -> list[str]:
    """Return a sentence on what a certificate makes of rates that were not given."""
    r1, r0 = rates = _rates_of(model)
    if certificate is None:
        return []
    if rates != _CERTAIN:
        note = (
            f"the model assumes that some answers are wrong: that {1 - r1:.1%} of "
            f"pairs of the same kind are answered 'different', and {r0:.1%} of the "
            "others 'same'. The error and the lower end of its interval rely on this, "
            "which is a guess here; the upper end does not, and holds even if no "
            "answer is wrong. If you know the rates, give them: --noise "
            f"{r1:.3g},{r0:.3g}, or --noise none"
        )
        return [note]
    if not certificate.pair_error:
        return []
    note = (
        "every answer is assumed to be right, so a wrong answer counts as an error of "
        "the model. If some answers are wrong, the error is lower than the certificate "
        "says; if one in ten is wrong, for example, add --noise 0.1"
    )
    return [note]


def _rates_of(model: Any) -> tuple[float, float]:
    """Return how often a model takes 'same' to be said of either kind of pair."""
    last = model[-1] if hasattr(model, "steps") else model
    r1, r0 = getattr(last, "flip_rates_", None) or _CERTAIN
    return float(r1), float(r0)


def _too_many(
    says: Floats, t: Floats, rates: tuple[float, float], confidence: float
) -> list[str]:
    """Return a sentence if the answers are right more often than the rates allow."""
    r1, r0 = rates
    kinds = ((t[says > 0] > 0, 1 - r1), (t[says < 0] < 0, r0))
    for agree, rate in kinds:
        if not len(agree):
            continue
        n_wrong = int(np.sum(~agree))
        most = clopper_pearson(n_wrong, len(agree), (1 + confidence) / 2)[1]
        if most < rate:
            share = n_wrong / len(agree)
            note = (
                f"the answers disagree with the model in {share:.1%} of pairs of one "
                f"kind, fewer than the {rate:.1%} that you said are wrong: --noise "
                "seems too high, and the certificate says nothing"
            )
            return [note]
    return []
