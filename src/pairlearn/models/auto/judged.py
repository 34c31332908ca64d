"""What the models of the folds say about pairs and points that they have not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import softmax

from pairlearn.models.base import is_disjoint
from pairlearn.trust.noise import Counts

if TYPE_CHECKING:
    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Bools, Floats, Ints
    from pairlearn.models.auto.choice import Choice
    from pairlearn.models.auto.problem import Problem
    from pairlearn.models.base import Answered

__all__ = ["Judged"]

# What answers say about a point is clear from this probability on.
_CLEAR = 0.9


@dataclass(frozen=True)
class Judged:
    """Pairs and points, each judged by a model that has not seen it.

    Attributes
    ----------
    given : Answered
        The pairs both of whose points were judged, and their answers.
    t : ndarray of shape (n_pairs,)
        The answers to count.
    logits : ndarray of shape (n_pairs, 2, n_classes)
        Calibrated log-probabilities of both points.
    rows : ndarray
        Their numbers in the sample.
    usable : ndarray of bool
        Pairs to count: they share no point.
    point_wrong, point_unsure : ndarray of bool
        Of the points that were judged by what answers say about them: whether the
        model says otherwise, and whether the answers leave it open.
    """

    given: Answered
    t: Floats
    logits: Floats
    rows: Ints
    usable: Bools
    point_wrong: Bools
    point_unsure: Bools

    @classmethod
    def of(
        cls,
        choice: Choice,
        problem: Problem,
        sample: Answered,
        joined: Pairs,
        to_count: Floats | None = None,
    ) -> Judged:
        """Look up what was said; `joined` are pairs of groups, or the pairs.

        `to_count` are answers to count in the place of those that taught, NaN where
        there is none: such pairs are not among the usable ones.
        """
        folds = choice.folds
        if len(folds.points):
            logits = choice.out_of_fold(problem)[sample.pairs.index]
            rows = np.flatnonzero(~np.isnan(logits).any(axis=(1, 2)))
            logits = logits[rows]
        else:
            rows = folds.tested[: folds.n_first]
            logits = choice.calibrated[: folds.n_first]
        first = slice(len(folds.tested), len(folds.tested) + folds.n_first_points)
        says, told = np.moveaxis(softmax(choice.calibrated[first], axis=2), 1, 0)
        unsure = told.max(axis=1) < _CLEAR
        wrong = (says.argmax(axis=1) != told.argmax(axis=1)) & ~unsure
        usable = is_disjoint(joined[rows], 0)
        t = sample.t if to_count is None else to_count
        usable = usable & ~np.isnan(t[rows])
        return cls(sample.part(rows), t[rows], logits, rows, usable, wrong, unsure)

    @property
    def sure(self) -> Bools:
        """Which of the usable pairs have a certain answer."""
        return np.asarray(np.abs(self.t[self.usable]) == 1)

    @property
    def says(self) -> Floats:
        """What the models say of the usable pairs."""
        group = self.logits[self.usable].argmax(axis=2)
        return np.where(group[:, 0] == group[:, 1], 1.0, -1.0)

    def counts(self) -> Counts:
        """Count right and wrong among the usable pairs.

        Answers between -1 and 1 may be either.
        """
        t = self.t[self.usable]
        return Counts.of(self.says, np.where(self.sure, t, 0.0))
