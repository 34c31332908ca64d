"""From scores to log-odds, by pairs alone: Platt's scaling, answers for labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

from pairlearn.engine.coefficients import answer_coefficients
from pairlearn.engine.links import BinaryLink
from pairlearn.engine.risks import LikelihoodRisk
from pairlearn.trust.probabilities import agree, probabilities, same_class

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pairlearn.data.types import Floats

__all__ = [
    "Scale",
    "calibrate",
    "class_probabilities",
    "expected_rate",
    "fit_scale",
    "least",
]

# Keeps the slope finite when the scores sort all pairs without error.
_SLOPE_PENALTY = 0.01
# What is known of the noise rate without data: one answer of ten is wrong, and that
# counts as ten answers.
_WRONG, _RIGHT = 1.0, 9.0
_PRIOR_RATE = _WRONG / (_WRONG + _RIGHT)


def calibrate(
    left: Floats, right: Floats, t: Floats, weight: Floats
) -> tuple[float, float]:
    r"""Return the slope a > 0 and the intercept b of the log-odds g = a f + b.

    Platt scaling with answers in place of labels. Two points are the same with
    probability P(t = 1) = s(g) s(g') + s(-g) s(-g'), s the logistic function, as in
    :class:`~pairlearn.MCLClassifier`. The weighted mean of -log P(t), plus
    0.01 (a r)^2 / (sum of weights), where r is the root mean square of the scores, is
    minimised. (a, b) and (-a, -b) fit alike: the sign is a matter of class assignment.

    Parameters
    ----------
    left, right : ndarray of shape (n_pairs,)
        Scores f of both points of each pair.
    t : ndarray of shape (n_pairs,)
        Answers; a soft answer counts by its expectation.
    weight : ndarray of shape (n_pairs,)
        Weights of the pairs.

    Returns
    -------
    slope, intercept : float

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn.trust.calibration import calibrate
    >>> rng = np.random.default_rng(0)
    >>> g = rng.normal(-1, 2, size=(20_000, 2))  # the true log-odds
    >>> y = rng.random(g.shape) < 1 / (1 + np.exp(-g))
    >>> t = np.where(y[:, 0] == y[:, 1], 1.0, -1.0)
    >>> slope, intercept = calibrate(10 * g[:, 0], 10 * g[:, 1], t, np.ones(len(t)))
    >>> round(slope, 2), round(intercept, 1)
    (0.1, 0.0)
    """
    spread = _spread(left, right)
    if not spread > 0:
        return 1.0, 0.0
    left, right = left / spread, right / spread
    penalty = _SLOPE_PENALTY / weight.sum()
    answers, risk = answer_coefficients(t, weight), LikelihoodRisk(BinaryLink())

    def loss_gradient(u: Floats) -> tuple[float, Floats]:
        g, h = u[0] * left + u[1], u[0] * right + u[1]
        value, by_g, by_h = risk.value_and_gradient(g, h, *answers)
        slope = by_g @ left + by_h @ right + 2 * penalty * u[0]
        gradient = np.array([slope, by_g.sum() + by_h.sum()])
        return value + penalty * u[0] ** 2, gradient

    # Not convex in the intercept, hence three starts.
    starts = [[1.0, start] for start in (0.0, -1.0, 1.0)]
    bounds = [(1e-3, None), (None, None)]
    (slope, intercept), _ = least(loss_gradient, starts, jac=True, bounds=bounds)
    return float(slope / spread), float(intercept)


def least(
    loss: Callable[[Floats], Any], starts: Sequence[Any], **options: Any
) -> tuple[Floats, float]:
    """Return where a loss is least, by L-BFGS from several starts, and its value."""
    results = [minimize(loss, u, method="L-BFGS-B", **options) for u in starts]
    best = min(results, key=lambda result: result.fun)
    return best.x, float(best.fun)


def _spread(left: Floats, right: Floats) -> float:
    """Return the root mean square of the scores; 0 if there are none."""
    return float(np.sqrt(np.mean(left**2 + right**2) / 2)) if len(left) else 0.0


class Scale(NamedTuple):
    """From scores to probabilities: log-odds slope * f + intercept, and noise rate."""

    slope: float
    intercept: float
    rate: float


def expected_rate(wrong: Floats, weight: Floats) -> float:
    """Return the noise rate, given how probably each answer is wrong."""
    return float((weight @ wrong + _WRONG) / (weight.sum() + _WRONG + _RIGHT))


def class_probabilities(scores: Floats, scale: Scale) -> Floats:
    """Return the class probabilities of points; equal ones where a score is NaN.

    Parameters
    ----------
    scores : ndarray of shape (n_points,) or (n_points, n_classes)
        One score a point for two classes, else one a class.
    scale : Scale
        How scores become log-odds.

    Returns
    -------
    ndarray of shape (n_points, n_classes)
    """
    g = scale.slope * scores
    p = probabilities(g if scores.ndim > 1 else g[:, None] + scale.intercept)
    p[np.isnan(p).any(axis=1)] = 1 / p.shape[1]
    return p


def fit_scale(
    left: Floats, right: Floats, t: Floats, weight: Floats, rate: float | None = None
) -> Scale:
    """Find slope, intercept and noise rate by the likelihood of the answers.

    That is :func:`calibrate` with answers that are wrong at some rate; and a soft
    answer is one that says "same" with some probability. Classes that overlap make
    answers doubtful near the boundary, noise does so everywhere: this tells the two
    apart.

    Parameters
    ----------
    left, right : ndarray of shape (n_pairs,) or (n_pairs, n_classes)
        Scores of both points, by models that have not seen them.
    t, weight : ndarray of shape (n_pairs,)
        Answers and their weights.
    rate : float, optional
        The noise rate, if it is known.

    Returns
    -------
    Scale
        For more than two classes the intercept is 0.
    """
    spread = _spread(left, right)
    if not spread > 0:
        return Scale(0.0, 0.0, _PRIOR_RATE if rate is None else rate)
    left, right, total = left / spread, right / spread, float(weight.sum())

    def loss(u: Floats) -> float:
        e = rate if rate is not None else expit(u[2]) / 2
        scale = Scale(u[0], u[1], e)
        p, q = class_probabilities(left, scale), class_probabilities(right, scale)
        right_answer = agree((1 + t) / 2, same_class(p, q))
        likely = np.log(agree(1 - e, right_answer) + 1e-300)
        noise = _WRONG * np.log(e) + _RIGHT * np.log(1 - e)
        return float((_SLOPE_PENALTY * u[0] ** 2 - noise - weight @ likely) / total)

    # Not convex in the intercept, hence three starts.
    two = left.ndim == 1
    bounds = [(0.0, None), (None, None) if two else (0.0, 0.0), (-10.0, 10.0)]
    starts = [
        [2.0, start, logit(2 * _PRIOR_RATE)]
        for start in ((0.0, -1.0, 1.0) if two else (0.0,))
    ]
    (slope, intercept, v), _ = least(loss, starts, bounds=bounds)
    found = float(expit(v) / 2) if rate is None else rate
    return Scale(float(slope / spread), float(intercept), found)
