"""What is kept of a training: the best weights, checkpoints, and the progress.

The state of a training is its weights, the optimizer's, the best weights so far, and
torch's random generator, from which everything random is drawn. A checkpoint holds all
of it, so a training that goes on from one ends where it would have ended anyway.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from skorch.callbacks import Callback

from pairlearn.models.neural.checkpoint import read_checkpoint, write_checkpoint

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

__all__ = ["Bar", "Keeper", "StopTraining"]


class StopTraining(Exception):  # noqa: N818 - it is no error
    """Raised to leave the loop of epochs."""


class Keeper(Callback):
    """Keeps the best weights, stops when they get no better, and saves checkpoints."""

    def __init__(
        self, patience: int | None, max_epochs: int, path: Path | None, of: str
    ) -> None:
        self.patience = patience
        self.max_epochs = max_epochs
        self.path = path
        self.of = of
        self.history: list[dict[str, Any]] = []
        self.best: dict[str, Any] = {}
        self.misses = 0
        self._began = 0.0

    @property
    def finished(self) -> bool:
        """Whether no more epochs are wanted."""
        patient = self.patience is None or self.misses < self.patience
        return not patient or len(self.history) >= self.max_epochs

    def on_epoch_begin(self, net: Any, **_: Any) -> None:  # noqa: ARG002
        """Start the clock."""
        self._began = time.perf_counter()

    def on_epoch_end(self, net: Any, **_: Any) -> None:
        """Record the losses, keep the best weights, save, and stop if it is time."""
        losses = net.history[-1]
        record = self._agreed(net, losses["train_loss"], losses.get("valid_loss"))
        # One entry a batch would pile up over a long training.
        losses["batches"].clear()
        weights = _unwrapped(net, "module_").parameters()
        known = [
            v for v in (record["train_loss"], record["valid_loss"]) if v is not None
        ]
        # The last step of an epoch shows in its weights alone if no pair is held out.
        if not (np.isfinite(known).all() and all(w.isfinite().all() for w in weights)):
            raise FloatingPointError(
                f"the loss is no longer a number in epoch {record['epoch']}: lower lr "
                f"(now {net.lr:g}), scale the features, or leave precision at None"
            )
        self.history.append(record)
        self.misses += 1
        watched = record["valid_loss"]
        if watched is None or not self.best or watched < self.best["loss"]:
            self.best = {"epoch": record["epoch"], "loss": watched, **_weights(net)}
            self.misses = 0
        self.save(net)
        if self.finished:
            raise StopTraining

    def save(self, net: Any) -> None:
        """Write the checkpoint, whole or not at all."""
        if self.path is None or not _is_main(net):
            return
        state = {
            "of": self.of,
            "history": self.history,
            "best": self.best,
            "misses": self.misses,
            **_weights(net),
            "optimizer": net.optimizer_.state_dict(),
            "scaler": _scaler(net).state_dict(),
            "schedules": [s.state_dict() for s in _schedules(net)],
            "random": torch.get_rng_state(),
            "random_cuda": _cuda_state(net),
        }
        write_checkpoint(self.path, state)

    def load(self, net: Any) -> None:
        """Go on from the checkpoint, if there is one of this training."""
        if self.path is None or not self.path.exists():
            return
        state = read_checkpoint(self.path)
        if state.get("of") != self.of:
            raise ValueError(
                f"{self.path} is a checkpoint of a training with other pairs or other "
                "settings; delete it, or give another folder"
            )
        try:
            _set_weights(net, state)
            net.optimizer_.load_state_dict(state["optimizer"])
        except (RuntimeError, ValueError) as error:
            # A function that makes the module is told by its name alone.
            raise ValueError(
                f"{self.path} is a checkpoint of another network; delete it, or give "
                f"another folder ({error})"
            ) from error
        self.history, self.best = state["history"], state["best"]
        self.misses = state["misses"]
        _scaler(net).load_state_dict(state["scaler"])
        for schedule, saved in zip(_schedules(net), state["schedules"], strict=True):
            schedule.load_state_dict(saved)
        torch.set_rng_state(state["random"])
        if state["random_cuda"] is not None and torch.cuda.is_available():
            torch.cuda.set_rng_state(state["random_cuda"], _device(net))

    def restore(self, net: Any) -> None:
        """Put the best weights back."""
        _set_weights(net, self.best)

    def _agreed(
        self, net: Any, train_loss: float, valid_loss: float | None
    ) -> dict[str, Any]:
        """Return the losses; of several processes their mean, the same in all."""
        accelerator = getattr(net, "accelerator", None)
        if accelerator is not None:
            both = torch.tensor(
                [train_loss, np.nan if valid_loss is None else valid_loss],
                device=accelerator.device,
            )
            both = accelerator.reduce(both, reduction="mean").tolist()
            train_loss, valid_loss = both[0], None if valid_loss is None else both[1]
        return {
            "epoch": len(self.history) + 1,
            "train_loss": float(train_loss),
            "valid_loss": None if valid_loss is None else float(valid_loss),
            "seconds": time.perf_counter() - self._began,
        }


class Bar(Callback):
    """A progress bar over all epochs."""

    def __init__(self, keeper: Keeper, n_batches: int) -> None:
        self.keeper = keeper
        self.n_batches = n_batches

    def on_train_begin(self, net: Any, **_: Any) -> None:
        """Draw the bar; of several processes, one does."""
        from tqdm.auto import tqdm

        self.bar = tqdm(
            total=self.keeper.max_epochs * self.n_batches,
            unit="batch",
            desc="epoch 1",
            disable=not _is_main(net),
        )

    def on_batch_end(self, net: Any, training: bool = False, **_: Any) -> None:  # noqa: ARG002
        """Move on."""
        self.bar.update(int(training))

    def on_epoch_begin(self, net: Any, **_: Any) -> None:  # noqa: ARG002
        """Begin where a checkpoint has come to."""
        done = len(self.keeper.history)
        self.bar.update(done * self.n_batches - self.bar.n)
        self.bar.set_description(f"epoch {done + 1}", refresh=False)

    def on_epoch_end(self, net: Any, **_: Any) -> None:  # noqa: ARG002
        """Show the losses of the epoch."""
        self._show()

    def on_train_end(self, net: Any, **_: Any) -> None:  # noqa: ARG002
        """Leave the bar as it is."""
        if self.keeper.history:
            self._show()
        self.bar.close()

    def _show(self) -> None:
        last = self.keeper.history[-1]
        losses = {
            name.removesuffix("_loss"): f"{last[name]:.4f}"
            for name in ("train_loss", "valid_loss")
            if last[name] is not None
        }
        self.bar.set_postfix(losses, refresh=False)


def _unwrapped(net: Any, name: str) -> Any:
    """Return a module as it is without the wrapper of several processes."""
    accelerator = getattr(net, "accelerator", None)
    module = getattr(net, name)
    return module if accelerator is None else accelerator.unwrap_model(module)


def _weights(net: Any) -> dict[str, dict[str, Tensor]]:
    """Return copies of the weights of the network and of its loss."""
    return {
        name: {
            key: value.detach().clone()
            for key, value in _unwrapped(net, f"{name}_").state_dict().items()
        }
        for name in ("module", "criterion")
    }


def _set_weights(net: Any, state: dict[str, Any]) -> None:
    for name in ("module", "criterion"):
        _unwrapped(net, f"{name}_").load_state_dict(state[name])


def _schedules(net: Any) -> list[Any]:
    """Return the learning rate schedules among the callbacks."""
    found = (getattr(c, "lr_scheduler_", None) for _, c in net.callbacks_)
    return [schedule for schedule in found if schedule is not None]


def _scaler(net: Any) -> Any:
    return getattr(getattr(net, "accelerator", None), "scaler", None) or net._scaler


def _is_main(net: Any) -> bool:
    accelerator = getattr(net, "accelerator", None)
    return accelerator is None or accelerator.is_main_process


def _cuda_state(net: Any) -> Tensor | None:
    device = _device(net)
    return torch.cuda.get_rng_state(device) if device.type == "cuda" else None


def _device(net: Any) -> torch.device:
    accelerator = getattr(net, "accelerator", None)
    return torch.device(net.device) if accelerator is None else accelerator.device
