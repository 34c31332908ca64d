"""Training a network on pairs."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from skorch.helper import predefined_split
from torch import Tensor, nn

from pairlearn.engine.components.likelihood import shares_points
from pairlearn.models.neural.batches import PairBatches, as_is, gather
from pairlearn.models.neural.joint import (
    ComponentLikelihoodLoss,
    JointBatches,
    PairsCounted,
)
from pairlearn.models.neural.keeper import Bar, Keeper, StopTraining
from pairlearn.models.neural.loop import OPTIMIZERS, Shuffled, training_class
from pairlearn.models.neural.pieces import PieceBatches, pairs_of_some_points

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from numpy.random import RandomState

    from pairlearn.data.types import Bools, Floats, Ints, PointsLike
    from pairlearn.models.base import Answered
    from pairlearn.models.neural.base import NetworkClassifier

__all__ = ["choose_device", "outputs", "train"]

# With fewer held-out pairs than this, early stopping would follow their noise.
FEWEST_HELD_OUT = 10
# Points a step when a network is only evaluated.
CHUNK = 4096


def train(
    settings: NetworkClassifier,
    answered: Answered,
    criterion: nn.Module,
    n_outputs: int,
    rng: RandomState,
) -> tuple[nn.Module, nn.Module, Keeper]:
    """Train a network on pairs.

    Parameters
    ----------
    settings : NetworkClassifier
        How. It also makes the network; what that draws at random comes from torch's
        generator, which is seeded here and put back afterwards.
    answered : Answered
        Pairs, answers and weights.
    criterion : Module
        A loss of `pairlearn.models.neural`.
    n_outputs : int
        Outputs of the network for each point.
    rng : RandomState
        Source of the seed and of the pairs held out.

    Returns
    -------
    tuple
        The trained network and loss, with their best weights, and what was kept of the
        training.
    """
    numbers = np.flatnonzero(answered.weight > 0)
    joint = isinstance(criterion, ComponentLikelihoodLoss)
    if joint:
        numbers, joint = _told_together(numbers, answered.pairs.index)
    weight = answered.weight / answered.weight[numbers].mean()
    if joint:
        index = answered.pairs.index[numbers]
        chosen = _hold_out_points(index, settings.validation_size, rng)
        learn, held_out = numbers[~chosen], numbers[chosen]
    else:
        learn, held_out = _hold_out(numbers, settings.validation_size, rng)
    if not len(learn):
        raise ValueError(
            f"validation_size={settings.validation_size} of {len(numbers)} pairs "
            "leaves none to learn from"
        )
    device = choose_device(settings.device, answered.pairs.X)
    cuda = device.type == "cuda"
    seed = int(rng.randint(2**31 - 1))
    gpu = device.index if device.index is not None or not cuda else _current_gpu()
    with torch.random.fork_rng([gpu] if cuda else []):
        # Not torch.manual_seed, which seeds every GPU, also those that are not used.
        torch.default_generator.manual_seed(seed)
        if cuda:
            torch.cuda.default_generators[gpu].manual_seed(seed)
        module = settings._make_module(answered.pairs.X, n_outputs)
        if settings.precision == "float64":
            module = module.double()
        dtype = next((p.dtype for p in module.parameters()), torch.float32)
        X = answered.pairs.X
        if cuda and not settings.distributed:
            X = _on_device(X, device, dtype)

        def batches(which: Ints) -> PairBatches | JointBatches:
            chosen = answered.pairs.index[which], answered.t[which], weight[which]
            return (JointBatches if joint else PairBatches)(X, *chosen, dtype)

        path, of = None, ""
        if settings.checkpoint is not None:
            path = _checkpoint_path(settings)
            # The seed tells which pairs are held out, and the order of the others.
            of = f"{settings._fingerprint(answered, criterion)} {seed}"
        keeper = Keeper(settings.patience, settings.max_epochs, path, of)
        if not len(held_out):
            keeper.patience = None
        callbacks = [*map(deepcopy, settings.callbacks), keeper]
        options: dict[str, Any] = {"callbacks": callbacks}
        n_batches = -(-len(learn) // settings.batch_size)
        if joint:
            index, size = answered.pairs.index, settings.batch_size
            order = PieceBatches(index[learn], size, seed, lambda: len(keeper.history))
            # The same each time: losses of different cuts could not be compared.
            judged = PieceBatches(index[held_out], size, seed, lambda: 0)
            for name, each in {"train": order, "valid": judged}.items():
                options[f"iterator_{name}__batch_sampler"] = each
                options[f"iterator_{name}__batch_size"] = 1
            callbacks.insert(0, PairsCounted())
            n_batches = len(order) if settings.progress else n_batches
        else:
            options["iterator_train__sampler"] = Shuffled(
                len(learn), seed, lambda: len(keeper.history)
            )
        if settings.progress:
            callbacks.append(Bar(keeper, n_batches))
        if len(held_out):
            options["train_split"] = predefined_split(batches(held_out))
        with _processes(settings, device) as accelerator:
            # No variable here holds the net, so that it is gone when the group ends.
            return _run(
                _net(module, criterion, device, settings, accelerator, options),
                keeper,
                batches(learn),
            )


def _run(
    net: Any, keeper: Keeper, data: PairBatches | JointBatches
) -> tuple[nn.Module, nn.Module, Keeper]:
    """Run the epochs that remain, and return the best weights."""
    try:
        net.initialize()
        # Schedules begin with the training, and are then set to where they were.
        net.notify("on_train_begin", X=data)
        keeper.load(net)
        _run_epochs(net, keeper, data)
        net.notify("on_train_end", X=data)
        keeper.restore(net)
    finally:
        # After an error its traceback may hold the net for long.
        net.unwrap()
    return net.module_.eval(), net.criterion_, keeper


def _run_epochs(net: Any, keeper: Keeper, data: PairBatches | JointBatches) -> None:
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
            stacklevel=6,
        )


def _net(
    module: nn.Module,
    criterion: nn.Module,
    device: torch.device,
    settings: NetworkClassifier,
    accelerator: Any,
    options: dict[str, Any],
) -> Any:
    """Return skorch's net for these settings."""
    if accelerator is None:
        options = {
            **options,
            "device": str(device),
            "precision": settings.precision,
            # It would make the table of every epoch, and print it nowhere.
            "callbacks__print_log": None,
        }
    else:
        options = {
            **options,
            "accelerator": accelerator,
            "device": None,
            # Its log is printed whatever `verbose` says.
            "callbacks__print_log__sink": _silent,
        }
    return training_class(distributed=settings.distributed)(
        module=module,
        criterion=deepcopy(criterion),
        optimizer=OPTIMIZERS.get(settings.optimizer, settings.optimizer),
        lr=settings.lr,
        optimizer__weight_decay=settings.weight_decay,
        # Flip rates are no weights: a penalty would draw them to one half.
        optimizer__param_groups=[("*logits", {"weight_decay": 0.0})],
        max_epochs=settings.max_epochs,
        batch_size=settings.batch_size,
        iterator_train__collate_fn=as_is,
        iterator_valid__collate_fn=as_is,
        verbose=0,
        **{"train_split": None, **options},
    )


