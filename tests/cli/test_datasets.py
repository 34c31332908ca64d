"""Data to practise with: what is listed is true, and what is written tells nothing."""

import os
import shlex

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pairlearn import Pairs
from pairlearn.cli.app import app
from pairlearn.cli.practice import (
    DATA_SETS,
    FILES,
    SHIPPED,
    _distinct_pairs,
    find,
    make_practice,
)
from pairlearn.datasets import dataset_names

REAL = pytest.mark.skipif(
    not os.environ.get("PAIRLEARN_DATA"),
    reason="needs the data files: set PAIRLEARN_DATA to their folder",
)


def datasets(*arguments):
    return CliRunner().invoke(app, ["datasets", *map(str, arguments)])


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No data files, and no way to get any."""
    monkeypatch.delenv("PAIRLEARN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def refuse(*_, **__):
        from pairlearn.datasets.download import DownloadError

        raise DownloadError("the network is off")

    monkeypatch.setattr("pairlearn.datasets.files.fetch", refuse)


def read(folder):
    return (pd.read_csv(folder / name) for name in FILES)


def test_all_of_the_library_are_listed():
    assert {d.name for d in DATA_SETS} >= set(dataset_names())
    assert {d.name for d in DATA_SETS if d.source != SHIPPED} == set(dataset_names())


@pytest.mark.usefixtures("offline")
def test_list_without_data():
    result = datasets()
    assert result.exit_code == 0
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert "569" in lines["cancer"]
    assert lines["cancer"].rstrip().endswith("none")
    assert "26.4 MB" in lines["fashion-mnist"]
    # One line each.
    assert all(data.name in lines for data in DATA_SETS)
    assert len(lines) == len(DATA_SETS) + 3
    assert max(map(len, result.stdout.splitlines())) <= 80


@pytest.mark.usefixtures("offline")
def test_list_of_a_folder(tmp_path):
    (tmp_path / "banana").mkdir()
    (tmp_path / "banana" / "banana.dat").write_text("1,1,1\n")
    assert find("banana").is_there(tmp_path)
    assert not find("magic").is_there(tmp_path)
    lines = datasets("--data", tmp_path).stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("banana")]
    assert "none" in line


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("name", [d.name for d in DATA_SETS if d.source == SHIPPED])
def test_write_offline(name, tmp_path):
    out = tmp_path / "a folder"
    result = datasets(name, "-o", out, "--pairs", 120)
    assert result.exit_code == 0, result.output
    assert sorted(p.name for p in out.iterdir()) == sorted(FILES)
    points, pairs, labels = read(out)
    facts = find(name)
    assert points.shape == (facts.n_points, facts.n_features + 1)
    assert list(points.columns[:1]) == ["id"]
    assert list(pairs.columns) == ["left", "right", "answer"]
    assert points.id.tolist() == labels.id.tolist()
    assert points.id[0] == "p0001"
    assert set(labels.label) == set(facts.classes)
    # All answers are right, and no pair comes twice.
    truth = labels.set_index("id").label
    same = truth[pairs.left].to_numpy() == truth[pairs.right].to_numpy()
    assert (pairs.answer == np.where(same, "same", "different")).all()
    assert len({frozenset(p) for p in zip(pairs.left, pairs.right, strict=True)}) == 120
    larger = labels.label.value_counts().index[0]
    assert f"The larger class is {larger!r}" in result.stdout
    (line,) = [li for li in result.stdout.splitlines() if li.startswith("Next: ")]
    words = shlex.split(line)
    assert words[1:5] == ["pairlearn", "fit", *(str(out / name) for name in FILES[:2])]
    assert words[words.index("--classes") + 1] == ",".join(facts.classes)
    assert words[words.index("--majority") + 1] == larger


def test_neither_order_nor_ids_nor_columns_tell_the_class():
    # The wines lie in the order of their classes in the file.
    tables = make_practice(find("wine"), 50)
    second = (tables.labels.label == "cultivar 2").to_numpy()
    assert abs(np.corrcoef(np.arange(178), second)[0, 1]) < 0.2
    numbers = tables.points.drop(columns="id").to_numpy(dtype=float)
    assert all(abs(np.corrcoef(column, second)[0, 1]) < 0.99 for column in numbers.T)


def test_tables_are_ready_for_pairs():
    tables = make_practice(find("cancer"), 200)
    points = tables.points.set_index("id")
    place = {name: k for k, name in enumerate(points.index)}
    index = [
        [place[a], place[b]] for a, b in tables.pairs[["left", "right"]].to_numpy()
    ]
    pairs = Pairs(points, index)
    # There are enough points that no two pairs need to share one.
    assert pairs.is_disjoint()
    t = np.where(tables.pairs.answer == "same", 1, -1)
    assert (pairs.answers(tables.labels.label) == t).all()


def test_same_seed_same_files(tmp_path):
    for folder, seed in (("a", 3), ("b", 3), ("c", 4)):
        assert not datasets("wine", "-o", tmp_path / folder, "--seed", seed).exit_code
    a, b, c = (
        [(tmp_path / folder / name).read_bytes() for name in FILES] for folder in "abc"
    )
    assert a == b
    assert all(x != y for x, y in zip(a, c, strict=True))


def test_wrong_answers():
    tables = make_practice(find("cancer"), 1000, wrong=0.05)
    truth = tables.labels.set_index("id").label
    left, right = (truth[tables.pairs[side]].to_numpy() for side in ("left", "right"))
    same = np.where(left == right, "same", "different")
    assert int(np.sum(tables.pairs.answer.to_numpy() != same)) == 50


def test_fewer_points():
    tables = make_practice(find("cancer"), 40, n_points=30)
    assert len(tables.points) == len(tables.labels) == 30
    assert set(tables.pairs.left) | set(tables.pairs.right) <= set(tables.points.id)


@pytest.mark.parametrize(("n_points", "n_pairs"), [(2, 1), (7, 21), (40, 500)])
def test_distinct_pairs(n_points, n_pairs):
    for seed in range(5):
        index = _distinct_pairs(n_points, n_pairs, np.random.RandomState(seed))
        assert index.shape == (n_pairs, 2)
        assert (index[:, 0] != index[:, 1]).all()
        assert index.min() >= 0
        assert index.max() < n_points
        assert len({frozenset(pair) for pair in index.tolist()}) == n_pairs


def test_nothing_is_replaced_unasked(tmp_path):
    (tmp_path / "pairs.csv").write_text("mine")
    result = datasets("wine", "-o", tmp_path)
    assert result.exit_code == 1
    assert "already holds pairs.csv" in result.stderr
    assert "--overwrite" in result.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["pairs.csv"]
    assert (tmp_path / "pairs.csv").read_text() == "mine"
    (tmp_path / "other.txt").write_text("kept")
    assert datasets("wine", "-o", tmp_path, "--overwrite").exit_code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*FILES, "other.txt"])


def test_failed_writing_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", full)
    result = datasets("wine", "-o", tmp_path / "new")
    assert result.exit_code == 1
    assert "no space left" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["cancr", "-o", "x"], 2, "Did you mean cancer?"),
        (["zzz", "-o", "x"], 2, "`pairlearn datasets` lists them all"),
        (["cancer"], 2, "pairlearn datasets cancer -o practice"),
        (["-o", "x"], 2, "say which data set"),
        (["cancer", "-o", "x", "--pairs", "0"], 2, "--pairs must lie between 1 and"),
        (["wine", "-o", "x", "--pairs", "15754"], 2, "between 1 and 15753"),
        (["cancer", "-o", "x", "--points", "570"], 2, "between 2 and 569"),
        (["cancer", "-o", "x", "--wrong", "0.5"], 2, "--wrong must be"),
        (["cancer", "-o", "no/such/x"], 1, "there is no folder"),
    ],
)
def test_wrong_calls(arguments, code, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = datasets(*arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_a_file(tmp_path):
    (tmp_path / "x").write_text("")
    result = datasets("cancer", "-o", tmp_path / "x")
    assert result.exit_code == 1
    assert "is a file; --out needs a folder" in result.stderr


@pytest.mark.usefixtures("offline")
def test_what_cannot_be_fetched(tmp_path):
    result = datasets("banana", "-o", tmp_path / "new")
    assert result.exit_code == 1
    assert "the network is off" in result.stderr
    assert not (tmp_path / "new").exists()


@REAL
@pytest.mark.parametrize("name", ["banana", "magic", "phishing", "kuzushiji-mnist"])
def test_facts_are_those_of_the_data(name, tmp_path):
    facts = find(name)
    assert facts.is_there()
    result = datasets(name, "-o", tmp_path, "--points", facts.n_points // 10)
    assert result.exit_code == 0
    points, _, labels = read(tmp_path)
    assert points.shape == (facts.n_points // 10, facts.n_features + 1)
    assert set(labels.label) == set(facts.classes)
    prior = {"banana": 0.45, "magic": 0.35, "phishing": 0.44, "kuzushiji-mnist": 0.5}
    share = float(np.mean(labels.label == facts.classes[1]))
    assert share == pytest.approx(prior[name], abs=0.08)


@REAL
@pytest.mark.slow
@pytest.mark.parametrize("name", dataset_names())
def test_sizes_are_those_of_the_data(name):
    from pairlearn.datasets import load_dataset

    facts = find(name)
    assert load_dataset(name).data.shape == (facts.n_points, facts.n_features)
