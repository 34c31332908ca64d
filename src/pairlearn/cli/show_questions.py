"""What `pairlearn ask` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from pairlearn.ask.judging import FIRST_LOOK
from pairlearn.cli.show import say, show_notes, show_written, table

if TYPE_CHECKING:
    from pathlib import Path

    from pairlearn.cli.questions import Round
    from pairlearn.cli.simulating import CurveRow

__all__ = ["show_curve_row", "show_curve_title", "show_round"]

_TITLES = ("round", "answers", "audits", "true error", "it expects", "certificate")
_WIDTHS = (5, 7, 6, 10, 10, 16, 12)


def show_round(found: Round, written: list[Path], commands: list[str]) -> None:
    """Print what was asked, what is known, and how to go on."""
    n, n_audits = len(found.questions), found.n_audits
    rows = [
        ("round", f"{found.number}"),
        ("questions", f"{n}: {n - n_audits} to learn from, {n_audits} audits"),
        ("answers", _answers(found)),
        ("model", _model(found)),
    ]
    rows += [] if found.forecast is None else [("forecast", found.forecast)]
    table(rows)
    if found.notes:
        say("Notes:")
        show_notes(found.notes)
    show_written("Questions", written[0])
    for key in written[1:]:
        show_written("Key, not for those who answer", key)
    say("Write same, different, or ? if unsure, into the column answer. Then ask on:")
    say(f"  {commands[0]}")
    say("or learn from all answers:")
    say(f"  {commands[1]}")


def _answers(found: Round) -> str:
    said, judged = found.brought.said, found.brought.judged
    if not len(said) and not len(judged):
        return "none yet"
    n_same, n_different = int((said > 0).sum()), int((said < 0).sum())
    n_unsure = int((said == 0).sum()) + int((judged == 0).sum())
    told = (
        f"{n_same + n_different} to learn from ({n_same} same, {n_different} "
        f"different), {int((judged != 0).sum())} audits"
    )
    return told + f", {n_unsure} unsure" * bool(n_unsure)


def _model(found: Round) -> str:
    if found.expected_error is None:
        return "none yet; the questions explore the points"
    return (
        f"it expects to be wrong about {found.expected_error:.1%} of the points: its "
        "own opinion; pairlearn fit says what the audits tell"
    )


def show_curve_title(against_random: bool) -> None:
    """Print the names of the columns of a learning curve."""
    say(
        "The true error is the share of all points in the wrong class, whatever the "
        "classes are called. The certificate (95 %) holds at all rounds together."
    )
    _print((*_TITLES, "random pairs") if against_random else _TITLES)


def show_curve_row(row: CurveRow, against_random: bool) -> None:
    """Print what is known after a round, at once."""
    few = row.audits < FIRST_LOOK or row.true_error is None
    certificate = "too few audits" if few else "none"
    if row.certificate_low is not None and row.certificate_high is not None:
        certificate = f"{row.certificate_low:.1%} to {row.certificate_high:.1%}"
    cells: tuple[str, ...] = (
        f"{row.round}",
        f"{row.answers}",
        f"{row.audits}",
        "no model" if row.true_error is None else f"{row.true_error:.1%}",
        "" if row.expected_error is None else f"{row.expected_error:.1%}",
        certificate,
    )
    if against_random:
        error = row.random_error
        cells = (*cells, "no model" if error is None else f"{error:.1%}")
    _print(cells)


def _print(cells: tuple[str, ...]) -> None:
    parts = zip(cells, _WIDTHS, strict=False)
    typer.echo("  ".join(f"{cell:>{width}}" for cell, width in parts))
