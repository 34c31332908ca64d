"""The command `reproduce`: what it runs, says and leaves behind."""

from dataclasses import replace

import pytest

from pairlearn.reproduce.runner import EXPERIMENTS
from pairlearn.reproduce.store import Store
from tests.support.commands import call


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
