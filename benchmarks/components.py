"""What answers that share points are worth: chains, stars, trees, triangles, cycles.

``python -m benchmarks.components`` learns from so many right answers about points of
the ten tables of the paper, connected in four ways, with ``likelihood="pair"`` and
``"component"``; from 1,000 answers of which a tenth is wrong, each point in four pairs;
and times an evaluation of a chain of a million answers. Trials are kept as they are
done, so a run that is stopped goes on where it was (PAIRLEARN_DATA names the data).
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks.accuracy import record
from benchmarks.accuracy.record import Key
from benchmarks.report import RESULTS, machine, publish, table
from pairlearn import PairClassifier, Pairs, clustering_error
from pairlearn.engine.coefficients import pair_coefficients
from pairlearn.engine.components.risk_sum import ComponentRiskSum
from pairlearn.engine.links import BinaryLink
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import LikelihoodRisk
from pairlearn.reproduce.sample import draw_table
from pairlearn.reproduce.tabular import DATASETS

PATH = RESULTS / "components.jsonl"
SHAPES = ("chain", "star", "tree", "triangles")
SIZES = (50, 100, 200)
NOISY, WRONG = 1000, 0.1
KINDS = ("pair", "component")
HEAD = (
    "Error in % on 1,000 other points, `PairClassifier()` after so many right answers "
    "about points that are connected in four ways; mean and standard error. *Pair*: "
    "every answer stands alone; *joint*: the likelihood of a component."
)


def connect(shape: str, n_answers: int, rng: np.random.Generator) -> Any:
    """Return the pairs of a graph with so many answers; points from 0 on."""
    later = np.arange(1, n_answers + 1)
    if shape == "chain":
        return np.stack([later - 1, later], axis=1)
    if shape == "star":
        return np.stack([np.zeros_like(later), later], axis=1)
    if shape == "tree":
        return np.stack([(rng.random(n_answers) * later).astype(int), later], axis=1)
    if shape == "triangles":
        corners = np.arange(3 * -(-n_answers // 3)).reshape(-1, 3)
        return corners[:, [0, 1, 1, 2, 0, 2]].reshape(-1, 2)[:n_answers]
    # Each point in four pairs.
    n_points = n_answers // 2
    index = np.concatenate([rng.permutation(n_points) for _ in range(4)]).reshape(-1, 2)
    return index[index[:, 0] != index[:, 1]]


def draw(dataset: str, shape: str, n_answers: int, seed: int) -> tuple[Any, Any, Any]:
    """Return a table, the rows of the points that are asked about, and the pairs."""
    sample = draw_table(dataset, 1000, seed)
    rng = np.random.default_rng(seed)
    index = connect(shape, n_answers, rng)
    rows = rng.permutation(len(sample.y))[: index.max() + 1]
    # Nothing can be learned if all points are of one class, as may be with w8a.
    others = np.random.default_rng([seed, 1])
    while len(np.unique(sample.y[rows])) < 2:
        rows = others.permutation(len(sample.y))[: index.max() + 1]
    return sample, rows, index


def trial(key: Key) -> tuple[Key, record.Results]:
    """Learn once, and return the error on other points."""
    shape, kind = key.method.split("/")
    form = "four" if shape == "labels" else shape
    sample, rows, index = draw(key.dataset, form, key.m, key.seed)
    rng = np.random.default_rng([key.seed, 2])
    if shape == "labels":
        # The bound: the same points, joined by right answers.
        index = connect("star", index.max(), rng)
    pairs = Pairs(sample.X[rows], index)
    t = pairs.answers(sample.y[rows])
    if shape == "four":
        t = np.where(rng.random(len(t)) < WRONG, -t, t)
    begin = time.perf_counter()
    clf = PairClassifier(likelihood=kind, random_state=0).fit(pairs, t)
    seconds = time.perf_counter() - begin
    error = clustering_error(sample.y_test, clf.predict(sample.X_test))
    return key, {"error": error, "seconds": seconds}


def plan(trials: int, noisy_trials: int) -> list[Key]:
    """Return all trials."""
    right = [
        Key("right", f"{shape}/{kind}", name, m, seed)
        for seed, name, m, shape, kind in product(
            range(trials), DATASETS, SIZES, SHAPES, KINDS
        )
    ]
    methods = ("four/pair", "four/component", "labels/component")
    wrong = [
        Key("wrong", method, name, NOISY, seed)
        for seed, name, method in product(range(noisy_trials), DATASETS, methods)
    ]
    return right + wrong


Errors = dict[tuple[str, str, int], np.ndarray]


def gather(found: dict[Key, record.Results], keys: list[Key]) -> Errors:
    """Return the errors of each cell, by seed; only seeds that all cells have."""
    seeds: dict[str, set[int]] = {}
    for kind in {key.kind for key in keys}:
        own = [key for key in keys if key.kind == kind]
        cells = {(key.method, key.dataset, key.m) for key in own}
        seeds[kind] = {
            seed
            for seed in {key.seed for key in own}
            if all(Key(kind, *cell, seed) in found for cell in cells)
        }
    errors: dict[tuple[str, str, int], list[float]] = {}
    for key in keys:
        if key.seed in seeds[key.kind]:
            cell = key.method, key.dataset, key.m
            errors.setdefault(cell, []).append(found[key]["error"])
    return {cell: 100 * np.array(values) for cell, values in errors.items()}


def standard_error(values: np.ndarray) -> float:
    """Return the standard error of a mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def main_table(errors: Errors, m: int) -> str:
    """Return the errors of all shapes with so many answers."""
    methods = [f"{shape}/{kind}" for shape in SHAPES for kind in KINDS]
    rows = []
    for name in DATASETS:
        cells = [errors[method, name, m] for method in methods]
        rows.append(
            [name, *(f"{c.mean():.1f} ± {standard_error(c):.1f}" for c in cells)]
        )
    means = [np.mean([errors[v, name, m].mean() for name in DATASETS]) for v in methods]
    rows.append(["mean", *(f"{mean:.2f}" for mean in means)])
    header = ["", *(method.replace("/component", ", joint") for method in methods)]
    header = [name.replace("/pair", ", pair") for name in header]
    return table(header, rows)


