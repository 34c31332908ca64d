"""The methods: each learns from a task, and is scored at some budgets."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.ask import ours
from benchmarks.ask.tasks import SMALL_BUDGETS, TABLE_BUDGETS, TABLES, draw
from benchmarks.outside import run_rival
from pairlearn import PairClassifier, Pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.accuracy.record import Results
    from benchmarks.ask.tasks import Task

    Found = Iterator[tuple[int, np.ndarray, float]]
    Ask = Callable[[Task, int, Sequence[int]], Found]

FOLDS = 5
LIMIT = 3600  # seconds by the clock that a tool may take for one trial


@dataclass(frozen=True)
class Method:
    """A method and how it is shown.

    Attributes
    ----------
    ask : callable
        Of a task, a seed and budgets; yields budget, groups of the scored points, and
        CPU seconds so far.
    what : str
        What it is, for the table.
    many : bool
        Whether it may find more groups than classes, so that majorities name them.
    labels : bool
        Whether it is told labels; it runs on the tables alone.
    peer : bool
        Whether it is another tool that asks about pairs.
    more : tuple of int
        Budgets beside the usual ones, on the tables.
    """

    ask: Ask
    what: str
    many: bool = False
    labels: bool = False
    peer: bool = False
    more: tuple[int, ...] = ()

    def budgets(self, dataset: str) -> tuple[int, ...]:
        """Return the budgets at which it is scored on a data set."""
        if dataset in TABLES:
            return TABLE_BUDGETS + self.more
        return () if self.labels else SMALL_BUDGETS


def random_pairs(task: Task, seed: int, budgets: Sequence[int]) -> Found:
    """Fit `PairClassifier` to random pairs; each point is in one if there are enough.

    The points of the pool are in random order. Small pools are gone through again, in
    another order.
    """
    n, rounds = len(task.y), [np.arange(len(task.y))]
    rng = np.random.default_rng([seed, 1])
    while sum(len(order) // 2 for order in rounds) < max(budgets):
        rounds.append(rng.permutation(n))
    every = np.concatenate([o[: n // 2 * 2].reshape(-1, 2) for o in rounds])
    t = np.array([task.oracle.answer(i, j) for i, j in every[: max(budgets)]])
    for budget in budgets:
        index = every[:budget]
        # As in the other benchmarks: what no answer is about is not seen.
        seen = task.X[: index.max() + 1] if budget <= n // 2 else task.X
        start = time.process_time()
        groups = of_pairs(task, Pairs(seen, index), t[:budget])
        yield budget, groups, time.process_time() - start


def of_pairs(task: Task, pairs: Pairs, t: np.ndarray) -> np.ndarray:
    """Return the groups that `PairClassifier` finds; one if all answers are alike."""
    if len(np.unique(t)) < 2:
        return np.zeros(len(task.y_test), dtype=int)
    model = PairClassifier(n_classes=task.n_classes, random_state=0)
    return model.fit(pairs, t).predict(task.X_test)


def random_labels(task: Task, seed: int, budgets: Sequence[int]) -> Found:
    """Fit an RBF-SVM, its settings chosen by cross-validation, to random labels."""
    n_features = task.X.shape[1]
    grid = {"C": [0.1, 1, 10, 100], "gamma": [g / n_features for g in (0.1, 1, 10)]}
    for budget in budgets:
        start = time.process_time()
        X, y = task.X[:budget], task.y[:budget]
        rarest = np.unique(y, return_counts=True)[1]
        if len(rarest) < 2:
            model: Any = None
        elif rarest.min() < 2:
            model = SVC(C=10, gamma=1 / n_features).fit(X, y)
        else:
            n_folds = min(FOLDS, rarest.min())
            folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
            model = GridSearchCV(SVC(cache_size=500), grid, cv=folds).fit(X, y)
        groups = (
            np.zeros(len(task.y_test), dtype=int)
            if model is None
            else model.predict(task.X_test)
        )
        yield budget, groups, time.process_time() - start


def outside(adapter: str, environment: str, option: str = "") -> Ask:
    """Make a method of an adapter in `benchmarks/rivals`."""

    def ask(task: Task, seed: int, budgets: Sequence[int]) -> Found:
        X = np.concatenate([task.X, task.X_test]) if task.held_out else task.X
        found = run_rival(
            adapter, environment, LIMIT, X=X, y=task.y, budgets=np.array(budgets),
            n_classes=task.n_classes, wrong=task.oracle.wrong, seed=seed,
            option=option,
        )  # fmt: skip
        if found["remark"]:
            print(found["remark"], flush=True)
        for budget in budgets:
            groups = np.array(found["labels"][str(budget)])[-len(task.y_test) :]
            yield budget, groups, found["seconds"][str(budget)]

    return ask


OURS, RANDOM, SVM, MARGIN = "ours", "random", "svm-labels", "margin-labels"
COBRAS, NPU, MINMAX, EXPLORE = "COBRAS", "NPU", "MinMax", "Explore-Consolidate"
METHODS = {
    OURS: Method(ours.ask, "`Interview`, no audits"),
    RANDOM: Method(random_pairs, "`PairClassifier` on random pairs", more=(500, 1000)),
    SVM: Method(
        random_labels,
        "RBF-SVM, settings by cross-validation, on as many random *labels*",
        labels=True,
    ),
    MARGIN: Method(
        outside("margin", "activeml"),
        "scikit-activeml 1.0.1's margin sampling of *labels* with an RBF-SVM, from the "
        "points nearest to 10 k-means centres; C = 10 and gamma = 1 / columns for the "
        "model that asks, cross-validation for the one that is scored",
        labels=True,
    ),
    COBRAS: Method(
        outside("cobras", "cobras"),
        "cobras-ts 0.1.3 with k-means; test points are clustered along with the pool "
        "but not asked about; it does not know the number of classes. Patched: "
        "`np.int` put back; a querier of our own, as the package's import Bokeh",
        many=True,
        peer=True,
    ),
    MINMAX: Method(
        outside("neighbourhoods", "clustering", MINMAX),
        "active-semi-supervised-clustering 0.0.1, then its MPCKMeans; test points get "
        "the nearest centre under the learnt metric",
        many=True,
        peer=True,
    ),
    EXPLORE: Method(
        outside("neighbourhoods", "clustering", EXPLORE),
        "the same package, then MPCKMeans",
        many=True,
        peer=True,
    ),
    NPU: Method(
        outside("neighbourhoods", "clustering", NPU),
        "the same package, with MPCKMeans and 50 trees after each point. Patched for "
        "these three: NumPy's error state, which the package sets to raise for all, "
        "put back; loops over all pairs of points as array operations; a cluster that "
        "stays empty ten times gets the point farthest from its centre",
        many=True,
        peer=True,
    ),
}


def run(method: str, dataset: str, seed: int, budgets: Sequence[int]) -> dict[int, Any]:
    """Return the results of a trial at each budget."""
    task = draw(dataset, seed)
    chosen = METHODS[method]
    results: dict[int, Results] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence; the error shows it
        for budget, groups, seconds in chosen.ask(task, seed, budgets):
            score = task.score(groups, many=chosen.many)
            results[budget] = score | {"seconds": round(seconds, 3)}
    return results
