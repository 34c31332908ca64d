"""`pairlearn certify`: the error of a model, from fresh pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from pairlearn.cli.fit import note_on_noise, warnings_as_notes
from pairlearn.cli.predict import frame_for_model, placing_errors, wanted_columns
from pairlearn.cli.training_points import find_equal_rows, find_known_points, ids_at
from pairlearn.data.graph import disjoint_pairs, shuffled
from pairlearn.data.pairs import Pairs
from pairlearn.files.tables.answered_pairs import read_answers
from pairlearn.files.tables.errors import TableError
from pairlearn.trust.certify import certify

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pairlearn.cli.training_points import KnownPoints
    from pairlearn.data.types import Floats, Ints
    from pairlearn.files.tables.reading import Table
    from pairlearn.trust.certificate import Certificate

__all__ = ["Certified", "certify_tables"]


@dataclass
class Certified:
    """A certificate, and how it came about."""

    certificate: Certificate
    n_seen: int
    n_shared: int
    notes: list[str]


def certify_tables(
    model: Any,
    about: dict[str, Any],
    points: Path,
    pairs: Path,
    reading: Mapping[str, Any],
    *,
    confidence: float = 0.95,
    noise: Any = "auto",
    seed: int = 0,
) -> Certified:
    """Estimate the error of a model from answers about pairs that it has not seen.

    Pairs with a point that the model learnt from are left out, and of pairs that share
    a point one is taken, at random.

    Parameters
    ----------
    model : Pipeline
        A model, as `pairlearn fit` makes it.
    about : dict
        What was stored beside it.
    points, pairs : Path
        The tables.
    reading : dict
        How they are to be read: arguments of `read_answers`.
    confidence : float
        As for :func:`pairlearn.certify`.
    noise : "auto", None, float or tuple
        How often these answers are wrong; as `flip_rates` there.
    seed : int
        Which of the pairs that share points are taken.

    Returns
    -------
    Certified
    """
    answered = read_answers(points, pairs, **reading)
    notes = answered.notes
    table = answered.points.table
    frame = frame_for_model(table, wanted_columns(model, about))
    given, t = Pairs(frame, answered.index), answered.t
    used = given.used_points()
    known, index = None, given.index
    if about.get("seen") is not None:
        encoded = _encoded(model, table, frame)[used]
        ids = ids_at(answered.points, used)
        known = find_known_points(about["seen"], encoded, ids)
        equal_rows = find_equal_rows(encoded, used, given.n_points)
        if not equal_rows.repeat and not (known and known.repeat):
            index = equal_rows.group[index]
    fresh = np.arange(len(given))
    if known is None:
        notes.append(
            "the model does not record which points it learned from: make sure that "
            "these pairs were not used to train it"
        )
    else:
        fresh = _fresh(known, used, given, notes)
    order = shuffled(len(fresh), check_random_state(seed))
    kept = fresh[disjoint_pairs(given.n_points, index[fresh], order)]
    soft = int(np.sum(np.abs(t[kept]) != 1))
    if soft:
        notes.append(f"{soft} uncertain or divided answer(s) count by their sign")
    with warnings_as_notes(notes):
        certificate = certify(
            model,
            given[kept],
            np.sign(t[kept]),
            confidence=confidence,
            flip_rates=noise,
        )
    if noise == "auto":
        notes += note_on_noise(model, certificate)
    notes += answered.note_on_hard_pairs()
    n_shared = len(fresh) - len(kept)
    if n_shared:
        notes.append(
            f"{n_shared} pair(s) that share a point with another pair, or have an "
            "equal one, were left out"
        )
    return Certified(certificate, len(given) - len(fresh), n_shared, notes)


def _fresh(known: KnownPoints, used: Ints, pairs: Pairs, notes: list[str]) -> Ints:
    """Return the numbers of the pairs of new points, and tell about the others."""

    def holding(some: Any) -> Any:
        """Return which pairs hold one of some of the points used."""
        mask = np.zeros(pairs.n_points, dtype=bool)
        mask[used] = some
        return mask[pairs.index].any(axis=1)

    seen, by_id = holding(known.learnt_from), holding(known.by_id)
    n_seen, n_fresh = int(np.sum(seen)), int(np.sum(~seen))
    n_by_id = int(np.sum(by_id))
    how = f"{n_by_id} recognised by an id, {n_seen - n_by_id} only by equal features"
    changed = int(np.sum(known.by_id & ~known.by_features))
    about_ids = (
        f"{changed} point(s) have the id of a point that the model learned from, but "
        "other features; if they are different points, give them different ids"
    )
    if not n_fresh:
        way_out = f". {about_ids}" * bool(changed)
        if known.repeat and not known.ids:
            way_out = (
                ". Rows repeat in these data, so points without ids cannot be told "
                "apart: train the model with a table that has an id column"
            )
        raise TableError(
            f"all {len(pairs)} pairs have points that the model learned from ({how}); "
            "a certificate needs fresh random pairs, of points not used "
            f"before{way_out}"
        )
    if n_seen:
        notes.append(
            f"{n_seen} of {len(pairs)} pairs have points that the model learned from "
            f"({how}), and were left out"
        )
    if changed:
        notes.append(about_ids)
    if not known.ids:
        notes.append(
            "there are no ids, so points that the model learned from are recognised by "
            "their features: a point whose cells were changed since then counts as new"
        )
    n_alike = int(np.sum(~seen & holding(known.by_features)))
    if n_alike:
        notes.append(
            f"{n_alike} of {n_fresh} pairs are counted although they have a point that "
            "equals, in all columns, a point that the model learned from: rows repeat "
            "in these data, and its id is new. If it is the same point under another "
            "id, the error is higher than this says"
        )
    return np.flatnonzero(~seen)


def _encoded(model: Any, table: Table, frame: Any) -> Floats:
    """Return points as numbers; refuse cells that are not what they once were."""
    with placing_errors(table), warnings_as_notes([]):
        return np.asarray(model[0].transform(frame), dtype=float)
