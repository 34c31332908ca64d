"""Folds: which models see which pairs and points, and which they are judged by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.data.folds import point_folds
from pairlearn.data.graph import spanning_forest

if TYPE_CHECKING:
    from numpy.random import RandomState

    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Bools, Ints
    from pairlearn.models.auto.problem import Problem

__all__ = ["Folds", "deal_folds"]


@dataclass(frozen=True)
class Folds:
    """Which models are trained on which pairs, and judged by which.

    Attributes
    ----------
    trained_on : ndarray of shape (n_pairs, n_models)
        Whether a model sees a pair.
    tested : ndarray
        The pairs that are judged, deal after deal.
    model : ndarray
        The model that judges each: it has not seen the pair and, if honest, neither
        point.
    n_deals : int
        How often the points were dealt out.
    n_first : int
        How many of `tested` belong to the first deal; a pair occurs once in these.
    honest : bool
        Whether no point is in training and in testing.
    hidden : ndarray of shape (n_points, n_models)
        Points whose features a model does not see, though it sees answers about them.
    points, point_model : ndarray
        Points that are judged by what answers say about them, deal after deal, and the
        model that judges each: the point is hidden from it.
    n_first_points : int
        How many of `points` belong to the first deal.
    """

    trained_on: Bools
    tested: Ints
    model: Ints
    n_deals: int
    n_first: int
    honest: bool
    hidden: Bools
    points: Ints
    point_model: Ints
    n_first_points: int

    @property
    def in_words(self) -> str:
        """What is judged, and by whom."""
        judged = [
            f"{self.n_first} pairs" * bool(self.n_first),
            f"{self.n_first_points} points" * bool(self.n_first_points),
        ]
        how = (
            "share no point"
            if self.honest
            else "share points: the figures are optimistic"
        )
        return f"{' and '.join(filter(None, judged))} within folds that {how}"


def deal_folds(
    pairs: Pairs,
    n_folds: int,
    n_deals: int,
    rng: RandomState,
    problem: Problem | None = None,
) -> Folds:
    """Deal the points out to folds, several times; only the row numbers count.

    A model is trained on the pairs without a point in its fold, and judged by those
    with both; pairs that cross are left out of both. Where pairs share so many points
    that hardly any lies within a fold, pairs are dealt out instead, and a point is seen
    in training and in testing.

    That is not needed where the problem sees answers together: the points of large
    components are dealt out one by one, hidden from the model of their fold, and judged
    by what the answers say about them.

    `pairs` may be pairs of groups instead of the problem's points.
    """
    n_folds = max(2, min(n_folds, len(pairs) // 2))
    joint = problem is not None and bool(problem.shared.any())
    n_points = pairs.n_points if problem is None else problem.X.shape[0]
    trained_on, tested, model = [], [], []
    hidden, points, point_model = [], [], []
    honest = True
    for deal in range(n_deals):
        fold = point_folds(pairs, n_folds, rng, scatter=joint)[pairs.index]
        within = fold[:, 0] == fold[:, 1]
        hides = np.zeros((n_points, n_folds), dtype=bool)
        judged = np.zeros(0, dtype=np.intp)
        if problem is not None and joint:
            hides, judged, apart = _hide(problem, fold, n_folds)
            within &= ~apart
        counts = np.bincount(fold[within, 0], minlength=n_folds)
        counts = counts + hides[judged].sum(axis=0)
        if counts.min() == 0 or counts.sum() < max(n_folds, len(pairs) / 20):
            honest = False
            dealt = rng.permutation(len(pairs)) % n_folds
            fold, within = np.stack([dealt, dealt], axis=1), np.ones(len(pairs), bool)
            hides, judged = np.zeros_like(hides), judged[:0]
        here = fold[:, :, None] == np.arange(n_folds)
        trained_on.append(~here.any(axis=1))
        tested.append(np.flatnonzero(within))
        model.append(fold[within, 0] + deal * n_folds)
        hidden.append(hides)
        points.append(judged)
        point_model.append(hides[judged].argmax(axis=1) + deal * n_folds)
    return Folds(
        np.concatenate(trained_on, axis=1),
        np.concatenate(tested),
        np.concatenate(model),
        n_deals,
        len(tested[0]),
        honest,
        np.concatenate(hidden, axis=1),
        np.concatenate(points),
        np.concatenate(point_model),
        len(points[0]),
    )


def _hide(problem: Problem, fold: Ints, n_folds: int) -> tuple[Bools, Ints, Bools]:
    """Return which points the folds hide, the points to judge, and pairs not to judge.

    `fold` has the folds of both points of each pair. Points of a component that is in
    several folds are judged one by one, and the pairs of such a component are not.
    """
    n_points = problem.X.shape[0]
    shared = problem.shared
    ends, where = problem.index[shared], fold[shared]
    own = np.full(n_points, -1, dtype=np.intp)
    own[ends.ravel()] = where.ravel()
    used = np.flatnonzero(own >= 0)
    hides = np.zeros((n_points, n_folds), dtype=bool)
    hides[used, own[used]] = True
    component = spanning_forest(n_points, ends).component
    low = np.full(component.max(initial=-1) + 1, n_folds)
    high = np.full(len(low), -1)
    np.minimum.at(low, component[used], own[used])
    np.maximum.at(high, component[used], own[used])
    scattered = (low < high)[component]
    apart = np.zeros(len(fold), dtype=bool)
    apart[shared] = scattered[ends[:, 0]]
    return hides, used[scattered[used]], apart
