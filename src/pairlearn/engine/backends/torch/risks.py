r"""The risks of `pairlearn.engine.risks` on torch tensors, differentiated by autograd.

Each returns a scalar tensor. Numbers of 16 bits are to be widened first: a product of
two scores leaves their range, and a mean of many loses their digits. No input is
modified.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from pairlearn.engine.links import BinaryLink, ProductLink, SoftmaxLink
from pairlearn.engine.losses import LOSSES, DoubleHingeLoss, SmoothedHingeLoss
from pairlearn.engine.risks import LikelihoodRisk, PointRisk, ProductRisk

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.engine.losses import MarginLoss
    from pairlearn.engine.risks import PairRisk

    Phi = Callable[[Tensor], Tensor]
    TensorRisk = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]

__all__ = [
    "PHI",
    "LogRates",
    "likelihood",
    "log_probabilities",
    "point_risk",
    "product_risk",
    "rate_gradient",
    "tensor_link",
    "tensor_phi",
    "tensor_risk",
    "widen",
]


def widen(x: Tensor) -> Tensor:
    """Return numbers of at least 32 bits."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _exponential(margin: Tensor) -> Tensor:
    # Its tangent goes on where the range of the type would end.
    edge = -100.0 if margin.dtype == torch.float64 else -60.0
    tangent = math.exp(-edge) * (1 + edge - margin)
    return torch.where(margin < edge, tangent, torch.exp(-margin.clamp(min=edge)))


def _double_hinge(margin: Tensor) -> Tensor:
    return (functional.relu(1 - margin) + functional.relu(-1 - margin)) / 2


# The margin losses of `pairlearn.engine.losses`, by their names.
PHI: dict[str, Phi] = {
    "logistic": lambda margin: -functional.logsigmoid(margin),
    "hinge": lambda margin: functional.relu(1 - margin),
    "squared_hinge": lambda margin: functional.relu(1 - margin) ** 2,
    "squared": lambda margin: (1 - margin) ** 2,
    "exponential": _exponential,
    "double_hinge": _double_hinge,
    "unhinged": lambda margin: 1 - margin,
    "linear": lambda margin: -margin,
}


def tensor_phi(loss: MarginLoss) -> Phi | None:
    """Return a NumPy loss as a function of tensors; None for one of the user's own."""
    if isinstance(loss, SmoothedHingeLoss):
        width = loss.width

        def smoothed(margin: Tensor) -> Tensor:
            slack = ((1 - margin) / width + 0.5).clamp(0, 1)
            return torch.where(slack < 1, width * slack**2 / 2, 1 - margin)

        return smoothed
    if isinstance(loss, DoubleHingeLoss):
        hinge = tensor_phi(loss.hinge)
        return hinge and (lambda margin: (hinge(margin) + hinge(margin + 2)) / 2)
    # By type: a loss of the user's own may have the name of one of ours.
    ours = type(loss) is type(LOSSES.get(loss.name))
    return PHI[loss.name] if ours else None


def point_risk(
    scores: Tensor,
    positive: Tensor,
    negative: Tensor,
    phi: Phi,
    *,
    nonnegative: bool = False,
) -> Tensor:
    """Return sum a phi(f) + sum b phi(-f); either sum clipped at zero if asked."""
    sums = (positive * phi(scores)).sum(), (negative * phi(-scores)).sum()
    if nonnegative:
        sums = functional.relu(sums[0]), functional.relu(sums[1])
    return sums[0] + sums[1]


def product_risk(
    left: Tensor,
    right: Tensor,
    same: Tensor,
    different: Tensor,
    phi: Phi,
    *,
    nonnegative: bool = False,
) -> Tensor:
    """Return sum a phi(f f') + sum b phi(-f f')."""
    return point_risk(left * right, same, different, phi, nonnegative=nonnegative)


class LogRates(NamedTuple):
    """Logarithms of the flip rates r1, 1 - r1, r0 and 1 - r0."""

    r1: Tensor
    not_r1: Tensor
    r0: Tensor
    not_r0: Tensor

    @classmethod
    def of(cls, r1: float, r0: float, like: Tensor) -> LogRates:
        """Return the logarithms of known rates, as tensors like another."""
        rates = torch.tensor([r1, 1 - r1, r0, 1 - r0], dtype=torch.float64)
        return cls(*rates.log().to(like))


