"""Two tables to pairs and answers: the part that fit, certify and check share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.files.tables.answers import understand
from pairlearn.files.tables.cells import shown
from pairlearn.files.tables.columns import hint_about_ids
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.reading import as_asked, as_points, read_table

if TYPE_CHECKING:
    from pathlib import Path

    from pairlearn.data.types import Bools, Floats, Ints
    from pairlearn.files.tables.reading import AskedPairs, Points

__all__ = ["Asked", "Columns", "read_asked"]


@dataclass(frozen=True)
class Columns:
    """How the tables are to be understood, where that does not show by itself."""

    id: str | None = None
    left: str | None = None
    right: str | None = None
    answer: str | None = None
    first_row: int | None = None
    soft: bool = False
    skip_unknown: bool = False


@dataclass
class Asked:
    """Pairs of points with one answer each.

    Attributes
    ----------
    points : Points
        The points.
    index : ndarray of shape (n_pairs, 2)
        Row numbers of the two points of each pair.
    t : ndarray of shape (n_pairs,)
        The mean of the answers about each pair.
    lines : list of list of int
        Where the answers about each pair stand.
    n_rows, n_unsure, n_self, n_unknown : int
        Rows in the table; answers that were unsure; rows that name one point twice;
        rows left out since they name an unknown point.
    n_repeated, n_disagreeing, n_tied : int
        Pairs that were answered more than once; of these, those whose answers
        disagree; of these, those left out since the answers hold each other up.
    notes : list of str
        All this in sentences.
    """

    points: Points
    index: Ints
    t: Floats
    lines: list[list[int]]
    n_rows: int = 0
    n_unsure: int = 0
    n_self: int = 0
    n_unknown: int = 0
    n_repeated: int = 0
    n_disagreeing: int = 0
    n_tied: int = 0
    disagreeing: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.t)

    def note_on_hard_pairs(self) -> list[str]:
        """Return a sentence if pairs that are hard to answer miss in a certificate."""
        missing = []
        if self.n_tied:
            missing.append(f"{self.n_tied} evenly divided pair(s)")
        if self.n_unsure:
            missing.append(f"{self.n_unsure} unsure answer(s)")
        if not missing:
            return []
        return [
            (
                f"the certificate does not count the {' and the '.join(missing)}, "
                "which are likely to be hard: over all pairs the error is probably "
                "higher"
            )
        ]


def read_asked(points: Path, pairs: Path, columns: Columns) -> Asked:
    """Read a table of points and a table of answers about pairs of them.

    Several answers about one pair, in whatever order it names its points, become one:
    their mean, a soft answer where they disagree. So each pair counts once, however
    many people answered it; where they are evenly divided it is left out.

    Parameters
    ----------
    points, pairs : Path
        The tables.
    columns : Columns
        How they are to be understood.

    Returns
    -------
    Asked
    """
    point_table, pair_table = read_table(points), read_table(pairs)
    named = (columns.left, columns.right, columns.answer)
    try:
        asked = as_asked(pair_table, *named)
    except TableError:
        # Perhaps the points tell which columns hold ids.
        known = as_points(point_table, columns.id, first_row=columns.first_row)
        asked = as_asked(pair_table, *named, ids=known.ids)
    found = as_points(
        point_table,
        columns.id,
        wanted=set(asked.left) | set(asked.right),
        first_row=columns.first_row,
    )
    _check_header(asked, found)
    outcome = Asked(found, np.empty((0, 2), dtype=np.intp), np.empty(0), [])
    outcome.notes += point_table.notes + pair_table.notes + found.notes
    outcome.n_rows = len(asked)
    index, known_rows = _look_up(asked, found, columns, outcome)
    answers = understand(asked.words, soft=columns.soft, place=pair_table.place)
    outcome.notes += answers.notes
    outcome.n_unsure = int(np.sum(~answers.sure))
    alone = index[:, 0] == index[:, 1]
    outcome.n_self = int(np.sum(alone & known_rows))
    if outcome.n_self:
        row = int(np.flatnonzero(alone & known_rows)[0])
        outcome.notes.append(
            f"{outcome.n_self} row(s) pair a point with itself and were left out, "
            f"first {pair_table.place(row)}"
        )
    rows = np.flatnonzero(known_rows & answers.sure & ~alone)
    if not len(rows):
        raise TableError(
            f"{pair_table.name} holds no usable answer: of {len(asked)} "
            f"row(s) {outcome.n_unsure} are unsure, {outcome.n_unknown} name an "
            f"unknown point and {outcome.n_self} pair a point with itself"
        )
    _join(outcome, index[rows], answers.t[rows], pair_table.lines[rows].tolist())
    return outcome


def _check_header(asked: AskedPairs, points: Points) -> None:
    """Refuse a table of pairs whose first line is a pair, and not a header."""
    left, right, answer = asked.names
    if len(points.ids.rows_of({left, right})) == 2:
        raise TableError(
            f"{asked.table.name}: the first line, {left},{right},{answer}, seems to be "
            "a pair, not a header; put a header line above it: left,right,answer"
        )


def _look_up(
    asked: AskedPairs, points: Points, columns: Columns, outcome: Asked
) -> tuple[Ints, Bools]:
    """Return the row numbers of the points of each pair, and where both are known."""
    row_of = points.ids.rows_of({*asked.left, *asked.right})
    sides = [
        np.array([row_of.get(name, -1) for name in side], dtype=np.intp)
        for side in (asked.left, asked.right)
    ]
    index = np.stack(sides, axis=1)
    known: Bools = (index >= 0).all(axis=1)  # type: ignore[assignment]
    strange = np.flatnonzero(~known)
    if not len(strange):
        return index, known
    unknown = [
        side[row]
        for row in strange.tolist()
        for side in (asked.left, asked.right)
        if side[row] not in row_of
    ]
    some = ", ".join(shown(name) for name in dict.fromkeys(unknown[:3]))
    if not columns.skip_unknown or len(strange) == len(asked):
        where = (
            f"column {points.id_column!r}" if points.id_column else "their row numbers"
        )
        raise TableError(
            f"{asked.table.place(int(strange[0]))}: {len(strange)} pair(s) name points "
            f"that are not in {points.table.name}, such as {some}; points are "
            f"identified by {where}: {', '.join(map(shown, points.ids[:3]))}, ..."
            + hint_about_ids(unknown, points.table, points.ids)
            + "; --skip-unknown leaves such pairs out" * (len(strange) < len(asked))
        )
    outcome.n_unknown = len(strange)
    outcome.notes.append(
        f"{len(strange)} pair(s) name points that are not in {points.table.name}, such "
        f"as {some}, and were left out"
    )
    return index, known


def _join(outcome: Asked, index: Ints, t: Floats, lines: list[int]) -> None:
    """Make one pair of all answers about the same two points, in the first's order."""
    low, high = index.min(axis=1), index.max(axis=1)
    key = low.astype(np.int64) * len(outcome.points) + high
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    count = np.bincount(group)
    mean = np.bincount(group, weights=t) / count
    spread = np.bincount(group, weights=(t - mean[group]) ** 2)
    disagree = spread > 1e-12
    # Rounding must not make a soft answer of certain ones that agree.
    mean = np.where(disagree, mean, t[first])
    tied = np.abs(mean) < 1e-9
    order = np.argsort(first)
    kept = order[~tied[order]]
    members: list[list[int]] = [[] for _ in count]
    for row, number in enumerate(group.tolist()):
        members[number].append(lines[row])
    outcome.index, outcome.t = index[first[kept]], mean[kept]
    outcome.lines = [members[k] for k in kept]
    outcome.n_repeated = int(np.sum(count > 1))
    outcome.n_disagreeing = int(np.sum(disagree))
    outcome.n_tied = int(np.sum(tied))
    outcome.disagreeing = [members[k][0] for k in order[disagree[order]].tolist()]
    _tell(
        outcome,
        int(np.sum(count[count > 1])),
        [members[k] for k in order],
        disagree[order],
    )
    if not len(kept):
        raise TableError(
            "no pair has a usable answer: all answers are evenly divided, or 0"
        )


def _tell(
    outcome: Asked, answers: int, members: list[list[int]], disagree: Any
) -> None:
    if outcome.n_repeated:
        outcome.notes.append(
            f"{outcome.n_repeated} pair(s) were answered more than once ({answers} "
            "answers); each counts once, with the mean of its answers"
        )
    if outcome.n_disagreeing:
        lines = members[int(np.flatnonzero(disagree)[0])]
        outcome.notes.append(
            f"{outcome.n_disagreeing} pair(s) got answers that disagree, the first in "
            f"lines {', '.join(map(str, lines[:5]))}"
        )
    if outcome.n_tied:
        outcome.notes.append(
            f"{outcome.n_tied} pair(s) whose answers are evenly divided, or 0, say "
            "nothing and were left out"
        )
