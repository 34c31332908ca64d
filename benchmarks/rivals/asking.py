"""What the adapters of tools that ask share: the task, the oracle, and the outcome.

An adapter runs in its rival's environment as ``python ADAPTER.py TASK.npz OUT.json``
and does not import pairlearn. The points are the pool, then others, if any; questions
may be asked about points of the pool alone. What comes back are groups of all points at
each budget. It fails by raising; what it prints is a remark.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[["Task"], None]


class Spent(Exception):  # noqa: N818 - the end of a budget is no error
    """All questions are asked."""


class Oracle:
    """Answers from labels; some answers are wrong, and stay so when asked again.

    Parameters
    ----------
    y : ndarray of shape (n_pool,)
        Class labels of the points that may be asked about.
    wrong : float
        The chance that the answer about a pair is wrong.
    seed : int
        Decides which answers are wrong: whoever asks about a pair gets the same one.
    """

    def __init__(self, y: np.ndarray, wrong: float = 0.0, seed: int = 0) -> None:
        self.y, self.wrong, self.seed = y, wrong, seed

    def same(self, i: int, j: int) -> bool:
        """Tell whether two points are said to be of one class."""
        low, high = sorted((int(i), int(j)))
        if low < 0 or high >= len(self.y):
            raise ValueError(f"points {i} and {j} are not both in the pool")
        right = bool(self.y[low] == self.y[high])
        if not self.wrong:
            return right
        chance = np.random.default_rng([self.seed, low, high]).random()
        return right != (chance < self.wrong)

    def answer(self, i: int, j: int) -> int:
        """Return +1 for the same class, -1 for different ones."""
        return 1 if self.same(i, j) else -1


@dataclass
class Task:
    """Points, an oracle that counts, and the groups found so far."""

    X: np.ndarray  # the pool, then the other points
    y: np.ndarray  # labels of the pool
    n_classes: int
    budgets: list[int]
    seed: int
    option: str  # which method of a tool that has several
    oracle: Oracle
    asked: int = 0
    labels: dict[int, list[int]] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)
    begin: float = field(default_factory=time.process_time)

    @property
    def pool(self) -> np.ndarray:
        """The points that may be asked about."""
        return self.X[: len(self.y)]

    def same(self, i: int, j: int) -> bool:
        """Answer a question within the largest budget."""
        if self.asked >= self.budgets[-1]:
            raise Spent
        self.asked += 1
        return self.oracle.same(i, j)

    def found(self, budget: int, labels: np.ndarray) -> None:
        """Keep the groups of all points at a budget."""
        if len(labels) != len(self.X):
            raise ValueError(f"{len(labels)} groups for {len(self.X)} points")
        self.labels[budget] = np.asarray(labels).tolist()
        self.seconds[budget] = time.process_time() - self.begin


def run(method: Run) -> None:
    """Read the task, run the method, and write what it found."""
    source, target = sys.argv[1:]
    with np.load(source) as file:
        y, seed = file["y"], int(file["seed"])
        task = Task(
            X=file["X"],
            y=y,
            n_classes=int(file["n_classes"]),
            budgets=sorted(file["budgets"].tolist()),
            seed=seed,
            option=str(file["option"]),
            oracle=Oracle(y, float(file["wrong"]), seed),
        )
    np.random.seed(seed)  # noqa: NPY002 - the rivals draw from the global generator
    method(task)
    outcome = {"labels": task.labels, "seconds": task.seconds}
    Path(target).write_text(json.dumps(outcome))
