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
OURS = "Noise-aware"
WITHOUT_LABELS = ("CIPS", "MCL", "DML")
NOISE = 2.0
# What is still called reached: so many points below the printed accuracy.
FLOORS = {"CIPS": 1.5, "MCL": 1.5, "DML": 2.0, "SV": 1.0}
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
        Text(_models(networks, linear) + _pairs(frame)),
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
    if set(WITHOUT_LABELS) <= set(networks):
        blocks.append(_order_check(frame, lost))
    if OURS in there:
        rivals = [name for name in (*networks, *linear) if not name.startswith("SV")]
        blocks.append(_ours_check(frame, means, lost, rivals))
    return Section(NAME, EXPERIMENTS[NAME].title, blocks)


def _models(networks: list[str], linear: list[str]) -> str:
    text = (
        "The paper's four methods are networks of four layers, 500-8-8-8-1: from the "
        "500 features by way of three layers of 8 to one score."
    )
    if not networks:
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
    if mean != mean:  # nan: no trial says it
        return ""
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
    ours = frozenset(range(len(rows), len(rows) + len(others)))
    rows += [_row(name, frame, means, lost, bold) for name in others]
    return Table(
        head=["method", "model", "ours", "paper", "pairs"],
        rows=rows,
        labels=2,
        ours=ours,
        footnotes=[_about_ours()] if OURS in there else [],
        caption=(
            "Accuracy in percent, mean (standard error)"
            + (f" over {number_of(v.n for v in means.values())}" if means else "")
            + ", with the mean number of pairs. All printed values are those of "
            "networks. Marks as above, ▼ for a lower error, that is a higher accuracy."
        ),
    )


def _about_ours() -> str:
    return (
        f"{OURS} is ours; the paper has no such row. It takes the random couples for "
        "what they are, unlabelled pairs rather than dissimilar ones, and estimates "
        "how often links join two classes, all from the same links and couples. No "
        "label is used."
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
        counts = frame[frame["method"] == name]["n_pairs"].dropna()
        n_pairs = f"{counts.mean():,.0f}" if len(counts) else "–"
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
    floors = all(name in FLOORS for name in names)
    if floors:
        allowed = ", ".join(f"{name} {FLOORS[name]:g}" for name in names)
        tested += (
            " Besides, the outcome names those that are further below than a floor "
            f"allows, in points: {allowed}."
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
        + (_floors({name: means[name].mean for name in known}) if floors else "")
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


def _floors(reached: dict[str, float]) -> str:
    under = [
        name
        for name, mean in reached.items()
        if mean < PUBMED[name].mean - FLOORS[name]
    ]
    if not under:
        return "; none is under its floor"
    return f"; under the floor: {', '.join(under)}"


def _order_check(frame: pd.DataFrame, lost: Lost) -> Check:
    claim = "CIPS and MCL are more accurate than DML"
    tested = (
        "The mean accuracies of CIPS and MCL are both above DML's, as in the paper. It "
        f"does not hold if DML is above one of them by more than {NOISE:.0f} standard "
        "errors of the difference, paired by seed."
    )
    trials = {name: frame[frame["method"] == name] for name in WITHOUT_LABELS}
    gaps = {
        name: paired_difference(trials["DML"], trials[name], "error")
        for name in ("CIPS", "MCL")
    }
    if not all(gap.tested for gap in gaps.values()):
        started = all(len(group) for group in trials.values())
        return unknown(claim, tested, "of 2 comparisons", started=started)
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
        shown + without_failures(sum(len(lost.get(name, ())) for name in trials)),
        [
            f"{name} − DML: {_points(gaps[name])}, "
            f"{'beyond' if name in clear else 'within'} noise"
            for name in behind
        ],
        so_far(2, 2, "comparisons", ended, N_TRIALS),
    )


def _points(gap: Estimate) -> str:
    return f"{100 * gap.mean:+.1f} ± {100 * gap.error:.1f} points"


def _ours_check(
    frame: pd.DataFrame, means: dict[str, Estimate], lost: Lost, rivals: list[str]
) -> Check:
    """Return the check of our own row against the paper's methods without labels."""
    claim = (
        f"{OURS}, ours, is more accurate than each method of the paper without labels"
    )
    tested = (
        f"The accuracy of {OURS} is above that of each of {', '.join(rivals)} by more "
        f"than {NOISE:.0f} standard errors of the difference, paired by seed. "
        "Differences above zero that are smaller are exceptions. It does not hold if "
        "one of the differences is not above zero."
    )
    own = frame[frame["method"] == OURS]
    gaps = {
        name: paired_difference(frame[frame["method"] == name], own, "error")
        for name in rivals
        if name in means
    }
    known = {name: gap for name, gap in gaps.items() if gap.tested}
    if not known:
        started = len(own) > 0 and bool(gaps)
        return unknown(claim, tested, f"of {len(rivals)} comparisons", started=started)
    behind = [name for name, gap in known.items() if gap.mean <= 0]
    close = [
        name for name, gap in known.items() if gap.mean > 0 and spread(gap) <= NOISE
    ]
    nearest = min(known, key=lambda name: known[name].mean)
    n_above = len(known) - len(behind) - len(close)
    best = max(WITHOUT_LABELS, key=lambda name: PUBMED[name].mean)
    number = (
        f"above {n_above} of {len(known)}, nearest {nearest}; "
        + "; ".join(f"over {name} {_points(gap)}" for name, gap in known.items())
        + f"; over the {PUBMED[best].mean} printed for {best} "
        f"{means[OURS].mean - PUBMED[best].mean:+.1f} points"
        + without_failures(sum(len(lost.get(name, ())) for name in (*known, OURS)))
    )
    ended = [
        n_ended(gap, [*lost.get(name, ()), *lost.get(OURS, ())])
        for name, gap in known.items()
    ]
    return Check(
        claim,
        tested,
        "does not hold" if behind else "holds with exceptions" if close else "holds",
        number,
        [f"over {name}: {_points(known[name])}, not above" for name in behind]
        + [f"over {name}: {_points(known[name])}, within noise" for name in close],
        so_far(len(known), len(rivals), "comparisons", ended, N_TRIALS),
    )
