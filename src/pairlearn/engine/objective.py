r"""Objectives of linear models: points, a risk of their scores, a penalty.

For f(x) = w^T x + b and a risk R of the scores of all points,

.. math:: J(w, b) = R(f_1, \dots, f_n) + \tfrac{\alpha}{2} |w|^2 .

With r_p = dR/df_p (summed over all pairs that point p is in) the gradient is

.. math:: \nabla_w J = X^T r + \alpha w, \qquad \partial_b J = \sum_p r_p .

Each point is scored once, however many pairs it is in. A model may have several scores
a point (one for each class); then w is a matrix, b a vector, and the optimiser's vector
holds them column after column.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from pairlearn.data.graph import narrow
from pairlearn.engine.backends.numpy.dense import compiled_for
from pairlearn.engine.backends.numpy.risk_sums import is_additive
from pairlearn.engine.curvature import pair_curvature, point_curvature
from pairlearn.engine.growing_samples import first_sample
from pairlearn.system.once import once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from pairlearn.data.types import Floats, Ints
    from pairlearn.engine.backends.protocol import PairRiskSum, Points, RiskSum
    from pairlearn.engine.risks import LikelihoodRisk, PairRisk, PointRisk

    RiskOfScores = Callable[[Floats], tuple[float, Floats]]
    Batch = tuple[Points, RiskOfScores]

__all__ = [
    "Frame",
    "LinearObjective",
    "NoisyObjective",
    "PairObjective",
    "PointObjective",
]


@dataclass(frozen=True)
class Frame:
    """Coordinates u in which a linear model is well conditioned.

    f(x) = sum_j u_j (x_j - centre_j) / scale_j + c, that is w = u / scale and
    b = c - w^T centre. The points themselves are never centred, scaled or copied.
    The objective stays the same function; only the optimiser sees it rounder.
    """

    centre: Floats
    scale: Floats
    fit_intercept: bool
    # In the plain frame u is (w, b) itself, and a step of SGD need not convert it.
    is_plain: bool = False

    @property
    def size(self) -> int:
        """Length of the vector that a solver works on."""
        return len(self.scale) + self.fit_intercept

    @classmethod
    def plain(cls, n_features: int, fit_intercept: bool) -> Frame:
        """Return the frame in which u is (w, b) itself."""
        return cls(np.zeros(n_features), np.ones(n_features), fit_intercept, True)

    @classmethod
    def of(
        cls,
        points: Points,
        alpha: float,
        fit_intercept: bool,
        rows: Ints | None = None,
    ) -> Frame:
        """Return the frame that makes the features and the penalty even.

        Of some of the points, if rows are given.

        The curvature of the objective along w_j is about var_j + alpha; scaling by
        its root also keeps constant and very rare features harmless.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            mean, variance = points.mean_and_variance(rows)
        if not np.isfinite(variance).all():
            raise ValueError(
                "the points hold numbers too large to be squared; scale the features, "
                "for example with make_pair_pipeline(StandardScaler(), ...)"
            )
        if not fit_intercept:
            mean, variance = np.zeros_like(mean), variance + mean**2
        # Below this the variance is rounding noise of the mean.
        noise = 1e-12 * mean**2
        scale = np.sqrt(np.where(variance > noise, variance, 0.0) + alpha)
        return cls(mean, np.where(scale > 0, scale, 1.0), fit_intercept)

    def weights(self, u: Floats) -> tuple[Floats, Floats]:
        """Return w and b of coordinates u (or of a matrix of them, as columns)."""
        n_features = len(self.scale)
        w = u[:n_features]
        if not self.is_plain:
            w = (w.T / self.scale).T
        if not self.fit_intercept:
            return w, np.zeros(u.shape[1:])
        b = u[n_features]
        return w, b if self.is_plain else b - self.centre @ w

    def coordinates(self, w: Floats, b: float) -> Floats:
        """Return the coordinates of weights w and b."""
        u = w * self.scale
        return np.append(u, b + self.centre @ w) if self.fit_intercept else u

    def gradient(self, d_w: Floats, d_b: Floats | float) -> Floats:
        """Return the gradient in u from the gradients in w and b."""
        if not self.is_plain:
            if self.fit_intercept:
                d_w = d_w - np.multiply.outer(self.centre, d_b)
            d_w = (d_w.T / self.scale).T
        if not self.fit_intercept:
            return d_w
        return np.concatenate([d_w, np.asarray(d_b)[None]])


