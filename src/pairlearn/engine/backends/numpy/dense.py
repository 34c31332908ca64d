r"""Risks of pairs of points in a NumPy array: each point read once an evaluation.

The two products X w and X^T r read all points twice. Where pairs are no more than the
points, it is less to read the two points of each pair, score them, and pull their
derivatives back while they are in the cache; points that are in no pair are not read at
all. The pairs are divided among threads. With numba (extra `fast`) the loops are
compiled; without it they are NumPy's, on blocks.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.engine.backends.compiled import compiled_module
from pairlearn.engine.backends.numpy.risk_sums import (
    NumpyPairRiskSum,
    compiled_name,
    is_additive,
)
from pairlearn.system.threads import block_bounds, map_threads, own_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pairlearn.data.types import Floats, Ints
    from pairlearn.engine.backends.numpy.points import NumpyPoints

    # The risk of a part of the pairs, X^T r and the sum of r.
    Part = tuple[float, Floats, float]

__all__ = ["DensePairRiskSum", "compiled_for", "product", "pulled_back", "scored"]

# Fewer numbers than these are not worth a thread, nor blocks.
FEW = 2**18
# Bytes of the points that a thread takes at a time. NumPy's calls hinder each other
# in threads, so that it should need few of them.
PART_BYTES, NUMPY_BYTES = 2**23, 2**25
# Rows that are added up in the precision of the points.
NARROW = 512
# From so many columns on, a sum over rows is fastest column by column.
WIDE = 32


class DensePairRiskSum(NumpyPairRiskSum):
    """A risk of pairs of points in a NumPy array with its rows in one piece each."""

    points: NumpyPoints

    def value_and_gradient(
        self, risk: Any, w: Floats, b: float | Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the risk and its gradients in w and b."""
        n_pairs, X = len(self.index), self.points.X
        if X.size < FEW or w.ndim > 1 or not is_additive(risk):
            return super().value_and_gradient(risk, w, b)
        fast = compiled_for(X)
        if n_pairs > len(X):
            with own_threads():
                value, r = self.risk_of(risk, scored(X, w, b, fast))
                return value, pulled_back(X, r, fast), r.sum()
        if fast is None:
            part = partial(self._numpy_part, risk, w, float(b))
        elif compiled_name(risk) == "product":
            part = partial(self._compiled_part, fast, w, float(b))
        else:
            part = partial(self._mixed_part, fast, risk, w, float(b))
        n_bytes = NUMPY_BYTES if fast is None else PART_BYTES
        size = max(1, n_bytes // (2 * X.shape[1] * X.itemsize))
        parts = map_threads(part, block_bounds(n_pairs, size))
        value = float(sum(value for value, _, _ in parts))
        if fast is not None and not np.isfinite(value):
            # Scores beyond the range of numbers: NumPy's risks know how to treat them.
            return super().value_and_gradient(risk, w, b)
        pulled = np.sum([pulled for _, pulled, _ in parts], axis=0)
        return value, pulled, np.asarray(sum(slope for _, _, slope in parts))

    def _compiled_part(
        self, fast: Any, w: Floats, b: float, pairs: tuple[int, int]
    ) -> Part:
        total = np.zeros(len(w))
        value, slope = fast.pair_block(
            self.points.X,
            *self._compiled_pairs,
            w,
            b,
            *pairs,
            total,
            *fast.workspace(fast.WITH_POINTS),
        )
        return value, total, slope

    def _mixed_part(
        self, fast: Any, risk: Any, w: Floats, b: float, pairs: tuple[int, int]
    ) -> Part:
        """Do the products by compiled loops, for a risk that NumPy computes."""
        X = self.points.X
        rows = self._compiled_pairs[0][slice(*pairs)].ravel()
        scores, total = np.empty(len(rows)), np.zeros(len(w))
        fast.score_rows(X, rows, w, b, scores)
        value, r = self._risk_of_rows(risk, scores, *pairs)
        fast.pull_rows(X, rows, r, total)
        return value, total, float(r.sum())

    def _numpy_part(
        self, risk: Any, w: Floats, b: float, pairs: tuple[int, int]
    ) -> Part:
        X = self.points.X
        block = _rows(X, self.index[slice(*pairs)].ravel())
        scores = product(block, w.astype(X.dtype, copy=False))
        scores = scores.astype(np.float64, copy=False) + b
        value, r = self._risk_of_rows(risk, scores, *pairs)
        return value, _pull(block, r), float(r.sum())

    def _risk_of_rows(
        self, risk: Any, scores: Floats, begin: int, end: int
    ) -> tuple[float, Floats]:
        """Return the risk of some pairs and its derivatives; their points alternate."""
        value, d_left, d_right = risk.value_and_gradient(
            scores[::2], scores[1::2], *self.coefficients[begin:end]
        )
        r = np.empty_like(scores)
        r[::2], r[1::2] = d_left, d_right
        return value, r


def product(A: Any, B: Any) -> Any:
    """Return A B without a warning of numbers that are none of ours.

    Vectors that BLAS fills only in part may hold anything in the rest: some of its
    kernels for few columns then report an invalid number where all are finite. Points
    are checked when they are given, and solvers check what they get.
    """
    with np.errstate(invalid="ignore"):
        return A @ B


def scored(X: NDArray[Any], w: Floats, b: float | Floats, fast: Any = None) -> Floats:
    """Return X w + b of a dense array of many points.

    Threads of BLAS would go on waiting for work after the product, and take the cores
    from what follows: each of our threads multiplies its own part. `fast` are the
    compiled functions, if they may be used: they read points faster than BLAS.
    """
    scores = np.empty((len(X), *w.shape[1:]))
    parts, numbers = _parts(X)
    # The weights follow the points: the other way round would copy these.
    own_w = w.astype(X.dtype, copy=False)

    def part(rows: tuple[int, int]) -> None:
        some = slice(*rows)
        if fast is not None and w.ndim == 1:
            own = numbers[: rows[1] - rows[0]]
            fast.score_rows(X[some], own, w, float(b), scores[some])
        else:
            np.add(product(X[some], own_w), b, out=scores[some], dtype=np.float64)

    map_threads(part, parts)
    return scores


def pulled_back(X: NDArray[Any], r: Floats, fast: Any = None) -> Floats:
    """Return X^T r of a dense array of many points, summed in float64.

    The parts of the sum are the same with any number of threads. `fast` are the
    compiled functions, if they may be used.
    """
    parts, numbers = _parts(X)

    def part(rows: tuple[int, int]) -> Floats:
        some = slice(*rows)
        if fast is None or r.ndim > 1:
            return _pull(X[some], r[some])
        total = np.zeros(X.shape[1])
        fast.pull_rows(X[some], numbers[: rows[1] - rows[0]], r[some], total)
        return total

    return np.asarray(np.sum(map_threads(part, parts), axis=0))


def _parts(X: NDArray[Any]) -> tuple[list[tuple[int, int]], Ints]:
    """Return ranges of rows for threads to take, and the rows within the longest."""
    size = max(1, PART_BYTES // (X.shape[1] * X.itemsize))
    return block_bounds(len(X), size), np.arange(min(size, len(X)), dtype=np.uint32)


def _pull(X: NDArray[Any], r: Floats) -> Floats:
    """Return X^T r by NumPy."""
    r = r.astype(X.dtype, copy=False)
    if r.ndim > 1:
        return np.asarray(product(X.T, r), dtype=np.float64)
    # Matrix products of a vector from the left let no other thread work meanwhile;
    # these do, the first for few columns, the second for many.
    if X.shape[1] < WIDE and X.dtype == np.float64:
        return np.asarray(np.dot(r, X))
    if X.dtype == np.float64:
        return np.asarray(np.einsum("i,ij->j", r, X))
    # In float32 only so many rows are added up before the sum goes on in float64.
    head = len(X) - len(X) % NARROW
    parts = X[:head].reshape(-1, NARROW, X.shape[1])
    sums = np.einsum("ki,kij->kj", r[:head].reshape(-1, NARROW), parts)
    rest = np.einsum("i,ij->j", r[head:], X[head:])
    return np.asarray(sums.sum(axis=0, dtype=np.float64) + rest)


def _rows(X: NDArray[Any], rows: Ints) -> NDArray[Any]:
    """Return rows of X: where they follow each other, without a copy."""
    first, last = int(rows[0]), int(rows[-1])
    if last - first == len(rows) - 1 and (np.diff(rows) == 1).all():
        return X[first : last + 1]
    return X.take(rows, axis=0)


def compiled_for(X: Any) -> Any:
    """Return the compiled functions, if they are there and can read these points."""
    if not isinstance(X, np.ndarray) or not X.flags.c_contiguous:
        return None
    return compiled_module()
