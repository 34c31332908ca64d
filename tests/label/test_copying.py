"""`pairlearn label export`, `import` and `trail`: all is copied, or nothing."""

import csv
import io
import sqlite3
from contextlib import closing

import pytest

from pairlearn.data.stored_answers import read_stored_answers
from pairlearn.files.answers_store import StoreError
from pairlearn.label import store as store_module
from pairlearn.label.copying import Digest, copy_all
from pairlearn.label.store import Store, read_events
from tests.support.commands import call
from tests.support.label_events import asked_body

SAID = {"said": 1, "seconds": 0.1}


@pytest.fixture
def source(tmp_path):
    """A file with a few of everything."""
    path = tmp_path / "answers.sqlite"
    store = Store(path, lambda: 1_700_000_000.123)
    with store.transaction():
        store.keep_fact("settings", {"seed": 0, "noise": [0.9, 0.2], "id": None})
        store.keep_fact("secret", "5" * 64)
        store.append("invite", {"name": "Bob", "role": "annotator", "id": "k1"})
        store.append("join", {"owner": False, "invitation": "k1"}, who="Bob")
        for number in range(30):
            body = asked_body(number, number + 1)
            store.append("ask", body, question=number)
            who = ("Bob", "Zoë \U0001f600")[number % 2]
            request = f"r{number}"
            store.append("answer", SAID, who=who, question=number, request=request)
        store.append("comment", {"text": "=1+1\n", "to": "Bob"}, who="Bob", question=0)
        store.leases.add(0)
    store.close()
    return path


def rows(path, table="events"):
    with closing(sqlite3.connect(path)) as connection:
        ask = f"SELECT * FROM {table} ORDER BY 1"  # noqa: S608 - names of ours
        return connection.execute(ask).fetchall()


def test_there_and_back_again(source, tmp_path):
    before = rows(source)
    done = call("label", "export", source, tmp_path / "copy.sqlite", "--name", "Ada")
    assert done.exit_code == 0, done.output
    assert "63 events and 2 settings" in done.output
    copy = rows(tmp_path / "copy.sqlite")
    assert copy[:-1] == before
    assert rows(tmp_path / "copy.sqlite", "facts") == rows(source, "facts")
    assert rows(tmp_path / "copy.sqlite", "leases") == []
    # Both tell of it, and an import leaves its file as it is.
    assert rows(source)[:-1] == before
    assert rows(source)[-1][2:4] == ("Ada", "export")
    assert copy[-1][2:4] == ("Ada", "import")
    taken = (tmp_path / "copy.sqlite").read_bytes()
    done = call("label", "import", tmp_path / "copy.sqlite", tmp_path / "third.sqlite")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "copy.sqlite").read_bytes() == taken
    assert rows(tmp_path / "third.sqlite")[:-1] == copy
    assert read_stored_answers(tmp_path / "third.sqlite") == read_stored_answers(source)
    assert sorted(path.name for path in tmp_path.glob("*wal")) == []


def test_what_is_in_use_is_copied_as_it_is_at_that_moment(source, tmp_path):
    store = Store(source, lambda: 0.0)
    try:
        with store.transaction():
            store.append("withdraw", {}, question=3)
        copied = copy_all("export", str(source), str(tmp_path / "c.sqlite"), None)
        with store.transaction():
            store.append("withdraw", {}, question=4)
    finally:
        store.close()
    assert copied.n_events == 64
    assert not copied.noted
    assert [row[3] for row in rows(source)[-2:]] == ["withdraw", "withdraw"]
    assert rows(tmp_path / "c.sqlite")[:-1] == rows(source)[:-1]


def test_it_can_be_gone_on_with(source, tmp_path):
    target = tmp_path / "c.sqlite"
    copy_all("export", str(source), str(target), None)
    store = Store(target, lambda: 0.0)
    try:
        with store.transaction():
            assert store.append("withdraw", {}, question=3).number == 65
        assert store.event_of("r0").question == 0
    finally:
        store.close()


def test_a_target_that_holds_something_is_left_as_it_is(source, tmp_path):
    target = tmp_path / "c.sqlite"
    copy_all("export", str(source), str(target), None)
    before, of_source = rows(target), rows(source)
    for place in (target, source):
        done = call("label", "import", source, place)
        assert done.exit_code == 1
        assert "holds answers already" in done.output
    assert (rows(target), rows(source)) == (before, of_source)
    # One that was begun and never used is as good as new.
    empty = tmp_path / "empty.sqlite"
    Store(empty, lambda: 0.0).close()
    assert copy_all("import", str(source), str(empty), None).n_events == 64


def test_a_copy_that_breaks_off_leaves_nothing(source, tmp_path, monkeypatch):
    read, before = store_module._event, sorted(tmp_path.iterdir())

    def fail(row):
        if row[0] == 40:
            raise OSError(28, "No space left on device")
        return read(row)

    monkeypatch.setattr(store_module, "_event", fail)
    done = call("label", "export", source, tmp_path / "c.sqlite")
    assert done.exit_code == 1
    assert "no space left" in done.output
    assert sorted(tmp_path.iterdir()) == before
    assert len(rows(source)) == 63


