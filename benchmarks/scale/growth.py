"""How time and peak memory grow with points, pairs and features.

Every size of every method is a process of its own. Its memory is what the fit and its
data add to a process that has fitted a tiny problem before.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks import core
from benchmarks.outside import RivalError, run_rival
from benchmarks.report import table
from benchmarks.scale.checks import Check
from benchmarks.scale.data import WARM, Task, answered, fresh, indexed
from benchmarks.scale.measure import (
    ChildError,
    Peak,
    exponent,
    in_child,
    pinned,
    seconds_of,
    told,
)
from benchmarks.scale.rivals import OUTSIDE, SGD, SUPERVISED, torch_sgd
from pairlearn import CIPSClassifier
from pairlearn.engine.backends.numpy import dense

if TYPE_CHECKING:
    from collections.abc import Callable

OURS = "CIPS"
N_FEATURES, N_PAIRS = 50, 500_000
WIDE = "d, ten times the pairs"
D_PAIRS = {"d": 100_000, WIDE: 1_000_000}
LIMIT, REPEATS = 20, 3
LEAST = {"seconds": 0.0, "bytes": 4e6}
# Exponents are those of the last factor 16; smaller sizes are for the eye.
LARGE = [62_500, 125_000, 250_000, 500_000, 1_000_000]
SMALL = [1_000, 4_000, 16_000]
FEW = [125, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000]
SIZES: dict[str, dict[str, list[int]]] = {
    "n": {OURS: [n // 2 for n in LARGE]},
    "m": {
        OURS: SMALL + LARGE,
        SUPERVISED: SMALL + LARGE,
        SGD: FEW[3:],
        **dict.fromkeys(OUTSIDE, FEW),
    },
    "d": {one: [32, 64, 128, 256, 512] for one in (OURS, SUPERVISED)},
    WIDE: {one: [16, 32, 64, 128, 256] for one in (OURS, SUPERVISED)},
}
AXES = {
    "n": f"points, at {N_PAIRS:,} index pairs of {N_FEATURES} features",
    "m": f"fresh pairs, of {N_FEATURES} features",
    **{d: f"features, at {n:,} fresh pairs" for d, n in D_PAIRS.items()},
}


def shape(axis: str, size: int, shrink: int) -> tuple[int, int, int]:
    """Return the numbers of points, pairs and features."""
    if axis == "n":
        return size, N_PAIRS // shrink, N_FEATURES
    if axis == "m":
        return 2 * size, size, N_FEATURES
    n_pairs = D_PAIRS[axis] // shrink
    return 2 * n_pairs, n_pairs, size


def fitter(method: str) -> Callable[..., Any]:
    """Return what fits (pairs, t, y), from a cold start."""
    return {
        OURS: lambda pairs, t, _: CIPSClassifier().fit(pairs, t),
        SUPERVISED: lambda pairs, _, y: LogisticRegression().fit(pairs.X, y),
        SGD: lambda pairs, t, _: torch_sgd(pairs, t),
    }[method]


def fit(
    method: str, n_points: int, n_pairs: int, n_features: int, shrink: int
) -> dict[str, float]:
    """Fit in this process; return the median time and the peak of memory."""
    task, run = Task(n_features), fitter(method)
    epochs, core.EPOCHS = core.EPOCHS // shrink, 1
    # Large enough that BLAS starts its threads, which keep memory of their own, and
    # that numba is imported, with any number of features.
    n_warm = max(WARM, 2 * dense.FEW // n_features)
    X, y = task.points(n_warm)
    run(*answered(X, y, fresh(n_warm // 2)), y)
    del X, y
    core.EPOCHS = epochs
    peak = Peak()
    X, y = task.points(n_points)
    fresh_points = n_points == 2 * n_pairs
    index = fresh(n_pairs) if fresh_points else indexed(n_points, n_pairs)
    pairs, t = answered(X, y, index)
    seconds = [seconds_of(lambda: run(pairs, t, y))]
    rise = peak.rise()
    while len(seconds) < REPEATS and sum(seconds) < LIMIT / 4:
        seconds.append(seconds_of(lambda: run(pairs, t, y)))
    return {"seconds": median(seconds), "bytes": rise, "data": X.nbytes}


def outside(method: str, n_pairs: int, limit: float) -> dict[str, float]:
    """Fit a rival in its own environment."""
    X, y = Task(N_FEATURES).points(2 * n_pairs)
    pairs, t = answered(X, y, fresh(n_pairs))
    found = run_rival(
        *OUTSIDE[method], limit, pinned(), X_train=X, index=pairs.index, t=t,
        X_test=X[:2], seed=0,
    )  # fmt: skip
    return {
        "seconds": found["clock_seconds"],
        "bytes": found["peak_bytes"],
        "data": X.nbytes,
    }


def measure(shrink: int) -> dict[str, Any]:
    """Fit all sizes of all methods; a rival stops at the size that takes too long."""
    record: dict[str, Any] = {axis: {} for axis in SIZES}
    for axis, methods in SIZES.items():
        for method, sizes in methods.items():
            record[axis][method] = found = []
            if shrink > 1:
                sizes = quick(axis, method, sizes, shrink)
            for size in sizes:
                try:
                    row = one(axis, method, size, shrink)
                except (ChildError, RivalError) as error:
                    told(f"  {method}, {axis} = {size:,}: {error}")
                    break
                found.append({"size": size} | row)
                told(
                    f"  {method}, {axis} = {size:,}: {row['seconds']:.3g} s, "
                    f"{row['bytes'] / 1e6:.1f} MB"
                )
                if row["seconds"] > LIMIT / shrink:
                    break
    return record


def one(axis: str, method: str, size: int, shrink: int) -> dict[str, float]:
    """Fit one size in a process of its own."""
    if method in OUTSIDE:
        return outside(method, size, LIMIT / shrink)
    n_points, n_pairs, n_features = shape(axis, size, shrink)
    result: dict[str, float] = in_child(
        "growth:fit", timeout=10 * LIMIT, method=method, n_points=n_points,
        n_pairs=n_pairs, n_features=n_features, shrink=shrink,
    )  # fmt: skip
    return result


def quick(axis: str, method: str, sizes: list[int], shrink: int) -> list[int]:
    """Return few and small sizes."""
    if axis in D_PAIRS:
        return sizes[:3]
    if method in OUTSIDE:
        return sizes[:2]
    return [max(200, size // shrink) for size in sizes[-3:]]


def slopes(found: list[dict[str, float]], key: str) -> float:
    """Return the exponent of seconds or bytes; NaN if there are too few sizes."""
    seen = [row for row in found if row[key] >= LEAST[key]]
    if len(seen) < 3:
        return float(np.nan)
    return exponent([row["size"] for row in seen], [row[key] for row in seen])


def checks(record: dict[str, Any]) -> list[Check]:
    """Compare our exponents with what must hold."""
    return [
        Check(f"exponent of {name} in {axis}", slopes(record[axis][OURS], key), 1.05)
        for axis in SIZES
        for name, key in (("time", "seconds"), ("peak memory", "bytes"))
    ]


def parts(record: dict[str, Any]) -> list[str]:
    """Lay out the exponents, and the largest size of each."""
    rows = []
    for axis, methods in record.items():
        for method, found in methods.items():
            if not found:
                rows.append([method, axis, "not one size within the limit", *[""] * 4])
                continue
            last = found[-1]
            rows.append(
                [
                    method,
                    axis,
                    f"{found[0]['size']:,} to {last['size']:,}",
                    f"{slopes(found, 'seconds'):.2f}",
                    f"{slopes(found, 'bytes'):.2f}",
                    f"{last['seconds']:.3g}",
                    f"{last['bytes'] / 1e6:,.0f}",
                ]
            )
    header = [
        "method", "in", "sizes", "exponent of time", "of memory", "s at the last",
        "MB at the last",
    ]  # fmt: skip
    axes = "; ".join(f"{axis}: {text}" for axis, text in AXES.items())
    about = (
        f"## Growth\n\n{axes}. Exponents are least squares on logarithms over the last "
        f"factor 16 of sizes (or all, if there are fewer). A rival goes on to the size "
        f"that takes {LIMIT} s. Memory: the peak above the process before its data. "
        f"Sizes that add less than {LEAST['bytes'] / 1e6:.0f} MB tell nothing of "
        "memory, and are left out of its exponent."
    )
    return [
        about,
        "![Time and peak memory against n, m and d](scale.png)",
        table(header, rows),
    ]
