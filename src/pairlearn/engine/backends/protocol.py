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
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints

__all__ = ["PairRiskSum", "Points", "RiskSum", "Value"]

Value = Callable[[float], float]


class RiskSum(Protocol):
    """A risk of a linear model of points: what an objective needs of it."""

    def value_and_gradient(
        self, risk: Any, w: Floats, b: float | Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the risk and its gradients in w and b."""

    def along(self, risk: Any, w: Floats, b: float | Floats) -> Value:
        """Return c -> risk of c f, which needs the scores only once."""


class PairRiskSum(RiskSum, Protocol):
    """A risk of pairs, and what starts and flip rates need besides."""

    def moment(self, w: Floats, b: float | Floats) -> tuple[Floats, Floats]:
        """Return X^T r and the sum of r, with r_p = sum of (a - b) f' / 2 at p.

        The sum is over the pairs of point p, and f' is the other point's score. `w`
        may be a matrix of columns.
        """

    def rate_gradient(self, risk: Any, w: Floats, b: float | Floats) -> Floats:
        """Return the derivatives of a likelihood risk in its two flip rates."""


class Points(ABC):
    """What a solver needs of points.

    Parameters
    ----------
    X : array of shape (n_points, n_features)
        The points, in the kind of array that the backend is for.
    """

    # Whether all points are in one array, on a device or not.
    in_one_place = True

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

    @abstractmethod
    def weighted(self, positive: Floats, negative: Floats) -> RiskSum:
        """Return these points with how much either class counts for each."""

    @abstractmethod
    def coupled(self, index: Ints, same: Floats, different: Floats) -> PairRiskSum:
        """Return pairs of these points with how much either answer counts for each."""
