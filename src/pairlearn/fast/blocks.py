r"""The product risk of the logistic loss, and products with points, in one reading.

For the pairs of a range, f = w^T x + b, f' of the other point, z = f f', e = e^{-|z|},

.. math:: R = \sum_k (a_k + b_k) \log(1 + e_k) + c_k |z_k|, \qquad
          \frac{\partial R}{\partial z_k}
          = \operatorname{sign}(z_k) \Big[c_k - \frac{(a_k + b_k) e_k}{1 + e_k}\Big],

with c = b where z is positive and a elsewhere: that is a phi(z) + b phi(-z), written so
that nothing cancels. The points of a few pairs at a time are scored and pulled back
while they are in the cache, so that each is read from memory once. Sums are float64,
whatever the points are.

The library's exp and log1p take one number at a time. Here both are polynomials without
branches, which the compiler turns into vector instructions, four to eight times as
fast. With k = round(|z| / log 2) and s = e / (2 + e) <= 1/3,

.. math:: e = 2^{-k} \exp(k \log 2 - |z|), \qquad
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

__all__ = ["couple", "pair_block", "pull_rows", "room", "score_rows"]

# Pairs that are worked on together: with their points, or without, they stay in the
# cache next to the core.
WITH_POINTS, ALONE = 32, 256
_PER_OCTAVE = 1 / math.log(2)
_LOG_2 = math.log(2)


def room(n: int) -> tuple[Any, ...]:
    """Return the arrays that n pairs are worked on in, for one thread."""
    z, soft, share, power = np.zeros((4, n))
    return np.zeros(2 * n), z, soft, share, power, power.view(np.int64)


@compiled
def product_risk(
    same: Floats,
    different: Floats,
    first: int,
    n: int,
    f: Floats,
    z: Floats,
    soft: Floats,
    share: Floats,
    power: Floats,
    bits: Ints,
) -> float:
    """Return the risk of n pairs from `first` on; scores become derivatives.

    The two points of a pair follow each other in f. `bits` is the array `power`, seen
    as integers. Beyond |z| = 700 e is taken as exp(-700), which is as good as nothing.
    """
    for i in range(n):
        product = f[2 * i] * f[2 * i + 1]
        z[i] = product if product > 0 else -product
        x: Any = z[i] if z[i] < 700.0 else 700.0  # noqa: FURB136 - compiles faster
        k: Any = int32(x * _PER_OCTAVE + 0.5)
        r = k * _LOG_2 - x
        p = (2.7626357241447223e-07 * r + 2.7640180796209851e-06) * r
        p = ((p + 2.4801504346997687e-05) * r + 1.9841170270440068e-04) * r
        p = ((p + 1.3888888932488598e-03) * r + 8.3333333856677825e-03) * r
        p = ((p + 4.1666666666573143e-02) * r + 1.6666666666554404e-01) * r
        p = ((p + 5.0000000000000056e-01) * r + 1.0000000000000067) * r
        soft[i] = p + 1.0
        # The exponent of a double, 1023 above its own, begins at bit 52.
        bits[i] = (1023 - k) << 52
    for i in range(n):
        e = soft[i] * power[i]
        s = e / (2 + e)
        q = s * s
        p = (0.088903819130566514 * q + 0.049403945243823931) * q
        p = ((p + 0.067956527427899469) * q + 0.076818381244458171) * q
        p = ((p + 0.090914299002369555) * q + 0.11111095430673142) * q
        p = ((p + 0.1428571455582858) * q + 0.199999999976438) * q
        p = (p + 0.33333333333341287) * q
        soft[i] = 2 * s * (p + 1.0)
        share[i] = e / (1 + e)
    value = 0.0
    for i in range(n):
        one = f[2 * i]
        other = f[2 * i + 1]
        up = one * other > 0
        both = same[first + i] + different[first + i]
        against = different[first + i] if up else same[first + i]
        value += both * soft[i] + against * z[i]
        step = against - both * share[i]
        step = step if up else -step
        f[2 * i] = step * other
        f[2 * i + 1] = step * one
    return value


@compiled
def pair_block(
    X: NDArray[Any],
    rows: Ints,
    same: Floats,
    different: Floats,
    w: Floats,
    b: float,
    begin: int,
    end: int,
    total: Floats,
    f: Floats,
    z: Floats,
    soft: Floats,
    share: Floats,
    power: Floats,
    bits: Ints,
) -> tuple[float, float]:
    """Add X^T r of pairs `begin` to `end` to the total; return risk and sum of r.

    `rows` are the points of all pairs, unsigned: that spares a look at the sign.
    """
    value = slope = 0.0
    for first in range(begin, end, len(z)):
        n = end - first
        if n > len(z):
            n = len(z)
        at = 2 * first
        for i in range(2 * n):
            row = rows[at + i]
            score = b
            for j in range(len(w)):
                score += X[row, j] * w[j]
            f[i] = score
        value += product_risk(same, different, first, n, f, z, soft, share, power, bits)
        for i in range(0, 2 * n, 2):
            k = rows[at + i]
            m = rows[at + i + 1]
            c = f[i]
            d = f[i + 1]
            slope += c + d
            for j in range(len(w)):
                total[j] += c * X[k, j] + d * X[m, j]
    return value, slope


@compiled
def couple(
    scores: Floats,
    rows: Ints,
    same: Floats,
    different: Floats,
    begin: int,
    end: int,
    r: Floats,
    f: Floats,
    z: Floats,
    soft: Floats,
    share: Floats,
    power: Floats,
    bits: Ints,
) -> float:
    """Add the derivatives of pairs `begin` to `end` to r of each point; return risk."""
    value = 0.0
    for first in range(begin, end, len(z)):
        n = end - first
        if n > len(z):
            n = len(z)
        for i in range(2 * n):
            f[i] = scores[rows[2 * first + i]]
        value += product_risk(same, different, first, n, f, z, soft, share, power, bits)
        for i in range(2 * n):
            r[rows[2 * first + i]] += f[i]
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
