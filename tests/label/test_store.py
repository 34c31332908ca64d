"""Where answers are kept: what is there stays, and what is not ours stays as it is.

What holds for a file and for a database is tested with both (`where`), the rest with
`path`, a file; test_database.py has what holds for a database alone.
"""

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing

import pytest
from sqlalchemy.exc import IntegrityError, OperationalError

from pairlearn.files.answers_store import SCHEMA, VERSION, StoreError, open_read_only
from pairlearn.label.leases import Lease
from pairlearn.label.store import NeedsLog, Store, copy_store, read_events
from tests.support.databases import execute

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
def store(where):
    store = Store(where, clock)
    yield store
    store.close()


@pytest.fixture
def file_store(path):
    store = Store(path, clock)
    yield store
    store.close()


def rows(where):
    return execute(where, "SELECT * FROM answers")


def pragma(store, words):
    raw = store._connection.connection.dbapi_connection
    return raw.execute(f"PRAGMA {words}").fetchone()[0]


LEASE = Lease(0, "Ada", "page", 12.5, 1.0, is_open=False)


def test_what_was_committed_is_there_after_closing(where):
    store = Store(where, clock)
    assert store.is_new
    with store.transaction():
        store.append("ask", ASKED, question=0)
        store.append("answer", {"said": -1}, who="Ada", question=0, request="r1")
        store.keep_fact("port", 8000)
        store.leases.put(LEASE)
    before = list(store.events())
    store.close()
    again = Store(where, clock)
    assert not again.is_new
    assert list(again.events()) == before
    assert list(again.events(1)) == before[1:]
    assert list(read_events(where)) == before
    assert again.facts() == {"port": 8000}
    with again.transaction():
        assert again.leases.all() == [LEASE]
        assert again.fact("port") == 8000
    assert again.event_of("r1") == before[1]
    assert again.event_of("r2") is None
    assert again.last == 2
    again.close()


def test_the_file_is_for_us_alone_and_safe_against_power_cuts(file_store, path):
    store = file_store
    assert pragma(store, "journal_mode") == "wal"
    assert pragma(store, "synchronous") == 2
    with store.transaction():
        store.append("ask", ASKED, question=0)
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_standing_answers_opinions_and_comments_in_the_view(store, where):
    with store.transaction():
        store.append("ask", ASKED, question=0)
        store.append("answer", {"said": 1}, who="Ada", question=0)
        store.append("opinion", {"said": -1}, who="Bob", question=0)
        store.append("comment", {"text": "hm", "to": "Bob"}, who="Ann", question=0)
    at = "2023-11-14T22:13:20.000Z"
    end = ("learn", "to learn most")
    assert rows(where) == [
        (0, "p4", "p2", "same", "Ada", at, None, *end),
        (0, "p4", "p2", "different", "Bob", at, "hm", *end),
    ]
    with store.transaction():
        store.append("undo", {"of": 2, "said": 1}, who="Ada", question=0)
        store.append("comment", {"text": "", "to": "Bob"}, who="Bob", question=0)
    assert rows(where) == [(0, "p4", "p2", "different", "Bob", at, None, *end)]
    with store.transaction():
        store.append("answer", {"said": 0}, who="Ada", question=0)
    # Opinions stand behind the answers.
    assert [row[3:5] for row in rows(where)] == [
        ("unsure", "Ada"),
        ("different", "Bob"),
    ]


@pytest.mark.parametrize(
    "statement", ["UPDATE events SET who = 'Eve'", "DELETE FROM events"]
)
def test_events_are_neither_changed_nor_deleted(store, where, statement):
    with store.transaction():
        store.append("ask", ASKED, question=0)
    with pytest.raises(Exception, match="events are never"):
        execute(where, statement)
    assert len(list(store.events())) == 1


def test_an_id_of_a_request_is_used_once(store):
    with store.transaction():
        store.append("join", {}, who="Ada", request="r1")

    def twice():
        with store.transaction():
            store.append("join", {}, who="Bob", request="r2")
            store.append("join", {}, who="Bob", request="r1")

    with pytest.raises(IntegrityError):
        twice()
    assert [event.request for event in store.events()] == ["r1"]
    assert store.last == 1


