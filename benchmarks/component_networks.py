"""What networks gain where answers share points.

``python -m benchmarks.component_networks``: 50 and 200 exact answers in a chain and in
a star, and 400 answers about 200 points, each in four pairs on average, of which one in
ten is wrong and `flip_rates` says so. `PairNet` learns with ``likelihood="pair"`` and
with ``likelihood="component"``; all else is its default but for batches of 32 pairs.
Fits that share a draw see the same points and answers, so their difference has a
standard error of its own.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.report import machine, publish, table
from pairlearn import Pairs, clustering_error
from pairlearn.models.neural import PairNet
from pairlearn.reproduce.sample import Sample, draw_table

DATASETS, DRAWS, M = ("magic", "phoneme", "waveform"), 8, 200
LIKELIHOODS = ("pair", "component")
SHAPES = (
    "chain of 50",
    "star of 50",
    "chain of 200",
    "star of 200",
    "graph, 10 % wrong",
)


def answers(shape: str, sample: Sample, seed: int) -> tuple[Any, Any, float | None]:
    """Return pairs, answers and flip rates."""
    rng = np.random.default_rng(seed)
    if shape in SHAPES[:4]:
        kind, _, n = shape.split()
        end = np.arange(int(n)) + 1
        index = np.stack([end - 1 if kind == "chain" else 0 * end, end], axis=1)
    else:
        left = rng.integers(M, size=2 * M)
        index = np.stack([left, (left + rng.integers(1, M, size=2 * M)) % M], axis=1)
    t = sample.y[index[:, 0]] * sample.y[index[:, 1]]
    if shape == SHAPES[4]:
        wrong = rng.random(len(t)) < 0.1
        return Pairs(sample.X, index), np.where(wrong, -t, t), 0.1
    return Pairs(sample.X, index), t, None


def measure(dataset: str, shape: str, seed: int) -> list[tuple[float, float]]:
    """Return error in per cent and seconds with either likelihood."""
    sample = draw_table(dataset, M, seed)
    pairs, t, rates = answers(shape, sample, seed)
    found = []
    for likelihood in LIKELIHOODS:
        net = PairNet(
            likelihood=likelihood,
            flip_rates=rates,
            batch_size=32,
            device="cpu",
            random_state=seed,
        )
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            net.fit(pairs, t)
        seconds = time.perf_counter() - began
        error = 100 * clustering_error(sample.y_test, net.predict(sample.X_test))
        found.append((error, seconds))
    return found


def main() -> None:
    """Fit all networks, and publish the table."""
    rows = []
    for shape in SHAPES:
        for dataset in DATASETS:
            found = np.array([measure(dataset, shape, k) for k in range(DRAWS)])
            errors, seconds = found[:, :, 0], found[:, :, 1].mean(axis=0)
            change = errors[:, 1] - errors[:, 0]
            cells = [(errors[:, 0], ".1f"), (errors[:, 1], ".1f"), (change, "+.1f")]
            rows.append([shape, dataset])
            rows[-1] += [
                f"{values.mean():{form}} ({values.std(ddof=1) / DRAWS**0.5:.1f})"
                for values, form in cells
            ]
            rows[-1] += [f"{value:.1f}" for value in seconds]
            print(" | ".join(rows[-1]), flush=True)
    what = (
        f"Clustering error in per cent on 1,000 new points: the mean of {DRAWS} draws "
        "and, in brackets, its standard error; of the change, too. Then the mean "
        "seconds of a fit. Answers are exact in chains and stars; the graph has 400 "
        "about 200 points. Of 50 pairs none is held out, and training takes all of its "
        "100 epochs."
    )
    header = ["answers", "data", *LIKELIHOODS, "change", "s, pair", "s, component"]
    publish(
        "component_networks",
        "Networks where answers share points",
        [
            machine("numpy", "scikit-learn", "torch", "skorch"),
            what,
            table(header, rows),
        ],
    )


if __name__ == "__main__":
    main()
