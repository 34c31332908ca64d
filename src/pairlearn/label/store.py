"""The store: a log of events on the disk, to which one process writes.

SQLite with a write-ahead log and ``synchronous=FULL``: what was committed is there
after a power cut. One process at a time has the file, by a lock on a file beside it
that ends with the process. Events are only ever added; triggers in the file refuse
anything else. Whoever reads the file meanwhile neither waits nor makes us wait.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pairlearn.files.answers_store import SCHEMA, StoreError, check_kind, damaged
from pairlearn.system.locks import FileLock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Event", "Store", "lines_from"]

# Milliseconds to wait for another program that has the file for a moment.
_PATIENCE = 30_000
_EVENTS = "SELECT number, at, who, kind, question, request, body FROM events"


class Event(NamedTuple):
    """One line of the log.

    Attributes
    ----------
    number : int
        1 for the first.
    at : str
        When, in UTC.
    who : str or None
        Who did it; None: the program.
    kind : str
        What happened: "ask", "answer", "undo" and so on.
    question : int or None
        Which question it is about.
    request : str or None
        The id that the page gave to it.
    body : dict
        What else belongs to it.
    """

    number: int
    at: str
    who: str | None
    kind: str
    question: int | None
    request: str | None
    body: dict[str, Any]


def lines_from(
    connection: sqlite3.Connection, after: int = 0, upto: int | None = None
) -> Iterator[Event]:
    """Yield the events of a database in order.

    Parameters
    ----------
    connection : sqlite3.Connection
        The database.
    after, upto : int, optional
        Those with larger numbers than the first, up to the second.

    Yields
    ------
    Event
    """
    last = 2**62 if upto is None else upto
    rows = connection.execute(
        f"{_EVENTS} WHERE number > ? AND number <= ? ORDER BY number", (after, last)
    )
    for row in rows:
        yield _event(row)


def _event(row: tuple[Any, ...]) -> Event:
    number, at, who, kind, question, request, body = row
    return Event(number, at, who, kind, question, request, json.loads(body))


class Store:
    """The answers on the disk.

    Parameters
    ----------
    path : Path
        The file; it is made if there is none, or if it is empty.
    clock : callable
        Returns the time in seconds since 1970.

    Raises
    ------
    StoreError
        If the file cannot be used; it is then as it was.

    Attributes
    ----------
    last : int
        The number of the last event.
    is_new : bool
        Whether the file was made just now.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder, "answers.sqlite"), lambda: 0.0)
    ...     with store.transaction():
    ...         event = store.append("answer", {"said": 1}, who="Ada", question=3)
    ...     store.close()
    >>> event.number, event.at
    (1, '1970-01-01T00:00:00.000Z')
    """

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        self.path, self._clock = path, clock
        # Beside the file itself, so that a link to it does not let a second one in.
        real = Path(os.path.realpath(path))
        self._lock = FileLock(real.with_name(f"{real.name}.lock"))
        new_lock = not self._lock.path.exists()
        try:
            free = self._lock.take()
        except OSError as error:
            raise StoreError(
                f"{path} cannot be written, since no file can be made in its folder: "
                f"{error.strerror}. Name a file in another folder with --answers"
            ) from None
        if not free:
            raise StoreError(
                f"{path.name} is in use by another pairlearn label. Open the page of "
                "that one, or end it first, or name another file with --answers"
            )
        self.is_new = not path.exists() or path.stat().st_size == 0
        try:
            if self.is_new:
                self._make()
            self._connection = self._open()
        except BaseException:
            if new_lock:
                self._lock.path.unlink(missing_ok=True)
            self._lock.give_back()
            raise
        self.last = self._count()

    def _make(self) -> None:
        """Make the file: all of it or nothing, and readable for us alone."""
        missing = not self.path.exists()
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            connection = sqlite3.connect(self.path, isolation_level=None)
            try:
                connection.executescript(f"BEGIN;{SCHEMA}COMMIT;")
            finally:
                connection.close()
        except (OSError, sqlite3.Error) as error:
            if missing:
                self.path.unlink(missing_ok=True)
            why = getattr(error, "strerror", None) or error
            raise StoreError(
                f"{self.path} cannot be made: {why}. Make room on the disk, or name a "
                "file in another folder with --answers"
            ) from None

    def _open(self) -> sqlite3.Connection:
        if not os.access(self.path, os.R_OK | os.W_OK):
            raise StoreError(
                f"{self.path} may not be written by you, and answers could not be "
                "kept. Change its permissions, or name another file with --answers"
            )
        connection = sqlite3.connect(
            self.path, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute(f"PRAGMA busy_timeout = {_PATIENCE}")
            check_kind(connection, self.path.name)
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise damaged(self.path, ValueError(found))
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            if mode != "wal":
                raise StoreError(
                    f"answers cannot be kept safely in the folder of {self.path}: its "
                    "file system does not share memory between programs, as a folder "
                    "on another machine may not. Name a file on a disk of this "
                    "machine with --answers"
                )
            connection.execute("PRAGMA synchronous = FULL")
        except sqlite3.DatabaseError as error:
            connection.close()
            if "READONLY" in error.sqlite_errorname:
                raise StoreError(
                    f"{self.path} may not be written by you, and answers could not be "
                    "kept. Change its permissions, or name another file with --answers"
                ) from None
            raise damaged(self.path, error) from None
        except StoreError:
            connection.close()
            raise
        return connection

    def _count(self) -> int:
        found = self._connection.execute("SELECT max(number) FROM events").fetchone()
        return int(found[0] or 0)

    def close(self) -> None:
        """Close the file, and let others have it."""
        self._connection.close()
        self._lock.give_back()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do all of what is written inside, and it is on the disk; or nothing."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._commit()
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self.last = self._count()
            raise

    def _commit(self) -> None:
        self._connection.execute("COMMIT")

    def append(
        self,
        kind: str,
        body: dict[str, Any],
        *,
        who: str | None = None,
        question: int | None = None,
        request: str | None = None,
    ) -> Event:
        """Add an event to the log, within a transaction.

        Parameters
        ----------
        kind, body, who, question, request
            As for :class:`Event`.

        Returns
        -------
        Event
        """
        event = Event(self.last + 1, self._now(), who, kind, question, request, body)
        self.put(event)
        return event

    def put(self, event: Event) -> None:
        """Add an event of another log as it is, within a transaction."""
        body = json.dumps(event.body, ensure_ascii=False, allow_nan=False)
        self._connection.execute(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", (*event[:-1], body)
        )
        self.last = event.number

    def _now(self) -> str:
        now = datetime.fromtimestamp(self._clock(), UTC)
        return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def events(self) -> Iterator[Event]:
        """Yield all events in order."""
        return lines_from(self._connection)

    def event_of(self, request: str) -> Event | None:
        """Return the event that a page gave this id to."""
        row = self._connection.execute(
            f"{_EVENTS} WHERE request = ?", (request,)
        ).fetchone()
        return None if row is None else _event(row)

    def facts(self) -> dict[str, Any]:
        """Return what else is kept: settings, the mark of the points and so on."""
        rows = self._connection.execute("SELECT name, value FROM facts")
        return {name: json.loads(value) for name, value in rows}

    def keep_fact(self, name: str, value: Any) -> None:
        """Keep a fact, within a transaction."""
        self._connection.execute(
            "INSERT INTO facts VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, json.dumps(value, ensure_ascii=False, allow_nan=False)),
        )

    def leases(self) -> list[tuple[int, str, str, float]]:
        """Return the leases: question, person, page, and until when."""
        return list(
            self._connection.execute("SELECT question, who, page, until FROM leases")
        )

    def lease(self, question: int, who: str, page: str, until: float) -> None:
        """Keep a lease, within a transaction."""
        self._connection.execute(
            "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)",
            (question, who, page, until),
        )

    def end_lease(self, question: int) -> None:
        """Forget a lease, within a transaction."""
        self._connection.execute("DELETE FROM leases WHERE question = ?", (question,))
