"""Tables of texts on the command line: a good model, its words, or a loud warning."""

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

from pairlearn.cli.app import app
from pairlearn.cli.labelling import notes_on_columns
from pairlearn.files.tables.points import read_points
from pairlearn.label.things import Things

TOPICS = (
    "please refund the money for my order it was charged twice on the card",
    "cannot log in to my account the password reset link does not work",
)


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.output


def write(folder, texts, same):
    with (folder / "points.csv").open("w", newline="") as file:
        rows = [(f"t{k}", text) for k, text in enumerate(texts)]
        csv.writer(file).writerows([("id", "text"), *rows])
    with (folder / "pairs.csv").open("w", newline="") as file:
        rows = [
            (f"t{2 * k}", f"t{2 * k + 1}", "same" if each else "different")
            for k, each in enumerate(same)
        ]
        csv.writer(file).writerows([("left", "right", "answer"), *rows])
    return folder / "points.csv", folder / "pairs.csv"


@pytest.fixture(scope="module")
def tickets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tickets")
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 160)
    texts = [" ".join(rng.choice(TOPICS[k].split(), 9)) for k in kind]
    texts[-1] = ""
    points, pairs = write(folder, texts, kind[0:120:2] == kind[1:120:2])
    said = run(
        "fit", points, pairs, "-o", folder / "m.skops", "--report", folder / "r.html"
    )
    return folder, kind, said


def test_a_table_of_texts_alone_gives_a_good_model(tickets):
    folder, kind, said = tickets
    assert "better than chance" not in said
    assert "learned nothing" not in said
    run("predict", folder / "m.skops", folder / "points.csv", "-o", folder / "out.csv")
    with (folder / "out.csv").open() as file:
        found = np.array([row["class"] == "A" for row in csv.DictReader(file)])
    wrong = np.mean(found[120:-1] != (kind[120:-1] == 1))
    assert min(wrong, 1 - wrong) < 0.1


def test_half_of_the_texts_in_no_pair_are_looked_at(tickets, tmp_path):
    folder, _, said = tickets
    assert "the texts of 20 of 40 point(s) in no pair" in " ".join(said.split())
    tables = folder / "points.csv", folder / "pairs.csv"
    for option, told in (("--no-unlabeled", "does not learn"), ("--unlabeled", "40")):
        said = run("fit", *tables, "-o", tmp_path / "m.skops", option)
        words = " ".join(said.split())
        assert told in words
        assert "of 40 point(s)" not in words


def test_words_are_told_by_fit_explain_and_the_report(tickets):
    folder, _, said = tickets
    assert "Words of A in text: " in said
    told = run("explain", folder / "m.skops")
    assert "Words of text, with the share" in told
    assert " password (" in told
    anew = run("explain", folder / "m.skops", folder / "points.csv")
    assert " refund (" in anew
    page = (folder / "r.html").read_text()
    assert "The words of each group" in page
    assert "text: refund" in page


def test_check_tells_what_the_column_is(tickets):
    folder, _, _ = tickets
    told = run("check", folder / "points.csv", folder / "pairs.csv")
    assert "free text, about 9 words per cell" in " ".join(told.split())


def test_certify_knows_texts_again(tickets):
    folder, _, _ = tickets
    result = CliRunner().invoke(
        app,
        [
            "certify",
            str(folder / "m.skops"),
            str(folder / "points.csv"),
            str(folder / "pairs.csv"),
        ],
    )
    # Most pairs are of points that the model has learned from.
    assert "learned from" in result.output


def test_answers_that_no_text_explains_are_called_so(tmp_path):
    rng = np.random.default_rng(1)
    words = " ".join(TOPICS).split()
    texts = [" ".join(rng.choice(words, 9)) for _ in range(160)]
    points, pairs = write(tmp_path, texts, rng.random(80) < 0.55)
    said = run("fit", points, pairs, "-o", tmp_path / "m.skops")
    first = said.splitlines()[0]
    assert "learned nothing" in first or "better than chance" in first
    assert "160, 1 column\n" in "\n".join(map(str.rstrip, said.splitlines()))
    quiet = run("fit", points, pairs, "-o", tmp_path / "m.skops", "--quiet")
    assert quiet.splitlines()[0] == first


def test_the_page_learns_from_texts(tickets):
    folder, _, _ = tickets
    things = Things(read_points(folder / "points.csv"), folder / "points.csv")
    assert [(each.kind, each.unlearned) for each in things.columns] == [("text", None)]
    assert notes_on_columns(things) == []


def test_questions_are_asked_about_texts(tickets, tmp_path):
    folder, _, _ = tickets
    out = tmp_path / "next.csv"
    run("ask", folder / "points.csv", folder / "pairs.csv", "-n", 5, "-o", out)
    assert len(out.read_text().splitlines()) == 6
