"""More than two classes: how to compare columns, and how to find their signs.

``python -m benchmarks.multiclass`` runs this (about two minutes). Linear models,
one-vs-rest; accuracy on points that are in no pair, as a mean over draws.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.report import machine, publish, table
from pairlearn import CIPSClassifier, OneVsRestPairClassifier, Pairs, answers_per_class

DRAWS = 5


def skewed() -> tuple[np.ndarray, np.ndarray]:
    """Return four overlapping classes, the first with 60 % of the points."""
    return make_classification(
        2000,
        20,
        n_informative=8,
        n_classes=4,
        n_clusters_per_class=1,
        weights=[0.6, 0.2, 0.15, 0.05],
        class_sep=1.2,
        random_state=3,
    )


TASKS = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "one class of 60 %": skewed,
}


def draws(name: str, n_pairs: int):
    """Yield pairs with answers, and points to test on."""
    X, y = TASKS[name]()
    for seed in range(DRAWS):
        X_a, X_b, y_a, y_b = train_test_split(
            X, y, test_size=0.4, stratify=y, random_state=seed
        )
        scaler = StandardScaler().fit(X_a)
        pairs = Pairs.sample(
            scaler.transform(X_a), n_pairs, reuse=True, random_state=seed
        )
        yield pairs, answers_per_class(pairs, y_a), y_a, scaler.transform(X_b), y_b


def normalisations(name: str, loss: str, n_pairs: int) -> list[float]:
    """Return the accuracy with raw, rms-scaled and calibrated scores, signs known."""
    results = []
    for pairs, t, y, X_new, y_new in draws(name, n_pairs):
        clf = OneVsRestPairClassifier(CIPSClassifier(loss=loss, alpha=1e-3, n_init=2))
        clf.fit(pairs, t).assign_from_points(pairs.X, y)
        signs = np.sign(clf.calibration_[:, 0])

        def scores(X, clf=clf, signs=signs):
            return signs * np.stack(
                [model.decision_function(X) for model in clf.estimators_], axis=1
            )

        rms = np.sqrt((scores(pairs.X) ** 2).mean(axis=0))
        columns = [scores(X_new), scores(X_new) / rms, clf.decision_function(X_new)]
        results.append([np.mean(f.argmax(axis=1) == y_new) for f in columns])
    return list(np.mean(results, axis=0))


def assignments(name: str, n_pairs: int) -> list[float]:
    """Return the accuracy with signs by majority=-1, by exclusion and by labels."""
    results = []
    for pairs, t, y, X_new, y_new in draws(name, n_pairs):
        base = CIPSClassifier(alpha=1e-2, n_init=2, random_state=0)
        row = []
        for majority, labelled in ((-1, False), (None, False), (None, True)):
            clf = OneVsRestPairClassifier(base, majority=majority).fit(pairs, t)
            if labelled:
                clf.assign_from_points(pairs.X, y)
            row.append(np.mean(clf.predict(X_new) == y_new))
        results.append(row)
    return list(np.mean(results, axis=0))


def main() -> None:
    """Run both comparisons and publish their tables."""
    warnings.simplefilter("ignore")  # few pairs on purpose: signs in doubt, no optimum
    scaling = [
        [name, loss, *(f"{value:.3f}" for value in normalisations(name, loss, 300))]
        for name in TASKS
        for loss in ("logistic", "hinge", "unhinged")
    ]
    signs = [
        [name, str(n_pairs), *(f"{value:.3f}" for value in assignments(name, n_pairs))]
        for name in TASKS
        for n_pairs in (100, 200, 600)
    ]
    how = (
        f"Accuracy on fresh points, mean of {DRAWS} draws of pairs. How columns are "
        "made comparable (300 pairs, signs from the labels of all training points):"
    )
    publish(
        "multiclass",
        "More than two classes",
        [
            machine("numpy", "scipy", "scikit-learn"),
            how,
            table(
                ["task", "loss", "scores as they are", "over their rms", "calibrated"],
                scaling,
            ),
            "How the signs of the columns are found (logistic loss, calibrated):",
            table(
                ["task", "pairs", "majority=-1", "exclusion (default)", "all labels"],
                signs,
            ),
        ],
    )


if __name__ == "__main__":
    main()
