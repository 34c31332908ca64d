"""Answers about pairs, in a frame or in the file of `pairlearn label`, as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.containers import check_columns, look_up
from pairlearn.data.databases import called
from pairlearn.data.ids import id_of
from pairlearn.data.stored_answers import read_stored_answers

if TYPE_CHECKING:
    from pairlearn.data.types import Bools, Floats, Ints

__all__ = ["find_answers"]

_SAID = {"same": 1.0, "different": -1.0, "unsure": 0.0, "": 0.0}
_PURPOSES = ("learn", "audit", "all")


@dataclass
class _Answers:
    """Answers, one per row, in the order in which they were asked."""

    index: Ints
    t: Floats
    purposes: list[str] | None

    def take(self, some: Bools | Ints) -> _Answers:
        return _Answers(self.index[some], self.t[some], None)


def find_answers(
    points: Any,
    answers: Any,
    *,
    id: str | None,  # noqa: A002 - the user's word for it
    purpose: str,
    unsure: bool | None,
) -> tuple[Ints, Floats]:
    """Return row numbers of pairs and answers; see `pairlearn.Pairs.from_answers`."""
    if purpose not in _PURPOSES:
        raise ValueError(f"purpose must be one of {_PURPOSES}; got {purpose!r}")
    if isinstance(answers, str | Path):
        found = _of_store(points, answers, id)
    else:
        found = _of_frame(points, answers, id)
    if purpose != "all":
        if found.purposes is None:
            if purpose == "audit":
                raise ValueError(
                    "the answers have no column 'purpose', so that it is not known "
                    "which are audits"
                )
        else:
            is_audit = np.array([one == "audit" for one in found.purposes], dtype=bool)
            found = found.take(is_audit == (purpose == "audit"))
    if purpose == "audit":
        found = found.take(_first_sure(found))
    if unsure is None:
        unsure = purpose == "audit"
    if not unsure:
        found = found.take(found.t != 0)
    return found.index, found.t


def _of_store(points: Any, path: str | Path, id: str | None) -> _Answers:  # noqa: A002
    rows = read_stored_answers(path).rows
    names = [(row.left, row.right) for row in rows]
    numbers = [(row.left_row, row.right_row) for row in rows]
    ids = _ids_of(points, id)
    if ids is None:
        index = _by_row(names, numbers, points.shape[0], called(path))
    else:
        row_of = {name: row for row, name in enumerate(ids)}
        if len(row_of) < len(ids):
            raise ValueError("ids of points must be unique, and some rows repeat one")
        unknown = [name for pair in names for name in pair if name not in row_of]
        if unknown:
            raise ValueError(
                f"{len(unknown)} id(s) in {called(path)} are not among the points, "
                f"such as {unknown[0]!r}; the points have {', '.join(ids[:3])}, ..."
            )
        index = [(row_of[left], row_of[right]) for left, right in names]
    t = np.array([_SAID.get(row.answer, 0.0) for row in rows], dtype=float)
    found = np.array(index, dtype=np.intp).reshape(-1, 2)
    return _Answers(found, t, [row.purpose for row in rows])


def _ids_of(points: Any, id: str | None) -> list[str] | None:  # noqa: A002
    """Return the ids of points as text; None if they are known by their rows."""
    if id is not None:
        check_columns("points", points, [id])
        return [id_of(name) for name in np.asarray(points[id]).tolist()]
    index = getattr(points, "index", None)
    if not hasattr(points, "columns") or index is None:
        return None
    names = np.asarray(index).tolist()
    if names == list(range(len(names))):
        return None
    return [id_of(name) for name in names]


def _by_row(
    names: list[tuple[str, str]], rows: list[tuple[int, int]], n_points: int, file: str
) -> list[tuple[int, int]]:
    """Return row numbers, if the answers know the points by these alone."""
    known = [
        (name, row)
        for sides in zip(names, rows, strict=True)
        for name, row in zip(*sides, strict=True)
    ]
    if not any(all(name == str(row + k) for name, row in known) for k in (0, 1)):
        raise ValueError(
            f"{file} names the points by ids, such as {known[0][0]!r}; say which "
            "column of the points holds them with id="
        )
    outside = [row for _, row in known if not 0 <= row < n_points]
    if outside:
        raise ValueError(
            f"{file} has answers about row {outside[0]} (from 0), and there are "
            f"{n_points} points; give the points that were asked about"
        )
    return rows


def _of_frame(points: Any, answers: Any, id: str | None) -> _Answers:  # noqa: A002
    index = look_up(points, answers, id=id, left="left", right="right")
    check_columns("answers", answers, ["answer"])
    t = np.array([_number(cell) for cell in np.asarray(answers["answer"]).tolist()])
    purposes = None
    if "purpose" in list(answers.columns):
        purposes = [id_of(cell) for cell in np.asarray(answers["purpose"]).tolist()]
    return _Answers(np.asarray(index, dtype=np.intp).reshape(-1, 2), t, purposes)


def _number(cell: Any) -> float:
    """Return +1, -1, or 0 for unsure."""
    if isinstance(cell, bool):
        return 1.0 if cell else -1.0
    if isinstance(cell, int | float) and cell in (-1, 0, 1):
        return float(cell)
    word = id_of(cell).casefold()
    if word not in _SAID:
        raise ValueError(
            "an answer is 'same' (or 1), 'different' (or -1) or 'unsure' (or 0, or "
            f"empty); got {cell!r}. pairlearn.files.tables.read_answers understands "
            "more words, and reads files"
        )
    return _SAID[word]


def _first_sure(answers: _Answers) -> Ints:
    """Return which answers count where a pair has several: the first sure one."""
    best: dict[tuple[int, int], int] = {}
    for row, (left, right) in enumerate(answers.index.tolist()):
        pair = min(left, right), max(left, right)
        if pair not in best or (answers.t[best[pair]] == 0 and answers.t[row] != 0):
            best[pair] = row
    return np.array(sorted(best.values()), dtype=np.intp)
