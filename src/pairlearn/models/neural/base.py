"""What the estimators with a network share: their settings, and the network itself."""

from __future__ import annotations

import hashlib
import numbers
import os
import re
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from skorch.callbacks import Callback
from torch import nn
from torch.nn.parameter import is_lazy

from pairlearn.data.checks import check_choice, check_integer, check_number
from pairlearn.engine.points import as_points
from pairlearn.models.base import PairClassifierBase
from pairlearn.models.neural.batches import gather
from pairlearn.models.neural.loop import MIXED, OPTIMIZERS
from pairlearn.models.neural.modules import MLP, Standardise
from pairlearn.models.neural.training import train

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.random import RandomState

    from pairlearn.data.types import PointsLike
    from pairlearn.models.base import Answered

__all__ = ["NetworkClassifier"]

# Settings that say how far, where or how visibly to train, not what is trained: a
# checkpoint may go on with others. The training itself looks at the seed.
FREE = (
    "max_epochs",
    "patience",
    "progress",
    "checkpoint",
    "device",
    "distributed",
    "random_state",
)


# Points that are read at a time to tell them from others.
ROWS = 4096


class NetworkClassifier(PairClassifierBase):
    """Base of classifiers with a network.

    A subclass has the constructor parameters below and calls ``_train``.
    """

    _keeps_tensors = True

    module: Any
    hidden: Sequence[int]
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
    checkpoint: str | Path | None
    callbacks: Sequence[Any]
    progress: bool
    module_: nn.Module
    history_: list[dict[str, Any]]

    def _train(
        self, answered: Answered, criterion: nn.Module, n_outputs: int, rng: RandomState
    ) -> nn.Module:
        """Train a network, set what is known of its training; return its loss."""
        self.module_, criterion, keeper = train(
            self, answered, criterion, n_outputs, rng
        )
        self.history_ = keeper.history
        self.n_iter_ = len(keeper.history)
        self.best_epoch_ = keeper.best["epoch"]
        self.valid_loss_ = keeper.best["loss"]
        return criterion

    def _make_module(self, X: PointsLike, n_outputs: int) -> nn.Module:
        """Return a fresh network, or say why it does not fit the points."""
        if self.module is None:
            mean, variance = as_points(X).mean_and_variance()
            # A constant feature has no scale; whatever it is later counts as it is.
            noise = 1e-12 * mean**2
            scale = np.where(variance > noise, np.sqrt(variance), 1.0)
            mlp = MLP(X.shape[1], self.hidden, n_outputs)
            return nn.Sequential(Standardise(mean, scale), mlp)
        made = isinstance(self.module, nn.Module)
        try:
            module: nn.Module = deepcopy(self.module) if made else self.module()
        except TypeError as error:
            raise TypeError(
                f"module cannot be made when called without arguments: {error}"
            ) from error
        if not isinstance(module, nn.Module):
            raise TypeError(
                "module must be a torch.nn.Module, or make one when called without "
                f"arguments; got {type(module).__name__}"
            )
        dtype = next((p.dtype for p in module.parameters()), torch.float32)
        two = gather(X, slice(0, 2), dtype).cpu()
        device = next((p.device for p in module.parameters()), two.device)
        training = module.training
        try:
            with torch.no_grad():
                shape = tuple(module.eval()(two.to(device)).shape)
        except Exception as error:
            raise ValueError(
                f"the module cannot take points of {X.shape[1]} features: {error}. For "
                "images begin with torch.nn.Unflatten(1, (channels, height, width))"
            ) from error
        module.train(training)
        self._check_output(shape, len(two))
        if not any(p.requires_grad for p in module.parameters()):
            raise ValueError("the module has no weights that can be learned")
        return module

    def _check_output(self, shape: tuple[int, ...], n_points: int) -> None:
        raise NotImplementedError

    def _fingerprint(self, answered: Answered, criterion: nn.Module) -> str:
        """Return what tells this training from others: its pairs and its settings."""
        settings: dict[str, Any] = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in FREE
        }
        settings["callbacks"] = [(type(c).__name__, vars(c)) for c in self.callbacks]
        # A function is told by its name: where it lies in memory changes.
        described = re.sub(r" at 0x[0-9a-fA-F]+", "", repr((settings, criterion)))
        digest = hashlib.sha256(described.encode())
        if isinstance(self.module, nn.Module):
            for value in self.module.state_dict().values():
                if is_lazy(value):
                    continue  # it has no value yet
                digest.update(value.detach().cpu().double().numpy().tobytes())
        pairs = answered.pairs
        digest.update(repr((pairs.shape, pairs.n_points)).encode())
        # Row numbers may be of any type.
        index = pairs.index.astype(np.int64, copy=False)
        for part in (index, answered.t, answered.weight):
            digest.update(np.ascontiguousarray(part).tobytes())
        # All points, since any may have changed: one pass costs less than an epoch.
        for begin in range(0, pairs.n_points, ROWS):
            some = gather(pairs.X, slice(begin, begin + ROWS), torch.float64)
            digest.update(some.cpu().numpy().tobytes())
        return digest.hexdigest()

    def _check_network(self) -> None:
        """Refuse settings that are wrong, before anything is touched."""
        if isinstance(self.optimizer, str):
            check_choice("optimizer", self.optimizer, OPTIMIZERS)
        elif not (
            isinstance(self.optimizer, type)
            and issubclass(self.optimizer, torch.optim.Optimizer)
        ):
            got = repr(self.optimizer)
            if isinstance(self.optimizer, torch.optim.Optimizer):
                got = "an optimizer that is already made"
            raise TypeError(
                f"optimizer must be one of {tuple(OPTIMIZERS)} or a class, such as "
                f"torch.optim.RAdam; got {got}"
            )
        if not (self.module is None or callable(self.module)):
            raise TypeError(
                "module must be a torch.nn.Module, or make one when called without "
                f"arguments; got {self.module!r}"
            )
        check_choice("precision", self.precision, (None, "float64", *MIXED))
        check_number("lr", self.lr)
        check_number("weight_decay", self.weight_decay, allow_zero=True)
        whole = ["batch_size", "max_epochs"]
        whole += ["patience"] * (self.patience is not None)
        for name in whole:
            check_integer(name, getattr(self, name))
        size = self.validation_size
        if not isinstance(size, numbers.Real) or not 0 <= size < 1:
            raise ValueError(
                "validation_size must be a share of the pairs, 0 or above and below 1; "
                f"got {size!r}"
            )
        if not (
            isinstance(self.callbacks, list | tuple)
            and all(isinstance(callback, Callback) for callback in self.callbacks)
        ):
            raise TypeError(
                "callbacks must be a list of skorch callbacks, such as "
                f"[LRScheduler('StepLR', step_size=10)]; got {self.callbacks!r}"
            )
        if (
            not isinstance(self.checkpoint, str | os.PathLike | None)
            or self.checkpoint == ""
        ):
            raise TypeError(
                f"checkpoint must be the path of a folder; got {self.checkpoint!r}"
            )
        if self.random_state is None and (self.checkpoint or self.distributed):
            name = "checkpoint" if self.checkpoint else "distributed"
            raise ValueError(
                f"{name} needs a random_state, such as 0: the same pairs must be held "
                "out and the same batches drawn each time"
            )
        if self.module is None and not (
            np.ndim(self.hidden) == 1
            and all(isinstance(n, numbers.Integral) and n > 0 for n in self.hidden)
        ):
            raise ValueError(
                "hidden must hold the units of each hidden layer, such as (100, 100); "
                f"got {self.hidden!r}"
            )

    def __sklearn_is_fitted__(self) -> bool:
        # Other attributes are set before training, which may fail.
        return hasattr(self, "module_")

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "module_" in state:
            # So that a model trained on a GPU can be read where there is none.
            state["module_"] = deepcopy(self.module_).cpu()
        return state
