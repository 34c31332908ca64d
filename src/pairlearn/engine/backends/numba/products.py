r"""The product risk of the logistic loss, and products with points, in one reading.

For the pairs of a range, f = w^T x + b, f' of the other point, z = f f', e = e^{-|z|},

.. math:: R = \sum_k (a_k + b_k) \log(1 + e_k) + c_k |z_k|, \qquad
          \frac{\partial R}{\partial z_k}
          = \operatorname{sign}(z_k) \Big[c_k - \frac{(a_k + b_k) e_k}{1 + e_k}\Big],

with c = b where z is positive and a elsewhere: that is a phi(z) + b phi(-z), written so
that nothing cancels. The points of a few pairs at a time are scored and pulled back
while they are in the cache, so that each is read from memory once. Sums are float64,
whatever the points are.

The exponential is that of :mod:`pairlearn.engine.backends.numba.exponentials`, and
log1p is made in the same way: with s = e / (2 + e) <= 1/3,

.. math:: \log(1 + e) = 2 \operatorname{artanh}(s) ,

and artanh(s) / s is a polynomial of s^2 of the least largest error (a Chebyshev fit in
40 digits), right to 1e-15. Where all answers are sure and weigh the same, one logarithm
of the product of many 1 + e takes the place of theirs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import uintp

from pairlearn.engine.backends.numba.compiling import compiled
from pairlearn.engine.backends.numba.exponentials import exp_of_minus
from pairlearn.engine.backends.numba.processor import prefetch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pairlearn.data.types import Floats, Ints

__all__ = ["pair_slopes", "pair_block", "pull_rows", "workspace", "score_rows"]

# Pairs that are worked on together: with their points, or without, they stay in the
# cache next to the core. No more than 1,000: a product of so many factors up to 2 is in
# the range of a double.
WITH_POINTS, ALONE = 64, 256


def workspace(n: int) -> Floats:
    """Return where the scores of n pairs' first and second points are kept."""
    return np.zeros((2, n))


@compiled
def product_risk(
    is_same: Any, weight: float, same: Any, different: Any, first: int, n: int,
    f: Floats, g: Floats,
) -> float:  # fmt: skip
    """Return the risk of n pairs from `first` on; scores become derivatives.

    `same` and `different` hold a and b. Or they are None, and `is_same` says which
    pairs are "same", all of one weight. Beyond |z| = 700 e is taken as exp(-700), which
    is as good as nothing.
    """
    value = 0.0
    above = 1.0
    for i in range(n):
        one = f[i]
        other = g[i]
        z = one * other
        up = z > 0
        z = abs(z)
        e = exp_of_minus(z)
        # Unsigned, which spares a look at the sign.
        at: Any = uintp(first + i)
        if same is None:
            both = weight
            against = 0.0 if is_same[at] == up else weight
            above *= 1 + e
        else:
            both = same[at] + different[at]
            against = different[at] if up else same[at]
            s = e / (2 + e)
            q = s * s
            p = (0.088903819130566514 * q + 0.049403945243823931) * q
            p = ((p + 0.067956527427899469) * q + 0.076818381244458171) * q
            p = ((p + 0.090914299002369555) * q + 0.11111095430673142) * q
            p = ((p + 0.1428571455582858) * q + 0.199999999976438) * q
            p = (p + 0.33333333333341287) * q
            value += both * (2 * s * (p + 1.0))
        value += against * z
        step = against - both * (e / (1 + e))
        step = step if up else -step
        f[i] = step * other
        g[i] = step * one
    return value + weight * math.log(above)


@compiled
def pair_block(
    X: NDArray[Any], rows: Ints, is_same: Any, weight: float, same: Any, different: Any,
    w: Floats, b: float, begin: int, end: int, total: Floats, f: Floats, g: Floats,
) -> tuple[float, float]:  # fmt: skip
    """Add X^T r of pairs `begin` to `end` to the total; return risk and sum of r.

    `rows` are the points of all pairs, unsigned: that spares a look at the sign. Points
    are scored one by one, as memory likes to be read, and pulled back by fours. Memory
    would idle meanwhile: for each four it is asked for one of the next block's points.
    """
    value = slope = 0.0
    for first in range(begin, end, len(f)):
        n = end - first
        if n > len(f):
            n = len(f)
        for i in range(n):
            at: Any = uintp(first + i)
            row = rows[at, 0]
            score = b
            for j in range(len(w)):
                score += X[row, j] * w[j]
            f[i] = score
            row = rows[at, 1]
            score = b
            for j in range(len(w)):
                score += X[row, j] * w[j]
            g[i] = score
        value += product_risk(is_same, weight, same, different, first, n, f, g)
        for i in range(0, n, 2):
            k = first + n + i // 4
            row = rows[k if k < end else first, i // 2 % 2]
            for j in range(0, len(w), 64 // X.itemsize):
                prefetch(X, row, j)
            # The last of an odd number of pairs goes with itself, which adds nothing.
            k = i + 1 if i + 1 < n else i
            share = 1.0 if i + 1 < n else 0.0
            c1, c2, c3, c4 = f[i], g[i], share * f[k], share * g[k]
            r1, r2 = rows[first + i, 0], rows[first + i, 1]
            r3, r4 = rows[first + k, 0], rows[first + k, 1]
            slope += c1 + c2 + c3 + c4
            for j in range(len(w)):
                near = c1 * X[r1, j] + c2 * X[r2, j]
                total[j] += near + (c3 * X[r3, j] + c4 * X[r4, j])
    return value, slope


@compiled
def pair_slopes(
    scores: Floats, rows: Ints, is_same: Any, weight: float, same: Any, different: Any,
    begin: int, end: int, r: Floats, f: Floats, g: Floats,
) -> float:  # fmt: skip
    """Add the derivatives of pairs `begin` to `end` to r of each point; return risk."""
    value = 0.0
    for first in range(begin, end, len(f)):
        n = end - first
        if n > len(f):
            n = len(f)
        for i in range(n):
            at: Any = uintp(first + i)
            f[i] = scores[rows[at, 0]]
            g[i] = scores[rows[at, 1]]
        value += product_risk(is_same, weight, same, different, first, n, f, g)
        for i in range(n):
            at = uintp(first + i)
            r[rows[at, 0]] += f[i]
            r[rows[at, 1]] += g[i]
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
    """Add X^T r of some rows of X to the total.

    One by one, since memory is fastest at reading on and on; it is what limits this.
    """
    for i in range(len(rows)):
        row, share = rows[i], r[i]
        for j in range(len(total)):
            total[j] += share * X[row, j]
