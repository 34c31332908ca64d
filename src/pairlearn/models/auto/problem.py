"""What `PairClassifier` learns from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pairlearn.engine.components.likelihood import Answers, Components, shares_points
from pairlearn.models.auto.joint import JointLikelihood
from pairlearn.models.auto.likelihood import CERTAIN, Labels, PairLikelihood

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
    wrong : ndarray of shape (n_pairs,) or None
        How likely the answer to each pair is wrong, where that differs from pair to
        pair as different people answered; None: the rates are those of all pairs.
    certain : bool
        Whether all answers are said to be right.
    """

    X: PointsLike
    index: Ints
    same: Floats
    different: Floats
    labels: Labels | None
    n_classes: int
    joint: bool = False
    wrong: Floats | None = None
    certain: bool = False

    def rates_of(self, rates: Rates, rows: Ints | Bools) -> tuple[Any, Any]:
        """Return (r1, r0) of some pairs: one number each, or one for each pair."""
        if self.wrong is None:
            return rates
        wrong = np.clip(self.wrong[rows], CERTAIN[1], 0.5)
        return 1 - wrong, wrong

    @property
    def share_same(self) -> float:
        """How many of the pairs are the same, by the answers and their own rates."""
        total = self.same + self.different
        _, wrong = self.rates_of(CERTAIN, np.arange(len(total)))
        told = 1 - 2 * wrong
        # The mean of (answer - e) / (1 - 2e), each by how well it is known.
        return float(
            (told * (self.same - wrong * total)).sum() / (told**2 * total).sum()
        )

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
            _upright(self.rates_of(rates, alone)),
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
            _upright(self.rates_of(rates, ~alone)),
            self.certain,
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


def _upright(rates: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return rates of pairs as columns, beside which models stand; numbers as given."""
    if np.ndim(rates[0]) == 0:
        return rates
    return rates[0][:, None], rates[1][:, None]


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
