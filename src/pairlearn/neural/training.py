"""Training a network on pairs: skorch's loop, with early stopping and checkpoints.

The state of a training is its weights, the optimizer's, the best weights so far, and
torch's random generator, from which everything random is drawn. A checkpoint holds all
of it, so a training that goes on from one ends where it would have ended anyway.
"""

from __future__ import annotations

import time
import warnings
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from skorch import NeuralNet
from skorch.callbacks import Callback
from skorch.helper import predefined_split
from torch import Tensor, nn
from torch.utils.data import Sampler

from pairlearn.neural.batches import PairBatches, as_is, gather

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.random import RandomState

    from pairlearn._typing import Floats, Ints, PointsLike
    from pairlearn.base import Answered

__all__ = ["Settings", "Trained", "choose_device", "outputs", "train"]

# With fewer held-out pairs than this, early stopping would follow their noise.
FEWEST_HELD_OUT = 10
# Points a step when a network is only evaluated.
CHUNK = 4096
MIXED = {"float16": torch.float16, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class Settings:
    """How to train; see `PairNet` for what each means."""

    optimizer: Any
    lr: float
    weight_decay: float
    batch_size: int
    max_epochs: int
    patience: int | None
    validation_size: float
    precision: str | None
    device: str
    distributed: bool
    checkpoint: Path | None
    callbacks: Sequence[Any]
    progress: bool


@dataclass(frozen=True)
class Trained:
    """A trained network.

    Attributes
    ----------
    module, criterion : Module
        The network and its loss, as of the best epoch.
    history : list of dict
        For each epoch "epoch", "train_loss", "valid_loss" and "seconds".
    best_epoch : int
        The epoch whose weights were kept.
    valid_loss : float or None
        The held-out loss of that epoch, if pairs were held out.
    """

    module: nn.Module
    criterion: nn.Module
    history: list[dict[str, Any]]
    best_epoch: int
    valid_loss: float | None


class StopTraining(Exception):  # noqa: N818 - it is no error
    """Raised to leave the loop of epochs."""


class PairTraining(NeuralNet):
    """skorch's training loop on batches of pairs, with or without mixed precision."""

    def __init__(self, *args: Any, precision: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.precision = precision
        # Gradients in float16 vanish below 6e-8; bfloat16 has the range of float32.
        enabled = precision == "float16" and str(self.device).startswith("cuda")
        self._scaler = torch.amp.GradScaler("cuda", enabled=enabled)

    def infer(self, x: Tensor, **_: Any) -> Tensor:
        """Return the scores of a batch of pairs, of shape (batch, 2, ...)."""
        if self.device is not None:
            x = x.to(self.device, non_blocking=True)
        context: Any = nullcontext()
        if self.precision in MIXED:
            context = torch.autocast(x.device.type, MIXED[self.precision])
        with context:
            scores: Tensor = self.module_(x.flatten(0, 1))
        return scores.reshape(len(x), 2, *scores.shape[1:])

    def get_loss(
        self,
        y_pred: Tensor,
        y_true: tuple[Tensor, Tensor],
        X: Any = None,  # noqa: ARG002
        training: bool = False,  # noqa: ARG002
    ) -> Tensor:
        """Return the loss of a batch.

        The criterion is a weighted mean. Times the mean weight of the batch, batches
        add up to the loss of all pairs, whose mean weight is one.
        """
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
        return {"loss": loss, "y_pred": scores}

    def _step_optimizer(self, step_fn: Callable[[], Any]) -> None:
        step_fn()
        self._scaler.step(self.optimizer_)
        self._scaler.update()


def _training_class(*, distributed: bool) -> type[Any]:
    if not distributed:
        return PairTraining
    from skorch.hf import AccelerateMixin

    # Its device is the accelerator's, and so is its precision.
    return type("DistributedPairTraining", (AccelerateMixin, PairTraining), {})


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
        if not np.isfinite(record["train_loss"]):
            raise FloatingPointError(
                f"the loss is no longer a number in epoch {record['epoch']}: lower lr "
                f"(now {net.lr:g}), scale the features, or leave precision at None"
            )
        self.history.append(record)
        self.misses += 1
        watched = record["valid_loss"]
        if watched is None or not self.best or watched < self.best["loss"]:
            self.best = {
                "epoch": record["epoch"],
                "loss": watched,
                "module": _state(net, "module_"),
                "criterion": _state(net, "criterion_"),
            }
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
            "module": _state(net, "module_"),
            "criterion": _state(net, "criterion_"),
            "optimizer": net.optimizer_.state_dict(),
            "scaler": _scaler(net).state_dict(),
            "schedules": [s.state_dict() for s in _schedules(net)],
            "random": torch.get_rng_state(),
            "random_cuda": _cuda_state(net),
        }
        partial = self.path.with_suffix(".partial")
        torch.save(state, partial)
        partial.replace(self.path)

    def load(self, net: Any) -> None:
        """Go on from the checkpoint, if there is one of this training."""
        if self.path is None or not self.path.exists():
            return
        try:
            state = torch.load(self.path, map_location="cpu", weights_only=True)
            of = state["of"]
        except Exception as error:
            raise ValueError(
                f"{self.path} is damaged, or not a checkpoint of ours; delete it, or "
                "give another folder"
            ) from error
        if of != self.of:
            raise ValueError(
                f"{self.path} is a checkpoint of a training with other pairs or other "
                "settings; delete it, or give another folder"
            )
        self.history, self.best = state["history"], state["best"]
        self.misses = state["misses"]
        _unwrapped(net, "module_").load_state_dict(state["module"])
        _unwrapped(net, "criterion_").load_state_dict(state["criterion"])
        net.optimizer_.load_state_dict(state["optimizer"])
        _scaler(net).load_state_dict(state["scaler"])
        for schedule, saved in zip(_schedules(net), state["schedules"], strict=True):
            schedule.load_state_dict(saved)
        torch.set_rng_state(state["random"])
        if state["random_cuda"] is not None and torch.cuda.is_available():
            torch.cuda.set_rng_state(state["random_cuda"])

    def restore(self, net: Any) -> None:
        """Put the best weights back."""
        _unwrapped(net, "module_").load_state_dict(self.best["module"])
        _unwrapped(net, "criterion_").load_state_dict(self.best["criterion"])

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
        last = self.keeper.history[-1]
        losses = {
            name.removesuffix("_loss"): f"{last[name]:.4f}"
            for name in ("train_loss", "valid_loss")
            if last[name] is not None
        }
        self.bar.set_postfix(losses, refresh=False)

    def on_train_end(self, net: Any, **_: Any) -> None:  # noqa: ARG002
        """Leave the bar as it is."""
        self.bar.close()


def train(
    make_module: Callable[[], nn.Module],
    criterion: nn.Module,
    answered: Answered,
    settings: Settings,
    rng: RandomState,
    fingerprint: str,
) -> Trained:
    """Train a network on pairs.

    Parameters
    ----------
    make_module : callable
        Makes the network; what it draws at random comes from torch's generator, which
        is seeded here and put back afterwards.
    criterion : Module
        A loss of `pairlearn.neural`.
    answered : Answered
        Pairs, answers and weights.
    settings : Settings
        How.
    rng : RandomState
        Source of the seed and of the pairs held out.
    fingerprint : str
        What tells this training from others, for its checkpoint.

    Returns
    -------
    Trained
    """
    numbers = np.flatnonzero(answered.weight > 0)
    weight = answered.weight / answered.weight[numbers].mean()
    learn, held_out = _hold_out(numbers, settings.validation_size, rng)
    device = choose_device(settings.device, answered.pairs.X)
    cuda = device.type == "cuda"
    seed = int(rng.randint(2**31 - 1))
    with torch.random.fork_rng([device.index or 0] if cuda else []):
        torch.manual_seed(seed)
        module = make_module()
        if settings.precision == "float64":
            module = module.double()
        dtype = next((p.dtype for p in module.parameters()), torch.float32)
        X = answered.pairs.X
        if cuda and not settings.distributed:
            X = _on_device(X, device)

        def batches(which: Ints) -> PairBatches:
            chosen = answered.pairs.index[which], answered.t[which], weight[which]
            return PairBatches(X, *chosen, dtype)

        path = None
        if settings.checkpoint is not None:
            settings.checkpoint.mkdir(parents=True, exist_ok=True)
            path = settings.checkpoint / "checkpoint.pt"
        keeper = Keeper(settings.patience, settings.max_epochs, path, fingerprint)
        if not len(held_out):
            keeper.patience = None
        callbacks = [*settings.callbacks, keeper]
        if settings.progress:
            callbacks.append(Bar(keeper, -(-len(learn) // settings.batch_size)))
        net = _net(module, criterion, device, settings, callbacks)
        order = Shuffled(len(learn), seed, lambda: len(keeper.history))
        net.set_params(iterator_train__sampler=order)
        if len(held_out):
            net.set_params(train_split=predefined_split(batches(held_out)))
        return _run(net, keeper, batches(learn))


def _run(net: Any, keeper: Keeper, data: PairBatches) -> Trained:
    """Run the epochs that remain, and return the best weights."""
    net.initialize()
    # Schedules begin with the training, and are then set to where they were.
    net.notify("on_train_begin", X=data)
    keeper.load(net)
    try:
        if not keeper.finished:
            net.fit_loop(data, epochs=keeper.max_epochs)
    except StopTraining:
        pass
    except KeyboardInterrupt:
        if not keeper.best or hasattr(net, "accelerator"):
            raise
        warnings.warn(
            f"training was interrupted in epoch {len(keeper.history) + 1}; the best "
            f"weights so far, of epoch {keeper.best['epoch']}, are kept",
            ConvergenceWarning,
            stacklevel=4,
        )
    net.notify("on_train_end", X=data)
    keeper.restore(net)
    return Trained(
        net.module_.eval(),
        net.criterion_,
        keeper.history,
        keeper.best["epoch"],
        keeper.best["loss"],
    )


def _net(
    module: nn.Module,
    criterion: nn.Module,
    device: torch.device,
    settings: Settings,
    callbacks: list[Any],
) -> Any:
    """Return skorch's net for these settings."""
    options: dict[str, Any] = {"device": str(device), "precision": settings.precision}
    if settings.distributed:
        options = {
            "accelerator": _accelerator(settings),
            "device": None,
            # Its log is printed whatever `verbose` says.
            "callbacks__print_log__sink": _silent,
        }
    optimizer = settings.optimizer
    if isinstance(optimizer, str):
        optimizer = {
            "adam": torch.optim.Adam,
            "adamw": torch.optim.AdamW,
            "sgd": torch.optim.SGD,
        }[optimizer]
    return _training_class(distributed=settings.distributed)(
        module=module,
        criterion=deepcopy(criterion),
        optimizer=optimizer,
        lr=settings.lr,
        optimizer__weight_decay=settings.weight_decay,
        # Flip rates are no weights: a penalty would draw them to one half.
        optimizer__param_groups=[("*logits", {"weight_decay": 0.0})],
        max_epochs=settings.max_epochs,
        batch_size=settings.batch_size,
        iterator_train__collate_fn=as_is,
        iterator_valid__collate_fn=as_is,
        train_split=None,
        callbacks=callbacks,
        verbose=0,
        **options,
    )


def _silent(*_: Any) -> None:
    """Print nothing."""


def _accelerator(settings: Settings) -> Any:
    try:
        from accelerate import Accelerator
        from accelerate.utils import DataLoaderConfiguration
    except ImportError:
        raise ImportError(
            "distributed=True needs accelerate, which is not installed: "
            "pip install accelerate"
        ) from None
    short = {"float16": "fp16", "bfloat16": "bf16"}
    accelerator = Accelerator(
        mixed_precision=short.get(settings.precision or "", "no"),
        cpu=settings.device == "cpu",
        # A batch is shared out, so that its size means the same on any number of
        # machines, and so does the result.
        dataloader_config=DataLoaderConfiguration(split_batches=True),
    )
    if settings.batch_size % accelerator.num_processes:
        raise ValueError(
            f"batch_size={settings.batch_size} cannot be shared evenly by "
            f"{accelerator.num_processes} processes; make it a multiple of that"
        )
    return accelerator


def _hold_out(
    numbers: Ints, validation_size: float, rng: RandomState
) -> tuple[Ints, Ints]:
    """Return the pairs to learn from, and those that tell when to stop."""
    order = rng.permutation(numbers)
    n = round(validation_size * len(order))
    if n < FEWEST_HELD_OUT:
        return order, order[:0]
    return order[n:], order[:n]


def choose_device(device: str, X: PointsLike) -> torch.device:
    """Return the device to train on; "auto": where the points are, or a GPU."""
    if device != "auto":
        try:
            return torch.device(device)
        except RuntimeError as error:
            raise ValueError(f"unknown device {device!r}: {error}") from None
    if isinstance(X, Tensor) and X.device.type != "cpu":
        return X.device
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _on_device(X: PointsLike, device: torch.device) -> PointsLike:
    """Return dense points on the device, if they leave most of its memory free."""
    if isinstance(X, Tensor):
        return X.to(device)
    if isinstance(X, np.ndarray) and X.nbytes < torch.cuda.mem_get_info(device)[0] / 4:
        return torch.as_tensor(X, dtype=torch.float32, device=device)
    return X


def outputs(module: nn.Module, X: PointsLike) -> Floats:
    """Return what a network says of points, a chunk at a time, as a NumPy array.

    Parameters
    ----------
    module : Module
        The network.
    X : ndarray, CSR matrix or Tensor of shape (n_points, n_features)
        Points.

    Returns
    -------
    ndarray of shape (n_points, ...)
    """
    like = next(module.parameters(), torch.zeros(0))
    parts = []
    module.eval()
    with torch.no_grad():
        for begin in range(0, X.shape[0], CHUNK):
            points = gather(X, slice(begin, begin + CHUNK), like.dtype)
            parts.append(module(points.to(like.device)).double().cpu().numpy())
    return np.concatenate(parts) if parts else np.zeros((0, 1))


def _unwrapped(net: Any, name: str) -> Any:
    """Return a module as it is without the wrapper of several processes."""
    accelerator = getattr(net, "accelerator", None)
    module = getattr(net, name)
    return module if accelerator is None else accelerator.unwrap_model(module)


def _state(net: Any, name: str) -> dict[str, Tensor]:
    state = _unwrapped(net, name).state_dict()
    return {key: value.detach().clone() for key, value in state.items()}


def _schedules(net: Any) -> list[Any]:
    """Return the learning rate schedules among the callbacks."""
    return [c.policy_ for _, c in net.callbacks_ if hasattr(c, "policy_")]


def _scaler(net: Any) -> Any:
    return getattr(getattr(net, "accelerator", None), "scaler", None) or net._scaler


def _is_main(net: Any) -> bool:
    accelerator = getattr(net, "accelerator", None)
    return accelerator is None or accelerator.is_main_process


def _cuda_state(net: Any) -> Tensor | None:
    on_cuda = str(net.device).startswith("cuda")
    return torch.cuda.get_rng_state() if on_cuda else None
