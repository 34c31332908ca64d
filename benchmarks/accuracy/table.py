"""The tables: every cell beside the paper's, the counts, and every miss by name."""

from __future__ import annotations

from itertools import product
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.accuracy.picture import draw
from benchmarks.accuracy.record import Key
from benchmarks.accuracy.trials import BINS, CIPS, FOLDS, KERNEL, LINEAR, METHODS, OURS
from benchmarks.report import machine, publish, table
from pairlearn.reproduce.report.paper import METHODS as PRINTED
from pairlearn.reproduce.report.paper import TABULAR_SIZES, tabular
from pairlearn.reproduce.report.statistics import Estimate, estimate
from pairlearn.reproduce.tabular import DATASETS

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.accuracy.record import Results

    Trials = dict[Key, Results]
    Cell = tuple[str, int]

SEEDS = range(20)
REPEATS = range(3)
CELLS = list(product(DATASETS, TABULAR_SIZES))
TOP = max(TABULAR_SIZES)
SECONDS = {100: 3.0, 1000: 6.0}  # the most that a fit may take
CALIBRATION = 0.05  # the most that the average calibration error may be

ABOUT = f"""\
Clustering error in percent on 1,000 test points, mean (standard error) over
{len(SEEDS)} samples, for the {len(CELLS)} cells of the table of Bao et al. (AISTATS
2022). All methods run here see the same samples: m pairs of 2m points. {OURS} and CIPS
see the answers alone; {LINEAR} and {KERNEL} see the true labels of the 2m points and
choose their settings by {FOLDS}-fold cross-validation (fewer folds where a class has
fewer points). "Best printed" is the lowest
number that the paper prints for a method without labels ({", ".join(PRINTED[:-1])}); SV
is its supervised linear model."""

RULE = f"""\
A cell counts as reached if the mean of {OURS} is at or below the other number. The
paper prints one decimal; our mean is compared before rounding, which is strict: 21.94
does not reach 21.9. Cells with trials missing are not counted."""

TIME = f"""\
Wall-clock seconds of one fit with `n_jobs=2`, nothing else running: median of
{len(REPEATS)} fits, each on another sample (the longest of them). The fits follow one
another in one process: what only its first fit pays (imports, the start of workers) is
not in the median."""

RELIABILITY = f"""\
Expected calibration error of `predict_proba`: ten equal bins of P(+1), the difference
of the mean prediction and the share of +1 in a bin, weighted by its share of the 1,000
test points; mean (standard error) over {len(SEEDS)} samples. The two classes are named
as for the clustering error. A bin of few points adds noise, so even true probabilities
do not reach zero."""

DIAGRAM = f"""\
All samples at m = {TOP:,} together, a dot a bin, the larger the more points it has; on
the dashed line the probabilities are true."""


def values(trials: Trials, method: str, cell: Cell, name: str) -> list[Any]:
    """Return one result of all trials of a cell that are there, by seed."""
    keys = [Key("trial", method, *cell, seed) for seed in SEEDS]
    return [trials[key][name] for key in keys if key in trials]


def error(trials: Trials, method: str, cell: Cell) -> Estimate:
    """Return the clustering error in percent."""
    return estimate(100 * np.array(values(trials, method, cell, "error")))


def full(found: Estimate) -> bool:
    """Tell whether all trials of a cell are there."""
    return found.n == len(SEEDS)


def shown(found: Estimate, text: str | None = None) -> str:
    """Return a mean as text, and how many trials it has if some are missing."""
    missing = "" if full(found) or not found.n else f" [{found.n} of {len(SEEDS)}]"
    return (text or str(found)) + missing


def printed(cell: Cell, method: str) -> float:
    """Return the paper's number."""
    return tabular()[*cell, method].value.mean


def best_printed(cell: Cell) -> tuple[float, str]:
    """Return the paper's lowest number without labels, and whose it is."""
    numbers = {method: printed(cell, method) for method in PRINTED if method != "SV"}
    least = min(numbers.values())
    return least, " and ".join(m for m, number in numbers.items() if number == least)


def named(cell: Cell) -> str:
    """Return the name of a cell."""
    return f"{cell[0]} {cell[1]}"


def main_table(trials: Trials) -> str:
    """Return all cells, ours beside the printed ones."""
    header = ["data set", "m", "best printed", "printed SV", *METHODS]
    rows = []
    for cell in CELLS:
        number, who = best_printed(cell)
        ours = [shown(error(trials, method, cell)) for method in METHODS]
        row = [cell[0], str(cell[1]), f"{number:.1f} {who}", f"{printed(cell, 'SV')}"]
        rows.append(row + ours)
    return table(header, rows)


def verdict(
    what: str,
    reached: int,
    missed: list[str],
    unit: str = "cells",
    total: int = len(CELLS),
) -> str:
    """Return a count of the cells that have all trials, and every miss."""
    n = reached + len(missed)
    if not n:
        return f"- {what}: not run yet."
    note = "" if n == total else f" with all trials, of {total}"
    misses = f" Missed: {'; '.join(missed)}." if missed else ""
    return f"- {what}: {reached} of {n} {unit}{note}.{misses}"


def against(trials: Trials, what: str, other: Callable[[Cell], float | None]) -> str:
    """Count the cells in which our mean is at or below another number."""
    reached, missed = 0, []
    for cell in CELLS:
        ours, number = error(trials, OURS, cell), other(cell)
        if number is None or not full(ours):
            continue
        # The sums of a mean may leave 21.900000000000002.
        if ours.mean <= number + 1e-9:
            reached += 1
        else:
            missed.append(f"{named(cell)} ({ours.mean:.2f} against {number:.2f})")
    return verdict(what, reached, missed)


