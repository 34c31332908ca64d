"""A store that was damaged or altered gives a clear line, never a wrong number."""

import json
import shutil
import sqlite3

import numpy as np
import pytest
from typer.testing import CliRunner

from pairlearn.cli.app import app
from pairlearn.reproduce.experiment import Options
from pairlearn.reproduce.report import build, write_report
from pairlearn.reproduce.report.paper import EXPERIMENTS
from pairlearn.reproduce.runner import reproduce
from pairlearn.reproduce.store import FILE_NAME, Store, StoreError, Trial
from tests.support.report_rows import (
    assignment_rows,
    fill,
    markdown_of,
    method_rows,
    naive_rows,
    prior_rows,
)

FAILED = [(Trial("table-methods", "gaussians", "CIPS", 32, 9), "no reason")]
SMALL = ("fig-assignment", Options(trials=1, quick=True))


def contents(folder):
    """All that a report is made of."""
    with Store(folder) as store, store.unchanging():
        store.check()
        frames = {name: store.frame(name).to_json() for name in EXPERIMENTS}
        runs, failures = store.runs().to_json(), store.failures().to_json()
        return frames, sorted(store.keys()), runs, failures


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    fill(folder, method_rows(), failures=FAILED)
    return folder


@pytest.fixture
def folder(small, tmp_path):
    shutil.copy(small / FILE_NAME, tmp_path)
    return tmp_path


def alter(folder, statement, *values):
    connection = sqlite3.connect(folder / FILE_NAME)
    with connection:
        assert connection.execute(statement, values).rowcount > 0
    connection.close()


def older(folder):
    """Take the digests away: a store from before there were any."""
    for table in ("runs", "failures", "trials"):
        connection = sqlite3.connect(folder / FILE_NAME)
        with connection:
            connection.execute(f"ALTER TABLE {table} DROP COLUMN digest")
        connection.close()


@pytest.mark.parametrize("seed", range(3))
def test_changed_bytes_are_found_or_do_not_matter(folder, seed):
    path = folder / FILE_NAME
    whole, expected = path.read_bytes(), contents(folder)
    rng = np.random.default_rng(seed)
    n_refused = 0
    for k in range(60):
        content = bytearray(whole)
        place = int(rng.integers(len(content)))
        if k % 3 == 0:
            content[place] ^= 1 << int(rng.integers(8))
        elif k % 3 == 1:
            content[place] = int(rng.integers(256))
        else:
            n = int(rng.integers(1, 200))
            content[place : place + n] = rng.bytes(min(n, len(content) - place))
        path.write_bytes(content)
        try:
            found = contents(folder)
        except StoreError:
            n_refused += 1
        else:
            assert found == expected
    # Many bytes of the file are free, and most are not.
    assert 12 < n_refused < 60


@pytest.mark.parametrize("n_bytes", [1, 100, 4000, 5000])
def test_a_file_that_is_cut_off(folder, n_bytes):
    path = folder / FILE_NAME
    path.write_bytes(path.read_bytes()[:-n_bytes])
    with pytest.raises(StoreError, match="damaged"):
        write_report(folder)


ALTERED = {
    "results = '{\"excess\": 0.5}'": "not as it was written",
    "results = '{}'": "excess is not a number",
    "results = '{\"excess\": NaN}'": "excess is not a number",
    'results = \'{"excess": "0.5"}\'': "excess is not a number",
    "results = '{\"excess\": null}'": "excess is not a number",
    'results = \'{"excess": 1, "m": 5}\'': "share names",
    "results = '{'": "results is not a JSON object",
    "results = '[1]'": "results is not a JSON object",
    "results = x'ff00'": "results is not a JSON object",
    "settings = 'null'": "settings is not a JSON object",
    "settings = '{\"excess\": 1}'": "share names",
    "method = x'00'": "method is not text",
    "m = 'many'": "m is not a number",
    "m = -1": "m is below 0",
    "m = 1.5": "m is not a number",
    "seed = ''": "seed is not a number",
    "seconds = 'long'": "seconds is not a number",
    "seconds = 9e999": "seconds is not a number",
    "run = 77": "there is no run 77",
}


