r"""Pair risks: functions of the scores of pairs.

A risk takes the two scores of every pair, the answers and the weights, and
returns its value together with the derivatives with respect to both scores.
It knows nothing of points or weights of a model; whoever calls it decides how
the scores came about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from pairlearn.losses import get_loss

if TYPE_CHECKING:
    from pairlearn._typing import Floats
    from pairlearn.losses import MarginLoss

__all__ = ["PairRisk", "ProductRisk"]


class PairRisk(Protocol):
    """What a solver needs of a risk."""

    @property
    def smooth(self) -> bool:
        """Whether the derivatives are continuous."""

    def smoothed(self, width: float) -> PairRisk:
        """Return a smooth risk close to this one."""

    def value_and_gradient(
        self, left: Floats, right: Floats, t: Floats, weight: Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the risk and its derivatives with respect to both scores."""


class ProductRisk:
    r"""The product risk of CIPS.

    With scores f and f' of the two points of a pair, answer t and weight v,

    .. math::

        R = \frac{\sum_k v_k \, \ell(f_k f'_k, t_k)}{\sum_k v_k}, \qquad
        \ell(z, t) = \tfrac{1+t}{2} \varphi(z) + \tfrac{1-t}{2} \varphi(-z),

    which for t in {-1, +1} is phi(z t), and for a soft answer its expectation.
    With c_k = v_k / sum(v) and

    .. math::

        g_k = c_k [\tfrac{1+t_k}{2} \varphi'(z_k) - \tfrac{1-t_k}{2} \varphi'(-z_k)]

    the derivatives are dR/df_k = g_k f'_k and dR/df'_k = g_k f_k. Both vanish at
    f = 0, so a solver must never start there.

    Parameters
    ----------
    loss : str or MarginLoss
        The margin loss phi.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.ones(1)
    >>> risk = ProductRisk("hinge")
    >>> value, *_ = risk.value_and_gradient(2 * one, 0.25 * one, one, one)
    >>> value
    0.5
    """

    def __init__(self, loss: str | MarginLoss) -> None:
        self.loss = get_loss(loss)

    @property
    def smooth(self) -> bool:
        """Whether the derivatives are continuous."""
        return self.loss.smooth

    def smoothed(self, width: float) -> ProductRisk:
        """Return the product risk of the smoothed loss."""
        return ProductRisk(self.loss.smoothed(width))

    def value_and_gradient(
        self, left: Floats, right: Floats, t: Floats, weight: Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the risk and its derivatives with respect to both scores.

        Parameters
        ----------
        left, right : ndarray of shape (n_pairs,)
            Scores of the first and of the second point of each pair.
        t : ndarray of shape (n_pairs,)
            Answers in [-1, 1].
        weight : ndarray of shape (n_pairs,)
            Weights of the pairs; only their ratios matter.

        Returns
        -------
        value : float
        d_left, d_right : ndarray of shape (n_pairs,)
        """
        z = left * right
        # A hard answer is one evaluation at z t; soft answers need both sides.
        if np.all(np.abs(t) == 1):
            phi, slope = self.loss.value_and_derivative(z * t)
            slope = slope * t
        else:
            phi_same, slope_same = self.loss.value_and_derivative(z)
            phi_different, slope_different = self.loss.value_and_derivative(-z)
            same, different = (1 + t) / 2, (1 - t) / 2
            phi = same * phi_same + different * phi_different
            slope = same * slope_same - different * slope_different
        share = weight / weight.sum()
        slope = share * slope
        return float(share @ phi), slope * right, slope * left
