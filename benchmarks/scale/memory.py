"""The peak memory of a fit, and of a stream."""

from __future__ import annotations

from typing import Any

from benchmarks.report import table
from benchmarks.scale.checks import Check
from benchmarks.scale.data import BLOCK, WARM, Task, answered, fresh, indexed
from benchmarks.scale.measure import Peak, in_child, resident, told
from pairlearn import CIPSClassifier, clustering_error

N_FEATURES = 100
SHAPES = {
    "1M fresh pairs": (2_000_000, 1_000_000),
    "2M pairs of 200k points": (200_000, 2_000_000),
}
BATCH_PAIRS, EARLY, LATE = 2048, 10, 200


def peak_of_fit(
    n_points: int, n_pairs: int, dtype: str, majority: int | None
) -> dict[str, float]:
    """Return the bytes that data and fit add to a process that has fitted before."""
    task = Task(N_FEATURES)
    X, y = task.points(WARM, dtype)
    CIPSClassifier(majority=majority).fit(*answered(X, y, fresh(WARM // 2)))
    del X, y
    peak = Peak()
    X, y = task.points(n_points, dtype)
    fresh_points = n_points == 2 * n_pairs
    index = fresh(n_pairs) if fresh_points else indexed(n_points, n_pairs)
    pairs, t = answered(X, y, index)
    # The labels are not ours to count, and the making of the data is not the fit.
    del y
    held = resident() - peak.start
    making = peak.rise()
    peak_of_data = Peak()
    CIPSClassifier(majority=majority, random_state=0).fit(pairs, t)
    return {
        "bytes": held + peak_of_data.rise(),
        "making": making,
        "data": X.nbytes,
        "bound": 1.3 * X.nbytes + 40 * n_pairs,
    }


def stream(shrink: int) -> dict[str, float]:
    """Learn from batches that are forgotten; return memory and errors."""
    task = Task(N_FEATURES)
    clf, marks = CIPSClassifier(), {}
    late = LATE // min(shrink, 5)
    for batch in range(late):
        X, y = task.points(2 * BATCH_PAIRS, first=2 * batch * BATCH_PAIRS // BLOCK)
        clf.partial_fit(*answered(X, y, fresh(BATCH_PAIRS)))
        if batch + 1 in (EARLY, late):
            marks[batch + 1] = resident()
    X_test, y_test = task.test_points()
    error = clustering_error(y_test, clf.predict(X_test))
    X, y = task.points(2 * BATCH_PAIRS * late)
    full = CIPSClassifier().fit(*answered(X, y, fresh(len(X) // 2)))
    return {
        "early": marks[EARLY],
        "late": marks[late],
        "pairs": BATCH_PAIRS * late,
        "error": error,
        "full error": clustering_error(y_test, full.predict(X_test)),
    }


def measure(shrink: int) -> dict[str, Any]:
    """Measure every kind of fit, then the stream."""
    fits = []
    for name, (n_points, n_pairs) in SHAPES.items():
        for dtype in ("float64", "float32"):
            for majority in (None, 1):
                found = in_child(
                    "memory:peak_of_fit", n_points=n_points // shrink,
                    n_pairs=n_pairs // shrink, dtype=dtype, majority=majority,
                )  # fmt: skip
                ratio = found["bytes"] / found["bound"]
                told(
                    f"  {name}, {dtype}, majority={majority}: {ratio:.2f} of the bound"
                )
                fits.append(
                    {"pairs": name, "dtype": dtype, "majority": majority} | found
                )
    found = in_child("memory:stream", shrink=shrink)
    told(f"  stream: {(found['late'] - found['early']) / 1e6:+.1f} MB")
    return {"fits": fits, "stream": found}


def checks(record: dict[str, Any]) -> list[Check]:
    """Compare with what must hold."""
    stream = record["stream"]
    return [
        Check(
            f"peak memory over its bound, {row['pairs']}, majority={row['majority']}",
            row["bytes"] / row["bound"], 1.0,
        )
        for row in record["fits"]
        if row["dtype"] == "float64"
    ] + [
        Check(
            f"MB that a stream adds from batch {EARLY} to {LATE}",
            (stream["late"] - stream["early"]) / 1e6, 5.0, form="{:.1f}",
        )
    ]  # fmt: skip


def parts(record: dict[str, Any]) -> list[str]:
    """Lay out peaks and bounds."""
    rows = [
        [
            row["pairs"],
            row["dtype"],
            str(row["majority"]),
            f"{row['data'] / 1e6:,.0f}",
            f"{row['bytes'] / 1e6:,.0f}",
            f"{row['bound'] / 1e6:,.0f}",
            f"{row['bytes'] / row['bound']:.2f}",
        ]
        for row in record["fits"]
    ]
    header = ["pairs", "type", "majority", "X MB", "peak MB", "bound MB", "of it"]
    stream = record["stream"]
    about = (
        f"## Memory\n\nPeak resident memory of a process with {N_FEATURES} features, "
        "above what it holds after a small fit: the points, the index and the answers "
        "count. The bound is 1.3 times the points plus 40 bytes a pair."
    )
    streamed = (
        f"`partial_fit` on {stream['pairs']:,} pairs in batches of {BATCH_PAIRS:,}: "
        f"{stream['early'] / 1e6:.1f} MB resident after {EARLY} batches, "
        f"{stream['late'] / 1e6:.1f} MB after the last; test error "
        f"{stream['error']:.2%}, of one fit on the same pairs "
        f"{stream['full error']:.2%}."
    )
    return [about, table(header, rows), streamed]
