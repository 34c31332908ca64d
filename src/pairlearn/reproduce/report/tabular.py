"""The table of ten data sets: cells, bold numbers, agreement and order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pairlearn.reproduce.report.blocks import Cell, Legend, Table, Text
from pairlearn.reproduce.report.order import order_checks
from pairlearn.reproduce.report.paper import (
    METHODS,
    N_TRIALS,
    SOLVER,
    section,
    tabular,
    tabular_settings,
)
from pairlearn.reproduce.report.progress import NO_FAILURES, Claim, number_of, share_of
from pairlearn.reproduce.report.statistics import (
    NOISE,
    Estimate,
    Means,
    agreement,
    beside,
    best_of,
    grouped,
    means_of,
    paired_difference,
    spread,
)
from pairlearn.reproduce.report.words import say

if TYPE_CHECKING:
    import pandas as pd

    from pairlearn.reproduce.report.blocks import Check, Section
    from pairlearn.reproduce.report.progress import Failed

__all__ = ["build", "paper_bold_rule"]

NAME = "table-tabular"
MAIN = ("CIPS", "MCL", "SV")
OTHERS = ("SD", "OVPC", "SSP", "CKM", "KM")
EXTRA = tuple(f"{name} {SOLVER}" for name in ("CIPS", "MCL", "SD", "SV"))
ENOUGH = 0.8


def build(frame: pd.DataFrame, failed: Failed = NO_FAILURES) -> Section:
    """Return the section of the tabular data sets."""
    trials = grouped(frame, ["dataset", "m", "method"])
    means = means_of(trials, failed)
    counts = [value.n for value in means.run.values()] or [N_TRIALS]
    return section(
        NAME,
        Text(say(NAME, "intro", trials=number_of(counts))),
        Legend() if means.run else None,
        _table(means) if means.run else None,
        _agreement_check(means, MAIN, "CIPS, MCL and SV"),
        _agreement_check(means, OTHERS, "The other methods"),
        *order_checks(trials, means),
        Text(_bold_text(means)),
        _solver_table(trials),
    )


def _best(means: Means, dataset: str, m: int, methods: tuple[str, ...]) -> set[str]:
    return best_of({name: means[dataset, m, name] for name in methods})


def _table(means: Means) -> Table:
    started = {(dataset, m) for dataset, m, _ in means}
    shown = [where for where in tabular_settings() if where in started]
    rows = [_row(means, dataset, m) for dataset, m in shown]
    caption, notes = say(NAME, "caption"), []
    if any(cell.note for row in rows for cell in row[2:]):
        caption += " " + say(NAME, "unfinished", n_trials=N_TRIALS)
    if any(dataset == "phishing" for dataset, _ in shown):
        notes.append(say(NAME, "phishing"))
    n_all = len(tabular_settings())
    if len(shown) < n_all:
        notes.append(say(NAME, "no_row", n_left=n_all - len(shown), n_all=n_all))
    return Table(
        head=["data set", "m", *METHODS[:-1], "(SV)", *EXTRA[:-1], f"(SV) {SOLVER}"],
        rows=rows,
        labels=2,
        extra=2 + len(METHODS),
        caption=caption,
        footnotes=notes,
    )


def _row(means: Means, dataset: str, m: int) -> list[Cell]:
    paper = tabular()
    printed = paper[dataset, m, "CIPS"]
    mark = " [a]" if dataset == "phishing" else ""
    bold = _best(means, dataset, m, METHODS[:-1]) | _best(means, dataset, m, EXTRA[:-1])
    row = [
        Cell(f"**{dataset}**{mark}", note=f"{printed.n_features}, {printed.prior:.2f}"),
        Cell(f"{m}"),
    ]
    for method in (*METHODS, *EXTRA):
        ours, there = means[dataset, m, method], paper.get((dataset, m, method))
        row.append(
            Cell(
                str(ours),
                paper=str(there.value) if there else "",
                note=share_of(ours, N_TRIALS),
                bold=method in bold,
                paper_bold=bool(there and there.bold),
                mark=agreement(ours, there.value if there else None),
            )
        )
    return row


def _agreement_check(means: Means, methods: tuple[str, ...], who: str) -> Check:
    keys = [(d, m, name) for d, m in tabular_settings() for name in methods]
    floor = 100 * ENOUGH
    claim = Claim(
        NAME, "agreement", len(keys), N_TRIALS,
        who=who, n_methods=len(methods), floor=floor,
    )  # fmt: skip
    marks = {key: agreement(means[key], tabular()[key].value) for key in keys}
    known = [key for key in keys if marks[key]]
    if check := claim.undecided(len(known), started=any(means[key].n for key in keys)):
        return check
    above = [key for key in known if marks[key] == "above"]
    counts = ", ".join(
        f"{name} {sum(marks[key] != 'above' for key in here)} of {len(here)}"
        for name in methods
        if (here := [key for key in known if key[2] == name])
    )
    good = len(known) - len(above)
    below = sum(marks[key] == "below" for key in known)
    reached = good >= ENOUGH * len(known)
    return claim.check(
        f"{good} of {len(known)} cells ({100 * good / len(known):.0f} %), so the floor "
        f"of {floor:.0f} % is {'met' if reached else 'not met'}; {below} of "
        f"them below the paper; by method: {counts}",
        [
            f"{key[0]}, m = {key[1]}, {key[2]}: "
            + beside(means[key], tabular()[key].value)
            for key in above
        ],
        refuted=not reached,
        n_run=len(known),
        means=[means[key] for key in known],
    )


def paper_bold_rule() -> tuple[int, int, list[tuple[tuple[str, int, str], bool]]]:
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
    different, n_cells = [], 0
    for dataset, m in tabular_settings():
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
    text = say(
        NAME, "bold", n_same=n_same, n_cells=n_cells, names=names,
        share=_share(rounding, len(different)),
    )  # fmt: skip
    known = same = 0
    for dataset, m in tabular_settings():
        bold = _best(means, dataset, m, METHODS[:-1])
        for name in METHODS[:-1]:
            if bold and means[dataset, m, name].tested:
                known += 1
                same += (name in bold) == tabular()[dataset, m, name].bold
    if known:
        text += f" Our own flags equal the paper's in {same} of {known} cells."
    return text


def _solver_table(trials: dict[Any, pd.DataFrame]) -> Table | None:
    rows, compared = [], set()
    for extra in EXTRA:
        name = extra.removesuffix(SOLVER).strip()
        counts = {"lower": 0, "same": 0, "higher": 0}
        gaps = []
        for dataset, m in tabular_settings():
            ours, theirs = (trials.get((dataset, m, key)) for key in (extra, name))
            if ours is None or theirs is None:
                continue
            gap = paired_difference(ours, theirs)
            if gap.tested:
                z = spread(gap)
                kind = "same" if abs(z) <= NOISE else "lower" if z < 0 else "higher"
                counts[kind] += 1
                gaps.append(100 * gap.mean)
                compared.add((dataset, m))
        mean = f"{sum(gaps) / len(gaps):+.2f}" if gaps else "–"
        rows.append([Cell(name), *(Cell(f"{n}") for n in counts.values()), Cell(mean)])
    if not compared:
        return None
    return Table(
        head=["method", "lower", "no clear difference", "higher", "mean difference"],
        rows=rows,
        caption=say(NAME, "solvers", n_settings=len(compared)),
    )
