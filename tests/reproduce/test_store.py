"""The store of trials: one result each, one state for a reader, clear errors."""

import sqlite3

import pytest

from pairlearn.reproduce.store import FILE_NAME, Store, StoreError, Trial


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
