"""What must hold, and whether it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.ask.cells import TRIALS
from benchmarks.ask.methods import COBRAS, MARGIN, OURS, RANDOM, SVM
from benchmarks.ask.tasks import (
    CANCER,
    DIGITS,
    NOISY_CANCER,
    NOISY_IRIS,
    SMALL_BUDGETS,
    TABLES,
    WINE,
)

if TYPE_CHECKING:
    from benchmarks.ask.cells import Cells

RULE = (
    "Means over the trials that both methods have. *At or below*: the means compared "
    "before rounding. *One standard error*: that of the difference of paired trials."
)


def line(what: str, held: bool | None, shown: str) -> str:
    """Return a verdict; None: not run yet."""
    word = {True: "holds", False: "**does not hold**", None: "not run yet"}[held]
    return f"- {word}: {what}{': ' + shown if shown else ''}."


def against(
    cells: Cells, budget: int, other: str, m: int, least: int, *, slack: bool = False
) -> str:
    """Count the tables in which we are at or below another method.

    With `slack`, one standard error above it still counts.
    """
    reached, missed, trials = [], [], []
    for name in TABLES:
        gap = cells.difference((OURS, name, budget), (other, name, m))
        if not gap.n:
            continue
        trials.append(gap.n)
        allowed = gap.error if slack and gap.tested else 0.0
        if gap.mean <= allowed + 1e-9:
            reached.append(name)
        else:
            error = f", standard error {gap.error:.2f}" if gap.tested else ""
            missed.append(f"{name} (by {gap.mean:.2f}{error})")
    unit = "labels" if other in (SVM, MARGIN) else "pairs"
    relation = "at most one standard error above" if slack else "at or below"
    what = f"{budget} questions {relation} {other}, {m} {unit}, in at least {least}"
    if not trials:
        return line(what, None, "")
    total = len(trials)
    text = f"{len(reached)} of {total}"
    if total < len(TABLES) or min(trials) < TRIALS:
        text += f" ({min(trials)} trials at least, of {TRIALS})"
    if missed:
        text += f"; missed: {', '.join(missed)}"
    return line(what, len(reached) >= least, text)


def threshold(
    cells: Cells, name: str, m: int, result: str, least: float, *, above: bool = False
) -> str:
    """Compare our mean with a number."""
    relation = "above" if above else "at least"
    what = f"{name}, {result} {relation} {least} at {m} questions"
    found = cells.mean((OURS, name, m), result)
    if not found.n:
        return line(what, None, "")
    held = found.mean > least if above else found.mean >= least - 1e-9
    error = f" ({found.error:.3f})" if found.tested else ""
    return line(what, held, f"{found.mean:.3f}{error}")


def above_cobras(cells: Cells, name: str, result: str) -> str:
    """Compare with COBRAS at every budget."""
    what = f"{name}, {result} above COBRAS at every budget"
    texts, held = [], []
    for m in SMALL_BUDGETS:
        ours, theirs = (cells.mean((k, name, m), result) for k in (OURS, COBRAS))
        if ours.n and theirs.n:
            held.append(ours.mean > theirs.mean)
            texts.append(f"{m}: {ours.mean:.3f} against {theirs.mean:.3f}")
    complete = len(held) == len(SMALL_BUDGETS)
    return line(what, all(held) if complete else None, ", ".join(texts))


def verdicts(cells: Cells) -> str:
    """Return all lines."""
    lines = [
        against(cells, 200, RANDOM, 500, 8),
        against(cells, 200, RANDOM, 1000, 5),
        against(cells, 200, RANDOM, 200, len(TABLES), slack=True),
        against(cells, 50, RANDOM, 100, 8),
        *(against(cells, q, SVM, q, 9) for q in (100, 200)),
        *(against(cells, q, MARGIN, q, 7, slack=True) for q in (100, 200)),
        threshold(cells, CANCER, 30, "accuracy", 0.97),
        above_cobras(cells, CANCER, "accuracy"),
        threshold(cells, DIGITS, 10, "ari", 0.60),
        threshold(cells, DIGITS, 50, "ari", 0.85),
        threshold(cells, WINE, 30, "ari", 0.95),
        threshold(cells, NOISY_IRIS, 100, "ari", 0.88, above=True),
        threshold(cells, NOISY_CANCER, 50, "accuracy", 0.965),
    ]
    return f"{RULE}\n\n" + "\n".join(lines)
