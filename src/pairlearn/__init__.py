"""Learn a classifier of points from answers about pairs: same, or different."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Pairs",
    "PairClassifier",
    "CIPSClassifier",
    "MCLClassifier",
    "SDClassifier",
    "OVPCClassifier",
    "SLLCClassifier",
    "LinkClassifier",
    "PairMetaClassifier",
    "ConstrainedKMeans",
    "ConstrainedSpectralClustering",
    "certify",
    "Certificate",
    "PairKFold",
    "OnPoints",
    "make_pair_pipeline",
    "LandmarkSimilarity",
    "OneVsRestPairClassifier",
    "answers_per_class",
    "prior_from_answers",
    "suspicious_answers",
    "pair_error",
    "clustering_error",
    "save",
    "load",
    "__version__",
]

# Loaded at first use: scikit-learn alone takes most of a second to import, and a
# command line that only prints its help should not wait for it.
_HOME = {
    "Pairs": "pairs",
    "PairClassifier": "auto",
    "CIPSClassifier": "linear",
    "MCLClassifier": "linear",
    "SDClassifier": "linear",
    "OVPCClassifier": "linear",
    "SLLCClassifier": "linear",
    "LinkClassifier": "linear",
    "PairMetaClassifier": "meta",
    "ConstrainedKMeans": "cluster",
    "ConstrainedSpectralClustering": "cluster",
    "certify": "certificate",
    "Certificate": "certificate",
    "PairKFold": "split",
    "OnPoints": "compose",
    "make_pair_pipeline": "compose",
    "LandmarkSimilarity": "landmarks",
    "OneVsRestPairClassifier": "multiclass",
    "answers_per_class": "multiclass",
    "prior_from_answers": "certificate",
    "suspicious_answers": "suspicious",
    "pair_error": "metrics",
    "clustering_error": "metrics",
    "save": "saving",
    "load": "saving",
}

if TYPE_CHECKING:
    from pairlearn.auto import PairClassifier
    from pairlearn.certificate import Certificate, certify, prior_from_answers
    from pairlearn.cluster import ConstrainedKMeans, ConstrainedSpectralClustering
    from pairlearn.compose import OnPoints, make_pair_pipeline
    from pairlearn.landmarks import LandmarkSimilarity
    from pairlearn.linear import (
        CIPSClassifier,
        LinkClassifier,
        MCLClassifier,
        OVPCClassifier,
        SDClassifier,
        SLLCClassifier,
    )
    from pairlearn.meta import PairMetaClassifier
    from pairlearn.metrics import clustering_error, pair_error
    from pairlearn.multiclass import OneVsRestPairClassifier, answers_per_class
    from pairlearn.pairs import Pairs
    from pairlearn.saving import load, save
    from pairlearn.split import PairKFold
    from pairlearn.suspicious import suspicious_answers


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"pairlearn.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pairlearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
