r"""A quick model for choosing questions, where the sides of the asked points are known.

Between two versions of the model, answers come in that it has not learned from. Where
answers are right and there are two classes, the sides of all points that were asked
about are known up to swapping them, and a quick model is enough to choose the next
question: Gaussian processes with a logistic likelihood, one for each kernel and scale
that :class:`~pairlearn.PairClassifier` tries, averaged.

With G = s^2 Z Z^T + 9 the covariance of the scores of the n asked points (Z their
features, fixed for the whole interview; 9 for the offset), y in {0, 1} their sides and
p = 1 / (1 + exp(-f)), the scores f maximise

.. math:: \sum_i y_i \log p_i + (1 - y_i) \log(1 - p_i) - \tfrac12 f^\top G^{-1} f ,

by Newton's method in a = G^{-1} f: with W = diag(p (1 - p)) and b = W f + y - p the
step leads to a = b - W^{1/2} B^{-1} W^{1/2} G b, where B = I + W^{1/2} G W^{1/2}. What
the process would say of point i without its own answer is, to the same order,

.. math:: f_i - \frac{v_i (y_i - p_i)}{1 - w_i v_i} , \qquad
    1 - w_i v_i = (B^{-1})_{ii} ,

so that leaving each point out costs nothing [1]_. These scores say how each process is
to be scaled (a slope), how much it counts in the average, and how the average is
calibrated, as in `PairClassifier`.

References
----------
.. [1] C. E. Rasmussen and C. K. I. Williams (2006). Gaussian processes for machine
   learning, chapter 3 (Laplace's approximation). MIT Press.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, log_expit, logit

from pairlearn.data.containers import take_rows
from pairlearn.models.auto.choose import KERNELS, SCALES
from pairlearn.models.auto.columns import ColumnView
from pairlearn.models.auto.ensemble import chunks
from pairlearn.models.auto.kernels import FeatureMap
from pairlearn.models.auto.stack import TYPICAL_SCALE

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints, PointsLike

__all__ = ["Surrogate"]

_OFFSET = 9.0
_COMPONENTS, _SAMPLE = 300, 3000
_STEPS, _ENOUGH = 10, 1e-2
# Curvatures below this are no longer told apart from certainty.
_FLAT = 1e-5
# A process with a smaller share than this is left out.
_SMALL_SHARE = 1e-3
_SLOPES = np.geomspace(0.2, 4.0, 13)
# How strongly weights of the average are drawn to those of the prior.
_PULL, _ROUNDS = 3.0, 200


class Surrogate:
    """Class probabilities of all candidates, from the sides of some.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_candidates, n_features)
        The candidates.
    seed : int
        Seed of the landmarks of the kernels.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> side = np.where(np.hypot(*X.T) > 1, 1, -1)
    >>> asked = np.arange(60)
    >>> p = Surrogate(X, 0).probability(asked, side[:60])
    >>> bool(np.mean((p[60:, 1] > 0.5) == (side[60:] > 0)) > 0.9)
    True
    """

    def __init__(self, X: PointsLike, seed: int) -> None:
        rng = np.random.RandomState(seed)
        n_points = X.shape[0]
        sample = take_rows(X, np.sort(rng.permutation(n_points)[:_SAMPLE]))
        rows = np.arange(n_points)
        self.features: list[Floats] = []
        for kind, kernels in KERNELS.items():
            view = ColumnView(kind).fit(sample, rng)
            seen = view.transform(sample)
            if not seen.shape[1]:
                continue
            for kernel in kernels:
                if kernel.name == "laplacian" and not view.bends:
                    continue
                feature_map = FeatureMap(kernel, _COMPONENTS).fit(seen, rng)
                if not feature_map.n_features:
                    continue
                parts = [
                    feature_map.transform(view.transform(take_rows(X, rows[part])))
                    for part in chunks(X)
                ]
                Z = np.concatenate(parts).astype(np.float32)
                self.features.append(Z)  # type: ignore[arg-type]
        self.n_points = n_points

    def probability(self, asked: Ints, side: Ints) -> Floats:
        """Return the class probabilities of all candidates.

        Parameters
        ----------
        asked : ndarray of int
            Candidates whose sides are known.
        side : ndarray of shape (n_asked,)
            Their sides, -1 or +1.

        Returns
        -------
        ndarray of shape (n_candidates, 2)
        """
        y, sign = (side > 0).astype(float), np.where(side > 0, 1.0, -1.0)
        base = (y.sum() + 1) / (len(y) + 2)
        own, scores, scales = [], [], []
        for Z in self.features:
            here = Z[asked].astype(float)
            inner = here @ here.T
            for scale in SCALES:
                a, left_out = _fit(scale**2 * inner + _OFFSET, y)
                weights = scale**2 * (here.T @ a)
                slope = _slope(sign * left_out)
                own.append(expit(slope * sign * left_out))
                scores.append((Z, slope * weights, slope * _OFFSET * a.sum()))
                scales.append(scale)
        own.append(np.where(y > 0, base, 1 - base))
        share = _average(np.array(own), np.array([*scales, TYPICAL_SCALE]))
        share = np.where(share > _SMALL_SHARE, share, 0.0)
        share /= share.sum()
        p = np.full(self.n_points, share[-1] * base)
        for part, (Z, weights, offset) in zip(share, scores, strict=False):
            if part:
                p += part * expit(Z @ weights.astype(np.float32) + offset)
        right = np.clip(share @ np.array(own), 1e-6, 1 - 1e-6)
        factor, shift = _calibration(sign * logit(right), sign)
        p = expit(factor * logit(np.clip(p, 1e-6, 1 - 1e-6)) + shift)
        return np.stack([1 - p, p], axis=1)


def _fit(G: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return a, and the scores of points by what the others say."""
    n = len(y)
    a, f = np.zeros(n), np.zeros(n)
    sign = 2 * y - 1
    value = -np.log(2) * n
    for _ in range(_STEPS):
        p = expit(f)
        w = np.maximum(p * (1 - p), _FLAT)
        root = np.sqrt(w)
        factor = cho_factor(np.eye(n) + root[:, None] * G * root, lower=True)
        b = w * f + y - p
        new = b - root * cho_solve(factor, root * (G @ b))
        step, towards = new - a, G @ (new - a)
        size = 1.0
        while size > 0.02:
            trial = float(
                np.sum(log_expit(sign * (f + size * towards)))
                - (a + size * step) @ (f + size * towards) / 2
            )
            if trial > value:
                break
            size /= 2
        else:
            break
        a, f = a + size * step, f + size * towards
        gained, value = trial - value, trial
        if gained < _ENOUGH:
            break
    p = expit(f)
    w = np.maximum(p * (1 - p), _FLAT)
    root = np.sqrt(w)
    factor = cho_factor(np.eye(n) + root[:, None] * G * root, lower=True)
    alone = np.clip(np.diag(cho_solve(factor, np.eye(n))), 1e-4, 1.0)
    return a, f - (1 - alone) / w * (y - p) / alone


