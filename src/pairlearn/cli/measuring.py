"""How good a fitted model is: by pairs that were kept aside, or by its folds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.cli.judging import (
    BY_NATURE,
    judged,
    more_than_two_kinds,
    warnings_as_notes,
)
from pairlearn.cli.training_points import find_equal_rows, repeated_pairs
from pairlearn.files.tables.encoder import make_encoder
from pairlearn.files.tables.encoders.texts import without_words
from pairlearn.trust.certificate import make_certificate
from pairlearn.trust.kept_pairs import LEAST_KEPT
from pairlearn.trust.noise import Counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.data.types import Bools, Ints
    from pairlearn.files.tables.answered_pairs import AnsweredPairs
    from pairlearn.models.auto import PairClassifier
    from pairlearn.trust.certificate import Certificate
    from pairlearn.trust.noise import Noise

__all__ = ["measure", "measure_kept"]


def measure(
    model: Any,
    answered: AnsweredPairs,
    trained: Ints,
    learnt: Ints,
    kept: Ints,
    noise: Noise,
    *,
    holdout: float,
) -> Certificate | None:
    """Return the certificate of a model, and note what it rests on."""
    notes = answered.notes
    problem = more_than_two_kinds(answered, noise)
    if problem is not None:
        notes.append(f"{problem}. So there is no certificate")
        return None
    if len(kept):
        found: Certificate | None = measure_kept(
            judged, model, answered, learnt, kept, noise
        )
        return found
    certificate = _cross_validated(model[-1], answered, trained, noise)
    if holdout:
        outcome = (
            "there is no certificate"
            if certificate is None
            else "the certificate is only an estimate, from cross-validation"
        )
        notes.append(
            "there are too few pairs, or too many that share points, to keep some "
            f"aside: {outcome}. For a guarantee, collect answers about fresh random "
            "pairs and run pairlearn certify"
        )
    if certificate is not None and len(answered.unsure):
        notes.append(
            f"the estimate does not count the {len(answered.unsure)} unsure pair(s), "
            "which are likely to be hard: over all pairs the error is probably higher"
        )
    return certificate


def measure_kept(
    judging: Callable[..., Any],
    model: Any,
    answered: AnsweredPairs,
    learnt: Ints,
    kept: Ints,
    noise: Noise,
) -> Any:
    """Return the certificate of the pairs that were kept aside, if there can be one."""
    (pairs, t), notes = answered.with_unsure, answered.notes
    doubtful, repeat = _doubtful(answered, learnt, kept)
    # By their ids these points are others than those of the training.
    unseen: bool | None = not doubtful.any()
    if repeat and np.sum(~doubtful) < LEAST_KEPT:
        notes.append(BY_NATURE.format(int(doubtful.sum()), len(kept)))
        doubtful[:], unseen = False, None
    found = judging(model, pairs[kept], t[kept], noise, notes, doubtful=doubtful)
    return None if found is None else replace(found, unseen=unseen)


def _cross_validated(
    clf: PairClassifier, answered: AnsweredPairs, trained: Ints, noise: Noise
) -> Certificate | None:
    """Return the estimate of a fit, for what is known here about wrong answers."""
    if clf.certificate_ is None or clf._held_out is None:
        # Of points that answers connect: its upper end holds for wrong answers, too.
        return clf.certificate_
    numbers, says = clf._held_out
    t = np.sign(answered.with_unsure[1][trained[numbers]])
    return make_certificate(Counts.of(says, t), noise, 0.95, cross_validated=True)


def _doubtful(answered: AnsweredPairs, learnt: Ints, kept: Ints) -> tuple[Bools, bool]:
    """Tell which kept pairs have a point that equals one that was seen before.

    One that the model has learnt from, or of a kept pair that counts already. And
    whether rows repeat by nature, so that this says little.
    """
    pairs = answered.with_unsure[0]
    used = np.union1d(pairs.used_points(), learnt)
    with warnings_as_notes([]):
        encoder = make_encoder(answered.points.columns, parts=("words",))
        encoded = encoder.fit_transform(pairs.X.iloc[used])
        encoded = without_words(encoded, encoder)
    equal = find_equal_rows(encoded, used, pairs.n_points)
    known = np.zeros(pairs.n_points, dtype=bool)
    known[equal.group[learnt]] = True
    doubtful = np.asarray(known[equal.group[pairs.index[kept]]].any(axis=1))
    fresh = np.flatnonzero(~doubtful)
    doubtful[fresh] = repeated_pairs(equal, pairs.index[kept[fresh]])
    return doubtful, equal.repeat
