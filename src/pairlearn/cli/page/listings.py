"""The sections that list points, answers, columns and candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pairlearn.cli.page.markup import (
    Html,
    bullets,
    fill,
    join,
    percent,
    table,
    text,
)
from pairlearn.cli.page.scored import DOUBTFUL

if TYPE_CHECKING:
    from pairlearn.cli.page.scored import ScoredPoints
    from pairlearn.cli.summary import FitSummary

__all__ = ["candidates", "data", "importance", "people", "suspicious", "uncertain"]
__all__ += ["words"]

# Rows of tables, and names in a cell; the rest is counted.
POINTS = 12
ANSWERS = 12
COLUMNS = 15
CANDIDATES = 10
NAMES = 12
# Answers that are shown however good they look.
LEAST = 5
# Below this probability a point is called uncertain.
CLEAR = 0.75


def uncertain(scored: ScoredPoints) -> Html:
    """Return the points nearest to the boundary."""
    summary, probability = scored.summary, scored.probability
    n_points, unclear = len(scored.scores), Html("")
    nearest = np.argsort(np.abs(scored.scores), kind="stable")[:POINTS].tolist()
    head = ["point", "score", "group"]
    rows: list[list[object]] = [
        [
            summary.ids[i],
            _signed(scored.scores[i], ".3f"),
            summary.classes[scored.group[i]],
        ]
        for i in nearest
    ]
    if probability is not None:
        head.append("probability")
        for i, row in zip(nearest, rows, strict=True):
            row.append(percent(probability[i]))
        n_unclear = int(np.sum(probability < CLEAR))
        unclear = fill(
            "unclear",
            n_unclear=n_unclear,
            n_points=n_points,
            share=n_unclear / n_points,
            clear=CLEAR,
        )
    return fill(
        "uncertain",
        unclear=unclear,
        n_shown=len(rows),
        n_points=n_points,
        table=table(head, rows, words=(0, 2)),
    )


def suspicious(scored: ScoredPoints) -> Html:
    """Return the answers that are likeliest to be wrong."""
    summary, found = scored.summary, scored.summary.suspicious
    if found is None:
        return fill("not searched")
    suspicion = np.asarray(found.suspicion, dtype=float)
    n_answers = len(suspicion)
    if n_answers != len(summary.t):
        raise ValueError(
            f"suspicious tells of {n_answers} answers, but there are {len(summary.t)}"
        )
    if not n_answers:
        return fill("no answers")
    n_doubtful = int(np.sum(suspicion > DOUBTFUL))
    contradicted = np.asarray(found.contradicted, dtype=bool)
    n_contradicted = int(contradicted.sum())
    shown = np.asarray(found.order)[: min(ANSWERS, max(n_doubtful, LEAST))]
    rows = [
        (
            *(summary.ids[i] for i in summary.pairs.index[k].tolist()),
            _answer(summary.t[k]),
            percent(float(found.probability[k])),
            percent(float(suspicion[k])),
            "yes" if contradicted[k] else "no",
        )
        for k in shown.tolist()
    ]
    head = "point", "and point", "answer", "P(same)", "P(answer wrong)", "contradicted"
    return fill(
        "suspicious",
        told=fill(
            "some wrong" if n_doubtful else "none wrong",
            n_doubtful=n_doubtful,
            n_answers=n_answers,
        ),
        contradicted=fill("contradicted", n_contradicted=n_contradicted)
        if n_contradicted
        else "",
        n_shown=len(rows),
        n_answers=n_answers,
        table=table(head, rows, words=(0, 1, 2, 5)),
    )


def _answer(t: float) -> str:
    if abs(t) == 1:
        return "same" if t > 0 else "different"
    kind = "unsure" if t == 0 else "probably same" if t > 0 else "probably different"
    return f"{kind} ({_signed(t)})"


def people(scored: ScoredPoints) -> Html:
    """Return who answered how much, and how far they agree."""
    report = scored.summary.people
    if report is None:
        return Html("")
    persons, couples = report.shown_persons(), report.shown_couples()
    head = ("person", "answers", "same", "different", "unsure", "agrees with others")
    rows = [
        (
            person.name,
            f"{person.n_answers:,}",
            f"{person.n_same:,}",
            f"{person.n_different:,}",
            f"{person.n_unsure:,}",
            "–"
            if person.agreement is None
            else f"{person.agreement:.0%} of {person.n_compared:,}",
        )
        for person in persons
    ]
    shown = Html("")
    if len(couples):
        made = [
            (
                couple.one,
                couple.other,
                f"{couple.n_pairs:,}",
                f"{couple.agreement:.0%}",
                "undefined" if couple.kappa is None else _kappa(couple.kappa),
                "–"
                if couple.kappa_interval is None
                else " to ".join(_kappa(end) for end in couple.kappa_interval),
            )
            for couple in couples
        ]
        titles = ("person", "and person", "pairs", "agree", "kappa", "95% interval")
        shown = fill("couples", table=table(titles, made, words=(0, 1)))
    notes = [f"{note}." for note in (*report.notes, *couples.remarks)]
    n_split = len(report.disagreements)
    return fill(
        "people",
        told=bullets(report.headline),
        persons=table(head, rows),
        n_persons=len(report.persons),
        n_shown=len(persons),
        rates=_rates(scored.summary, {person.name for person in persons}),
        couples=shown,
        notes=bullets(notes) if notes else "",
        settle=fill("to settle", n_split=n_split) if n_split else "",
    )


def _rates(summary: FitSummary, names: set[str]) -> Html:
    """Return how often people are right, where the model has found it."""
    found = getattr(summary.model[-1], "people_", None)
    if found is None:
        return Html("")

    def rate(value: float, low: float, high: float) -> str:
        return f"{value:.0%} ({100 * low:.0f} to {100 * high:.0f})"

    rows = [
        (
            row.name,
            rate(row.r1, *row.r1_interval),
            rate(1 - row.r0, 1 - row.r0_interval[1], 1 - row.r0_interval[0]),
            row.remark,
        )
        for row in found
        if row.name in names
    ]
    head = ("person", "right if same", "right if different", "remark")
    return fill("rates", table=table(head, rows, words=(0, 3)))


def _kappa(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def importance(scored: ScoredPoints) -> Html:
    """Return the columns that the model relies on."""
    found = scored.summary.importance
    if not found:
        return fill("no importance" if found is None else "no columns")
    ranked = sorted(found, key=lambda row: -row[1])
    largest = max(ranked[0][1], 1e-12)
    rows = [
        (name, percent(max(value, 0.0)), _bar(value / largest))
        for name, value in ranked[:COLUMNS]
    ]
    rest, n_left = Html(""), len(ranked) - len(rows)
    if n_left:
        rest = fill("less important", n_left=n_left, most=max(ranked[COLUMNS][1], 0.0))
    what = "sides" if len(scored.summary.classes) == 2 else "groups"
    head = "column", f"points that change {what}", ""
    shown = table(head, rows, words=(0, 2))
    return fill("importance", what=what, table=shown, rest=rest)


def words(scored: ScoredPoints) -> Html:
    """Return the words that set the texts of each group apart."""
    rows = [
        (name, word, percent(inside), percent(outside))
        for name, some in scored.summary.words.items()
        for word, inside, outside in some
    ]
    head = "group", "word", "texts in the group", "other texts"
    return fill("words", table=table(head, rows, words=(0, 1)))


def _bar(share: float) -> Html:
    """Return a bar whose length is a share of the whole."""
    return fill("bar", width=100 * min(max(share, 0.0), 1.0))


def data(scored: ScoredPoints) -> Html:
    """Return what was read, and what was made of it."""
    summary = scored.summary
    t = np.asarray(summary.t)
    n_soft, n_kept = int(np.sum(np.abs(t) != 1)), summary.certificate_pairs
    facts = {
        "Points": f"{len(summary.ids):,}{_in_file(summary.source.get('points'))}",
        "Pairs": f"{len(t):,}{_in_file(summary.source.get('pairs'))}",
        "Answers": f"{np.sum(t > 0):,} same, {np.sum(t < 0):,} different",
        "Of these, uncertain": f"{n_soft:,}" if n_soft else "",
        "Points in some pair": f"{len(np.unique(summary.pairs.index)):,}",
        "Columns": f"{len(summary.columns):,}",
        "Kept aside for the certificate": f"{n_kept:,} pairs" if n_kept else "",
    }
    return fill(
        "data",
        facts=join(
            fill("fact", name=name, value=text(value, most=300))
            for name, value in facts.items()
            if value
        ),
        notes=fill("notes", notes=bullets(summary.notes)) if summary.notes else "",
        columns=_encodings(summary),
    )


def _in_file(name: str | None) -> str:
    return f", from {name}" if name else ""


def _encodings(summary: FitSummary) -> Html:
    groups: dict[str, list[str]] = {}
    for name, how in summary.columns:
        groups.setdefault(how, []).append(name)
    if not groups:
        return fill("no columns")
    rows = [(how, f"{len(names):,}", _some(names)) for how, names in groups.items()]
    return fill("columns", table=table(["how", "columns", "which"], rows, words=(0, 2)))


def _some(names: list[str]) -> Html:
    shown = join((text(name, most=40) for name in names[:NAMES]), ", ")
    left = len(names) - NAMES
    return Html(f"{shown} and {left:,} more" if left > 0 else shown)


def candidates(scored: ScoredPoints) -> Html:
    """Return the models that were tried."""
    tried = scored.summary.candidates
    if tried is None or not len(tried):
        return fill("one candidate")
    rows = [
        (
            row.kernel,
            row.columns or "–",
            "–" if row.scale is None else f"{row.scale:g}",
            f"{row.log_likelihood:.4f}".replace("-", "−"),
            percent(row.pair_error),
            percent(row.weight),
        )
        for row in tried[:CANDIDATES]
    ]
    head = "kernel", "columns", "scale", "log-likelihood", "pair error", "weight"
    note = text(tried.note[:1].upper() + tried.note[1:], most=600)
    rest, n_left = Html(""), len(tried) - len(rows)
    if n_left:
        weight = sum(row.weight for row in tried[CANDIDATES:])
        rest = fill("less weight", n_left=n_left, weight=weight)
    return fill(
        "candidates",
        n_tried=len(tried),
        caption=fill("caption", note=note) if note else "",
        table=table(head, rows, words=(0, 1)),
        rest=rest,
    )


def _signed(value: float, form: str = ".3g") -> str:
    return f"{value:+{form}}".replace("-", "−")
