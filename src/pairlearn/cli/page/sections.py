"""The sections of the page: what was found, in words and in pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.cli.page import listings
from pairlearn.cli.page.advice import in_words, narrower
from pairlearn.cli.page.figures import certificate_figure, score_figure
from pairlearn.cli.page.markup import (
    Html,
    bullets,
    join,
    paragraph,
    percent,
    table,
    text,
)
from pairlearn.cli.page.scored import DOUBTFUL
from pairlearn.cli.sizes import SURE

if TYPE_CHECKING:
    from pairlearn.cli.page.scored import ScoredPoints
    from pairlearn.trust.certificate import Certificate

__all__ = ["Section", "sections"]


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    name: str
    title: str
    body: Html


def sections(scored: ScoredPoints) -> list[Section]:
    """Return all sections, what most people look for first."""
    return [
        Section("short", "In short", _short(scored)),
        Section("reading", "How to read this", _reading(scored)),
        Section("certificate", "How good is it?", _certificate(scored)),
        Section("scores", "The points and their scores", _scores(scored)),
        Section("uncertain", "The most uncertain points", listings.uncertain(scored)),
        Section("suspicious", "Answers to look at again", listings.suspicious(scored)),
        Section("importance", "Which columns matter", listings.importance(scored)),
        Section("data", "The data", listings.data(scored)),
        Section("candidates", "What was tried", listings.candidates(scored)),
    ]


def _short(scored: ScoredPoints) -> Html:
    summary, certificate = scored.summary, scored.summary.certificate
    lead = Html("")
    if certificate is None:
        error = _card("Error", "unknown", "there is no certificate")
    else:
        low, high = certificate.clustering_interval
        error = _card(
            "Estimated error" if certificate.cross_validated else "Certified error",
            percent(certificate.clustering_error),
            f"between {low:.1%} and {high:.1%} "
            f"({100 * certificate.confidence:g}% confidence)",
        )
        lead = paragraph(in_words(certificate), kind="lead")
    sizes = np.bincount(scored.group, minlength=2)
    first, second = scored.names
    groups = _card(
        "Groups of points",
        f"{sizes[0]:,} and {sizes[1]:,}",
        Html(f"{first} and {second}"),
    )
    if summary.suspicious is None:
        answers = _card("Answers", f"{len(summary.t):,}", "not searched for mistakes")
    else:
        n_doubtful = int(np.sum(np.asarray(summary.suspicious.suspicion) > DOUBTFUL))
        answers = _card(
            "Doubtful answers",
            f"{n_doubtful:,}",
            f"of {len(summary.t):,} are more likely wrong than right",
        )
    return join([Html(f'<div class="cards">{error}{groups}{answers}</div>'), lead])


def _card(title: str, value: str, note: object) -> Html:
    return Html(
        f'<div class="card"><span class="what">{text(title)}</span>'
        f'<span class="value">{text(value)}</span>'
        f'<span class="small">{text(note, most=200)}</span></div>'
    )


def _reading(scored: ScoredPoints) -> Html:
    first, second = scored.names
    sentences = f"""
    <strong>Points</strong> are the rows of your table. A <strong>pair</strong> is two
    points that someone compared, and the <strong>answer</strong> says whether they are
    of the same kind.

    The model was learned from the answers alone, and puts every point into one of two
    groups. Its <strong>score</strong> is negative for {first} and positive for
    {second}. A score near 0 is close to the boundary; the farther from 0, the surer.

    The <strong>error</strong> is the share of points that are put into the wrong group.
    It is computed from how often the model disagrees with answers that it had not seen.
    Chance plays a part, so it comes with an interval; more answers make it narrower.

    A <strong>probability</strong> of 90% means: of ten points like this, about nine are
    in the group named. At 50% it could be either.

    The lists of points and answers say where a second look is most useful. They do not
    prove that any one of them is wrong.
    """
    items = [Html(" ".join(item.split())) for item in sentences.split("\n\n")]
    return join([bullets(items), _which_is_which(scored)])


def _which_is_which(scored: ScoredPoints) -> Html:
    """Say how the groups got their names."""
    last = scored.summary.model
    if hasattr(last, "steps"):
        last = last.steps[-1][1]
    assignment = getattr(last, "assignment_", None)
    first, second = scored.names
    if assignment is None:
        return _remark(
            "partly",
            f"<strong>The two groups may be swapped.</strong> What is called {first} "
            f"here may really be {second}: answers about pairs find the two groups, "
            "but not their names. To decide, say which class is larger, or look at a "
            "few points of each group.",
        )
    if assignment.method == "points":
        how = f"by {assignment.n_points:,} points whose class is known."
        doubtful = False
    else:
        how = f"by {assignment.n_pairs:,} answers, knowing which class is larger."
        p_value = assignment.p_value
        doubtful = p_value is not None and p_value > 0.1
        if doubtful:
            how += (
                " This was not clear: by chance alone, answers would be as clear as "
                f"these in {percent(p_value)} of cases. <strong>The names may be "
                "swapped.</strong>"
            )
    settled = f"Which group is {first} and which is {second} was decided {how}"
    return _remark("partly", settled) if doubtful else Html(f"<p>{settled}</p>")


def _certificate(scored: ScoredPoints) -> Html:
    summary, certificate = scored.summary, scored.summary.certificate
    if certificate is None:
        return paragraph(
            "The error was not measured, because there were no pairs that the model "
            "had not seen and that share no point. Collect random pairs of new "
            "points (",
            Html("<code>pairlearn plan</code>"),
            " says how many) and give them to ",
            Html("<code>pairlearn certify</code>"),
            ".",
        )
    low, high = certificate.clustering_interval
    if certificate.cross_validated:
        basis = (
            "Each of these pairs was judged by a model that was trained without it, "
            "not by the final model. So the interval is only an estimate: for a "
            "guarantee, keep pairs aside or collect fresh ones."
        )
    else:
        basis = (
            "The model has not seen these pairs. The interval is exact if they were "
            "drawn at random from the kind of points that the model will be used for"
        )
        basis += (
            ", and if the share of wrong answers is as stated here."
            if certificate.flip_rate
            else (
                ", and if they were answered correctly: a wrong answer counts as an "
                "error of the model (use --noise to say how many answers are wrong)."
            )
        )
    if certificate.flip_rate:
        basis += f" About {percent(certificate.flip_rate)} of answers are assumed to "
        basis += "be wrong, and do not count as errors of the model."
    parts = [
        paragraph(
            f"The error is {percent(certificate.clustering_error)}. With "
            f"{100 * certificate.confidence:g}% confidence it lies between "
            f"{low:.1%} and {high:.1%}. This rests on "
            f"{certificate.n_pairs:,} pairs that share no point. {basis}"
        ),
        _figure(
            certificate_figure(certificate),
            "The dot is the error, and the band is its interval. Guessing has an error "
            "of 50%.",
        ),
        _advice(certificate),
        paragraph(
            "If the names of the two groups are swapped, this does not count as an "
            "error here.",
            kind="footnote",
        ),
    ]
    if summary.certificate_pairs and summary.certificate_pairs > certificate.n_pairs:
        n_left = summary.certificate_pairs - certificate.n_pairs
        parts.insert(
            1,
            paragraph(
                f"{n_left:,} more pairs were kept aside for this, but could not be "
                "counted, because they share points with others or are unsure."
            ),
        )
    return join(parts)


def _advice(certificate: Certificate) -> Html:
    low, high = certificate.clustering_interval
    rows = narrower(certificate)
    if not rows and high >= 0.5:
        return paragraph(
            "The model must first become better than guessing, with more answers to "
            "learn from or with better columns; so no number of pairs is proposed here."
        )
    if not rows:
        return paragraph("The interval is as narrow as anyone is likely to need.")
    return table(
        ["width of the interval", "pairs in all", "more pairs"],
        [
            (f"{100 * width:g} percentage points", f"{needed:,}", f"{more:,}")
            for width, needed, more in rows
        ],
        caption=(
            f"The interval is now {100 * (high - low):.1f} percentage points wide. The "
            "table says how many random pairs, of points that are in no other pair, "
            f"would make it narrower (with probability {SURE:.0%}, if the error is as "
            "measured):"
        ),
    )


def _scores(scored: ScoredPoints) -> Html:
    sizes = np.bincount(scored.group, minlength=2)
    first, second = scored.names
    legend = Html(
        '<p class="key">'
        f'<span class="swatch side0"></span> {first}: {sizes[0]:,} points '
        f'<span class="swatch side1"></span> {second}: {sizes[1]:,} points</p>'
    )
    if not sizes.all():
        told = "All points are on one side of the boundary: the model puts them all "
        told += "into one group."
    else:
        told = (
            "Two hills with a valley at 0 mean that the groups are well separated. "
            "Points near 0 could be in either group."
        )
    caption = "The number of points with each score."
    if len(scored.scores) > 100:
        caption += " The most extreme 1% of scores are counted in the outermost bars."
    return join(
        [paragraph(told), legend, _figure(score_figure(scored.scores), caption)]
    )


def _figure(drawing: Html, caption: str) -> Html:
    return Html(
        f"<figure>\n{drawing}\n<figcaption>{text(caption, most=600)}</figcaption>\n"
        "</figure>"
    )


def _remark(kind: str, content: str) -> Html:
    return Html(f'<div class="check {kind}"><p>{content}</p></div>')
