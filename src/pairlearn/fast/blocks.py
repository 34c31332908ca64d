r"""The product risk of the logistic loss, and products with points, in one reading.

For the pairs of a range, f = w^T x + b and f' of both points, z = f f' and

.. math:: R = \sum_k (a_k + b_k) \log(1 + e^{z_k}) - a_k z_k, \qquad
          g_k = \frac{a_k + b_k}{1 + e^{-z_k}} - a_k,

which is a phi(z) + b phi(-z) and its derivative; X^T r adds g_k f'_k x + g_k f_k x'.
The points of a few pairs at a time are scored and pulled back while they are in the
cache, so that each is read from memory once. Sums are float64, whatever the points are.

The library's exp and log1p take one number at a time. Here both are polynomials without
branches, which the compiler turns into vector instructions, four to eight times as
fast. With k = round(|z| / log 2) and s = e / (2 + e) <= 1/3,

.. math:: e = e^{-|z|} = 2^{-k} \exp(k \log 2 - |z|), \qquad
          \log(1 + e) = 2 \operatorname{artanh}(s) .

exp(r) for |r| <= log(2) / 2, and artanh(s) / s as a function of s^2, are polynomials of
the least largest error (Chebyshev fits in 40 digits); both are right to 1e-15.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import int32

from pairlearn.fast.compile import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pairlearn._typing import Floats, Ints

__all__ = ["couple", "pair_block", "pull", "pull_rows", "room", "score_rows"]

# Pairs that are worked on together; with their points they stay in the cache.
BLOCK = 32
_PER_OCTAVE = 1 / math.log(2)
_LOG_2 = math.log(2)


def room() -> tuple[Any, ...]:
    """Return the arrays that `pair_block` and `couple` work in, for one thread."""
    f, g, z, soft, share, power = np.zeros((6, BLOCK))
    return f, g, z, soft, share, power, power.view(np.int64)


@compiled
def _logistic(
    z: Floats, soft: Floats, share: Floats, power: Floats, bits: Ints, n: int
) -> None:
    """Set soft = log(1 + exp(z)) and share = 1 / (1 + exp(-z)), for n numbers.

    `bits` is the array `power`, seen as integers. Beyond |z| = 700 exp(-|z|) is taken
    as exp(-700), which is as good as nothing.
    """
    for i in range(n):
        a = -z[i] if z[i] < 0 else z[i]
        if a > 700.0:
            a = 700.0
        k = int32(a * _PER_OCTAVE + 0.5)
        r = k * _LOG_2 - a
        p = (2.5110037605963777e-08 * r + 2.763263963904103e-07) * r
        p = ((p + 2.755724091857897e-06) * r + 2.4801485482328494e-05) * r
        p = ((p + 1.9841269890047113e-04) * r + 1.3888888952314775e-03) * r
        p = ((p + 8.333333333319601e-03) * r + 4.16666666664881e-02) * r
        p = ((p + 1.666666666666668e-01) * r + 5.000000000000019e-01) * r
        soft[i] = (p + 1.0) * r + 1.0
        # The exponent of a double, 1023 above its own, begins at bit 52.
        bits[i] = (1023 - k) << 52
    for i in range(n):
        e = soft[i] * power[i]
        s = e / (2 + e)
        q = s * s
        p = (0.08522081781390699 * q + 0.0416225325593041) * q
        p = ((p + 0.06055084364034609) * q + 0.06650187016337313) * q
        p = ((p + 0.07693307021152004) * q + 0.09090870416252403) * q
        p = ((p + 0.11111112040373837) * q + 0.14285714272727057) * q
        p = ((p + 0.20000000000092874) * q + 0.33333333333333076) * q
        soft[i] = (z[i] if z[i] > 0 else 0.0) + 2 * s * (p + 1.0)
        inverse = 1 / (1 + e)
        share[i] = inverse if z[i] >= 0 else e * inverse


@compiled
def pair_block(
    X: NDArray[Any],
    index: Ints,
    same: Floats,
    different: Floats,
    w: Floats,
    b: float,
    begin: int,
    end: int,
    total: Floats,
    f: Floats,
    g: Floats,
    z: Floats,
    soft: Floats,
    share: Floats,
    power: Floats,
    bits: Ints,
) -> tuple[float, float]:
    """Add X^T r of pairs `begin` to `end` to the total; return risk and sum of r."""
    value = slope = 0.0
    for first in range(begin, end, BLOCK):
        n = end - first
        if n > BLOCK:
            n = BLOCK
        for i in range(n):
            left, right = index[first + i, 0], index[first + i, 1]
            one = other = b
            for j in range(len(w)):
                one += X[left, j] * w[j]
                other += X[right, j] * w[j]
            f[i], g[i], z[i] = one, other, one * other
        _logistic(z, soft, share, power, bits, n)
        for i in range(n):
            a = same[first + i]
            both = different[first + i] + a
            value += both * soft[i] - a * z[i]
            step = both * share[i] - a
            one, other = step * g[i], step * f[i]
            slope += one + other
            left, right = index[first + i, 0], index[first + i, 1]
            for j in range(len(w)):
                total[j] += one * X[left, j] + other * X[right, j]
    return value, slope


@compiled
def couple(
    scores: Floats,
    index: Ints,
    same: Floats,
    different: Floats,
    begin: int,
    end: int,
    r: Floats,
    f: Floats,
    g: Floats,
    z: Floats,
    soft: Floats,
    share: Floats,
    power: Floats,
    bits: Ints,
) -> float:
    """Add the derivatives of pairs `begin` to `end` to r of each point; return risk."""
    value = 0.0
    for first in range(begin, end, BLOCK):
        n = end - first
        if n > BLOCK:
            n = BLOCK
        for i in range(n):
            f[i], g[i] = scores[index[first + i, 0]], scores[index[first + i, 1]]
            z[i] = f[i] * g[i]
        _logistic(z, soft, share, power, bits, n)
        for i in range(n):
            a = same[first + i]
            both = different[first + i] + a
            value += both * soft[i] - a * z[i]
            step = both * share[i] - a
            r[index[first + i, 0]] += step * g[i]
            r[index[first + i, 1]] += step * f[i]
    return value


@compiled
def score_rows(
    X: NDArray[Any], rows: Ints, w: Floats, b: float, scores: Floats
) -> None:
    """Set the scores of some rows of X, for a risk that is not compiled."""
    for i in range(len(rows)):
        row = rows[i]
        score = b
        for j in range(len(w)):
            score += X[row, j] * w[j]
        scores[i] = score


@compiled
def pull_rows(X: NDArray[Any], rows: Ints, r: Floats, total: Floats) -> None:
    """Add X^T r of some rows of X, an even number of them, to the total."""
    for i in range(0, len(rows), 2):
        one, other = rows[i], rows[i + 1]
        for j in range(len(total)):
            total[j] += r[i] * X[one, j] + r[i + 1] * X[other, j]


@compiled
def pull(X: NDArray[Any], r: Floats, begin: int, end: int, total: Floats) -> None:
    """Add X^T r of the rows `begin` to `end` to the total."""
    last = end - (end - begin) % 4
    for i in range(begin, last, 4):
        for j in range(len(total)):
            total[j] += (r[i] * X[i, j] + r[i + 1] * X[i + 1, j]) + (
                r[i + 2] * X[i + 2, j] + r[i + 3] * X[i + 3, j]
            )
    for i in range(last, end):
        for j in range(len(total)):
            total[j] += r[i] * X[i, j]
