"""Table 3: PubMed, with citation links in place of "same" answers.

CIPS, MCL, DML and SV are the paper's networks, trained by its protocol. "Noise-aware"
is ours: it takes random couples for what they are, and not for dissimilar pairs. Rows
that say "(linear)" are linear models on the same features, beside the printed ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from pairlearn.data.pairs import Pairs
from pairlearn.datasets import link_pairs
from pairlearn.models.compose import make_pair_pipeline
from pairlearn.models.linear import CIPSClassifier, LinkClassifier, MCLClassifier
from pairlearn.reproduce.experiment import Experiment, Options
from pairlearn.reproduce.networks import chosen_by_folds, citation_net, supervised_net
from pairlearn.reproduce.sample import generator, load_cached
from pairlearn.reproduce.store import Trial
from pairlearn.trust.metrics import clustering_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from pairlearn.data.types import Floats, Ints, PointsLike

    Settings = Mapping[str, Any]

__all__ = ["PUBMED"]

# By their numbers, labels 0 and 1 of the files are the classes 1 and 3 of the paper.
POSITIVE, NEGATIVE = 1, 0
# The paper's protocol. It does not say what early stopping watches: here, a tenth of
# the pairs.
NETWORK = {
    "lr": 1e-3,
    "batch_size": 4096,
    "max_epochs": 100,
    "patience": 10,
    "validation_size": 0.1,
    "weight_decay": "1e-2, 1e-4, 1e-6",
    "folds": 5,
}
QUICK = {"weight_decay": "1e-4"}


@dataclass(frozen=True)
class Articles:
    """Articles of two classes, the links among some of them, and others to test on.

    Attributes
    ----------
    X : CSR matrix
        Features of all articles.
    y : ndarray
        Classes, -1 and 1.
    train, test : ndarray
        Rows of the articles with a link to another one, and of those to test on.
    pairs, t : Pairs, ndarray
        Links among the first, +1, and as many random couples of them, -1.
    """

    X: PointsLike
    y: Ints
    train: Ints
    test: Ints
    pairs: Pairs
    t: Floats


def draw(seed: int, data_home: Any = None) -> Articles:
    """Draw a fifth of the articles to test on; the links among the others are pairs."""
    data = load_cached("pubmed", None, data_home)
    rng = generator("pubmed", seed)
    nodes = np.flatnonzero(np.isin(data.target, (POSITIVE, NEGATIVE)))
    nodes = rng.permutation(nodes)
    test, train = nodes[: len(nodes) // 5], nodes[len(nodes) // 5 :]
    y = np.where(data.target == POSITIVE, 1, -1)
    # Nodes without a link to another one take no part, as in the paper: its 7,889.
    inside = data.links[np.isin(data.links, train).all(axis=1)]
    linked = np.unique(inside[inside[:, 0] != inside[:, 1]])
    pairs, t = link_pairs(data.data, data.links, nodes=linked, random_state=rng)
    return Articles(data.data, y, linked, test, pairs, t)


def _linear(kind: Any, drawn: Articles, settings: Settings, seed: int) -> NDArray[Any]:
    scaler = StandardScaler(with_mean=False)
    clf = make_pair_pipeline(scaler, kind(**settings, random_state=seed))
    return np.asarray(clf.fit(drawn.pairs, drawn.t).predict(drawn.X[drawn.test]))


def _linear_supervised(drawn: Articles, settings: Settings, _: int) -> NDArray[Any]:
    scaler = StandardScaler(with_mean=False).fit(drawn.X[drawn.train])
    model = LogisticRegression(**settings, max_iter=1000)
    model.fit(scaler.transform(drawn.X[drawn.train]), drawn.y[drawn.train])
    return np.asarray(model.predict(scaler.transform(drawn.X[drawn.test])))


def _noise_aware(drawn: Articles, settings: Settings, seed: int) -> NDArray[Any]:
    clf = LinkClassifier(**settings, random_state=seed).fit(drawn.pairs, drawn.t)
    return np.asarray(clf.predict(drawn.X[drawn.test]))


def _network(
    method: str, drawn: Articles, settings: Settings, seed: int
) -> NDArray[Any]:
    """Train a network with the weight decay that five folds prefer."""
    # Before torch: this says which extra is missing.
    from pairlearn.models.neural import DeepMetricClassifier, PairNet

    settings = dict(settings)
    decays = [float(value) for value in settings.pop("weight_decay").split(",")]
    n_folds = settings.pop("folds")
    dense = drawn.X.toarray().astype(np.float32)
    # As they come, TF-IDF values are so small that these networks never get started.
    X = StandardScaler().fit(dense[drawn.train]).transform(dense)
    choose = partial(chosen_by_folds, values=decays, n_folds=n_folds, seed=seed)
    if method == "SV":
        import torch

        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = supervised_net(citation_net, settings)
            data = X[drawn.train], (drawn.y[drawn.train] > 0).astype(np.float32)
            fitted = choose(model, data, "optimizer__weight_decay")
            return np.where(fitted.predict(X[drawn.test]) > 0, 1, -1)
    settings["random_state"] = seed
    if method == "DML":
        module = partial(citation_net, embed=True)
        model = DeepMetricClassifier(module, norm=2, **settings)
    else:
        loss = "product" if method == "CIPS" else "likelihood"
        # The paper's MCL takes each pair for itself.
        model = PairNet(citation_net, loss=loss, likelihood="pair", **settings)
    fitted = choose(model, (Pairs(X, drawn.pairs.index), drawn.t), "weight_decay")
    return np.asarray(fitted.predict(X[drawn.test]))


@dataclass(frozen=True)
class Row:
    """A row: how it predicts, with what settings, and how long it takes."""

    predict: Callable[[Articles, Settings, int], NDArray[Any]]
    settings: Mapping[str, Any]
    quick: Mapping[str, Any]
    seconds: float


METHODS = {
    **{
        name: Row(partial(_network, name), NETWORK, {**QUICK, "max_epochs": 30}, 100.0)
        for name in ("CIPS", "MCL", "DML")
    },
    "SV": Row(partial(_network, "SV"), NETWORK, QUICK, 30.0),
    "Noise-aware": Row(_noise_aware, {"similarity": "cosine"}, {"alpha": 2e-5}, 15.0),
    "CIPS (linear)": Row(partial(_linear, CIPSClassifier), {"alpha": 1e-2}, {}, 1.5),
    "MCL (linear)": Row(partial(_linear, MCLClassifier), {"alpha": 1e-2}, {}, 1.5),
    "SV (linear)": Row(_linear_supervised, {"C": 1.0}, {}, 1.5),
}


def _plan(
    options: Options, datasets: Sequence[str], methods: Sequence[str]
) -> Iterator[Trial]:
    seeds = range(options.n_trials(20, 2))
    for seed, dataset, method in product(seeds, datasets, methods):
        row = METHODS[method]
        settings = {**row.settings, **(row.quick if options.quick else {})}
        yield Trial("table-pubmed", dataset, method, 0, seed, settings)


def _run(trial: Trial, data_home: Any) -> dict[str, Any]:
    drawn = draw(trial.seed, data_home)
    row = METHODS[trial.method]
    predicted = row.predict(drawn, trial.settings, trial.seed)
    return {
        "error": clustering_error(drawn.y[drawn.test], predicted),
        "n_pairs": len(drawn.t),
        "n_points": len(drawn.train),
    }


def _work(trial: Trial) -> float:
    row = METHODS[trial.method]
    return row.seconds if trial.settings == row.settings else row.seconds / 15


PUBMED = Experiment(
    name="table-pubmed",
    title="PubMed: citation links as answers",
    datasets=("pubmed",),
    methods=tuple(METHODS),
    plan=_plan,
    run=_run,
    work=_work,
    load=lambda dataset, data_home: load_cached(dataset, None, data_home),
)
