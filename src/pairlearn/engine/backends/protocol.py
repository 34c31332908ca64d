r"""What a place for points offers to the engine.

A solver never touches the points. It asks for the scores of all points under given
weights, for the pullback of one number per point to the weights, and for both at once:
a risk and its gradient. NumPy arrays and SciPy matrices answer with the same products,
so they share one class; a new place for points (a GPU, a cluster) is a new folder with
these classes, and may keep the scores, too, where the points are.

A model f = w^T x + b of points with a risk R of their scores needs

.. math:: R, \qquad \nabla_w R = X^T r, \qquad \partial_b R = \sum_p r_p,
          \qquad r_p = \partial R / \partial f_p .

`Points.weighted` and `Points.coupled` return an object that holds the coefficients of
the risk next to the points and computes just these.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints
    from pairlearn.engine.coefficients import Coefficients

__all__ = ["PairRiskSum", "Points", "RiskSum", "Value"]

Value = Callable[[float], float]


class RiskSum(ABC):
    """Points with the coefficients of a risk: what an objective needs of them.

    The risk is a sum over terms, which are single points here.

    Parameters
    ----------
    points : Points
        The points.
    coefficients : Coefficients
        How much either class counts for each point.
    """

    points_per_term = 1
    # Whether the risk is a sum over the terms, if it is one over any.
    additive = True
    # Whether a sample of the terms reads just its own points, uncopied.
    samples_in_place = False

    def __init__(self, points: Any, coefficients: Coefficients) -> None:
        self.points = points
        self.coefficients = coefficients

    @property
    def n_terms(self) -> int:
        """How many points or pairs the risk is summed over."""
        return int(self.points.n_points)

    def rows_of(self, terms: Ints) -> Ints:
        """Return the rows of the points of some terms."""
        return terms

    def used_points(self) -> Ints | None:
        """Return the rows of the points that are in a term; None for all."""
        return None

    def sample(self, size: int, *, in_place: bool = False) -> RiskSum:  # noqa: ARG002
        """Return some terms drawn at random, as heavy as all.

        The draw is always the same, so no seed is needed. Points are read where they
        lie, if so asked, or else copied to lie side by side.
        """
        rows, factor = _draw(self.n_terms, size)
        coefficients = self.coefficients.scaled(rows, factor)
        return self.points.take(rows).weighted(coefficients)  # type: ignore[no-any-return]

    def value_at_zero(self, risk: Any, n_outputs: int) -> float:
        """Return the risk of scores that are all zero.

        One term with the coefficients of all will do.
        """
        zeros = np.zeros(1 if n_outputs == 1 else (1, n_outputs))
        scores = [zeros] * self.points_per_term
        totals = self.coefficients.totals()
        return float(risk.value_and_gradient(*scores, *totals)[0])

    @abstractmethod
    def value_and_gradient(
        self, risk: Any, w: Floats, b: float | Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the risk and its gradients in w and b."""

    @abstractmethod
    def value_along(self, risk: Any, w: Floats, b: float | Floats) -> Value:
        """Return c -> risk of c f, which needs the scores only once."""


class PairRiskSum(RiskSum):
    """Pairs of points with the coefficients of a risk.

    Parameters
    ----------
    points : Points
        The points.
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    coefficients : Coefficients
        How much either answer counts for each pair.
    """

    points_per_term = 2

    def __init__(self, points: Any, index: Ints, coefficients: Coefficients) -> None:
        super().__init__(points, coefficients)
        self.index = index

    @property
    def n_terms(self) -> int:
        """How many pairs the risk is summed over."""
        return len(self.index)

    @property
    def samples_in_place(self) -> bool:  # type: ignore[override]
        """Whether a sample of the pairs reads just its own points, uncopied."""
        return bool(self.points.reads_rows)

    def rows_of(self, terms: Ints) -> Ints:
        """Return the rows of the two points of some pairs."""
        return self.index[terms]

    def used_points(self) -> Ints | None:
        """Return the rows of the points that are in a pair; None for all."""
        used = np.zeros(self.points.n_points, dtype=bool)
        used[self.index] = True
        return None if used.all() else np.flatnonzero(used)

    def sample(self, size: int, *, in_place: bool = False) -> PairRiskSum:
        """Return some pairs drawn at random, as heavy as all."""
        rows, factor = _draw(self.n_terms, size)
        points, index = self.points, self.index[rows]
        if not in_place:
            used, index = np.unique(index, return_inverse=True)
            points, index = points.take(used), index.reshape(-1, 2)
        some: PairRiskSum = points.coupled(
            index, self.coefficients.scaled(rows, factor)
        )
        return some

    @abstractmethod
    def moment(self, w: Floats, b: float | Floats) -> tuple[Floats, Floats]:
        """Return X^T r and the sum of r, with r_p = sum of (a - b) f' / 2 at p.

        The sum is over the pairs of point p, and f' is the other point's score. `w`
        may be a matrix of columns.
        """

    @abstractmethod
    def rate_gradient(self, risk: Any, w: Floats, b: float | Floats) -> Floats:
        """Return the derivatives of a likelihood risk in its two flip rates."""


def _draw(n_terms: int, size: int) -> tuple[Ints, float]:
    """Return numbers of terms, ascending, and what makes them as heavy as all."""
    rng = np.random.default_rng(0)
    rows = rng.choice(n_terms, size, replace=False, shuffle=False)
    rows.sort()
    return rows, n_terms / size


class Points(ABC):
    """What a solver needs of points.

    Parameters
    ----------
    X : array of shape (n_points, n_features)
        The points, in the kind of array that the backend is for.
    """

    # Whether all points are in one array, on a device or not.
    in_one_place = True
    # Where risks of such points are summed.
    risk_sum_class: type[RiskSum]
    pair_risk_sum_class: type[PairRiskSum]

    def __init__(self, X: Any) -> None:
        self.X = X

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def reads_rows(self) -> bool:
        """Whether a risk of few pairs reads no other points than theirs."""
        return False

    @property
    def most_rows(self) -> int:
        """How many points `take` should be asked for at most."""
        return sys.maxsize

    @abstractmethod
    def scores(self, w: Floats, b: float | Floats = 0.0) -> Floats:
        """Return X w + b, in memory, for one weight vector or a matrix of them."""

    @abstractmethod
    def own_scores(self, w: Floats, b: float | Floats = 0.0) -> Any:
        """Return X w + b as an array of the kind of X, where X is."""

    @abstractmethod
    def pullback(self, r: Floats) -> Floats:
        """Return X^T r, for one vector or a matrix of them as columns."""

    @abstractmethod
    def take(self, rows: Ints) -> Points:
        """Return some of the points."""

    @abstractmethod
    def mean_and_variance(self, rows: Ints | None = None) -> tuple[Floats, Floats]:
        """Return mean and variance of each feature, of some points or of all."""

    def weighted(self, coefficients: Coefficients) -> RiskSum:
        """Return these points with how much either class counts for each."""
        return self.risk_sum_class(self, coefficients)

    def coupled(self, index: Ints, coefficients: Coefficients) -> PairRiskSum:
        """Return pairs of these points with how much either answer counts for each."""
        return self.pair_risk_sum_class(self, index, coefficients)
