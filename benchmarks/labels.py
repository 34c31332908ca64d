"""What labels give: the bound for answers that share points, by seven learners.

``python -m benchmarks.labels`` takes the points of ``benchmarks.components`` (chains of
100 answers, and 500 points in four pairs each), tells their true labels to ordinary
classifiers, and counts errors on 1,000 other points. Right answers about a chain say
as much as the labels of its points, up to one swap, and not more; so no use of answers
can be expected to do better than the best use of labels. *Best* is the learner with
the fewest errors on the very points that are scored: nobody could choose it.
"""

from __future__ import annotations

import argparse
import os
import warnings
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.components import NOISY, draw
from benchmarks.report import machine, publish, table
from pairlearn import PairClassifier, Pairs, clustering_error
from pairlearn.reproduce.tabular import DATASETS

OURS = "PairClassifier"
CASES = {"a chain of 100 answers": ("chain", 100), "500 points": ("four", NOISY)}


def tuned(model: Any, settings: dict[str, list[float]], y: np.ndarray) -> Any:
    """Return a search over settings, with as many folds as the rarer class allows."""
    n_folds = int(min(5, np.unique(y, return_counts=True)[1].min()))
    if n_folds < 2:
        return model
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    return GridSearchCV(model, settings, cv=folds)


def learners(y: np.ndarray) -> dict[str, Any]:
    """Return the classifiers that are told labels."""
    powers = [0.01, 0.1, 1.0, 10.0]
    widths = {"svc__C": [1.0, 10.0, 100.0], "svc__gamma": ["scale", 0.01, 0.1]}
    straight = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    return {
        "random forest": RandomForestClassifier(400, random_state=0),
        "all columns": RandomForestClassifier(400, max_features=0.6, random_state=0),
        "extra trees": ExtraTreesClassifier(400, random_state=0),
        "boosting": GradientBoostingClassifier(
            subsample=0.5, max_features=0.5, random_state=0
        ),
        "logistic": tuned(straight, {"logisticregression__C": powers}, y),
        "RBF-SVM": tuned(make_pipeline(StandardScaler(), SVC()), widths, y),
    }


def trial(case: str, dataset: str, seed: int) -> dict[str, float]:
    """Return everybody's error in per cent."""
    warnings.simplefilter("ignore")
    sample, rows, _ = draw(dataset, *CASES[case], seed)
    X, y = sample.X[rows], sample.y[rows]
    star = [(0, k) for k in range(1, len(y))]
    pairs = Pairs(X, star)
    clf = PairClassifier(random_state=0).fit(pairs, pairs.answers(y))
    found = {OURS: clf.predict(sample.X_test)}
    for name, model in learners(y).items():
        found[name] = model.fit(X, y).predict(sample.X_test)
    return {
        name: 100 * clustering_error(sample.y_test, group)
        for name, group in found.items()
    }


def part(case: str, runs: dict[tuple[str, str, int], dict[str, float]]) -> str:
    """Return the table of a case."""
    rows, every = [], []
    names = list(next(iter(runs.values())))
    for dataset in DATASETS:
        own = [run for key, run in runs.items() if key[:2] == (case, dataset)]
        values = np.array([[run[name] for name in names] for run in own])
        values = np.column_stack([values, values.min(axis=1)])
        every.append(values.mean(axis=0))
        rows.append([dataset, *(f"{value:.1f}" for value in every[-1])])
    rows.append(["mean", *(f"{value:.2f}" for value in np.mean(every, axis=0))])
    return f"## Labels of {case}\n\n" + table(["", *names, "best"], rows)


def main() -> None:
    """Run all, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if not os.environ.get("PAIRLEARN_DATA"):
        raise SystemExit("set PAIRLEARN_DATA to the folder with the data files")
    keys = list(product(CASES, DATASETS, range(options.trials)))
    found = Parallel(options.jobs)(delayed(trial)(*key) for key in keys)
    runs = dict(zip(keys, found, strict=True))
    about = (
        "Error in % on 1,000 other points, mean over "
        f"{options.trials} draws; the points are those of `benchmarks.components`. "
        "Settings of the last two are chosen by cross-validation; *all columns* is a "
        "forest whose trees see 60 % of the columns at each cut. *Best* takes in each "
        "draw the learner with the fewest errors on the points that are scored."
    )
    publish(
        "labels",
        "What labels give",
        [about, *(part(case, runs) for case in CASES), machine("scikit-learn")],
    )


if __name__ == "__main__":
    main()
