"""Devices for tests of tensors, and a loss that torch does not know."""

import pytest

from pairlearn.engine.losses import LogisticLoss

torch = pytest.importorskip("torch", reason="needs torch")

DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=pytest.mark.skipif(
            not torch.cuda.is_available(), reason="no CUDA device"
        ),
    ),
]
every_device = pytest.mark.parametrize("device", DEVICES)


class OwnLoss(LogisticLoss):
    """A loss of the user's own, which only NumPy knows."""

    name = "own"
