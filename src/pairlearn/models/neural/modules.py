"""The network that is used when none is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pairlearn.data.types import Floats

__all__ = ["MLP", "Standardise"]


class Standardise(nn.Module):
    """Subtract a fixed centre from each feature and divide by a fixed scale.

    Parameters
    ----------
    centre, scale : ndarray of shape (n_features,)
        They are saved with the network, and are not learned.
    """

    centre: Tensor
    scale: Tensor

    def __init__(self, centre: Floats, scale: Floats) -> None:
        super().__init__()
        self.register_buffer("centre", torch.tensor(centre, dtype=torch.float32))
        self.register_buffer("scale", torch.tensor(scale, dtype=torch.float32))

    def forward(self, x: Tensor) -> Tensor:
        """Return the features on their new scale."""
        return (x - self.centre) / self.scale


class MLP(nn.Sequential):
    """Layers of weights with an activation between them.

    Parameters
    ----------
    n_features : int
        Features of a point.
    hidden : sequence of int, default=(100, 100)
        Units of each hidden layer.
    n_outputs : int, default=1
        Scores of a point.
    activation : callable, default=torch.nn.ReLU
        Makes the activations.
    dropout : float, default=0.0
        Share of the hidden units that are dropped at random in each step of training.

    Examples
    --------
    >>> from pairlearn.models.neural import MLP
    >>> [tuple(p.shape) for p in MLP(500, (8, 8, 8)).parameters()][::2]
    [(8, 500), (8, 8), (8, 8), (1, 8)]
    """

    def __init__(
        self,
        n_features: int,
        hidden: Sequence[int] = (100, 100),
        n_outputs: int = 1,
        *,
        activation: Callable[[], nn.Module] = nn.ReLU,
        dropout: float = 0.0,
    ) -> None:
        layers: list[nn.Module] = []
        width = n_features
        for units in hidden:
            layers += [nn.Linear(width, units), activation()]
            if dropout:
                layers.append(nn.Dropout(dropout))
            width = units
        super().__init__(*layers, nn.Linear(width, n_outputs))
