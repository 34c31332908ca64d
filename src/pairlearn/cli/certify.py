"""`pairlearn certify`: the error of a model, from fresh pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.certificate import certify
from pairlearn.cli.asked import Columns, read_asked
from pairlearn.cli.encode import CellError
from pairlearn.cli.errors import TableError
from pairlearn.cli.fit import seen_points, telling
from pairlearn.cli.predict import check_columns, frame_for_model, wanted_columns
from pairlearn.pairs import Pairs

if TYPE_CHECKING:
    from pathlib import Path

    from pairlearn.certificate import Certificate
    from pairlearn.cli.tables import Table

__all__ = ["Certified", "certify_tables"]

_HEX = 12  # characters of a fingerprint


@dataclass
class Certified:
    """A certificate, and how it came about."""

    certificate: Certificate
    n_answered: int
    n_seen: int
    n_shared: int
    notes: list[str]


def certify_tables(
    model: Any,
    about: dict[str, Any],
    points: Path,
    pairs: Path,
    columns: Columns,
    *,
    confidence: float = 0.95,
    flip_rate: float = 0.0,
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
    columns : Columns
        How they are to be understood.
    confidence, flip_rate : float
        As for :func:`pairlearn.certify`.
    seed : int
        Which of the pairs that share points are taken.

    Returns
    -------
    Certified
    """
    asked = read_asked(points, pairs, columns)
    notes = asked.notes
    table = asked.points.table
    wanted = wanted_columns(model, about)
    check_columns(table, wanted)
    frame = frame_for_model(table, wanted)
    given, t = Pairs(frame, asked.index), asked.t
    fresh = np.arange(len(given))
    seen = about.get("seen")
    if seen is None:
        notes.append(
            "the model does not tell which points it learnt from: make sure that these "
            "pairs are not among those it was made with"
        )
    else:
        _check_cells(model, table, frame)
        fresh = _fresh(model, asked, frame, given, seen)
    n_seen = len(given) - len(fresh)
    if not len(fresh):
        raise TableError(
            f"all {len(given)} pairs hold points that the model learnt from; a "
            "certificate needs fresh random pairs, of points not used before"
        )
    kept = fresh[given[fresh].disjoint(random_state=seed)]
    soft = int(np.sum(np.abs(t[kept]) != 1))
    if soft:
        notes.append(f"{soft} soft or divided answer(s) count by their sign")
    with telling(notes):
        certificate = certify(
            model,
            given[kept],
            np.sign(t[kept]),
            confidence=confidence,
            flip_rate=flip_rate,
        )
    n_shared = len(fresh) - len(kept)
    if n_seen:
        notes.append(
            f"{n_seen} of {len(given)} pairs hold points that the model learnt from, "
            "and were left out"
        )
    if n_shared:
        notes.append(
            f"{n_shared} pair(s) that share a point with another were left out"
        )
    return Certified(certificate, len(given), n_seen, n_shared, notes)


def _fresh(model: Any, asked: Any, frame: Any, pairs: Pairs, seen: str) -> Any:
    """Return the numbers of the pairs whose points are both new to the model."""
    known = {seen[k : k + _HEX] for k in range(0, len(seen), _HEX)}
    used = pairs.used_points()
    marks = seen_points(model, frame, asked.points.ids, used)
    old = np.zeros(pairs.n_points, dtype=bool)
    old[used] = [mark in known for mark in marks]
    return np.flatnonzero(~old[pairs.index].any(axis=1))


def _check_cells(model: Any, table: Table, frame: Any) -> None:
    """Refuse cells that are not what they were when the model was made."""
    try:
        with telling([]):
            model[0].transform(frame)
    except CellError as error:
        raise TableError(f"{table.place(error.row)}: {error}") from None
