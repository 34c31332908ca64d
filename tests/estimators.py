"""The estimators under the shared contract: add a name here and it is covered."""

from pairlearn import CIPSClassifier

ESTIMATORS = {
    "cips-logistic": CIPSClassifier(random_state=0),
    "cips-hinge": CIPSClassifier(loss="hinge", random_state=0),
    "cips-sgd": CIPSClassifier(solver="sgd", max_iter=30, n_init=1, random_state=0),
    "cips-eigen": CIPSClassifier(loss="unhinged", random_state=0),
}