def log_probabilities(left: Tensor, right: Tensor, link: str) -> tuple[Tensor, Tensor]:
    """Return log P(same) and log P(different) of each pair.

    Parameters
    ----------
    left, right : Tensor of shape (n_pairs,), or (n_pairs, n_classes) for "softmax"
        Scores.
    link : {"product", "binary", "softmax"}
        The links of `pairlearn.engine.links`.

    Returns
    -------
    tuple of Tensor, of shape (n_pairs,)
    """
    log = functional.logsigmoid
    if link == "product":
        z = left * right
        return log(z), log(-z)
    if link == "binary":
        plus, minus, plus_, minus_ = log(left), log(-left), log(right), log(-right)
        return (
            torch.logaddexp(plus + plus_, minus + minus_),
            torch.logaddexp(plus + minus_, minus + plus_),
        )
    p, _ = _log_softmax(left)
    q, rest_q = _log_softmax(right)
    return torch.logsumexp(p + q, 1), torch.logsumexp(p + rest_q, 1)


def _log_softmax(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return log softmax and log(1 - softmax), exact also where that is nearly zero."""
    log_p = functional.log_softmax(scores, dim=1)
    top = torch.zeros_like(scores, dtype=torch.bool)
    top.scatter_(1, scores.argmax(1, keepdim=True), value=True)
    # All but the largest are at most 1/2; for the largest, add up the others.
    log_rest = torch.log1p(-torch.exp(log_p.clamp(max=-math.log(2))))
    others = torch.logsumexp(log_p.masked_fill(top, -math.inf), 1, keepdim=True)
    return log_p, torch.where(top, others, log_rest)


def likelihood(
    log_s: Tensor,
    log_d: Tensor,
    same: Tensor,
    different: Tensor,
    rates: LogRates | None = None,
) -> Tensor:
    """Return the negative log-likelihood of answers, noisy at the given rates."""
    if rates is not None:
        log_s, log_d = (
            torch.logaddexp(rates.r1 + log_s, rates.r0 + log_d),
            torch.logaddexp(rates.not_r1 + log_s, rates.not_r0 + log_d),
        )
    return -(same * log_s).sum() - (different * log_d).sum()


def rate_gradient(
    log_s: Tensor,
    log_d: Tensor,
    same: Tensor,
    different: Tensor,
    flip_rates: tuple[float, float],
) -> Tensor:
    """Return the derivatives of the likelihood in the flip rates r1 and r0.

    With A = r1 S + r0 D and B the rest, they are sum(b S / B - a S / A) and the same
    with D.
    """
    if flip_rates == (1.0, 0.0):
        return log_s.new_zeros(2)
    rates = LogRates.of(*flip_rates, log_s)
    log_a = torch.logaddexp(rates.r1 + log_s, rates.r0 + log_d)
    log_b = torch.logaddexp(rates.not_r1 + log_s, rates.not_r0 + log_d)
    slopes = [
        different @ torch.exp(log_p - log_b) - same @ torch.exp(log_p - log_a)
        for log_p in (log_s, log_d)
    ]
    return torch.stack(slopes)


_LINKS = {ProductLink: "product", BinaryLink: "binary", SoftmaxLink: "softmax"}


def tensor_link(risk: PairRisk | PointRisk) -> str | None:
    """Return the name of a likelihood's link; None for other risks and links."""
    if not isinstance(risk, LikelihoodRisk):
        return None
    return _LINKS.get(type(risk.link))


def tensor_risk(risk: PairRisk | PointRisk) -> TensorRisk | None:
    """Return a NumPy risk as a function of tensors; None for a loss of the user's own.

    Parameters
    ----------
    risk : ProductRisk or LikelihoodRisk
        The risk.

    Returns
    -------
    callable or None
        (left, right, same, different) -> scalar tensor.
    """
    if isinstance(risk, ProductRisk):
        phi, clip = tensor_phi(risk.loss), risk.nonnegative
        if phi is None:
            return None
        return lambda left, right, same, different: product_risk(
            left, right, same, different, phi, nonnegative=clip
        )
    link = tensor_link(risk)
    if isinstance(risk, LikelihoodRisk) and link is not None:
        r1, r0 = risk.flip_rates

        def value(
            left: Tensor, right: Tensor, same: Tensor, different: Tensor
        ) -> Tensor:
            logs = log_probabilities(left, right, link)
            rates = None if (r1, r0) == (1.0, 0.0) else LogRates.of(r1, r0, logs[0])
            return likelihood(*logs, same, different, rates)

        return value
    return None
