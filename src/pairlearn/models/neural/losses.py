r"""Losses of pairs as torch modules, for any training loop.

Each takes the scores (or embeddings) of the two points of each pair, the answers and,
if there are any, the pairs' weights, and returns the weighted mean as a scalar:

    loss = ProductLoss()
    loss(net(left), net(right), t).backward()

Answers are +1 (same), -1 (different), a number in between, or bool. Scores of 16 bits,
as autocast makes them, are widened to 32 before anything is multiplied. Derivatives are
autograd's; those of the scores equal the ones of `pairlearn.engine.risks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pairlearn.data.checks import (
    check_choice,
    check_flip_rates,
    check_gammas,
    check_number,
    check_prior,
    check_share,
)
from pairlearn.engine.backends.torch.risks import (
    LogRates,
    likelihood,
    log_probabilities,
    point_risk,
    product_risk,
    widen,
)
from pairlearn.models.neural.pair_loss import (
    PairLoss,
    known_loss,
    one_score,
    same_shape,
)

if TYPE_CHECKING:
    from pairlearn.engine.losses import MarginLoss

__all__ = [
    "ContrastiveLoss",
    "PairLikelihoodLoss",
    "PairLoss",
    "ProductLoss",
    "SDLoss",
    "SemiSupervisedPairLoss",
]

# Where flip rates that are learned begin.
START_RATES = (0.9, 0.3)


class ProductLoss(PairLoss):
    r"""The product loss of CIPS: a margin loss on f(x) f(x').

    With z_k = f(x_k) f(x'_k), answers t_k and weights v_k,

    .. math::

        R = \frac{\sum_k v_k [\tfrac{1 + t_k}{2} \varphi(z_k)
            + \tfrac{1 - t_k}{2} \varphi(-z_k)]}{\sum_k v_k},

    and with g_k the derivative of the k-th term in z_k, dR/df_k = g_k f'_k and
    dR/df'_k = g_k f_k. Both vanish at f = 0: begin with weights that are not zero.

    Parameters
    ----------
    loss : str or MarginLoss, default="logistic"
        The margin loss phi, by its name in `pairlearn.engine.losses.LOSSES`.

    Examples
    --------
    >>> import torch
    >>> from pairlearn.models.neural import ProductLoss
    >>> left, right = torch.tensor([2.0, -1.0]), torch.tensor([0.25, 3.0])
    >>> ProductLoss("hinge")(left, right, torch.tensor([1.0, -1.0]))
    tensor(0.2500)
    """

    _named = ("loss",)

    def __init__(self, loss: str | MarginLoss = "logistic") -> None:
        super().__init__()
        self.loss = known_loss(loss)

    def forward(
        self, left: Tensor, right: Tensor, t: Tensor, weight: Tensor | None = None
    ) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        left, right : Tensor of shape (n_pairs,) or (n_pairs, 1)
            Scores of the two points of each pair.
        t : Tensor of shape (n_pairs,)
            Answers.
        weight : Tensor of shape (n_pairs,), optional
            Weights of the pairs.

        Returns
        -------
        Tensor
        """
        left, right = one_score(left, right)
        same, different = self._mean_coefficients(t, weight, left)
        return product_risk(left, right, same, different, self.phi)


class PairLikelihoodLoss(PairLoss):
    r"""The negative log-likelihood of answers under class probabilities (MCL).

    Two points are of one class with probability S = sum over c of p_c(x) p_c(x'), where
    p is the sigmoid of one score or the softmax of C scores. Answers are wrong at the
    rates r1 = P(answer same | same) and r0 = P(answer same | different), so

    .. math::

        R = -\frac{\sum_k v_k [\tfrac{1 + t_k}{2} \log(r_0 + (r_1 - r_0) S_k)
            + \tfrac{1 - t_k}{2} \log(1 - r_0 - (r_1 - r_0) S_k)]}{\sum_k v_k} .

    Parameters
    ----------
    flip_rates : tuple, float, "auto", "symmetric" or None, default=None
        (r1, r0), or e for (1 - e, e), or None for answers that are right. "auto" learns
        both rates, "symmetric" one: the loss then has parameters of its own, which the
        optimizer must be given beside those of the network.

    Examples
    --------
    >>> import torch
    >>> from pairlearn.models.neural import PairLikelihoodLoss
    >>> scores = torch.tensor([[4.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
    >>> loss = PairLikelihoodLoss()
    >>> loss(scores, scores.flip(1), torch.tensor([-1.0, 1.0]))
    tensor(0.0531)
    >>> noisy = PairLikelihoodLoss("auto")
    >>> [round(rate, 2) for rate in noisy.flip_rates]
    [0.9, 0.3]
    """

    _named = ("flip_rates",)

    def __init__(self, flip_rates: Any = None) -> None:
        super().__init__()
        rates = check_flip_rates(flip_rates)
        self.logits: nn.Parameter | None = None
        self._known = None if isinstance(rates, str) else rates
        if isinstance(rates, str):
            start = START_RATES if rates == "auto" else (0.1,)
            self.logits = nn.Parameter(torch.logit(torch.tensor(start)))

    @property
    def flip_rates(self) -> tuple[float, float]:
        """The rates (r1, r0), given or as learned so far."""
        if self.logits is None:
            return self._known or (1.0, 0.0)
        rates = torch.sigmoid(self.logits.detach().double()).tolist()
        return (rates[0], rates[1]) if len(rates) == 2 else (1 - rates[0], rates[0])

    def _log_rates(self, like: Tensor) -> LogRates | None:
        if self.logits is None:
            return None if self._known is None else LogRates.of(*self._known, like)
        logits = self.logits.to(like)
        yes, no = functional.logsigmoid(logits), functional.logsigmoid(-logits)
        if len(logits) == 2:
            return LogRates(yes[0], no[0], yes[1], no[1])
        return LogRates(no[0], yes[0], yes[0], no[0])

    def forward(
        self, left: Tensor, right: Tensor, t: Tensor, weight: Tensor | None = None
    ) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        left, right : Tensor of shape (n_pairs,), (n_pairs, 1) or (n_pairs, n_classes)
            Scores: one per point for two classes (log-odds), or one per class (logits).
        t : Tensor of shape (n_pairs,)
            Answers.
        weight : Tensor of shape (n_pairs,), optional
            Weights of the pairs.

        Returns
        -------
        Tensor
        """
        several = left.ndim == 2 and left.shape[1] > 1
        if several:
            same_shape(left, right)
            left, right = widen(left), widen(right)
        else:
            left, right = one_score(left, right)
        same, different = self._mean_coefficients(t, weight, left)
        logs = log_probabilities(left, right, "softmax" if several else "binary")
        return likelihood(*logs, same, different, self._log_rates(left))


class SDLoss(PairLoss):
    r"""The similar-dissimilar loss: an unbiased estimate of the classification risk.

    With p the prior, q = 1 - p, P_S = p^2 + q^2, P_D = 2pq and
    L(z, y) = [p phi(z y) - q phi(-z y)] / (2p - 1),

    .. math:: R = P_S E_S[L(f, +1)] + P_D E_D[L(f, -1)]

    over both points of the similar (S) and of the dissimilar (D) pairs of the batch.
    The sign of f is fixed by the prior. With a flexible network the estimate can fall
    below zero: `nonnegative` clips the part of either class there.

    Parameters
    ----------
    prior : float
        P(y = +1), not 1/2.
    loss : str or MarginLoss, default="logistic"
        The margin loss phi.
    nonnegative : bool, default=False
        Clip the part of either class at zero, which its expectation never falls below.

    Examples
    --------
    >>> import torch
    >>> from pairlearn.models.neural import SDLoss
    >>> left, right = torch.tensor([2.0, -1.0]), torch.tensor([1.0, 3.0])
    >>> SDLoss(prior=0.7)(left, right, torch.tensor([1.0, -1.0]))
    tensor(0.4961)
    """

    _named = ("prior", "loss", "nonnegative")

    def __init__(
        self,
        prior: float,
        loss: str | MarginLoss = "logistic",
        *,
        nonnegative: bool = False,
    ) -> None:
        super().__init__()
        self.prior = check_prior(prior, allow_half=False)
        self.loss = known_loss(loss)
        self.nonnegative = nonnegative

    def forward(
        self, left: Tensor, right: Tensor, t: Tensor, weight: Tensor | None = None
    ) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        left, right : Tensor of shape (n_pairs,) or (n_pairs, 1)
            Scores of the two points of each pair.
        t : Tensor of shape (n_pairs,)
            Answers.
        weight : Tensor of shape (n_pairs,), optional
            Weights of the pairs.

        Returns
        -------
        Tensor
        """
        left, right = one_score(left, right)
        same, different = self._kind_coefficients(t, weight, left)
        p, q = self.prior, 1 - self.prior
        same, different = (p**2 + q**2) * same / 2, 2 * p * q * different / 2
        positive = (p * same - q * different) / (p - q)
        negative = (p * different - q * same) / (p - q)
        z, both = torch.cat([left, right]), (positive.repeat(2), negative.repeat(2))
        return point_risk(z, *both, self.phi, nonnegative=self.nonnegative)


class SemiSupervisedPairLoss(PairLoss):
    r"""The product loss with unlabelled pairs (the paper's Appendix C).

    With z = f f', P_S = P(t = +1), P_D = 1 - P_S and g1 + g2 + g3 = 1,

    .. math::

        R = P_S E_S[(g_1 + g_2) \varphi(z) - g_2 \varphi(-z)]
        + P_D E_D[(g_1 + g_3) \varphi(-z) - g_3 \varphi(z)]
        + E_U[g_3 \varphi(z) + g_2 \varphi(-z)],

    U being couples of unlabelled points. (0, 1, 0) needs no dissimilar pair, (0, 0, 1)
    no similar one.

    Parameters
    ----------
    gammas : tuple of float
        (g1, g2, g3), none negative, of sum one.
    same_rate : float
        P(t = +1), the rate of "same" among random couples.
    loss : str or MarginLoss, default="logistic"
        The margin loss phi.
    nonnegative : bool, default=False
        Clip the part of "same" and the part of "different" at zero each, which their
        expectations never fall below.

    Examples
    --------
    >>> import torch
    >>> from pairlearn.models.neural import SemiSupervisedPairLoss
    >>> loss = SemiSupervisedPairLoss((0.0, 1.0, 0.0), same_rate=0.6)
    >>> left, right = torch.tensor([2.0, 1.0]), torch.tensor([1.0, 3.0])
    >>> t, unlabeled = torch.ones(2), (torch.tensor([-2.0]), torch.tensor([1.0]))
    >>> loss(left, right, t, unlabeled=unlabeled)
    tensor(-1.3731)
    """

    _named = ("gammas", "same_rate", "loss", "nonnegative")

    def __init__(
        self,
        gammas: tuple[float, float, float],
        same_rate: float,
        loss: str | MarginLoss = "logistic",
        *,
        nonnegative: bool = False,
    ) -> None:
        super().__init__()
        self.gammas = check_gammas(gammas)
        self.same_rate = check_share("same_rate", same_rate)
        self.loss = known_loss(loss)
        self.nonnegative = nonnegative

    def forward(
        self,
        left: Tensor,
        right: Tensor,
        t: Tensor,
        weight: Tensor | None = None,
        *,
        unlabeled: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        left, right : Tensor of shape (n_pairs,) or (n_pairs, 1)
            Scores of the two points of each pair.
        t : Tensor of shape (n_pairs,)
            Answers.
        weight : Tensor of shape (n_pairs,), optional
            Weights of the pairs.
        unlabeled : tuple of Tensor, optional
            Scores of the two points of random couples without an answer.

        Returns
        -------
        Tensor
        """
        g1, g2, g3 = self.gammas
        left, right = one_score(left, right)
        same, different = self._kind_coefficients(t, weight, left)
        same, different = self.same_rate * same, (1 - self.same_rate) * different
        positive = (g1 + g2) * same - g3 * different
        negative = (g1 + g3) * different - g2 * same
        z = left * right
        if unlabeled is not None:
            z_u = torch.mul(*one_score(*unlabeled)).to(z)
            share = torch.full_like(z_u, 1 / max(1, len(z_u)))
            z = torch.cat([z, z_u])
            positive = torch.cat([positive, g3 * share])
            negative = torch.cat([negative, g2 * share])
        elif g1 < 1:
            raise ValueError(
                f"gammas={self.gammas} needs couples of unlabelled points: pass "
                "unlabeled=(scores, scores)"
            )
        return point_risk(z, positive, negative, self.phi, nonnegative=self.nonnegative)


class ContrastiveLoss(PairLoss):
    r"""Losses of the distance between embeddings, for deep metric learning.

    With E = \|G(x) - G(x')\| in the chosen norm,

    * "chopra" (2005): same (2 / Q) E^2, different 2 Q exp(-2.77 E / Q), where Q is an
      upper bound of E, as far as one is known: `scale`;
    * "hadsell" (2006): same E^2 / 2, different max(0, m - E)^2 / 2, where m is the
      margin: `scale`.

    Parameters
    ----------
    form : {"chopra", "hadsell"}, default="chopra"
        Which.
    scale : float, default=1.0
        Q or m.
    norm : {1, 2} or None, default=None
        The norm of the difference. None: as in the papers, 1 for "chopra" and 2 for
        "hadsell".

    References
    ----------
    S. Chopra, R. Hadsell and Y. LeCun, "Learning a similarity metric discriminatively,
    with application to face verification", CVPR 2005. R. Hadsell, S. Chopra and
    Y. LeCun, "Dimensionality reduction by learning an invariant mapping", CVPR 2006.

    Examples
    --------
    >>> import torch
    >>> from pairlearn.models.neural import ContrastiveLoss
    >>> left, right = torch.zeros(2, 2), torch.tensor([[0.3, 0.4], [0.6, 0.8]])
    >>> ContrastiveLoss("hadsell", scale=2.0)(left, right, torch.tensor([1.0, -1.0]))
    tensor(0.3125)
    """

    _named = ("form", "scale", "norm")

    def __init__(
        self, form: str = "chopra", *, scale: float = 1.0, norm: int | None = None
    ) -> None:
        super().__init__()
        check_choice("form", form, ("chopra", "hadsell"))
        check_choice("norm", norm, (None, 1, 2))
        check_number("scale", scale)
        self.form = form
        self.scale = scale
        self.norm = norm or (1 if form == "chopra" else 2)

    def forward(
        self, left: Tensor, right: Tensor, t: Tensor, weight: Tensor | None = None
    ) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        left, right : Tensor of shape (n_pairs, n_dimensions)
            Embeddings of the two points of each pair.
        t : Tensor of shape (n_pairs,)
            Answers.
        weight : Tensor of shape (n_pairs,), optional
            Weights of the pairs.

        Returns
        -------
        Tensor
        """
        same_shape(left, right)
        if left.ndim != 2:
            raise ValueError(
                "embeddings need shape (n_pairs, n_dimensions); got "
                f"{tuple(left.shape)}"
            )
        gap = widen(left) - widen(right)
        same, different = self._mean_coefficients(t, weight, gap)
        if self.norm == 1:
            distance = gap.abs().sum(1)
            square = distance**2
        else:
            square = (gap**2).sum(1)
            # The root has no slope at zero: there two points stay where they are.
            distance = torch.where(square > 0, square, 1.0).sqrt() * (square > 0)
        if self.form == "chopra":
            near = 2 / self.scale * square
            far = 2 * self.scale * torch.exp(-2.77 * distance / self.scale)
        else:
            near, far = square / 2, functional.relu(self.scale - distance) ** 2 / 2
        return (same * near).sum() + (different * far).sum()
