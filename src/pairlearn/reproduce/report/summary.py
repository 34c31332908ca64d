"""The first section: what was reproduced, and the verdict of each check."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pairlearn.reproduce.report.blocks import (
    VERDICTS,
    Block,
    Bullets,
    Cell,
    Section,
    Table,
    Text,
)
from pairlearn.reproduce.report.paper import EXPERIMENTS

if TYPE_CHECKING:
    import pandas as pd

    from pairlearn.reproduce.report.blocks import Check, Verdict

__all__ = ["build", "command"]

MEANINGS: dict[Verdict, str] = {
    "holds": "without any exception",
    "holds with exceptions": "every exception is named in the section",
    "does not hold": "by the rule that the check states",
    "too few trials": "run, but not often enough for a test, or less than a tenth of "
    "what is planned",
    "not run yet": "the command for it is named",
}


def build(stored: dict[str, pd.DataFrame], sections: list[Section]) -> Section:
    """Return the summary of the other sections."""
    done = [name for name, frame in stored.items() if len(frame)]
    missing = [name for name in EXPERIMENTS if name not in done]
    checks = [check for section in sections for check in section.checks]
    counts = Counter(check.verdict for check in checks)
    n_trials = sum(len(frame) for frame in stored.values())
    outcome = ", ".join(
        f"{counts[verdict]} {_plural(verdict, counts[verdict])}"
        for verdict in VERDICTS
        if counts[verdict]
    )
    blocks: list[Block] = [
        Text(
            "“Pairwise Supervision Can Provably Elicit a Decision Boundary” (Bao, "
            "Shimada, Xu, Sato and Sugiyama, AISTATS 2022) learns a classifier of "
            "points from answers about pairs: same class, or different? Here are its "
            "experiments, run again with pairlearn on the same data, with our numbers "
            "beside the printed ones."
        ),
        Text(
            f"{len(done)} of {len(EXPERIMENTS)} experiments have results, "
            f"{n_trials:,} trials in the store. Of {len(checks)} checks {outcome}."
            + _partial(checks)
        ),
    ]
    if missing:
        blocks.append(
            Bullets(
                "Not run yet",
                [f"`{name}`, {EXPERIMENTS[name].title}: {command(name)}"
                 for name in missing],
            )
        )  # fmt: skip
    blocks.append(
        Table(
            head=["experiment", "claim", "verdict", "outcome"],
            words=True,
            rows=[
                [
                    Cell(section.title, link=section.name),
                    Cell(check.claim),
                    Cell(check.label, badge=check.verdict),
                    Cell(check.outcome),
                ]
                for section in sections
                for check in section.checks
            ],
            caption="Every check; what exactly was tested stands in the section of the "
            "experiment.",
            footnotes=[
                "; ".join(
                    f"{VERDICTS[verdict]} {verdict}: {meaning}"
                    for verdict, meaning in MEANINGS.items()
                )
                + "."
            ],
        )
    )
    return Section("summary", "Summary", blocks)


def _partial(checks: list[Check]) -> str:
    decided = [check for check in checks if check.decided]
    n_partial = sum(check.partial for check in decided)
    if not n_partial:
        return ""
    which = f"{n_partial} of the {len(decided)} verdicts"
    if n_partial == len(decided):
        which = f"all {n_partial} verdicts" if n_partial > 1 else "the one verdict"
    return (
        f" **Not final:** {which} {'rests' if n_partial == 1 else 'rest'} on part of "
        "the trials, marked “so far”."
    )


def _plural(verdict: str, count: int) -> str:
    if count == 1:
        return {
            "too few trials": "has too few trials",
            "not run yet": "has not been run yet",
        }.get(verdict, verdict)
    return {
        "holds": "hold",
        "holds with exceptions": "hold with exceptions",
        "does not hold": "do not hold",
        "too few trials": "have too few trials",
        "not run yet": "have not been run yet",
    }[verdict]


def command(name: str) -> str:
    """Return how to fill an experiment."""
    return f"run `pairlearn reproduce {name} --out DIR`, DIR being this folder."
