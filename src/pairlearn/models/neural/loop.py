"""skorch's training loop, on batches of pairs."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from skorch import NeuralNet
from torch import Tensor
from torch.utils.data import Sampler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["MIXED", "OPTIMIZERS", "PairTraining", "Shuffled", "training_class"]

OPTIMIZERS: dict[Any, Any] = {
    "adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD
}  # fmt: skip
# Types of mixed precision.
MIXED = {"float16": torch.float16, "bfloat16": torch.bfloat16}


class PairTraining(NeuralNet):
    """skorch's training loop on batches of pairs, with or without mixed precision."""

    def __init__(self, *args: Any, precision: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.precision = precision
        # Gradients in float16 vanish below 6e-8; bfloat16 has the range of float32.
        enabled = precision == "float16" and str(self.device).startswith("cuda")
        self._scaler = torch.amp.GradScaler("cuda", enabled=enabled)

    def infer(self, x: Tensor, **_: Any) -> Tensor:
        """Return the scores of a batch of pairs, of shape (batch, 2, ...).

        Of points that are there once each, whatever pairs they are in: (n_points, ...).
        """
        if self.device is not None:
            x = x.to(self.device, non_blocking=True)
        context: Any = nullcontext()
        if self.precision in MIXED:
            context = torch.autocast(x.device.type, MIXED[self.precision])
        with context:
            scores: Tensor = self.module_(x.flatten(0, 1) if x.ndim == 3 else x)
        return scores.reshape(*x.shape[:-1], *scores.shape[1:])

    def get_loss(
        self,
        y_pred: Tensor,
        y_true: tuple[Tensor, ...],
        X: Any = None,  # noqa: ARG002
        training: bool = False,  # noqa: ARG002
    ) -> Tensor:
        """Return the loss of a batch.

        The criterion is a weighted mean. Times the mean weight of the batch, batches
        add up to the loss of all pairs, whose mean weight is one.
        """
        if len(y_true) == 3:
            t, weight, index = y_true
            joint: Tensor = self.criterion_.joint(y_pred, index, t, weight)
            return joint * float(weight.mean())
        t, weight = (part.to(y_pred.device, non_blocking=True) for part in y_true)
        loss: Tensor = self.criterion_(y_pred[:, 0], y_pred[:, 1], t, weight)
        return loss * weight.mean()

    def train_step_single(self, batch: Any, **_: Any) -> dict[str, Tensor]:
        """Return loss and scores of a batch, and leave the gradients behind."""
        self._set_training(True)
        points, answers = batch
        scores = self.infer(points)
        loss = self.get_loss(scores, answers, training=True)
        scaled: Any = self._scaler.scale(loss)
        scaled.backward()
        # Callbacks that look at the gradients, or clip them, want them as they are.
        self._scaler.unscale_(self.optimizer_)
        return {"loss": loss, "y_pred": scores}

    def unwrap(self) -> None:
        """Take off what joins the networks of several processes; here is one."""

    def _step_optimizer(self, step_fn: Callable[[], Any]) -> None:
        step_fn()
        self._scaler.step(self.optimizer_)
        self._scaler.update()


def training_class(*, distributed: bool) -> type[Any]:
    """Return the loop for one process or for several."""
    if not distributed:
        return PairTraining
    from skorch.hf import AccelerateMixin

    # Its device is the accelerator's, and so is its precision.
    class DistributedPairTraining(AccelerateMixin, PairTraining):
        _criteria: list[str]

        def _initialize_accelerator(self) -> Any:
            criteria = self._criteria
            if not any(p.requires_grad for p in self.criterion_.parameters()):
                # There is nothing to share, and on CPUs torch refuses to try.
                self._criteria = []
            try:
                return super()._initialize_accelerator()
            finally:
                self._criteria = criteria

        def unwrap(self) -> None:
            self._unwrap_accelerator()

    return DistributedPairTraining


class Shuffled(Sampler[int]):
    """The pairs in an order that depends on the seed and the epoch alone.

    So it is the same after a break, and in every process.
    """

    def __init__(self, n: int, seed: int, epoch: Callable[[], int]) -> None:
        self.n = n
        self.seed = seed
        self.epoch = epoch

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Iterator[int]:
        rng = np.random.default_rng([self.seed, self.epoch()])
        order: list[int] = rng.permutation(self.n).tolist()
        return iter(order)
