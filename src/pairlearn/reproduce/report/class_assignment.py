"""The figure of class assignment: simulation, exact probability and bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
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
from pairlearn.reproduce.report.blocks import (
    Block,
    Cell,
    Check,
    Picture,
    Section,
    Table,
    Text,
)
from pairlearn.reproduce.report.figures import INK, new_figure
from pairlearn.reproduce.report.paper import EXPERIMENTS
from pairlearn.reproduce.report.progress import enough, number_of, unknown

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["build"]

NAME = "fig-assignment"
N_CELLS = len(PRIORS) * len(THRESHOLDS) * len(SIZES)
N_TRIALS = 10_000
FEWEST_TRIALS = 100
LIMIT = 3.0
CHANCE = 0.0027  # that of a normal variable beyond three standard deviations
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


def build(frame: pd.DataFrame) -> Section:
    """Return the section of class assignment."""
    points = _points(frame)
    blocks: list[Block] = [
        Text(
            "Points of class +1 are drawn from N(1, 1), those of class −1 from "
            "N(−1, 2²). A fixed classifier says +1 above a threshold; m pairs with "
            "their answers, and the majority class, are to tell whether it or its "
            "opposite is right. How often that goes wrong is counted in "
            f"{_simulations(points)} a cell, and known exactly: a pair votes for, "
            "against or not at all."
        )
    ]
    if points:
        blocks.append(_picture(points))
    blocks += [_bound_check(points), _exact_check(points), _table(points)]
    return Section(NAME, EXPERIMENTS[NAME].title, blocks)


def _points(frame: pd.DataFrame) -> list[Point]:
    if not len(frame):
        return []
    sums = frame.groupby(["prior", "threshold", "m"])[["wrong", "repeats"]].sum()
    return [
        Point(float(prior), float(threshold), int(m), int(wrong), int(n))
        for (prior, threshold, m), wrong, n in zip(
            sums.index, sums["wrong"], sums["repeats"], strict=True
        )
    ]


def _simulations(points: list[Point]) -> str:
    counts = [point.n for point in points] or [N_TRIALS]
    return number_of(counts, "simulations")


def _picture(points: list[Point]) -> Picture:
    return Picture(
        "assignment",
        lambda: _draw(points),
        caption=(
            "Top: error of each threshold; at 1/2 (dotted) both signs are equally "
            "good. Middle: probability of a wrong class assignment, simulated "
            "(dots with one standard error) and exact (lines). Bottom: the same "
            "dots below the bound of Lemma 3 (dashed). Open triangles at the foot: "
            "not wrong once in the simulation."
        ),
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
            for axes in (middle, lower):
                _simulated(axes, here, colour, floor)
            exact = [exact_failure(prior, float(x), m) for x in line]
            middle.plot(
                line, np.clip(exact, floor / 10, 1), color=colour, linewidth=1.3,
                label=f"m = {m}",
            )  # fmt: skip
            limit = [bound(prior, float(x), m) for x in line]
            lower.plot(
                line, np.clip(limit, floor / 10, 1), color=colour, linewidth=1.3,
                linestyle="--",
            )  # fmt: skip
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


_FEW = f"Cells with fewer than {FEWEST_TRIALS} simulations are not tested."


def _tested(points: list[Point]) -> list[Point]:
    return [point for point in points if point.n >= FEWEST_TRIALS]


def _unknown(claim: str, tested: str, points: list[Point]) -> Check:
    return unknown(
        claim,
        tested,
        f"of {N_CELLS} cells",
        started=bool(points),
        n_known=len(_tested(points)),
        needs=f"the {FEWEST_TRIALS} simulations",
    )


def _missing(points: list[Point]) -> str:
    n_full = sum(point.n >= N_TRIALS for point in points)
    if n_full >= N_CELLS:
        return ""
    least = min((point.n for point in points), default=0)
    return (
        f"{len(points)} of {N_CELLS} cells have been run, {n_full} of them with "
        f"{N_TRIALS:,} simulations; the fewest are {least:,}"
    )


def _bound_check(points: list[Point]) -> Check:
    claim = "No simulated error exceeds Lemma 3's bound"
    tested = (
        f"In none of the {N_CELLS} cells ({len(PRIORS)} priors, {len(THRESHOLDS)} "
        f"thresholds, {len(SIZES)} sizes) are there so many wrong assignments that, "
        "were the bound their probability, as many or more would have a chance below "
        f"{100 * CHANCE / 2:.3g} %: a one-sided exact binomial test at the level of "
        f"{LIMIT:.0f} standard errors. {_FEW}"
    )
    known = _tested(points)
    if not enough(len(known), N_CELLS):
        return _unknown(claim, tested, points)
    above = [p for p in known if p.chance_above_bound < CHANCE / 2]
    return Check(
        claim,
        tested,
        "does not hold" if above else "holds",
        f"{len(above)} of {len(known)} cells above",
        [
            f"{p}: {p.wrong:,} of {p.n:,}, bound {p.bound:.4g}; binomial test p = "
            f"{p.chance_above_bound:.2g}"
            for p in above
        ],
        _missing(points),
    )


def _exact_check(points: list[Point]) -> Check:
    claim = "The simulated error agrees with the exact probability"
    tested = (
        f"In each of the {N_CELLS} cells the rate lies within {LIMIT:.0f} standard "
        "errors sqrt(p (1 − p) / n) of the exact probability p; cells beyond are "
        "exceptions. It does not hold if in any cell the exact two-sided binomial "
        f"test gives a chance below {CHANCE} / {N_CELLS} = {CHANCE / N_CELLS:.2g}. "
        + _FEW
    )
    known = _tested(points)
    if not enough(len(known), N_CELLS):
        return _unknown(claim, tested, points)
    refuted = [p for p in known if p.chance < CHANCE / N_CELLS]
    beyond = [p for p in known if p in refuted or _is_beyond(p)]
    number = f"{len(known) - len(beyond)} of {len(known)} cells agree"
    if beyond:
        number += (
            f"; the binomial test refutes {len(refuted)} of the {len(beyond)} others"
        )
    return Check(
        claim,
        tested,
        "holds"
        if not beyond
        else "does not hold"
        if refuted
        else "holds with exceptions",
        number,
        [
            f"{p}: {p.wrong:,} of {p.n:,}, exactly {p.exact:.3g}; binomial test p = "
            f"{p.chance:.2g}"
            for p in beyond
        ],
        _missing(points),
    )


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
    rows = []
    for prior in PRIORS:
        for threshold in THRESHOLDS:
            row = [
                Cell(f"**{prior}**"),
                Cell(f"{threshold}"),
                Cell(f"{threshold_error(prior, threshold):.3f}"),
            ]
            for m in SIZES:
                point = known.get((prior, threshold, m))
                n = point.n if point else 0
                row.append(
                    Cell(
                        _shown(point.rate) if point else "–",
                        paper=f"{_shown(exact_failure(prior, threshold, m))}, ≤ "
                        f"{_shown(bound(prior, threshold, m))}",
                        note="" if n >= N_TRIALS else f"{n}/{N_TRIALS}",
                    )
                )
            rows.append(row)
    return Table(
        head=["prior", "threshold", "error", *(f"m = {m}" for m in SIZES)],
        rows=rows,
        labels=2,
        caption="Probability of a wrong class assignment. Simulated, then "
        "exact, then Lemma 3's bound.",
    )
