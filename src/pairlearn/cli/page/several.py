"""The first sections of the page of more than two groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.cli.certificate_words import kinds_caveats, lopsided_group
from pairlearn.cli.page.advice import narrower_within
from pairlearn.cli.page.figures import error_figure, purity_figure
from pairlearn.cli.page.markup import (
    Html,
    bullets,
    card,
    fill,
    join,
    percent,
    sentence,
    table,
    text,
)
from pairlearn.cli.page.scored import DOUBTFUL
from pairlearn.cli.several_kinds import headline
from pairlearn.trust.in_words import NOTHING, kinds_in_words

if TYPE_CHECKING:
    from pairlearn.cli.page.scored import ScoredPoints
    from pairlearn.trust.kinds_certificate import KindsCertificate

__all__ = ["certificate", "reading", "short"]


def short(scored: ScoredPoints) -> Html:
    """Return what was found, in three cards and a sentence or two."""
    summary, found = scored.summary, scored.summary.kinds_certificate
    n_groups, n_answers = len(summary.classes), len(summary.t)
    lead = [text(headline(summary))]
    error = card("Error", "unknown", fill("no error"))
    alone = lopsided_group(summary)
    if alone is not None:
        lead.append(text(alone, most=300))
    if found is not None:
        lead.append(text(kinds_in_words(found), most=600))
        note = fill(
            "kinds interval",
            range=found.range_in_words(),
            confidence=100 * found.confidence,
        )
        # A number that almost any other might replace is none to begin a page with.
        known = found.interval[1] < NOTHING
        shown = percent(found.error) if known else "not known yet"
        error = card("Certified error" if known else "Error", shown, note)
    if summary.suspicious is None:
        answers = card("Answers", f"{n_answers:,}", fill("no search"))
    else:
        n_doubtful = np.sum(np.asarray(summary.suspicious.suspicion) > DOUBTFUL)
        note = fill("doubtful", n_answers=n_answers)
        answers = card("Doubtful answers", f"{n_doubtful:,}", note)
    how = "several found" if summary.kinds is not None else "several given"
    pair_error, largest = summary.answer_error, np.bincount(scored.group).max()
    return fill(
        "several short",
        groups=card("Groups of points", f"{n_groups}", fill(how)),
        error=error,
        answers=answers,
        lead=join(lead, " "),
        told=""
        if pair_error is None
        else fill("answers", told=text(pair_error.in_words(), most=300)),
        largest=fill("largest group", error=1 - largest / len(scored.group)),
    )


def reading(scored: ScoredPoints) -> Html:
    """Return what the words mean, and how the groups got their names."""
    summary = scored.summary
    named = fill("several named" if summary.named else "several unnamed")
    return fill("several reading", n_groups=len(summary.classes), named=named)


def certificate(scored: ScoredPoints) -> Html:
    """Return the error, what it rests on, and how pure each group is."""
    found = scored.summary.kinds_certificate
    if found is None:
        return fill("no audits" if scored.summary.chosen else "no certificate")
    twins = join(
        (fill("item", content=join((a, b), " and ")) for a, b in found.same_kind),
        "\n",
    )
    # Twins and advice stand in places of their own.
    own = {*found.twins_in_words()}
    conditions = [
        sentence(line)
        for line in kinds_caveats(found)
        if line not in own and "--within-groups" not in line
    ]
    return fill(
        "kinds certificate",
        error=found.error,
        range=found.range_in_words(),
        confidence=100 * found.confidence,
        n_pairs=found.n_pairs,
        n_within=found.n_within,
        conditions=bullets(conditions),
        shares="in the table of points"
        if scored.summary.chosen
        else "among the points of these pairs",
        drawing=error_figure(found.error, found.interval, 1.0),
        table=_purities(found),
        twins=fill("twins", couples=fill("list", items=twins)) if twins else "",
        advice=_advice(found),
    )


def _purities(found: KindsCertificate) -> Html:
    rows = [
        (
            group.name,
            percent(group.share),
            "not known" if math.isnan(group.purity) else percent(group.purity),
            Html("{:.1%} to {:.1%}".format(*group.interval)),
            purity_figure(group.purity, group.interval),
            f"{group.n_pairs:,}",
            f"{group.n_different:,}",
            "not known" if math.isnan(group.purity) else percent(group.error),
        )
        for group in found.groups
    ]
    head = (
        "group",
        "share of points",
        "purity",
        "between",
        "0 to 100%",
        "pairs within",
        "of them different",
        "adds to the error",
    )
    return table(head, rows, words=(0, 4))


def _advice(found: KindsCertificate) -> Html:
    rows = [
        (f"{n_pairs:,}", f"{low:.1%} to {high:.1%}")
        for n_pairs, (low, high) in narrower_within(found)
    ]
    shown = Html("")
    if rows:
        head = "answers about pairs within groups", "the error is then between"
        shown = fill("kinds narrower", table=table(head, rows, words=()))
    return fill("kinds advice", table=shown)
