"""Class probabilities of scores, and the probability that two points are the same.

The engine's likelihoods have the logarithms of the same formulas, which do not
underflow (:class:`pairlearn.engine.risks.BinaryLink` and `SoftmaxLink`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, softmax

if TYPE_CHECKING:
    from pairlearn.data.types import Floats

__all__ = ["agree", "probabilities", "same_and_slopes", "same_class"]


def probabilities(scores: Floats) -> Floats:
    """Return class probabilities, the classes on the last axis.

    `scores` has shape (..., 1) for two classes or (..., n_classes) for more.

    Examples
    --------
    >>> import numpy as np
    >>> probabilities(np.array([[0.0], [2.0]])).round(2)
    array([[0.5 , 0.5 ],
           [0.12, 0.88]])
    """
    if scores.shape[-1] > 1:
        return np.asarray(softmax(scores, axis=-1))
    return np.concatenate([expit(-scores), expit(scores)], axis=-1)


def same_class(p: Floats, q: Floats) -> Floats:
    """Return P(same) of points with class probabilities p and q, on the last axis."""
    return np.asarray(np.einsum("...c,...c->...", p, q))


def agree(p: Floats | float, q: Floats) -> Floats:
    """Return the probability that two independent things both happen or both do not.

    With p and q the probabilities of one of two classes, that is P(same).
    """
    return p * q + (1 - p) * (1 - q)


def same_and_slopes(left: Floats, right: Floats) -> tuple[Floats, Floats, Floats]:
    """Return P(same) and its derivatives in the scores of both points.

    The scores have shape (n_pairs, n_models) for two classes, else (n_pairs, n_models,
    n_classes).
    """
    if left.ndim == 2:
        # With z = 2p - 1, and faster than by way of p.
        z, z_ = np.tanh(left / 2), np.tanh(right / 2)
        return (1 + z * z_) / 2, z_ * (1 - z**2) / 4, z * (1 - z_**2) / 4
    p, p_ = probabilities(left), probabilities(right)
    chance = (p * p_).sum(axis=-1)
    excess = chance[..., None]
    return chance, p * (p_ - excess), p_ * (p - excess)
