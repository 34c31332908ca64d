"""Any number of kinds on the command line."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import pairlearn
from pairlearn import Pairs
from pairlearn.cli.naming import name_groups
from pairlearn.cli.several_kinds import AnswerError
from pairlearn.files.saving import describe
from tests.support.commands import call

GRAPES = np.array(["barolo", "grignolino", "barbera"])


def fit(folder, *words, model="model.skops"):
    tables = folder / "points.csv", folder / "pairs.csv"
    return call("fit", *tables, "-o", folder / model, *words)


def said(result):
    return " ".join(result.output.split())


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    """Wines of three grapes; every answer is right."""
    folder = tmp_path_factory.mktemp("wine")
    data = load_wine(as_frame=True)
    ids = np.array([f"w{k}" for k in range(178)])
    data.data.iloc[:, :6].assign(id=ids).to_csv(folder / "points.csv", index=False)
    X, y = data.data.to_numpy(), data.target.to_numpy()
    pairs, t = Pairs.sample(X, 400, y, reuse=True, random_state=0)
    answers = np.where(t > 0, "same", "different")
    left, right = ids[pairs.index].T
    pd.DataFrame({"left": left, "right": right, "answer": answers}).to_csv(
        folder / "pairs.csv", index=False
    )
    some = slice(None, None, 12)
    few = pd.DataFrame({"id": ids[some], "class": GRAPES[y[some]]})
    few.to_csv(folder / "few.csv", index=False)
    return folder, y


def test_fit_finds_three_kinds_of_wine(wine):
    folder, y = wine
    result = fit(folder, "--report", folder / "page.html")
    assert result.exit_code == 0, result.output
    told = said(result)
    assert told.startswith("The answers speak for 3 kinds, not for two.")
    assert "error of answers about pairs, not of points" in told
    assert "group A" in told
    assert "no certificate" not in told
    assert "A, B and C" in told
    assert "contradict others" not in told
    assert "seem to be wrong" not in told
    about = describe(folder / "model.skops")["about"]
    assert about["classes"] == ["A", "B", "C"]
    assert about["certificate"] is None
    found = about["answer error"]
    low, high = found["interval"]
    assert low <= found["n_wrong"] / found["n_pairs"] <= high
    page = (folder / "page.html").read_text()
    assert "The answers speak for 3 kinds" in page
    assert "The two groups" not in page
    assert "This is no test" in page
    assert "held-out log-likelihood" in page
    assert 'aria-label="Purity ' in page
    model = pairlearn.load(folder / "model.skops")
    points = pd.read_csv(folder / "points.csv")
    predicted = model.predict(points)
    table = pd.crosstab(predicted, y).to_numpy()
    assert table.max(axis=1).sum() > 0.9 * len(y)


def test_labels_name_the_kinds(wine):
    folder, y = wine
    words = "--labels", folder / "few.csv", "--report", folder / "named.html"
    result = fit(folder, *words, model="named.skops")
    assert result.exit_code == 0, result.output
    page = (folder / "named.html").read_text()
    assert "The groups got their names from points" in page
    assert all(page.count(name) > 5 for name in GRAPES)
    assert "labelled point(s) name the groups" in said(result)
    assert "--labels FILE" not in said(result)
    out = folder / "out.csv"
    assert (
        call("predict", folder / "named.skops", folder / "points.csv", "-o", out)
    ).exit_code == 0
    predicted = pd.read_csv(out)
    assert {f"probability_{name}" for name in GRAPES} <= set(predicted)
    assert np.mean(predicted["class"] == GRAPES[y]) > 0.9


def test_a_given_number_of_kinds(wine):
    folder, _ = wine
    result = fit(folder, "--kinds", "3", "--classes", "x,y,z", model="three.skops")
    assert result.exit_code == 0, result.output
    assert "The model has 3 kinds, as you said." in said(result)
    again = fit(folder, "--kinds", "3", "--holdout", "0", model="again.skops")
    assert "no pairs were kept aside" in said(again)
    assert pairlearn.load(folder / "three.skops").classes_.tolist() == ["x", "y", "z"]


def test_two_kinds_that_are_insisted_on_get_no_certificate(wine):
    folder, _ = wine
    result = fit(folder, "--kinds", "2", model="two.skops")
    assert result.exit_code == 0, result.output
    assert "there seem to be more than two kinds" in said(result)
    assert "error unknown, see the notes" in said(result)


def test_fitting_again_keeps_the_names(wine):
    folder, _ = wine
    points = pd.read_csv(folder / "points.csv")
    fit(folder, "--kinds", "3", "--seed", "1", model="kept.skops")
    model = pairlearn.load(folder / "kept.skops")
    before = model.predict(points)
    # Other names for the groups, as if they had been of other sizes.
    model[-1]._reorder(np.array([2, 0, 1]))
    pairlearn.save(model, folder / "kept.skops")
    turned = model.predict(points)
    assert np.mean(before == turned) < 0.1
    fit(folder, "--kinds", "3", model="kept.skops")
    after = pairlearn.load(folder / "kept.skops").predict(points)
    assert np.mean(after == turned) > 0.9


def test_check_says_that_there_are_more_kinds(wine):
    folder, _ = wine
    result = call("check", folder / "points.csv", folder / "pairs.csv", "--strict")
    assert result.exit_code == 0, result.output
    assert "more than two are likely" in said(result)
    assert "at least 3 if every answer is right, since 3 points" in said(result)
    assert "contradictions 0 between pairs, however many kinds" in said(result)
    assert "pairlearn fit finds how many" in said(result)


def test_contradictions_of_many_kinds_are_shown(wine, tmp_path):
    folder, _ = wine
    pairs = pd.read_csv(folder / "pairs.csv")
    extra = [("w0", "w1", "same"), ("w1", "w2", "same"), ("w0", "w2", "different")]
    extra = pd.DataFrame(extra, columns=["left", "right", "answer"])
    extra = pd.concat([pairs, extra])
    extra.to_csv(tmp_path / "pairs.csv", index=False)
    result = call("check", folder / "points.csv", tmp_path / "pairs.csv")
    assert "however many classes there are, these answers" in said(result)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--kinds", "1"), "from 2 to 60"),
        (("--kinds", "many"), "from 2 to 60"),
        (("--kinds", "3", "--majority", "x"), "--majority names one of two"),
        (("--kinds", "3", "--classes", "x,y"), "must be 3 different names"),
        (("--classes", "x,x,y"), "different names"),
        (("--classes", "x,y", "--labels", "few.csv"), "leave out --classes"),
    ],
)
def test_options_that_do_not_fit(wine, words, message):
    folder, _ = wine
    words = [folder / word if word == "few.csv" else word for word in words]
    result = fit(folder, *words, model="never.skops")
    assert result.exit_code == 2
    assert message in said(result)
    assert not (folder / "never.skops").exists()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("id\nw1\n", "two columns"),
        ("id,class\nnobody,x\n", "there is no point 'nobody'"),
        ("id,class\nw1,\n", "holds no class"),
        ("id,colour,size\nw1,x,y\n", "call the one with the classes 'class'"),
    ],
)
def test_labels_that_cannot_be_used(wine, tmp_path, rows, message):
    folder, _ = wine
    (tmp_path / "few.csv").write_text(rows)
    result = fit(folder, "--labels", tmp_path / "few.csv", model="never.skops")
    assert result.exit_code == 1
    assert message in said(result)


def test_groups_and_names_are_matched_one_to_one():
    names, notes = name_groups(np.array([0, 0, 1]), ["x", "x", "x"], ("A", "B", "C"))
    assert names == ("x", "B", "C")
    assert any("names B, C" in note for note in notes)
    names, notes = name_groups(np.array([0, 1]), ["B", "x"], ("A", "B"))
    assert names == ("B", "x")
    names, _ = name_groups(np.array([0, 0]), ["B", "B"], ("A", "B"))
    assert names == ("B", "group 2")
    _, notes = name_groups(np.array([0, 1, 1]), ["x", "y", "z"], ("A", "B"))
    assert any("no group of the model is mostly" in note for note in notes)


def test_an_answer_error_in_words():
    told = AnswerError(3, 40, (0.016, 0.204)).in_words()
    assert told == "7.5% (3 of 40), between 1.6% and 20.4% with 95% confidence"