@pytest.mark.parametrize("change", ALTERED)
@pytest.mark.parametrize("with_digests", [True, False])
def test_altered_rows(folder, change, with_digests):
    if not with_digests:
        older(folder)
    alter(folder, f"UPDATE trials SET {change} WHERE rowid = 7")  # noqa: S608
    if "0.5}" in change and not with_digests:
        # A number for a number: nobody can know, without a digest.
        return
    why = "not as it was written" if with_digests else ALTERED[change]
    result = CliRunner().invoke(app, ["report", str(folder)])
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "1 trial(s) are damaged or were altered; the first: " in result.stderr
    assert "(row 7): " in result.stderr
    assert f"{why}. `pairlearn reproduce` with this folder" in result.stderr
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    "change",
    ["versions = '{\"pairlearn\": 1}'", "versions = 'x'", "started = x'00'", "id = 4"],
)
def test_altered_runs(folder, change):
    alter(folder, f"UPDATE runs SET {change}")  # noqa: S608
    with pytest.raises(StoreError, match=r"record of run \d is damaged"):
        write_report(folder)
    older(folder)
    with pytest.raises(StoreError, match="damaged"):
        write_report(folder)


def test_settings_of_the_figures_are_looked_at(tmp_path):
    for name, rows in (
        ("prior", prior_rows), ("assignment", assignment_rows), ("naive", naive_rows),
    ):  # fmt: skip
        folder = tmp_path / name
        (trial, results), *_ = rows()
        settings = json.dumps(dict(trial.settings) | {"prior": ["?"]})
        fill(folder, [(trial, results)])
        older(folder)
        alter(folder, "UPDATE trials SET settings = ?", settings)
        with pytest.raises(StoreError, match="prior is not"):
            build(folder)


def test_damaged_trials_are_run_again(tmp_path):
    name, options = SMALL
    reproduce([name], tmp_path, options)
    before = contents(tmp_path)
    page = markdown_of(tmp_path)
    alter(tmp_path, "UPDATE trials SET results = '{\"wrong\": 777777}' WHERE rowid = 3")
    alter(tmp_path, "UPDATE trials SET seed = 5 WHERE rowid = 4")
    with pytest.raises(StoreError, match="2 trial"):
        write_report(tmp_path)
    told, left = [], []
    reproduce(
        [name], tmp_path, options, on_damaged=told.append,
        on_start=lambda trials, there: left.append((len(trials), there)),
    )  # fmt: skip
    assert told == [2]
    assert left == [(2, len(before[1]) - 2)]
    assert contents(tmp_path)[1] == before[1]
    again = markdown_of(tmp_path)
    table = page[: page.index("## Settings")]
    assert again[: again.index("## Settings")] == table
    # With nothing damaged nobody is told anything.
    reproduce([name], tmp_path, options, on_damaged=told.append)
    assert told == [2]


def test_an_older_store_is_read_as_it_is_and_can_be_added_to(folder):
    older(folder)
    path = folder / FILE_NAME
    before = path.read_bytes()
    write_report(folder)
    assert path.read_bytes() == before
    with Store(folder) as store:
        n_trials = len(store.keys())
        run = store.begin("again", {"python": "3"})
        store.add(
            Trial("table-methods", "gaussians", "CIPS", 32, 99),
            {"excess": 0.5}, seconds=1, run=run,
        )  # fmt: skip
        store.check()
        assert len(store.keys()) == n_trials + 1
    alter(folder, "UPDATE trials SET seconds = 2 WHERE seed = 99")
    with pytest.raises(StoreError, match="not as it was written"):
        write_report(folder)


@pytest.mark.parametrize("name", ["fig-prior", "fig-sample-size"])
def test_trials_of_another_version(tmp_path, name):
    """Of data that nobody here knows; as a file of another version may be."""
    trial = Trial(name, "$\\frac{", "<b>", 32, 0, {"prior": "1/7"})
    fill(tmp_path, [(trial, {"error": 0.3})])
    with pytest.raises(StoreError, match="another version of pairlearn, or were alt"):
        write_report(tmp_path)


def test_names_in_a_store_are_no_html(tmp_path):
    evil = "<script>alert(1)</script>"
    rows = [*method_rows(), (Trial("table-tabular", evil, evil, 1, 0), {"error": 0.1})]
    failures = [(Trial("table-methods", evil, evil, 1, 0), evil)]
    fill(tmp_path, rows, versions={evil: evil}, command=evil, failures=failures)
    write_report(tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "&lt;script&gt;alert(1)" in page
    assert evil not in page
