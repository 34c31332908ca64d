"""The first section: what was reproduced, and the verdict of each check."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pairlearn.reproduce.report.blocks import VERDICTS, Bullets, Cell, Table, Text
from pairlearn.reproduce.report.paper import EXPERIMENTS, section
from pairlearn.reproduce.report.words import say

if TYPE_CHECKING:
    import pandas as pd

    from pairlearn.reproduce.report.blocks import Check, Section

__all__ = ["build", "command"]

NAME = "summary"


def build(stored: dict[str, pd.DataFrame], sections: list[Section]) -> Section:
    """Return the summary of the other sections."""
    missing = [
        f"`{name}`, {experiment.title}: {command(name)}"
        for name, experiment in EXPERIMENTS.items()
        if not len(stored[name])
    ]
    checks = [check for one in sections for check in one.checks]
    counts = Counter(check.verdict for check in checks)
    outcome = ", ".join(
        f"{counts[verdict]} "
        + say(NAME, "one" if counts[verdict] == 1 else "several", verdict)
        for verdict in VERDICTS
        if counts[verdict]
    )
    found = say(
        NAME,
        "counts",
        n_done=len(EXPERIMENTS) - len(missing),
        n_all=len(EXPERIMENTS),
        n_trials=sum(len(frame) for frame in stored.values()),
        n_checks=len(checks),
        outcome=outcome,
    )
    rows = [
        [
            Cell(one.title, link=one.name),
            Cell(check.claim),
            Cell(check.label, badge=check.verdict),
            Cell(check.outcome),
        ]
        for one in sections
        for check in one.checks
    ]
    meanings = [
        f"{mark} {verdict}: {say(NAME, 'meanings', verdict)}"
        for verdict, mark in VERDICTS.items()
    ]
    table = Table(
        head=["experiment", "claim", "verdict", "outcome"],
        words=True,
        rows=rows,
        caption=say(NAME, "caption"),
        footnotes=["; ".join(meanings) + "."],
    )
    return section(
        NAME,
        Text(say(NAME, "intro")),
        Text(found + _partial(checks)),
        Bullets("Not run yet", missing) if missing else None,
        table,
        title="Summary",
    )


def _partial(checks: list[Check]) -> str:
    decided = [check for check in checks if check.decided]
    n_partial = sum(check.partial for check in decided)
    if not n_partial:
        return ""
    which = f"{n_partial} of the {len(decided)} verdicts"
    if n_partial == len(decided):
        which = f"all {n_partial} verdicts" if n_partial > 1 else "the one verdict"
    rest = "rests" if n_partial == 1 else "rest"
    return " " + say(NAME, "partial", which=which, rest=rest)


def command(name: str) -> str:
    """Return how to fill an experiment."""
    return f"run `pairlearn reproduce {name} --out DIR`, DIR being this folder."
