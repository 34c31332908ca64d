"""The sections of the page: what was found, in words and in pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pairlearn.cli.certificate_words import lopsided_group, one_group_line, useless
from pairlearn.cli.page import listings, several, several_lists
from pairlearn.cli.page.advice import narrower
from pairlearn.cli.page.figures import error_figure, score_figure
from pairlearn.cli.page.markup import (
    Html,
    bullets,
    card,
    fill,
    percent,
    sentence,
    table,
)
from pairlearn.cli.page.scored import DOUBTFUL
from pairlearn.cli.sizes import SURE
from pairlearn.trust.in_words import caveats, in_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.cli.page.scored import ScoredPoints
    from pairlearn.trust.certificate import Certificate

__all__ = ["sections"]


def sections(scored: ScoredPoints) -> list[dict[str, object]]:
    """Return name, title and body of all sections, what most look for first."""
    of_two = (
        ("short", "In short", _short),
        ("reading", "How to read this", _reading),
        ("certificate", "How good is it?", _certificate),
        ("scores", "The points and their scores", _scores),
        ("uncertain", "The most uncertain points", listings.uncertain),
    )
    of_several = (
        ("short", "In short", several.short),
        ("reading", "How to read this", several.reading),
        ("certificate", "How good is it?", several.certificate),
        ("groups", "The groups and the answers", several_lists.matrix),
        ("typical", "Typical members", several_lists.typical),
        ("uncertain", "Points between groups", several_lists.between),
    )
    of_all: tuple[tuple[str, str, Callable[[ScoredPoints], Html]], ...] = (
        ("suspicious", "Answers to look at again", listings.suspicious),
        ("importance", "Which columns matter", listings.importance),
    )
    if any(scored.summary.words.values()):
        of_all += (("words", "The words of each group", listings.words),)
    people = scored.summary.people
    if people is not None and len(people.persons) > 1:
        of_all += (("people", "Those who answered", listings.people),)
    kinds = (("kinds", "Why so many kinds?", several_lists.kinds),)
    last = (
        ("data", "The data", listings.data),
        ("candidates", "What was tried", listings.candidates),
    )
    several_groups = len(scored.summary.classes) > 2
    made = [
        *(of_several if several_groups else of_two),
        *of_all,
        *(kinds if several_groups else ()),
        *last,
    ]
    return [
        {"name": name, "title": title, "body": body(scored)}
        for name, title, body in made
    ]


def _short(scored: ScoredPoints) -> Html:
    summary, certificate = scored.summary, scored.summary.certificate
    n_first, n_second = np.bincount(scored.group, minlength=2)
    groups = fill("groups", **scored.names)
    alone = lopsided_group(summary)
    lead = "" if alone is None else fill("lead", sentence=alone)
    nothing = useless(summary)
    if nothing is not None and alone is None:
        alone, lead = nothing, fill("lead", sentence=nothing)
    baseline = one_group_line(summary.one_group_error, summary.majority)
    if certificate is None:
        error = card("Error", "unknown", fill("no error"))
    else:
        if alone is None:
            told = in_words(certificate)
            if summary.chosen and certificate.clustering_interval[1] >= 0.5:
                told = fill("few audits", n_audits=summary.n_audits)
            lead = fill("lead", sentence=Html(told))
        error = card(
            "Estimated error" if certificate.cross_validated else "Certified error",
            percent(certificate.clustering_error),
            fill(
                "interval",
                range=certificate.range_in_words(),
                confidence=100 * certificate.confidence,
                baseline="" if baseline is None else f"; {baseline}",
            ),
        )
    n_answers = len(summary.t)
    if summary.suspicious is None:
        answers = card("Answers", f"{n_answers:,}", fill("no search"))
    else:
        n_doubtful = np.sum(np.asarray(summary.suspicious.suspicion) > DOUBTFUL)
        note = fill("doubtful", n_answers=n_answers)
        answers = card("Doubtful answers", f"{n_doubtful:,}", note)
    return fill(
        "short",
        error=error,
        groups=card("Groups of points", f"{n_first:,} and {n_second:,}", groups),
        answers=answers,
        lead=lead,
    )


def _reading(scored: ScoredPoints) -> Html:
    return fill("reading", **scored.names, named=_named(scored))


def _named(scored: ScoredPoints) -> Html:
    """Say how the groups got their names."""
    last = scored.summary.model
    if hasattr(last, "steps"):
        last = last.steps[-1][1]
    assignment = getattr(last, "assignment_", None)
    if assignment is None:
        return fill("named by nobody", **scored.names)
    if assignment.method == "points":
        return fill("named by points", n_points=assignment.n_points, **scored.names)
    p_value = assignment.p_value
    doubtful = p_value is not None and p_value > 0.1
    return fill(
        "named in doubt" if doubtful else "named by pairs",
        n_pairs=assignment.n_pairs,
        p_value=p_value,
        **scored.names,
    )


def _certificate(scored: ScoredPoints) -> Html:
    certificate = scored.summary.certificate
    if certificate is None:
        chosen = scored.summary.chosen
        return fill("no audits" if chosen else "no certificate")
    basis = "crossed" if certificate.cross_validated else "unseen"
    if scored.summary.chosen:
        basis = "audits"
    n_left = (scored.summary.certificate_pairs or 0) - certificate.n_pairs
    n_left *= not certificate.n_points
    baseline = one_group_line(scored.summary.one_group_error, scored.summary.majority)
    conditions = [sentence(line) for line in caveats(certificate)]
    return fill(
        "certificate",
        error=certificate.clustering_error,
        range=certificate.range_in_words(),
        confidence=100 * certificate.confidence,
        judged=fill(
            "judged points" if certificate.n_points else "judged pairs",
            n=certificate.n_points or certificate.n_pairs,
        ),
        basis=fill(f"basis {basis}"),
        conditions=bullets(conditions),
        uncounted=fill("uncounted", n_left=n_left) if n_left > 0 else "",
        drawing=error_figure(
            certificate.clustering_error, certificate.clustering_interval
        ),
        baseline="" if baseline is None else sentence(baseline),
        advice=fill("advice audits")
        if scored.summary.chosen
        else _advice(certificate, len(scored.summary.t)),
    )


def _advice(certificate: Certificate, n_rows: int) -> Html:
    low, high = certificate.clustering_interval
    rows = [
        (f"{100 * width:g} percentage points", f"{needed:,}", f"{more:,}")
        for width, needed, more in narrower(certificate, n_rows)
    ]
    if not rows:
        return fill("advice if guessing" if high >= 0.5 else "advice if narrow")
    head = ["width of the interval", "rows of pairs.csv in all", "more rows"]
    width = 100 * (high - low)
    return fill("advice", width=width, sure=SURE, table=table(head, rows))


def _scores(scored: ScoredPoints) -> Html:
    n_first, n_second = np.bincount(scored.group, minlength=2)
    return fill(
        "scores",
        told=fill("two sides" if n_first and n_second else "one side"),
        n_first=n_first,
        n_second=n_second,
        **scored.names,
        drawing=score_figure(scored.scores),
        extreme=fill("extreme") if len(scored.scores) > 100 else "",
    )
