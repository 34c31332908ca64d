"""One trial: a method trains on a sample of the paper's table and is tested."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from pairlearn import CIPSClassifier, clustering_error
from pairlearn.reproduce.sample import Sample, draw_table

if TYPE_CHECKING:
    from benchmarks.accuracy.record import Key, Results

OURS, CIPS = "PairClassifier", "CIPS"
LINEAR, KERNEL = "LR-CV (labels)", "RBF-SVM-CV (labels)"
METHODS = (OURS, CIPS, LINEAR, KERNEL)
BINS = 10
FOLDS = 5


def pair_classifier(sample: Sample, seed: int, n_jobs: int = 1) -> Any:
    """Train the classifier that this benchmark is about; it sees the pairs alone."""
    from pairlearn import PairClassifier  # here: the baselines run without it

    clf = PairClassifier(random_state=seed, n_jobs=n_jobs)
    return clf.fit(sample.pairs, sample.t)


def cips(sample: Sample, seed: int) -> Any:
    """Train the linear model of the core with its defaults."""
    return CIPSClassifier(random_state=seed).fit(sample.pairs, sample.t)


def linear_with_labels(sample: Sample, seed: int) -> Any:
    """Train logistic regression on the true labels of the points in the pairs."""
    grid = {"C": np.logspace(-3, 3, 7)}
    return _search(LogisticRegression(max_iter=1000), grid, sample, seed)


def kernel_with_labels(sample: Sample, seed: int) -> Any:
    """Train a kernel machine on the true labels of the points in the pairs."""
    n_features = sample.X.shape[1]
    grid = {"C": [0.1, 1, 10, 100], "gamma": [g / n_features for g in (0.1, 1, 10)]}
    return _search(SVC(cache_size=500), grid, sample, seed)


def _search(model: Any, grid: dict[str, Any], sample: Sample, seed: int) -> Any:
    """Choose settings by cross-validation on the labels."""
    # In w8a at m = 100 the small class may have two points: then there are two folds.
    rarest = np.unique(sample.y, return_counts=True)[1].min()
    folds = StratifiedKFold(min(FOLDS, rarest), shuffle=True, random_state=seed)
    return GridSearchCV(model, grid, cv=folds).fit(sample.X, sample.y)


FIT = {
    OURS: pair_classifier,
    CIPS: cips,
    LINEAR: linear_with_labels,
    KERNEL: kernel_with_labels,
}


def attempt(key: Key) -> tuple[Key, Results | str]:
    """Return the results of a trial, or what went wrong: the others shall go on."""
    try:
        return key, (run_time if key.kind == "time" else run)(key)
    except Exception as error:
        return key, f"{type(error).__name__}: {error}"


def run(key: Key) -> Results:
    """Return the clustering error on the test points and the seconds of the fit."""
    sample = draw_table(key.dataset, key.m, key.seed)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # of convergence; the error shows it if it hurts
        start = time.perf_counter()
        clf = FIT[key.method](sample, key.seed)
        seconds = time.perf_counter() - start
        predicted = clf.predict(sample.X_test)
        error = clustering_error(sample.y_test, predicted)
        results = {"error": round(error, 6), "seconds": round(seconds, 4)}
        if key.method == OURS:
            positive = list(clf.classes_).index(1)
            p = clf.predict_proba(sample.X_test)[:, positive]
            results |= reliability(sample.y_test, predicted, p)
    return results


def run_time(key: Key) -> Results:
    """Return the seconds of a fit that has two cores for itself."""
    sample = draw_table(key.dataset, key.m, key.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        pair_classifier(sample, key.seed, n_jobs=2)
        return {"seconds": round(time.perf_counter() - start, 4)}


def reliability(y: np.ndarray, predicted: np.ndarray, p: np.ndarray) -> Results:
    """Return the calibration error of P(+1) and what a reliability diagram needs.

    The names of the classes are arbitrary, as for the clustering error: where most
    predictions are wrong, +1 stands for the other class.
    """
    if np.mean(predicted != y) > 0.5:
        p = 1 - p
    place = np.minimum((p * BINS).astype(int), BINS - 1)
    counts, expected, observed = (
        np.bincount(place, weights=w, minlength=BINS)
        for w in (np.ones(len(y)), p, (y > 0).astype(float))
    )
    return {
        "ece": round(float(np.abs(expected - observed).sum() / len(y)), 6),
        "counts": counts.astype(int).tolist(),
        "expected": expected.round(4).tolist(),
        "observed": observed.astype(int).tolist(),
    }
