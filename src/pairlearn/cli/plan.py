"""`pairlearn plan`: how many pairs to collect."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from pairlearn.cli.exits import reporting_errors
from pairlearn.cli.sizes import SURE, make_plan
from pairlearn.files.tables.errors import OptionError

if TYPE_CHECKING:
    from pairlearn.cli.sizes import Budget, Plan

__all__ = ["advice", "plan", "show"]


def plan(
    prior: Annotated[
        float,
        typer.Option(help="Your guess at the share of one class (either will do)."),
    ],
    error: Annotated[
        float,
        typer.Option(help="Your guess at the error of the classifier."),
    ] = 0.1,
    width: Annotated[
        float,
        typer.Option(help="How wide the confidence interval of the error may be."),
    ] = 0.05,
    confidence: Annotated[
        float,
        typer.Option(help="Confidence of the interval and of the class names."),
    ] = 0.95,
    flip_rate: Annotated[
        float, typer.Option(help="Share of the answers that are wrong.")
    ] = 0.0,
    pairs: Annotated[
        int | None,
        typer.Option(help="Also say what this many rows of pairs.csv would give you."),
    ] = None,
    points: Annotated[
        int | None,
        typer.Option(
            help="How many points you have. With few, pairs share points, and fewer "
            "of them can test the model.",
            show_default="pairs share no point",
        ),
    ] = None,
    holdout: Annotated[
        float,
        typer.Option(help="Share of the pairs that fit keeps aside, as in fit."),
    ] = 0.2,
) -> None:
    """Say how many pairs to collect, before you collect them.

    It computes how many pairs you need for a certificate (the error of a classifier,
    measured without class labels) and for class assignment (which of the two groups
    is which). You guess the share of one class and the error. If your guess is too
    pessimistic, you collect more pairs than needed; if it is too optimistic, the
    interval will be wider than you asked for.

    This is about pairs that are drawn at random. If `pairlearn ask` chooses them, only
    its audits test the model, and their interval is wider, as you may look after every
    round.
    """
    with reporting_errors():
        try:
            found = make_plan(
                prior,
                error,
                width,
                confidence=confidence,
                flip_rate=flip_rate,
                n_pairs=pairs,
                holdout=holdout,
                n_points=points,
            )
        except ValueError as problem:
            raise OptionError(str(problem)) from None
        show(found)


def show(found: Plan) -> None:
    """Print a plan: the answers, the table of widths, and a sentence of advice."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, soft_wrap=True)
    console.print(_setting(found))
    console.print()
    for line in _answers(found):
        console.print(line, markup=False)
    console.print()
    table = Table(
        title="Pairs to collect, by the width of the interval of the error",
        title_justify="left",
    )
    table.add_column("width", justify="right")
    table.add_column("rows of pairs.csv", justify="right", style="bold")
    table.add_column(f"of these to test with, {SURE:.0%} sure", justify="right")
    table.add_column("typically", justify="right")
    table.add_column("expected interval", no_wrap=True)
    for row in found.certificates:
        width = _width(row.width) + (" *" if row.width == found.width else "  ")
        if row.expected is None:
            table.add_row(width, "no number", "", "", "")
            continue
        table.add_row(
            width,
            "too few points" if row.rows is None else f"{row.rows:,}",
            f"{row.sure:,}",
            f"{row.typical:,}",
            _interval(*row.expected.clustering_interval),
        )
    console.print(table)
    console.print(advice(found), markup=False)