def verdicts(errors: Errors) -> str:
    """Return how often what was promised holds."""
    cells = list(product(DATASETS, SIZES))
    n = len(next(iter(errors.values())))

    def close(cell: tuple[str, int], one: str, other: str) -> bool:
        a, b = (errors[method, *cell] for method in (one, other))
        return a.mean() <= b.mean() + max(standard_error(a), standard_error(b))

    both = [
        close(cell, "chain/component", "star/component")
        and close(cell, "star/component", "chain/component")
        for cell in cells
    ]
    lines = [
        f"{n} trials of each cell.",
        f"- chain within one standard error of star: {sum(both)} of {len(cells)} cells",
    ]
    for shape in SHAPES:
        worse = [
            f"{name} {m}"
            for name, m in cells
            if not close((name, m), f"{shape}/component", f"{shape}/pair")
        ]
        lines.append(
            f"- {shape}: above likelihood='pair' by more than one standard error: "
            f"{', '.join(worse) or 'never'}"
        )
    for m in SIZES:
        falls = [
            np.mean(
                [
                    (
                        errors[f"{shape}/pair", name, m]
                        - errors[f"{shape}/component", name, m]
                    )
                    for name in DATASETS
                ],
                axis=0,
            )
            for shape in SHAPES
        ]
        text = ", ".join(
            f"{shape} {fall.mean():+.2f} ± {standard_error(fall):.2f}"
            for shape, fall in zip(SHAPES, falls, strict=True)
        )
        lines.append(f"- {m} answers: the mean over sets falls by (points): {text}")
    return "\n".join(lines)


def noisy_table(errors: Errors) -> str:
    """Return the errors with wrong answers."""
    methods = ("four/pair", "four/component", "labels/component")
    rows, ratios, bounds = [], [], []
    for name in DATASETS:
        cells = [errors[method, name, NOISY] for method in methods]
        pair, joint, labels = (c.mean() for c in cells)
        ratios.append(joint / pair)
        bounds.append(labels / pair)
        text = [f"{c.mean():.1f} ± {standard_error(c):.1f}" for c in cells]
        rows.append([name, *text, f"{ratios[-1]:.2f}", f"{bounds[-1]:.2f}"])
    rows.append(
        ["mean", "", "", "", f"{np.mean(ratios):.3f}", f"{np.mean(bounds):.3f}"]
    )
    header = ["", "pair", "component", "right answers", "ratio", "ratio of the bound"]
    return table(header, rows)


def million() -> str:
    """Time an evaluation of J and its gradient for a chain of a million answers."""
    n, rng = 1_000_000, np.random.default_rng(0)
    X = rng.normal(size=(n + 1, 10))
    t = rng.choice([-1.0, 1.0], n)
    coefficients = pair_coefficients(t, np.ones(n))
    risk = LikelihoodRisk(BinaryLink())
    w = rng.normal(size=10)
    index = connect("chain", n, rng)
    points = as_points(X)
    begin = time.perf_counter()
    joint = ComponentRiskSum(points, index, coefficients, float(n), 2)
    made = time.perf_counter() - begin
    rows = []
    for name, sums in (
        ("ordinary", points.coupled(index, coefficients)),
        ("component", joint),
    ):
        times = []
        for _ in range(7):
            begin = time.perf_counter()
            sums.value_and_gradient(risk, w, 0.1)
            times.append(time.perf_counter() - begin)
        rows.append([name, f"{np.median(times):.3f}"])
    ratio = float(rows[1][1]) / float(rows[0][1])
    return (
        table(["evaluation", "seconds"], rows)
        + f"\n\nRatio {ratio:.1f}; finding the order, once: {made:.1f} s."
    )


def main() -> None:
    """Run what is missing, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=6)
    parser.add_argument("--noisy-trials", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table-only", action="store_true")
    options = parser.parse_args()
    keys = plan(options.trials, options.noisy_trials)
    record.repair(PATH)
    done = record.read(PATH)
    left = [] if options.table_only else [key for key in keys if key not in done]
    if left and not os.environ.get("PAIRLEARN_DATA"):
        raise SystemExit("set PAIRLEARN_DATA to the folder with the data files")
    print(f"{len(keys)} trials asked for, {len(left)} to run", flush=True)
    found = Parallel(options.jobs, return_as="generator_unordered")(
        delayed(trial)(key) for key in left
    )
    for number, (key, results) in enumerate(found, 1):
        record.add(key, results, PATH)
        if number % 20 == 0:
            print(f"{number} of {len(left)}: {key}", flush=True)
    errors = gather(record.read(PATH), keys)
    publish(
        "components",
        "Answers that share points",
        [
            HEAD,
            *(f"## {m} answers\n\n{main_table(errors, m)}" for m in SIZES),
            verdicts(errors),
            f"## {NOISY:,} answers, each point in four pairs, {WRONG:.0%} wrong\n\n"
            + noisy_table(errors)
            + "\n\n*Right answers* is the bound: the same points, joined by right "
            "answers. No use of the wrong ones can be expected to do better.",
            f"## A chain of a million answers, ten features\n\n{million()}",
            machine("numpy", "scipy", "scikit-learn"),
        ],
    )


if __name__ == "__main__":
    main()
