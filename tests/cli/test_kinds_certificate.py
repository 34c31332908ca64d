"""`pairlearn certify` for more than two groups, and for more kinds than groups."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pairlearn import MCLClassifier, Pairs, pairs_within_groups, save
from pairlearn.cli.app import app
from pairlearn.cli.fit import FitOptions, fit_tables

N_TRAINED, N_POINTS = 300, 1500


def run(*arguments):
    result = CliRunner().invoke(app, [str(word) for word in arguments])
    return result.exit_code, " ".join(result.output.split())


def write_pairs(path, index, kind):
    names = np.array([f"p{k}" for k in range(len(kind))])
    table = pd.DataFrame(names[index], columns=["left", "right"])
    same = kind[index[:, 0]] == kind[index[:, 1]]
    table.assign(answer=np.where(same, "same", "different")).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Three kinds of points, a model of two groups, and one of three; fresh pairs."""
    folder = tmp_path_factory.mktemp("kinds")
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=N_POINTS)
    X = rng.normal(size=(N_POINTS, 2)) + 4 * np.array([[0, 0], [1, 0], [0, 1]])[kind]
    points = pd.DataFrame(X, columns=["a", "b"])
    points.insert(0, "id", [f"p{k}" for k in range(N_POINTS)])
    points.to_csv(folder / "points.csv", index=False)
    known = rng.permutation(N_TRAINED).reshape(-1, 2)
    tables = folder / "points.csv", write_pairs(folder / "known.csv", known, kind)
    summary, about = fit_tables(*tables, {}, FitOptions(holdout=0, kinds=2))
    save(summary.model, folder / "two.skops", about=about)
    pairs = Pairs(summary.model[0].transform(points), known)
    last = MCLClassifier(n_classes=3, classes=("x", "y", "z"), random_state=0)
    summary.model.steps[-1] = ("model", last.fit(pairs, pairs.answers(kind)))
    save(summary.model, folder / "three.skops", about=about)
    fresh = N_TRAINED + rng.permutation(N_POINTS - N_TRAINED).reshape(-1, 2)
    write_pairs(folder / "fresh.csv", fresh, kind)
    asked = pairs_within_groups(summary.model, points[N_TRAINED:], 300, random_state=0)
    write_pairs(folder / "within.csv", asked.index + N_TRAINED, kind)
    return folder


def certify(folder, model, pairs, *words):
    return run("certify", folder / model, folder / "points.csv", folder / pairs, *words)


def test_three_groups_are_shown_one_by_one(made):
    code, said = certify(made, "three.skops", "fresh.csv", "--noise", "none")
    assert code == 0, said
    assert "if each group bears the name of its largest kind" in said
    assert "95% confidence, 600 pairs" in said
    for name in "xyz":
        assert f"group {name}" in said
    assert "up to swapping" not in said
    assert "(--within-groups) the interval would be narrower" in said


def test_pairs_within_groups(made):
    words = "--noise", "none", "--within-groups"
    code, said = certify(made, "three.skops", "within.csv", *words)
    assert code == 0, said
    assert "300 pairs, 300 of them within a group" in said
    assert "do not look random" not in said
    assert "drawn at random within the groups" in said
    code, said = certify(made, "three.skops", "within.csv", *words, "--anytime")
    assert code == 0, said
    assert "at all looks together" in said


def test_what_is_not_known_of_wrong_answers_is_said(made):
    code, said = certify(made, "three.skops", "fresh.csv")
    assert code == 0
    assert "at most" in said
    assert "if every answer is right: between" in said
    code, said = certify(made, "three.skops", "fresh.csv", "--noise", "0.02")
    assert code == 0
    assert "at most 2.0% of the answers in each group" in said


def test_more_kinds_than_groups(made):
    code, said = certify(made, "two.skops", "fresh.csv", "--noise", "none")
    assert code == 1
    assert "--kinds any gives one that holds for any number of kinds" in said
    words = "--noise", "none", "--kinds"
    code, said = certify(made, "two.skops", "fresh.csv", *words, "any")
    assert code == 0, said
    assert "group A" in said
    assert "any number of kinds" in said
    code, said = certify(made, "two.skops", "fresh.csv", *words, "3")
    assert code == 0
    assert "up to 3 kinds" in said
    code, said = certify(made, "two.skops", "fresh.csv", *words, "one")
    assert code == 2
    assert "must be any, or a number" in said
