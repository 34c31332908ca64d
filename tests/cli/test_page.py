"""The page of a fit says what was found, to everyone, and runs nothing."""

import os
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import StandardScaler

from pairlearn import PairClassifier, Pairs, certify, make_pair_pipeline
from pairlearn.cli.page import render_page, write_page
from pairlearn.cli.page.advice import narrower
from pairlearn.cli.page.figures import score_figure
from pairlearn.cli.page.markup import Html, fill, table, text
from pairlearn.cli.sizes import SURE
from pairlearn.cli.summary import FitSummary
from pairlearn.trust.certificate import certificate_from_counts
from pairlearn.trust.in_words import in_words
from pairlearn.trust.planning import chance_of_width
from tests.support.pages import EVIL, ROW, Tags, section, suspicions, words

SECTIONS = [
    "short", "reading", "certificate", "scores", "uncertain", "suspicious",
    "importance", "data", "candidates",
]  # fmt: skip


@pytest.fixture(scope="module")
def summary():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.7, 1, 0)
    X = rng.normal(size=(300, 3)) + 2 * y[:, None]
    points = pd.DataFrame(X, columns=["width", "height", "depth"])
    pairs, t = Pairs.sample(points, 150, y, random_state=0)
    clf = PairClassifier(majority="ripe", classes=("raw", "ripe"), random_state=0)
    columns = make_column_transformer((StandardScaler(), list(points)))
    model = make_pair_pipeline(columns, clf).fit(pairs[:80], t[:80])
    return FitSummary(
        model=model,
        points=points,
        ids=[f"p{i:03d}" for i in range(300)],
        pairs=pairs,
        t=t,
        certificate=certify(model, pairs[80:], t[80:]),
        certificate_pairs=70,
        candidates=model[-1].candidates_,
        suspicious=suspicions(t, rng.permutation(150)),
        notes=["2 unsure answers were left out"],
        columns=[(name, "number, standardised") for name in points],
        source={"points": "fruit.csv", "pairs": "asked.csv"},
        seconds=1.25,
        classes=("raw", "ripe"),
        importance=[("width", 0.2), ("depth", 0.1), ("height", 0.01)],
        version="0.1.0",
    )


@pytest.fixture(scope="module")
def html(summary):
    return render_page(summary)


def test_sections_are_present_and_linked(html):
    tags = Tags(html)
    assert tags.names == SECTIONS
    assert tags.addresses == [f"#{name}" for name in SECTIONS]


def test_page_is_self_contained(html):
    tags = Tags(html)
    assert not tags.open
    assert not {"script", "link", "img", "iframe", "object"} & set(tags.tags)
    assert not re.search(r"@import|url\(|https?:|//", re.sub(r"/\*.*?\*/", "", html))
    assert "default-src 'none'" in html


def test_same_bytes_in_another_process(summary, html, tmp_path):
    (tmp_path / "summary.pickle").write_bytes(pickle.dumps(summary))
    code = (
        "import pickle, sys; from pairlearn.cli.page import write_page; "
        "from pathlib import Path; "
        "write_page('page.html', pickle.loads(Path('summary.pickle').read_bytes()))"
    )
    subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONHASHSEED": "321"},
        cwd=tmp_path,
        check=True,
    )
    assert (tmp_path / "page.html").read_bytes() == html.encode()


def test_time_does_not_show(summary, html):
    assert render_page(replace(summary, seconds=99.0)) == html
    assert not re.search(r"\b20[2-9]\d-|\d\d:\d\d", words(html))


def test_numbers_are_those_of_the_model(summary, html):
    certificate = summary.certificate
    low, high = certificate.clustering_interval
    said = words(section(html, "certificate"))
    assert f"The error is {certificate.clustering_error:.1%}" in said
    assert f"between {low:.1%} and {high:.1%}" in said
    assert "70 pairs that share no point" in said
    predicted = summary.model.predict(summary.points)
    n_raw, n_ripe = (int(np.sum(predicted == name)) for name in summary.classes)
    assert f"raw: {n_raw} points ripe: {n_ripe} points" in words(html)
    assert f"{n_raw} and {n_ripe}" in words(section(html, "short"))
    # Every point is in one bar of its side's colour.
    drawn = section(html, "scores")
    for side, count in enumerate((n_raw, n_ripe)):
        bars = re.findall(rf'<rect class="side{side}"[^>]*height="([\d.]+)"', drawn)
        assert len(bars) <= min(20, count)
    assert re.search(rf"{n_raw} on the side of the first class", drawn)


def test_uncertain_points_are_the_nearest_ones(summary, html):
    scores = summary.model.decision_function(summary.points)
    nearest = np.argsort(np.abs(scores))[:12]
    shown = re.findall(r'<th scope="row"[^>]*>(.*?)</th>', section(html, "uncertain"))
    assert shown == [summary.ids[i] for i in nearest]
    sure = summary.model.predict_proba(summary.points).max(axis=1)
    said = words(section(html, "uncertain"))
    assert f"{sure[nearest[0]]:.1%}" in said
    assert f"{np.sum(sure < 0.75)} of 300 points" in said


