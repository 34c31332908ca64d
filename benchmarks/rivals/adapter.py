"""What the adapters share: read a task, time the fit, write the labels.

An adapter runs in its rival's environment as ``python ADAPTER.py TASK.npz OUT.json``
and does not import pairlearn. It fails by raising; what it prints is a remark that goes
below the table.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Predict = Callable[[np.ndarray], np.ndarray]
    Fit = Callable[[np.ndarray, np.ndarray, np.ndarray, int], Predict]


def run(fit: Fit) -> None:
    """Call `fit` with points, pairs, answers and a seed; time nothing else.

    CPU seconds, seconds by the clock, and bytes of memory: how far their peak lies
    above the one before the task was read.
    """
    source, target = sys.argv[1:]
    before = highest_mark()
    with np.load(source) as task:
        X, index, t, X_test = (task[k] for k in ("X_train", "index", "t", "X_test"))
        seed = int(task["seed"])
    np.random.seed(seed)  # noqa: NPY002 - some rivals draw from the global generator
    start, clock = time.process_time(), time.perf_counter()
    predict = fit(X, index, t, seed)
    outcome = {
        "seconds": time.process_time() - start,
        "clock_seconds": time.perf_counter() - clock,
        "peak_bytes": highest_mark() - before,
        "labels": predict(X_test).tolist(),
    }
    Path(target).write_text(json.dumps(outcome))


def highest_mark() -> int:
    """Return the most bytes that were resident so far; 0 if nothing records it."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(1024 * int(line.split()[1]) for line in lines if "VmHWM" in line)


def links(index: np.ndarray, t: np.ndarray) -> dict[str, list[tuple[int, int]]]:
    """Return the pairs as must-links and cannot-links."""
    return {
        "ml": [(i, j) for i, j in index[t > 0].tolist()],
        "cl": [(i, j) for i, j in index[t < 0].tolist()],
    }


def print_broken(labels: np.ndarray, index: np.ndarray, t: np.ndarray) -> None:
    """Say how many links the labels of the training points break, if any."""
    same = labels[index[:, 0]] == labels[index[:, 1]]
    for name, broken in (("must", ~same[t > 0]), ("cannot", same[t < 0])):
        if broken.any():
            print(f"{broken.sum()} of {len(broken)} {name}-links broken")


def nearest(centres: np.ndarray, scale: np.ndarray) -> Predict:
    """Label points by the nearest centre; squared gaps are scaled by feature."""
    return lambda X: ((X[:, None] - centres) ** 2 @ scale).argmin(axis=1)
