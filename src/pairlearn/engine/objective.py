r"""Objectives of linear models: points, a risk of their scores, a penalty.

For f(x) = w^T x + b and a risk R of the scores of all points,

.. math:: J(w, b) = R(f_1, \dots, f_n) + \tfrac{\alpha}{2} |w|^2 .

With r_p = dR/df_p (summed over all pairs that point p is in) the gradient is

.. math:: \nabla_w J = X^T r + \alpha w, \qquad \partial_b J = \sum_p r_p .

Each point is scored once, however many pairs it is in. A model may have several scores
per point (one for each class); then w is a matrix, b a vector, and the optimiser's
vector holds them column after column.

An objective is made in its final scaling and does not change: it only counts its
evaluations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.graph import narrow
from pairlearn.engine.backends.numpy.dense import compiled_for
from pairlearn.engine.backends.numpy.risk_sums import is_additive
from pairlearn.engine.coefficients import Coefficients
from pairlearn.engine.curvature import pair_curvature, point_curvature
from pairlearn.engine.growing_samples import draw_sample, sample_sizes
from pairlearn.system.once import once
from pairlearn.system.threads import block_bounds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from pairlearn.data.types import Floats, Ints
    from pairlearn.engine.backends.protocol import PairRiskSum, Points
    from pairlearn.engine.scaling import Scaling

    RiskOfScores = Callable[[Floats], tuple[float, Floats]]
    Batch = tuple[Points, RiskOfScores]

__all__ = ["LinearObjective", "PairObjective", "PointObjective", "count_evaluation"]


def count_evaluation(objective: Any) -> None:
    """Count one more evaluation: all else of an objective is frozen."""
    object.__setattr__(objective, "n_evaluations", objective.n_evaluations + 1)


@dataclass(frozen=True, eq=False)
class LinearObjective(ABC):
    """J(u) and its gradient, in the coordinates of a scaling.

    The risk and its gradient in w and b come from `risk_sum`, which lives where the
    points are; the penalty and the scaling are added here.

    Parameters
    ----------
    risk_sum : RiskSum
        The points or pairs with the coefficients of the risk.
    risk : PointRisk or PairRisk
        The risk of their scores.
    alpha : float
        Strength of the penalty on w; the intercept is free.
    scaling : Scaling
        The coordinates.
    n_outputs : int, default=1
        Scores per point.

    Attributes
    ----------
    n_evaluations : int
        How often the objective was evaluated.
    """

    risk_sum: Any
    risk: Any
    alpha: float
    scaling: Scaling
    n_outputs: int = 1
    n_evaluations: int = field(default=0, init=False)

    @property
    def points(self) -> Points:
        """The points."""
        points: Points = self.risk_sum.points
        return points

    @property
    def n_terms(self) -> int:
        """How many points or pairs batches and samples are made of."""
        return int(self.risk_sum.n_terms)

    @property
    def size(self) -> int:
        """Length of the vector that a solver works on."""
        return self.scaling.size * self.n_outputs

    @property
    def smooth(self) -> bool:
        """Whether the gradient is continuous."""
        return bool(self.risk.smooth)

    def smoothed(self, width: float) -> Self:
        """Return a smooth objective close to this one."""
        return replace(self, risk=self.risk.smoothed(width))

    def weights(self, u: Floats) -> tuple[Floats, Floats]:
        """Return w and b; with several outputs a matrix and a vector."""
        if self.n_outputs > 1:
            u = u.reshape(self.n_outputs, self.scaling.size).T
        return self.scaling.weights(u)

    @property
    def value_at_zero(self) -> float:
        """The objective without weights."""
        return float(self.risk_sum.value_at_zero(self.risk, self.n_outputs))

    @property
    def first_sample(self) -> int:
        """How many terms the first sample has; 0 if all are few enough."""
        sizes = sample_sizes(self.risk_sum, self.size, self.n_outputs)
        return sizes[0] if sizes else 0

    def sample(self, size: int) -> Self:
        """Return the objective of some terms drawn at random, as heavy as all."""
        some = draw_sample(self.risk_sum, size, self.size, self.n_outputs)
        return replace(self, risk_sum=some)

    def batches(self, order: Ints, batch_size: int) -> Iterator[Batch]:
        """Yield batches of the terms, in the given order.

        Each is its points and the risk of their scores, an unbiased estimate of the
        risk of all. The two points of a pair lie together.
        """
        rows = self.risk_sum.rows_of(order)
        coefficients = Coefficients(*self.risk_sum.coefficients[order])
        for begin, end in block_bounds(len(order), batch_size):
            part, factor = slice(begin, end), self.n_terms / (end - begin)
            yield (
                self.points.take(rows[part].ravel()),
                partial(self._risk_of_batch, coefficients.scaled(part, factor)),
            )

    def _risk_of_batch(
        self, coefficients: Coefficients, scores: Floats
    ) -> tuple[float, Floats]:
        """Return the risk of a batch and its derivatives in the scores."""
        sides = scores.reshape(-1, self.risk_sum.points_per_term, *scores.shape[1:])
        columns = [sides[:, k] for k in range(sides.shape[1])]
        value, *slopes = self.risk.value_and_gradient(*columns, *coefficients)
        return value, np.stack(slopes, axis=1).reshape(scores.shape)

    def __call__(self, u: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient at u."""
        count_evaluation(self)
        return self.value_and_gradient(self.risk, u)

    def value_and_gradient(self, risk: Any, u: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient at u with another risk in its place."""
        w, b = self.weights(u)
        return self._penalised(w, *self.risk_sum.value_and_gradient(risk, w, b))

    def epoch(
        self, u: Floats, order: Ints, batch_size: int, rate: float
    ) -> tuple[Floats, float]:
        """Take a step down the gradient for each batch of the terms.

        Returns the new u and the mean of the objective over the batches. Unscaled, the
        common risks of dense points have a compiled epoch, if numba is there.
        """
        compiled = self._compiled_epoch() if self.scaling.is_identity else None
        if compiled is not None:
            u = u.copy()
            return u, compiled(u, order, batch_size, self.alpha, rate)
        values = []
        for points, risk_of in self.batches(order, batch_size):
            value, gradient = self.evaluate(u, points, risk_of)
            u = u - rate * gradient
            values.append(value)
        return u, sum(values) / max(1, len(values))

    def _compiled_epoch(self) -> Callable[..., float] | None:
        """Return a compiled epoch for this risk and these points, if there is one."""
        return None

    def evaluate(
        self, u: Floats, points: Points, risk_of: RiskOfScores
    ) -> tuple[float, Floats]:
        """Return the objective and its gradient for these points and their risk."""
        w, b = self.weights(u)
        value, r = risk_of(points.scores(w, b))
        return self._penalised(w, value, points.pullback(r), r.sum(axis=0))

    def _penalised(
        self, w: Floats, value: float, d_w: Floats, d_b: Floats
    ) -> tuple[float, Floats]:
        """Return the objective and its gradient in u from those of the risk."""
        value += self.alpha / 2 * float(np.vdot(w, w))
        gradient = self.scaling.gradient(d_w + self.alpha * w, d_b)
        return value, gradient.T.ravel()

    @property
    def knows_curvature(self) -> bool:
        """Whether second derivatives cost less than an evaluation for each weight.

        They do for one score a point, points in one place, and a smooth risk that is a
        sum.
        """
        here = self.points.in_one_place and self.n_outputs == 1
        sums = is_additive(self.risk) and self.risk_sum.additive
        return here and sums and self.smooth

    def curvature(self, u: Floats) -> Floats:
        """Return the second derivatives of J at u; they count as an evaluation."""
        count_evaluation(self)
        points: Any = self.points
        w, b = self.weights(u)
        H = self._curvature(points.X, points.scores(w, b))
        n_features = len(self.scaling.scale)
        H[:n_features, :n_features] += self.alpha * np.eye(n_features)
        # To the scaled coordinates, rows first, then columns.
        for _ in range(2):
            H = self.scaling.gradient(H[:n_features], H[n_features]).T
        return H

    @abstractmethod
    def _curvature(self, X: Any, scores: Floats) -> Floats:
        """Return the second derivatives of the risk in w and b."""

    def value_along(self, u: Floats) -> Callable[[float], float]:
        """Return c -> J(c u), which needs the scores of u only once."""
        w, b = self.weights(u)
        risk_of = self.risk_sum.value_along(self.risk, w, b)
        square = float(np.vdot(w, w))
        return lambda c: risk_of(c) + self.alpha / 2 * c**2 * square


@dataclass(frozen=True, eq=False)
class PointObjective(LinearObjective):
    """The objective of a risk of single points."""

    def _curvature(self, X: Any, scores: Floats) -> Floats:
        return point_curvature(X, self.risk_sum.coefficients, self.risk, scores)

    def _compiled_epoch(self) -> Callable[..., float] | None:
        X = getattr(self.points, "X", None)
        fast = compiled_for(X)
        if fast is None or self.risk.compiled != "logistic":
            return None
        return partial(fast.point_epoch, X, *self.risk_sum.coefficients)


@dataclass(frozen=True, eq=False)
class PairObjective(LinearObjective):
    """The objective of a pair risk."""

    risk_sum: PairRiskSum

    def moment(self, u: Floats) -> Floats:
        """Return M u, with M the sum of (a - b) (z z'^T + z' z^T) / 2, z scaled points.

        M is the matrix whose leading eigenvector minimises the product risk of the
        unhinged loss on the unit sphere. `u` may be a matrix of columns.
        """
        w, b = self.scaling.weights(u)
        return self.scaling.gradient(*self.risk_sum.moment(w, b))

    def _curvature(self, X: Any, scores: Floats) -> Floats:
        index, coefficients = self.risk_sum.index, self.risk_sum.coefficients
        return pair_curvature(X, index, coefficients, self.risk, scores)

    def _compiled_epoch(self) -> Callable[..., float] | None:
        X = getattr(self.points, "X", None)
        fast = compiled_for(X)
        if fast is None or self.risk.compiled is None or self.n_outputs > 1:
            return None
        code = fast.RISKS[self.risk.compiled]
        coefficients = self.risk_sum.coefficients
        return partial(fast.pair_epoch, X, *self._sides, *coefficients, code)

    @once
    def _sides(self) -> Ints:
        """The first points of all pairs, then the second ones."""
        return narrow(self.risk_sum.index.T, self.points.n_points)