def test_suspicious_answers(summary, html):
    found = section(html, "suspicious")
    rows = re.findall(ROW, found)
    worst = summary.suspicious.order[0]
    i, j = summary.pairs.index[worst]
    cells = re.findall(r">([^<]+)</t[hd]>", rows[0])
    assert cells[:2] == [summary.ids[i], summary.ids[j]]
    assert cells[2] == ("same" if summary.t[worst] > 0 else "different")
    assert cells[3] == f"{summary.suspicious.probability[worst]:.1%}"
    assert cells[4:] == ["90.0%", "yes"]
    n_doubtful = int(np.sum(summary.suspicious.suspicion > 0.5))
    assert f"{n_doubtful} of 150 answers" in words(found)
    assert len(rows) == 12


def test_real_suspicious_answers(summary):
    module = pytest.importorskip("pairlearn.trust.suspicious")
    found = module.suspicious_answers(
        summary.model, summary.pairs, summary.t, cv=2, random_state=0
    )
    rows = section(render_page(replace(summary, suspicious=found)), "suspicious")
    assert 5 <= len(re.findall(ROW, rows)) <= 12


def test_no_wrong_answers(summary):
    found = suspicions(summary.t, np.arange(150))
    found.suspicion = found.suspicion / 2
    found.contradicted[:] = False
    said = section(render_page(replace(summary, suspicious=found)), "suspicious")
    assert "No answer looks wrong" in said
    assert "contradiction:" not in said
    assert len(re.findall(ROW, said)) == 5


def test_suspicions_of_other_answers_are_refused(summary):
    found = suspicions(summary.t[:10], np.arange(10))
    with pytest.raises(ValueError, match="10 answers, but there are 150"):
        render_page(replace(summary, suspicious=found))


def test_what_is_missing_is_explained(summary):
    bare = replace(
        summary,
        certificate=None,
        certificate_pairs=0,
        candidates=None,
        suspicious=None,
        importance=None,
        notes=[],
        source={},
    )
    html = render_page(bare)
    assert Tags(html).names == SECTIONS
    assert "The error was not measured" in section(html, "certificate")
    assert "pairlearn certify" in section(html, "certificate")
    assert "not searched for mistakes" in section(html, "suspicious")
    assert "was not computed" in section(html, "importance")
    assert "no others were tried" in section(html, "candidates")
    assert "What was noticed" not in html
    assert "None" not in words(html)


def test_user_text_is_escaped(summary):
    evil = replace(
        summary,
        ids=[EVIL] * 300,
        notes=[EVIL],
        columns=[(EVIL, EVIL)],
        source={"points": EVIL, "pairs": EVIL},
        classes=(EVIL, "b" * 500),
        importance=[(EVIL, 0.5)],
        version=EVIL,
    )
    html = render_page(evil)
    tags = Tags(html)
    assert not tags.open
    assert not {"script", "img"} & set(tags.tags)
    assert tags.addresses == [f"#{name}" for name in SECTIONS]
    assert "&lt;script&gt;" in html
    assert "b" * 100 not in html


def test_user_text_is_no_place_of_the_template(summary):
    name = "{digest} {version?} <!-- page -->"
    odd = replace(
        summary,
        ids=[name] * 300,
        notes=[name],
        source={"points": name, "pairs": name},
        classes=(name, "{second:,}"),
        version=name,
        digest=name,
    )
    page = render_page(odd)
    shown = "{digest} {version?} &lt;!-- page --&gt;"
    assert f"<h1>{shown}: a classifier" in page
    assert f"digest <code>{shown}</code>" in page
    assert page.count("<!-- ") == 0
    assert page.count("<!DOCTYPE") == 1
    with pytest.raises(KeyError, match="content"):
        fill("item", other="a place that is not filled is no page")


def test_odd_characters():
    assert text("a\x00b\u202ec\ud800") == "a\ufffdb\ufffdc\ufffd"
    assert text("x" * 100 + "1") == "x" * 39 + "…" + "x" * 19 + "1"
    assert text(Html("<b>")) == "<b>"
    assert "<td>&lt;b&gt;</td>" in table(["a", "b"], [("c", "<b>")])
    assert text("日本 é") == "日本 é"


def test_odd_characters_are_written(summary, tmp_path):
    odd = replace(summary, ids=["\ud800\x07日本"] * 300, classes=("$\\frac{", "é"))
    write_page(tmp_path / "page.html", odd)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "��日本" in page
    assert "$\\frac{" in page


def test_many_columns_are_counted(summary):
    names = [f"column {k}" for k in range(200)]
    wide = replace(
        summary,
        columns=[(name, "number" if k % 2 else "text") for k, name in enumerate(names)],
        importance=[(name, 1 / (k + 1)) for k, name in enumerate(names)],
        notes=[f"note {k}" for k in range(40)],
    )
    html = render_page(wide)
    assert "column 22 and 88 more" in html
    assert "185 more columns change 6.2% of the points or less each" in html
    assert "<summary>28 more</summary>" in html
    assert "note 39" in html
    assert len(html) < 60_000


