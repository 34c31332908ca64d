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
    "PoolClassifier",
    "ConstrainedKMeans",
    "ConstrainedSpectralClustering",
    "certify",
    "Certificate",
    "KindsCertificate",
    "pairs_within_groups",
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
    "Pairs": "data.pairs",
    "PairClassifier": "models.auto",
    "CIPSClassifier": "models.linear",
    "MCLClassifier": "models.linear",
    "SDClassifier": "models.linear",
    "OVPCClassifier": "models.linear",
    "SLLCClassifier": "models.linear",
    "LinkClassifier": "models.linear",
    "PairMetaClassifier": "models.meta",
    "PoolClassifier": "models.pool",
    "ConstrainedKMeans": "models.cluster",
    "ConstrainedSpectralClustering": "models.cluster",
    "certify": "trust.certify",
    "Certificate": "trust.certificate",
    "KindsCertificate": "trust.kinds_certificate",
    "pairs_within_groups": "trust.kinds",
    "PairKFold": "data.folds",
    "OnPoints": "models.compose",
    "make_pair_pipeline": "models.compose",
    "LandmarkSimilarity": "models.landmarks",
    "OneVsRestPairClassifier": "models.multiclass",
    "answers_per_class": "models.multiclass",
    "prior_from_answers": "trust.prior",
    "suspicious_answers": "trust.suspicious",
    "pair_error": "trust.metrics",
    "clustering_error": "trust.metrics",
    "save": "files.saving",
    "load": "files.saving",
}

if TYPE_CHECKING:
    from pairlearn.data.folds import PairKFold
    from pairlearn.data.pairs import Pairs
    from pairlearn.files.saving import load, save
    from pairlearn.models.auto import PairClassifier
    from pairlearn.models.cluster import (
        ConstrainedKMeans,
        ConstrainedSpectralClustering,
    )
    from pairlearn.models.compose import OnPoints, make_pair_pipeline
    from pairlearn.models.landmarks import LandmarkSimilarity
    from pairlearn.models.linear import (
        CIPSClassifier,
        LinkClassifier,
        MCLClassifier,
        OVPCClassifier,
        SDClassifier,
        SLLCClassifier,
    )
    from pairlearn.models.meta import PairMetaClassifier
    from pairlearn.models.multiclass import OneVsRestPairClassifier, answers_per_class
    from pairlearn.models.pool import PoolClassifier
    from pairlearn.trust.certificate import Certificate
    from pairlearn.trust.certify import certify
    from pairlearn.trust.kinds import pairs_within_groups
    from pairlearn.trust.kinds_certificate import KindsCertificate
    from pairlearn.trust.metrics import clustering_error, pair_error
    from pairlearn.trust.prior import prior_from_answers
    from pairlearn.trust.suspicious import suspicious_answers


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"pairlearn.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pairlearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
