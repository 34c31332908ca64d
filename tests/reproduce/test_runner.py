"""Running experiments: planned, resumed, and the same whatever the backend."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import joblib
import numpy as np
import pytest
from typer.testing import CliRunner

from pairlearn.cli.app import app
from pairlearn.reproduce import runner
from pairlearn.reproduce.experiment import Experiment, Options
from pairlearn.reproduce.methods import METHODS
from pairlearn.reproduce.runner import EXPERIMENTS, Done, execute, plan, reproduce
from pairlearn.reproduce.store import FILE_NAME, Store, Trial

SMALL = ("fig-assignment", "fig-naive-assignment")  # need no data
FEW = Options(trials=100, quick=True)  # take a second or two


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


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    reproduce(SMALL, folder, FEW)
    return rows(folder)


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
def test_any_joblib_backend_gives_the_same_results(tmp_path, undisturbed, backend):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        reproduce(["fig-assignment"], tmp_path, FEW, n_jobs=None)
    (found,) = rows(tmp_path, ["fig-assignment"])
    assert found == undisturbed[0]
    assert len(found) == 63


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


def command(folder, jobs=1):
    """Return what follows the name of the program."""
    return ["reproduce", *SMALL, "--quick", "--trials", str(FEW.trials),
            "--jobs", str(jobs), "--out", str(folder)]  # fmt: skip


def start(folder, jobs=1):
    """Start the command line in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "pairlearn", *command(folder, jobs)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


@pytest.mark.parametrize(
    "kills", [2, pytest.param(10, marks=pytest.mark.slow)], ids="{} kills".format
)
def test_killed_at_random_moments_and_resumed(tmp_path, undisturbed, kills):
    rng = np.random.default_rng(0)
    killed = 0
    with Store.create(tmp_path) as store:
        for k in range(kills):
            # Workers take seconds to start: of three runs the second has some.
            run = start(tmp_path, jobs=2 if k % 3 == 1 else 1)
            # Anywhere between the first trial it stores and some later one.
            wanted = len(store.keys()) + rng.integers(1, 20)
            while run.poll() is None and len(store.keys()) < wanted:
                time.sleep(rng.uniform(0, 0.02))
            # The whole group: a worker that lives on would be a different test.
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
            # A machine that was busy elsewhere may have let it come to its end.
            assert run.returncode in (0, -signal.SIGKILL)
            killed += run.returncode == -signal.SIGKILL
        assert store.keys()
    assert killed
    # The processes that were killed have gone on where others were; so does this one.
    run = CliRunner().invoke(app, command(tmp_path))
    assert run.exit_code == 0, run.output
    assert rows(tmp_path) == undisturbed
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        checked = connection.execute("PRAGMA integrity_check").fetchall()
    assert checked == [("ok",)]


def test_two_runs_on_one_store(tmp_path, undisturbed):
    others = []

    def meet(left, _):
        """Let another run begin when this one knows what is left: all, for both."""
        assert len(left) == sum(map(len, undisturbed))
        others.append(start(tmp_path))
        with Store(tmp_path) as store:
            while others[0].poll() is None and not len(store.runs()):
                time.sleep(0.02)

    try:
        assert reproduce(SMALL, tmp_path, FEW, on_start=meet) == []
    finally:
        for run in others:
            _, complaints = run.communicate()
    assert run.returncode == 0, complaints
    with Store(tmp_path) as store:
        assert len(store.runs()) == 2
    assert rows(tmp_path) == undisturbed
