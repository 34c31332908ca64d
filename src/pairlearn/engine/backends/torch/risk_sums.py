"""Risks summed over points or pairs in torch: scores never leave the device.

The risk of the scores is `pairlearn.engine.backends.torch.risks`, differentiated by
autograd, in float64 like the scores. One transfer brings the weights, one takes value
and gradient back. A loss of the user's own is computed in NumPy, from scores in memory.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from pairlearn.engine.backends.numpy.risk_sums import NumpyPairRiskSum, NumpyRiskSum
from pairlearn.engine.backends.protocol import PairRiskSum, RiskSum
from pairlearn.engine.backends.torch.risks import (
    log_probabilities,
    point_risk,
    rate_gradient,
    tensor_link,
    tensor_phi,
    tensor_risk,
)
from pairlearn.system.once import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.data.types import Floats
    from pairlearn.engine.backends.protocol import Value
    from pairlearn.engine.backends.torch.points import TorchPoints
    from pairlearn.engine.risks import PointRisk

    RiskOfScores = Callable[[Tensor], Tensor]

__all__ = ["TorchPairRiskSum", "TorchRiskSum"]


class TorchRiskSum(RiskSum):
    """A risk of single points that are a tensor."""

    points: TorchPoints

    def value_and_gradient(
        self, risk: Any, w: Floats, b: float | Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the risk and its gradients in w and b."""
        risk_of = self._risk_of(risk)
        if risk_of is None:
            return self._host.value_and_gradient(risk, w, b)
        scores = self.points.wide_scores(w, b).requires_grad_()
        value = risk_of(scores)
        (r,) = torch.autograd.grad(value, scores)
        d_w, d_b = self.points.wide_pullback(r), r.sum(0)
        parts = d_w.reshape(-1), d_b.reshape(-1), value.detach().reshape(1)
        return _unpack(torch.cat(parts), w.shape)

    def value_along(self, risk: Any, w: Floats, b: float | Floats) -> Value:
        """Return c -> risk of c f, which needs the scores only once."""
        risk_of = self._risk_of(risk)
        if risk_of is None:
            return self._host.value_along(risk, w, b)
        scores = self.points.wide_scores(w, b)
        return lambda c: float(risk_of(c * scores))

    def _risk_of(self, risk: PointRisk) -> RiskOfScores | None:
        """Return the risk as a function of all scores; None: NumPy must do it."""
        phi = tensor_phi(risk.loss)
        if phi is None:
            return None
        return lambda scores: point_risk(
            scores, *self._uploaded, phi, nonnegative=risk.nonnegative
        )

    @once
    def _uploaded(self) -> tuple[Tensor, Tensor]:
        positive, negative = map(self.points.upload, self.coefficients)
        return positive, negative

    @once
    def _host(self) -> NumpyRiskSum:
        return NumpyRiskSum(self.points, self.coefficients)


class TorchPairRiskSum(PairRiskSum, TorchRiskSum):
    """A risk of pairs of points that are a tensor.

    On a GPU the common risks are computed by a kernel that reads the two points of each
    pair once, if Triton is there and the pairs are no more than the points: beyond
    that, it would read points more often than two products of all of X do.
    """

    def value_and_gradient(
        self, risk: Any, w: Floats, b: float | Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the risk and its gradients in w and b."""
        form = self._kernel and self._kernel.form_of(risk)
        if form is None or w.ndim > 1:
            return super().value_and_gradient(risk, w, b)
        return _unpack(self._fused(form, w, b), w.shape)

    def moment(self, w: Floats, b: float | Floats) -> tuple[Floats, Floats]:
        """Return X^T r and the sum of r, with r_p = sum of (a - b) f' / 2 at p."""
        if self._kernel and w.ndim == 1:
            sums = self._fused(self._kernel.MOMENT, w, b)
            return _unpack(sums, w.shape)[1:]
        scores = self.points.wide_scores(w, b)
        same, different = self._uploaded
        share = ((same - different) / 2).reshape(-1, *[1] * (scores.ndim - 1))
        left, right = self._sides
        r = torch.zeros_like(scores)
        r.index_add_(0, left, share * scores.index_select(0, right))
        r.index_add_(0, right, share * scores.index_select(0, left))
        parts = self.points.wide_pullback(r).reshape(-1), r.sum(0).reshape(-1)
        sums = torch.cat([*parts, r.new_zeros(1)])
        return _unpack(sums, w.shape)[1:]

    def rate_gradient(self, risk: Any, w: Floats, b: float | Floats) -> Floats:
        """Return the derivatives of a likelihood risk in its two flip rates."""
        link = tensor_link(risk)
        if link is None:
            return self._host.rate_gradient(risk, w, b)
        scores, (left, right) = self.points.wide_scores(w, b), self._sides
        logs = log_probabilities(
            scores.index_select(0, left), scores.index_select(0, right), link
        )
        slopes = rate_gradient(*logs, *self._uploaded, risk.flip_rates)
        return np.asarray(slopes.cpu().numpy())

    def _risk_of(self, risk: Any) -> RiskOfScores | None:
        risk_of_pairs = tensor_risk(risk)
        if risk_of_pairs is None:
            return None
        left, right = self._sides
        return lambda scores: risk_of_pairs(
            scores.index_select(0, left),
            scores.index_select(0, right),
            *self._uploaded,
        )

    @once
    def _sides(self) -> tuple[Tensor, Tensor]:
        """The rows of both points of each pair, in 32 bits if they fit."""
        rows = self.points.upload(self.index)
        if self.points.n_points < 2**31:
            rows = rows.int()
        left, right = rows.T.contiguous()
        return left, right

    @once
    def _narrow_coefficients(self) -> tuple[Tensor, Tensor]:
        same, different = (part.to(self.points.X.dtype) for part in self._uploaded)
        return same, different

    @once
    def _host(self) -> NumpyPairRiskSum:
        return NumpyPairRiskSum(self.points, self.index, self.coefficients)

    @once
    def _kernel(self) -> Any:
        """The module of the kernel, where it can be used and is worth it."""
        X, n_pairs = self.points.X, len(self.index)
        kernel = _fused_module() if X.is_cuda and n_pairs <= len(X) else None
        return kernel if kernel and kernel.suits(X, n_pairs) else None

    def _fused(self, form: Any, w: Floats, b: float | Floats) -> Tensor:
        sums: Tensor = self._kernel.fused_sums(
            self.points.X, *self._sides, *self._narrow_coefficients, w, float(b), form
        )
        return sums


@cache
def _fused_module() -> Any:
    """Return the kernel; None without Triton."""
    try:
        return import_module("pairlearn.engine.backends.torch.fused")
    except ImportError:
        return None


def _unpack(sums: Tensor, shape: tuple[int, ...]) -> tuple[float, Floats, Floats]:
    """Return value, gradient in w and gradient in b from one tensor, in memory."""
    numbers = sums.cpu().numpy()
    size = int(np.prod(shape))
    d_w, d_b = numbers[:size].reshape(shape), numbers[size:-1].reshape(shape[1:])
    return float(numbers[-1]), d_w, d_b
