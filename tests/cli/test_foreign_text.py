"""Text from files is shown as it is: no format, no markup, no formula, no program."""

import json
import os
import subprocess
import sys

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from typer.testing import CliRunner

from pairlearn import CIPSClassifier, MCLClassifier, Pairs, load, save
from pairlearn.cli.app import app
from pairlearn.cli.training_points import find_known_points, make_fingerprints
from pairlearn.data.notebook import learned, learned_html
from pairlearn.models.auto.table import Candidate, Candidates
from pairlearn.plot import plot_decision_boundary, plot_pairs, plot_scores
from pairlearn.trust.assignment import Assignment
from pairlearn.trust.certificate import Certificate, certificate_from_counts

HUGE = "{:>9999999999}{0}{n_pairs.__class__}%9999999999d"
MARKUP = "[bold red]x[/] [link=http://a]b[/link] :smile: [/nothing]"
MATHS = (r"$\frac{", r"$a$ and $b$", "$\\undefined$", "a_{b", "\\input{x}", "50 %$")


@pytest.fixture
def points():
    return pd.DataFrame(
        np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"]
    )


def model_of(points, names, **options):
    pairs, t = Pairs.sample(points, 30, points.iloc[:, 0] > 0, random_state=0)
    clf = MCLClassifier(classes=names, random_state=0, **options)
    return clf.fit(pairs, t), pairs, t


@pytest.mark.parametrize("method", [HUGE, "pairs", ["a", "list"], None])
def test_an_assignment_is_never_a_format(points, method, tmp_path):
    model, *_ = model_of(points, (HUGE, "{0.real}"))
    model.assignment_ = Assignment(1, method, None, p_value=0.2, n_pairs=HUGE)
    save(model, tmp_path / "model.skops")
    shown = dict(learned(load(tmp_path / "model.skops")))
    said = f"by {HUGE} pairs and the majority" if method == "pairs" else str(method)
    assert shown["class assignment"] == f"{said} (p-value 0.2)"
    assert shown["classes"] == f"{HUGE}, {{0.real}}"
    assert len(learned_html(model)) < 10_000


def test_a_certificate_repeats_nothing_as_often_as_a_file_says():
    found = certificate_from_counts(5, 50)
    forged = Certificate(**(vars(found) | {"cross_validated": 10**9}))
    assert str(forged).count("cross-validated") == 1
    assert forged._repr_html_().count("cross-validated") == 1


def test_candidates_are_escaped():
    row = Candidate("<b>", "<script>", 1.0, -0.5, 0.1, 1.0)
    html = Candidates([row], note="<img src=x>")._repr_html_()
    assert "&lt;script&gt;" in html
    assert not {"<b>", "<script>", "<img"} & set(html.replace(">", "> ").split())


@pytest.mark.parametrize("tex", [False, True])
def test_names_in_pictures_are_words(points, tex):
    """With TeX switched on, a name would be a program; here TeX is not even asked."""
    points.columns = [MATHS[0], "x" * 5000]
    model, pairs, t = model_of(points, ("\x1b]0;x\x07\ud800$", MATHS[2]))
    with mpl.rc_context({"text.usetex": tex}):
        for draw in (
            lambda ax: plot_decision_boundary(model, points, ax=ax),
            lambda ax: plot_pairs(pairs, t, ax=ax),
            lambda ax: plot_scores(model, points, ax=ax),
        ):
            figure, ax = plt.subplots()
            draw(ax)
            texts = [ax.xaxis.label, ax.yaxis.label, *ax.get_legend().get_texts()]
            foreign = [text for text in texts if "$" in text.get_text()]
            assert all(not text.get_usetex() for text in foreign)
            assert all(len(text.get_text()) < 100 for text in texts)
            if not tex:
                figure.canvas.draw()
            plt.close(figure)


