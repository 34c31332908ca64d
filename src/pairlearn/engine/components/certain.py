r"""The likelihood of answers that are all right, about points of two classes.

Answers that share points then say of all points of a component on which side of each
other they are: s_i = 1 or -1, up to one swap. The sum over the classes of
:mod:`pairlearn.engine.components.likelihood` has two terms for each component, whatever
its links are. With p_i(1) = 1 / (1 + exp(-f_i)) =: h(f_i) and x_i = s_i f_i,

.. math:: Z = \prod_i h(x_i) + \prod_i h(-x_i)
            = (1 + e^{-D}) \prod_i h(x_i) , \qquad D = \sum_i x_i ,

since h(-x) = h(x) exp(-x). Each point is of class s_i with the share q = h(D) of the
first term, and

.. math:: -\frac{\partial \log Z}{\partial f_i} = s_i \, (h(x_i) - q) .

Nothing is passed from point to point, and there is one exponential per point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints

__all__ = ["CertainSides"]


class CertainSides:
    """Components of points whose sides are known from each other.

    Parameters
    ----------
    group : ndarray of int, shape (n_points,)
        The component of each point.
    sign : ndarray of shape (n_points,)
        Its side, positive or negative; 0 of points that are in no pair.

    Examples
    --------
    Three points, the third unlike the others, and one that nobody was asked about:

    >>> sides = CertainSides(np.array([0, 0, 0, 1]), np.array([1.0, 1.0, -1.0, 0.0]))
    >>> p = np.array([0.5, 0.8, 0.1, 0.3])[:, None]
    >>> f = np.log(p / (1 - p))
    >>> np.exp(-sides(f)[0]).round(2)  # 0.5 * 0.8 * 0.9 + 0.5 * 0.2 * 0.1
    array([0.37])
    >>> sides.marginals(f)[1, :, 0].round(3)
    array([0.973, 0.973, 0.027, 0.3  ])
    """

    def __init__(self, group: Ints, sign: Floats) -> None:
        used = np.flatnonzero(sign)
        self._points = used[np.argsort(group[used], kind="stable")]
        ordered = group[self._points]
        self._begins = np.flatnonzero(np.diff(ordered, prepend=-1))
        self._sizes = np.diff(self._begins, append=len(ordered))
        self._sign = np.sign(sign[self._points])[:, None]

    def __call__(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return -log Z of each model, and its derivatives in the scores.

        `scores` has shape (n_points, n_models), and so do the derivatives.
        """
        x = self._sign * scores[self._points]
        logs = np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))
        apart = np.add.reduceat(x, self._begins, axis=0)
        value = np.logaddexp(0.0, -apart).sum(axis=0) + logs.sum(axis=0)
        slopes = np.zeros_like(scores)
        slopes[self._points] = self._sign * (np.exp(logs) - self._shares(apart))
        return -value, slopes

    def marginals(self, scores: Floats) -> Floats:
        """Return what scores and answers together say, (2, n_points, n_models)."""
        x = self._sign * scores[self._points]
        share = self._shares(np.add.reduceat(x, self._begins, axis=0))
        upper = expit(scores)
        upper[self._points] = np.where(self._sign > 0, share, 1 - share)
        return np.stack([1 - upper, upper])

    def _shares(self, apart: Floats) -> Floats:
        """Return q of the component of each point."""
        return np.repeat(expit(apart), self._sizes, axis=0)
