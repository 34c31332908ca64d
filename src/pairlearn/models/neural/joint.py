r"""The likelihood of answers that share points, as a loss of a network.

The points of a batch are scored once each, and with Z the joint likelihood of all its
answers (:mod:`pairlearn.engine.components.likelihood`), p the class probabilities and m
the marginals of the classes given the answers,

.. math:: R = -\frac{\log Z}{\sum_k v_k} , \qquad
          \frac{\partial R}{\partial f_i(c)} = \frac{p_i(c) - m_i(c)}{\sum_k v_k} ,

.. math:: \frac{\partial \log Z}{\partial r_1} = \sum_k v_k a_k
          \frac{2 s_k - 1}{s_k r_1 + (1 - s_k) (1 - r_1)} ,

with a_k the probability that the points of pair k are of the same class, given the
answers; for r_0 it is 1 - a_k. Z, m and a are found on the host, in 64 bits, and
autograd is told these derivatives. Pairs that share no point with others of the batch
go the way of :class:`PairLikelihoodLoss`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from skorch.callbacks import Callback
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils.data import Dataset

from pairlearn.engine.backends.torch.risks import widen
from pairlearn.engine.components.likelihood import (
    Answers,
    Components,
    class_log_probabilities,
    shares_points,
)
from pairlearn.engine.components.risk_sum import CERTAIN
from pairlearn.models.neural.batches import gather
from pairlearn.models.neural.losses import PairLikelihoodLoss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pairlearn.data.types import Floats, Ints, PointsLike

    # Points; answers, weights, and the pairs as places among the points.
    JointBatch = tuple[Tensor, tuple[Tensor, Tensor, Tensor]]

__all__ = ["ComponentLikelihoodLoss", "JointBatches", "PairsCounted", "log_likelihood"]


class ComponentLikelihoodLoss(PairLikelihoodLoss):
    r"""The negative log-likelihood of all answers of a batch together.

    Called with the scores of both points of each pair, it is `PairLikelihoodLoss`.

    Parameters
    ----------
    flip_rates : tuple, float, "auto", "symmetric" or None, default=None
        As for `PairLikelihoodLoss`. Where pairs share points, rates are kept from 0 and
        1 by 1e-4: one wrong answer would make all others impossible.

    Examples
    --------
    What a chain of answers implies counts, too:

    >>> import torch
    >>> from pairlearn.models.neural.joint import ComponentLikelihoodLoss
    >>> scores = torch.tensor([3.0, 0.0, 3.0], requires_grad=True)
    >>> chain, t = torch.tensor([[0, 1], [1, 2]]), torch.tensor([1.0, 1.0])
    >>> loss = ComponentLikelihoodLoss().joint(scores, chain, t)
    >>> round(loss.item(), 4)  # -log(p^2 / 2 + (1 - p)^2 / 2) / 2, p = sigmoid(3)
    0.394
    >>> loss.backward()
    >>> round(scores.grad[1].item(), 3)
    -0.249
    """

    def joint(
        self, scores: Tensor, index: Tensor, t: Tensor, weight: Tensor | None = None
    ) -> Tensor:
        """Return the loss.

        Parameters
        ----------
        scores : Tensor of shape (n_points,), (n_points, 1) or (n_points, n_classes)
            Scores: one per point for two classes (log-odds), or one per class (logits).
        index : Tensor of shape (n_pairs, 2)
            The pairs, as numbers of points.
        t : Tensor of shape (n_pairs,)
            Answers.
        weight : Tensor of shape (n_pairs,), optional
            Weights of the pairs.

        Returns
        -------
        Tensor
        """
        scores = widen(scores)
        if scores.ndim == 2 and scores.shape[1] == 1:
            scores = scores[:, 0]
        weight = torch.ones(len(t)) if weight is None else weight
        on_host = index.cpu().numpy()
        shared = shares_points(on_host, len(scores))
        v = _to_host(weight)
        total = v.sum()
        found: Tensor = scores.new_zeros(())
        if not shared.all():
            at = torch.as_tensor(np.flatnonzero(~shared))
            alone = index.cpu()[at].to(scores.device)
            mean: Tensor = self(
                scores[alone[:, 0]], scores[alone[:, 1]],
                *(part.cpu()[at].to(scores) for part in (t, weight)),
            )  # fmt: skip
            found = found + mean * v[~shared].sum()
        if shared.any():
            n_classes = 2 if scores.ndim == 1 else scores.shape[1]
            graph = Components(on_host[shared], len(scores), n_classes)
            answer, v = _to_host(t)[shared], v[shared]
            answers = Answers(
                (v * (1 + answer) / 2)[:, None], (v * (1 - answer) / 2)[:, None]
            )
            found = found - log_likelihood(scores, self._rates(), graph, answers)
        loss: Tensor = found / total
        return loss

    def _rates(self) -> Tensor:
        """Return (r1, r0), in 64 bits and away from certainty."""
        if self.logits is None:
            rates = torch.tensor(self.flip_rates, dtype=torch.float64)
        else:
            rates = torch.sigmoid(self.logits.cpu().double())
            rates = rates if len(rates) == 2 else torch.cat([1 - rates, rates])
        return rates.clamp(CERTAIN[1], CERTAIN[0])


def log_likelihood(
    scores: Tensor, rates: Tensor, graph: Components, answers: Answers
) -> Tensor:
    """Return log Z of answers, with derivatives in the scores and in the rates.

    Parameters
    ----------
    scores : Tensor of shape (n_points,) or (n_points, n_classes)
        Scores.
    rates : Tensor of shape (2,)
        (r1, r0), neither of them 0 or 1.
    graph : Components
        The graph of the answers.
    answers : Answers
        Their weights, for one model.

    Returns
    -------
    Tensor
        A scalar.
    """
    found: Tensor = _LogLikelihood.apply(scores, rates, graph, answers)  # type: ignore[no-untyped-call]
    return found


class _LogLikelihood(torch.autograd.Function):
    """log Z, which NumPy finds together with its derivatives."""

    @staticmethod
    def forward(
        ctx: Any, scores: Tensor, rates: Tensor, graph: Components, answers: Answers
    ) -> Tensor:
        log_p = class_log_probabilities(_to_host(scores)[:, None])
        r1, r0 = _to_host(rates).tolist()
        found = graph(log_p, graph.tables(answers, (r1, r0)))
        pull = (found.points - np.exp(log_p))[:, :, 0]
        slopes = graph.rate_slopes(answers, found.links, (r1, r0))
        ctx.save_for_backward(
            _as(pull[1] if scores.ndim == 1 else pull.T, scores), _as(slopes, rates)
        )
        return _as(found.log_z[0], scores)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        pull, slopes = ctx.saved_tensors
        return grad * pull, grad.to(slopes) * slopes, None, None


def _to_host(values: Tensor) -> Floats:
    return np.asarray(values.detach().cpu().double().numpy())


def _as(values: Any, like: Tensor) -> Tensor:
    return torch.as_tensor(values, dtype=like.dtype, device=like.device)


class JointBatches(Dataset[Any]):
    """Pairs for a data loader. A batch is ``(points, (t, weight, index))``.

    Each point of a batch is there once, and `index` has the places of both points of
    each pair. Answers, weights and places stay on the host.

    Parameters
    ----------
    X : ndarray, CSR matrix or Tensor of shape (n_points, n_features)
        Points.
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    t, weight : ndarray of shape (n_pairs,)
        Answers, and weights of mean one.
    dtype : torch.dtype
        The type of the network's weights.
    """

    def __init__(
        self,
        X: PointsLike,
        index: Ints,
        t: Floats,
        weight: Floats,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.X = X
        self.dtype = dtype
        self.index = index
        self.t = torch.as_tensor(t, dtype=torch.float64)
        self.weight = torch.as_tensor(weight, dtype=torch.float64)

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, number: int) -> JointBatch:
        return self.__getitems__([number])

    def __getitems__(self, numbers: Sequence[int]) -> JointBatch:
        """Return a batch, in one go."""
        chosen = np.asarray(numbers)
        rows, places = np.unique(self.index[chosen], return_inverse=True)
        where: Any = rows
        if isinstance(self.X, Tensor):
            where = torch.as_tensor(rows, device=self.X.device)
        points = gather(self.X, where, self.dtype)
        at = torch.as_tensor(chosen)
        index = torch.as_tensor(places.reshape(-1, 2))
        return points, (self.t[at], self.weight[at], index)


class PairsCounted(Callback):
    """Tells skorch how many pairs a batch has, where it has counted the points.

    The losses of batches are averaged by these numbers.
    """

    def on_batch_end(
        self, net: Any, batch: Any = None, training: bool = False, **_: Any
    ) -> None:
        """Count the answers."""
        name = "train_batch_size" if training else "valid_batch_size"
        net.history.record_batch(name, len(batch[1][0]))
