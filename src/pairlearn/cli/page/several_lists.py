"""The sections of the page of more than two groups that list groups and points."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.cli.page.listings import CLEAR, POINTS
from pairlearn.cli.page.markup import (
    Html,
    fill,
    join,
    percent,
    sentence,
    table,
    text,
)
from pairlearn.cli.page.telling import shown_value, telling_columns
from pairlearn.trust.kinds_counts import GroupCounts
from pairlearn.trust.telling import LOOKED

if TYPE_CHECKING:
    from pairlearn.cli.page.scored import ScoredPoints
    from pairlearn.data.types import Ints

__all__ = ["between", "kinds", "matrix", "typical"]

# Groups that a matrix shows, couples that are named, and members of each group.
MATRIX = 20
MIXED = 5
MEMBERS = 5
# So many groups fit on the screen of a phone.
FIT = 4


def matrix(scored: ScoredPoints) -> Html:
    """Return how many answers between two groups, or within one, are "same"."""
    summary = scored.summary
    n_groups = len(summary.classes)
    t = np.asarray(summary.t)
    counts = GroupCounts.of(scored.group[summary.pairs.index], t, n_groups)
    same, n_pairs = counts.same, counts.same + counts.different
    # As many answers below the diagonal as above.
    same, n_pairs = (np.maximum(each, each.T) for each in (same, n_pairs))
    sizes = np.bincount(scored.group, minlength=n_groups)
    shown = np.sort(np.argsort(-sizes, kind="stable")[:MATRIX])
    names = [text(name, most=24) for name in summary.classes]
    rows = [
        (names[k], *(_cell(int(same[k, j]), int(n_pairs[k, j])) for j in shown))
        for k in shown.tolist()
    ]
    head = ["", *(names[k] for k in shown.tolist())]
    n_unsure = int(counts.unsure.sum())
    cut = n_groups > len(shown)
    return fill(
        "groups matrix",
        seen=fill("matrix seen", n_answers=len(t) - n_unsure),
        cut=fill("matrix cut", n_shown=len(shown), n_groups=n_groups) if cut else "",
        unsure=fill("matrix unsure", n_unsure=n_unsure) if n_unsure else "",
        wide=" wide" if len(shown) > FIT else "",
        table=table(head, rows),
        mixed=_mixed(same, n_pairs, names),
    )


def _cell(n_same: int, n_pairs: int) -> Html:
    if not n_pairs:
        return fill("empty cell")
    return fill("matrix cell", share=n_same / n_pairs, n_same=n_same, n_pairs=n_pairs)


def _mixed(same: Ints, n_pairs: Ints, names: list[Html]) -> Html:
    """Return the couples of groups that are most often called the same."""
    couples = [(i, j) for i, j in combinations(range(len(names)), 2) if same[i, j]]
    couples.sort(key=lambda each: -same[each] / n_pairs[each])
    if not couples:
        return Html("")
    lines = [
        fill(
            "mixed couple",
            one=names[i],
            other=names[j],
            n_same=same[i, j],
            n_pairs=n_pairs[i, j],
        )
        for i, j in couples[:MIXED]
    ]
    items = join((fill("item", content=line) for line in lines), "\n")
    return fill("mixed", couples=fill("list", items=items))


def typical(scored: ScoredPoints) -> Html:
    """Return the surest members of each group, and what sets it apart."""
    summary = scored.summary
    n_groups, n_points = len(summary.classes), len(scored.group)
    dates = {name for name, how in summary.columns if how.startswith("dates")}
    telling = telling_columns(summary.points, scored.group, n_groups, dates)
    sure = scored.scores if scored.probability is None else scored.probability
    order = np.lexsort((-scored.scores, -sure))
    rows: list[tuple[object, ...]] = []
    members: list[tuple[object, ...]] = []
    for k, name in enumerate(summary.classes):
        best = order[scored.group[order] == k][:MEMBERS].tolist()
        lines = [fill("line", content=each.told) for each in telling[k]]
        rows.append(
            (
                name,
                f"{np.sum(scored.group == k):,}",
                join((text(summary.ids[i], most=24) for i in best), ", ")
                or fill("no members"),
                join(lines) or fill("nothing telling" if best else "no members"),
            )
        )
        for i in best:
            values = join(
                (
                    fill(
                        "value",
                        column=text(each.column, most=40),
                        value=text(
                            shown_value(
                                summary.points[each.column].iloc[i],
                                each.column in dates,
                            ),
                            most=80,
                        ),
                    )
                    for each in telling[k]
                ),
                "; ",
            )
            members.append(
                (
                    summary.ids[i],
                    name,
                    "–"
                    if scored.probability is None
                    else percent(scored.probability[i]),
                    values or "–",
                )
            )
    head = "group", "points", "surest members", "what sets it apart"
    values_head = "point", "group", "probability", "values of what sets the group apart"
    sampled = n_points > LOOKED
    return fill(
        "typical",
        sampled=fill("typical sampled", n_looked=LOOKED) if sampled else "",
        table=table(head, rows, words=(0, 2, 3)),
        members=table(values_head, members, words=(0, 1, 3)),
    )


def between(scored: ScoredPoints) -> Html:
    """Return the points that could be in either of two groups."""
    summary, first, second = scored.summary, scored.probability, scored.second
    n_points, unclear, lead = len(scored.scores), Html(""), scored.scores
    head = ["point", "group", "or"]
    if first is not None and scored.second_probability is not None:
        lead = first - scored.second_probability
        head = ["point", "group", "probability", "or", "probability"]
        n_unclear = int(np.sum(first < CLEAR))
        unclear = fill(
            "unclear",
            n_unclear=n_unclear,
            n_points=n_points,
            share=n_unclear / n_points,
            clear=CLEAR,
        )
    rows = []
    for i in np.argsort(lead, kind="stable")[:POINTS].tolist():
        row: list[object] = [summary.ids[i], summary.classes[scored.group[i]]]
        other = "–" if second is None else summary.classes[second[i]]
        if first is None or scored.second_probability is None:
            rows.append([*row, other])
        else:
            p, q = first[i], scored.second_probability[i]
            rows.append([*row, percent(p), other, percent(q)])
    return fill(
        "between",
        unclear=unclear,
        n_shown=len(rows),
        n_points=n_points,
        table=table(head, rows, words=(0, 1, len(head) - 2 if len(head) > 3 else 2)),
    )


def kinds(scored: ScoredPoints) -> Html:
    """Return the numbers of kinds that were tried."""
    tried = scored.summary.kinds
    if tried is None:
        return fill("kinds given")
    rows = [
        (
            f"{row.n_classes}",
            f"{row.log_likelihood:.4f}".replace("-", "−"),
            "–" if row.objective is None else f"{row.objective:,.1f}",
            "chosen" if row.chosen else "",
        )
        for row in tried
    ]
    reason = tried.reason or f"{tried.chosen} kinds explain the answers best"
    head = "kinds", "held-out log-likelihood", "objective", ""
    return fill(
        "kinds",
        reason=text(sentence(reason.rstrip(".")), most=600),
        table=table(head, rows, words=(3,)),
    )
