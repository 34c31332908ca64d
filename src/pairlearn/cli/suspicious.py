"""Answers that may be wrong: ranked, and written to a table with their ids."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.cli.judging import warnings_as_notes
from pairlearn.files.tables.errors import TableError
from pairlearn.models.compose import make_pair_pipeline
from pairlearn.system.writing import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from pairlearn.files.tables.answered_pairs import AnsweredPairs
    from pairlearn.trust.suspicious import SuspiciousAnswers

__all__ = ["rank_answers", "write_suspicious"]

_HEAD = ("left", "right", "answer", "probability_same", "suspicion", "contradicted")


def rank_answers(answered: AnsweredPairs, seed: int, n_kinds: int) -> SuspiciousAnswers:
    """Rank the answers by a linear model, which is made in a moment, for each fold.

    Parameters
    ----------
    answered : AnsweredPairs
        The pairs with their answers.
    seed : int
        Seed.
    n_kinds : int
        How many kinds of points there are.
    """
    from sklearn.preprocessing import StandardScaler

    from pairlearn import MCLClassifier, suspicious_answers

    t = answered.t
    if not (np.any(t > 0) and np.any(t < 0)):
        only = "same" if np.any(t > 0) else "different"
        raise TableError(
            f"all answers are '{only}', so that none can be told from others; both "
            "kinds of answers are needed to find suspicious ones"
        )
    # Of texts, a few numbers each are enough for that; so is a rough minimum, since
    # the last digits of a score put no answer above another that matters.
    linear = make_pair_pipeline(
        answered.points.make_encoder(parts=()),
        StandardScaler(),
        MCLClassifier(n_classes=n_kinds, tol=1e-3, random_state=seed),
    )
    with warnings_as_notes([]):
        return suspicious_answers(linear, answered.pairs, t, random_state=seed)


def write_suspicious(
    found: SuspiciousAnswers, answered: AnsweredPairs, path: Path
) -> None:
    """Write all answers with the ids of their points, the most suspicious first.

    Parameters
    ----------
    found : SuspiciousAnswers
        Of `rank_answers`.
    answered : AnsweredPairs
        The same pairs.
    path : Path
        Where to write: .csv or .tsv. The column `lines` says where the answers stand.
    """
    ids = answered.points.ids
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    with (
        replacing(path) as partial,
        partial.open("w", encoding="utf-8", newline="") as file,
    ):
        rows = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        rows.writerow((*_HEAD, "lines"))
        for row in found:
            rows.writerow(
                (
                    ids[row.left],
                    ids[row.right],
                    _said(row.answer),
                    f"{row.probability:.4f}",
                    f"{row.suspicion:.4f}",
                    "yes" if row.contradicted else "no",
                    "; ".join(map(str, answered.lines[row.pair])),
                )
            )


def _said(answer: float) -> Any:
    if abs(answer) == 1:
        return "same" if answer > 0 else "different"
    return f"{answer:g}"