class LinearObjective(ABC):
    """J(u) and its gradient, in the coordinates of a frame.

    The risk and its gradient in w and b come from `terms`, which lives where the points
    are; the penalty and the frame are added here.

    Parameters
    ----------
    points : Points
        The points.
    alpha : float
        Strength of the penalty on w; the intercept is free.
    frame : Frame
        The coordinates.
    n_outputs : int, default=1
        Scores a point.
    """

    def __init__(
        self, points: Points, alpha: float, frame: Frame, n_outputs: int = 1
    ) -> None:
        self.points = points
        self.alpha = alpha
        self.frame = frame
        self.n_outputs = n_outputs
        self.n_evaluations = 0

    risk: Any

    @property
    @abstractmethod
    def risk_sum(self) -> RiskSum:
        """The points with the coefficients of the risk, made when first needed."""

    @property
    def size(self) -> int:
        """Length of the vector that a solver works on."""
        return self.frame.size * self.n_outputs

    @property
    def smooth(self) -> bool:
        """Whether the gradient is continuous."""
        return bool(self.risk.smooth)

    def smoothed(self, width: float) -> Self:
        """Return a smooth objective close to this one."""
        return self.with_risk(self.risk.smoothed(width))

    def with_risk(self, risk: Any) -> Self:
        """Return the same objective with another risk; they share their terms."""
        _ = self.risk_sum
        other = copy(self)
        other.risk = risk
        other.n_evaluations = 0
        return other

    def weights(self, u: Floats) -> tuple[Floats, Floats]:
        """Return w and b; with several outputs a matrix and a vector."""
        if self.n_outputs > 1:
            u = u.reshape(self.n_outputs, self.frame.size).T
        return self.frame.weights(u)

    @property
    @abstractmethod
    def n_terms(self) -> int:
        """How many pairs or points batches are made of."""

    @property
    def samples_in_place(self) -> bool:
        """Whether a sample of the terms reads just its own points, uncopied."""
        return self.points.reads_rows and self.n_outputs == 1

    @property
    @abstractmethod
    def flat(self) -> float:
        """The objective without weights.

        All scores are zero then, so one term with the coefficients of all will do.
        """

    @property
    def first_sample(self) -> int:
        """How many terms the first sample has; 0 if all are few enough."""
        most = None if self.samples_in_place else self.points.most_rows // 2
        return first_sample(self.n_terms, self.size, most)

    @property
    def largest_sample(self) -> int:
        """How many terms a sample may have to be worth it, and to be held."""
        if self.samples_in_place:
            return min(self.n_terms, self.points.n_points) // 2
        share = min(self.n_terms, self.points.n_points) // 8
        return min(share, self.points.most_rows // 2)

    @abstractmethod
    def sample(self, size: int) -> Self:
        """Return the objective of some terms drawn at random, as heavy as all.

        The draw is always the same, so no seed is needed.
        """

    @abstractmethod
    def framed(self) -> Self:
        """Return the same objective in the frame of the points of its terms."""

    def in_frame(self, frame: Frame) -> Self:
        """Return the same objective in another frame."""
        other = copy(self)
        other.frame = frame
        other.n_evaluations = 0
        return other

    @abstractmethod
    def batches(self, order: Ints, batch_size: int) -> Iterator[Batch]:
        """Yield batches of the terms, in the given order.

        Each is its points and the risk of their scores, an unbiased estimate of the
        risk of all.
        """

    def __call__(self, u: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient at u."""
        self.n_evaluations += 1
        w, b = self.weights(u)
        return self._penalised(w, *self.risk_sum.value_and_gradient(self.risk, w, b))

    def epoch(
        self, u: Floats, order: Ints, batch_size: int, rate: float
    ) -> tuple[Floats, float]:
        """Take a step down the gradient for each batch of the terms.

        Returns the new u and the mean of the objective over the batches. In the plain
        frame the common risks of dense points have a compiled epoch, if numba is there.
        """
        compiled = self._compiled_epoch() if self.frame.is_plain else None
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
        gradient = self.frame.gradient(d_w + self.alpha * w, d_b)
        return value, gradient.T.ravel()

    @property
    def knows_curvature(self) -> bool:
        """Whether second derivatives cost less than an evaluation for each weight.

        They do for one score a point, points in one place, and a smooth risk that is a
        sum.
        """
        here = self.points.in_one_place and self.n_outputs == 1
        return here and is_additive(self.risk) and self.smooth

    def curvature(self, u: Floats) -> Floats:
        """Return the second derivatives of J at u; they count as an evaluation."""
        self.n_evaluations += 1
        points: Any = self.points
        w, b = self.weights(u)
        H = self._curvature(points.X, points.scores(w, b))
        n_features = len(self.frame.scale)
        H[:n_features, :n_features] += self.alpha * np.eye(n_features)
        # To the coordinates of the frame, rows first, then columns.
        for _ in range(2):
            H = self.frame.gradient(H[:n_features], H[n_features]).T
        return H

    @abstractmethod
    def _curvature(self, X: Any, scores: Floats) -> Floats:
        """Return the second derivatives of the risk in w and b."""

    def along(self, u: Floats) -> Callable[[float], float]:
        """Return c -> J(c u), which needs the scores of u only once."""
        w, b = self.weights(u)
        risk_of, square = self.risk_sum.along(self.risk, w, b), float(np.vdot(w, w))
        return lambda c: risk_of(c) + self.alpha / 2 * c**2 * square


class PointObjective(LinearObjective):
    """The objective of a risk of single points.

    Parameters
    ----------
    points, alpha, frame
        As for `LinearObjective`.
    positive, negative : ndarray of shape (n_points,)
        How much either class counts for each point.
    risk : PointRisk
        The risk.
    """

    def __init__(
        self,
        points: Points,
        positive: Floats,
        negative: Floats,
        risk: PointRisk,
        alpha: float,
        frame: Frame,
    ) -> None:
        super().__init__(points, alpha, frame)
        self.positive = positive
        self.negative = negative
        self.risk = risk

    @once
    def risk_sum(self) -> RiskSum:
        """The points with the coefficients of the risk."""
        return self.points.weighted(self.positive, self.negative)

    @property
    def n_terms(self) -> int:
        """How many points batches are made of."""
        return self.points.n_points

    @property
    def samples_in_place(self) -> bool:
        """Whether a sample reads just its own points: they are copied."""
        return False

    @property
    def flat(self) -> float:
        """The objective without weights."""
        sums = self.positive.sum(keepdims=True), self.negative.sum(keepdims=True)
        return float(self.risk.value_and_gradient(np.zeros(1), *sums)[0])

    def sample(self, size: int) -> PointObjective:
        """Return the objective of some points drawn at random, as heavy as all."""
        rows, scale = _draw(self.n_terms, size)
        return PointObjective(
            self.points.take(rows),
            scale * self.positive[rows],
            scale * self.negative[rows],
            self.risk,
            self.alpha,
            self.frame,
        )

    def framed(self) -> PointObjective:
        """Return the same objective in the frame of its points."""
        frame = Frame.of(self.points, self.alpha, self.frame.fit_intercept)
        return self.in_frame(frame)

    def _curvature(self, X: Any, scores: Floats) -> Floats:
        shares = self.positive, self.negative
        return point_curvature(X, *shares, self.risk, scores)

    def batches(self, order: Ints, batch_size: int) -> Iterator[Batch]:
        """Yield batches of points, in the given order."""
        positive, negative = self.positive[order], self.negative[order]
        for part, scale in _parts(len(order), batch_size, self.n_terms):
            share = scale * positive[part], scale * negative[part]
            yield (
                self.points.take(order[part]),
                partial(_risk_of_points, self.risk, *share),
            )

    def _compiled_epoch(self) -> Callable[..., float] | None:
        fast = compiled_for(getattr(self.points, "X", None))
        if fast is None or self.risk.compiled != "logistic":
            return None
        X: Any = self.points
        return partial(fast.point_epoch, X.X, self.positive, self.negative)


class PairObjective(LinearObjective):
    """The objective of a pair risk.

    Parameters
    ----------
    points, alpha, frame, n_outputs
        As for `LinearObjective`.
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    same, different : ndarray or TwoValued of shape (n_pairs,)
        How much either answer counts for each pair.
    risk : PairRisk
        The risk of the pairs' scores.
    """

    def __init__(
        self,
        points: Points,
        index: Ints,
        same: Floats,
        different: Floats,
        risk: PairRisk,
        alpha: float,
        frame: Frame,
        n_outputs: int = 1,
    ) -> None:
        super().__init__(points, alpha, frame, n_outputs)
        self.index = index
        self.same = same
        self.different = different
        self.risk = risk

    @once
    def risk_sum(self) -> PairRiskSum:
        """The pairs of points with the coefficients of the risk."""
        return self.points.coupled(self.index, self.same, self.different)

    def moment(self, u: Floats) -> Floats:
        """Return M u, with M the sum of (a - b) (z z'^T + z' z^T) / 2, z in the frame.

        M is the matrix whose leading eigenvector minimises the product risk of the
        unhinged loss on the unit sphere. `u` may be a matrix of columns.
        """
        w, b = self.frame.weights(u)
        return self.frame.gradient(*self.risk_sum.moment(w, b))

    @property
    def n_terms(self) -> int:
        """How many pairs batches are made of."""
        return len(self.index)

    @property
    def flat(self) -> float:
        """The objective without weights."""
        sums = self.same.sum(keepdims=True), self.different.sum(keepdims=True)
        scores = np.zeros(1 if self.n_outputs == 1 else (1, self.n_outputs))
        return float(self.risk.value_and_gradient(scores, scores, *sums)[0])

    def sample(self, size: int) -> PairObjective:
        """Return the objective of some pairs drawn at random, as heavy as all."""
        rows, scale = _draw(self.n_terms, size)
        points, index = self.points, self.index[rows]
        # Few points are copied: side by side they are read faster, and starts of the
        # first sample are made of all its points.
        few = size <= max(points.n_points // 32, self.first_sample)
        if few or not self.samples_in_place:
            used, index = np.unique(index, return_inverse=True)
            points, index = points.take(used), index.reshape(-1, 2)
        return PairObjective(
            points,
            index,
            scale * self.same[rows],
            scale * self.different[rows],
            self.risk,
            self.alpha,
            self.frame,
            self.n_outputs,
        )

    def framed(self) -> PairObjective:
        """Return the same objective in the frame of the points of its pairs."""
        used = np.zeros(self.points.n_points, dtype=bool)
        used[self.index] = True
        rows = None if used.all() else np.flatnonzero(used)
        frame = Frame.of(self.points, self.alpha, self.frame.fit_intercept, rows)
        return self.in_frame(frame)

    def _curvature(self, X: Any, scores: Floats) -> Floats:
        shares = self.same, self.different
        return pair_curvature(X, self.index, *shares, self.risk, scores)

    def batches(self, order: Ints, batch_size: int) -> Iterator[Batch]:
        """Yield batches of pairs, in the given order; a pair's points lie together."""
        rows = self.index[order]
        same, different = self.same[order], self.different[order]
        for part, scale in _parts(len(order), batch_size, self.n_terms):
            share = scale * same[part], scale * different[part]
            yield (
                self.points.take(rows[part].ravel()),
                partial(_risk_of_couples, self.risk, *share),
            )

    def _compiled_epoch(self) -> Callable[..., float] | None:
        fast = compiled_for(getattr(self.points, "X", None))
        if fast is None or self.risk.compiled is None or self.n_outputs > 1:
            return None
        X: Any = self.points
        code = fast.RISKS[self.risk.compiled]
        shares = np.asarray(self.same), np.asarray(self.different)
        return partial(fast.pair_epoch, X.X, *self._sides, *shares, code)

    @once
    def _sides(self) -> Ints:
        """The first points of all pairs, then the second ones."""
        return narrow(self.index.T, self.points.n_points)


def _draw(n_terms: int, size: int) -> tuple[Ints, float]:
    """Return numbers of terms, ascending, and what makes them as heavy as all."""
    rng = np.random.default_rng(0)
    rows = rng.choice(n_terms, size, replace=False, shuffle=False)
    rows.sort()
    return rows, n_terms / size


def _parts(n_terms: int, batch_size: int, n_all: int) -> Iterator[tuple[slice, float]]:
    """Yield the batches as slices, with what makes each as heavy as all terms."""
    for begin in range(0, n_terms, batch_size):
        end = min(begin + batch_size, n_terms)
        yield slice(begin, end), n_all / (end - begin)


def _risk_of_points(
    risk: PointRisk, positive: Floats, negative: Floats, scores: Floats
) -> tuple[float, Floats]:
    return risk.value_and_gradient(scores, positive, negative)


def _risk_of_couples(
    risk: PairRisk, same: Floats, different: Floats, scores: Floats
) -> tuple[float, Floats]:
    """Return the risk of pairs whose points follow each other, and its derivatives."""
    couples = scores.reshape(-1, 2, *scores.shape[1:])
    value, d_left, d_right = risk.value_and_gradient(
        couples[:, 0], couples[:, 1], same, different
    )
    derivative = np.empty_like(couples)
    derivative[:, 0], derivative[:, 1] = d_left, d_right
    return value, derivative.reshape(scores.shape)


class NoisyObjective:
    r"""J as a function of the weights and of the flip rates together.

    The vector is (u, logit r1, logit r0), or (u, logit of the rate e) for symmetric
    noise, r1 = 1 - e and r0 = e. With s the sigmoid, dJ/dlogit = s (1 - s) dJ/drate.

    Parameters
    ----------
    objective : PairObjective
        The objective, with a `LikelihoodRisk`.
    symmetric : bool
        Whether both kinds of answers are wrong at one rate.
    """

    smooth = True

    def __init__(self, objective: PairObjective, *, symmetric: bool) -> None:
        self.objective = objective
        self.symmetric = symmetric
        self.n_evaluations = 0

    def split(self, v: Floats) -> tuple[Floats, tuple[float, float]]:
        """Return the weights' part and the flip rates (r1, r0)."""
        # A rate of exactly 0 or 1 would make one wrong answer impossible.
        rates = np.clip(expit(v[-1:] if self.symmetric else v[-2:]), 1e-10, 1 - 1e-10)
        if self.symmetric:
            return v[:-1], (float(1 - rates[0]), float(rates[0]))
        return v[:-2], (float(rates[0]), float(rates[1]))

    def join(self, u: Floats, flip_rates: tuple[float, float]) -> Floats:
        """Return the vector of weights and flip rates."""
        rates = np.array(flip_rates[1:] if self.symmetric else flip_rates)
        return np.concatenate([u, np.log(rates) - np.log1p(-rates)])

    def risk_at(self, flip_rates: tuple[float, float]) -> LikelihoodRisk:
        """Return the risk with these flip rates."""
        risk: Any = self.objective.risk
        noisy: LikelihoodRisk = type(risk)(risk.link, flip_rates)
        return noisy

    def __call__(self, v: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient in the weights and the logits."""
        self.n_evaluations += 1
        u, (r1, r0) = self.split(v)
        risk = self.risk_at((r1, r0))
        here = self.objective
        here.risk = risk
        value, gradient = here(u)
        w, b = here.weights(u)
        d_1, d_0 = here.risk_sum.rate_gradient(risk, w, b)
        if self.symmetric:
            d_rates = np.array([(d_0 - d_1) * r0 * r1])
        else:
            d_rates = np.array([d_1 * r1 * (1 - r1), d_0 * r0 * (1 - r0)])
        return value, np.concatenate([gradient, d_rates])
