"""Table 3: PubMed, with citation links in place of "same" answers.

The paper trains networks. Here the same protocol is run with linear models on the same
sparse features; rows say "(linear)", and stand beside the printed ones.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from pairlearn.compose import make_pair_pipeline
from pairlearn.datasets import link_pairs
from pairlearn.linear import CIPSClassifier, MCLClassifier
from pairlearn.metrics import clustering_error
from pairlearn.reproduce.experiment import Experiment, Options
from pairlearn.reproduce.sample import generator, load_cached
from pairlearn.reproduce.store import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["PUBMED"]

# By their numbers, labels 0 and 1 of the files are the classes 1 and 3 of the paper.
POSITIVE, NEGATIVE = 1, 0
METHODS: dict[str, dict[str, Any]] = {
    "CIPS (linear)": {"alpha": 1e-2},
    "MCL (linear)": {"alpha": 1e-2},
    "SV (linear)": {"C": 1.0},
}


def _plan(
    options: Options, datasets: Sequence[str], methods: Sequence[str]
) -> Iterator[Trial]:
    seeds = range(options.n_trials(20, 2))
    for seed, dataset, method in product(seeds, datasets, methods):
        yield Trial("table-pubmed", dataset, method, 0, seed, METHODS[method])


def _run(trial: Trial, data_home: Any) -> dict[str, Any]:
    data = load_cached("pubmed", None, data_home)
    rng = generator("pubmed", trial.seed)
    nodes = np.flatnonzero(np.isin(data.target, (POSITIVE, NEGATIVE)))
    nodes = rng.permutation(nodes)
    test, train = nodes[: len(nodes) // 5], nodes[len(nodes) // 5 :]
    y = np.where(data.target == POSITIVE, 1, -1)
    # Nodes without a link to another one take no part, as in the paper: its 7,889.
    inside = data.links[np.isin(data.links, train).all(axis=1)]
    linked = np.unique(inside[inside[:, 0] != inside[:, 1]])
    pairs, t = link_pairs(data.data, data.links, nodes=linked, random_state=rng)
    scaler = StandardScaler(with_mean=False)
    if trial.method.startswith("SV"):
        scaler.fit(data.data[linked])
        model = LogisticRegression(**trial.settings, max_iter=1000)
        model.fit(scaler.transform(data.data[linked]), y[linked])
        predicted = model.predict(scaler.transform(data.data[test]))
    else:
        kind = CIPSClassifier if trial.method.startswith("CIPS") else MCLClassifier
        clf = make_pair_pipeline(
            scaler, kind(**trial.settings, random_state=trial.seed)
        )
        predicted = clf.fit(pairs, t).predict(data.data[test])
    error = clustering_error(y[test], predicted)
    return {"error": error, "n_pairs": len(t), "n_points": len(linked)}


PUBMED = Experiment(
    name="table-pubmed",
    title="PubMed: citation links as answers",
    datasets=("pubmed",),
    methods=tuple(METHODS),
    plan=_plan,
    run=_run,
    work=lambda _: 1.5,
    load=lambda dataset, data_home: load_cached(dataset, None, data_home),
)