def _checkpoint_path(settings: NetworkClassifier) -> Path:
    """Return the file for checkpoints, and find out now whether it can be written."""
    folder = Path(settings.checkpoint or "")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Of several processes one writes, perhaps on another machine.
        if not settings.distributed:
            TemporaryFile(dir=folder).close()
    except OSError as error:
        raise OSError(
            error.errno,
            f"checkpoint={str(folder)!r} is not a folder that can be written to "
            f"({error.strerror})",
        ) from error
    return folder / "checkpoint.pt"


def _silent(*_: Any) -> None:
    """Print nothing."""


def _processes(
    settings: NetworkClassifier, device: torch.device
) -> AbstractContextManager[Any]:
    """Return a context that gives what joins the processes; None for one alone."""
    if not settings.distributed:
        return nullcontext()
    if not torch.distributed.is_available():
        raise RuntimeError(
            "distributed=True needs a torch that is built with torch.distributed; "
            "with this one leave it at False"
        )
    from pairlearn.models.neural.group import accelerated

    short = {"float16": "fp16", "bfloat16": "bf16"}
    return accelerated(
        short.get(settings.precision or "", "no"),
        cpu=device.type == "cpu",
        batch_size=settings.batch_size,
    )


def _hold_out(
    numbers: Ints, validation_size: float, rng: RandomState
) -> tuple[Ints, Ints]:
    """Return the pairs to learn from, and those that tell when to stop."""
    order = rng.permutation(numbers)
    n = round(validation_size * len(order))
    if n < FEWEST_HELD_OUT:
        return order, order[:0]
    return order[n:], order[:n]


def _hold_out_points(index: Ints, validation_size: float, rng: RandomState) -> Bools:
    """Tell which pairs are held out: all those of some points, if they are enough."""
    chosen = np.zeros(len(index), dtype=bool)
    n = round(validation_size * len(index))
    if n >= FEWEST_HELD_OUT:
        found = pairs_of_some_points(index, n, rng)
        if len(found) >= FEWEST_HELD_OUT:
            chosen[found] = True
    return chosen


def _told_together(numbers: Ints, index: Ints) -> tuple[Ints, bool]:
    """Return the pairs that say something together, and whether any share a point.

    A pair of a point with itself says nothing. If no others share points, all pairs are
    returned, to be learned from as ever.
    """
    proper = numbers[index[numbers, 0] != index[numbers, 1]]
    if shares_points(index[proper], int(index.max(initial=0)) + 1).any():
        return proper, True
    return numbers, False


def choose_device(device: str, X: PointsLike) -> torch.device:
    """Return the device to train on; "auto": where the points are, or a GPU."""
    if device != "auto":
        try:
            chosen = torch.device(device)
        except (RuntimeError, TypeError):
            raise ValueError(
                f"unknown device {device!r}; use 'auto', 'cpu', 'cuda' or 'cuda:1'"
            ) from None
        n_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if chosen.type == "cuda" and not n_gpus:
            raise ValueError(
                f"device={device!r} needs a GPU and a version of torch that supports "
                "it; device='auto' uses a GPU if there is one"
            )
        if chosen.type == "cuda" and (chosen.index or 0) >= n_gpus:
            raise ValueError(
                f"there is no device={device!r}: GPUs are numbered from 0, and "
                f"{n_gpus} can be seen"
            )
        if chosen.type not in ("cpu", "cuda"):
            try:
                torch.zeros(1, device=chosen).item()
            except (RuntimeError, NotImplementedError) as error:
                raise ValueError(
                    f"device={device!r} cannot be used on this machine, or with this "
                    "version of torch; device='auto' uses what is available"
                ) from error
        return chosen
    if isinstance(X, Tensor) and X.device.type != "cpu":
        return X.device
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _current_gpu() -> int:
    return int(torch.cuda.current_device())


def _on_device(X: PointsLike, device: torch.device, dtype: torch.dtype) -> PointsLike:
    """Return dense points on the device, if they leave most of its memory free."""
    if isinstance(X, Tensor):
        return X.to(device)
    if isinstance(X, np.ndarray) and X.nbytes < torch.cuda.mem_get_info(device)[0] / 4:
        return torch.as_tensor(X, dtype=dtype, device=device)
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
