"""The estimators under the shared contract: add a name here and it is covered."""

from importlib.util import find_spec

from sklearn.linear_model import LogisticRegression

from pairlearn import (
    CIPSClassifier,
    ConstrainedKMeans,
    ConstrainedSpectralClustering,
    LinkClassifier,
    MCLClassifier,
    OVPCClassifier,
    PairClassifier,
    PairMetaClassifier,
    SDClassifier,
    SLLCClassifier,
)
from pairlearn.models.pool import PoolClassifier

ESTIMATORS = {
    "auto": PairClassifier(random_state=0),
    "pool": PoolClassifier(random_state=0),
    "cips-logistic": CIPSClassifier(random_state=0),
    # Two starts show the contract as well as more; so do two folds below.
    "cips-hinge": CIPSClassifier(loss="hinge", n_init=2, random_state=0),
    # The checks come with features of a hundred, at which the default rate diverges.
    "cips-sgd": CIPSClassifier(
        solver="sgd", max_iter=30, n_init=1, learning_rate=1e-5, random_state=0
    ),
    "cips-eigen": CIPSClassifier(loss="unhinged", random_state=0),
    "mcl": MCLClassifier(n_init=2, random_state=0),
    "links": LinkClassifier(random_state=0),
    "sd": SDClassifier(prior=0.7, alpha=0.01),
    "ovpc": OVPCClassifier(random_state=0),
    "sllc": SLLCClassifier(random_state=0),
    "meta": PairMetaClassifier(
        LogisticRegression(),
        cv=2,
        initial=MCLClassifier(alpha=0.01, n_init=2),
        random_state=0,
    ),
    "constrained-k-means": ConstrainedKMeans(random_state=0),
    "constrained-spectral": ConstrainedSpectralClustering(random_state=0),
}

if find_spec("torch") and find_spec("skorch"):
    from pairlearn.models.neural import DeepMetricClassifier, PairNet

    # As many steps as it takes on the few pairs of the checks.
    small = {"hidden": (20,), "lr": 0.1, "max_epochs": 15, "random_state": 0}
    # The checks want a point's score to the seventh digit, whatever else is in X.
    small["precision"] = "float64"
    ESTIMATORS["pair-net"] = PairNet(**small)
    ESTIMATORS["pair-net-product"] = PairNet(**small, loss="product")
    ESTIMATORS["deep-metric"] = DeepMetricClassifier(**small)
