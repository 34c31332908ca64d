"""`pairlearn fit --unlabeled`: the points of a table that are in no pair."""

import numpy as np
import pandas as pd
import pytest

from pairlearn import load
from pairlearn.cli.certify import certify_tables
from pairlearn.cli.fit import FitOptions, fit_tables
from pairlearn.files.tables.errors import TableError
from tests.support.commands import call

N_POINTS, N_PAIRS = 360, 130


def write_tables(folder):
    """260 points in pairs, and 100 in none; categories that occur in no pair, too."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=N_POINTS)
    X = rng.normal(size=(N_POINTS, 3)) + 2 * y[:, None]
    points = pd.DataFrame(X, columns=["a", "b", "c"])
    points["colour"] = np.where(np.arange(N_POINTS) % 3, "red", "blue")
    points.loc[N_POINTS - 4 :, "colour"] = "green"
    points.loc[N_POINTS - 9, "a"] = np.nan
    points.insert(0, "id", [f"p{k}" for k in range(N_POINTS)])
    points["who"] = [f"g{k}" for k in range(N_POINTS)]
    index = np.arange(2 * N_PAIRS).reshape(-1, 2)
    write_pairs(folder / "pairs.csv", index, y)
    write_pairs(folder / "later.csv", 2 * N_PAIRS + np.arange(100).reshape(-1, 2), y)
    points.to_csv(folder / "points.csv", index=False)
    return folder / "points.csv", folder / "pairs.csv", folder / "later.csv"


def write_pairs(path, index, y):
    same = y[index[:, 0]] == y[index[:, 1]]
    names = {"left": index[:, 0], "right": index[:, 1]}
    table = pd.DataFrame({k: [f"p{i}" for i in v] for k, v in names.items()})
    table["answer"] = np.where(same, "same", "different")
    table.to_csv(path, index=False)


def test_points_in_no_pair_are_seen_and_kept_ones_are_not(tmp_path):
    points, pairs, later = write_tables(tmp_path)
    fitted = {}
    for unlabeled in (False, True):
        options = FitOptions(noise=None, unlabeled=unlabeled)
        summary, about = fit_tables(points, pairs, {}, options)
        fitted[unlabeled] = summary, about
        assert summary.certificate.unseen is True
        smooth = [row for row in summary.candidates if "smooth" in row.kernel]
        assert bool(smooth) is unlabeled
    n_trained = 2 * (N_PAIRS - fitted[True][0].certificate_pairs)
    assert fitted[True][1]["points"] == n_trained + 100
    assert fitted[False][1]["points"] == n_trained
    notes = [" ".join(fitted[k][0].notes) for k in (False, True)]
    assert "does not learn from them" in notes[0]
    assert "does not learn from them" not in notes[1]
    assert "has seen 100 point(s) in no pair" in notes[1]
    summary, about = fitted[False]
    assert certify_tables(summary.model, about, points, later, {}).n_seen == 0
    summary, about = fitted[True]
    with pytest.raises(TableError, match="all 50 pairs have points that the model"):
        certify_tables(summary.model, about, points, later, {})


def test_groups_of_kept_pairs_are_not_seen(tmp_path):
    points, pairs, _ = write_tables(tmp_path)
    frame = pd.read_csv(points)
    # The 100 rows in no pair are of the groups of the first 100 pairs.
    frame.loc[2 * N_PAIRS :, "who"] = [f"g{2 * k}" for k in range(100)]
    frame.to_csv(points, index=False)
    options = FitOptions(noise=None, unlabeled=True)
    summary, about = fit_tables(points, pairs, {"group": "who"}, options)
    kept = summary.certificate_pairs
    n_others = about["points"] - 2 * (N_PAIRS - kept)
    assert kept > 0
    assert 100 - kept <= n_others < 100
    assert summary.certificate.unseen is True


def test_without_other_points_it_is_told(tmp_path):
    points, pairs, _ = write_tables(tmp_path)
    pd.read_csv(points)[: 2 * N_PAIRS].to_csv(points, index=False)
    plain, about = fit_tables(points, pairs, {}, FitOptions(noise=None))
    options = FitOptions(noise=None, unlabeled=True)
    summary, same = fit_tables(points, pairs, {}, options)
    assert any("nothing to use" in note for note in summary.notes)
    assert same == about
    frame = pd.read_csv(points)
    np.testing.assert_array_equal(
        summary.model.decision_function(frame), plain.model.decision_function(frame)
    )


def test_the_command(tmp_path):
    points, pairs, later = write_tables(tmp_path)
    model = tmp_path / "model.skops"
    result = call("fit", points, pairs, "-o", model, "--noise", "none", "--unlabeled")
    assert result.exit_code == 0, result.output
    assert "has seen 100 point(s) in no pair" in " ".join(result.output.split())
    load(model).predict(pd.read_csv(points))
    result = call("certify", model, points, later, "--noise", "none")
    assert result.exit_code == 1
    assert "learned from" in " ".join(result.output.split())
