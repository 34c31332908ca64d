"""Boosting and forests trained from pairs, against the linear model, on real data.

``make bench`` runs this where the data files are at hand (PAIRLEARN_DATA).
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks.report import machine, publish, table
from pairlearn import MCLClassifier, PairMetaClassifier, Pairs, clustering_error

DATA = Path(os.environ.get("PAIRLEARN_DATA") or "missing")
DRAWS, N_PAIRS, N_TEST = 3, 1000, 1000
MODELS = {
    "boosting": HistGradientBoostingClassifier(max_iter=50, random_state=0),
    "forest": RandomForestClassifier(30, min_samples_leaf=5, random_state=0),
}


def errors(name: str) -> dict[str, list[float]]:
    """Return the clustering errors of all models over the draws."""
    data = np.loadtxt(DATA / name / f"{name}.dat", delimiter=",")
    found: dict[str, list[float]] = {}
    for seed in range(DRAWS):
        order = np.random.RandomState(seed).permutation(len(data))
        train, test = order[: 2 * N_PAIRS], order[2 * N_PAIRS :][:N_TEST]
        X, y = data[:, :-1], data[:, -1]
        X = StandardScaler().fit(X[train]).transform(X)
        pairs, t = Pairs.sample(X[train], N_PAIRS, y[train], random_state=seed)
        models = {"linear, from pairs": MCLClassifier(alpha=0.01).fit(pairs, t)}
        for kind, model in MODELS.items():
            meta = PairMetaClassifier(model, random_state=seed)
            models[f"{kind}, from pairs"] = meta.fit(pairs, t)
            models[f"{kind}, with all labels"] = model.fit(X[train], y[train])
        for kind, model in models.items():
            error = clustering_error(y[test], model.predict(X[test]))
            found.setdefault(kind, []).append(error)
    return found


if __name__ == "__main__":
    if not DATA.is_dir():
        print("benchmarks.meta: set PAIRLEARN_DATA to the folder with the data files")
        raise SystemExit
    parts = [machine("numpy", "scikit-learn")]
    for name in ("banana", "phoneme"):
        rows = [
            [kind, f"{np.mean(e):.1%}", f"{np.std(e) / np.sqrt(DRAWS):.1%}"]
            for kind, e in errors(name).items()
        ]
        parts += [
            f"{name}: {DRAWS} draws of {N_PAIRS:,} pairs, {N_TEST:,} test points",
            table(["model", "clustering error", "standard error"], rows),
        ]
    publish("meta", "Any classifier from pairs", parts)
