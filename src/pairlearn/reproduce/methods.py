"""The methods of the paper's tables, each with the settings of its protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.cluster import KMeans

from pairlearn.engine.coefficients import Coefficients
from pairlearn.engine.objective import PointObjective
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import PointRisk
from pairlearn.engine.scaling import Scaling
from pairlearn.engine.solvers import minimise_lbfgs, minimise_sgd
from pairlearn.models.cluster import ConstrainedKMeans, ConstrainedSpectralClustering
from pairlearn.models.linear import (
    CIPSClassifier,
    MCLClassifier,
    OVPCClassifier,
    SDClassifier,
)
from pairlearn.trust.metrics import clustering_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from pairlearn.reproduce.sample import Sample

    Predict = Callable[[Sample, Mapping[str, Any], int], NDArray[Any]]

__all__ = ["METHODS", "Method", "test_error"]

# The paper: minibatches of 64, rate 0.01, l2 1e-4, 500 epochs, from one start.
SGD = {
    "solver": "sgd",
    "max_iter": 500,
    "batch_size": 64,
    "learning_rate": 0.01,
    "alpha": 1e-4,
}
LBFGS = {"solver": "lbfgs", "alpha": 1e-4}


@dataclass(frozen=True)
class Method:
    """A method: its settings, and how it predicts the test points of a sample."""

    settings: Mapping[str, Any]
    predict: Predict


def test_error(
    method: str, settings: Mapping[str, Any], sample: Sample, seed: int
) -> float:
    """Train a method on a sample; return its clustering error on the test points."""
    predicted = METHODS[method].predict(sample, settings, seed)
    return clustering_error(sample.y_test, predicted)


def _classifier(kind: Any) -> Predict:
    def predict(sample: Sample, settings: Mapping[str, Any], seed: int) -> NDArray[Any]:
        clf = kind(**settings, random_state=seed)
        return np.asarray(clf.fit(sample.pairs, sample.t).predict(sample.X_test))

    return predict


def _sd(sample: Sample, settings: Mapping[str, Any], seed: int) -> NDArray[Any]:
    settings = {**settings, "prior": sample.prior}
    return _classifier(SDClassifier)(sample, settings, seed)


def _spectral(sample: Sample, settings: Mapping[str, Any], seed: int) -> NDArray[Any]:
    """Cluster training and test points in one graph."""
    model = ConstrainedSpectralClustering(**settings, random_state=seed)
    X = np.concatenate([sample.X, sample.X_test])
    labels = model.fit_predict(X, sample.pairs.index, sample.t)
    return np.asarray(labels[len(sample.X) :])


def _kmeans(sample: Sample, settings: Mapping[str, Any], seed: int) -> NDArray[Any]:
    model = KMeans(**settings, random_state=seed).fit(sample.X)
    return np.asarray(model.predict(sample.X_test))


def _supervised(sample: Sample, settings: Mapping[str, Any], seed: int) -> NDArray[Any]:
    """Logistic regression on the 2m points with their labels, same model and solver."""
    n_points, n_features = sample.X.shape
    classes = Coefficients((sample.y > 0) / n_points, (sample.y <= 0) / n_points)
    risk_sum, risk = as_points(sample.X).weighted(classes), PointRisk("logistic")
    settings = dict(settings)
    solver, alpha = settings.pop("solver"), settings.pop("alpha")
    if solver == "sgd":
        scaling = Scaling.identity(n_features, fit_intercept=True)
        objective = PointObjective(risk_sum, risk, alpha, scaling)
        rng = np.random.RandomState(seed)
        reach = 1 / np.sqrt(n_features)
        start = rng.uniform(-reach, reach, objective.size)
        solution = minimise_sgd(objective, start, rng=rng, **settings)
    else:
        scaling = Scaling.of(risk_sum.points, alpha, fit_intercept=True)
        objective = PointObjective(risk_sum, risk, alpha, scaling)
        start = np.zeros(objective.size)
        solution = minimise_lbfgs(objective, [start], max_iter=500, tol=1e-6)
    scores = as_points(sample.X_test).scores(*objective.weights(solution.u))
    return np.where(scores > 0, 1, -1)


METHODS = {
    "CIPS": Method({**SGD, "n_init": 1}, _classifier(CIPSClassifier)),
    "MCL": Method({**SGD, "n_init": 1}, _classifier(MCLClassifier)),
    "SD": Method({**SGD, "loss": "logistic"}, _sd),
    "OVPC": Method({}, _classifier(OVPCClassifier)),
    "SSP": Method({"n_neighbors": 5}, _spectral),
    "CKM": Method(
        {"n_init": 10, "max_iter": 300, "tol": 1e-4}, _classifier(ConstrainedKMeans)
    ),
    # Ten starts were scikit-learn's default in the paper's time; today it is one.
    "KM": Method({"n_clusters": 2, "n_init": 10}, _kmeans),
    "SV": Method(SGD, _supervised),
    "CIPS (L-BFGS)": Method(LBFGS, _classifier(CIPSClassifier)),
    "MCL (L-BFGS)": Method(LBFGS, _classifier(MCLClassifier)),
    "SD (L-BFGS)": Method({**LBFGS, "loss": "logistic"}, _sd),
    "SV (L-BFGS)": Method(LBFGS, _supervised),
}
