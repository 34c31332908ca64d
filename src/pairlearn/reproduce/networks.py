"""The networks of the experiments, and how they are trained; needs `neural`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.model_selection import GridSearchCV, KFold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


__all__ = ["chosen_by_folds", "citation_net", "image_net", "supervised_net"]


def citation_net(*, embed: bool = False) -> Any:
    """Return the paper's network for PubMed, 500-8-8-8-1 with softplus.

    The embedding of DML is the same without the last layer.
    """
    from torch import nn

    layers: list[Any] = []
    for width in (500, 8, 8):
        layers += [nn.Linear(width, 8), nn.Softplus()]
    return nn.Sequential(*layers, *([] if embed else [nn.Linear(8, 1)]))


def image_net() -> Any:
    """Return a small convolutional network for images of 28 by 28 pixels."""
    from torch import nn

    def block(n_in: int, n_out: int) -> list[Any]:
        # Batch normalisation follows, and has an offset of its own.
        convolution = nn.Conv2d(n_in, n_out, 3, padding=1, bias=False)
        return [convolution, nn.BatchNorm2d(n_out), nn.ReLU(), nn.MaxPool2d(2)]

    return nn.Sequential(
        nn.Unflatten(1, (1, 28, 28)),
        *block(1, 16),
        *block(16, 32),
        nn.Flatten(),
        nn.Linear(32 * 7 * 7, 128),
        nn.BatchNorm1d(128),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(128, 1),
    )


def chosen_by_folds(
    model: Any,
    data: tuple[Any, Any],
    name: str,
    *,
    values: Sequence[float],
    n_folds: int,
    seed: int,
) -> Any:
    """Fit a model with the value of one setting that is best in cross-validation.

    Its score decides: for pair classifiers one minus the pair error, without a label.
    With a single value nothing is to be chosen.
    """
    if len(values) == 1:
        return model.set_params(**{name: values[0]}).fit(*data)
    folds = KFold(n_folds, shuffle=True, random_state=seed)
    return GridSearchCV(model, {name: list(values)}, cv=folds).fit(*data)


def supervised_net(module: Any, settings: Mapping[str, Any]) -> Any:
    """Return the same network as a classifier of labelled points, of 0 and 1.

    It is skorch's, with the loop, the early stopping and the loss that a network
    trained on labels usually has.
    """
    import torch
    from skorch import NeuralNetBinaryClassifier
    from skorch.callbacks import EarlyStopping
    from skorch.dataset import ValidSplit

    return NeuralNetBinaryClassifier(
        module,
        optimizer=torch.optim.Adam,
        lr=settings["lr"],
        batch_size=settings["batch_size"],
        max_epochs=settings["max_epochs"],
        train_split=ValidSplit(settings["validation_size"], random_state=0),
        callbacks=[EarlyStopping(patience=settings["patience"], load_best=True)],
        device="cuda" if torch.cuda.is_available() else "cpu",
        verbose=0,
    )