def test_a_copy_that_is_not_the_same_is_told(source, tmp_path, monkeypatch):
    copy = Store._copy

    def change(store, events, facts):
        other = (each._replace(at="1999-01-01T00:00:00Z") for each in events)
        copy(store, other, facts)

    monkeypatch.setattr(Store, "_copy", change)
    with pytest.raises(StoreError, match="not the same as what was read"):
        copy_all("import", str(source), str(tmp_path / "c.sqlite"), None)
    assert not (tmp_path / "c.sqlite").exists()


def checksum(facts, events):
    digest = Digest()
    for each in (facts, *events):
        digest.add(each)
    return digest.value


def test_the_checksum_sees_every_part(source):
    events = list(read_events(source))
    known = checksum({"a": 1}, events)
    assert checksum({"a": 2}, events) != known
    for place, other in enumerate((99, "x", "x", "x", 99, "x", {"x": 1})):
        values = list(events[5])
        values[place] = other
        changed = [*events[:5], type(events[5])(*values), *events[6:]]
        assert checksum({"a": 1}, changed) != known
    assert checksum({"a": 1}, events[:-1]) != known
    assert checksum({"a": 1}, [*events[:-2], events[-1], events[-2]]) != known


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["export", "SOURCE", "c.csv"], 1, "must end in .sqlite"),
        (["export", "nothing.sqlite", "c.sqlite"], 1, "there is no file"),
        (["export", "SOURCE", "postgresql://h/x"], 2, "pairlearn label import"),
        (["import", "postgresql://h/x", "c.sqlite"], 2, "pairlearn label export"),
        (["export", "SOURCE", "c.sqlite", "--name", " "], 2, "--name"),
        (["trail", "nothing.sqlite"], 1, "there is no file"),
    ],
)
def test_what_cannot_be_done_is_told(source, monkeypatch, words, code, told):
    monkeypatch.chdir(source.parent)
    words = [source if word == "SOURCE" else word for word in words]
    done = call("label", *words)
    assert (done.exit_code, told in done.output) == (code, True)
    assert [path.name for path in source.parent.glob("c.*")] == []


def test_other_files_are_not_taken_for_answers(tmp_path):
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE events (a)")
    for words in (["trail", path], ["export", path, tmp_path / "c.sqlite"]):
        done = call("label", *words)
        assert done.exit_code == 1
        assert "not a file of answers" in done.output
    assert not (tmp_path / "c.sqlite").exists()


def test_the_trail_in_the_terminal(source):
    done = call("label", "trail", source)
    assert done.output.splitlines() == [
        "2023-11-14 22:13  Bob took part for the first time.",
        "2023-11-14 22:13  The owner invited Bob as annotator.",
    ]
    table = list(
        csv.reader(io.StringIO(call("label", "trail", source, "--csv").output))
    )
    assert table[0] == ["number", "time", "who", "kind", "about", "what"]
    assert table[1][:5] == ["1", "2023-11-14T22:13:20.123Z", "", "invite", "Bob"]
    only = call("label", "trail", source, "--who", "Eve")
    assert only.output.strip() == "Nothing is in the trail yet."


def test_a_forged_log_is_told(source):
    store = Store(source, lambda: 0.0)
    with store.transaction():
        store.append("invite", {"name": "Eve"})
    store.close()
    done = call("label", "trail", source)
    assert done.exit_code == 1
    assert "answers.sqlite is damaged" in done.output


def test_a_table_of_points_may_be_called_as_a_command_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "export").write_text("id,x\np1,2\n")
    # It gets as far as reading the table.
    done = call("label", "./export", "--no-browser")
    assert "export ends in nothing; tables are read from" in done.output
    named = call("label", "export")
    assert "Missing argument 'SOURCE'" in named.output


def test_to_a_database_and_back_again(source, tmp_path, postgresql):
    address = postgresql.make_database()
    before = rows(source)
    done = call("label", "import", source, address, "--name", "Ada")
    assert done.exit_code == 0, done.output
    assert "63 events and 2 settings" in done.output
    refused = call("label", "import", source, address)
    assert refused.exit_code == 1
    assert "holds answers already" in refused.output
    first = call("label", "trail", address).output.splitlines()[0]
    assert first.endswith("Ada imported 63 events from answers.sqlite.")
    back = tmp_path / "back.sqlite"
    done = call("label", "export", address, back)
    assert done.exit_code == 0, done.output
    assert rows(back)[:63] == before
    assert rows(back, "facts") == rows(source, "facts")
    # The database itself tells of it, though others may be using it.
    first = call("label", "trail", address).output.splitlines()[0]
    assert first.endswith("The owner exported 64 events to back.sqlite.")
