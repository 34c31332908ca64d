"""From scores to log-odds, by pairs alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

from pairlearn.engine.coefficients import answer_coefficients
from pairlearn.engine.links import BinaryLink
from pairlearn.engine.risks import LikelihoodRisk

if TYPE_CHECKING:
    from pairlearn.data.types import Floats

__all__ = ["calibrate"]

# Keeps the slope finite when the scores sort all pairs without error.
_SLOPE_PENALTY = 0.01


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
    spread = float(np.sqrt(np.mean(left**2 + right**2) / 2))
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
    results = [
        minimize(
            loss_gradient,
            [1.0, start],
            jac=True,
            method="L-BFGS-B",
            bounds=[(1e-3, None), (None, None)],
        )
        for start in (0.0, -1.0, 1.0)
    ]
    slope, intercept = min(results, key=lambda result: result.fun).x
    return float(slope / spread), float(intercept)
