r"""The risk of answers for several classes, in few passes over memory.

With p(x) = softmax(f(x)), S = sum of p_c(x) p_c(x') and Q = r0 + (r1 - r0) S, the
derivative of the risk R of the answers in S is

.. math:: g_k = (r_1 - r_0) \left(\frac{b_k}{1 - Q_k} - \frac{a_k}{Q_k}\right) .

In the probabilities of a point it is G_c(x) = sum of g_k p_c(x'_k) over the pairs k of
x, with x'_k the other point of each, and in its scores p_c (G_c - sum of p_d G_d). So
the softmax is computed once for each point, not twice for each pair. Classes come
before models in memory, and sums over classes are products with a matrix of zeros and
ones: rows of few numbers are slow to add up one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints

__all__ = ["softmax_risk"]

# Up to this score its exponential is finite, in single precision too.
_SAFE = 60.0


def softmax_risk(
    scores: Floats,
    index: Ints,
    answers: tuple[Floats, Floats],
    incidence: tuple[Floats, Floats],
    rates: tuple[Any, Any],
) -> tuple[Floats, Floats]:
    """Return R of each model and its derivative in the scores.

    Parameters
    ----------
    scores : ndarray of shape (n_points, n_models, n_classes)
        The scores; in single precision, so is the derivative.
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    answers : tuple of ndarray of shape (n_pairs, n_models)
        How much "same" and "different" count for each model.
    incidence : tuple of sparse array of shape (n_points, n_pairs)
        Which pairs have a point on their left, and on their right.
    rates : tuple of float, or of ndarray of shape (n_pairs, 1)
        (r1, r0), of all pairs or of each.

    Returns
    -------
    risk : ndarray of shape (n_models,)
    by_scores : ndarray of shape (n_points, n_models, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn.engine.backends.numpy.risk_sums import incidence
    >>> index, one = np.array([[0, 1]]), np.ones((1, 1))
    >>> risk, slope = softmax_risk(
    ...     np.zeros((2, 1, 4)), index, (one, 0 * one), incidence(index, 2), (1.0, 0.0)
    ... )
    >>> bool(np.isclose(risk[0], np.log(4))), bool(np.allclose(slope, 0))
    (True, True)
    """
    n_points, n_models, n_classes = scores.shape
    if np.abs(scores).max(initial=0) > _SAFE:
        scores = scores - scores.max(axis=2, keepdims=True)
    p = np.exp(scores.swapaxes(1, 2).reshape(n_points, -1))
    add_classes = np.tile(np.eye(n_models, dtype=p.dtype), (n_classes, 1))

    def each(of_models: Floats) -> Floats:
        return np.tile(of_models, (1, n_classes))

    p *= each(1 / (p @ add_classes))
    left, right = p[index[:, 0]], p[index[:, 1]]
    r1, r0 = rates
    q = r0 + (r1 - r0) * ((left * right) @ add_classes).astype(float)
    # Rounding must not carry a certain answer past certainty.
    q = np.minimum(q, r1)
    same, different = answers
    risk = -(same * np.log(q) + different * np.log1p(-q)).sum(axis=0)
    slope = (r1 - r0) * (different / (1 - q) - same / q)
    slope = each(slope.astype(p.dtype))
    left *= slope
    right *= slope
    by_p = incidence[0] @ right + incidence[1] @ left
    by_p -= each((p * by_p) @ add_classes)
    by_p *= p
    return risk, by_p.reshape(n_points, n_classes, n_models).swapaxes(1, 2)
