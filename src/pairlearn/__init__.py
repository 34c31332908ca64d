"""Learn a classifier of points from answers about pairs: same, or different."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Pairs",
    "CIPSClassifier",
    "MCLClassifier",
    "SDClassifier",
    "OVPCClassifier",
    "SLLCClassifier",
    "certify",
    "Certificate",
    "PairKFold",
    "OnPoints",
    "make_pair_pipeline",
    "prior_from_answers",
    "pair_error",
    "clustering_error",
    "__version__",
]

# Loaded at first use: scikit-learn alone takes most of a second to import, and a
# command line that only prints its help should not wait for it.
_HOME = {
    "Pairs": "pairs",
    "CIPSClassifier": "linear",
    "MCLClassifier": "linear",
    "SDClassifier": "linear",
    "OVPCClassifier": "linear",
    "SLLCClassifier": "linear",
    "certify": "certificate",
    "Certificate": "certificate",
    "PairKFold": "split",
    "OnPoints": "compose",
    "make_pair_pipeline": "compose",
    "prior_from_answers": "certificate",
    "pair_error": "metrics",
    "clustering_error": "metrics",
}

if TYPE_CHECKING:
    from pairlearn.certificate import Certificate, certify, prior_from_answers
    from pairlearn.compose import OnPoints, make_pair_pipeline
    from pairlearn.linear import (
        CIPSClassifier,
        MCLClassifier,
        OVPCClassifier,
        SDClassifier,
        SLLCClassifier,
    )
    from pairlearn.metrics import clustering_error, pair_error
    from pairlearn.pairs import Pairs
    from pairlearn.split import PairKFold


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"pairlearn.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pairlearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
