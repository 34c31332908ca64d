"""The table of methods: rates that are proven, and rates that we measure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.reproduce.rates import SIZES
from pairlearn.reproduce.report.blocks import (
    Block,
    Cell,
    Check,
    Picture,
    Section,
    Table,
    Text,
)
from pairlearn.reproduce.report.figures import colour_of, new_figure
from pairlearn.reproduce.report.paper import EXPERIMENTS, RATES
from pairlearn.reproduce.report.progress import (
    NO_FAILURES,
    Failed,
    n_ended,
    number_of,
    so_far,
    unknown,
)
from pairlearn.reproduce.report.statistics import Estimate, estimate, log_log_slope

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["build"]

NAME = "table-methods"
N_TRIALS = 20
FEWEST_SEEDS = 5
NOISE = 2.0


@dataclass(frozen=True)
class Measured:
    """How a method's excess error falls with the number of pairs."""

    m: list[int]
    excess: list[Estimate]
    slope: float
    error: float
    n_seeds: int

    def __str__(self) -> str:
        if math.isnan(self.slope):
            return "–"
        error = "–" if math.isnan(self.error) else f"{self.error:.2f}"
        return f"{self.slope:.2f} ± {error}"


def build(frame: pd.DataFrame, failed: Failed = NO_FAILURES) -> Section:
    """Return the section of the methods."""
    measured = {name: found for name in RATES if (found := _measure(frame, name))}
    blocks: list[Block] = [
        Text(
            "What the paper's Table 1 states of each method, with a column of our own: "
            "the excess clustering error of a linear classifier over the best one on "
            "two Gaussians, computed exactly, and the slope of its logarithm against "
            "log m. Proven rates are upper bounds, so a steeper slope contradicts none."
        ),
        _table(measured, failed),
    ]
    if measured:
        blocks.append(_picture(measured))
    blocks.append(_check(measured, failed))
    return Section(NAME, EXPERIMENTS[NAME].title, blocks)


def _measure(frame: pd.DataFrame, method: str) -> Measured | None:
    here = frame[frame["method"] == method]
    if not len(here):
        return None
    table = here.pivot_table(index="seed", columns="m", values="excess")
    whole = table.dropna().to_numpy(float)
    m = [int(size) for size in table.columns]
    slope, error = log_log_slope(whole, np.array(m, dtype=float))
    excess = [estimate(table[size].dropna()) for size in table.columns]
    return Measured(m, excess, slope, error, len(whole))


def _table(measured: dict[str, Measured], failed: Failed) -> Table:
    rows = []
    for name, rate in RATES.items():
        found = measured.get(name)
        n = min((value.n for value in found.excess), default=0) if found else 0
        n_failed = sum(len(seeds) for key, seeds in failed.items() if key[2] == name)
        rows.append(
            [
                Cell(f"**{name}**"),
                Cell("yes" if rate.half else "no"),
                Cell(rate.first),
                Cell(rate.second),
                Cell(
                    str(found) if found else "–",
                    note=f"{n} seeds" + (f", {n_failed} failed" if n_failed else ""),
                ),
                Cell(rate.comment),
            ]
        )
    return Table(
        head=["method", "valid at prior 1/2", "step 1", "step 2", "measured slope",
              "comment"],
        rows=rows,
        words=True,
        caption=(
            "The paper's Table 1 in our words: how the error of each step falls with "
            "m. Measured slope: least squares of log mean excess on log m over all "
            "sizes, ± its standard error by bootstrap over the seeds."
        ),
    )  # fmt: skip


def _picture(measured: dict[str, Measured]) -> Picture:
    return Picture(
        "methods",
        lambda: _draw(measured),
        caption="Excess clustering error against the number of pairs, both on a "
        "logarithmic scale: mean, with one standard error, over "
        + number_of(e.n for found in measured.values() for e in found.excess)
        + ".",
        alt="Excess clustering error of five methods against pairs, log-log",
    )


def _draw(measured: dict[str, Measured]) -> Any:
    figure = new_figure(6.4, 4.0)
    axes = figure.subplots()
    for name, found in measured.items():
        shown = [
            (m, e) for m, e in zip(found.m, found.excess, strict=True) if e.mean > 0
        ]
        axes.errorbar(
            [m for m, _ in shown], [100 * e.mean for _, e in shown],
            [100 * e.error if e.tested else 0.0 for _, e in shown],
            color=colour_of(name), marker="o", elinewidth=1,
            label=f"{name}, slope {found}",
        )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", nonpositive="clip")
    axes.set_xlabel("pairs m")
    axes.set_ylabel("excess clustering error, points")
    figure.legend(loc="outside right upper")
    return figure


def _check(measured: dict[str, Measured], failed: Failed) -> Check:
    claim = "The excess error falls at least as fast as proven"
    proven = {
        name: rate.exponent for name, rate in RATES.items() if rate.exponent is not None
    }
    tested = (
        "For each method with a proven rate of step 1 ("
        + ", ".join(f"{name} {exponent:g}" for name, exponent in proven.items())
        + "), the measured slope is not above that exponent by more than "
        f"{NOISE:.0f} standard errors. If fewer than half of the methods that were run "
        "are, it holds with these exceptions. A method is tested from "
        f"{FEWEST_SEEDS} seeds on."
    )
    known = {
        name: found
        for name, found in measured.items()
        if name in proven
        and found.n_seeds >= FEWEST_SEEDS
        and not math.isnan(found.error)
    }
    if not known:
        return unknown(
            claim,
            tested,
            f"of {len(proven)} methods",
            started=bool(measured),
            needs=f"the {FEWEST_SEEDS} seeds",
        )
    slow = [
        name
        for name, found in known.items()
        if found.slope > proven[name] + NOISE * found.error
    ]
    number = f"{len(known) - len(slow)} of {len(known)} methods: " + "; ".join(
        f"{name} {found}" for name, found in known.items()
    )
    ended = [n for name in proven for n in _ended(measured.get(name), name, failed)]
    missing = so_far(
        sum(n > 0 for n in ended),
        len(ended),
        "cells (method and m)",
        filter(None, ended),
        N_TRIALS,
    )
    return Check(
        claim,
        tested,
        "holds"
        if not slow
        else "holds with exceptions"
        if len(slow) < len(known) / 2
        else "does not hold",
        number,
        [f"{name}: {known[name]}, proven {proven[name]:g}" for name in slow],
        missing,
    )


def _ended(found: Measured | None, name: str, failed: Failed) -> list[int]:
    """Return how many trials of each planned size have ended."""
    values = dict(zip(found.m, found.excess, strict=True)) if found else {}
    lost = {m: seeds for (_, m, method), seeds in failed.items() if method == name}
    return [n_ended(values.get(m, estimate([])), lost.get(m)) for m in SIZES]
