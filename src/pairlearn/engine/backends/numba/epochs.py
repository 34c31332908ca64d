"""Epochs of stochastic gradient descent.

An epoch in NumPy takes a dozen calls a batch, which cost more than the arithmetic in
them. Compiled, the points of a batch are read where they lie. The steps are those of
:func:`pairlearn.engine.solvers.sgd_epoch`; sums may be taken in another order, so the
last digits differ.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.engine.backends.numba.compiling import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pairlearn.data.types import Floats, Ints

__all__ = ["RISKS", "pair_epoch", "point_epoch"]

# The risks of a pair's two scores: the logistic loss of f f', and the binary
# likelihood of MCL.
RISKS = {"product": 0, "likelihood": 1}
_PRODUCT = RISKS["product"]


@compiled
def _expit(z: float) -> float:
    if z >= 0:
        return 1 / (1 + math.exp(-z))
    power = math.exp(z)
    return power / (1 + power)


@compiled
def _softplus(z: float) -> float:
    """Return log(1 + exp(z)) without overflow.

    A score beyond the range of a double must not make 0 times infinity of it.
    """
    return min(max(z, 0.0), 1e300) + math.log1p(math.exp(-abs(z)))


@compiled
def _score(x: Floats, w: Floats) -> float:
    total = x.dtype.type(0)
    for j in range(len(x)):
        total += x[j] * w[j]
    return float(total)


@compiled
def _product(f: float, g: float, a: float, b: float) -> tuple[float, float, float]:
    """Return a phi(f g) + b phi(-f g) and its derivatives in f and g."""
    z = f * g
    slope = b - (a + b) * _expit(-z)
    return a * _softplus(-z) + b * _softplus(z), slope * g, slope * f


@compiled
def _likelihood(f: float, g: float, a: float, b: float) -> tuple[float, float, float]:
    """Return -a log P(same) - b log P(different) and its derivatives."""
    both, first = _expit(f + g), _expit(f - g)
    # P(same) = (e^(f + g) + 1) / ((1 + e^f) (1 + e^g)), P(different) likewise.
    norm = _softplus(f) + _softplus(g)
    value = a * (norm - _softplus(f + g))
    value += b * (norm - max(f, g) - math.log1p(math.exp(-abs(f - g))))
    d_f = (a + b) * _expit(f) - a * both - b * first
    d_g = (a + b) * _expit(g) - a * both - b * (1 - first)
    return value, d_f, d_g


@compiled
def _add(total: Floats, x: Floats, factor: float) -> None:
    factor = x.dtype.type(factor)
    for j in range(len(x)):
        total[j] += factor * x[j]


@compiled
def _step(
    u: Floats, w: Floats, pulled: Floats, slope: float, alpha: float, rate: float
) -> float:
    """Take a step down the gradient, and return the penalty before it."""
    square = 0.0
    for j in range(len(w)):
        square += u[j] * u[j]
        u[j] -= rate * (pulled[j] + alpha * u[j])
        w[j] = u[j]
    if len(u) > len(w):
        u[len(w)] -= rate * slope
    return alpha / 2 * square


@compiled
def pair_epoch(
    X: NDArray[Any],
    left: Ints,
    right: Ints,
    same: Floats,
    different: Floats,
    risk: int,
    u: Floats,
    order: Ints,
    batch_size: int,
    alpha: float,
    rate: float,
) -> float:
    """Change u = (w, b) by a step for each batch of pairs; return the mean objective.

    `u` has one entry more than X has columns if there is an intercept.
    """
    n_features = X.shape[1]
    w = u[:n_features].astype(X.dtype)
    pulled = np.empty(n_features, X.dtype)
    f, g = np.empty(batch_size), np.empty(batch_size)
    total, n_batches = 0.0, 0
    for begin in range(0, len(order), batch_size):
        size = min(batch_size, len(order) - begin)
        scale = len(left) / size
        b = u[n_features] if len(u) > n_features else 0.0
        for k in range(size):
            pair = order[begin + k]
            f[k] = _score(X[left[pair]], w) + b
            g[k] = _score(X[right[pair]], w) + b
        pulled[:] = 0
        value, slope = 0.0, 0.0
        for k in range(size):
            pair = order[begin + k]
            both = scale * same[pair], scale * different[pair]
            if risk == _PRODUCT:
                one, d_f, d_g = _product(f[k], g[k], both[0], both[1])
            else:
                one, d_f, d_g = _likelihood(f[k], g[k], both[0], both[1])
            value += one
            slope += d_f + d_g
            _add(pulled, X[left[pair]], d_f)
            _add(pulled, X[right[pair]], d_g)
        total += value + _step(u, w, pulled, slope, alpha, rate)
        n_batches += 1
    return total / max(1, n_batches)


@compiled
def point_epoch(
    X: NDArray[Any],
    positive: Floats,
    negative: Floats,
    u: Floats,
    order: Ints,
    batch_size: int,
    alpha: float,
    rate: float,
) -> float:
    """Change u = (w, b) by a step for each batch of points, for the logistic loss."""
    n_features = X.shape[1]
    w = u[:n_features].astype(X.dtype)
    pulled = np.empty(n_features, X.dtype)
    total, n_batches = 0.0, 0
    for begin in range(0, len(order), batch_size):
        size = min(batch_size, len(order) - begin)
        scale = X.shape[0] / size
        b = u[n_features] if len(u) > n_features else 0.0
        pulled[:] = 0
        value, slope = 0.0, 0.0
        for k in range(size):
            point = order[begin + k]
            f: Any = _score(X[point], w) + b
            both = scale * positive[point], scale * negative[point]
            one, d_f, _ = _product(f, 1.0, both[0], both[1])
            value += one
            slope += d_f
            _add(pulled, X[point], d_f)
        total += value + _step(u, w, pulled, slope, alpha, rate)
        n_batches += 1
    return total / max(1, n_batches)
