"""What `PairClassifier` learns from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from pairlearn.engine.components.likelihood import Answers, Components, shares_points
from pairlearn.models.auto.joint import JointLikelihood
from pairlearn.models.auto.likelihood import Labels, PairLikelihood

if TYPE_CHECKING:
    from pairlearn.data.types import Bools, Floats, Ints, PointsLike
    from pairlearn.models.auto.likelihood import Rates

__all__ = ["Problem"]


@dataclass(frozen=True)
class Problem:
    """What to learn from: points, pairs with weighted answers, perhaps labels.

    Attributes
    ----------
    X : ndarray or CSR matrix
        All points, those with labels among them.
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    same, different : ndarray of shape (n_pairs,)
        How much either answer counts.
    labels : Labels or None
        Labelled points.
    n_classes : int
        Number of classes.
    joint : bool
        Whether answers that share points are seen together, as components.
    """

    X: PointsLike
    index: Ints
    same: Floats
    different: Floats
    labels: Labels | None
    n_classes: int
    joint: bool = False

    @cached_property
    def shared(self) -> Bools:
        """Which pairs are to be seen together with others, as they share points."""
        if not self.joint:
            return np.zeros(len(self.index), dtype=bool)
        return shares_points(self.index, self.X.shape[0])

    @cached_property
    def components(self) -> Components:
        """The graph of the pairs that share points."""
        return Components(self.index[self.shared], self.X.shape[0], self.n_classes)

    def likelihood(
        self, rates: Rates, trained_on: Bools, hidden: Bools
    ) -> PairLikelihood | JointLikelihood:
        """Return the risk of models that see the pairs in their column only.

        Of pairs that share points they see all answers, but not the hidden points.
        """
        same, different = self.same[:, None], self.different[:, None]
        alone = ~self.shared
        pairs = PairLikelihood(
            self.index[alone],
            same[alone] * trained_on[alone],
            different[alone] * trained_on[alone],
            self.X.shape[0],
            rates,
            self._labels(trained_on),
        )
        if alone.all():
            return pairs
        everyone = np.ones((1, hidden.shape[1]))
        answers = Answers(same[~alone] * everyone, different[~alone] * everyone)
        return JointLikelihood(
            pairs,
            self.index[~alone],
            self.components,
            answers,
            hidden,
            rates,
        )

    def _labels(self, trained_on: Bools) -> Labels | None:
        """Return the labels, without those of points in a pair kept from a model."""
        if self.labels is None:
            return None
        rows, classes, _ = self.labels
        name = equal_rows(self.X)
        weight = np.ones((len(rows), trained_on.shape[1]))
        for k, seen in enumerate(trained_on.T):
            weight[np.isin(name[rows], name[self.index[~seen]]), k] = 0.0
        return Labels(rows, classes, weight)


def equal_rows(X: PointsLike) -> Ints:
    """Return a number for each row; equal rows have the same."""
    if sparse.issparse(X):
        keys = [
            X.indices[a:b].tobytes() + X.data[a:b].tobytes()
            for a, b in pairwise(X.indptr)
        ]
    else:
        keys = [row.tobytes() for row in np.ascontiguousarray(X)]
    known: dict[bytes, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in keys])
