"""The figure of class assignment: simulation, exact probability and bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.reproduce.assignment import (
    PRIORS,
    SIZES,
    THRESHOLDS,
    bound,
    exact_failure,
    threshold_error,
)
from pairlearn.reproduce.report.blocks import Cell, Picture, Table, Text
from pairlearn.reproduce.report.figures import INK, new_figure
from pairlearn.reproduce.report.paper import section
from pairlearn.reproduce.report.progress import NO_FAILURES, Claim, number_of
from pairlearn.reproduce.report.words import say

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from pairlearn.reproduce.report.blocks import Check, Section
    from pairlearn.reproduce.report.progress import Failed

__all__ = ["build"]

NAME = "fig-assignment"
N_CELLS = len(PRIORS) * len(THRESHOLDS) * len(SIZES)
N_TRIALS = 10_000
FEWEST_TRIALS = 100
LIMIT = 3.0
CHANCE = 0.0027  # that of a normal variable beyond three standard deviations
# What the claims fill in.
WORDS: dict[str, Any] = {
    "n_priors": len(PRIORS), "n_thresholds": len(THRESHOLDS), "n_sizes": len(SIZES),
    "limit": LIMIT, "fewest": FEWEST_TRIALS, "percent": 100 * CHANCE / 2,
    "chance": CHANCE, "level": CHANCE / N_CELLS,
}  # fmt: skip
# From few pairs to many; each legible on light and on dark.
_COLOURS = ("#9a5fb5", "#3b7dc4", "#21918c", "#5aa832", "#c99a00")


@dataclass(frozen=True)
class Point:
    """One cell of the simulation beside what theory says."""

    prior: float
    threshold: float
    m: int
    wrong: int
    n: int

    @property
    def rate(self) -> float:
        """Share of wrong assignments."""
        return self.wrong / self.n

    @property
    def error(self) -> float:
        """Standard error of the rate."""
        return math.sqrt(self.rate * (1 - self.rate) / self.n)

    @property
    def exact(self) -> float:
        """Probability of a wrong assignment."""
        return min(1.0, max(0.0, exact_failure(self.prior, self.threshold, self.m)))

    @property
    def bound(self) -> float:
        """Lemma 3's bound on it."""
        return min(1.0, bound(self.prior, self.threshold, self.m))

    @property
    def chance_above_bound(self) -> float:
        """Chance of so many wrong assignments or more, were the bound the truth."""
        from scipy.stats import binom

        return float(binom.sf(self.wrong - 1, self.n, self.bound))

    @property
    def chance(self) -> float:
        """Two-sided binomial test of the exact probability."""
        from scipy.stats import binomtest

        return float(binomtest(self.wrong, self.n, self.exact).pvalue)

    def __str__(self) -> str:
        return f"prior {self.prior:g}, threshold {self.threshold:g}, m = {self.m}"


def build(frame: pd.DataFrame, _: Failed = NO_FAILURES) -> Section:
    """Return the section of class assignment."""
    points = _points(frame)
    counts = [point.n for point in points] or [N_TRIALS]
    return section(
        NAME,
        Text(say(NAME, "intro", simulations=number_of(counts, "simulations"))),
        _picture(points) if points else None,
        _check("bound", points, _above_bound),
        _check("exact", points, _not_exact),
        _table(points),
    )


def _points(frame: pd.DataFrame) -> list[Point]:
    if not len(frame):
        return []
    sums = frame.groupby(["prior", "threshold", "m"])[["wrong", "repeats"]].sum()
    return [
        Point(float(prior), float(threshold), int(m), int(wrong), int(n))
        for (prior, threshold, m), wrong, n in sums.itertuples(name=None)
    ]


def _picture(points: list[Point]) -> Picture:
    return Picture(
        "assignment",
        lambda: _draw(points),
        caption=say(NAME, "caption"),
        alt="Error of thresholds, and probability of a wrong class assignment",
    )


