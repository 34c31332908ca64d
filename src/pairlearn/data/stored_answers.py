"""Answers that `pairlearn label` keeps, read whole and in their order.

They are in an SQLite file with a log of events to which lines are only ever added. It
may come from anywhere, so nothing in it is run: not its view `answers` either, whose
text stands here. A database that a team shares has the same log, which is copied into
memory, and read there.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pairlearn.data.databases import (
    StoreError,
    called,
    is_address,
    make_engine,
    unreachable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ANSWERS_SELECT", "APPLICATION_ID", "VERSION", "StoreError"]
__all__ += ["StoredAnswer", "StoredAnswers", "check_kind", "damaged", "newer"]
__all__ += ["not_ours", "open_read_only", "read_stored_answers", "snapshot"]

# "PAIR" in ASCII: programs such as `file` know the kind of an SQLite file by it.
APPLICATION_ID = 0x50414952
VERSION = 2

# The answers that stand, one row each. Who takes an answer back says which one: the
# number of its event is in `of`. A comment belongs to a question and to the person
# whose answer it is about, and the last one counts. Opinions come last: of an audit the
# first sure answer counts, and whoever changes it must not put an opinion in its place.
ANSWERS_SELECT = """
SELECT
    said.question AS question,
    json_extract(asked.body, '$.left_id') AS left,
    json_extract(asked.body, '$.right_id') AS right,
    CASE json_extract(said.body, '$.said')
        WHEN 1 THEN 'same' WHEN -1 THEN 'different' ELSE 'unsure' END AS answer,
    said.who AS annotator,
    said.at AS time,
    (SELECT nullif(json_extract(remark.body, '$.text'), '') FROM events AS remark
     WHERE remark.question = said.question AND remark.kind = 'comment'
     AND coalesce(json_extract(remark.body, '$.to'), remark.who) IS said.who
     ORDER BY remark.number DESC LIMIT 1) AS comment,
    json_extract(asked.body, '$.purpose') AS purpose,
    json_extract(asked.body, '$.why') AS why
FROM events AS said
JOIN events AS asked ON asked.question = said.question AND asked.kind = 'ask'
WHERE said.kind IN ('answer', 'opinion') AND NOT EXISTS (
    SELECT 1 FROM events AS undone
    WHERE undone.question = said.question AND undone.kind = 'undo'
    AND undone.number > said.number
    AND coalesce(json_extract(undone.body, '$.of'), said.number) = said.number)
ORDER BY said.kind = 'opinion', said.number
"""

# The columns of the log, as the schema has them.
_EVENTS = ["number", "at", "who", "kind", "question", "request", "body"]
# Characters of the longest event. A forged file may promise more than memory holds.
_LONGEST = 2**26
# Before so many audits are answered nothing is said about the error of a model, so that
# there is nothing to see (pairlearn.ask.judging).
_FIRST_LOOK = 10
_ASKED_SELECT = """
SELECT question, json_extract(body, '$.left_id'), json_extract(body, '$.right_id'),
    json_extract(body, '$.purpose'), json_extract(body, '$.why'),
    json_extract(body, '$.left'), json_extract(body, '$.right')
