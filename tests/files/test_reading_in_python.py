"""Tables read in Python as `pairlearn fit` reads them."""

import numpy as np
import pandas as pd
import pytest

from pairlearn import PairClassifier, make_pair_pipeline
from pairlearn.cli.fit import FitOptions, fit_tables
from pairlearn.files import tables
from pairlearn.files.tables import OptionError, read_answers, read_points
from pairlearn.files.tables.encoder import ReadText
from pairlearn.files.tables.text_cells import TextCells

N_POINTS = 60


@pytest.fixture
def files(tmp_path):
    """Tables of points of two kinds: decimal commas, dates, categories and gaps."""
    rng = np.random.default_rng(0)
    y = rng.random(N_POINTS) < 0.5
    points, pairs = tmp_path / "points.csv", tmp_path / "pairs.csv"
    rows = [
        f"p{k};{rng.normal() + 3 * y[k]:.3f};{rng.normal():.2f};"
        f"{k % 9 + 20}-05-2024;{'red' if y[k] else 'blue'}"
        for k in range(N_POINTS)
    ]
    rows = [row.replace(".", ",").replace("-05-", ".05.") for row in rows]
    rows[3] = "p3;n/a;;;"
    points.write_text("id;size;price;day;colour\n" + "\n".join(rows) + "\n")
    index = rng.permutation(N_POINTS).reshape(-1, 2)
    words = np.where(y[index[:, 0]] == y[index[:, 1]], "same", "no")
    lines = [f"p{i};p{j};{t}" for (i, j), t in zip(index, words, strict=True)]
    pairs.write_text("left;right;answer\n" + "\n".join([*lines, "p1;p2;?"]) + "\n")
    return points, pairs


def test_the_model_is_that_of_the_command_line(files):
    summary, _ = fit_tables(*files, {}, FitOptions(holdout=0))
    answers = read_answers(*files)
    # Its dates mean nothing, which held-out answers show.
    assert dict(summary.columns)["day"].startswith("left out: dates")
    answers.leave_out({"day": "idle"})
    model = make_pair_pipeline(
        answers.points.make_encoder(),
        PairClassifier(classes=("A", "B"), random_state=0),
    ).fit(answers.pairs, answers.t)
    points = read_points(files[0])
    assert list(points.ids) == [f"p{k}" for k in range(N_POINTS)]
    assert [column.kind for column in points.columns] == [
        *("numbers", "numbers", "dates", "categories")
    ]
    np.testing.assert_array_equal(
        model.decision_function(points.frame),
        summary.model.decision_function(summary.points),
    )
    assert answers.notes == ["1 unsure answer(s) (1 × '?')"]


def test_each_cell_is_read_once(files, monkeypatch):
    counts = {"numbers": 0, "days": 0}

    def counting(name):
        read = getattr(TextCells, name)

        def count(cells, form):
            counts[name] += len(cells)
            return read(cells, form)

        return count

    for name in counts:
        monkeypatch.setattr(TextCells, name, counting(name))
    answers = read_answers(*files)
    frame = answers.points.frame
    # All but one cell of each column are there. Of a column of categories, each
    # different one is looked at, for whether the column is nearly numbers.
    expected = {"numbers": 2 * (N_POINTS - 1) + 2, "days": N_POINTS - 1}
    assert counts == expected
    encoder = answers.points.make_encoder().fit(frame)
    assert encoder.transform(frame).shape == (N_POINTS, 9)
    assert answers.pairs.X is frame
    assert counts == expected


def test_categories_are_read_as_text_is():
    cells = [" red", "True", "3.0", None, "n/a", "  ", "red ", "blue"]
    text = pd.DataFrame({"x": pd.Series(cells, dtype=object)})
    coded = text.astype("category")
    assert coded["x"].dtype == "category"
    read = ReadText().fit_transform(coded)
    assert read.tolist() == ReadText().fit_transform(text).tolist()
    assert read.ravel().tolist() == ["red", "true", "3", "", "", "", "red", "blue"]


def test_ids_and_row_numbers_exclude_each_other(files):
    with pytest.raises(OptionError, match="--id or --first-row, not both"):
        read_answers(*files, id="id", first_row=1)


def test_an_unknown_name_of_the_module():
    with pytest.raises(AttributeError, match="no attribute 'read_asked'"):
        tables.read_asked  # noqa: B018