@pytest.mark.parametrize("name", MATHS)
def test_each_name_can_be_drawn(points, name):
    model, *_ = model_of(points, (name, "other"))
    ax = plot_scores(model, points)
    ax.figure.canvas.draw()
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"predicted {name}" in shown
    plt.close(ax.figure)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("=1+1", "b"), "the class '=1+1' begin with"),
        (("@SUM(A1)", "-x"), "the class '@SUM(A1)' and the class '-x' begin with"),
        (("-5", "+7"), ""),
        (("a=b", "c@d"), ""),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_classes_that_a_spreadsheet_would_run_are_told(
    points, names, said, suffix, tmp_path
):
    model, *_ = model_of(points, names)
    save(model, tmp_path / "model.skops")
    points.to_csv(tmp_path / "points.csv", index=False)
    out = tmp_path / f"out{suffix}"
    words = ["predict", tmp_path / "model.skops", tmp_path / "points.csv", "-o", out]
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == 0, result.output
    note = "would run them as formulas"
    assert (note in result.stdout) == (bool(said) and suffix != ".parquet")
    if said and suffix != ".parquet":
        assert said in result.stdout
    table = pd.read_parquet(out) if suffix == ".parquet" else pd.read_csv(
        out, sep="\t" if suffix == ".tsv" else ",", dtype=str
    )  # fmt: skip
    assert set(table["class"]) <= set(names)


def test_an_id_column_with_such_a_name(points, tmp_path):
    model, *_ = model_of(points, ("a", "b"))
    save(model, tmp_path / "model.skops")
    points.assign(**{"=id": range(60)}).to_csv(tmp_path / "points.csv", index=False)
    words = ["predict", "model.skops", "points.csv", "-o", "out.csv", "--id", "=id"]
    words = [str(tmp_path / word) if "." in word else word for word in words]
    result = CliRunner().invoke(app, words)
    assert "the column name '=id' begin with" in result.stdout


# Commands one after another, since starting Python takes longer than they do.
IN_TURN = """
import json, sys
from pairlearn.cli import main
for words in json.loads(sys.argv[1]):
    sys.argv[1:] = words
    try:
        main()
    except SystemExit:
        print("the end", flush=True)
"""


def test_names_are_no_markup_on_the_terminal(points, tmp_path):
    """In a process of its own, as if on a terminal, where markup would count."""
    points.columns = [MARKUP, "\x1b]0;title\x07"]
    model, *_ = model_of(points, (MARKUP, "\x1b[31m"))
    save(model, tmp_path / "model.skops")
    points.to_csv(tmp_path / "points.csv", index=False)
    env = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "200"}
    commands = [
        ["predict", "model.skops", "points.csv", "-o", "out.csv"],
        ["explain", "model.skops"],
        ["explain", "[/bold]none[/].skops"],
    ]
    result = subprocess.run(
        [sys.executable, "-c", IN_TURN, json.dumps(commands)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path,
        env=env, timeout=600, check=True,
    )  # fmt: skip
    said = result.stdout.split("the end\n")
    assert said.pop() == ""
    for words, out in zip(commands, said, strict=True):
        assert "Traceback" not in out
        assert ("[/bold]none[/]" if "none" in words[1] else MARKUP) in out
        assert "\x1b]" not in out
        assert "\x1b[31mb" not in out


def test_salts_and_fingerprints_of_forged_files():
    X = np.arange(6.0).reshape(3, 2)
    seen = make_fingerprints(X, ["a", "b", "c"])
    assert find_known_points(seen, X, ["a", "b", "x"]).by_id.tolist() == [
        True,
        True,
        False,
    ]
    for salt in (5, None, "xyz", "0", "00" * 65, "0G", ["00"]):
        assert find_known_points(seen | {"salt": salt}, X, ["a", "b", "c"]) is None
    # Another salt is another model: nothing is known again.
    found = find_known_points(seen | {"salt": "00"}, X, ["a", "b", "c"])
    assert not (found.by_id | found.by_features).any()
    # Files from before there were salts.
    older = {name: value for name, value in seen.items() if name != "salt"}
    assert find_known_points(older, X, ["a", "b", "c"]) is not None


def test_the_salt_depends_on_everything_and_on_nothing_else():
    X = np.arange(6.0).reshape(3, 2)

    def salt(X=X, ids=("a", "b", "c"), secret=0):
        return make_fingerprints(X, None if ids is None else list(ids), secret)["salt"]

    others = [
        salt(X + 1), salt(ids=("a", "b", "d")), salt(ids=None), salt(secret=1),
    ]  # fmt: skip
    assert salt() == salt()
    assert len({salt(), *others}) == 5


def test_class_names_of_a_classifier_are_kept(points):
    model = CIPSClassifier(classes=(HUGE, MARKUP), random_state=0)
    pairs, t = Pairs.sample(points, 30, points["a"] > 0, random_state=0)
    assert set(model.fit(pairs, t).predict(points)) <= {HUGE, MARKUP}
