"""Risks summed over points or pairs in a dask array.

Pairs whose points lie in one block are evaluated there, by the code for points in
memory: one pass over the points gives the risk and its gradient. Of pairs that cross
blocks only scores travel, one number a point: a first pass brings them, the risk of
these pairs is computed here, and a second pass pulls its derivatives back. A risk that
is not a sum over pairs takes the second way for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.engine.backends.dask.run import Shipped
from pairlearn.engine.backends.numpy.risk_sums import (
    NumpyPairRiskSum,
    NumpyRiskSum,
    is_additive,
)
from pairlearn.engine.backends.protocol import PairRiskSum, RiskSum
from pairlearn.engine.coefficients import Coefficients
from pairlearn.system.once import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.data.types import Floats, Ints
    from pairlearn.engine.backends.dask.points import DaskPoints
    from pairlearn.engine.backends.dask.run import Blocks, Result
    from pairlearn.engine.backends.protocol import Value

__all__ = ["DaskPairRiskSum", "DaskRiskSum"]


class DaskRiskSum(RiskSum):
    """A risk of single points in a dask array."""

    points: DaskPoints

    def value_and_gradient(
        self, risk: Any, w: Floats, b: float | Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the risk and its gradients in w and b."""
        if not is_additive(risk):
            return self._host.value_and_gradient(risk, w, b)
        sums, _ = self.points.blocks.reduce(_weighted, (risk, w, b), self._shipped)
        value, d_w, d_b = self.points.checked(sums)
        return value, d_w, d_b

    def value_along(self, risk: Any, w: Floats, b: float | Floats) -> Value:
        """Return c -> risk of c f, which needs the scores only once."""
        return self._host.value_along(risk, w, b)

    @once
    def _host(self) -> NumpyRiskSum:
        return NumpyRiskSum(self.points, self.coefficients)

    @once
    def _shipped(self) -> Shipped:
        both = np.stack(self.coefficients[:], axis=1)
        return Shipped(self.points.blocks.split(both))


