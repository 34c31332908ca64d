"""The file of answers: what is kept stays, and what is not ours stays as it is."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing

import pytest

from pairlearn.files.answers_store import VERSION, StoreError, open_read_only
from pairlearn.label.store import Store

ASKED = {
    "left": 4,
    "right": 2,
    "left_id": "p4",
    "right_id": "p2",
    "purpose": "learn",
    "target": 2,
    "why": "to learn most",
}


def clock():
    return 1_700_000_000.0


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.sqlite"


@pytest.fixture
def store(path):
    store = Store(path, clock)
    yield store
    store.close()


def rows(path):
    with closing(open_read_only(path)) as connection:
        return connection.execute("SELECT * FROM answers").fetchall()


def test_what_was_committed_is_there_after_closing(path):
    store = Store(path, clock)
    assert store.is_new
    with store.transaction():
        store.append("ask", ASKED, question=0)
        store.append("answer", {"said": -1}, who="Ada", question=0, request="r1")
        store.keep_fact("port", 8000)
        store.lease(0, "Ada", "page", 12.5)
    before = list(store.events())
    store.close()
    again = Store(path, clock)
    assert not again.is_new
    assert list(again.events()) == before
    assert again.facts() == {"port": 8000}
    assert again.leases() == [(0, "Ada", "page", 12.5)]
    assert again.event_of("r1") == before[1]
    assert again.event_of("r2") is None
    assert again.last == 2
    again.close()


def test_the_file_is_for_us_alone_and_safe_against_power_cuts(store, path):
    connection = store._connection
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    with store.transaction():
        store.append("ask", ASKED, question=0)
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_standing_answers_opinions_and_comments_in_the_view(store, path):
    with store.transaction():
        store.append("ask", ASKED, question=0)
        store.append("answer", {"said": 1}, who="Ada", question=0)
        store.append("opinion", {"said": -1}, who="Bob", question=0)
        store.append("comment", {"text": "hm", "to": "Bob"}, who="Ann", question=0)
    at = "2023-11-14T22:13:20.000Z"
    end = ("learn", "to learn most")
    assert rows(path) == [
        (0, "p4", "p2", "same", "Ada", at, None, *end),
        (0, "p4", "p2", "different", "Bob", at, "hm", *end),
    ]
    with store.transaction():
        store.append("undo", {"of": 2, "said": 1}, who="Ada", question=0)
        store.append("comment", {"text": "", "to": "Bob"}, who="Bob", question=0)
    assert rows(path) == [(0, "p4", "p2", "different", "Bob", at, None, *end)]
    with store.transaction():
        store.append("answer", {"said": 0}, who="Ada", question=0)
    # Opinions stand behind the answers.
    assert [row[3:5] for row in rows(path)] == [
        ("unsure", "Ada"),
        ("different", "Bob"),
    ]


@pytest.mark.parametrize(
    "statement", ["UPDATE events SET who = 'Eve'", "DELETE FROM events"]
)
def test_events_are_neither_changed_nor_deleted(store, path, statement):
    with store.transaction():
        store.append("ask", ASKED, question=0)
    with (
        closing(sqlite3.connect(path)) as other,
        pytest.raises(sqlite3.IntegrityError, match="events are never"),
    ):
        other.execute(statement)
    assert len(list(store.events())) == 1


def test_an_id_of_a_request_is_used_once(store):
    with store.transaction():
        store.append("join", {}, who="Ada", request="r1")

    def twice():
        with store.transaction():
            store.append("join", {}, who="Bob", request="r2")
            store.append("join", {}, who="Bob", request="r1")

    with pytest.raises(sqlite3.IntegrityError):
        twice()
    assert [event.request for event in store.events()] == ["r1"]
    assert store.last == 1


def test_a_second_program_is_refused(store, path):
    with pytest.raises(StoreError, match="in use by another pairlearn label"):
        Store(path, clock)
    with store.transaction():
        store.append("ask", ASKED, question=0)
    assert store.last == 1


@pytest.mark.skipif(os.name == "nt", reason="links take rights of their own there")
@pytest.mark.usefixtures("store")
def test_nor_is_a_second_one_let_in_by_a_link(path, tmp_path):
    link = tmp_path / "elsewhere" / "link.sqlite"
    link.parent.mkdir()
    link.symlink_to(path)
    with pytest.raises(StoreError, match="in use by another pairlearn label"):
        Store(link, clock)
    assert [file.name for file in link.parent.iterdir()] == ["link.sqlite"]


def test_a_killed_program_leaves_the_file_to_the_next(path):
    program = (
        "import sys, time; from pathlib import Path\n"
        "from pairlearn.label.store import Store\n"
        "store = Store(Path(sys.argv[1]), time.time)\n"
        "with store.transaction():\n"
        "    store.append('join', {}, who='Ada')\n"
        "print('open', flush=True); time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, path], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "open\n"
        with pytest.raises(StoreError, match="in use"):
            Store(path, clock)
        process.send_signal(signal.SIGKILL)
        process.wait(60)
    store = Store(path, clock)
    assert [event.who for event in store.events()] == ["Ada"]
    store.close()


def test_an_empty_file_is_begun(path):
    path.touch()
    store = Store(path, clock)
    assert store.is_new
    store.close()


def foreign_text(path):
    path.write_text("left,right,answer\np1,p2,same\n")


def foreign_database(path):
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE music (title TEXT)")


def newer(path):
    Store(path, clock).close()
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA user_version = {VERSION + 1}")


def cut_off(path):
    Store(path, clock).close()
    path.write_bytes(path.read_bytes()[:-5000])


def scribbled(path):
    Store(path, clock).close()
    content = bytearray(path.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (foreign_text, "is not a file of answers that pairlearn label wrote"),
        (foreign_database, "is not a file of answers that pairlearn label wrote"),
        (newer, "was written by a newer version of pairlearn"),
        (cut_off, "is damaged"),
        (scribbled, "is damaged"),
    ],
)
def test_a_file_that_cannot_be_used_stays_as_it_is(path, spoil, told):
    spoil(path)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.raises(StoreError, match=told):
        Store(path, clock)
    after = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    assert after == before


@pytest.mark.parametrize("spoil", [foreign_text, foreign_database, newer, cut_off])
def test_nor_can_it_be_read(path, spoil):
    spoil(path)
    with pytest.raises(StoreError):
        open_read_only(path)


def test_a_reader_cannot_write_and_sees_the_last_commit(store, path):
    with closing(open_read_only(path)) as reader:
        with store.transaction():
            store.append("ask", ASKED, question=0)
        assert reader.execute("SELECT count(*) FROM events").fetchone() == (1,)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("INSERT INTO facts VALUES ('a', '1')")
    with pytest.raises(FileNotFoundError):
        open_read_only(path.with_name("missing.sqlite"))


def test_a_full_disk_changes_nothing(store):
    with store.transaction():
        store.append("ask", ASKED, question=0)
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")

    def too_many():
        with store.transaction():
            for number in range(1, 1000):
                store.append("ask", ASKED, question=number)

    with pytest.raises(sqlite3.OperationalError, match="full"):
        too_many()
    assert [event.question for event in store.events()] == [0]
    assert store.last == 1
    store._connection.execute("PRAGMA max_page_count = 100000")
    with store.transaction():
        store.append("ask", ASKED, question=1)
    assert store.last == 2


def test_a_folder_that_is_missing(tmp_path):
    with pytest.raises(StoreError, match="no file can be made in its folder"):
        Store(tmp_path / "nowhere" / "answers.sqlite", clock)


@pytest.mark.skipif(not hasattr(os, "geteuid") or not os.geteuid(), reason="root")
def test_a_file_that_may_not_be_written(path):
    Store(path, clock).close()
    path.chmod(0o400)
    with pytest.raises(StoreError, match="may not be written by you"):
        Store(path, clock)
