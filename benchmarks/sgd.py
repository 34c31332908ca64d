"""Stochastic gradient descent: a step in NumPy, and compiled by numba.

``python -m benchmarks.sgd`` writes ``benchmarks/results/sgd.md``.
"""

from __future__ import annotations

import statistics
import time
from unittest import mock

import numpy as np

from benchmarks.report import machine, publish, table
from pairlearn import Pairs
from pairlearn.engine.coefficients import Coefficients, answer_coefficients
from pairlearn.engine.links import BinaryLink
from pairlearn.engine.objective import LinearObjective, PairObjective, PointObjective
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import LikelihoodRisk, PointRisk, ProductRisk
from pairlearn.engine.scaling import Scaling

BATCH, REPEATS = 64, 7
SHAPES = ((1000, 20, np.float64), (1000, 123, np.float64), (10_000, 784, np.float32))


def objectives(m: int, n_features: int, dtype: type) -> dict[str, LinearObjective]:
    """Return the objectives of CIPS, MCL and SV on random points."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * m, n_features)).astype(dtype)
    y = np.where(X[:, 0] + rng.normal(size=2 * m) > 0, 1, -1)
    pairs, t = Pairs.sample(X, m, y, random_state=0)
    points, scaling = as_points(X), Scaling.identity(n_features, fit_intercept=True)
    answers = answer_coefficients(t.astype(float), np.ones(m))
    couples = points.coupled(pairs.index, answers)
    labelled = points.weighted(Coefficients((y > 0) / len(y), (y < 0) / len(y)))
    likelihood = LikelihoodRisk(BinaryLink())
    return {
        "CIPS": PairObjective(couples, ProductRisk("logistic"), 1e-4, scaling),
        "MCL": PairObjective(couples, likelihood, 1e-4, scaling),
        "SV": PointObjective(labelled, PointRisk("logistic"), 1e-4, scaling),
    }


def microseconds(objective: LinearObjective) -> float:
    """Return the median time of a step, over some epochs."""
    rng = np.random.default_rng(0)
    u = rng.uniform(-0.1, 0.1, objective.size)
    n_steps = -(-objective.n_terms // BATCH)
    times = []
    for _ in range(REPEATS + 1):
        order = rng.permutation(objective.n_terms)
        start = time.perf_counter()
        u, _ = objective.epoch(u, order, BATCH, 0.01)
        times.append((time.perf_counter() - start) / n_steps)
    return 1e6 * statistics.median(times[1:])  # the first may have to compile


def main() -> None:
    """Write the table."""
    rows = []
    for m, n_features, dtype in SHAPES:
        for name, objective in objectives(m, n_features, dtype).items():
            compiled = microseconds(objective)
            with mock.patch.object(
                type(objective), "_compiled_epoch", return_value=None
            ):
                plain = microseconds(objective)
            shape = f"{m} pairs, {n_features} features, {np.dtype(dtype).name}"
            ratio = f"{plain / compiled:.1f}"
            rows.append([name, shape, f"{plain:.0f}", f"{compiled:.0f}", ratio])
    header = ["risk of", "points", "NumPy, us a step", "numba, us a step", "ratio"]
    about = f"Batches of {BATCH}; the median of {REPEATS} epochs."
    publish(
        "sgd",
        "A step of stochastic gradient descent",
        [machine("numpy", "numba"), about, table(header, rows)],
    )


if __name__ == "__main__":
    main()
