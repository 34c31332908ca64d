"""The trials by cell, and how two cells are compared."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.report import RESULTS
from pairlearn.reproduce.report.statistics import Estimate, estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.accuracy.record import Key, Results

PATH = RESULTS / "ask.jsonl"
TRIALS = 10

Cell = tuple[str, str, int]  # method, data set, budget


class Cells:
    """All trials.

    Parameters
    ----------
    trials : dict
        Those of the record.
    """

    def __init__(self, trials: dict[Key, Results]) -> None:
        self._rows: dict[Cell, dict[int, Results]] = {}
        for key, row in trials.items():
            if key.seed < TRIALS:
                cell = key.method, key.dataset, key.m
                self._rows.setdefault(cell, {})[key.seed] = row

    def values(self, cell: Cell, name: str) -> dict[int, float]:
        """Return a result by seed; errors in per cent, and accuracy for an error."""
        rows = self._rows.get(cell, {})
        if name == "accuracy":
            return {seed: 1 - row["error"] for seed, row in rows.items()}
        factor = 100 if name == "error" else 1
        return {seed: factor * row[name] for seed, row in rows.items()}

    def mean(self, cell: Cell, name: str = "error") -> Estimate:
        """Return the mean over the trials of a cell."""
        return estimate(self.values(cell, name).values())

    def over(self, method: str, names: Sequence[str], m: int, what: str) -> Estimate:
        """Return the mean over data sets, with the error of the seeds that have all."""
        every = [self.values((method, name, m), what) for name in names]
        seeds = set.intersection(*(set(found) for found in every))
        return estimate(np.mean([found[seed] for found in every]) for seed in seeds)

    def difference(self, one: Cell, other: Cell, name: str = "error") -> Estimate:
        """Return the first minus the second, over the seeds that both have."""
        a, b = self.values(one, name), self.values(other, name)
        return estimate(a[seed] - b[seed] for seed in sorted(set(a) & set(b)))

    def worth(self, mean: float, method: str, names: Sequence[str]) -> float | None:
        """Return with how many answers a method has this mean error over data sets.

        Between two budgets, the logarithm of their number falls with the error along a
        straight line; None if the error is not between those of two budgets.
        """
        budgets = sorted({m for who, name, m in self._rows if who == method})
        curve = [
            (m, float(np.mean([self.mean((method, name, m)).mean for name in names])))
            for m in budgets
            if all((method, name, m) in self._rows for name in names)
        ]
        for (fewer, high), (more, low) in pairwise(curve):
            if low <= mean <= high and low < high:
                return float(fewer * (more / fewer) ** ((high - mean) / (high - low)))
        return None