def test_two_points():
    class Model:
        def decision_function(self, X):
            return np.zeros(len(X))

    points = pd.DataFrame({"x": [0.0, 1.0]})
    tiny = FitSummary(
        Model(), points, ["a", "b"], Pairs(points, [[0, 1]]), np.array([-0.5])
    )
    html = render_page(tiny)
    assert Tags(html).names == SECTIONS
    assert "All points are on one side" in html
    assert "probability</th>" not in section(html, "uncertain")
    assert "Of these, uncertain" in html


def test_swapped_groups(summary):
    model = pickle.loads(pickle.dumps(summary.model))  # noqa: S301 - our own
    settled = section(render_page(summary), "reading")
    assert "knowing which class is larger" in settled
    assert "swapped" not in settled
    model[-1].assignment_ = None
    assert "may be swapped" in render_page(replace(summary, model=model))
    model[-1].assignment_ = SimpleNamespace(
        method="pairs", n_pairs=12, n_points=0, p_value=0.38
    )
    assert "these in 38.0% of cases" in render_page(replace(summary, model=model))
    model[-1].assignment_ = SimpleNamespace(method="points", n_pairs=0, n_points=9)
    html = render_page(replace(summary, model=model))
    assert "by 9 points whose class is known" in html


@pytest.mark.parametrize(("n_wrong", "n_pairs"), [(40, 400), (9, 50), (0, 30)])
def test_advice_makes_the_interval_narrower(n_wrong, n_pairs):
    certificate = certificate_from_counts(n_wrong, n_pairs)
    rows = narrower(certificate, 5 * n_pairs)
    assert rows
    for width, needed, more in rows:
        assert more == needed - 5 * n_pairs
        # One row in five is kept aside, as before.
        chance = chance_of_width(needed // 5, certificate.clustering_error, width)
        assert chance >= SURE
    assert [width for width, *_ in rows] == sorted((w for w, *_ in rows), reverse=True)


def test_certificates_of_every_kind(summary):
    guess = certificate_from_counts(52, 100)
    html = section(render_page(replace(summary, certificate=guess)), "certificate")
    assert "The model must first become better" in html
    crossed = certificate_from_counts(3, 90, flip_rate=0.02, cross_validated=True)
    html = render_page(replace(summary, certificate=crossed, certificate_pairs=0))
    assert "Estimated error" in html
    assert "the interval is only an estimate" in html
    assert "2.0% of the answers are taken as wrong" in html
    narrow = certificate_from_counts(10_000, 1_000_000)
    html = render_page(replace(summary, certificate=narrow))
    assert "as narrow as anyone is likely to need" in html
    some = replace(summary, certificate_pairs=100)
    assert "30 more pairs were kept aside" in render_page(some)


def test_error_in_words():
    assert in_words(certificate_from_counts(0, 1000)) == (
        "Of 1,000 new points like these, about 0 are put into the wrong group; with "
        "95% confidence at most 2."
    )
    for n_wrong in range(0, 60, 5):
        certificate = certificate_from_counts(n_wrong, 300)
        least, most = certificate.clustering_interval
        said = in_words(certificate)
        whole = 1000 if "Of 1,000" in said else 100
        found = [int(n) / whole for n in re.findall(r"at (?:least|most) (\d+)", said)]
        assert found[-1] >= most
        assert len(found) == 1 or found[0] <= least


def test_histogram_counts_every_point():
    scores = np.concatenate([np.linspace(-2, -0.1, 30), [0.0], np.linspace(0.1, 2, 9)])
    figure = score_figure(scores)
    assert "40 points: 31 on the side of the first class, 9" in figure
    heights = [float(h) for h in re.findall(r'<rect[^>]*height="([\d.]+)"', figure)]
    top = int(re.findall(r">([\d,]+)</text>", figure)[2])
    assert sum(heights) / 174 * top == pytest.approx(40, abs=0.2)
    assert "3 points: 2 on the side of the first class, 1" in score_figure(
        np.array([1e-300, -5.0, 0.0])
    )
    for scale in (1e-3, 0.3, 10.7, 12345.0):
        ticks = re.findall(r'y="208">([^<]*)<', score_figure(scale * scores))
        assert len(ticks) == 5
        assert ticks[2] == "0"
        assert ticks[0] == "−" + ticks[4]


def test_written_as_a_whole_or_not_at_all(summary, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")
    monkeypatch.setattr("pathlib.Path.replace", _fail)
    with pytest.raises(OSError, match="no room"):
        write_page(path, summary)
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text() == "old"
    monkeypatch.undo()
    write_page(path, summary)
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text().startswith("<!DOCTYPE html>")


def _fail(*_):
    raise OSError("no room")


def test_places_that_cannot_be(summary, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write_page(tmp_path / "no" / "page.html", summary)
    with pytest.raises(IsADirectoryError, match="is a folder, not a file"):
        write_page(tmp_path, summary)