def test_nothing_is_written_beside_a_transaction_or_without_the_log(store):
    for write in (lambda: store.append("join", {}), lambda: store.keep_fact("a", 1)):
        with pytest.raises(NeedsLog):
            write()
        with pytest.raises(NeedsLog), store.transaction(log=False):
            write()
    assert (store.last, list(store.events()), store.facts()) == (0, [], {})


def test_a_copy_has_the_same_events_and_facts_in_the_same_order(store, where, tmp_path):
    with store.transaction():
        for number in range(2500):  # more than are read at a time
            store.append("ask", ASKED, question=number, request=f"r{number}")
        store.append("comment", {"text": "\u00fc\u4e2d\\ \"'"}, who="Ada", question=0)
        store.keep_fact("port", [8000, None])
        store.keep_fact("secret", "s")
    target = tmp_path / "copy.sqlite"
    assert copy_store(where, target, without=["secret"]) == 2501
    copy = Store(target, clock)
    assert list(copy.events()) == list(store.events())
    assert copy.facts() == {"port": [8000, None]}
    copy.close()
    with pytest.raises(StoreError, match=r"copy.sqlite holds answers already"):
        copy_store(where, target)
    (tmp_path / "points.csv").write_text("id\n")
    with pytest.raises(StoreError, match="is not a file of answers"):
        copy_store(tmp_path / "points.csv", tmp_path / "other.sqlite")
    assert not (tmp_path / "other.sqlite").exists()


def test_a_file_of_version_1_is_continued(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as old:
        old.executescript(SCHEMA)
        add = "INSERT INTO events (at, kind, question, body) VALUES ('', ?, ?, ?)"
        for number in (0, 1):
            old.execute(add, ("ask", number, json.dumps(ASKED)))
        old.execute(add, ("answer", 0, '{"said": 1}'))
        old.execute("INSERT INTO leases VALUES (1, 'Ada', 'page', 12.5)")
        old.execute("INSERT INTO facts VALUES ('port', '8000')")
    assert len(rows(path)) == 1
    store = Store(path, clock)
    assert pragma(store, "user_version") == VERSION == 2
    assert [event.kind for event in store.events()] == ["ask", "ask", "answer"]
    with store.transaction():
        store.append("join", {}, who="Ada")
        assert store.leases.all() == [Lease(1, "Ada", "page", 12.5, 12.5, is_open=True)]
    assert store.facts() == {"port": 8000}
    store.close()
    assert rows(path) == execute(path, "SELECT * FROM answers")
    Store(path, clock).close()


def test_a_second_program_is_refused(file_store, path):
    store = file_store
    with pytest.raises(StoreError, match="in use by another pairlearn label"):
        Store(path, clock)
    with store.transaction():
        store.append("ask", ASKED, question=0)
    assert store.last == 1


@pytest.mark.skipif(os.name == "nt", reason="links take rights of their own there")
@pytest.mark.usefixtures("file_store")
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


def test_a_reader_cannot_write_and_sees_the_last_commit(file_store, path):
    store = file_store
    with closing(open_read_only(path)) as reader:
        with store.transaction():
            store.append("ask", ASKED, question=0)
        assert reader.execute("SELECT count(*) FROM events").fetchone() == (1,)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("INSERT INTO facts VALUES ('a', '1')")
    with pytest.raises(FileNotFoundError):
        open_read_only(path.with_name("missing.sqlite"))


def test_a_full_disk_changes_nothing(file_store):
    store = file_store
    with store.transaction():
        store.append("ask", ASKED, question=0)
    pragma(store, f"max_page_count = {pragma(store, 'page_count')}")

    def too_many():
        with store.transaction():
            for number in range(1, 1000):
                store.append("ask", ASKED, question=number)

    with pytest.raises(OperationalError, match="full"):
        too_many()
    assert [event.question for event in store.events()] == [0]
    assert store.last == 1
    pragma(store, "max_page_count = 100000")
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