def _slope(margin: Floats) -> float:
    """Return the factor by which scores explain the sides best."""
    fit = log_expit(_SLOPES[:, None] * margin).sum(axis=1) - np.log(_SLOPES) ** 2 / 2
    return float(_SLOPES[fit.argmax()])


def _average(right: Floats, scales: Floats) -> Floats:
    """Return the weights with which the average explains the sides best.

    `right` has the probability that each process gives to the side of each point.
    """
    n = right.shape[1]
    prior = np.exp(-(np.log2(scales / TYPICAL_SCALE) ** 2) / 2)
    prior /= prior.sum()
    share, pull = prior.copy(), _PULL / n
    rate = min(0.5, 1 / pull)
    for _ in range(_ROUNDS):
        slope = right @ (1 / np.maximum(share @ right, 1e-9)) / n
        step = rate * (slope - pull * np.log(share / prior))
        share = np.maximum(share * np.exp(step - step.max()), 1e-12)
        share /= share.sum()
    return share


def _calibration(score: Floats, sign: Floats) -> tuple[float, float]:
    """Return factor and shift of the scores that explain the sides best."""
    factors, shifts = np.geomspace(0.4, 4.0, 12), np.linspace(-1.0, 1.0, 9)
    bent = factors[:, None, None] * score + shifts[:, None]
    fit = log_expit(sign * bent).sum(axis=2)
    fit -= np.log(factors)[:, None] ** 2 / 2 + 2 * shifts**2
    i, j = np.unravel_index(fit.argmax(), fit.shape)
    return float(factors[i]), float(shifts[j])