def mean_of(trials: Trials, method: str) -> Callable[[Cell], float | None]:
    """Return a method's mean by cell; none where trials are missing."""

    def number(cell: Cell) -> float | None:
        found = error(trials, method, cell)
        return found.mean if full(found) else None

    return number


def never_hurts(trials: Trials) -> str:
    """Count the cells in which we are not worse than CIPS by a standard error."""
    reached, missed = 0, []
    for cell in CELLS:
        ours, cips = (values(trials, method, cell, "error") for method in (OURS, CIPS))
        if not len(ours) == len(cips) == len(SEEDS):
            continue
        worse = estimate(100 * (np.array(ours) - np.array(cips)))
        if worse.mean <= worse.error:
            reached += 1
        else:
            missed.append(
                f"{named(cell)} (by {worse.mean:.2f}, standard error {worse.error:.2f})"
            )
    what = (
        "never hurts: above plain CIPS by at most one standard error of the paired "
        "difference"
    )
    return verdict(what, reached, missed)


def counts(trials: Trials) -> str:
    """Return all comparisons of errors."""
    lines = [
        against(trials, "at or below the best printed without labels",
                lambda cell: best_printed(cell)[0]),
        against(trials, "at or below the printed SV", lambda cell: printed(cell, "SV")),
    ]  # fmt: skip
    for method in (LINEAR, KERNEL):
        what = f"at or below {method} on the same samples"
        lines.append(against(trials, what, mean_of(trials, method)))
    return "\n".join([*lines, never_hurts(trials)])


def by_size(text: Callable[[Cell], str]) -> str:
    """Lay out one text a cell, data sets down and numbers of pairs across."""
    rows = [[name, *(text((name, m)) for m in TABULAR_SIZES)] for name in DATASETS]
    return table(["data set", *(f"m = {m}" for m in TABULAR_SIZES)], rows)


def times(trials: Trials) -> str:
    """Return the seconds of a fit, and where they are over the limit."""
    found = {}
    for cell in CELLS:
        keys = [Key("time", OURS, *cell, repeat) for repeat in REPEATS]
        found[cell] = [trials[key]["seconds"] for key in keys if key in trials]

    def text(cell: Cell) -> str:
        seconds = found[cell]
        if not seconds:
            return "–"
        missing = len(seconds) < len(REPEATS)
        note = f" [{len(seconds)} of {len(REPEATS)}]" if missing else ""
        return f"{median(seconds):.2f} ({max(seconds):.2f}){note}"

    lines = []
    for m, limit in SECONDS.items():
        known = {
            cell: median(seconds)
            for cell, seconds in found.items()
            if cell[1] == m and len(seconds) == len(REPEATS)
        }
        missed = [f"{named(c)} ({s:.2f} s)" for c, s in known.items() if s > limit]
        what = f"at most {limit:g} s at m = {m}"
        reached = len(known) - len(missed)
        lines.append(verdict(what, reached, missed, "data sets", len(DATASETS)))
    return by_size(text) + "\n\n" + "\n".join(lines)


def calibration(trials: Trials) -> str:
    """Return the calibration errors, and their average at the largest m."""
    found = {cell: estimate(values(trials, OURS, cell, "ece")) for cell in CELLS}

    def text(cell: Cell) -> str:
        ece = found[cell]
        return shown(ece, f"{ece.mean:.3f} ({ece.error:.3f})" if ece.n else "–")

    top = {name: found[name, TOP].mean for name in DATASETS if full(found[name, TOP])}
    if not top:
        return by_size(text) + f"\n\nNo data set is complete at m = {TOP} yet."
    average = float(np.mean(list(top.values())))
    outcome = "reached" if average <= CALIBRATION else "MISSED"
    above = [f"{name} ({ece:.3f})" for name, ece in top.items() if ece > CALIBRATION]
    said = (
        f"- average at m = {TOP} over {len(top)} of {len(DATASETS)} data sets: "
        f"{average:.3f}; to be at most {CALIBRATION}: {outcome}.\n"
        f"- single data sets above {CALIBRATION} at m = {TOP}: "
        f"{', '.join(above) or 'none'}."
    )
    return by_size(text) + f"\n\n{said}"


def present(trials: Trials) -> str:
    """Say how many trials there are."""
    asked = len(CELLS) * len(SEEDS)
    parts = []
    for method in METHODS:
        n = sum(error(trials, method, cell).n for cell in CELLS)
        complete = sum(full(error(trials, method, cell)) for cell in CELLS)
        parts.append(f"{method} {n:,} of {asked:,} ({complete} of {len(CELLS)} cells)")
    return "Trials: " + "; ".join(parts) + "."


def write(trials: Trials) -> None:
    """Write the tables and the picture."""
    parts = [
        machine("numpy", "scipy", "scikit-learn"),
        *(ABOUT.replace("\n", " "), present(trials), main_table(trials)),
        *("## Counts", RULE.replace("\n", " "), counts(trials)),
        *("## Time", TIME.replace("\n", " "), times(trials)),
        *("## Calibration", RELIABILITY.replace("\n", " "), calibration(trials)),
    ]
    diagrams = {name: bins(trials, name) for name in DATASETS}
    if any(found.any() for found in diagrams.values()):
        draw(diagrams, TOP)
        picture = "![reliability diagrams](reliability.png)"
        parts += [picture, DIAGRAM.replace("\n", " ")]
    publish("accuracy", "PairClassifier on the paper's ten tables", parts)


def bins(trials: Trials, dataset: str) -> np.ndarray:
    """Return count, sum of P(+1) and number of +1 in each bin, over all trials."""
    names = ("counts", "expected", "observed")
    none = [[0] * BINS]
    found = [values(trials, OURS, (dataset, TOP), name) or none for name in names]
    return np.array([np.sum(lists, axis=0) for lists in found])
