"""What `pairlearn fit` says about answers that disagree, and about a poor model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.cli.certificate_words import LOPSIDED
from pairlearn.data.cycles import in_contradictory_cycle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pairlearn.cli.fit import FitOptions
    from pairlearn.files.tables.answered_pairs import AnsweredPairs
    from pairlearn.trust.certificate import Certificate

__all__ = ["notes_about_answers", "notes_about_model"]


def notes_about_answers(
    answered: AnsweredPairs, n_kinds: int, *, looked_at: bool
) -> list[str]:
    """Return sentences about contradictions and about points without answers.

    `looked_at`: whether the model has seen some of these.
    """
    pairs = answered.pairs
    notes = []
    if n_kinds == 2:
        notes += _note_on_contradictions(answered)
    else:
        found = in_contradictory_cycle(
            pairs.n_points, pairs.index, np.asarray(answered.t), n_kinds
        )
        if found.any():
            notes.append(
                f"{found.sum()} answers are part of contradictions, however many "
                "classes there are: two points that others join as the same are "
                "called different; pairlearn check shows them"
            )
    n_without = pairs.n_points - len(pairs.used_points())
    if n_without and not looked_at:
        notes.append(
            f"{n_without} of {pairs.n_points} points are in no answered pair; the "
            "model does not learn from them"
        )
    return notes


def _note_on_contradictions(answered: AnsweredPairs) -> list[str]:
    found = answered.pairs.contradictions(answered.t)
    if not len(found):
        return []
    cycle = found[0]
    lines = ", ".join(str(answered.lines[k][0]) for k in cycle[:6].tolist())
    more = ", ..." if len(cycle) > 6 else ""
    note = (
        f"{len(found)} answer(s) contradict others if there are two classes. For "
        f"example, the answers in lines {lines}{more} cannot all be right; "
        "pairlearn check shows them"
    )
    return [note]


def notes_about_model(
    model: Any,
    shares: Mapping[str, float],
    certificate: Certificate | None,
    options: FitOptions,
) -> list[str]:
    """Return sentences about a model that is of little use, or whose names may be."""
    notes = []
    largest = max(shares, key=shares.__getitem__)
    majority = options.majority
    if shares[largest] <= LOPSIDED and majority is not None and shares[majority] < 0.4:
        notes.append(
            f"you said that class {majority!r} has most of the points, but the model "
            f"puts only {shares[majority]:.0%} into it; the names may be swapped"
        )
    if certificate is not None and certificate.clustering_interval[1] > 0.45:
        low, high = certificate.clustering_interval
        notes.append(
            f"the error may be anything between {low:.0%} and {high:.0%}: the answers "
            "do not show that the model is better than chance. You need more pairs, or "
            "columns that have to do with the question"
        )
    settled = model[-1].assignment_
    if settled is not None and settled.p_value is not None and settled.p_value > 0.1:
        notes.append(
            f"the answers do not show clearly which group is {options.majority!r} "
            f"(p-value {settled.p_value:.2f}), so the names may be swapped; check some "
            "points that you know"
        )
    return notes