def advice(found: Plan) -> str:
    """Return one sentence: what to collect."""
    wanted, assignment = found.wanted, found.assignment
    if wanted.sure is None:
        return (
            f"Advice: with {found.flip_rate:.1%} wrong answers, perhaps those of hard "
            f"pairs, no number of pairs makes the interval {_width(found.width)} wide. "
            "Have pairs answered by several people, so that fewer answers are wrong."
        )
    if wanted.rows is None:
        return (
            f"Advice: {found.n_points:,} points are too few for this: the test takes "
            f"{wanted.sure:,} pairs of {2 * wanted.sure:,} points that are in no other "
            "pair. Collect more points, or accept a wider interval."
        )
    text = (
        f"Advice: collect {wanted.rows:,} pairs, drawn at random. pairlearn fit keeps "
        f"{wanted.sure:,} of them aside to test the model, and learns from the others"
    )
    if assignment.n_pairs is None or assignment.n_pairs > wanted.rows - wanted.sure:
        one = assignment.n_points == 1
        text += f"; label {assignment.n_points:,} point{'' if one else 's'} to name "
        text += "the classes"
    else:
        text += "; these are enough to name the classes, too"
    return text + "."


def _setting(found: Plan) -> str:
    noise = f", {found.flip_rate:.1%} wrong answers" if found.flip_rate else ""
    return (
        f"Expected: error {found.error:.1%}, prior {found.prior:g}{noise}. "
        f"Confidence: {100 * found.confidence:g}%."
    )


def _answers(found: Plan) -> list[str]:
    wanted, assignment = found.wanted, found.assignment
    sure = f"{100 * found.confidence:g}%"
    width = _width(found.width)
    certificate = f"Certificate: no number of pairs makes the interval {width} wide."
    if wanted.sure is not None:
        certificate = (
            f"Certificate: with {wanted.typical:,} pairs to test with, the interval of "
            f"the error is {width} wide or narrower with probability 50%, and with "
            f"{wanted.sure:,} with probability {SURE:.0%}. It holds if answers are "
            + ("wrong as often as you say." if found.flip_rate else "right; if you do "
               "not know that, its upper end holds.")
        )  # fmt: skip
    lines = [certificate]
    if assignment.n_pairs is None:
        lines.append(
            "Class assignment: if both classes are equally large, no number of pairs "
            "can tell which class is which. "
            f"{_points(assignment.n_points)} can, with probability {sure} or more."
        )
    else:
        lines.append(
            "Class assignment: if you know which class is larger, "
            f"{assignment.n_pairs:,} pairs tell which class is which with probability "
            f"{sure} or more ({_chance(assignment.chance)} if the model is wrong "
            "equally often about both classes). "
            f"{_points(assignment.n_points)} would be enough instead."
        )
    if found.budget is not None:
        lines.append(_budget(found, found.budget))
    return lines


def _budget(found: Plan, budget: Budget) -> str:
    text = f"Your {budget.n_rows:,} rows of pairs.csv: "
    if budget.expected is None:
        text += "too few pairs that share no point to keep some aside for a test. "
    else:
        low, high = budget.expected.clustering_interval
        text += (
            f"{budget.expected.n_pairs:,} to test with, so a certificate of about "
            f"{_interval(low, high)}, {_width(high - low)} wide; "
            f"{_width(found.width)} or narrower with probability "
            f"{_chance(budget.chance_of_width)}. "
        )
    if budget.assignment is None:
        return text + (
            "Class assignment is impossible from pairs if both classes are equally "
            "large."
        )
    return text + (
        f"Class assignment is right with probability {_chance(budget.assignment)}."
    )


def _points(n_points: int) -> str:
    return f"{n_points:,} labelled point{'' if n_points == 1 else 's'}"


def _chance(chance: float | None) -> str:
    """Return a probability; one that is not quite 1 or 0 is not shown as that."""
    if chance is None:
        return ""
    if chance > 0.999:
        return "above 99.9%"
    return "below 0.1%" if chance < 0.001 else f"{chance:.1%}"


def _width(width: float) -> str:
    return f"{100 * width:.2g}%"


def _interval(low: float, high: float) -> str:
    """Return an interval with as many digits as its width is worth."""
    digits = max(1, 1 - math.floor(math.log10(100 * (high - low) + 1e-9)))
    return f"{low:.{digits}%} to {high:.{digits}%}"