FROM events WHERE kind = 'ask'
"""
# When each audit was answered for the first time, also if that was taken back.
_AUDIT_ANSWERS_SELECT = """
SELECT min(said.number) FROM events AS said
JOIN events AS asked ON asked.question = said.question AND asked.kind = 'ask'
WHERE said.kind = 'answer' AND json_extract(asked.body, '$.purpose') = 'audit'
GROUP BY said.question ORDER BY 1
"""


class StoredAnswer(NamedTuple):
    """An answer that stands, as the view `answers` of the file shows it.

    Attributes
    ----------
    question : int
        The number of the question.
    left, right : str
        The ids of the two points.
    answer : {"same", "different", "unsure", ""}
        What was said; empty: an audit that is still out while later ones are answered.
    annotator, time : str or None
        Who said it, and when.
    comment : str or None
        What they wrote beside it.
    purpose : {"learn", "audit"}
        Whether it teaches a model, or judges it.
    why : str or None
        Why it was asked.
    left_row, right_row : int
        The row numbers of the two points, from 0.
    """

    question: int
    left: str
    right: str
    answer: str
    annotator: str | None
    time: str | None
    comment: str | None
    purpose: str
    why: str | None
    left_row: int
    right_row: int


@dataclass
class StoredAnswers:
    """The answers in a file.

    Attributes
    ----------
    rows : list of StoredAnswer
        In the order in which the questions were asked; of one question, in the order
        of the answers.
    n_looks : int
        How many models somebody may have seen the error of, and one more for the model
        that is made next.
    """

    rows: list[StoredAnswer] = field(default_factory=list)
    n_looks: int = 1


def check_kind(connection: sqlite3.Connection, name: str) -> None:
    """Refuse a database that `pairlearn label` did not write, or a newer one.

    SQLite is asked, and the file is not opened beside it: whoever closes a file of his
    own drops the locks that SQLite has on it in this process.

    Parameters
    ----------
    connection : sqlite3.Connection
        The database.
    name : str
        Of the file, for messages.

    Raises
    ------
    StoreError
        If it is something else.

    Examples
    --------
    >>> check_kind(sqlite3.connect(":memory:"), "music.sqlite")
    Traceback (most recent call last):
        ...
    pairlearn.data.databases.StoreError: music.sqlite is not a file of answers that
    pairlearn label wrote, and was left as it is; name another file
    """
    try:
        kind = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorname != "SQLITE_NOTADB":
            raise
        kind = version = 0
    if kind != APPLICATION_ID:
        raise StoreError(
            f"{name} is not a file of answers that pairlearn label wrote, and was left "
            "as it is; name another file"
        )
    if version > VERSION:
        raise newer(name, version)


def newer(name: str, version: int) -> StoreError:
    """Return the error that says that answers are of a version to come."""
    return StoreError(
        f"{name} was written by a newer version of pairlearn (its format is "
        f"{version}, and this version reads {VERSION}); install that version, or "
        "name another file or database"
    )


def not_ours(name: str) -> StoreError:
    """Return the error that says that a database holds what somebody else made."""
    return StoreError(
        f"{name} has tables that pairlearn label did not make, and was left as it is; "
        "make a database of its own for the answers"
    )


def damaged(path: str | Path, problem: object) -> StoreError:
    """Return the error that says that a file of answers cannot be read."""
    why = str(problem).strip().partition("\n")[0][:200]
    if is_address(path):
        return StoreError(
            f"what is in the database {called(path)} cannot be read ({why}); it was "
            "left as it is. Put a copy from before back, such as one of pg_dump"
        )
    return StoreError(
        f"{Path(path).name} is damaged, or cannot be read here ({why}); it was left as "
        "it is. Take a copy from before, together with the files beside it whose names "
        "end in -wal and -shm, if there are any"
    )


def open_read_only(path: Path) -> sqlite3.Connection:
    """Open a file of answers to read, beside whoever writes it.

    Parameters
    ----------
    path : Path
        The file. Where nobody is writing, :func:`snapshot` leaves fewer traces.

    Returns
    -------
    sqlite3.Connection
        Which cannot write.

    Raises
    ------
    StoreError
        If it is no file of answers, or is damaged.
    """
    path.stat()  # where there is nothing, the system says so best
    connection = _connect(path, "mode=ro")
    try:
        check_kind(connection, path.name)
    except sqlite3.Error as error:
        connection.close()
        raise damaged(path, error) from None
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def snapshot(path: str | Path) -> Iterator[sqlite3.Connection]:
    """Open answers to read them as they are now, also while people are answering.

    A file may come from anywhere. Nothing is written, and no file is left beside it.

    Parameters
    ----------
    path : str or Path
        The file, or the address of a database.

    Yields
    ------
    sqlite3.Connection
        Which cannot write, and sees one state of the file whatever is written
        meanwhile.

    Raises
    ------
    StoreError
        If it is no file of answers, or is damaged.
    """
    if is_address(path):
        with closing(_copy_of_database(path)) as connection:
            yield connection
        return
    path = Path(path)
    path.stat()
    with _as_it_is(Path(os.path.realpath(path))) as connection:
        try:
            check_kind(connection, path.name)
            _settle(connection)
            _check(connection, path)
            yield connection
        except sqlite3.Error as error:
            raise damaged(path, error) from None


def _copy_of_database(address: str | Path) -> sqlite3.Connection:
    """Return the log of a database, as it is at one moment, in memory."""
    engine = make_engine(address)
    from sqlalchemy.exc import SQLAlchemyError

    copy = sqlite3.connect(":memory:", isolation_level=None)
    copy.execute(f"CREATE TABLE events ({', '.join(_EVENTS)})")
    copy.execute("CREATE TABLE facts (name, value)")
    copy.execute("CREATE INDEX of_question ON events (question, kind)")
    events = f"SELECT {', '.join(_EVENTS)} FROM events ORDER BY number"  # noqa: S608
    try:
        with engine.connect() as connection:
            connection.execution_options(isolation_level="REPEATABLE READ")
            facts = connection.exec_driver_sql("SELECT name, value FROM facts").all()
            copy.executemany("INSERT INTO facts VALUES (?, ?)", map(tuple, facts))
            rows = connection.execution_options(yield_per=2000).exec_driver_sql(events)
            for part in rows.partitions():
                copy.executemany(
                    "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", map(tuple, part)
                )
    except SQLAlchemyError as problem:
        copy.close()
        if getattr(getattr(problem, "orig", None), "sqlstate", "") == "42P01":
            raise StoreError(
                f"the database {called(address)} holds no answers of pairlearn label; "
                "check the address"
            ) from None
        raise unreachable(address, problem) from None
    finally:
        engine.dispose()
    return copy


@contextmanager
def _as_it_is(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file, whether somebody is writing it, and whether we may write beside it.

    A reader shares two files beside the database with whoever writes, and would have to
    make them where there are none, and leave them there. So without them, when nobody
    writes, a copy is read; and also where the folder does not let us take part.
    Otherwise the file must not be opened but by SQLite: to close it would take away the
    locks of a writer in the same process. These files stand beside the file itself, and
    not beside a link to it.
    """
    wal = path.with_name(f"{path.name}-wal")
    with tempfile.TemporaryDirectory() as folder:
        copy, options = Path(folder, "copy.sqlite"), "mode=rw"
        if wal.exists() and _can_be_shared(path):
            copy, options = path, "mode=ro"
        else:
            if wal.exists():
                shutil.copyfile(wal, f"{copy}-wal")
            shutil.copyfile(path, copy)
        with closing(_connect(copy, options)) as connection:
            yield connection


