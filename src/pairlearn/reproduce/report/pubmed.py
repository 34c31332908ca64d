"""The table of PubMed: accuracy from citations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairlearn.reproduce.report.blocks import Block, Cell, Check, Section, Table, Text
from pairlearn.reproduce.report.paper import N_TRIALS, PUBMED, PUBMED_BOLD
from pairlearn.reproduce.report.progress import share_of, so_far
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

__all__ = ["build"]

# Accuracies: above the paper is better here.
_TURNED = {"above": "below", "below": "above"}


def build(frame: pd.DataFrame) -> Section:
    """Return the section of PubMed."""
    means = {
        str(method): estimate(100 - 100 * group["error"])
        for method, group in (frame.groupby("method") if len(frame) else [])
    }
    blocks: list[Block] = [
        Text(
            "Articles on two kinds of diabetes. A citation between two articles counts "
            "as the answer “same”, whether it is right or not; as many random couples "
            "without one count as “different”. The table shows accuracies, that is "
            "100 minus the clustering error; the paper's caption calls them clustering "
            "errors, which its numbers cannot be."
        ),
        _table(frame, means),
        _agreement_check(means),
        _order_check(frame),
    ]
    return Section("table-pubmed", "PubMed: citations as answers", blocks)


def _table(frame: pd.DataFrame, means: dict[str, Estimate]) -> Table:
    others = sorted(set(means) - set(PUBMED))
    # The best accuracy has the smallest error.
    errors = {
        name: Estimate(100 - value.mean, value.error, value.n)
        for name, value in means.items()
        if name in PUBMED and name != "SV"
    }
    bold = best_of(errors)
    rows = []
    for name in (*PUBMED, *others):
        ours, paper = means.get(name, estimate([])), PUBMED.get(name)
        mark = agreement(ours, paper)
        n_pairs = "–"
        if ours.n and "n_pairs" in frame:
            n_pairs = f"{frame[frame['method'] == name]['n_pairs'].mean():.0f}"
        rows.append(
            [
                Cell(f"({name})" if name == "SV" else name),
                Cell(
                    str(ours),
                    bold=name in bold,
                    mark=_TURNED.get(mark, mark),
                    note=share_of(ours, N_TRIALS),
                ),
                Cell(str(paper) if paper else "–", bold=name in PUBMED_BOLD),
                Cell(n_pairs),
            ]
        )
    return Table(
        head=["method", "ours", "paper", "pairs"],
        rows=rows,
        caption=(
            "Accuracy in percent, mean (standard error), with the mean number of "
            "pairs. The paper's four methods are networks of four layers; the other "
            "rows are ours. Marks as above, ▼ for a lower error."
        ),
    )


def _agreement_check(means: dict[str, Estimate]) -> Check:
    claim = "The networks reach the printed accuracies"
    tested = (
        "CIPS, MCL, DML and SV lie within three combined standard errors of the "
        "printed accuracy or above it. With one or two of the four below, it holds "
        "with exceptions."
    )
    known = [name for name in PUBMED if name in means and means[name].tested]
    if not known:
        return Check(claim, tested, "not run yet", "0 of 4 methods")
    worse = [name for name in known if agreement(means[name], PUBMED[name]) == "below"]
    number = f"{len(known) - len(worse)} of {len(known)} methods"
    used = [means[name] for name in known]
    missing = so_far(len(known), len(PUBMED), "methods", used, N_TRIALS)
    return Check(
        claim,
        tested,
        "holds"
        if not worse
        else "holds with exceptions"
        if len(worse) <= len(known) / 2
        else "does not hold",
        number,
        [
            f"{name}: {means[name]} against {PUBMED[name]}, "
            f"z = {distance(means[name], PUBMED[name]):+.1f}"
            for name in worse
        ],
        missing,
    )


def _order_check(frame: pd.DataFrame) -> Check:
    claim = "CIPS and MCL are more accurate than DML"
    tested = (
        "The mean accuracies of CIPS and MCL are both above DML's. It does not hold "
        "if DML is above one of them by more than two standard errors of the "
        "difference, paired by seed."
    )
    trials = {name: frame[frame["method"] == name] for name in ("CIPS", "MCL", "DML")}
    if not all(len(group) for group in trials.values()):
        return Check(claim, tested, "not run yet", "0 of 2 comparisons")
    gaps = {
        name: paired_difference(trials["DML"], trials[name], "error")
        for name in ("CIPS", "MCL")
    }
    behind = [name for name, gap in gaps.items() if gap.mean <= 0]
    clear = [name for name in behind if spread(gaps[name]) < -2]
    return Check(
        claim,
        tested,
        "holds"
        if not behind
        else "does not hold"
        if clear
        else "holds with exceptions",
        "; ".join(
            f"{name} − DML: {100 * gap.mean:+.1f} ± {100 * gap.error:.1f} points"
            for name, gap in gaps.items()
        ),
        missing=so_far(2, 2, "comparisons", gaps.values(), N_TRIALS),
    )
