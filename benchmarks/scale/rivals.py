"""Ours beside every rival on the same 10,000 pairs."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks import core
from benchmarks.outside import RivalError, run_rival
from benchmarks.report import table
from benchmarks.scale.checks import Check
from benchmarks.scale.data import Task, answered, fresh
from benchmarks.scale.measure import Peak, in_child, pinned, seconds_of, told
from pairlearn import CIPSClassifier

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn import Pairs

N_FEATURES, N_PAIRS, REPEATS = 20, 10_000, 5
# Seconds that a rival in its own environment may take: most for the one that counts.
LIMIT, LONG = 200, 900
SGD, ITML, SUPERVISED = "the paper's SGD, PyTorch", "ITML", "LogisticRegression"
OUTSIDE = {
    ITML: ("itml", "metric-learn"),
    "MMC": ("mmc", "metric-learn"),
    "COPKMeans": ("copkmeans", "clustering"),
    "MPCKMeans": ("mpckmeans", "clustering"),
}
RIVALS = (SGD, SUPERVISED, *OUTSIDE)


class Outcome(dict[str, Any]):
    """Seconds, peak memory and what is predicted for the test points."""


def inside(
    fit: Callable[[], Callable[[np.ndarray], Any]], X_test: np.ndarray
) -> Outcome:
    """Time a fit in this process; its memory is above what the process holds now."""
    peak, predict = Peak(), None

    def run() -> None:
        nonlocal predict
        predict = fit()

    seconds = seconds_of(run)
    return Outcome(seconds=seconds, peak=peak.rise(), predicted=predict(X_test))


def torch_sgd(pairs: Pairs, t: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Train by the paper's protocol; return what predicts."""
    model = core.torch_sgd(pairs, t, seed=0)
    w = model.weight.detach().numpy()[0].astype(float)
    b = float(model.bias.detach()[0])
    return lambda X: X @ w + b > 0


def fit_rival(
    name: str,
    pairs: Pairs,
    t: np.ndarray,
    y: np.ndarray,
    X_test: np.ndarray,
    limit: float,
) -> Outcome:
    """Fit a rival once, in this process or in its own environment."""
    if name == SGD:
        return inside(lambda: torch_sgd(pairs, t), X_test)
    if name == SUPERVISED:
        return inside(lambda: LogisticRegression().fit(pairs.X, y).predict, X_test)
    found = run_rival(
        *OUTSIDE[name], limit, pinned(), X_train=pairs.X, index=pairs.index, t=t,
        X_test=X_test, seed=0,
    )  # fmt: skip
    return Outcome(
        seconds=found["clock_seconds"],
        peak=found["peak_bytes"],
        predicted=np.array(found["labels"]),
    )


def bout(name: str, shrink: int, limit: float) -> dict[str, Any]:
    """Time a rival between two halves of our own fits, on the same pairs."""
    core.EPOCHS //= shrink
    task = Task(N_FEATURES)
    X, y = task.points(2 * N_PAIRS // shrink)
    X_test, y_test = task.test_points()
    pairs, t = answered(X, y, fresh(len(X) // 2))
    ours = CIPSClassifier().fit(pairs, t)

    def half() -> list[float]:
        return [seconds_of(lambda: ours.fit(pairs, t)) for _ in range(REPEATS)]

    before = half()
    try:
        theirs = fit_rival(name, pairs, t, y, X_test, limit)
    except RivalError as error:
        seconds = median(before)
        return {"failure": str(error), "our seconds": seconds, "limit": limit}
    wrong = [missed(y_test, p) for p in (ours.predict(X_test), theirs["predicted"])]
    difference = wrong[0].astype(float) - wrong[1]
    return {
        "our seconds": median(before + half()),
        "their seconds": theirs["seconds"],
        "our error": wrong[0].mean(),
        "their error": wrong[1].mean(),
        "standard error": difference.std() / np.sqrt(len(difference)),
    }


def missed(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return which points are wrong, with the two groups named as fits best."""
    wrong = (y > 0) != (np.asarray(predicted) > 0)
    return wrong if wrong.mean() <= 0.5 else ~wrong


def measure(shrink: int) -> dict[str, Any]:
    """Meet every rival."""
    record = {}
    for name in RIVALS:
        limit = (LONG if name == ITML else LIMIT) / shrink
        record[name] = found = in_child(
            "rivals:bout", name=name, shrink=shrink, limit=limit
        )
        told(f"  {name}: {found.get('failure') or round(found['their seconds'], 2)}")
    return record


def checks(record: dict[str, Any]) -> list[Check]:
    """Compare with what must hold: speed, and an error that is not higher."""
    result = []
    for name in (ITML, SGD):
        found = record[name]
        if "failure" in found:
            # A timeout bounds its time from below; any other failure tells nothing,
            # and neither tells of its error.
            late = found["failure"].startswith("timed out")
            ratio = found["limit"] / found["our seconds"] if late else np.nan
            result += [
                Check(f"times faster than {name}", ratio, 100, least=True),
                Check(f"its test error above {name}'s, points", np.nan, 0.0),
            ]
            continue
        ratio = found["their seconds"] / found["our seconds"]
        excess = found["our error"] - found["their error"]
        noise = 200 * found["standard error"]
        result += [
            Check(f"times faster than {name}", ratio, 100, least=True, form="{:.0f}"),
            Check(
                f"its test error above {name}'s, points (bound: 2 standard errors)",
                100 * excess, noise, form="{:.3f}",
            ),
        ]  # fmt: skip
    return result


def parts(record: dict[str, Any]) -> list[str]:
    """Lay out a row a rival."""
    rows = []
    for name, found in record.items():
        ours = f"{found['our seconds']:.4f}"
        if "failure" in found:
            rows.append([name, ours, found["failure"][:60], "", "", ""])
            continue
        rows.append(
            [
                name,
                ours,
                f"{found['their seconds']:.3g}",
                f"{found['their seconds'] / found['our seconds']:,.1f}",
                f"{found['our error']:.2%}",
                f"{found['their error']:.2%}",
            ]
        )
    about = (
        f"## Rivals\n\n{N_PAIRS:,} fresh pairs of {N_FEATURES} features, seconds by "
        f"the clock. Ours is the median of {2 * REPEATS} fits, half before and half "
        f"after the rival's one. SGD: batch "
        f"{core.BATCH}, rate {core.RATE}, {core.EPOCHS} epochs. Metrics and clusters "
        "label test points as in `methods.md`; LogisticRegression has labels."
    )
    header = ["rival", "ours s", "rival s", "times faster", "our error", "its error"]
    return [about, table(header, rows)]