def _connect(path: Path, options: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{options}"
    return sqlite3.connect(uri, uri=True, timeout=30, isolation_level=None)


def _can_be_shared(path: Path) -> bool:
    """Tell whether a file that somebody may be writing can be read beside them."""
    with closing(_connect(path, "mode=ro")) as connection:
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            name = error.sqlite_errorname
            return not name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY"))
        except sqlite3.DatabaseError:
            return True  # damaged, which is told where it is read
    return True


def _settle(connection: sqlite3.Connection) -> None:
    """Make a connection careful, and keep the state of the file that it sees."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("BEGIN")


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file without a log of events, or with a damaged one."""
    kind = connection.execute(
        "SELECT type, sql FROM sqlite_master WHERE name = 'events'"
    ).fetchone()
    columns = [row[1] for row in connection.execute("PRAGMA table_info(events)")]
    is_table = kind is not None and kind[0] == "table"
    if not is_table or "VIRTUAL" in str(kind[1]).upper() or columns != _EVENTS:
        raise damaged(path, "its log of events is not there")
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise damaged(path, found)


def read_stored_answers(path: str | Path) -> StoredAnswers:
    """Read the answers that stand, also while people are answering.

    An audit that is out while a later one has been answered is among them, without an
    answer: if hard ones could be left lying, a certificate would be too good.

    Parameters
    ----------
    path : str or Path
        The file that `pairlearn label` writes, or the address of its database.

    Returns
    -------
    StoredAnswers

    Raises
    ------
    StoreError
        If it cannot be read, with the reason and the way out.
    """
    with snapshot(path) as connection:
        asked = {row[0]: row for row in connection.execute(_ASKED_SELECT)}
        rows = [
            _checked((*row, *asked[row[0]][5:]), path)
            for row in connection.execute(ANSWERS_SELECT)
        ]
        answered = connection.execute(_AUDIT_ANSWERS_SELECT).fetchall()
        learned = connection.execute("SELECT number FROM events WHERE kind = 'learn'")
        versions = [number for (number,) in learned]
    known = {row.question for row in rows}
    last = max((row.question for row in rows if row.purpose == "audit"), default=-1)
    for number, left, right, purpose, why, *at in asked.values():
        if purpose == "audit" and number not in known and _is_below(number, last):
            given = number, left, right, "", None, None, None, purpose, why, *at
            rows.append(_checked(given, path))
    rows.sort(key=lambda row: row.question)
    n_looks = 1
    if len(answered) >= _FIRST_LOOK:
        since = answered[_FIRST_LOOK - 1][0]
        n_looks += sum(number > since for number in versions)
    return StoredAnswers(rows, n_looks)


def _is_below(number: object, last: int) -> bool:
    return isinstance(number, int) and number < last


def _checked(row: tuple[object, ...], path: str | Path) -> StoredAnswer:
    """Return a row of the view; refuse what was never written so."""
    answer = StoredAnswer(*row)  # type: ignore[arg-type]
    texts = [answer.left, answer.right]
    others = [answer.annotator, answer.time, answer.comment, answer.why]
    texts += [text for text in others if text is not None]
    numbers = [answer.question, answer.left_row, answer.right_row]
    if (
        not all(isinstance(number, int) for number in numbers)
        or not all(isinstance(text, str) for text in texts)
        or answer.purpose not in ("learn", "audit")
    ):
        what = f"the answer to question {answer.question!r} is not understood"
        raise damaged(path, what)
    return answer