def _draw(points: list[Point]) -> Any:
    line = np.linspace(THRESHOLDS[0], THRESHOLDS[-1], 61)
    floor = 0.5 / max(point.n for point in points)
    figure = new_figure(10.4, 8.2)
    rows = figure.subplots(3, 3, sharex=True, sharey="row", height_ratios=[0.7, 1, 1])
    for column, prior in enumerate(PRIORS):
        upper, middle, lower = rows[:, column]
        error = [threshold_error(prior, threshold) for threshold in line]
        upper.plot(line, error, color=INK)
        upper.axhline(0.5, color=INK, linewidth=0.8, linestyle=":")
        upper.set_title(f"prior {prior}")
        upper.set_ylim(0, 1)
        for m, colour in zip(SIZES, _COLOURS, strict=True):
            here = [p for p in points if (p.prior, p.m) == (prior, m)]
            laws: dict[str, tuple[Any, Callable[[float, float, int], float]]]
            laws = {"-": (middle, exact_failure), "--": (lower, bound)}
            for style, (axes, law) in laws.items():
                _simulated(axes, here, colour, floor)
                values = np.clip([law(prior, float(x), m) for x in line], floor / 10, 1)
                look = {"color": colour, "linewidth": 1.3, "linestyle": style}
                axes.plot(line, values, label=f"m = {m}", **look)
        for axes in (middle, lower):
            axes.set_yscale("log")
            axes.set_ylim(floor, 1.5)
        lower.set_xlabel("threshold")
        lower.set_xticks(THRESHOLDS)
    rows[0, 0].set_ylabel("error of the classifier")
    rows[1, 0].set_ylabel("P(wrong), lines: exact")
    rows[2, 0].set_ylabel("P(wrong), dashed: Lemma 3")
    handles, labels = rows[1, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    return figure


def _simulated(axes: Any, points: list[Point], colour: str, floor: float) -> None:
    seen = [p for p in points if p.wrong]
    never = [p.threshold for p in points if not p.wrong]
    axes.errorbar(
        [p.threshold for p in seen], [p.rate for p in seen], [p.error for p in seen],
        color=colour, linestyle="none", marker="o", markersize=4, elinewidth=1,
    )  # fmt: skip
    axes.plot(
        never, [1.25 * floor] * len(never), color=colour, linestyle="none",
        marker="v", markersize=5, markerfacecolor="none",
    )  # fmt: skip


# The outcome in numbers, every exception, and whether the claim is refuted.
Outcome = tuple[str, list[str], bool]


def _check(
    key: str, points: list[Point], judge: Callable[[list[Point]], Outcome]
) -> Check:
    claim = Claim(NAME, key, N_CELLS, **WORDS)
    known = [point for point in points if point.n >= FEWEST_TRIALS]
    if check := claim.undecided(len(known), started=bool(points)):
        return check
    number, exceptions, refuted = judge(known)
    return claim.check(
        number, exceptions, refuted=refuted, n_run=N_CELLS, missing=_missing(points)
    )


def _missing(points: list[Point]) -> list[str]:
    n_full = sum(point.n >= N_TRIALS for point in points)
    if n_full >= N_CELLS:
        return []
    counts = {"n_run": len(points), "n_all": N_CELLS, "n_full": n_full}
    least = min((point.n for point in points), default=0)
    return [say(NAME, "missing", **counts, n_trials=N_TRIALS, least=least)]


def _above_bound(points: list[Point]) -> Outcome:
    above = [p for p in points if p.chance_above_bound < CHANCE / 2]
    exceptions = [
        f"{p}: {p.wrong:,} of {p.n:,}, bound {p.bound:.4g}; binomial test p = "
        f"{p.chance_above_bound:.2g}"
        for p in above
    ]
    return f"{len(above)} of {len(points)} cells above", exceptions, bool(above)


def _not_exact(points: list[Point]) -> Outcome:
    refuted = [p for p in points if p.chance < CHANCE / N_CELLS]
    beyond = [p for p in points if p in refuted or _is_beyond(p)]
    number = f"{len(points) - len(beyond)} of {len(points)} cells agree"
    if beyond:
        rest = f"{len(refuted)} of the {len(beyond)} others"
        number += f"; the binomial test refutes {rest}"
    exceptions = [
        f"{p}: {p.wrong:,} of {p.n:,}, exactly {p.exact:.3g}; binomial test p = "
        f"{p.chance:.2g}"
        for p in beyond
    ]
    return number, exceptions, bool(refuted)


def _is_beyond(point: Point) -> bool:
    p = point.exact
    error = math.sqrt(p * (1 - p) / point.n)
    # Rounding of a probability of nearly 0 or 1 must not count.
    return abs(point.rate - p) > LIMIT * error + 1e-9


def _shown(probability: float) -> str:
    if probability <= 0:
        return "0"
    return f"{probability:.4f}" if probability >= 5e-5 else f"{probability:.0e}"


def _table(points: list[Point]) -> Table:
    known = {(p.prior, p.threshold, p.m): p for p in points}

    def cell(prior: float, threshold: float, m: int) -> Cell:
        point = known.get((prior, threshold, m))
        n = point.n if point else 0
        exact, limit = (f(prior, threshold, m) for f in (exact_failure, bound))
        return Cell(
            _shown(point.rate) if point else "–",
            paper=f"{_shown(exact)}, ≤ {_shown(limit)}",
            note="" if n >= N_TRIALS else f"{n}/{N_TRIALS}",
        )

    rows = [
        [
            Cell(f"**{prior}**"),
            Cell(f"{threshold}"),
            Cell(f"{threshold_error(prior, threshold):.3f}"),
            *(cell(prior, threshold, m) for m in SIZES),
        ]
        for prior, threshold in product(PRIORS, THRESHOLDS)
    ]
    return Table(
        head=["prior", "threshold", "error", *(f"m = {m}" for m in SIZES)],
        rows=rows,
        labels=2,
        caption=say(NAME, "table"),
    )
