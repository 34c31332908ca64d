r"""Risks: functions of scores.

A pair risk takes the two scores of every pair and, for each pair, how much "same" and
how much "different" counts: two coefficients a_k and b_k. An answer t_k of weight v_k
is a_k = v_k (1 + t_k) / (2 sum v), b_k = v_k (1 - t_k) / (2 sum v), so a soft answer
counts as its expectation; risks that mix in unlabelled data use other coefficients,
negative ones too. The risk returns its value and its derivatives with respect to both
scores. It knows nothing of points or of the weights of a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, Self

import numpy as np
from scipy.special import expit, log_expit

from pairlearn.engine.links import BinaryLink
from pairlearn.engine.losses import get_loss

if TYPE_CHECKING:
    from pairlearn.data.types import Floats
    from pairlearn.engine.links import PairLink
    from pairlearn.engine.losses import MarginLoss

__all__ = [
    "EdgeRisk",
    "LikelihoodRisk",
    "PairRisk",
    "PointRisk",
    "ProductRisk",
]


# Up to this many scores, calls of NumPy take longer than the arithmetic in them.
_FEW = 256
# Factors between 1 and 2 whose product a double holds with ease.
_FACTORS = 256


class PairRisk(Protocol):
    """What a solver needs of a risk."""

    @property
    def smooth(self) -> bool:
        """Whether the derivatives are continuous."""

    @property
    def additive(self) -> bool:
        """Whether the risk of all pairs is the sum of the risks of parts of them."""

    @property
    def compiled(self) -> str | None:
        """Its name in `pairlearn.engine.backends.numba`, if it is compiled there."""

    def smoothed(self, width: float) -> PairRisk:
        """Return a smooth risk close to this one."""

    def value_and_gradient(
        self, left: Floats, right: Floats, same: Floats, different: Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the risk and its derivatives with respect to both scores."""


class PointRisk:
    r"""A margin loss on scores of points, with a coefficient for either class.

    .. math:: R = \sum_i a_i \varphi(f_i) + \sum_i b_i \varphi(-f_i)

    with derivatives a_i phi'(f_i) - b_i phi'(-f_i). With a_i, b_i the indicators of
    the classes over n this is the supervised risk; SD, SU and DU use coefficients,
    some negative, that make it an unbiased estimate of that risk from pairs.

    Parameters
    ----------
    loss : str or MarginLoss
        The margin loss phi.
    nonnegative : bool, default=False
        Clip either sum at zero, which its expectation never falls below (the
        correction of Kiryo et al. 2017 and Lu et al. 2020).

    Examples
    --------
    >>> import numpy as np
    >>> risk = PointRisk("hinge")
    >>> risk.value_and_gradient(np.array([0.5]), np.array([1.0]), np.array([0.0]))
    (0.5, array([-1.]))
    """

    def __init__(self, loss: str | MarginLoss, *, nonnegative: bool = False) -> None:
        self.loss = get_loss(loss)
        self.nonnegative = nonnegative

    @property
    def smooth(self) -> bool:
        """Whether the derivatives are continuous."""
        return self.loss.smooth

    @property
    def additive(self) -> bool:
        """Whether the risk is a sum over its terms; what is clipped is not."""
        return not self.nonnegative

    @property
    def compiled(self) -> str | None:
        """Its name in `pairlearn.engine.backends.numba`, if it is compiled there."""
        return "logistic" if self._is_plain_logistic else None

    @property
    def _is_plain_logistic(self) -> bool:
        return self.loss.name == "logistic" and not self.nonnegative

    def smoothed(self, width: float) -> Self:
        """Return the same risk of the smoothed loss."""
        return type(self)(self.loss.smoothed(width), nonnegative=self.nonnegative)

    def value_and_gradient(
        self, scores: Floats, positive: Floats, negative: Floats
    ) -> tuple[float, Floats]:
        """Return the risk and its derivative with respect to each score.

        Parameters
        ----------
        scores : ndarray of shape (n,)
            Scores.
        positive, negative : ndarray of shape (n,)
            The coefficients a and b.

        Returns
        -------
        value : float
        derivative : ndarray of shape (n,)
        """
        if len(scores) <= _FEW and not self.nonnegative:
            # Of a small batch each call costs more than its numbers: a single one.
            phi, slope = self.loss.value_and_derivative(
                np.concatenate([scores, -scores])
            )
            share = np.concatenate([positive, negative])
            slope *= share
            # A loss that overflows must not make 0 times infinity of a share of none.
            phi = np.minimum(phi, 1e300)
            return float(share @ phi), slope[: len(scores)] - slope[len(scores) :]
        one_sided = not self.nonnegative and not np.any(
            (positive != 0) & (negative != 0)
        )
        if one_sided:
            # Each score counts for one class alone: one evaluation of the loss.
            side = np.where(negative != 0, -1.0, 1.0)
            share = positive + negative
            phi, slope = self.loss.value_and_derivative(scores * side)
            return float(share @ phi), share * side * slope
        phi_plus, slope_plus = self.loss.value_and_derivative(scores)
        phi_minus, slope_minus = self.loss.value_and_derivative(-scores)
        sums = float(positive @ phi_plus), float(negative @ phi_minus)
        slopes = positive * slope_plus, -negative * slope_minus
        if self.nonnegative:
            slopes = slopes[0] * (sums[0] > 0), slopes[1] * (sums[1] > 0)
            sums = max(0.0, sums[0]), max(0.0, sums[1])
        return sums[0] + sums[1], slopes[0] + slopes[1]


