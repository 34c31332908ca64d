"""The table of PubMed: accuracy from citations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairlearn.reproduce.pubmed import PUBMED as EXPERIMENT
from pairlearn.reproduce.report.blocks import Cell, Legend, Table, Text
from pairlearn.reproduce.report.paper import N_TRIALS, PUBMED, section
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
    from collections.abc import Iterable

    import pandas as pd

    from pairlearn.reproduce.report.blocks import Check, Section
    from pairlearn.reproduce.report.progress import Failed

__all__ = ["build"]

NAME = "table-pubmed"
LINEAR = " (linear)"
OURS = "Noise-aware"
WITHOUT_LABELS = ("CIPS", "MCL", "DML")
PAPER_BOLD = ("CIPS", "MCL")
# What is still called reached: so many points below the printed accuracy.
FLOORS = {"CIPS": 1.5, "MCL": 1.5, "DML": 2.0, "SV": 1.0}
# Accuracies: above the paper is better here.
_TURNED = {"above": "below", "below": "above"}


def build(frame: pd.DataFrame, failed: Failed = NO_FAILURES) -> Section:
    """Return the section of PubMed.

    Rows and checks are those of methods that `pairlearn reproduce` runs, or that the
    store has.
    """
    lost: dict[str, list[int]] = {}
    for (_, _, method), seeds in failed.items():
        lost.setdefault(method, []).extend(seeds)
    means = means_of(grouped(frame, "method"), lost, accuracy=True)
    there = list(dict.fromkeys((*EXPERIMENT.methods, *means.run)))
    networks = [name for name in PUBMED if name in there]
    linear = [name + LINEAR for name in PUBMED if name + LINEAR in there]
    checks = []
    if linear:
        claim = "The linear models reach the accuracies printed for the networks"
        checks.append(_agreement_check(means, linear, claim))
    if networks:
        claim = "The networks reach the printed accuracies"
        checks.append(_agreement_check(means, networks, claim))
    if set(WITHOUT_LABELS) <= set(networks):
        checks.append(_order_check(frame, means))
    if OURS in there:
        rivals = [name for name in (*networks, *linear) if not name.startswith("SV")]
        checks.append(_ours_check(frame, means, rivals))
    pairs = _pairs(frame)
    models = [
        say(NAME, "models"),
        "" if networks else say(NAME, "no_networks"),
        say(NAME, "linear") if linear else "",
        say(NAME, "pairs", mean=pairs) if pairs else "",
    ]
    return section(
        NAME,
        Text(say(NAME, "intro")),
        Text(" ".join(filter(None, models))),
        Legend(),
        _table(frame, means, there),
        *checks,
    )


def _pairs(frame: pd.DataFrame) -> str:
    if "n_pairs" not in frame or frame["n_pairs"].isna().all():
        return ""
    return f"{frame['n_pairs'].mean():,.0f}"


def _printed(name: str) -> Estimate | None:
    return PUBMED.get(name.removesuffix(LINEAR))


def _best(means: Means, names: Iterable[str]) -> set[str]:
    # The best accuracy has the smallest error.
    return best_of(
        {
            name: Estimate(100 - means[name].mean, means[name].error, means[name].n)
            for name in names
            if not name.startswith("SV")
        }
    )


def _table(frame: pd.DataFrame, means: Means, there: list[str]) -> Table:
    bold = _best(means, PUBMED) | _best(means, [name + LINEAR for name in PUBMED])
    rows = []
    for method in PUBMED:
        shown = [name for name in (method, method + LINEAR) if name in there]
        rows += [_row(name, frame, means, bold) for name in (shown or [method])]
        if not shown:
            rows[-1][2] = Cell("–")
    others = sorted(name for name in there if _printed(name) is None)
    ours = frozenset(range(len(rows), len(rows) + len(others)))
    rows += [_row(name, frame, means, bold) for name in others]
    counts = [value.n for value in means.run.values()]
    return Table(
        head=["method", "model", "ours", "paper", "pairs"],
        rows=rows,
        labels=2,
        ours=ours,
        footnotes=[say(NAME, "about_ours", ours=OURS)] if OURS in there else [],
        caption=say(
            NAME, "caption", trials=f" over {number_of(counts)}" if counts else ""
        ),
    )


def _row(name: str, frame: pd.DataFrame, means: Means, bold: set[str]) -> list[Cell]:
    ours, paper = means[name], _printed(name)
    method = name.removesuffix(LINEAR)
    mark = agreement(ours, paper)
    model = "linear, not a network" if name != method else "network"
    if not paper:
        model = "ours, not in the paper" if name == OURS else "–"
    return [
        Cell(f"({method})" if method == "SV" else method),
        Cell(model),
        Cell(
            str(ours),
            bold=name in bold,
            mark=_TURNED.get(mark, mark),
            note=share_of(ours, N_TRIALS),
        ),
        Cell(str(paper) if paper else "–", bold=method in PAPER_BOLD),
        Cell((ours.n and _pairs(frame[frame["method"] == name])) or "–"),
    ]


def _agreement_check(means: Means, names: list[str], text: str) -> Check:
    floors = ""
    if set(names) <= set(FLOORS):
        allowed = ", ".join(f"{name} {FLOORS[name]:g}" for name in names)
        floors = " " + say(NAME, "agreement", "floors", allowed=allowed)
    claim = Claim(
        NAME, "agreement", len(names), N_TRIALS,
        claim=text, names=", ".join(names), floors=floors,
    )  # fmt: skip
    known = [name for name in names if means[name].tested]
    if check := claim.undecided(len(known), started=any(means[n].n for n in names)):
        return check
    printed = {name: PUBMED[name.removesuffix(LINEAR)] for name in known}
    gaps = {name: means[name].mean - printed[name].mean for name in known}
    worse = [name for name in known if agreement(means[name], printed[name]) == "below"]
    number = f"{len(known) - len(worse)} of {len(known)} methods: " + "; ".join(
        f"{name} {gap:+.1f} points" for name, gap in gaps.items()
    )
    if floors:
        under = [n for n in known if means[n].mean < PUBMED[n].mean - FLOORS[n]]
        names_under = f"under the floor: {', '.join(under)}"
        number += f"; {names_under if under else 'none is under its floor'}"
    return claim.check(
        number,
        [f"{name}: {beside(means[name], printed[name])}" for name in worse],
        refuted=len(worse) > len(known) / 2,
        n_run=len(known),
        means=[means[name] for name in known],
    )


def _gap(frame: pd.DataFrame, means: Means, one: str, two: str) -> Estimate:
    """Return by how much the accuracy of one method is above that of another."""
    first, second = (frame[frame["method"] == name] for name in (one, two))
    failed = (*means[one].failed, *means[two].failed)
    return paired_difference(second, first, failed)


def _points(gap: Estimate) -> str:
    return f"{100 * gap.mean:+.1f} ± {100 * gap.error:.1f} points"


def _order_check(frame: pd.DataFrame, means: Means) -> Check:
    claim = Claim(NAME, "order", 2, N_TRIALS, noise=NOISE)
    gaps = {name: _gap(frame, means, name, "DML") for name in ("CIPS", "MCL")}
    known = [gap for gap in gaps.values() if gap.tested]
    started = all(means[name].n for name in WITHOUT_LABELS)
    if check := claim.undecided(len(known) if len(known) == 2 else 0, started=started):
        return check
    behind = [name for name, gap in gaps.items() if gap.mean <= 0]
    clear = [name for name in behind if spread(gaps[name]) < -NOISE]
    shown = "; ".join(
        f"{name} − DML: {_points(gap)} "
        f"(paper {PUBMED[name].mean - PUBMED['DML'].mean:+.1f})"
        for name, gap in gaps.items()
    )
    if behind:
        which = " and ".join(behind)
        shown = f"DML is above {which}, the reverse of the paper's order; {shown}"
    return claim.check(
        shown,
        [
            f"{name} − DML: {_points(gaps[name])}, "
            f"{'beyond' if name in clear else 'within'} noise"
            for name in behind
        ],
        refuted=bool(clear),
        n_run=2,
        means=gaps.values(),
        n_failed=sum(len(means[name].failed) for name in WITHOUT_LABELS),
    )


def _ours_check(frame: pd.DataFrame, means: Means, rivals: list[str]) -> Check:
    """Return the check of our own row against the paper's methods without labels."""
    claim = Claim(
        NAME, "ours", len(rivals), N_TRIALS,
        ours=OURS, rivals=", ".join(rivals), noise=NOISE,
    )  # fmt: skip
    gaps = {name: _gap(frame, means, OURS, name) for name in rivals if means[name].n}
    known = {name: gap for name, gap in gaps.items() if gap.tested}
    started = means[OURS].n > 0 and bool(gaps)
    if check := claim.undecided(len(known), started=started):
        return check
    behind = [name for name, gap in known.items() if gap.mean <= 0]
    close = [n for n, gap in known.items() if gap.mean > 0 and spread(gap) <= NOISE]
    nearest = min(known, key=lambda name: known[name].mean)
    best = max(WITHOUT_LABELS, key=lambda name: PUBMED[name].mean)
    return claim.check(
        f"above {len(known) - len(behind) - len(close)} of {len(known)}, nearest "
        f"{nearest}; "
        + "; ".join(f"over {name} {_points(gap)}" for name, gap in known.items())
        + f"; over the {PUBMED[best].mean} printed for {best} "
        f"{means[OURS].mean - PUBMED[best].mean:+.1f} points",
        [f"over {name}: {_points(known[name])}, not above" for name in behind]
        + [f"over {name}: {_points(known[name])}, within noise" for name in close],
        refuted=bool(behind),
        n_run=len(known),
        means=known.values(),
        n_failed=sum(len(means[name].failed) for name in (*known, OURS)),
    )