class DaskPairRiskSum(PairRiskSum):
    """A risk of pairs of points in a dask array."""

    points: DaskPoints

    def value_and_gradient(
        self, risk: Any, w: Floats, b: float | Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the risk and its gradients in w and b."""
        plan = self._plan(is_additive(risk))
        value, d_w, d_b = self._run(plan, "value_and_gradient", risk, w, b)
        return value, d_w, d_b

    def moment(self, w: Floats, b: float | Floats) -> tuple[Floats, Floats]:
        """Return X^T r and the sum of r, with r_p = sum of (a - b) f' / 2 at p."""
        d_w, d_b = self._run(self._plan(additive=True), "moment", w, b)
        return d_w, d_b

    def rate_gradient(self, risk: Any, w: Floats, b: float | Floats) -> Floats:
        """Return the derivatives of a likelihood risk in its two flip rates."""
        plan = self._plan(is_additive(risk))
        return np.asarray(self._run(plan, "rate_gradient", risk, w, b)[0])

    def value_along(self, risk: Any, w: Floats, b: float | Floats) -> Value:
        """Return c -> risk of c f, which needs the scores only once."""
        here = NumpyPairRiskSum(self.points, self.index, self.coefficients)
        return here.value_along(risk, w, b)

    def _plan(self, additive: bool) -> Plan:
        # With one block there is nothing to add up.
        additive = additive or len(self.points.blocks) == 1
        if additive not in self._plans:
            pairs = self.index, self.coefficients
            self._plans[additive] = Plan(self.points.blocks, *pairs, additive)
        return self._plans[additive]

    @once
    def _plans(self) -> dict[bool, Plan]:
        """The plans made so far, for additive risks and for others."""
        return {}

    def _run(self, plan: Plan, method: str, *args: Any) -> Any:
        """Return what a method of `NumpyPairRiskSum` returns, as a tuple."""
        blocks = self.points.blocks
        sums, scores = blocks.reduce(
            _coupled, (method, args), plan.inside, plan.asked, only=plan.busy
        )
        if plan.crossing is not None:
            known: Any = Scored(
                np.concatenate(scores), lambda r: plan.pullback(blocks, r)
            )
            plan.crossing.points = known
            outer = _call(plan.crossing, method, args)
            if sums is not None:
                outer = tuple(a + b for a, b in zip(sums, outer, strict=True))
            sums = outer
        return self.points.checked(sums)


class Scored:
    """Points known by their scores alone, whatever the weights.

    With these for its points, `NumpyPairRiskSum` computes a risk of given scores.
    """

    def __init__(self, scores: Floats, pullback: Callable[[Floats], Floats]) -> None:
        self._scores = scores
        self._pullback = pullback
        self.n_points = len(scores)

    def scores(self, w: Floats, b: float | Floats = 0.0) -> Floats:  # noqa: ARG002
        """Return the scores."""
        return self._scores

    def pullback(self, r: Floats) -> Floats:
        """Return X^T r of the points that have these scores."""
        return self._pullback(r)


class Plan:
    """Which pairs are evaluated where.

    Parameters
    ----------
    blocks : Blocks
        The blocks of points.
    index, coefficients
        The pairs and their coefficients.
    additive : bool
        Whether blocks may evaluate their own pairs.

    Attributes
    ----------
    inside : Shipped
        For each block, the pairs that it evaluates, by numbers within the block.
    crossing : NumpyPairRiskSum or None
        The other pairs, by the numbers of the points that are in any of them.
    asked : Shipped
        For each block, its points that are in such a pair.
    busy : list of bool
        Whether a block has anything to do.
    """

    def __init__(
        self, blocks: Blocks, index: Ints, coefficients: Coefficients, additive: bool
    ) -> None:
        block = np.searchsorted(blocks.bounds[1:], index, side="right")
        own = (block[:, 0] == block[:, 1]) & additive
        # A block with many pairs across is read twice anyway. The few inside it then
        # go with them: evaluated alone they would take a product of their own.
        n_own, n_across = (
            np.bincount(block[which].ravel(), minlength=len(blocks))
            for which in (own, ~own)
        )
        own &= (n_own >= n_across)[block[:, 0]]
        # Stable, so that pairs keep their order, and their sums their last digits.
        order = np.flatnonzero(own)
        order = order[np.argsort(block[order, 0], kind="stable")]
        cuts = np.searchsorted(block[order, 0], np.arange(len(blocks) + 1))
        inside: list[Any] = []
        for k in range(len(blocks)):
            part = order[cuts[k] : cuts[k + 1]]
            answers = Coefficients(*coefficients[part])
            pairs = index[part] - blocks.bounds[k], answers
            inside.append(pairs if len(part) else None)
        others = np.flatnonzero(~own)
        needed, number = np.unique(index[others], return_inverse=True)
        self._cuts = np.searchsorted(needed, blocks.bounds)
        asked = [
            needed[low:high] - begin if high > low else None
            for low, high, begin in zip(
                self._cuts[:-1], self._cuts[1:], blocks.bounds[:-1], strict=True
            )
        ]
        self.crossing: NumpyPairRiskSum | None = None
        if len(others):
            self.crossing = NumpyPairRiskSum(
                Scored(np.zeros(len(needed)), lambda r: r),
                number.reshape(-1, 2),
                Coefficients(*coefficients[others]),
            )
        self.inside, self.asked = Shipped(inside), Shipped(asked)
        self._crosses = [rows is not None for rows in asked]
        self.busy = [
            pairs is not None or crosses
            for pairs, crosses in zip(inside, self._crosses, strict=True)
        ]

    def pullback(self, blocks: Blocks, r: Floats) -> Floats:
        """Return X^T r of the points in pairs that cross blocks."""
        parts = np.split(r, self._cuts[1:-1])
        sums, _ = blocks.reduce(
            _pullback_some, None, self.asked, parts, only=self._crosses
        )
        pulled: Floats = sums[0]  # type: ignore[index]
        return pulled


def _weighted(points: Any, call: Any, both: Floats) -> Result:
    return points.weighted(Coefficients(*both.T)).value_and_gradient(*call), []


def _coupled(points: Any, call: Any, pairs: Any, asked: Ints | None) -> Result:
    """Return the sums of the pairs inside a block, and the scores asked for."""
    method, args = call
    if asked is None:
        return _call(points.coupled(*pairs), method, args), []
    # The scores are needed anyway: once is enough.
    scores = points.scores(*args[-2:])
    if pairs is None:
        return None, [scores[asked]]
    here: Any = Scored(scores, points.pullback)
    return _call(NumpyPairRiskSum(here, *pairs), method, args), [scores[asked]]


def _pullback_some(points: Any, _: None, asked: Ints, r: Floats) -> Result:
    every = np.zeros((points.n_points, *r.shape[1:]))
    every[asked] = r
    return (points.pullback(every),), []


def _call(risk_sum: Any, method: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    result = getattr(risk_sum, method)(*args)
    return result if isinstance(result, tuple) else (result,)
