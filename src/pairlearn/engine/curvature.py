r"""Second derivatives of risks of a linear model, from those in its scores.

With Z = (X, 1), f = Z (w, b) and S the second derivatives of the risk in the scores,

.. math:: \nabla^2 R = Z^T S Z, \qquad
          S = \sum_k \begin{pmatrix} h_{ll} & h_{lr} \\ h_{lr} & h_{rr} \end{pmatrix}_k

at the rows and columns of the two points of each pair; for a risk of single points S is
diagonal. The h are differences of the risk's slopes, which takes no product with the
points and serves every smooth risk. They are exact to about eight digits: enough for
whoever wants the shape of an objective. The one product is a product of matrices, far
cheaper a number than an evaluation for each weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pairlearn.data.containers import is_tensor, on_host
from pairlearn.engine.backends.numpy.dense import product
from pairlearn.system.threads import block_bounds, map_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.data.types import Floats, Ints
    from pairlearn.engine.coefficients import Coefficients

__all__ = ["pair_curvature", "point_curvature"]

# Of a score, for differences to both sides.
STEP = 1e-4
# Each part has a matrix of its own, so there are few; and rows stay in the cache. A
# tensor's device wants many rows at a time, and has threads of its own.
PARTS, BLOCK, TENSOR_BLOCK = 8, 512, 2**16


def pair_curvature(
    X: Any, index: Ints, coefficients: Coefficients, risk: Any, scores: Floats
) -> Floats:
    """Return the second derivatives in (w, b) of a risk of pairs.

    Parameters
    ----------
    X : ndarray, CSR matrix or tensor of shape (n_points, n_features)
        The points.
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    coefficients : Coefficients
        How much either answer counts for each pair.
    risk : PairRisk
        A smooth risk that is a sum over pairs.
    scores : ndarray of shape (n_points,)
        The scores of the points.

    Returns
    -------
    ndarray of shape (n_features + 1, n_features + 1)
    """

    def part(begin: int, end: int) -> Floats:
        some = slice(begin, end)
        left, right = index[some].T
        f, g = scores[left], scores[right]
        answers = coefficients[some]

        def slopes(f: Floats, g: Floats) -> Floats:
            return np.stack(risk.value_and_gradient(f, g, *answers)[1:])

        step, other = STEP * (1 + np.abs(f)), STEP * (1 + np.abs(g))
        ll, lr = (slopes(f + step, g) - slopes(f - step, g)) / (2 * step)
        _, rr = (slopes(f, g + other) - slopes(f, g - other)) / (2 * other)
        L, R = _extended(X, left), _extended(X, right)
        return _product(L, _scaled(L, ll) + _scaled(R, lr)) + _product(
            R, _scaled(R, rr) + _scaled(L, lr)
        )

    return _summed(part, len(index), X)


def point_curvature(
    X: Any, coefficients: Coefficients, risk: Any, scores: Floats
) -> Floats:
    """Return the second derivatives in (w, b) of a risk of single points.

    Parameters
    ----------
    X : ndarray, CSR matrix or tensor of shape (n_points, n_features)
        The points.
    coefficients : Coefficients
        How much either class counts for each point.
    risk : PointRisk
        A smooth risk that is a sum over points.
    scores : ndarray of shape (n_points,)
        The scores of the points.

    Returns
    -------
    ndarray of shape (n_features + 1, n_features + 1)
    """

    def part(begin: int, end: int) -> Floats:
        some, f = np.arange(begin, end), scores[begin:end]
        classes = coefficients[begin:end]
        step = STEP * (1 + np.abs(f))
        up, down = (
            risk.value_and_gradient(at, *classes)[1] for at in (f + step, f - step)
        )
        Z = _extended(X, some)
        return _product(Z, _scaled(Z, (up - down) / (2 * step)))

    return _summed(part, len(scores), X)


def _summed(part: Callable[[int, int], Floats], n: int, X: Any) -> Floats:
    """Return the sum of a part's matrices over all terms, on all threads."""
    if is_tensor(X):
        blocks = block_bounds(n, TENSOR_BLOCK)
        return np.asarray(sum(part(*block) for block in blocks))

    def several(ends: tuple[int, int]) -> Floats:
        begin, end = ends
        total: Any = 0.0
        for block in block_bounds(end - begin, BLOCK, begin):
            total = total + part(*block)
        return np.asarray(total)

    size = max(BLOCK, -(-n // PARTS))
    return np.asarray(np.sum(map_threads(several, block_bounds(n, size)), axis=0))


def _extended(X: Any, rows: Ints) -> Any:
    """Return rows of (X, 1)."""
    if sparse.issparse(X):
        some = sparse.csr_array(X[rows])
        return sparse.hstack([some, np.ones((len(rows), 1))], format="csr")
    shape = len(rows), X.shape[1] + 1
    Z = X.new_ones(shape) if is_tensor(X) else np.ones(shape, X.dtype)
    Z[:, :-1] = X[rows.astype(np.intp, copy=False)]
    return Z


def _scaled(Z: Any, factor: Floats) -> Any:
    """Return the rows of Z times one number each."""
    if sparse.issparse(Z):
        return Z.multiply(factor[:, None]).tocsr()
    if is_tensor(Z):
        return Z * Z.new_tensor(factor)[:, None]
    return Z * factor[:, None].astype(Z.dtype, copy=False)


def _product(A: Any, B: Any) -> Floats:
    both = product(A.T, B)
    if sparse.issparse(both):
        both = both.toarray()
    return np.asarray(on_host(both), dtype=np.float64)
