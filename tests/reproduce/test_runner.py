import itertools
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Bunch
from typer.testing import CliRunner

from pairlearn import clustering_error
from pairlearn.cli.app import app
from pairlearn.datasets import make_waveform
from pairlearn.reproduce import runner
from pairlearn.reproduce.assignment import (
    PRIORS,
    SIZES,
    THRESHOLDS,
    bound,
    exact_failure,
    threshold_error,
    vote_law,
)
from pairlearn.reproduce.experiment import Experiment, Options
from pairlearn.reproduce.methods import METHODS, test_error
from pairlearn.reproduce.rates import MEAN, PRIOR, error, excess_error
from pairlearn.reproduce.runner import EXPERIMENTS, Done, execute, plan, reproduce
from pairlearn.reproduce.sample import (
    draw_images,
    draw_images_with_prior,
    draw_table,
)
from pairlearn.reproduce.store import FILE_NAME, Store, StoreError, Trial
from pairlearn.trust.assignment import assign_from_pairs
from pairlearn.trust.metrics import q_statistic

test_error.__test__ = False  # a function of the package, not a test

SMALL = ("fig-assignment", "fig-naive-assignment")  # need no data, take seconds


@pytest.fixture
def waves(monkeypatch):
    """Every data set is Breiman's waveform, as wide as a table of numbers."""
    X, y = make_waveform(5000, random_state=0)
    target = np.where(y == y[0], 1, -1)
    data = Bunch(data=X, target=target, prior=float(np.mean(target > 0)))
    monkeypatch.setattr("pairlearn.reproduce.sample.load_cached", lambda *_, **__: data)
    return data


# -- the store -------------------------------------------------------------------------


def test_a_trial_is_stored_once_and_keeps_its_first_result(tmp_path):
    trial = Trial("table-tabular", "banana", "CIPS", 100, 0, {"b": 1, "a": [2]})
    same = Trial("table-tabular", "banana", "CIPS", 100, 0, {"a": [2], "b": 1})
    with Store.create(tmp_path) as store:
        run = store.begin("test", {"python": "3"})
        store.add(trial, {"error": 0.25}, seconds=1.5, run=run)
        store.add(same, {"error": 0.75}, seconds=1.5, run=run)
        frame = store.frame("table-tabular")
        assert frame.to_dict("records") == [
            {
                "dataset": "banana", "method": "CIPS", "m": 100, "seed": 0,
                "seconds": 1.5, "run": run, "b": 1, "a": [2], "error": 0.25,
            }
        ]  # fmt: skip
        assert store.runs()["python"].tolist() == ["3"]
    with Store(tmp_path) as store:
        assert store.keys() == {trial.key}
        assert store.experiments() == ["table-tabular"]
        assert store.frame("fig-prior").empty


def test_problems_with_the_store_say_what_to_do(tmp_path):
    with pytest.raises(StoreError, match="pairlearn reproduce"):
        Store(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="another folder with --out"):
        Store.create(tmp_path / "file" / "folder")
    (tmp_path / FILE_NAME).write_bytes(b"this is no database" * 100)
    with pytest.raises(StoreError, match="move it away"):
        Store(tmp_path)
    # Nothing was done to a file that is not ours.
    assert (tmp_path / FILE_NAME).read_bytes() == b"this is no database" * 100


def test_failures_are_kept_until_the_trial_succeeds(tmp_path):
    trial = Trial("table-tabular", "banana", "CIPS", 100, 0)
    with Store.create(tmp_path) as store:
        run = store.begin("test", {})
        store.add_failure(trial, "ValueError: bad luck", run=run)
        store.add_failure(trial, "ValueError: worse luck", run=run)
        assert store.failures()["problem"].tolist() == ["ValueError: worse luck"]
        assert store.keys() == set()
        store.add(trial, {"error": 0.25}, seconds=1.0, run=run)
        assert store.failures().empty


def test_a_reader_sees_one_state_of_the_store(tmp_path):
    trial = Trial("table-tabular", "banana", "CIPS", 100, 0)
    with Store.create(tmp_path) as writer, Store(tmp_path) as reader:
        writer._connection.execute("PRAGMA busy_timeout = 50")
        run = writer.begin("test", {})
        with reader.unchanging():
            assert reader.frame("table-tabular").empty
            with pytest.raises(StoreError, match="locked"):
                writer.add(trial, {"error": 0.25}, seconds=1.0, run=run)
            assert reader.keys() == set()
        writer.add(trial, {"error": 0.25}, seconds=1.0, run=run)
        assert reader.keys() == {trial.key}


