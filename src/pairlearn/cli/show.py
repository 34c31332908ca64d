"""What the commands print: results on standard output, progress on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairlearn.cli.certificate_words import (
    error_line,
    group_rows,
    kinds_caveats,
    kinds_source_line,
    lopsided_group,
    one_group_line,
    source_line,
    useless,
)
from pairlearn.cli.errors_before import change_in_words, was_rows
from pairlearn.cli.naming import listed
from pairlearn.cli.printing import Progress, say, show_error, show_notes, table
from pairlearn.cli.several_kinds import headline
from pairlearn.trust.in_words import caveats
from pairlearn.trust.kinds_certificate import KindsCertificate

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pairlearn.cli.certify import Certified
    from pairlearn.cli.check import Checked
    from pairlearn.cli.people import People
    from pairlearn.cli.predict import Predicted
    from pairlearn.cli.summary import FitSummary
    from pairlearn.people.rates import PeopleRates
    from pairlearn.trust.certificate import Certificate

__all__ = [
    "Progress",
    "say",
    "show_certified",
    "show_checked",
    "show_digest",
    "show_error",
    "show_first",
    "show_fit",
    "show_importance",
    "show_notes",
    "show_predicted",
    "show_suspicious",
    "show_words",
    "show_written",
    "table",
]

_MOST_COLUMNS = 30
_MOST_WORDS = 6
_SAID = {1.0: "same", -1.0: "different"}


def _error_rows(
    certificate: Certificate, one_group_error: float | None, name: str | None
) -> list[tuple[str, str]]:
    """Return the error, what it rests on, and what one group for all would give."""
    lines = [source_line(certificate), *caveats(certificate)]
    baseline = one_group_line(one_group_error, name)
    lines += [baseline] if baseline else []
    return [("error", error_line(certificate)), *(("", line) for line in lines)]


def _kinds_rows(certificate: KindsCertificate) -> list[tuple[str, str]]:
    """Return the error, what it rests on, and the groups one by one."""
    lines = [kinds_source_line(certificate), *kinds_caveats(certificate)]
    error = f"{certificate.error:.1%}, {certificate.range_in_words()}"
    return [("error", error), *(("", line) for line in lines), *group_rows(certificate)]


def _several_rows(summary: FitSummary) -> list[tuple[str, str]]:
    """Return what is known of a model of more than two kinds."""
    shares = ", ".join(f"{name} {share:.0%}" for name, share in summary.shares.items())
    rows = [("kinds", f"{len(summary.classes)}: {shares} of the points")]
    if summary.answer_error is not None:
        rows += [
            ("pair error", summary.answer_error.in_words()),
            ("", "the share of answers kept aside that the model contradicts: an"),
            ("", "error of answers about pairs, not of points"),
        ]
    if summary.kinds_certificate is None:
        rows.append(("error", _unknown(summary)))
    else:
        rows += _kinds_rows(summary.kinds_certificate)
    return rows


def _unknown(summary: FitSummary) -> str:
    """Return why there is no error."""
    if summary.chosen:
        return "not known yet: audits alone can tell it, see the notes"
    return "unknown, see the notes"


def show_first(summary: FitSummary, *, error: bool = False) -> None:
    """Print what must be known before anything else: such as that all was in vain."""
    for said in (useless(summary), headline(summary), lopsided_group(summary)):
        if said is not None:
            say(said, error=error, style="bold")


def show_fit(summary: FitSummary, model: Path) -> None:
    """Print the outcome of a fit."""
    n_same = int((summary.t > 0).sum())
    n_different = len(summary.pairs) - n_same
    rows = [
        ("points", f"{len(summary.ids):,}, {_n_columns(summary.points.shape[1])}"),
        ("pairs", f"{len(summary.t):,}: {n_same:,} same, {n_different:,} different"),
    ]
    if summary.n_audits:
        rows.append(("audits", f"{summary.n_audits:,}, from which nothing is learned"))
    show_first(summary)
    if len(summary.classes) > 2:
        rows += _several_rows(summary)
    elif summary.certificate is None:
        rows.append(("error", _unknown(summary)))
    else:
        rows += _error_rows(
            summary.certificate, summary.one_group_error, summary.majority
        )
    rows.append(("time", f"{summary.seconds:.1f} s"))
    table(rows)
    used = [name for name, share in summary.importance or [] if share > 0][:5]
    if used:
        say(f"Columns that matter most: {', '.join(used)}")
    column, words = _words_of_one_column(summary.words)
    where = f" in {column}" if column else ""
    for name, found in words.items():
        if found:
            told = ", ".join(word for word, *_ in found[:_MOST_WORDS])
            say(f"Words of {name}{where}: {told}")
    if summary.notes:
        say("Notes on the data:")
        show_notes(summary.notes)
    if not summary.named and len(summary.classes) > 2:
        say(
            f"The groups are called {listed(summary.classes)} by their size alone, the "
            "largest first. To name them, give a table of a few points whose class you "
            "know: --labels FILE."
        )
    elif not summary.named:
        say(
            "The two groups are called A and B in no particular order. To name them, "
            "use --classes NAME,NAME, and --majority NAME for the larger one."
        )
    show_written("Model", model)
    show_digest(summary.digest)


def show_written(what: str, path: Path) -> None:
    """Print where something was written."""
    say(f"{what}: {path}", style="bold")


def show_digest(digest: str) -> None:
    """Print what tells a model file from others; the page of a fit has it, too."""
    say(f"SHA-256 of the model file: {digest}")


def show_predicted(found: Predicted, out: Path) -> None:
    """Print how many points got which class."""
    shares = ", ".join(
        f"{count:,} {name} ({count / found.n_points:.1%})"
        for name, count in found.counts.items()
    )
    say(f"{found.n_points:,} points: {shares}")
    show_notes(found.notes)
    show_written("Predictions", out)


def show_certified(found: Certified) -> None:
    """Print a certificate."""
    was = was_rows(found.was, found.certificate)
    if isinstance(found.certificate, KindsCertificate):
        rows = _kinds_rows(found.certificate)
    else:
        first, *rest = _error_rows(found.certificate, found.one_group_error, None)
        rows = [first, ("", "up to swapping the two classes"), *rest]
    if was:
        rows = [("error now", rows[0][1]), *rows[1:]]
    table([*was, *rows])
    change = change_in_words(found.was, found.certificate)
    if change is not None:
        say(change, style="bold")
    if found.notes:
        show_notes(found.notes)
    if found.audited:
        say(
            "This holds if the points of the table are random ones of those that the "
            "model is used for, and if no two of them are about one thing (several "
            "rows of one patient, say)."
        )
        return
    drawn = "at random within the groups" if found.within_groups else "at random"
    say(
        f"This holds if the pairs were drawn {drawn} from the points that the model "
        "is used for, and if no two of them are about one thing (several rows of one "
        "patient, say; --group tells which)."
    )


def show_suspicious(n_doubtful: int, n_answers: int, path: Path) -> None:
    """Print where the answers that may be wrong stand."""
    say(
        f"Suspicious answers: {n_doubtful:,} of {n_answers:,} are likelier wrong than "
        "right; all stand in the table, the most suspicious first"
    )
    show_written("Suspicious answers", path)


def show_importance(
    rows: list[tuple[str, float]], what: str, *, share: bool, most: int | None = None
) -> None:
    """Print columns with their importance or weight, the largest first."""
    say(what)
    listed = rows[: most or _MOST_COLUMNS]
    table(
        [(name, f"{value:.1%}" if share else f"{value:+.4g}") for name, value in listed]
    )
    if len(rows) > len(listed):
        say(f"and {len(rows) - len(listed)} more")


def _n_columns(n: int) -> str:
    return "1 column" if n == 1 else f"{n:,} columns"


def _words_of_one_column(
    words: Mapping[str, list[tuple[str, float, float]]],
) -> tuple[str | None, dict[str, list[tuple[str, float, float]]]]:
    """Return the words without their column, if all are from one; and the column.

    Examples
    --------
    >>> _words_of_one_column({"A": [("text: refund", 0.5, 0.1)], "B": []})
    ('text', {'A': [('refund', 0.5, 0.1)], 'B': []})
    >>> _words_of_one_column({"A": [("text: a", 1.0, 0.0), ("title: b", 1.0, 0.0)]})
    (None, {'A': [('text: a', 1.0, 0.0), ('title: b', 1.0, 0.0)]})
    """
    columns = {row[0].rpartition(": ")[0] for rows in words.values() for row in rows}
    if len(columns) != 1:
        return None, dict(words)
    cut = {
        name: [(row[0].rpartition(": ")[2], *row[1:]) for row in rows]
        for name, rows in words.items()
    }
    return columns.pop(), cut


def show_words(words: Mapping[str, list[tuple[str, float, float]]]) -> None:
    """Print the words that set the texts of each group apart."""
    if not any(words.values()):
        return
    column, short = _words_of_one_column(words)
    where = f" of {column}" if column else ""
    say(
        f"Words{where}, with the share of texts in the group that hold them, and of "
        "others:"
    )
    for name, rows in short.items():
        told = ", ".join(f"{word} ({p:.0%}, {q:.0%})" for word, p, q in rows)
        say(f"  {name}: {told or 'none that others do not hold as often'}")


def show_checked(found: Checked) -> None:
    """Print what the answers are like."""
    table(found.facts)
    for cycle in found.cycles:
        among = (
            "however many classes there are"
            if found.many_kinds
            else ("with two classes")
        )
        say(f"Contradiction: {among}, these answers cannot all be right:")
        for line, left, right, answer in cycle[:8]:
            said = _SAID.get(answer, f"{answer:+g}")
            say(f"  line {line}: {left} and {right} are {said}")
        if len(cycle) > 8:
            say(f"  and {len(cycle) - 8} more answers of the same cycle")
    if found.n_contradictions > len(found.cycles):
        say(f"and {found.n_contradictions - len(found.cycles)} more contradictions")
    if found.people is not None:
        _show_people(found.people, found.to_settle)
        _show_rates(found.rates)
    if found.notes:
        say("Notes:")
        show_notes(found.notes)
    table(found.columns[:_MOST_COLUMNS], "column", "what it is")


def _show_people(people: People, to_settle: list[str]) -> None:
    """Print how far those who answered agree, and what is to be settled."""
    report = people.report
    say("People:", style="bold")
    parts = "\n".join(report.headline), *report.tables
    for line in "\n\n".join(parts).split("\n"):
        say(f"  {line}".rstrip())
    for note in report.notes:
        say(f"  • {note}")
    if to_settle:
        n_split = len(report.disagreements)
        what = "pair" if n_split == 1 else "pairs"
        say(f"Disagreements, {n_split:,} {what} to settle, evenly divided ones first:")
    for line in to_settle:
        say(f"  {line}")


def _show_rates(rates: PeopleRates | None) -> None:
    """Print how often each person is right."""
    if rates is None:
        return
    say(
        "How often each is right, by answers of others that must agree if there are "
        "two kinds, with 95 % intervals; pairlearn fit knows more, since its models "
        "help to tell:"
    )
    for line in str(rates).split("\n"):
        say(f"  {line}".rstrip())
    for warning in rates.warnings:
        say(f"  • {warning}")
