"""The table of PubMed: accuracy from citations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairlearn.reproduce.pubmed import PUBMED as EXPERIMENT
from pairlearn.reproduce.report.blocks import (
    Block,
    Cell,
    Check,
    Legend,
    Section,
    Table,
    Text,
)
from pairlearn.reproduce.report.paper import (
    EXPERIMENTS,
    N_TRIALS,
    PUBMED,
    PUBMED_BOLD,
    PUBMED_PAIRS,
)
from pairlearn.reproduce.report.progress import (
    NO_FAILURES,
    Failed,
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
    from collections.abc import Iterable

    import pandas as pd

__all__ = ["build"]

NAME = "table-pubmed"
LINEAR = " (linear)"
# Accuracies: above the paper is better here.
_TURNED = {"above": "below", "below": "above"}

Lost = dict[str, list[int]]


def build(frame: pd.DataFrame, failed: Failed = NO_FAILURES) -> Section:
    """Return the section of PubMed.

    Rows and checks are those of methods that `pairlearn reproduce` runs, or that the
    store has.
    """
    means = {
        str(method): estimate(100 - 100 * group["error"])
        for method, group in (frame.groupby("method") if len(frame) else [])
    }
    lost: Lost = {}
    for (_, _, method), seeds in failed.items():
        lost.setdefault(method, []).extend(seeds)
    there = list(dict.fromkeys((*EXPERIMENT.methods, *means)))
    networks = [name for name in PUBMED if name in there]
    linear = [name + LINEAR for name in PUBMED if name + LINEAR in there]
    blocks: list[Block] = [
        Text(
            "Articles on two of three kinds of diabetes, labels 0 and 1 in the files. "
            "By their numbers (4,103 and 7,739 articles) these are classes 1 and 3 of "
            "the original data, as the paper says: experimental diabetes, and type 2. "
            "A citation between two articles counts "
            "as the answer “same”, whether it is right or not; as many random couples "
            "without one count as “different”. The table shows accuracies, that is "
            "100 minus the clustering error; the paper's caption calls them clustering "
            "errors, which its numbers cannot be."
        ),
        Text(_models(linear) + _pairs(frame)),
        Legend(),
        _table(frame, means, lost, there),
    ]
    if linear:
        blocks.append(
            _agreement_check(
                means,
                lost,
                linear,
                "The linear models reach the accuracies printed for the networks",
            )
        )
    if networks:
        claim = "The networks reach the printed accuracies"
        blocks.append(_agreement_check(means, lost, networks, claim))
    if {"CIPS", "MCL", "DML"} <= set(networks):
        blocks.append(_order_check(frame, lost))
    return Section(NAME, EXPERIMENTS[NAME].title, blocks)


def _models(linear: list[str]) -> str:
    text = "The paper's four methods are networks of four layers."
    if not any(name in EXPERIMENT.methods for name in PUBMED):
        text += " These networks are not part of `pairlearn reproduce` yet."
    if linear:
        text += (
            " The rows that say “linear” are another model: a linear classifier on the "
            "same features, from pairs drawn in the same way, beside the value that "
            "the paper prints for the network of the same method."
        )
    return text


def _pairs(frame: pd.DataFrame) -> str:
    if not len(frame) or "n_pairs" not in frame:
        return ""
    mean = frame["n_pairs"].mean()
    return f" A trial has {mean:,.0f} pairs on average; the paper says {PUBMED_PAIRS}."


def _printed(name: str) -> Estimate | None:
    return PUBMED.get(name.removesuffix(LINEAR))


def _best(means: dict[str, Estimate], names: Iterable[str]) -> set[str]:
    # The best accuracy has the smallest error.
    return best_of(
        {
            name: Estimate(100 - means[name].mean, means[name].error, means[name].n)
            for name in names
            if name in means and not name.startswith("SV")
        }
    )


def _table(
    frame: pd.DataFrame, means: dict[str, Estimate], lost: Lost, there: list[str]
) -> Table:
    bold = _best(means, PUBMED) | _best(means, [name + LINEAR for name in PUBMED])
    rows = []
    for method in PUBMED:
        shown = [name for name in (method, method + LINEAR) if name in there]
        rows += [_row(name, frame, means, lost, bold) for name in (shown or [method])]
        if not shown:
            rows[-1][2] = Cell("–")
    others = sorted(name for name in there if _printed(name) is None)
    rows += [_row(name, frame, means, lost, bold) for name in others]
    return Table(
        head=["method", "model", "ours", "paper", "pairs"],
        rows=rows,
        labels=2,
        caption=(
            "Accuracy in percent, mean (standard error)"
            + (f" over {number_of(v.n for v in means.values())}" if means else "")
            + ", with the mean number of pairs. All printed values are those of "
            "networks. Marks as above, ▼ for a lower error, that is a higher accuracy."
        ),
    )


def _row(
    name: str,
    frame: pd.DataFrame,
    means: dict[str, Estimate],
    lost: Lost,
    bold: set[str],
) -> list[Cell]:
    ours, paper = means.get(name, estimate([])), _printed(name)
    method = name.removesuffix(LINEAR)
    mark = agreement(ours, paper)
    n_pairs = "–"
    if ours.n and "n_pairs" in frame:
        n_pairs = f"{frame[frame['method'] == name]['n_pairs'].mean():,.0f}"
    model = "linear, not a network" if name != method else "network"
    return [
        Cell(f"({method})" if method == "SV" else method),
        Cell(model if paper else "–"),
        Cell(
            str(ours),
            bold=name in bold,
            mark=_TURNED.get(mark, mark),
            note=share_of(ours, N_TRIALS, len(lost.get(name, ()))),
        ),
        Cell(str(paper) if paper else "–", bold=method in PUBMED_BOLD),
        Cell(n_pairs),
    ]


def _agreement_check(
    means: dict[str, Estimate], lost: Lost, names: list[str], claim: str
) -> Check:
    tested = (
        f"All of {', '.join(names)} lie within three combined standard "
        "errors of the printed accuracy of the method or above it. With up to half of "
        "those that were run below, it holds with exceptions."
    )
    known = [name for name in names if name in means and means[name].tested]
    if not known:
        started = any(name in means for name in names)
        return unknown(claim, tested, f"of {len(names)} methods", started=started)
    printed = {name: PUBMED[name.removesuffix(LINEAR)] for name in known}
    worse = [name for name in known if agreement(means[name], printed[name]) == "below"]
    shown = {
        name: f"{name}: {means[name]} against {printed[name]}, "
        f"z = {distance(means[name], printed[name]):+.1f}"
        for name in known
    }
    number = (
        f"{len(known) - len(worse)} of {len(known)} methods: "
        + "; ".join(
            f"{name} {means[name].mean - printed[name].mean:+.1f} points"
            for name in known
        )
        + without_failures(sum(len(lost.get(name, ())) for name in known))
    )
    ended = [n_ended(means[name], lost.get(name)) for name in known]
    missing = so_far(len(known), len(names), "methods", ended, N_TRIALS)
    return Check(
        claim,
        tested,
        "holds"
        if not worse
        else "holds with exceptions"
        if len(worse) <= len(known) / 2
        else "does not hold",
        number,
        [shown[name] for name in worse],
        missing,
    )


def _order_check(frame: pd.DataFrame, lost: Lost) -> Check:
    claim = "CIPS and MCL are more accurate than DML"
    tested = (
        "The mean accuracies of CIPS and MCL are both above DML's. It does not hold "
        "if DML is above one of them by more than two standard errors of the "
        "difference, paired by seed."
    )
    trials = {name: frame[frame["method"] == name] for name in ("CIPS", "MCL", "DML")}
    gaps = {
        name: paired_difference(trials["DML"], trials[name], "error")
        for name in ("CIPS", "MCL")
    }
    if not all(gap.tested for gap in gaps.values()):
        started = all(len(group) for group in trials.values())
        return unknown(claim, tested, "of 2 comparisons", started=started)
    behind = [name for name, gap in gaps.items() if gap.mean <= 0]
    clear = [name for name in behind if spread(gaps[name]) < -2]
    shown = {
        name: f"{name} − DML: {100 * gap.mean:+.1f} ± {100 * gap.error:.1f} points"
        for name, gap in gaps.items()
    }
    ended = [
        n_ended(gap, [*lost.get(name, ()), *lost.get("DML", ())])
        for name, gap in gaps.items()
    ]
    return Check(
        claim,
        tested,
        "holds"
        if not behind
        else "does not hold"
        if clear
        else "holds with exceptions",
        "; ".join(shown.values())
        + without_failures(sum(len(lost.get(name, ())) for name in trials)),
        [shown[name] for name in behind],
        so_far(2, 2, "comparisons", ended, N_TRIALS),
    )
