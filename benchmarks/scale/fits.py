"""A whole fit of CIPS against logistic regression on the same points with labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.report import table
from benchmarks.scale.checks import Check
from benchmarks.scale.data import Task, answered, fresh
from benchmarks.scale.measure import in_child, seconds_of, told
from pairlearn import CIPSClassifier, clustering_error

N_FEATURES, N_PAIRS, REPEATS = 100, 1_000_000, 5


def rounds(shrink: int, repeats: int, dtype: str) -> dict[str, Any]:
    """Fit both in turns; return the times of each, and how well they do."""
    task, m = Task(N_FEATURES), N_PAIRS // shrink
    X, y = task.points(2 * m, dtype)
    pairs, t = answered(X, y, fresh(m))
    ours, theirs = CIPSClassifier(), LogisticRegression()
    # What is compiled or imported at the first fit is not part of it.
    CIPSClassifier().fit(pairs[:1000], t[:1000])
    seconds: dict[str, list[float]] = {"ours": [], "theirs": []}
    for k in range(repeats):
        seconds["ours"].append(seconds_of(lambda: ours.fit(pairs, t)))
        seconds["theirs"].append(seconds_of(lambda: theirs.fit(X, y)))
        last = {name: round(found[-1], 2) for name, found in seconds.items()}
        told(f"  fits, {dtype}, round {k + 1}: {last}")
    X_test, y_test = task.test_points(dtype=dtype)
    history = ours.history_
    return {
        "seconds": seconds,
        "our error": clustering_error(y_test, ours.predict(X_test)),
        "their error": float(np.mean(theirs.predict(X_test) != y_test)),
        "our iterations": ours.n_iter_,
        "their iterations": int(theirs.n_iter_[0]),
        "evaluations": history.get("n_evaluations"),
        "passes": history.get("passes"),
    }


def measure(shrink: int) -> dict[str, Any]:
    """Fit points of both types."""
    repeats = REPEATS if shrink == 1 else 2
    return {
        dtype: in_child("fits:rounds", shrink=shrink, repeats=repeats, dtype=dtype)
        for dtype in ("float64", "float32")
    }


def ratio(found: dict[str, Any]) -> float:
    """Return our time over theirs: the median over the rounds."""
    seconds = found["seconds"]
    return float(np.median(np.divide(seconds["ours"], seconds["theirs"])))


def checks(record: dict[str, Any]) -> list[Check]:
    """Compare with what must hold."""
    found = record["float64"]
    excess = 100 * (found["our error"] - found["their error"])
    return [
        Check("fit of 1M pairs, times LogisticRegression", ratio(found), 1.0),
        Check("its test error above LogisticRegression's, points", excess, 0.2),
    ]


def parts(record: dict[str, Any]) -> list[str]:
    """Lay out times and errors."""
    rows = []
    for dtype, found in record.items():
        passes = found["passes"]
        rows.append(
            [
                dtype,
                f"{np.median(found['seconds']['ours']):.2f}",
                f"{np.median(found['seconds']['theirs']):.2f}",
                f"{ratio(found):.2f}",
                f"{found['our error']:.2%}",
                f"{found['their error']:.2%}",
                str(found["evaluations"]),
                "" if passes is None else f"{passes:.1f}",
                str(found["their iterations"]),
            ]
        )
    header = [
        "type", "CIPS s", "LogisticRegression s", "ratio", "CIPS error",
        "LogisticRegression error", "CIPS evaluations", "CIPS passes",
        "LogisticRegression iterations",
    ]  # fmt: skip
    about = (
        f"## A whole fit\n\n`CIPSClassifier` on {N_PAIRS:,} fresh pairs of "
        f"{N_FEATURES} features, and `LogisticRegression` (lbfgs, default tolerance) "
        f"on the same {2 * N_PAIRS:,} points with labels; both with their defaults, "
        f"{REPEATS} rounds in turns; error on 200,000 other points, 10 % at best."
    )
    return [about, table(header, rows)]
