"""Networks that learn from pairs: losses for any training loop, and estimators.

It needs torch and skorch, the extra `neural`.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

__all__ = [
    "PairNet",
    "DeepMetricClassifier",
    "ProductLoss",
    "PairLikelihoodLoss",
    "SDLoss",
    "SemiSupervisedPairLoss",
    "ContrastiveLoss",
    "MLP",
]

_HOME = {
    "PairNet": "net",
    "DeepMetricClassifier": "metric",
    "ProductLoss": "losses",
    "PairLikelihoodLoss": "losses",
    "SDLoss": "losses",
    "SemiSupervisedPairLoss": "losses",
    "ContrastiveLoss": "losses",
    "MLP": "modules",
}

for _package in ("torch", "skorch"):
    if find_spec(_package) is None:
        raise ImportError(
            f"pairlearn.models.neural needs {_package}, which is not installed: "
            "pip install 'pairlearn[neural]'"
        )

if TYPE_CHECKING:
    from pairlearn.models.neural.losses import (
        ContrastiveLoss,
        PairLikelihoodLoss,
        ProductLoss,
        SDLoss,
        SemiSupervisedPairLoss,
    )
    from pairlearn.models.neural.metric import DeepMetricClassifier
    from pairlearn.models.neural.modules import MLP
    from pairlearn.models.neural.net import PairNet


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"pairlearn.models.neural.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pairlearn.models.neural' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
