"""Loss and gradient of many pairs, against the time to read the points once."""

from __future__ import annotations

import tempfile
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.report import table
from benchmarks.scale.bandwidth import readers
from benchmarks.scale.checks import Check
from benchmarks.scale.data import Task, answered, fresh, indexed
from benchmarks.scale.measure import in_child, in_turns, told
from pairlearn import Pairs
from pairlearn.engine.coefficients import pair_coefficients
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import ProductRisk

if TYPE_CHECKING:
    from collections.abc import Callable

N_FEATURES, N_PAIRS = 100, 1_000_000
INDEX_POINTS, INDEX_PAIRS = 200_000, 2_000_000
REPEATS, FIRST_CALLS = 9, 5
FRESH, SHUFFLED = "fresh pairs, neighbours", "fresh pairs, shuffled"
INDEXED, PRODUCTS = "index pairs", "two products"
WITH, WITHOUT = "with numba", "without"
TYPES = ("float64", "float32")


def evaluation(X: np.ndarray, y: np.ndarray, index: np.ndarray) -> Callable[[], Any]:
    """Return what computes the loss and the gradient of CIPS."""
    _, t = answered(X, y, index)
    risk_sum = as_points(X).coupled(index, pair_coefficients(t, np.ones(len(t))))
    risk, w = ProductRisk("logistic"), np.full(X.shape[1], 0.05)
    return lambda: risk_sum.value_and_gradient(risk, w, -0.1)


def products(X: np.ndarray) -> Callable[[], Any]:
    """Return what computes X w and X^T r, and nothing else."""
    w, r = np.full(X.shape[1], 0.05, X.dtype), np.full(len(X), 0.1, X.dtype)
    return lambda: (X @ w, X.T @ r)


def times(shrink: int, repeats: int) -> dict[str, float]:
    """Return seconds by name and type; two groups of calls, each in turns."""
    task, m = Task(N_FEATURES), N_PAIRS // shrink
    X, y = task.points(2 * m)
    shuffled = Pairs.sample(X, m, random_state=0).index
    calls = readers(X)
    for points in (X, X.astype(np.float32)):
        calls[f"{FRESH}, {points.dtype}"] = evaluation(points, y, fresh(m))
        calls[f"{SHUFFLED}, {points.dtype}"] = evaluation(points, y, shuffled)
    found = in_turns(calls, repeats)
    found["bytes"] = X.nbytes
    n, calls = INDEX_POINTS // shrink, {}
    index = indexed(n, INDEX_PAIRS // shrink)
    for points in (X[:n], X[:n].astype(np.float32)):
        calls[f"{PRODUCTS}, {points.dtype}"] = products(points)
        calls[f"{INDEXED}, {points.dtype}"] = evaluation(points, y, index)
    return found | in_turns(calls, 4 * repeats)


def measure(shrink: int) -> dict[str, Any]:
    """Time evaluations with and without numba, and first calls."""
    record: dict[str, Any] = {}
    repeats = REPEATS if shrink == 1 else 3
    for name, fast in ((WITH, True), (WITHOUT, False)):
        record[name] = in_child(
            "bandwidth:evaluate", fast=fast, shrink=shrink, repeats=repeats
        )
        told(f"  evaluations {name}: done")
    calls: dict[str, list[float]] = {"empty cache": [], "warm cache": []}
    for _ in range(FIRST_CALLS if shrink == 1 else 1):
        with tempfile.TemporaryDirectory() as folder:
            cache = {"NUMBA_CACHE_DIR": folder}
            for found in calls.values():
                found.append(in_child("first:call", environment=cache)["first"])
    for state, found in calls.items():
        record[state] = median(found)
        told(f"  first call, {state}: {record[state]:.2f} s")
    return record


def bandwidth(found: dict[str, float]) -> float:
    """Return bytes a second, by the faster of the two ways to read."""
    return found["bytes"] / min(found["read, numba"], found["read, NumPy"])


def share(found: dict[str, float], what: str, dtype: str) -> float:
    """Return the share of the bandwidth in the same rounds that is reached."""
    n_bytes = found["bytes"] * np.dtype(dtype).itemsize / 8
    return n_bytes / found[f"{what}, {dtype}"] / bandwidth(found)


def checks(record: dict[str, Any]) -> list[Check]:
    """Compare with what must hold."""
    percent = "{:.0%}"
    indexed, alone = (record[WITH][f"{what}, float64"] for what in (INDEXED, PRODUCTS))
    return [
        Check(
            f"share of the read bandwidth, {FRESH}, {process}",
            share(record[process], FRESH, "float64"), floor, least=True, form=percent,
        )
        for process, floor in ((WITH, 0.60), (WITHOUT, 0.28))
    ] + [
        Check("index pairs, times the two products alone", indexed / alone, 1.3),
        Check("first call, empty cache, s", record["empty cache"], 2.0),
    ]  # fmt: skip


def parts(record: dict[str, Any]) -> list[str]:
    """Lay out all times."""
    rows = []
    for process in (WITH, WITHOUT):
        found = record[process]
        for dtype in TYPES:
            for what in (FRESH, SHUFFLED):
                seconds = found[f"{what}, {dtype}"]
                portion = f"{share(found, what, dtype):.0%} of the bandwidth"
                rows.append([what, dtype, process, f"{1e3 * seconds:.1f}", portion])
            seconds = found[f"{INDEXED}, {dtype}"]
            ratio = f"{seconds / found[f'{PRODUCTS}, {dtype}']:.2f} x two products"
            rows.append([INDEXED, dtype, process, f"{1e3 * seconds:.1f}", ratio])
    ways = ", ".join(
        f"{way} {found['bytes'] / found[f'read, {way}'] / 1e9:.1f} GB/s ({process})"
        for process, found in ((p, record[p]) for p in (WITH, WITHOUT))
        for way in ("numba", "NumPy")
    )
    calls = ", ".join(
        f"{state} {record[state]:.2f} s" for state in ("empty cache", "warm cache")
    )
    return [
        (
            f"## Evaluations\n\nLoss and gradient of CIPS: {N_PAIRS:,} fresh pairs, or "
            f"{INDEX_PAIRS:,} pairs of {INDEX_POINTS:,} points; {N_FEATURES} features. "
            "The bandwidth is that of the points' bytes, read once. Reading alone, the "
            f"sum of the float64 points: {ways}; the faster way counts. `without`: "
            f"numba cannot be imported. Median of {REPEATS} rounds or more, in turns."
        ),
        table(["pairs", "type", "numba", "ms", "compared"], rows),
        (
            "First call in a fresh process, numba's import included, median of "
            f"{FIRST_CALLS}: {calls}."
        ),
    ]
