"""The sections that list points, answers, columns and candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pairlearn.cli.page.markup import (
    Html,
    bar,
    bullets,
    join,
    paragraph,
    percent,
    table,
    text,
)
from pairlearn.cli.page.scored import DOUBTFUL

if TYPE_CHECKING:
    from pairlearn.cli.page.scored import ScoredPoints
    from pairlearn.cli.summary import FitSummary

__all__ = ["candidates", "data", "importance", "suspicious", "uncertain"]

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
    summary = scored.summary
    nearest = np.argsort(np.abs(scored.scores), kind="stable")[:POINTS]
    head, words = ["point", "score", "group"], (0, 2)
    if scored.probability is not None:
        head.append("probability")
    rows = []
    for i in nearest.tolist():
        row: list[object] = [
            summary.ids[i],
            _signed(scored.scores[i], ".3f"),
            summary.classes[scored.group[i]],
        ]
        if scored.probability is not None:
            row.append(percent(scored.probability[i]))
        rows.append(row)
    n_points = len(scored.scores)
    told = "These points are nearest to the boundary. If you can check some points by "
    told += "hand, or collect more answers to learn from, start with these."
    if scored.probability is not None:
        unclear = int(np.sum(scored.probability < CLEAR))
        told += f" In all, {unclear:,} of {n_points:,} points "
        told += f"({percent(unclear / n_points)}) have a probability below {CLEAR:.0%}."
    caption = f"The {len(rows)} points nearest to the boundary, of {n_points:,}."
    return join([paragraph(told), table(head, rows, caption=caption, words=words)])


def suspicious(scored: ScoredPoints) -> Html:
    """Return the answers that are likeliest to be wrong."""
    summary, found = scored.summary, scored.summary.suspicious
    if found is None:
        return paragraph(
            "The answers were not searched for mistakes. That takes several fits with "
            "parts of the answers, and enough answers to leave some out."
        )
    suspicion = np.asarray(found.suspicion, dtype=float)
    if len(suspicion) != len(summary.t):
        raise ValueError(
            f"suspicious tells of {len(suspicion)} answers, but there are "
            f"{len(summary.t)}"
        )
    if not len(suspicion):
        return paragraph("There are no answers.")
    n_doubtful = int(np.sum(suspicion > DOUBTFUL))
    contradicted = np.asarray(found.contradicted, dtype=bool)
    shown = np.asarray(found.order)[: min(ANSWERS, max(n_doubtful, LEAST))]
    rows = []
    for k in shown.tolist():
        i, j = summary.pairs.index[k].tolist()
        rows.append(
            (
                summary.ids[i],
                summary.ids[j],
                _answer(summary.t[k]),
                percent(float(found.probability[k])),
                percent(float(suspicion[k])),
                "yes" if contradicted[k] else "no",
            )
        )
    if n_doubtful:
        told = f"{n_doubtful:,} of {len(suspicion):,} answers are more likely wrong "
        told += "than right, judged by models that were trained without them and by "
        told += "the other answers. Ask these questions again, or check them by hand."
    else:
        told = "No answer looks wrong: each is more likely right than wrong, judged by "
        told += "models that were trained without it and by the other answers. The "
        told += "list shows those that are the least likely to be right."
    n_contradicted = int(contradicted.sum())
    if n_contradicted:
        told += f" {n_contradicted:,} answers are part of a contradiction: together "
        told += "with others they cannot all be right (if A is like B and B like C, "
        told += "then A is like C). One wrong answer can contradict many right ones."
    return join(
        [
            paragraph(told),
            table(
                ["point", "and point", "answer", "P(same)", "P(answer wrong)",
                 "contradicted"],
                rows,
                caption=f"The {len(rows)} most suspicious answers, of "
                f"{len(suspicion):,}.",
                words=(0, 1, 2, 5),
            ),
        ]
    )  # fmt: skip


def _answer(t: float) -> str:
    if abs(t) == 1:
        return "same" if t > 0 else "different"
    kind = "unsure" if t == 0 else "probably same" if t > 0 else "probably different"
    return f"{kind} ({_signed(t)})"


def importance(scored: ScoredPoints) -> Html:
    """Return the columns that the model relies on."""
    found = scored.summary.importance
    if found is None:
        return paragraph("The importance of the columns was not computed.")
    if not found:
        return paragraph("There are no columns.")
    ranked = sorted(found, key=lambda row: -row[1])
    largest = max(ranked[0][1], 1e-12)
    rows = [
        (name, percent(max(value, 0.0)), bar(value / largest))
        for name, value in ranked[:COLUMNS]
    ]
    parts = [
        paragraph(
            "The table says how many points change sides when the values of a column "
            "are shuffled among the points. The longer the bar, the more the model "
            "relies on the column. If columns say much the same, each can replace the "
            "others, and each looks less important than they are together."
        ),
        table(["column", "points that change sides", ""], rows, words=(0, 2)),
    ]
    n_left = len(ranked) - len(rows)
    if n_left:
        most = percent(max(ranked[COLUMNS][1], 0.0))
        parts.append(
            paragraph(
                f"{n_left:,} more columns change {most} of the points or less each.",
                kind="footnote",
            )
        )
    return join(parts)


def data(scored: ScoredPoints) -> Html:
    """Return what was read, and what was made of it."""
    summary = scored.summary
    t = np.asarray(summary.t)
    n_points, n_pairs = len(summary.ids), len(t)
    n_same, n_different = int(np.sum(t > 0)), int(np.sum(t < 0))
    n_seen = len(np.unique(summary.pairs.index))
    source = summary.source
    facts: list[tuple[object, object]] = [
        ("Points", f"{n_points:,}{_in_file(source.get('points'))}"),
        ("Pairs", f"{n_pairs:,}{_in_file(source.get('pairs'))}"),
        ("Answers", f"{n_same:,} same, {n_different:,} different"),
        ("Points in some pair", f"{n_seen:,}"),
        ("Columns", f"{len(summary.columns):,}"),
    ]
    n_soft = int(np.sum(np.abs(t) != 1))
    if n_soft:
        facts.insert(3, ("Of these, uncertain", f"{n_soft:,}"))
    if summary.certificate_pairs:
        kept = f"{summary.certificate_pairs:,} pairs"
        facts.append(("Kept aside for the certificate", kept))
    listed = "".join(
        f"<dt>{text(name)}</dt><dd>{text(value, most=300)}</dd>"
        for name, value in facts
    )
    parts = [Html(f'<dl class="facts">{listed}</dl>')]
    if summary.notes:
        parts += [Html("<h3>What was noticed</h3>"), bullets(summary.notes)]
    parts += [Html("<h3>How the columns were used</h3>"), _encodings(summary)]
    return join(parts)


def _in_file(name: str | None) -> str:
    return f", from {name}" if name else ""


def _encodings(summary: FitSummary) -> Html:
    groups: dict[str, list[str]] = {}
    for name, how in summary.columns:
        groups.setdefault(how, []).append(name)
    if not groups:
        return paragraph("There are no columns.")
    return table(
        ["how", "columns", "which"],
        [(how, f"{len(names):,}", _some(names)) for how, names in groups.items()],
        words=(0, 2),
    )


def _some(names: list[str]) -> Html:
    shown = ", ".join(text(name, most=40) for name in names[:NAMES])
    left = len(names) - NAMES
    return Html(f"{shown} and {left:,} more" if left > 0 else shown)


def candidates(scored: ScoredPoints) -> Html:
    """Return the models that were tried."""
    tried = scored.summary.candidates
    if tried is None or not len(tried):
        return paragraph("Only this one model was trained; no others were tried.")
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
    n_left = len(tried) - len(rows)
    parts = [
        paragraph(
            f"{len(tried):,} models of different kinds were trained and judged by "
            "answers that they had not seen. The result is their average, with the "
            "weights in the last column: the better a model predicted those answers, "
            "the more it counts."
        ),
        table(
            ["kernel", "columns", "scale", "log-likelihood", "pair error", "weight"],
            rows,
            caption=tried.note[:1].upper() + tried.note[1:],
            words=(0, 1),
        ),
    ]
    if n_left:
        rest = sum(row.weight for row in tried[CANDIDATES:])
        more = f"{n_left:,} more models have {percent(rest)} of the weight together."
        parts.append(paragraph(more, kind="footnote"))
    return join(parts)


def _signed(value: float, form: str = ".3g") -> str:
    return f"{value:+{form}}".replace("-", "−")
