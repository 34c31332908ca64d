"""What unlabelled points are worth to PairClassifier: the same fits with and without.

``python -m benchmarks.unlabeled`` runs this where the data files are at hand
(PAIRLEARN_DATA), and goes on where it was: what is in results/unlabeled.jsonl is not
run again. The subsamples are other ones than those by which the candidates for
unlabelled points were chosen (seeds from 200).
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import make_moons

from benchmarks.choices import DATASETS
from benchmarks.report import RESULTS, machine, publish, table
from pairlearn import PairClassifier, Pairs, clustering_error
from pairlearn.reproduce.sample import draw_table

STORE = RESULTS / "unlabeled.jsonl"
N_UNLABELED, N_TEST = 1500, 1500
# Answers about the two moons, which need few.
MOONS, MOON_PAIRS = "two moons", 20


def draw(dataset: str, m: int, seed: int) -> tuple[Any, ...]:
    """Return pairs, answers, unlabelled points, test points and their classes."""
    if dataset == MOONS:
        X, y = make_moons(2 * m + N_UNLABELED + N_TEST, noise=0.1, random_state=seed)
        y = np.where(y, 1, -1)
        X_rest, y_rest = X[2 * m :], y[2 * m :]
        pairs = Pairs(X[: 2 * m], np.arange(2 * m).reshape(-1, 2))
        t = pairs.answers(y[: 2 * m])
    else:
        sample = draw_table(dataset, m, seed, n_test=N_UNLABELED + N_TEST)
        X_rest, y_rest, pairs, t = sample.X_test, sample.y_test, sample.pairs, sample.t
    n = N_UNLABELED
    return pairs, t, X_rest[:n], X_rest[n:], y_rest[n:]


def run(dataset: str, m: int, seed: int) -> list[float] | None:
    """Return errors without and with, whether they were used, and both times.

    None if all answers are alike, which teaches nothing.
    """
    pairs, t, unlabeled, X, y = draw(dataset, m, seed)
    if abs(t.sum()) == m:
        return None
    errors, seconds = [], []
    for others in (None, unlabeled):
        start = time.process_time()
        clf = PairClassifier(noise=None, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.fit(pairs, t, unlabeled=others)
        seconds.append(time.process_time() - start)
        errors.append(100 * float(clustering_error(y, clf.predict(X))))
    used = any("smooth" in row.kernel and row.weight for row in clf.candidates_)
    return [*errors, float(used), *seconds]


def row(dataset: str, m: int, found: Any) -> list[str]:
    """Return a row of the table."""
    change = found[:, 1] - found[:, 0]
    spread = change.std(ddof=1) / np.sqrt(len(change))
    return [
        dataset,
        str(m),
        f"{found[:, 0].mean():.1f}",
        f"{found[:, 1].mean():.1f}",
        f"{change.mean():+.2f} ({spread:.2f})",
        f"{int(found[:, 2].sum())} of {len(found)}",
        f"{found[:, 4].sum() / found[:, 3].sum():.1f}",
    ]


def cell(dataset: str, m: int, trials: int) -> Any:
    """Return the outcomes of the first subsamples that have both kinds of answers."""
    known = {}
    if STORE.is_file():
        for line in STORE.read_text().splitlines():
            *key, outcome = json.loads(line)
            known[tuple(key)] = outcome
    found: list[list[float]] = []
    seed = 0
    while len(found) < trials:
        key = dataset, m, seed
        if key not in known:
            known[key] = run(*key)
            with STORE.open("a") as store:
                store.write(json.dumps([*key, known[key]]) + "\n")
        if known[key] is not None:
            found.append(known[key])
        seed += 1
    return np.array(found)


def main() -> None:
    """Run all subsamples with and without, and publish the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--m", type=int, nargs="+", default=[50, 100, 200])
    options.add_argument("--trials", type=int, default=6)
    chosen = options.parse_args()
    cells = [(MOONS, MOON_PAIRS), *((d, m) for m in chosen.m for d in DATASETS)]
    rows, everything = [], []
    for dataset, m in cells:
        found = cell(dataset, m, chosen.trials)
        rows.append(row(dataset, m, found))
        print(" ".join(rows[-1]), flush=True)
        if dataset != MOONS:
            everything.append(found)
    for m in chosen.m:
        some = [f for f, (_, n) in zip(everything, cells[1:], strict=True) if n == m]
        mean = np.mean(some, axis=0)
        rows.append(row("mean of the ten", m, mean))
        used = int(np.sum(some, axis=(0, 1))[2])
        rows[-1][5] = f"{used} of {len(some) * chosen.trials}"
    what = (
        f"Clustering error in per cent of PairClassifier without and with "
        f"{N_UNLABELED:,} unlabelled points, on {N_TEST:,} other points; "
        f"{chosen.trials} subsamples each, answers about disjoint random pairs; "
        "subsamples whose answers are all alike are passed over (w8a). The "
        "difference is paired, with its standard error; 'used' says how often held-out "
        "answers spoke for the unlabelled points, 'time' how many times as much a fit "
        "computes with them. The first row is two interlocking half-circles, where the "
        "method should help; the others are the paper's tables."
    )
    head = ["data", "answers", "without", "with", "difference", "used", "time"]
    publish(
        "unlabeled",
        "What unlabelled points are worth",
        [machine("numpy", "scipy", "scikit-learn"), what, table(head, rows)],
    )


if __name__ == "__main__":
    main()
