"""The table of methods: rates that are proven, and rates that we measure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.reproduce.rates import SIZES
from pairlearn.reproduce.report.blocks import Cell, Picture, Table, Text
from pairlearn.reproduce.report.figures import colour_of, new_figure
from pairlearn.reproduce.report.paper import RATES, section
from pairlearn.reproduce.report.progress import NO_FAILURES, Claim, number_of
from pairlearn.reproduce.report.statistics import NOISE, estimate, log_log_slope
from pairlearn.reproduce.report.words import say

if TYPE_CHECKING:
    import pandas as pd

    from pairlearn.reproduce.report.blocks import Check, Section
    from pairlearn.reproduce.report.progress import Failed
    from pairlearn.reproduce.report.statistics import Estimate

__all__ = ["build"]

NAME = "table-methods"
N_TRIALS = 20
FEWEST_SEEDS = 5


@dataclass(frozen=True)
class Measured:
    """How a method's excess error falls with the number of pairs."""

    excess: dict[int, Estimate]  # by the number of pairs
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
    return section(
        NAME,
        Text(say(NAME, "intro")),
        _table(measured, failed),
        _picture(measured) if measured else None,
        _check(measured, failed),
    )


def _measure(frame: pd.DataFrame, method: str) -> Measured | None:
    here = frame[frame["method"] == method]
    if not len(here):
        return None
    table = here.pivot_table(index="seed", columns="m", values="excess")
    whole = table.dropna().to_numpy(float)
    excess = {int(m): estimate(table[m].dropna()) for m in table.columns}
    slope, error = log_log_slope(whole, np.array(list(excess), dtype=float))
    return Measured(excess, slope, error, len(whole))


def _table(measured: dict[str, Measured], failed: Failed) -> Table:
    rows = []
    for name, rate in RATES.items():
        found = measured.get(name)
        n = min((value.n for value in found.excess.values()), default=0) if found else 0
        n_failed = sum(len(seeds) for key, seeds in failed.items() if key[2] == name)
        note = f"{n} seeds" + (f", {n_failed} failed" if n_failed else "")
        slope = Cell(str(found or "–"), note=note)
        before = [f"**{name}**", rate.at_half, rate.first, rate.second]
        rows.append([*map(Cell, before), slope, Cell(rate.comment)])
    return Table(
        head=["method", "valid at prior 1/2", "step 1", "step 2", "measured slope",
              "comment"],
        rows=rows,
        words=True,
        caption=say(NAME, "table"),
    )  # fmt: skip


def _picture(measured: dict[str, Measured]) -> Picture:
    trials = number_of(
        e.n for found in measured.values() for e in found.excess.values()
    )
    return Picture(
        "methods",
        lambda: _draw(measured),
        caption=say(NAME, "caption", trials=trials),
        alt="Excess clustering error of five methods against pairs, log-log",
    )


def _draw(measured: dict[str, Measured]) -> Any:
    figure = new_figure(6.4, 4.0)
    axes = figure.subplots()
    for name, found in measured.items():
        shown = [(m, e) for m, e in found.excess.items() if e.mean > 0]
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
    proven = {n: float(rate.exponent) for n, rate in RATES.items() if rate.exponent}
    rates = ", ".join(f"{name} {exponent:g}" for name, exponent in proven.items())
    claim = Claim(
        NAME, "as_proven", len(proven), N_TRIALS,
        proven=rates, noise=NOISE, fewest=FEWEST_SEEDS,
    )  # fmt: skip
    known = {
        name: measured[name]
        for name in proven
        if name in measured
        and measured[name].n_seeds >= FEWEST_SEEDS
        and not math.isnan(measured[name].error)
    }
    if check := claim.undecided(len(known), started=bool(measured)):
        return check
    slow = [
        name
        for name, found in known.items()
        if found.slope > proven[name] + NOISE * found.error
    ]
    number = f"{len(known) - len(slow)} of {len(known)} methods: " + "; ".join(
        f"{name} {found}" for name, found in known.items()
    )
    cells = [
        cell for name in proven for cell in _cells(measured.get(name), name, failed)
    ]
    run = [cell for cell in cells if cell.n_ended]
    # What may be missing are sizes, not whole methods.
    claim.n_all, claim.cases = len(cells), "cells (method and m)"
    return claim.check(
        number,
        [f"{name}: {known[name]}, proven {proven[name]:g}" for name in slow],
        refuted=len(slow) >= len(known) / 2,
        n_run=len(run),
        means=run,
        n_failed=0,
    )


def _cells(found: Measured | None, name: str, failed: Failed) -> list[Estimate]:
    """Return the means of the planned sizes, with what failed."""
    values = found.excess if found else {}
    lost = {m: seeds for (_, m, method), seeds in failed.items() if method == name}
    return [
        replace(values.get(m, estimate([])), failed=tuple(lost.get(m, ())))
        for m in SIZES
    ]
