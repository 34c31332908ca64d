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
            f"of {len(summary.t):,} are likelier wrong than right",
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

    From the answers alone a rule was learned that puts every point into one of two
    groups. Its <strong>score</strong> is negative for {first} and positive for
    {second}. Near 0 lies the boundary; the farther from it, the surer.

    The <strong>error</strong> is the share of points that land in the wrong group. It
    follows from how often the rule disagrees with answers that it had not seen. Chance
    plays a part, so it is given as an interval, and more answers make that narrower.

    A <strong>probability</strong> of 90% means: of ten points like this, about nine are
    in the group named. At 50% it could be either.

    The lists of points and answers say where looking again pays most. They do not prove
    that any one of them is wrong.
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
            f"here may be {second} in truth: answers about pairs tell the groups "
            "apart, but not their names. To settle it, say which class is the larger "
            "one, or look at a few points of each group.",
        )
    if assignment.method == "points":
        how = f"by {assignment.n_points:,} points whose class is known."
        doubtful = False
    else:
        how = f"by {assignment.n_pairs:,} answers, knowing which class is the larger."
        p_value = assignment.p_value
        doubtful = p_value is not None and p_value > 0.1
        if doubtful:
            how += (
                f" They hardly tell: by chance alone, {percent(p_value)} of such sets "
                "of answers would speak as clearly. <strong>The names may be swapped."
                "</strong>"
            )
    settled = f"Which group is {first} and which is {second} was settled {how}"
    return _remark("partly", settled) if doubtful else Html(f"<p>{settled}</p>")


def _certificate(scored: ScoredPoints) -> Html:
    summary, certificate = scored.summary, scored.summary.certificate
    if certificate is None:
        return paragraph(
            "There is no certificate, because no pairs were left that the model had "
            "not seen and that share no point. Collect random pairs of new points (",
            Html("<code>pairlearn plan</code>"),
            " tells how many) and give them to ",
            Html("<code>pairlearn certify</code>"),
            ".",
        )
    low, high = certificate.clustering_interval
    if certificate.cross_validated:
        basis = (
            "Each of these pairs was judged by a model trained without it. That makes "
            "the interval an estimate: for a certificate that holds as it is, keep "
            "pairs aside or collect fresh ones."
        )
    else:
        basis = (
            "The model has not seen them. The interval is exact if they were drawn at "
            "random from the kind of points that the model will be used for"
        )
        basis += (
            ", and if as many answers are wrong as is said here."
            if certificate.flip_rate
            else (
                ", and answered rightly: a wrong answer counts as an error of the "
                "model (--noise tells how many answers may be wrong)."
            )
        )
    if certificate.flip_rate:
        basis += f" About {percent(certificate.flip_rate)} of answers are taken to be "
        basis += "wrong, and are not held against the model."
    parts = [
        paragraph(
            f"The error is {percent(certificate.clustering_error)}. With "
            f"{100 * certificate.confidence:g}% confidence it lies between "
            f"{low:.1%} and {high:.1%}. This rests on "
            f"{certificate.n_pairs:,} pairs that share no point. {basis}"
        ),
        _figure(
            certificate_figure(certificate),
            "The dot is the error, the band its interval. A rule that guesses has "
            "an error of 50%.",
        ),
        _advice(certificate),
        paragraph(
            "Swapping the names of the two groups does not count as an error here.",
            kind="footnote",
        ),
    ]
    if summary.certificate_pairs and summary.certificate_pairs > certificate.n_pairs:
        n_left = summary.certificate_pairs - certificate.n_pairs
        parts.insert(
            1,
            paragraph(
                f"{n_left:,} more pairs were kept aside for it, but could not be "
                "counted, since they share points with others or are unsure."
            ),
        )
    return join(parts)


def _advice(certificate: Certificate) -> Html:
    low, high = certificate.clustering_interval
    rows = narrower(certificate)
    if not rows and high >= 0.5:
        return paragraph(
            "No number of pairs is proposed: first the model must become better than "
            "guessing, by more answers to learn from or by better columns."
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
            f"Now the interval is {100 * (high - low):.1f} percentage points wide. How "
            "many random pairs, of points that are in no other pair, would make it "
            f"narrower (with probability {SURE:.0%}, if the error is as it seems):"
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
        told = "All points are on one side of the boundary: the rule puts them all "
        told += "into one group."
    else:
        told = (
            "Two hills with a valley at 0 mean that the groups are well apart. Many "
            "points near 0 are many that could be either."
        )
    caption = "How many points have which score."
    if len(scored.scores) > 100:
        caption += " Extreme scores, 1% of all, are shown at the outermost bars."
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
