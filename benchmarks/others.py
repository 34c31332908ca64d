"""PairClassifier on data sets that played no part in its making.

``python -m benchmarks.others``: scikit-learn's own data sets and generators, and three
of our own, against linear CIPS and MCL on standardised columns.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import datasets
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from benchmarks.report import machine, publish, table
from pairlearn import (
    CIPSClassifier,
    MCLClassifier,
    PairClassifier,
    Pairs,
    clustering_error,
    make_pair_pipeline,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

N_PAIRS, DRAWS = (60, 250), 4


def tasks() -> Iterator[tuple[str, Any, Any]]:
    """Yield name, points and a class (True or False) of each."""
    yield "breast cancer", *datasets.load_breast_cancer(return_X_y=True)
    X, digit = datasets.load_digits(return_X_y=True)
    yield "digits, odd", X, digit % 2
    two = np.isin(digit, (3, 8))
    yield "digits, 3 or 8", X[two], digit[two] == 8
    X, y = datasets.load_wine(return_X_y=True)
    yield "wine, first", X, y == 0
    X, y = datasets.load_iris(return_X_y=True)
    yield "iris, middle", X, y == 1
    yield "moons", *datasets.make_moons(2000, noise=0.25, random_state=0)
    yield (
        "circles",
        *datasets.make_circles(2000, noise=0.15, factor=0.5, random_state=0),
    )
    X, y = datasets.make_hastie_10_2(2000, random_state=0)
    yield "Hastie's", X, y > 0
    yield (
        "100 columns",
        *datasets.make_classification(2000, 100, n_informative=10, random_state=0),
    )
    yield (
        "500 columns",
        *datasets.make_classification(
            2000, 500, n_informative=5, weights=[0.8], random_state=1
        ),
    )
    rng = np.random.RandomState(0)
    X = rng.standard_cauchy((2000, 5))
    bent = np.sign(X[:, 0]) * np.log1p(np.abs(X[:, 0])) + X[:, 1].clip(-2, 2)
    yield "Cauchy columns", X, bent > 0
    X = rng.randn(2000, 6)
    yield "XOR", X, X[:, 0] * X[:, 1] > 0
    X = (rng.rand(2000, 60) < 0.3 * rng.rand(60)).astype(float)
    score = X @ (2 * rng.randn(60))
    yield "indicators", X, score + rng.randn(2000) > np.median(score)


def errors(X: Any, y: Any, n_pairs: int, seed: int) -> list[float]:
    """Return the errors of PairClassifier, CIPS and MCL, in per cent."""
    order = np.random.RandomState(seed).permutation(len(y))
    train, test = order[: 2 * n_pairs], order[2 * n_pairs :]
    pairs, t = Pairs.sample(X[train], n_pairs, y[train], random_state=seed)
    models = [
        PairClassifier(random_state=0),
        make_pair_pipeline(StandardScaler(), CIPSClassifier()),
        make_pair_pipeline(StandardScaler(), MCLClassifier(alpha=0.01)),
    ]
    return [
        100 * clustering_error(y[test], model.fit(pairs, t).predict(X[test]))
        for model in models
    ]


def main() -> None:
    """Fit all models to all tasks, and publish the table."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    for name, X, label in tasks():
        y = np.where(label, 1, -1)
        for wanted in N_PAIRS:
            n_pairs = min(wanted, len(y) // 3)
            if wanted > N_PAIRS[0] and n_pairs < 2 * N_PAIRS[0] and n_pairs < wanted:
                continue  # too few points for more pairs than before
            mean = np.mean([errors(X, y, n_pairs, k) for k in range(DRAWS)], axis=0)
            rows.append([name, str(n_pairs), *(f"{error:.1f}" for error in mean)])
            print(" ".join(rows[-1]), flush=True)
    better = sum(float(a) <= min(float(b), float(c)) for _, _, a, b, c in rows)
    what = (
        f"Clustering error in per cent on all other points, mean of {DRAWS} draws. "
        f"PairClassifier is at or below both linear models in {better} of {len(rows)} "
        "rows."
    )
    publish(
        "others",
        "PairClassifier on other data sets",
        [
            machine("numpy", "scipy", "scikit-learn"),
            what,
            table(["data set", "pairs", "PairClassifier", "CIPS", "MCL"], rows),
        ],
    )


if __name__ == "__main__":
    main()
