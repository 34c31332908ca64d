"""`pairlearn check`: what is wrong or redundant in the answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.pairs import Pairs
from pairlearn.files.tables.answered_pairs import read_answers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pairlearn.files.tables.answered_pairs import AnsweredPairs

__all__ = ["Checked", "check_tables"]


@dataclass
class Checked:
    """What the answers are like.

    Attributes
    ----------
    answered : AnsweredPairs
        The pairs with their answers.
    n_same, n_different, n_soft : int
        Pairs by their answers; soft ones are counted in all.
    n_points, n_without : int
        Points, and those in no answered pair.
    n_components, largest : int
        Groups of points that answers join, and the points of the largest.
    n_redundant : int
        Answers that follow from others.
    n_implied : int
        Pairs whose answer is given or follows from those given.
    cycles : list of list
        Contradictions: (line, left id, right id, answer) of each pair on a closed path,
        the refuted one first.
    n_contradictions : int
        How many there are.
    n_disjoint : int
        Pairs that share no point, as a certificate needs them.
    columns : list of tuple
        (name, what it is) for each column of the points.
    notes : list of str
        What to tell.
    """

    answered: AnsweredPairs
    n_same: int
    n_different: int
    n_soft: int
    n_points: int
    n_without: int
    n_components: int
    largest: int
    n_redundant: int
    n_implied: int
    n_contradictions: int
    n_disjoint: int
    cycles: list[list[tuple[int, str, str, float]]]
    columns: list[tuple[str, str]]
    notes: list[str] = field(default_factory=list)


def check_tables(
    points: Path, pairs: Path, reading: Mapping[str, Any], *, most: int = 10
) -> Checked:
    """Look at a table of points and at answers about pairs of them.

    Parameters
    ----------
    points, pairs : Path
        The tables.
    reading : dict
        How they are to be read: arguments of `read_answers`.
    most : int
        How many contradictions to show.

    Returns
    -------
    Checked
    """
    answered = read_answers(points, pairs, **reading)
    columns = answered.points.columns
    n_points = len(answered.points)
    # The graph needs no features, nor the points that no answer is about.
    used, index = np.unique(answered.index, return_inverse=True)
    given = Pairs(np.zeros((len(used), 1)), index.reshape(-1, 2))
    t = answered.t
    sizes = np.bincount(given.components())
    certain = np.abs(t) == 1
    sure = given[certain]
    joined = sure.used_points()
    # A forest of the certain answers has one fewer links than points, in each tree.
    n_needed = len(joined) - len(np.unique(sure.components()[joined]))
    found = given.contradictions(t)
    ids, (left, right) = answered.points.ids, answered.index.T
    cycles = [
        [
            (answered.lines[k][0], ids[left[k]], ids[right[k]], float(t[k]))
            for k in cycle.tolist()
        ]
        for cycle in found[:most]
    ]
    notes = answered.notes + [column.note for column in columns if column.note]
    return Checked(
        answered=answered,
        n_same=int(np.sum(t > 0)),
        n_different=int(np.sum(t < 0)),
        n_soft=int(np.sum(~certain)),
        n_points=n_points,
        n_without=n_points - len(used),
        n_components=len(sizes),
        largest=int(sizes.max(initial=0)),
        n_redundant=int(certain.sum()) - n_needed,
        n_implied=given.closure(t).n_answers,
        n_contradictions=len(found),
        n_disjoint=len(given.disjoint(random_state=0)),
        cycles=cycles,
        columns=[(column.name, column.how) for column in columns],
        notes=notes,
    )
