"""The table of ten data sets: cells, bold numbers, agreement and order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairlearn.reproduce.report.blocks import (
    Block,
    Cell,
    Check,
    Legend,
    Section,
    Table,
    Text,
)
from pairlearn.reproduce.report.order import NOISE, Key, Means, Trials, order_checks
from pairlearn.reproduce.report.paper import (
    EXPERIMENTS,
    METHODS,
    N_TRIALS,
    SOLVER,
    tabular,
)
from pairlearn.reproduce.report.progress import (
    NO_FAILURES,
    Failed,
    enough,
    n_ended,
    number_of,
    share_of,
    so_far,
    unknown,
    without_failures,
)
from pairlearn.reproduce.report.statistics import (
    Estimate,
    agreement,
    best_of,
    distance,
    estimate,
    paired_difference,
    spread,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["build", "paper_bold_rule"]

NAME = "table-tabular"
MAIN = ("CIPS", "MCL", "SV")
OTHERS = ("SD", "OVPC", "SSP", "CKM", "KM")
EXTRA = tuple(f"{name} {SOLVER}" for name in ("CIPS", "MCL", "SD", "SV"))
ENOUGH = 0.8


def build(frame: pd.DataFrame, failed: Failed = NO_FAILURES) -> Section:
    """Return the section of the tabular data sets."""
    trials = _trials(frame)
    means = {key: estimate(100 * group["error"]) for key, group in trials.items()}
    counts = [value.n for value in means.values()] or [N_TRIALS]
    blocks: list[Block] = [
        Text(
            "Linear classifiers from m pairs of random points, tested on 1000 others: "
            "clustering error in percent, mean (standard error) over "
            f"{number_of(counts)}. CIPS, MCL, SD and SV use the paper's stochastic "
            "gradient descent; the columns marked L-BFGS are the same four with our "
            "own solver, which the paper has not."
        )
    ]
    if means:
        blocks += [Legend(), _table(means, failed)]
    blocks += [
        _agreement_check(
            means, failed, MAIN, "CIPS, MCL and SV reach the printed errors"
        ),
        _agreement_check(
            means, failed, OTHERS, "The other methods reach the printed errors"
        ),
        *order_checks(trials, means, failed),
        Text(_bold_text(means)),
        *_solver_table(trials),
    ]
    return Section(NAME, EXPERIMENTS[NAME].title, blocks)


def _configurations() -> list[tuple[str, int]]:
    return list(dict.fromkeys((dataset, m) for dataset, m, _ in tabular()))


def _trials(frame: pd.DataFrame) -> Trials:
    groups = frame.groupby(["dataset", "m", "method"]) if len(frame) else []
    return {
        (str(dataset), int(m), str(method)): group
        for (dataset, m, method), group in groups
    }


def _get(means: Means, key: Key) -> Estimate:
    return means.get(key, estimate([]))


def _group(means: Means, dataset: str, m: int, methods: tuple[str, ...]) -> set[str]:
    return best_of({name: _get(means, (dataset, m, name)) for name in methods})


def _table(means: Means, failed: Failed) -> Table:
    paper = tabular()
    rows = []
    started = {(dataset, m) for dataset, m, _ in (*means, *failed)}
    shown = [where for where in _configurations() if where in started]
    for dataset, m in shown:
        printed = paper[dataset, m, "CIPS"]
        mark = " [a]" if dataset == "phishing" else ""
        name = Cell(
            f"**{dataset}**{mark}", note=f"{printed.n_features}, {printed.prior:.2f}"
        )
        bold = _group(means, dataset, m, METHODS[:-1])
        bold |= _group(means, dataset, m, EXTRA[:-1])
        row = [name, Cell(f"{m}")]
        for method in (*METHODS, *EXTRA):
            key = (dataset, m, method)
            ours, there = _get(means, key), paper.get(key)
            row.append(
                Cell(
                    str(ours),
                    paper=str(there.value) if there else "",
                    note=share_of(ours, N_TRIALS, len(failed.get(key, ()))),
                    bold=method in bold,
                    paper_bold=bool(there and there.bold),
                    mark=agreement(ours, there.value if there else None),
                )
            )
        rows.append(row)
    return Table(
        head=["data set", "m", *METHODS[:-1], "(SV)", *EXTRA[:-1], f"(SV) {SOLVER}"],
        rows=rows,
        labels=2,
        extra=2 + len(METHODS),
        caption=(
            "Clustering error in percent. Ours, then the paper's. "
            "With each name: number of features, prior. **Bold**: the lowest mean "
            "and those that a one-sided t-test at 5 % does not tell from it, SV left "
            "out; the L-BFGS columns are compared among themselves." + _unfinished(rows)
        ),
        footnotes=_footnotes(shown),
    )


def _unfinished(rows: list[list[Cell]]) -> str:
    if not any(cell.note for row in rows for cell in row[2:]):
        return ""
    return (
        f" n/{N_TRIALS}: trials so far, where there are fewer than {N_TRIALS}; those "
        "that failed are counted apart."
    )


def _footnotes(shown: list[tuple[str, int]]) -> list[str]:
    notes = []
    if any(dataset == "phishing" for dataset, _ in shown):
        notes.append(
            "[a] The paper prints (44, 0.68); the data have 68 columns and prior 0.44."
        )
    n_all = len(_configurations())
    if len(shown) < n_all:
        notes.append(
            f"{n_all - len(shown)} of {n_all} settings (data set and m) have no trial "
            f"yet and no row here: `pairlearn reproduce {NAME} --out DIR` fills them."
        )
    return notes


def _agreement_check(
    means: Means, failed: Failed, methods: tuple[str, ...], claim: str
) -> Check:
    keys = [(d, m, name) for d, m in _configurations() for name in methods]
    marks = {key: _agreement(means, key) for key in keys}
    known = [key for key in keys if marks[key]]
    above = [key for key in known if marks[key] == "above"]
    counts = ", ".join(
        f"{name} {sum(marks[key] != 'above' for key in here)} of {len(here)}"
        for name in methods
        if (here := [key for key in known if key[2] == name])
    )
    tested = (
        f"All {len(keys)} cells (10 data sets, 3 sizes, {len(methods)} methods) lie "
        "within three combined standard errors of the printed value or below it: "
        "(ours − paper) / sqrt(se² + se²) ≤ 3; the others are exceptions. Below a "
        f"floor of {100 * ENOUGH:.0f} % of the cells that were run it does not hold."
    )
    if not enough(len(known), len(keys)):
        started = any(key in means for key in keys)
        what = f"of {len(keys)} cells"
        return unknown(claim, tested, what, started=started, n_known=len(known))
    good = len(known) - len(above)
    below = sum(marks[key] == "below" for key in known)
    reached = good >= ENOUGH * len(known)
    number = (
        f"{good} of {len(known)} cells ({100 * good / len(known):.0f} %), so the floor "
        f"of {100 * ENOUGH:.0f} % is {'met' if reached else 'not met'}; {below} of "
        f"them below the paper; by method: {counts}"
        + without_failures(sum(len(failed.get(key, ())) for key in known))
    )
    ended = [n_ended(means[key], failed.get(key)) for key in known]
    missing = so_far(len(known), len(keys), "cells", ended, N_TRIALS)
    return Check(
        claim,
        tested,
        "holds"
        if not above
        else "holds with exceptions"
        if reached
        else "does not hold",
        number,
        [_beside(means, key) for key in above],
        missing,
    )


def _agreement(means: Means, key: Key) -> str:
    return agreement(_get(means, key), tabular()[key].value)


def _beside(means: Means, key: Key) -> str:
    ours, paper = _get(means, key), tabular()[key].value
    dataset, m, method = key
    return (
        f"{dataset}, m = {m}, {method}: {ours} against {paper}, "
        f"z = {distance(ours, paper):+.1f}"
    )


def paper_bold_rule() -> tuple[int, int, list[tuple[Key, bool]]]:
    """Apply our bold rule to the printed means and standard errors.

    Returns
    -------
    n_same, n_cells : int
        Cells in which the rule gives the paper's flag, of how many.
    different : list
        The others, each with whether another rounding of the printed numbers would
        give the paper's flag.
    """
    paper = tabular()
    different = []
    n_cells = 0
    for dataset, m in _configurations():
        values = {name: paper[dataset, m, name].value for name in METHODS[:-1]}
        ours = best_of(values)
        for name in values:
            n_cells += 1
            if (name in ours) == paper[dataset, m, name].bold:
                continue
            # The printed digits leave half a unit to either side.
            step = 0.05 if name in ours else -0.05
            best = min(values, key=lambda key: values[key].mean)
            moved = values | {
                name: _moved(values[name], step, -step),
                best: _moved(values[best], -step, -step),
            }
            different.append(
                ((dataset, m, name), (name in ours) != (name in best_of(moved)))
            )
    return n_cells - len(different), n_cells, different


def _moved(value: Estimate, mean: float, error: float) -> Estimate:
    return Estimate(value.mean + mean, value.error + error, value.n)


def _share(some: int, total: int) -> str:
    if some < total:
        return f"{some} of these {total}"
    return "both" if total == 2 else "all of these"


def _bold_text(means: Means) -> str:
    n_same, n_cells, different = paper_bold_rule()
    names = "; ".join(f"{d}, m = {m}, {name}" for (d, m, name), _ in different)
    rounding = sum(flag for _, flag in different)
    text = (
        "**Bold numbers.** The paper does not say whether its t-test is paired. The "
        "unpaired one with unequal variances (Welch), applied to the printed means "
        f"and standard errors, gives the paper's flags in {n_same} of {n_cells} cells "
        f"(all but {names}; {_share(rounding, len(different))} can come from the "
        "rounding of the printed numbers). So it is the one used here."
    )
    known = same = 0
    for dataset, m in _configurations():
        bold = _group(means, dataset, m, METHODS[:-1])
        for name in METHODS[:-1]:
            if bold and _get(means, (dataset, m, name)).tested:
                known += 1
                same += (name in bold) == tabular()[dataset, m, name].bold
    if known:
        text += f" Our own flags equal the paper's in {same} of {known} cells."
    return text


def _solver_table(trials: Trials) -> list[Table]:
    rows, compared = [], set()
    for extra in EXTRA:
        name = extra.removesuffix(SOLVER).strip()
        counts = {"lower": 0, "same": 0, "higher": 0}
        gaps = []
        for dataset, m in _configurations():
            ours, theirs = (trials.get((dataset, m, key)) for key in (extra, name))
            if ours is None or theirs is None:
                continue
            gap = paired_difference(ours, theirs, "error")
            if gap.tested:
                z = spread(gap)
                kind = "same" if abs(z) <= NOISE else "lower" if z < 0 else "higher"
                counts[kind] += 1
                gaps.append(100 * gap.mean)
                compared.add((dataset, m))
        mean = f"{sum(gaps) / len(gaps):+.2f}" if gaps else "–"
        rows.append([Cell(name), *(Cell(f"{n}") for n in counts.values()), Cell(mean)])
    if not compared:
        return []
    table = Table(
        head=["method", "lower", "no clear difference", "higher", "mean difference"],
        rows=rows,
        caption=(
            f"L-BFGS against stochastic gradient descent: in how many of the "
            f"{len(compared)} settings that were run with both its clustering error is "
            "lower or higher by more than two standard errors of the difference "
            "(paired by seed), and the mean difference in percentage points."
        ),
    )
    return [table]
