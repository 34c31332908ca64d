"""The page of more than two groups says how pure each is, and what it is like."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import StandardScaler

from pairlearn import MCLClassifier, Pairs, certify, make_pair_pipeline
from pairlearn.cli.page import render_page
from pairlearn.cli.page.advice import narrower_within
from pairlearn.cli.page.figures import purity_figure
from pairlearn.cli.page.telling import telling_columns
from pairlearn.cli.several_kinds import AnswerError
from pairlearn.cli.summary import FitSummary
from pairlearn.models.auto.kinds import Kinds, KindsTried
from pairlearn.trust.in_words import kinds_in_words
from pairlearn.trust.kinds_counts import kinds_certificate_from_counts
from tests.support.pages import EVIL, ROW, Tags, section, suspicions, words

SECTIONS = [
    "short", "reading", "certificate", "groups", "typical", "uncertain", "suspicious",
    "importance", "kinds", "data", "candidates",
]  # fmt: skip
GRAPES = ("barolo", "grignolino", "barbera")
# What is true of two groups only.
OF_TWO = ("swapp", "two groups are", "The two groups", "either of two", "change sides")


class Nearest:
    """A model that puts points to the nearest of some centres."""

    def __init__(self, centres):
        self.centres = centres

    def decision_function(self, X):
        gaps = X[["a", "b"]].to_numpy()[:, None] - self.centres
        return -0.5 * np.sum(gaps**2, axis=2)

    def predict(self, X):
        return self.decision_function(X).argmax(axis=1)

    def predict_proba(self, X):
        odds = np.exp(self.decision_function(X) - self.decision_function(X).max())
        return odds / odds.sum(axis=1, keepdims=True)


def certificate_of(n_groups, names=None):
    counts = [1] * n_groups, [40] * n_groups, [1 / n_groups] * n_groups
    return kinds_certificate_from_counts(*counts, names=names)


def made(n_groups, n_points=600, n_pairs=900, **more):
    """A summary of as many groups on a circle; every answer is right."""
    rng = np.random.default_rng(0)
    turn = 2 * np.pi * np.arange(n_groups) / n_groups
    centres = n_groups * np.column_stack([np.cos(turn), np.sin(turn)])
    kind = rng.integers(n_groups, size=n_points)
    X = pd.DataFrame(centres[kind] + rng.normal(size=(n_points, 2)), columns=["a", "b"])
    X["colour"] = np.where(kind == 0, "red", "blue")
    X["day"] = 19723.0 + 100 * kind
    pairs, t = Pairs.sample(X, n_pairs, kind, reuse=True, random_state=0)
    given = {
        "model": Nearest(centres),
        "points": X,
        "ids": [f"p{i:03d}" for i in range(n_points)],
        "pairs": pairs,
        "t": t,
        "classes": tuple(f"group {k}" for k in range(n_groups)),
        "columns": [
            ("a", "numbers"),
            ("b", "numbers"),
            ("colour", "text"),
            ("day", "dates, as days (year first)"),
        ],
        "source": {"points": "wine.csv", "pairs": "asked.csv"},
        "importance": [("a", 0.3), ("b", 0.2)],
    }
    return FitSummary(**(given | more))


@pytest.fixture(scope="module")
def summary():
    """Three groups, learnt and certified."""
    start = made(3)
    kind = start.model.predict(start.points)  # nearly the truth, which is not kept
    pairs, t = start.pairs, start.t
    model = make_pair_pipeline(
        make_column_transformer((StandardScaler(), ["a", "b"])),
        MCLClassifier(n_classes=3, classes=GRAPES, random_state=0),
    ).fit(pairs[:500], t[:500])
    fresh = Pairs.sample(start.points, 300, kind, random_state=1)
    tried = [KindsTried(2, 90.0, -0.4, False), KindsTried(3, 16.0, -0.1, True)]
    return replace(
        start,
        model=model,
        classes=GRAPES,
        suspicious=suspicions(t, np.arange(len(t))),
        answer_error=AnswerError(2, 80, (0.003, 0.087)),
        kinds_certificate=certify(_forgetful(model), *fresh),
        certificate_pairs=300,
        kinds=Kinds(tried, "more than two were tried because few answers are 'same'"),
        notes=["2 unsure answers were left out"],
    )


def _forgetful(model):
    """Return what predicts as a model, and remembers no point."""
    forgetful = Nearest(None)
    forgetful.predict = model.predict
    forgetful.classes_ = np.array(GRAPES)
    return forgetful


@pytest.fixture(scope="module")
def html(summary):
    return render_page(summary)


def cells(row):
    return [words(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]


def test_sections_are_present_and_linked(html):
    tags = Tags(html)
    assert not tags.open
    assert tags.names == SECTIONS
    assert tags.addresses == [f"#{name}" for name in SECTIONS]
    assert not {"script", "link", "img", "iframe", "object"} & set(tags.tags)


def test_nothing_is_said_of_two_groups(html):
    for phrase in OF_TWO:
        assert phrase not in words(html)


def test_short(summary, html):
    found, said = summary.kinds_certificate, words(section(html, "short"))
    assert "Groups of points3found from answers alone" in said
    assert f"Certified error{found.error:.1%}" in said
    assert "The answers speak for 3 kinds, not for two." in said
    assert kinds_in_words(found) in said
    assert "2.5% (2 of 80)" in said
    group = summary.model.predict(summary.points)
    largest = max(np.mean(group == name) for name in GRAPES)
    assert f"one group for all points would err on about {1 - largest:.1%}" in said
    assert "No second group" not in said
    alone = replace(summary, shares={"barolo": 0.99, "barbera": 0.01})
    assert "No second group was found" in section(render_page(alone), "short")


def test_purity_of_each_group(summary, html):
    found, part = summary.kinds_certificate, section(html, "certificate")
    low, high = found.interval
    assert f"between {low:.1%} and {high:.1%}" in words(part)
    assert f"of which {found.n_within} have both points in one group" in words(part)
    assert "Every answer is taken as right" in words(part)
    rows = re.findall(ROW, part)
    for group, row in zip(found.groups, rows, strict=False):
        low, high = group.interval
        shown = cells(row)
        assert shown[:4] == [
            group.name,
            f"{group.share:.1%}",
            f"{group.purity:.1%}",
            f"{low:.1%} to {high:.1%}",
        ]
        assert shown[5:7] == [f"{group.n_pairs}", f"{group.n_different}"]
        label = f"Purity {group.purity:.1%}, between {low:.1%} and {high:.1%}."
        assert f'role="img" aria-label="{label}"' in row
    assert "pairs_within_groups" in part
    assert "--within-groups" in part
    assert "seem to be one kind" not in part


def test_groups_that_are_one_kind(summary):
    found = summary.kinds_certificate
    twins = tuple(
        replace(couple, at_least=0.7 if k == 0 else 0.0)
        for k, couple in enumerate(found.couples)
    )
    html = render_page(
        replace(summary, kinds_certificate=replace(found, couples=twins))
    )
    said = words(section(html, "certificate"))
    assert "Some groups seem to be one kind" in said
    assert " and ".join(twins[0].names) in said


def test_matrix_counts_every_answer(summary, html):
    part = section(html, "groups")
    rows = [cells(row) for row in re.findall(ROW, part)]
    assert [row[0] for row in rows] == list(GRAPES)
    group = summary.model.decision_function(summary.points).argmax(axis=1)
    left, right = group[summary.pairs.index].T
    for k, row in enumerate(rows):
        for j, cell in enumerate(row[1:]):
            here = ((left == k) & (right == j)) | ((left == j) & (right == k))
            n_same = np.sum(summary.t[here] > 0)
            assert cell == f"{n_same} of {np.sum(here)}"
    said = words(part)
    assert "This is no test: all 900 answers are counted" in said
    assert part.count('scope="col"') == 4
    assert part.count('scope="row"') == 3


def test_typical_members(summary, html):
    rows = [cells(row) for row in re.findall(ROW, section(html, "typical"))]
    sure = summary.model.predict_proba(summary.points)
    group = sure.argmax(axis=1)
    for k, row in enumerate(rows[:3]):
        assert row[0] == GRAPES[k]
        assert row[1] == f"{np.sum(group == k)}"
        members = [summary.ids.index(name) for name in row[2].split(", ")]
        assert len(members) == 5
        others = np.setdiff1d(np.flatnonzero(group == k), members)
        assert sure[members, k].min() >= sure[others, k].max()
    told = words(section(html, "typical"))
    assert re.search(r"day: typically 2024-\d\d-\d\d, others", told)
    assert "colour is red: " in told
    assert len(rows) == 3 + 15


def test_points_between_groups(summary, html):
    rows = [cells(row) for row in re.findall(ROW, section(html, "uncertain"))]
    sure = np.sort(summary.model.predict_proba(summary.points), axis=1)
    lead = sure[:, -1] - sure[:, -2]
    nearest = np.argsort(lead, kind="stable")[:12]
    assert [row[0] for row in rows] == [summary.ids[i] for i in nearest]
    assert all(row[1] != row[3] for row in rows)
    assert rows[0][2] == f"{sure[nearest[0], -1]:.1%}"


def test_why_so_many_kinds(summary, html):
    part = section(html, "kinds")
    assert "More than two were tried because few answers are 'same'." in words(part)
    rows = [cells(row) for row in re.findall(ROW, part)]
    assert rows == [["2", "−0.4000", "90.0", ""], ["3", "−0.1000", "16.0", "chosen"]]
    given = render_page(replace(summary, kinds=None))
    assert "The number of groups was given" in section(given, "kinds")
    assert "as many as you asked for" in section(given, "short")


def test_names(summary, html):
    assert "The names say nothing" in section(html, "reading")
    assert "no class labels" in html
    named = render_page(replace(summary, named=True))
    assert "names from points whose class is known" in section(named, "reading")
    assert "class labels for the names alone" in named
    assert "The names say nothing" not in named


def test_no_certificate(summary):
    bare = replace(
        summary,
        kinds_certificate=None,
        answer_error=None,
        suspicious=None,
        importance=None,
        kinds=None,
        notes=[],
        source={},
    )
    html = render_page(bare)
    assert Tags(html).names == SECTIONS
    assert "Errorunknownthere is no certificate" in words(section(html, "short"))
    assert "The error was not measured" in section(html, "certificate")
    assert "None" not in words(html)
    assert "nan" not in words(html)


def test_ten_groups():
    html = render_page(made(10, kinds_certificate=certificate_of(10)))
    tags = Tags(html)
    assert not tags.open
    assert tags.names == SECTIONS
    assert len(re.findall(ROW, section(html, "groups"))) == 10
    assert section(html, "certificate").count('class="purity"') == 10
    assert 'class="table wide"' in section(html, "groups")
    assert "Only the" not in section(html, "groups")
    assert len(html) < 80_000


def test_very_many_groups_are_cut():
    html = render_page(made(25, n_points=2000, n_pairs=3000))
    assert len(re.findall(ROW, section(html, "groups"))) == 20
    assert "Only the 20 largest of 25 groups are shown" in html


def test_user_text_is_escaped(summary):
    names = (EVIL, "{digest} <!-- page -->", "c" * 500)
    found = summary.kinds_certificate
    groups = tuple(
        replace(group, name=name)
        for group, name in zip(found.groups, names, strict=True)
    )
    couples = tuple(
        replace(couple, names=names[:2], at_least=0.9) for couple in found.couples
    )
    points = summary.points.assign(colour=EVIL).rename(columns={"day": EVIL})
    points.loc[:99, "colour"] = "{version}"
    evil = replace(
        summary,
        ids=[EVIL] * 600,
        points=points,
        classes=names,
        kinds_certificate=replace(found, groups=groups, couples=couples),
        kinds=Kinds([KindsTried(3, None, -0.1, True)], EVIL),
        columns=[(EVIL, EVIL)],
        importance=[(EVIL, 0.5)],
        notes=[EVIL],
        version=EVIL,
    )
    html = render_page(evil)
    tags = Tags(html)
    assert not tags.open
    assert not {"script", "img"} & set(tags.tags)
    assert tags.addresses == [f"#{name}" for name in SECTIONS]
    assert "&lt;script&gt;" in section(html, "typical")
    assert html.count("<!-- ") == 0
    assert "c" * 100 not in html


def test_a_model_without_probabilities_and_an_empty_group():
    class Scores:
        def decision_function(self, X):
            scores = np.zeros((len(X), 3))
            scores[:, 0] = np.where(np.arange(len(X)) % 2, 1.0, -1.0)
            return scores

    points = pd.DataFrame({"x": np.arange(6.0)})
    tiny = FitSummary(
        Scores(),
        points,
        list("abcdef"),
        Pairs(points, [[0, 1], [2, 3]]),
        np.array([-1.0, 0.5]),
        classes=("A", "B", "C"),
    )
    html = render_page(tiny)
    assert Tags(html).names == SECTIONS
    assert "no points" in section(html, "typical")
    assert "probability</th>" not in section(html, "uncertain")


def test_too_few_pairs_are_no_error_of_zero(summary):
    few = kinds_certificate_from_counts([0, 0, 0], [2, 3, 1], [0.3, 0.4, 0.3])
    short = words(
        section(render_page(replace(summary, kinds_certificate=few)), "short")
    )
    assert "Errornot known yet" in short
    assert "only 6 of the pairs that were kept aside" in short
    bad = kinds_certificate_from_counts([60, 60], [100, 100], [0.5, 0.5])
    assert "do not show that the groups are of any use" in kinds_in_words(bad)


def test_purities_that_are_not_known(summary):
    empty = kinds_certificate_from_counts([1, 0, 0], [30, 30, 0], [0.4, 0.4, 0.2])
    html = section(
        render_page(replace(summary, kinds_certificate=empty)), "certificate"
    )
    assert "Purity not known, between 0.0% and 100.0%." in html
    assert "nan" not in html
    assert 'class="dot"' not in purity_figure(np.nan, (0.0, 1.0))


@pytest.mark.parametrize("n_groups", [3, 10])
def test_advice_is_what_pairs_within_groups_give(n_groups):
    found = certificate_of(n_groups)
    rows = narrower_within(found)
    assert rows
    widths = [high - low for _, (low, high) in rows]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] < found.interval[1] - found.interval[0]
    for n_pairs, (low, high) in rows:
        assert low < found.error < high, n_pairs


def test_telling_columns():
    rng = np.random.default_rng(0)
    group = np.arange(9000) % 3
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=9000),
            "size": rng.normal(size=9000) + 3.0 * (group == 1),
            "rare": np.where((group == 2) & (rng.random(9000) < 0.4), 1.0, 0.0),
            "word": pd.Series(np.where(group == 2, "x", "y")).mask(group == 0),
            "empty": np.nan,
        }
    )
    first, second, third = telling_columns(frame, group, 3)
    assert "noise" not in {each.column for each in first + second + third}
    assert second[0].column in ("size", "word")
    assert any("size: typically 3" in each.told for each in second)
    assert any(
        re.match(r"rare: on average 0\.\d+, others 0$", each.told) for each in third
    )
    assert any("word is x: 100%, others 0%" in each.told for each in third)
