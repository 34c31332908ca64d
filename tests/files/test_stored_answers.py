"""The file of answers of `pairlearn label`, read as a table of pairs."""

import os
import re
import shutil
import sqlite3
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pairlearn.data.stored_answers import StoreError, read_stored_answers
from pairlearn.files.answers_store import SCHEMA
from pairlearn.files.tables.answered_pairs import read_answers
from pairlearn.files.tables.reading import TableError, read_table
from tests.support.commands import call, make_tables
from tests.support.stored import Events, make_store

# What differs from run to run.
OWN = re.compile(r"^time|SHA-256|[0-9a-f]{32}")

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x FROM n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.sqlite"


@pytest.fixture
def points(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text("id,x\n" + "".join(f"p{k},{k}\n" for k in range(8)))
    return file


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Points of two kinds, and a store with answers about them, all of them right."""
    folder = tmp_path_factory.mktemp("stored")
    points, _, y = make_tables(folder)
    make_store(
        folder / "answers.sqlite",
        dict(zip(points["id"], y, strict=True)),
        learn_every=20,
    )
    return folder


def test_columns_and_rows(path):
    with Events(path) as events:
        events.ask(0, "p1", "p2", why="to find the kinds")
        events.ask(1, "p3", "p4", purpose="audit", why="to judge the model")
        events.answer(0, 1)
        events.add("comment", 0, "Ann", text="both, red", to="Ann")
        events.answer(1, 0, who="Bob")
    table = read_table(path)
    assert {name: list(cells) for name, cells in table.columns.items()} == {
        "left": ["p1", "p3"],
        "right": ["p2", "p4"],
        "answer": ["same", "unsure"],
        "purpose": ["learn", "audit"],
        "annotator": ["Ann", "Bob"],
        "time": ["2026-05-01T12:00:00.000Z"] * 2,
        "comment": ["both, red", None],
        "why": ["to find the kinds", "to judge the model"],
        "round": [1, 1],
    }
    assert table.place(1) == "answers.sqlite, question 1"


def test_what_was_taken_back_does_not_count(path, points):
    with Events(path) as events:
        events.ask(0, "p1", "p2")
        events.ask(1, "p3", "p4")
        events.undo(0, events.answer(0, 1))
        events.answer(0, -1)
        events.undo(1, events.answer(1, 1))
    answered = read_answers(points, path)
    assert answered.index.tolist() == [[1, 2]]
    assert answered.t.tolist() == [-1]


def test_an_opinion_is_a_second_answer_about_a_pair(path, points):
    with Events(path) as events:
        events.ask(0, "p1", "p2")
        events.answer(0, 1)
        events.answer(0, -1, "Bob", "opinion")
        events.answer(0, 1, "Cy", "opinion")
        events.ask(1, "p2", "p3")
        events.answer(1, -1)
    answered = read_answers(points, path)
    assert answered.t.tolist() == [pytest.approx(1 / 3), -1]
    assert (answered.n_repeated, answered.n_disagreeing) == (1, 1)
    # One who takes an opinion back leaves the answers of the others.
    with sqlite3.connect(path) as connection:
        connection.execute(
            "INSERT INTO events (at, who, kind, question, body) "
            "SELECT at, who, 'undo', 0, '{\"of\": ' || number || '}' FROM events "
            "WHERE who = 'Bob'"
        )
    connection.close()
    assert read_answers(points, path).t.tolist() == [1, -1]


def test_of_an_audit_the_first_sure_answer_counts(path, points):
    with Events(path) as events:
        for number, (left, right) in enumerate([("p0", "p1"), ("p2", "p3")]):
            events.ask(number, left, right, purpose="audit")
        events.answer(0, 0)
        events.answer(1, 1)
        for number, (left, right) in enumerate([("p1", "p0"), ("p3", "p2")], start=2):
            events.ask(
                number,
                left,
                right,
                purpose="audit",
                why="second opinion: a random check",
            )
            events.answer(number, -1, "Bob")
        events.ask(4, "p4", "p5")
        events.answer(4, 1)
    answered = read_answers(points, path)
    assert answered.t.tolist() == [1]
    pairs, t = answered.audits.with_unsure
    by_pair = dict(zip(map(tuple, np.sort(pairs.index).tolist()), t, strict=True))
    assert by_pair == {(0, 1): -1, (2, 3): 1}
    assert len(answered.audits) == 2
    assert any("the first sure answer counts" in note for note in answered.notes)


def test_who_changes_an_answer_to_an_audit_does_not_let_an_opinion_count(path, points):
    with Events(path) as events:
        events.ask(0, "p0", "p1", purpose="audit")
        first = events.answer(0, -1)
        events.answer(0, 1, "Bob", "opinion")
        events.undo(0, first)
        events.answer(0, -1)
        events.ask(1, "p4", "p5")
        events.answer(1, 1)
    assert read_answers(points, path).audits.t.tolist() == [-1]


def test_an_audit_that_was_left_lying_counts_as_unsure(path, points):
    with Events(path) as events:
        for number in range(4):
            events.ask(number, f"p{2 * number}", f"p{2 * number + 1}", purpose="audit")
        events.undo(0, events.answer(0, 1))
        events.answer(2, 1)  # 1 and 3 are out; nobody has got to 3 yet
    answered = read_answers(points, path, need_sure=False)
    pairs, t = answered.audits.with_unsure
    assert sorted(zip(pairs.index.tolist(), t, strict=True)) == [
        ([0, 1], 0),
        ([2, 3], 0),
        ([4, 5], 1),
    ]


def test_looks_at_the_error_are_counted_from_ten_audits_on(path):
    with Events(path) as events:
        events.learn()
        for number in range(12):
            events.ask(number, f"a{number}", f"b{number}", purpose="audit")
            event = events.answer(number, 1)
            # Whoever takes an audit back has seen it all the same.
            events.undo(number, event)
            events.answer(number, -1)
            events.learn()
    assert read_stored_answers(path).n_looks == 1 + 3
    assert set(read_table(path).columns["round"]) == {4}


class TestOpening:
    def test_while_somebody_writes(self, path):
        with Events(path) as events:
            events.ask(0, "p1", "p2")
            events.answer(0, 1)
            # Nothing of it is in the file itself yet.
            assert path.with_name("answers.sqlite-wal").stat().st_size
            events.connection.execute("BEGIN IMMEDIATE")
            events.ask(1, "p3", "p4")
            events.answer(1, 1)
            assert len(read_table(path)) == 1
            events.connection.execute("COMMIT")
            assert len(read_table(path)) == 2

    @pytest.mark.skipif(os.name == "nt", reason="links take rights of their own there")
    def test_by_a_link_while_somebody_writes(self, path, tmp_path):
        link = tmp_path / "elsewhere" / "link.sqlite"
        link.parent.mkdir()
        link.symlink_to(path)
        with Events(path) as events:
            events.ask(0, "p1", "p2")
            events.answer(0, 1)
            assert len(read_table(link)) == 1

    def test_nothing_is_left_beside_it(self, path):
        with Events(path) as events:
            events.ask(0, "p1", "p2")
            events.answer(0, 1)
        before = path.read_bytes()
        assert len(read_table(path)) == 1
        assert [file.name for file in path.parent.iterdir()] == [path.name]
        assert path.read_bytes() == before

    def test_after_a_crash(self, path, tmp_path):
        left = tmp_path / "left"
        left.mkdir()
        with Events(path) as events:
            events.ask(0, "p1", "p2")
            events.answer(0, 1)
            for name in ("answers.sqlite", "answers.sqlite-wal"):
                shutil.copy(tmp_path / name, left / name)
        assert len(read_table(left / path.name)) == 1

    @pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs users, as Unix has")
    @pytest.mark.parametrize("with_wal", [False, True])
    def test_in_a_folder_that_may_only_be_read(self, with_wal):
        # Not below tmp_path, which nobody else may enter.
        folder = Path(tempfile.mkdtemp())
        path = folder / "answers.sqlite"
        events = Events(path)
        events.ask(0, "p1", "p2")
        events.answer(0, 1)
        if with_wal:
            wal = (folder / "answers.sqlite-wal").read_bytes()
            whole = path.read_bytes()
        events.connection.close()
        if with_wal:
            path.write_bytes(whole)
            (folder / "answers.sqlite-wal").write_bytes(wal)
        files = sorted(file.name for file in folder.iterdir())
        is_root = os.geteuid() == 0
        folder.chmod(0o555)
        for file in folder.iterdir():
            file.chmod(0o444)
        try:
            if is_root:
                os.seteuid(65534)
            try:
                assert len(read_stored_answers(path).rows) == 1
            finally:
                if is_root:
                    os.seteuid(0)
            assert sorted(file.name for file in folder.iterdir()) == files
        finally:
            folder.chmod(0o755)
            shutil.rmtree(folder)

    def test_names_with_signs_that_mean_something_elsewhere(self, tmp_path):
        path = tmp_path / "100 % of #1? ä.sqlite"
        with Events(path) as events:
            events.ask(0, "p1", "p2")
            events.answer(0, 1)
            assert len(read_table(path)) == 1
        assert len(read_table(path)) == 1

    @pytest.mark.skipif(not Path("/proc/locks").exists(), reason="needs Linux")
    def test_a_writer_in_the_same_process_keeps_its_locks(self, path):
        def locks():
            inodes = {str(file.stat().st_ino) for file in path.parent.iterdir()}
            lines = Path("/proc/locks").read_text().splitlines()
            return [line for line in lines if line.split()[-3].split(":")[-1] in inodes]

        with Events(path) as events:
            events.ask(0, "p1", "p2")
            events.answer(0, 1)
            before = locks()
            assert before
            assert len(read_table(path)) == 1
            assert len(locks()) >= len(before)


class TestRefusals:
    def test_no_answers_yet(self, path):
        with Events(path) as events:
            events.ask(0, "p1", "p2")
        with pytest.raises(TableError, match=r"answers\.sqlite holds no answer yet"):
            read_table(path)

    def test_another_database(self, path):
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE answers (left, right, answer)")
        connection.close()
        with pytest.raises(TableError, match="is not a file of answers"):
            read_table(path)

    @pytest.mark.parametrize("content", [b"", b"left,right,answer\np1,p2,same\n"])
    def test_no_database(self, path, content):
        path.write_bytes(content)
        with pytest.raises(TableError, match="is not a file of answers"):
            read_table(path)

    def test_a_newer_version(self, path):
        with Events(path) as events:
            events.connection.execute("PRAGMA user_version = 7")
        with pytest.raises(TableError, match=r"newer version of pairlearn .* is\s+7"):
            read_table(path)

    def test_a_missing_file(self, path):
        with pytest.raises(FileNotFoundError):
            read_stored_answers(path)

    @pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
    def test_a_part_of_a_file(self, world, path, share):
        data = (world / "answers.sqlite").read_bytes()
        path.write_bytes(data[: int(share * len(data))])
        with pytest.raises(TableError, match=r"answers\.sqlite is damaged"):
            read_table(path)

    @pytest.mark.parametrize(
        "body",
        ["{", "[1]", '{"left_id": 3, "right_id": "p", "purpose": "learn"}', "null"],
    )
    def test_events_that_nobody_wrote(self, path, body):
        with Events(path) as events:
            events.connection.execute(
                "INSERT INTO events (at, kind, question, body) VALUES (1, 'ask', 0, ?)",
                (body,),
            )
            events.answer(0, 1)
        with pytest.raises(TableError, match=r"answers\.sqlite is damaged"):
            read_table(path)

    @pytest.mark.parametrize(
        "forged",
        [
            f"CREATE VIEW events AS {ENDLESS}",
            "CREATE TABLE events (number, at, who, kind, question, body AS (1))",
            "CREATE VIRTUAL TABLE events USING fts5(at)",
        ],
    )
    def test_a_log_that_is_something_else(self, path, forged):
        connection = sqlite3.connect(path)
        connection.executescript(SCHEMA)
        connection.executescript(f"DROP TABLE events; {forged}")
        connection.close()
        with pytest.raises(StoreError, match="its log of events is not there"):
            read_stored_answers(path)

    def test_the_view_in_a_file_is_not_run(self, path):
        with Events(path) as events:
            events.ask(0, "p1", "p2")
            events.answer(0, 1)
            events.connection.executescript(
                f"DROP VIEW answers; CREATE VIEW answers AS {ENDLESS}"
            )
        assert len(read_table(path)) == 1

    def test_points_and_answers_the_other_way_round(self, world):
        files = world / "answers.sqlite", world / "points.csv"
        result = call("fit", *files, "-o", world / "swapped.skops")
        assert result.exit_code == 1
        assert "points come first" in " ".join(result.output.split())


@pytest.mark.usefixtures("quick")
class TestCommands:
    def test_fit_learns_and_certifies_by_the_audits(self, world, tmp_path):
        model = tmp_path / "model.skops"
        result = call(
            "fit", world / "points.csv", world / "answers.sqlite", "-o", model
        )
        assert result.exit_code == 0, result.output
        told = " ".join(result.output.split())
        # 84 answers, a model after each 20, some of them before ten audits.
        looks = read_stored_answers(world / "answers.sqlite").n_looks
        assert 2 < looks <= 5
        assert f"there were {looks} rounds" in told
        assert "24 audits" in told or "24 pairs" in told

    def test_the_others(self, world, tmp_path):
        files = world / "points.csv", world / "answers.sqlite"
        model = tmp_path / "model.skops"
        assert call("fit", *files, "-o", model).exit_code == 0
        checked = call("check", *files)
        assert checked.exit_code == 0, checked.output
        assert "60 rows to learn from, 24 audits" in " ".join(checked.output.split())
        certified = call("certify", model, *files)
        assert certified.exit_code == 0, certified.output

    def test_a_table_of_the_answers_gives_the_same_model(self, world, tmp_path):
        table = read_table(world / "answers.sqlite")
        pairs = tmp_path / "pairs.csv"
        columns = {name: list(cells) for name, cells in table.columns.items()}
        pd.DataFrame(columns).to_csv(pairs, index=False)
        told = [
            call("fit", world / "points.csv", file, "-o", tmp_path / "model.skops")
            for file in (world / "answers.sqlite", pairs)
        ]
        assert [result.exit_code for result in told] == [0, 0]
        facts = [
            [line for line in result.output.splitlines() if not OWN.search(line)]
            for result in told
        ]
        assert len(facts[0]) > 10
        assert facts[0] == facts[1]


def test_columns_about_the_answer_are_not_taken_for_others(points, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(
        "annotator,time,comment,why,left,right,answer\n"
        "p3,2026-05-01T12:00:00Z,same,to learn most,p1,p2,different\n"
        "p4,2026-05-01T12:00:01Z,yes,no,p2,p3,same\n"
    )
    answered = read_answers(points, pairs)
    assert answered.index.tolist() == [[1, 2], [2, 3]]
    assert answered.t.tolist() == [-1, 1]
