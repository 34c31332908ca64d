"""What losses of pairs share: how answers and weights are checked and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn

from pairlearn.engine.backends.torch.risks import tensor_phi, widen
from pairlearn.engine.losses import get_loss

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.engine.losses import MarginLoss

    Both = tuple[Tensor, Tensor]

__all__ = ["PairLoss", "known_loss", "one_score", "same_shape"]


class PairLoss(nn.Module):
    """Base of the losses: it checks shapes and answers, and weighs the pairs."""

    # What tells a loss from others of its class.
    _named: tuple[str, ...] = ()
    loss: MarginLoss

    def __init__(self) -> None:
        super().__init__()
        self._looked_at_answers = False

    @property
    def phi(self) -> Callable[[Tensor], Tensor]:
        """The margin loss on tensors: made when asked for, since it has no pickle."""
        return cast("Callable[[Tensor], Tensor]", tensor_phi(self.loss))

    def extra_repr(self) -> str:
        """Return the settings, for the representation."""
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in self._named)

    def _coefficients(self, t: Tensor, weight: Tensor | None, like: Tensor) -> Both:
        """Return how much "same" and "different" count for each pair, unscaled."""
        t = torch.as_tensor(t, device=like.device)
        _check_shape("answers", t, len(like))
        if t.dtype == torch.bool:
            t = torch.where(t, 1.0, -1.0)
        if not self._looked_at_answers:
            # Once: looking at every batch would make a GPU wait for the CPU.
            _check_answers(t)
            self._looked_at_answers = True
        t = t.to(like.dtype)
        share = torch.ones_like(t)
        if weight is not None:
            share = torch.as_tensor(weight, device=like.device).to(like.dtype)
            _check_shape("weights", share, len(like))
        return share * (1 + t) / 2, share * (1 - t) / 2

    def _mean_coefficients(
        self, t: Tensor, weight: Tensor | None, like: Tensor
    ) -> Both:
        """Return the same, scaled to sum to one."""
        same, different = self._coefficients(t, weight, like)
        total = (same + different).sum()
        return same / total, different / total

    def _kind_coefficients(
        self, t: Tensor, weight: Tensor | None, like: Tensor
    ) -> Both:
        """Return each pair's share of the similar and of the dissimilar pairs."""
        parts = self._coefficients(t, weight, like)
        same, different = (
            part / torch.where(part.sum() > 0, part.sum(), 1.0) for part in parts
        )
        return same, different


def _check_shape(name: str, values: Tensor, n_pairs: int) -> None:
    if values.shape != (n_pairs,):
        raise ValueError(
            f"there are {n_pairs} pairs, so the {name} need shape ({n_pairs},); got "
            f"{tuple(values.shape)}"
        )


def _check_answers(t: Tensor) -> None:
    low, high = float(t.min()), float(t.max())
    if not -1 <= low <= high <= 1:
        raise ValueError(
            "an answer is +1 (same), -1 (different), or a number in between; got "
            f"answers from {low:g} to {high:g}"
        )
    if low == 0 and bool(((t == 0) | (t == 1)).all()):
        raise ValueError(
            "the answers are 0 and 1, which could mean two things. If 1 means same, "
            "pass 2 * t - 1 (or t.bool()); if 1 means different, pass 1 - 2 * t"
        )


def one_score(left: Tensor, right: Tensor) -> Both:
    """Return scores as two vectors, or say what is wrong with their shapes."""
    same_shape(left, right)
    if left.ndim == 2 and left.shape[1] == 1:
        left, right = left[:, 0], right[:, 0]
    if left.ndim != 1:
        raise ValueError(
            "one score per point is needed, of shape (n_pairs,) or (n_pairs, 1); got "
            f"{tuple(left.shape)}"
        )
    return widen(left), widen(right)


def same_shape(left: Tensor, right: Tensor) -> None:
    """Refuse scores of the two sides that differ in shape."""
    if left.shape != right.shape:
        raise ValueError(
            "both points of a pair need scores of one shape; got "
            f"{tuple(left.shape)} and {tuple(right.shape)}"
        )


def known_loss(loss: str | MarginLoss) -> MarginLoss:
    """Return a margin loss that there is on tensors, or refuse it."""
    found = get_loss(loss)
    if tensor_phi(found) is None:
        raise ValueError(
            f"{loss!r} has no form in torch; name one of pairlearn.engine.losses.LOSSES"
        )
    return found
