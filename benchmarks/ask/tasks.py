"""The data: ten tables of the paper, and four small sets of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn import datasets
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.rivals.asking import Oracle
from pairlearn import clustering_error
from pairlearn.reproduce.sample import draw_table
from pairlearn.reproduce.tabular import DATASETS

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.accuracy.record import Results

POOL = 1000  # pairs of a table that use each point of its pool once
CANCER, WINE, DIGITS = "breast cancer", "wine", "digits 3/8/9"
NOISY_CANCER, NOISY_IRIS = "breast cancer, 10 % wrong", "iris, 10 % wrong"
SMALL = (CANCER, WINE, DIGITS, NOISY_IRIS, NOISY_CANCER)
TABLES = DATASETS
WRONG = 0.1
HELD_OUT = 0.3
TABLE_BUDGETS = (20, 50, 100, 200)
SMALL_BUDGETS = (10, 20, 30, 50, 100)


@dataclass(frozen=True)
class Task:
    """What a method may ask about, and what it is judged by.

    Attributes
    ----------
    X, y : ndarray
        The pool, in random order, and its classes.
    X_test, y_test : ndarray
        The points that are scored; the pool itself where nothing is held out.
    held_out : bool
        Whether they are others than those of the pool.
    n_classes : int
        Number of classes, which all methods but COBRAS are told.
    oracle : Oracle
        Who answers.
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    held_out: bool
    n_classes: int
    oracle: Oracle

    def score(self, labels: np.ndarray, *, many: bool = False) -> Results:
        """Return error and adjusted Rand index of groups of the scored points.

        With `many`, each group is named by its majority: a method that does not know
        the number of classes may find more groups than there are classes.
        """
        labels = np.asarray(labels)
        if many:
            _, group = np.unique(labels, return_inverse=True)
            _, true = np.unique(self.y_test, return_inverse=True)
            counts = np.zeros((group.max() + 1, true.max() + 1))
            np.add.at(counts, (group, true), 1)
            error = 1 - counts.max(axis=1).sum() / len(labels)
        else:
            error = clustering_error(self.y_test, labels)
        return {
            "error": round(float(error), 6),
            "ari": round(float(adjusted_rand_score(self.y_test, labels)), 6),
            "groups": len(np.unique(labels)),
        }


def draw(name: str, seed: int) -> Task:
    """Return a task; the seed decides what is held out, and which answers are wrong."""
    if name in TABLES:
        sample = draw_table(name, POOL, seed)
        oracle = Oracle(sample.y, 0, seed)
        return Task(sample.X, sample.y, sample.X_test, sample.y_test, True, 2, oracle)
    X, y = SOURCES[name]()
    wrong = WRONG if name in (NOISY_CANCER, NOISY_IRIS) else 0
    if name in (CANCER, NOISY_CANCER):
        X, X_test, y, y_test = train_test_split(
            X, y, test_size=HELD_OUT, random_state=seed
        )
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
        return Task(X, y, X_test, y_test, True, 2, Oracle(y, wrong, seed))
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = X[order], y[order]
    return Task(X, y, X, y, False, 3, Oracle(y, wrong, seed))


def wine() -> tuple[np.ndarray, np.ndarray]:
    """Return wine, standardised."""
    X, y = datasets.load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def iris() -> tuple[np.ndarray, np.ndarray]:
    """Return iris, standardised."""
    X, y = datasets.load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Return three digits that are easily taken for one another."""
    X, y = datasets.load_digits(return_X_y=True)
    chosen = np.isin(y, (3, 8, 9))
    return X[chosen] / 16, y[chosen]


def cancer() -> tuple[np.ndarray, np.ndarray]:
    """Return breast cancer."""
    return datasets.load_breast_cancer(return_X_y=True)


SOURCES: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    CANCER: cancer,
    NOISY_CANCER: cancer,
    WINE: wine,
    DIGITS: digits,
    NOISY_IRIS: iris,
}
