r"""Training with unlabelled points: coefficients that keep a risk unbiased.

With p the prior, P_S = p^2 + (1 - p)^2 and P_D = 1 - P_S, expectations over similar
pairs (S), dissimilar pairs (D) and unlabelled points (U) obey P_S E_S + P_D E_D = E_U.
So the part of one of them can be had from the other two, with negative signs. The risks
below are sums of losses with coefficients a (for "same", or the positive class) and b
(for "different", or the negative class); this file computes those coefficients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.checks import check_gammas, check_prior
from pairlearn.data.containers import stack_rows
from pairlearn.data.pairs import Pairs
from pairlearn.engine.coefficients import Coefficients
from pairlearn.trust.theory import prior_from_same_rate

if TYPE_CHECKING:
    from numpy.random import RandomState

    from pairlearn.data.types import Floats, PointsLike

__all__ = [
    "add_unlabeled_couples",
    "check_mixture",
    "point_coefficients",
    "prior_for",
    "product_coefficients",
]

# Which of the three mixing weights need what.
NEEDS = {"same": (0, 1), "different": (0, 2), "unlabelled": (1, 2)}
# Each unlabelled point is coupled with this many others, to lower the variance.
N_COUPLES = 5


def check_mixture(gammas: Any, unlabeled: Any, t: Floats) -> tuple[float, float, float]:
    """Return the three mixing weights, or say what is missing.

    The first needs both kinds of answers, the second "same" and unlabelled points, the
    third "different" and unlabelled points.

    Parameters
    ----------
    gammas : tuple of float
        The weights.
    unlabeled : array-like or None
        The unlabelled points, if there are any.
    t : ndarray
        Answers that count.

    Returns
    -------
    tuple of float
    """
    weights = check_gammas(gammas)
    here = {
        "same": np.any(t > 0),
        "different": np.any(t < 0),
        "unlabelled": unlabeled is not None,
    }
    for kind, users in NEEDS.items():
        if not here[kind] and any(weights[k] > 0 for k in users):
            what = (
                "unlabelled points: pass unlabeled=X_u to fit"
                if kind == "unlabelled"
                else f"answers '{kind}', and there are none"
            )
            raise ValueError(f"gammas={weights} needs {what}")
    return weights


def prior_for(prior: float | None, t: Floats, weight: Floats) -> float:
    """Return the prior given, or the majority's prior from the share of "same".

    Parameters
    ----------
    prior : float or None
        The prior, if it is known.
    t, weight : ndarray of shape (n_pairs,)
        Answers to random pairs, and their weights.

    Returns
    -------
    float
    """
    if prior is not None:
        return check_prior(prior)
    counted = t[weight > 0]
    if np.all(counted > 0) or np.all(counted < 0):
        raise ValueError(
            "with one kind of answer the prior cannot be estimated from the answers: "
            "give it as prior="
        )
    same_rate = (1 + np.average(t, weights=weight)) / 2
    return float(prior_from_same_rate(same_rate))


def shares(t: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return each pair's share of the similar and of the dissimilar pairs."""
    parts = weight * (1 + t) / 2, weight * (1 - t) / 2
    same, different = (part / (part.sum() or 1.0) for part in parts)
    return same, different


def product_coefficients(
    t: Floats, weight: Floats, gammas: tuple[float, float, float], same_rate: float
) -> Coefficients:
    """Return the coefficients of the answered pairs in the semi-supervised risk.

    P_S E_S[(g1 + g2) l(z, +1) - g2 l(z, -1)]
    + P_D E_D[(g1 + g3) l(z, -1) - g3 l(z, +1)],
    while unlabelled pairs count g3 for "same" and g2 for "different".
    """
    g1, g2, g3 = gammas
    same, different = shares(t, weight)
    same, different = same_rate * same, (1 - same_rate) * different
    return Coefficients(
        (g1 + g2) * same - g3 * different, (g1 + g3) * different - g2 * same
    )


def add_unlabeled_couples(
    pairs: Pairs,
    coefficients: Coefficients,
    unlabeled: PointsLike,
    gammas: tuple[float, float, float],
    rng: RandomState,
) -> tuple[Pairs, Coefficients]:
    """Append random couples of unlabelled points to the pairs and coefficients."""
    n, offset = unlabeled.shape[0], pairs.n_points
    if n < 2:
        raise ValueError("at least two unlabelled points are needed to couple them")
    shifts = rng.permutation(n - 1)[:N_COUPLES] + 1
    order = rng.permutation(n)
    couples = np.concatenate(
        [np.stack([order, np.roll(order, s)], axis=1) for s in shifts]
    )
    share = np.full(len(couples), 1 / len(couples))
    index = np.concatenate([pairs.index, couples + offset])
    same, different = coefficients
    return Pairs(stack_rows(pairs.X, unlabeled), index), Coefficients(
        np.concatenate([same, gammas[2] * share]),
        np.concatenate([different, gammas[1] * share]),
    )


def point_coefficients(
    pairs: Pairs,
    t: Floats,
    weight: Floats,
    gammas: tuple[float, float, float],
    prior: float,
    n_unlabeled: int,
) -> Coefficients:
    r"""Return the coefficients of both classes for each point, unlabelled ones last.

    With L(z, t) = [p l(z, t) - q l(z, -t)] / (2p - 1), D(z) = [l(z, +1) - l(z, -1)] /
    (2p - 1) and pairs read as two points each, the risk is the mixture of

    * SD: P_S E_S[L(f, +1)] + P_D E_D[L(f, -1)],
    * SU: P_S E_S[D(f)] + E_U[L(f, -1)],
    * DU: -P_D E_D[D(f)] + E_U[L(f, +1)].
    """
    sd, su, du = gammas
    p, q, odds = prior, 1 - prior, 2 * prior - 1
    same_rate = p**2 + q**2
    same, different = shares(t, weight)
    same, different = same_rate * same / 2, (1 - same_rate) * different / 2
    positive = (sd * p + su) * same - (sd * q + du) * different
    negative = -(sd * q + su) * same + (sd * p + du) * different
    n = pairs.n_points
    coefficients = []
    for part, of_unlabeled in (
        (positive, du * p - su * q),
        (negative, su * p - du * q),
    ):
        at_points: Any = np.bincount(pairs.left, part, n)
        at_points = at_points + np.bincount(pairs.right, part, n)
        unlabeled = np.full(n_unlabeled, of_unlabeled / max(n_unlabeled, 1))
        coefficients.append(np.concatenate([at_points, unlabeled]) / odds)
    return Coefficients(*coefficients)
