"""Every method on the common task, beside the packages that a user may try instead.

``make bench`` runs this. Each draw of pairs goes to all methods in turn, so that a busy
spell of the machine meets them all. Times are CPU seconds of the fit: with one thread
they are what the clock shows on an idle machine. A rival runs one fit a process, in its
own environment (`benchmarks/rivals`), under the same thread settings.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import mean, median
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import pairlearn
from benchmarks.outside import ADAPTERS, RivalError, run_rival
from benchmarks.report import machine, publish, table
from pairlearn import Pairs, clustering_error
from tests.conftest import common_task

DRAWS, N_PAIRS = 5, 999
LIMIT = 600  # seconds by the clock that a rival may take for one draw
X, Y, X_TEST, Y_TEST = common_task()


class Draw(NamedTuple):
    """One draw of pairs with its answers."""

    pairs: Pairs
    t: np.ndarray
    seed: int


class Outcome(NamedTuple):
    """The groups of the test points, or the reason why there are none."""

    labels: tuple[int, ...] = ()
    seconds: float = np.nan
    remark: str = ""
    failure: str = ""


Method = Callable[[Draw], Outcome]


def local(fit: Callable[[Draw], Any]) -> Method:
    """Make a method of what fits a model with `predict` in this process."""

    def run(draw: Draw) -> Outcome:
        start = time.process_time()
        model = fit(draw)
        seconds = time.process_time() - start
        return Outcome(tuple(model.predict(X_TEST)), seconds)

    return run


def own(name: str, **params: Any) -> Method:
    """Name one of our estimators; it is imported at its first fit."""
    return local(lambda d: getattr(pairlearn, name)(**params).fit(d.pairs, d.t))


def rival(adapter: str, environment: str) -> Method:
    """Make a method of an adapter in `benchmarks/rivals`."""

    def run(draw: Draw) -> Outcome:
        try:
            found = run_rival(
                adapter, environment, LIMIT, X_train=X, index=draw.pairs.index,
                t=draw.t, X_test=X_TEST, seed=draw.seed,
            )  # fmt: skip
        except RivalError as error:
            return Outcome(failure=str(error))
        return Outcome(tuple(found["labels"]), found["seconds"], found["remark"])

    return run


# The first is what the others' times are compared with.
OWN = {
    "CIPS": own("CIPSClassifier"),
    "MCL": own("MCLClassifier"),
    "MCL, flip rates estimated": own("MCLClassifier", flip_rates="auto"),
    "SD, true prior": own("SDClassifier", prior=float(np.mean(Y == 1))),
    "SD, true prior, logistic": own(
        "SDClassifier", prior=float(np.mean(Y == 1)), loss="logistic"
    ),
    "OVPC": own("OVPCClassifier"),
    "SLLC": own("SLLCClassifier"),
    "SSP, test points in the graph": local(
        lambda d: pairlearn.ConstrainedSpectralClustering(random_state=d.seed).fit(
            d.pairs, d.t, unlabeled=X_TEST
        )
    ),
    "constrained k-means": own("ConstrainedKMeans", random_state=0),
    "boosting by PairMetaClassifier": local(
        lambda d: pairlearn.PairMetaClassifier(
            HistGradientBoostingClassifier(max_iter=30, random_state=0),
            random_state=d.seed,
        ).fit(d.pairs, d.t)
    ),
}
RIVALS = {
    "metric-learn ITML + k-means": rival("itml", "metric-learn"),
    "metric-learn MMC + k-means": rival("mmc", "metric-learn"),
    "COPKMeans": rival("copkmeans", "clustering"),
    "MPCKMeans": rival("mpckmeans", "clustering"),
    "contrastive network + k-means": rival("contrastive", "pytorch-metric-learning"),
}
REFERENCES = {
    "k-means without answers": local(
        lambda d: KMeans(2, n_init=10, random_state=d.seed).fit(X)
    ),
    "logistic regression with labels": local(lambda _: LogisticRegression().fit(X, Y)),
}


def measure(methods: dict[str, Method]) -> dict[str, list[Outcome]]:
    """Run all methods on each draw; a rival that timed out is not run again."""
    outcomes: dict[str, list[Outcome]] = {name: [] for name in methods}
    for seed in range(DRAWS):
        draw = Draw(*Pairs.sample(X, N_PAIRS, Y, random_state=seed), seed)
        for name, method in methods.items():
            before = outcomes[name]
            if not any(o.failure.startswith("timed out") for o in before):
                before.append(method(draw))
                print(f"draw {seed}: {name}: {before[-1].failure or 'done'}")
    return outcomes


def rows(outcomes: dict[str, list[Outcome]]) -> list[list[str]]:
    """Make a row a method; the ratio is to the first."""
    base = median(o.seconds for o in next(iter(outcomes.values())))
    result = []
    for name, found in outcomes.items():
        failures = [o.failure for o in found if o.failure]
        if failures:
            count = f" ({len(failures)} of {len(found)} draws)"
            result.append([name, failures[0][:80] + count, "", "", ""])
            continue
        accuracy = [1 - clustering_error(Y_TEST, o.labels) for o in found]
        seconds = median(o.seconds for o in found)
        result.append(
            [
                name,
                f"{mean(accuracy):.4f}",
                f"{min(accuracy):.4f}",
                f"{seconds:.3g}",
                f"{seconds / base:,.1f}",
            ]
        )
    return result


def remarks(outcomes: dict[str, list[Outcome]]) -> list[str]:
    """Collect what the adapters had to say."""
    said = {name: [o.remark for o in found] for name, found in outcomes.items()}
    return [
        f"{name}, draw by draw: {'; '.join(lines).replace(chr(10), ', ')}."
        for name, lines in said.items()
        if any(lines)
    ]


def versions() -> str:
    """List what the rivals' environments hold."""
    lines = []
    for file in sorted(ADAPTERS.glob("*.txt")):
        pins = [p for p in file.read_text().splitlines() if "==" in p]
        lines.append(f"- {', '.join(pins).replace('==', ' ')}")
    return "\n".join(lines)


def main() -> None:
    """Measure all methods, or with --own ours and the references alone (minutes)."""
    own_only = "--own" in sys.argv[1:]
    outcomes = measure(OWN | ({} if own_only else RIVALS) | REFERENCES)
    header = ["method", "accuracy, mean", "least", "fit CPU s, median", "times CIPS"]
    task = (
        f"The common task: {DRAWS} draws of {N_PAIRS} random pairs of 2,000 training "
        "points; clustering accuracy on 1,000 other points."
    )
    rivals = (
        " COPKMeans and MPCKMeans cannot label new points; here a point gets the "
        "nearest centre of their final clusters. The contrastive network has a hidden "
        "layer, and settings chosen on this task; CIPS is linear and has its defaults."
    )
    parts = [
        machine("numpy", "scipy", "scikit-learn"),
        task + rivals * (not own_only),
        table(header, rows(outcomes)),
        *remarks(outcomes),
    ]
    if not own_only:
        parts += ["The rivals' environments:", versions()]
    publish("methods-own" if own_only else "methods", "Methods", parts)


if __name__ == "__main__":
    main()