def test_a_row_that_cannot_be_stored_is_an_error(tmp_path):
    with Store.create(tmp_path) as store:
        run = store.begin("test", {})
        with pytest.raises(StoreError, match="NOT NULL"):
            store.add(Trial("a", "b", "c", 1, 0), {}, seconds=float("nan"), run=run)


def test_a_database_of_something_else_is_left_alone(tmp_path):
    with sqlite3.connect(tmp_path / FILE_NAME) as other:
        other.execute("CREATE TABLE trials (name TEXT)")
    with pytest.raises(StoreError, match="no such column"):
        Store(tmp_path)


# -- the protocol ----------------------------------------------------------------------


def test_a_sample_is_standardised_on_its_training_points(waves):
    sample = draw_table("waveform", 200, 3)
    assert sample.X.shape == (400, 21)
    assert sample.X_test.shape == (1000, 21)
    np.testing.assert_allclose(sample.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(sample.X.std(axis=0), 1)
    assert np.abs(sample.X_test.mean(axis=0)).max() > 1e-3
    np.testing.assert_array_equal(sample.t, sample.y[::2] * sample.y[1::2])
    assert sample.prior == waves.prior
    # Points are distinct, those to train and those to test.
    table = np.concatenate([sample.X, sample.X_test])
    assert len(np.unique(table, axis=0)) == 1400


@pytest.mark.usefixtures("waves")
def test_a_sample_depends_on_its_key_alone():
    first = draw_table("waveform", 50, 0)
    np.testing.assert_array_equal(first.X, draw_table("waveform", 50, 0).X)
    for other in (draw_table("waveform", 50, 1), draw_table("banana", 50, 0)):
        assert not np.array_equal(first.X, other.X)


def test_images_with_a_prior(monkeypatch):
    rng = np.random.default_rng(0)
    parts = {
        name: Bunch(
            data=rng.integers(256, size=(n, 784), dtype=np.uint8),
            target=rng.integers(10, size=n),
        )
        for name, n in (("train", 500), ("test", 200))
    }
    monkeypatch.setattr(
        "pairlearn.reproduce.sample.load_cached", lambda _, subset, __: parts[subset]
    )
    sample = draw_images_with_prior("mnist", 70, 2 / 7, 0, n_test=210)
    assert np.mean(sample.y > 0) == pytest.approx(2 / 7)
    assert np.mean(sample.y_test > 0) == pytest.approx(2 / 7)
    table = np.concatenate([sample.X, sample.X_test])
    assert len(np.unique(table, axis=0)) == 350
    assert sample.X.dtype == np.float32


def test_images_are_split_and_scaled(monkeypatch):
    rng = np.random.default_rng(0)
    parts = {
        name: Bunch(
            data=rng.integers(256, size=(n, 784), dtype=np.uint8),
            target=rng.integers(10, size=n),
        )
        for name, n in (("train", 300), ("test", 2200))
    }
    monkeypatch.setattr(
        "pairlearn.reproduce.sample.load_cached", lambda _, subset, __: parts[subset]
    )
    sample = draw_images("mnist", 100, 0)
    assert sample.X.shape == (200, 784)
    np.testing.assert_allclose(sample.X_test, parts["test"].data / 255, rtol=1e-6)
    assert (sample.X.min(), sample.X.max()) == (0, 1)
    np.testing.assert_array_equal(sample.y_test > 0, parts["test"].target % 2 == 0)
    # Of Kuzushiji-MNIST the test part serves for both.
    split = draw_images("kuzushiji-mnist", 100, 0)
    assert (len(split.X), len(split.X_test)) == (200, 2000)
    assert len(np.unique(np.concatenate([split.X, split.X_test]), axis=0)) == 2200
    scaled = draw_images("mnist", 100, 0, pixels="standardised")
    np.testing.assert_allclose(scaled.X.mean(axis=0), 0, atol=1e-4)


@pytest.mark.usefixtures("waves")
@pytest.mark.parametrize("method", sorted(METHODS))
def test_each_method_learns_the_waveform(method):
    sample = draw_table("waveform", 300, 0)
    found = test_error(method, METHODS[method].settings, sample, seed=0)
    # Clusters are not the classes here, and OVPC goes astray: the paper prints 39 %
    # to 47 % for these four.
    limit = dict.fromkeys(("KM", "CKM", "SSP", "OVPC"), 0.5) | {"SD": 0.3}
    limit["SD (L-BFGS)"] = 0.3
    assert found < limit.get(method, 0.2)
    assert found > (0.3 if method in ("KM", "CKM", "OVPC") else 0.1)
    assert found == test_error(method, METHODS[method].settings, sample, seed=0)


def test_the_settings_are_those_of_the_paper():
    for method in ("CIPS", "MCL", "SD", "SV"):
        settings = METHODS[method].settings
        assert settings["solver"] == "sgd"
        assert settings["max_iter"] == 500
        assert settings["batch_size"] == 64
        assert settings["learning_rate"] == 0.01
        assert settings["alpha"] == 1e-4
    assert METHODS["SD"].settings["loss"] == "logistic"


@pytest.mark.usefixtures("waves")
def test_the_supervised_column_is_logistic_regression():
    sample = draw_table("waveform", 200, 0)
    n = len(sample.y)
    reference = LogisticRegression(C=1 / (1e-4 * n), max_iter=5000, tol=1e-8)
    expected = reference.fit(sample.X, sample.y).predict(sample.X_test)
    method = METHODS["SV (L-BFGS)"]
    found = method.predict(sample, method.settings, 0)
    assert np.mean(found != expected) < 0.005
    by_sgd = METHODS["SV"].predict(sample, METHODS["SV"].settings, 0)
    assert clustering_error(sample.y_test, by_sgd) == pytest.approx(
        clustering_error(sample.y_test, expected), abs=0.03
    )


# -- class assignment ------------------------------------------------------------------


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_the_exact_failure_is_below_the_bound(prior, threshold):
    assert vote_law(prior, threshold).sum() == pytest.approx(1)
    for m in SIZES:
        exact = exact_failure(prior, threshold, m)
        assert 0 <= exact <= bound(prior, threshold, m) + 1e-12


def test_the_exact_failure_by_enumeration():
    """All ways in which two pairs can vote, from the definition of Q."""
    prior, threshold = 0.7, 1
    law = vote_law(prior, threshold)
    best = 1 if threshold_error(prior, threshold) < 0.5 else -1
    failure = 0.0
    for votes in itertools.product((-1, 0, 1), repeat=2):
        q = 0.5 - sum(votes) / (2 * len(votes))
        sign = (1 if prior > 0.5 else -1) * (1 if 1 - 2 * q > 0 else -1)
        failure += (sign != best) * np.prod([law[1 + v] for v in votes])
    assert exact_failure(prior, threshold, 2) == pytest.approx(failure, rel=1e-12)


def test_simulated_assignments_agree_with_the_exact_failure():
    for trial in plan(["fig-assignment"], Options(trials=500)):
        if trial.m in (8, 128) and trial.settings["threshold"] in (-1, 2):
            p = exact_failure(
                trial.settings["prior"], trial.settings["threshold"], trial.m
            )
            wrong = execute(trial).results["wrong"]
            assert abs(wrong - 500 * p) <= 4 * np.sqrt(500 * p * (1 - p)) + 1


def test_the_simulation_follows_the_rule_of_the_library():
    rng = np.random.default_rng(0)
    for _ in range(200):
        left, right, t = rng.choice([-1.0, 1.0], size=(3, rng.integers(1, 9)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # so few pairs hardly tell, it says
            found = assign_from_pairs(left, right, t, majority=1)
        votes = np.sum(t * (left + right))
        assert found.sign == (1 if votes > 0 else -1)
        assert (q_statistic(t, left, right) < 0.5) == (votes > 0)


def test_the_excess_error_agrees_with_simulation():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400_000) < PRIOR, 1, -1)
    X = rng.normal(size=(len(y), len(MEAN))) + y[:, None] * MEAN
    w, b = np.array([1.0, -0.5, 0.2, 0.0, 0.3]), 0.4
    simulated = np.mean(np.where(X @ w + b > 0, 1, -1) != y)
    assert error(w, b) == pytest.approx(simulated, abs=0.003)
    assert excess_error(w, b) == pytest.approx(excess_error(-3 * w, -3 * b))
    assert excess_error(w, b) > 0.1


# -- running ---------------------------------------------------------------------------


def test_every_experiment_of_the_paper_has_a_plan():
    assert set(EXPERIMENTS) == {
        "table-tabular", "table-pubmed", "table-methods", "fig-sample-size",
        "fig-prior", "fig-assignment", "fig-naive-assignment",
    }  # fmt: skip
    trials = plan(["all"], Options())
    assert len({trial.key for trial in trials}) == len(trials)
    cells = [t for t in trials if t.experiment == "table-tabular"]
    assert len(cells) == 10 * 3 * len(METHODS) * 20
    assert sum(
        t.settings["repeats"] for t in trials if t.experiment == "fig-assignment"
    ) == 105 * 10_000  # fmt: skip
    assert {t.seed for t in trials if t.experiment == "fig-prior"} == set(range(10))
    quick = plan(["all"], Options(quick=True))
    assert {t.experiment for t in quick} == set(EXPERIMENTS)


@pytest.fixture
def committed(tmp_path):
    """The store of the full run, copied: opening one may write to it."""
    source = Path(__file__).parents[2] / "docs" / "reproduction" / FILE_NAME
    if not source.exists():
        pytest.skip("the full run is a part of the repository, not of the package")
    shutil.copy(source, tmp_path)
    with Store(tmp_path) as store:
        yield store


def test_the_committed_run_is_the_whole_plan(committed):
    missing = {trial.key for trial in plan(["all"], Options())} ^ committed.keys()
    # What is missing failed, and is listed as such.
    assert len(missing) == len(committed.failures()) <= 1


@pytest.mark.parametrize(
    "experiment",
    [
        "fig-assignment",
        "fig-naive-assignment",
        "table-methods",
        pytest.param(
            "table-tabular",
            marks=pytest.mark.skipif(
                not os.environ.get("PAIRLEARN_DATA"),
                reason="set PAIRLEARN_DATA to the folder with the data files",
            ),
        ),
    ],
)
def test_the_committed_numbers_come_out_again(committed, experiment):
    """Of this code, whatever has changed since the full run was made."""
    table = [row for row in plan([experiment], Options()) if row.m <= 100]
    for trial in table[:: max(1, len(table) // 12)]:
        frame = committed.frame(experiment)
        same = frame[
            (frame["dataset"] == trial.dataset)
            & (frame["method"] == trial.method)
            & (frame["m"] == trial.m)
            & (frame["seed"] == trial.seed)
        ]
        for name in ("prior", "threshold", "false_negative", "false_positive"):
            if name in trial.settings:
                same = same[same[name] == trial.settings[name]]
        assert len(same) == 1
        for name, found in execute(trial).results.items():
            # Other processors round otherwise, and some points change sides.
            assert float(found) == pytest.approx(float(same[name].iloc[0]), abs=0.03)


def test_options_choose_cells():
    options = Options(trials=2, datasets=("banana", "w8a"), methods=("CIPS", "KM"))
    trials = plan(["table-tabular"], options)
    assert len(trials) == 2 * 2 * 2 * 3
    with pytest.raises(ValueError, match="Did you mean 'banana'"):
        plan(["table-tabular"], Options(datasets=("bananas",)))
    with pytest.raises(ValueError, match="There are: all, table-tabular"):
        plan(["table-9"], Options())
    with pytest.raises(ValueError, match="typo"):
        plan(["all", "typo"], Options())
    with pytest.raises(ValueError, match="trials must be"):
        Options(trials=0)
    assert plan("table-tabular", Options(trials=1, datasets="cod-rna", methods="KM"))
    lower = Options(trials=2, datasets=("BANANA", "w8a"), methods=("cips", "km"))
    assert plan(["Table-Tabular"], lower) == trials


def rows(folder, experiments=SMALL):
    """Return everything in a store but times and runs."""
    with Store(folder) as store:
        return [
            store.frame(name).drop(columns=["seconds", "run"]).to_dict("records")
            for name in experiments
        ]


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
def test_any_joblib_backend_gives_the_same_results(tmp_path, backend):
    options = Options(trials=20, quick=True)
    reproduce(["fig-assignment"], tmp_path / "plain", options)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        reproduce(["fig-assignment"], tmp_path / "other", options, n_jobs=None)
    one, other = (
        rows(tmp_path / name, ["fig-assignment"]) for name in ("plain", "other")
    )
    assert one == other
    assert len(one[0]) == 63


def test_what_is_there_is_not_run_again(tmp_path, monkeypatch):
    options = Options(quick=True)
    assert reproduce(["fig-naive-assignment"], tmp_path, options) == []
    monkeypatch.setattr(
        runner, "execute", lambda *_: pytest.fail("nothing is left to run")
    )
    seen = []
    reproduce(
        ["fig-naive-assignment"],
        tmp_path,
        options,
        on_start=lambda left, there: seen.append((len(left), there)),
    )
    assert seen == [(0, 72)]


def test_a_trial_that_fails_is_reported_and_not_stored(tmp_path, monkeypatch):
    def run(trial, _):
        if trial.seed == 1:
            raise RuntimeError("no such luck")
        return {"error": 0.0}

    def make(*_):
        return [Trial("toy", "none", "none", 1, seed) for seed in range(3)]

    toy = Experiment("toy", "Toy", ("none",), ("none",), make, run, lambda _: 1.0)
    monkeypatch.setitem(EXPERIMENTS, "toy", toy)
    failed = reproduce(["toy"], tmp_path)
    assert [(f.trial.seed, f.problem) for f in failed] == [
        (1, "RuntimeError: no such luck")
    ]
    assert isinstance(failed[0], Done)
    with Store(tmp_path) as store:
        assert store.frame("toy")["seed"].tolist() == [0, 2]
        assert store.failures()["seed"].tolist() == [1]


def test_a_run_changes_no_global_state(tmp_path):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    reproduce(["fig-naive-assignment"], tmp_path, Options(quick=True))
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def start(folder, *options):
    """Start the command line in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "pairlearn", "reproduce", *SMALL, "--quick",
         "--jobs", "2", "--out", str(folder), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    reproduce(SMALL, folder, Options(quick=True))
    return rows(folder)


@pytest.mark.parametrize(
    "kills", [3, pytest.param(10, marks=pytest.mark.slow)], ids="{} kills".format
)
def test_killed_at_random_moments_and_resumed(tmp_path, undisturbed, kills):
    rng = np.random.default_rng(0)
    killed = 0
    with Store.create(tmp_path) as store:
        for _ in range(kills):
            there = len(store.keys())
            run = start(tmp_path)
            # Anywhere between the first trial it stores and some later one.
            while run.poll() is None and len(store.keys()) == there:
                time.sleep(0.02)
            time.sleep(rng.uniform(0, 0.5))
            # The whole group: a worker that lives on would be a different test.
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
            # A machine that was busy elsewhere may have let it come to its end.
            assert run.returncode in (0, -signal.SIGKILL)
            killed += run.returncode == -signal.SIGKILL
        assert store.keys()
    assert killed
    run = start(tmp_path)
    _, complaints = run.communicate()
    assert run.returncode == 0, complaints
    assert rows(tmp_path) == undisturbed
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        checked = connection.execute("PRAGMA integrity_check").fetchall()
    assert checked == [("ok",)]


def test_two_runs_on_one_store(tmp_path, undisturbed):
    for run in [start(tmp_path), start(tmp_path)]:
        _, complaints = run.communicate()
        assert run.returncode == 0, complaints
    assert rows(tmp_path) == undisturbed


# -- the command line ------------------------------------------------------------------


def call(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_wrong_usage_names_what_there_is(tmp_path):
    result = call("reproduce", "table-tabula", "--out", tmp_path)
    assert result.exit_code == 2
    assert "Did you mean 'table-tabular'?" in result.output
    result = call("reproduce", "all", "--methods", "CIPS,SVM", "--out", tmp_path)
    assert result.exit_code == 2
    assert "'SVM'" in result.output
    result = call(
        "reproduce", "table-tabular", "table-pubmed",
        "--datasets", "pubmed", "--methods", "KM", "--out", tmp_path,
    )  # fmt: skip
    assert result.exit_code == 2
    assert "no experiment has" in result.output
    for jobs in (0, -7):
        result = call("reproduce", "all", "--jobs", jobs, "--out", tmp_path)
        assert result.exit_code == 2
        assert "-1 for one per core" in result.output
    result = call("reproduce", "all", "--methods", " ,", "--out", tmp_path)
    assert result.exit_code == 2
    assert "list of names is empty" in result.output
    result = call("reproduce", "all", "--data", tmp_path / "no", "--out", tmp_path)
    assert result.exit_code == 2
    assert "'--data'" in result.output
    assert list(tmp_path.iterdir()) == []


def test_problems_end_with_one_message(tmp_path):
    (tmp_path / "file").write_text("x")
    result = call("reproduce", "fig-naive-assignment", "--out", tmp_path / "file" / "a")
    assert result.exit_code == 1
    assert "another folder with --out" in result.output
    result = call("report", tmp_path)
    assert result.exit_code == 1
    assert "there are no results" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("jobs", [1, 2])
def test_data_that_are_missing_or_damaged_end_the_run(tmp_path, jobs):
    wanted = [
        "reproduce", "table-tabular", "--datasets", "banana", "--quick", "--jobs", jobs,
        "--out", tmp_path / "out", "--data", tmp_path / "data",
    ]  # fmt: skip
    (tmp_path / "data").write_text("a file, so nothing can be downloaded into it")
    result = call(*wanted)
    assert result.exit_code == 1
    for hint in ("banana.dat", "http", "PAIRLEARN_DATA"):
        assert hint in result.output
    (tmp_path / "data").unlink()
    (tmp_path / "data" / "banana").mkdir(parents=True)
    (tmp_path / "data" / "banana" / "banana.dat").write_text("1.0,2.0\n")
    result = call(*wanted)
    assert result.exit_code == 1
    assert "is damaged" in result.output
    assert "Traceback" not in result.output
    assert not (tmp_path / "out" / "report.html").exists()


def test_what_needs_no_missing_data_is_run(tmp_path):
    (tmp_path / "data").write_text("a file, so nothing can be downloaded into it")
    result = call(
        "reproduce", "table-tabular", "table-pubmed", "fig-naive-assignment",
        "--quick", "--jobs", 1, "--out", tmp_path / "out", "--data", tmp_path / "data",
    )  # fmt: skip
    assert result.exit_code == 1
    assert "no trials were run on codrna, phishing, waveform, pubmed" in result.output
    for name in ("cod-rna", "phishing", "waveform.data", "pubmed"):
        assert name in result.output
    with Store(tmp_path / "out") as store:
        assert store.experiments() == ["fig-naive-assignment"]
    assert (tmp_path / "out" / "report.html").exists()


def test_one_command_runs_and_reports(tmp_path):
    result = call(
        "reproduce", "fig-naive-assignment", "--quick", "--jobs", 1, "--out", tmp_path
    )
    assert result.exit_code == 0, result.output
    assert "72 trials to run" in result.output
    assert (tmp_path / "report.html").stat().st_size > 1000
    assert (tmp_path / "report.md").exists()
    with Store(tmp_path) as store:
        assert store.runs()["command"].tolist() == [
            "pairlearn reproduce fig-naive-assignment --quick --jobs 1"
        ]
    again = call(
        "reproduce", "fig-naive-assignment", "--quick", "--jobs", 1, "--out", tmp_path
    )
    assert "0 trials to run, 72 are already done" in again.output


def test_a_failure_is_printed_as_it_is(tmp_path, monkeypatch):
    """Brackets are markup to rich: the name of an extra must not vanish."""

    def run(trial, data_home):  # noqa: ARG001
        raise ImportError("pip install 'pairlearn[neural]'")

    name = "fig-naive-assignment"
    monkeypatch.setitem(EXPERIMENTS, name, replace(EXPERIMENTS[name], run=run))
    result = call("reproduce", name, "--quick", "--jobs", 1, "--out", tmp_path)
    assert result.exit_code == 1
    assert "'pairlearn[neural]'" in result.output