class ProductRisk(PointRisk):
    r"""The product risk of CIPS: a margin loss on f f'.

    With z_k = f_k f'_k,

    .. math:: R = \sum_k a_k \varphi(z_k) + \sum_k b_k \varphi(-z_k),

    and with g_k = a_k phi'(z_k) - b_k phi'(-z_k) the derivatives are dR/df_k = g_k f'_k
    and dR/df'_k = g_k f_k. Both vanish at f = 0, so a solver must never start there.

    Parameters
    ----------
    loss : str or MarginLoss
        The margin loss phi.
    nonnegative : bool, default=False
        Clip either sum at zero.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.ones(1)
    >>> value, *_ = ProductRisk("hinge").value_and_gradient(
    ...     2 * one, 0.25 * one, one, 0 * one)
    >>> value
    0.5
    """

    @property
    def compiled(self) -> str | None:
        """Its name in `pairlearn.engine.backends.numba`, if it is compiled there."""
        return "product" if self._is_plain_logistic else None

    def value_and_gradient(  # type: ignore[override]
        self, left: Floats, right: Floats, same: Floats, different: Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the risk and its derivatives with respect to both scores.

        Parameters
        ----------
        left, right : ndarray of shape (n_pairs,)
            Scores of the first and of the second point of each pair.
        same, different : ndarray of shape (n_pairs,)
            The coefficients a and b.

        Returns
        -------
        value : float
        d_left, d_right : ndarray of shape (n_pairs,)
        """
        z = left * right
        if self._is_plain_logistic and len(z) > _FEW:
            value, slope = _logistic_product(z, same, different)
        else:
            value, slope = super().value_and_gradient(z, same, different)
        return value, slope * right, slope * left


def _logistic_product(
    z: Floats, same: Floats, different: Floats
) -> tuple[float, Floats]:
    """Return a phi(z) + b phi(-z), summed, and its slopes, for the logistic loss.

    With e = exp(-|z|) and c = b where z > 0 and a elsewhere, that is
    (a + b) log(1 + e) + c |z|, with slopes sign(z) (c - (a + b) e / (1 + e)): one
    exponential for value and slope, and nothing cancels.
    """
    size, both = np.abs(z), same + different
    against = np.where(np.signbit(z), same, different)
    e = np.exp(-size)
    above = 1 + e
    # A score beyond the range of numbers must not make 0 times infinity.
    value = against @ np.minimum(size, 1e300) + _weighted_logs(above, e, both)
    e /= above
    e *= both
    against -= e
    against *= np.copysign(1.0, z)
    return float(value), against


def _weighted_logs(above: Floats, e: Floats, weight: Floats) -> float:
    """Return the sum of weight log(1 + e), given 1 + e, with e in [0, 1].

    Where all weigh the same it is the logarithm of a product: few factors at a time,
    that it stay in the range of numbers. Logarithms are most of the cost of a pair.
    """
    if len(e) < _FACTORS or weight.min() < weight.max():
        return float(weight @ np.log1p(e))
    head = len(e) - len(e) % _FACTORS
    products = np.multiply.reduce(above[:head].reshape(_FACTORS, -1), axis=0)
    logs = np.log(products).sum() + np.log1p(e[head:]).sum()
    return float(weight[0] * logs)


@dataclass(eq=False)
class LikelihoodRisk:
    r"""The negative log-likelihood of answers that may be wrong.

    With S_k = P(same), D_k = 1 - S_k of pair k by the link, and answers that are noisy
    at the rates r1 = P(answer same | same) and r0 = P(answer same | different),

    .. math::

        R = -\sum_k a_k \log(r_1 S_k + r_0 D_k)
            - \sum_k b_k \log((1 - r_1) S_k + (1 - r_0) D_k).

    With u_k, the expected share of "truly same" in a_k + b_k given the answer, and v_k
    that of "truly different", dR = -sum(u_k dlog S_k + v_k dlog D_k). Everything stays
    in logarithms, so no score is too large. r1 = 1 and r0 = 0 is the plain likelihood.

    Parameters
    ----------
    link : PairLink
        From scores to probabilities.
    flip_rates : tuple of float, default=(1.0, 0.0)
        (r1, r0).

    Examples
    --------
    >>> import numpy as np
    >>> risk = LikelihoodRisk(BinaryLink())
    >>> value, *_ = risk.value_and_gradient(*np.array([[9.0], [-9.0], [0.5], [0.5]]))
    >>> round(value, 2)  # log 2 at the least: the answer is half same, half different
    4.15
    """

    link: PairLink
    flip_rates: tuple[float, float] = (1.0, 0.0)
    smooth: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    @property
    def compiled(self) -> str | None:
        """Its name in `pairlearn.engine.backends.numba`, if it is compiled there."""
        plain = isinstance(self.link, BinaryLink) and self.flip_rates == (1.0, 0.0)
        return "likelihood" if plain else None

    def smoothed(self, width: float) -> LikelihoodRisk:  # noqa: ARG002
        """Return itself: it is smooth."""
        return self

    def value_and_gradient(
        self, left: Floats, right: Floats, same: Floats, different: Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the risk and its derivatives with respect to both scores.

        Parameters
        ----------
        left, right : ndarray of shape (n_pairs,) or (n_pairs, n_classes)
            Scores of the first and of the second point of each pair.
        same, different : ndarray of shape (n_pairs,)
            The coefficients a and b.

        Returns
        -------
        value : float
        d_left, d_right : ndarray, shaped like the scores
        """
        log_s, log_d, pull = self.link.log_probabilities(left, right)
        value, truly_same, truly_different, _ = self._expectations(
            log_s, log_d, same, different
        )
        d_left, d_right = pull(truly_same, truly_different)
        return value, -d_left, -d_right

    def rate_gradient(
        self, left: Floats, right: Floats, same: Floats, different: Floats
    ) -> Floats:
        """Return the derivatives of the risk with respect to r1 and r0."""
        log_s, log_d, _ = self.link.log_probabilities(left, right)
        return self._expectations(log_s, log_d, same, different)[3]

    def _expectations(
        self, log_s: Floats, log_d: Floats, same: Floats, different: Floats
    ) -> tuple[float, Floats, Floats, Floats]:
        r1, r0 = self.flip_rates
        if (r1, r0) == (1.0, 0.0):
            value = -float(same @ log_s + different @ log_d)
            return value, same, different, np.zeros(2)
        with np.errstate(divide="ignore"):
            says_same = np.log(r1) + log_s, np.log(r0) + log_d
            says_different = np.log1p(-r1) + log_s, np.log1p(-r0) + log_d
        log_a, log_b = np.logaddexp(*says_same), np.logaddexp(*says_different)
        truly_same, truly_different = (
            same * np.exp(a - log_a) + different * np.exp(b - log_b)
            for a, b in zip(says_same, says_different, strict=True)
        )
        # At a rate of 0 or 1 the derivative may be infinite; nobody asks for it there.
        with np.errstate(over="ignore", invalid="ignore"):
            d_rates = np.array(
                [
                    different @ np.exp(log_p - log_b) - same @ np.exp(log_p - log_a)
                    for log_p in (log_s, log_d)
                ]
            )
        value = -float(same @ log_a + different @ log_b)
        return value, truly_same, truly_different, d_rates


@dataclass(eq=False)
class EdgeRisk:
    r"""The negative log-likelihood of links against couples drawn at random.

    A link joins points x and x' at odds, against a random couple,

    .. math:: e^{l} = e^{c s(x, x')} (e^{g} S + e^{h} D),

    with S the probability that both are of one class, D = 1 - S, and s a similarity.
    With coefficients a_k (link) and b_k (couple)

    .. math:: R = -\sum_k [a_k \log \sigma(l_k) + b_k \log \sigma(-l_k)] .

    With r_k = (a_k + b_k) sigma(l_k) - a_k and m_k = e^g S_k / (e^g S_k + e^h D_k), the
    derivatives are r_k m_k in log S_k and in g, r_k (1 - m_k) in log D_k and in h, and
    r_k s_k in c, each summed over the pairs.

    Parameters
    ----------
    g, h : float
        Log-odds of a link between points of one class, and of different classes.
    c : float
        Weight of the similarity.
    similarity : ndarray of shape (n_pairs,)
        s of each pair.

    Attributes
    ----------
    draw_gradient : ndarray of shape (3,)
        The derivatives in g, h and c, after `value_and_gradient`.

    Examples
    --------
    >>> import numpy as np
    >>> risk = EdgeRisk(0.5, -2.0, 0.0, np.zeros(2))
    >>> left, right = np.array([4.0, 4.0]), np.array([4.0, -4.0])
    >>> value, *_ = risk.value_and_gradient(left, right, np.eye(2)[0], np.eye(2)[1])
    >>> round(value, 2)  # log 2 a pair if nothing were known
    0.66
    """

    g: float
    h: float
    c: float
    similarity: Floats
    smooth: ClassVar[bool] = True
    # The similarities belong to all pairs together.
    additive: ClassVar[bool] = False
    compiled: ClassVar[None] = None

    def smoothed(self, width: float) -> EdgeRisk:  # noqa: ARG002
        """Return itself: it is smooth."""
        return self

    def value_and_gradient(
        self, left: Floats, right: Floats, same: Floats, different: Floats
    ) -> tuple[float, Floats, Floats]:
        """Return the risk and its derivatives with respect to both scores.

        Parameters
        ----------
        left, right : ndarray of shape (n_pairs,)
            Scores of the first and of the second point of each pair.
        same, different : ndarray of shape (n_pairs,)
            The coefficients a and b.

        Returns
        -------
        value : float
        d_left, d_right : ndarray of shape (n_pairs,)
        """
        log_s, log_d, pull = BinaryLink().log_probabilities(left, right)
        mixed = np.logaddexp(self.g + log_s, self.h + log_d)
        odds = mixed + self.c * self.similarity
        value = -float(same @ log_expit(odds) + different @ log_expit(-odds))
        r = (same + different) * expit(odds) - same
        of_same = r * np.exp(self.g + log_s - mixed)
        of_different = r - of_same
        self.draw_gradient = np.array(
            [of_same.sum(), of_different.sum(), r @ self.similarity]
        )
        return value, *pull(of_same, of_different)
