"""Where answers are kept: a file on this disk, or a database that a team shares.

This is all in which both differ. A file belongs to one process: a lock beside it, which
ends with the process, keeps others out. A database is shared: whoever adds to the log
has a lock until the commit, so that numbers have no gaps and come in the order of the
commits; and one of the processes has the lock of the trainer.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import NullPool, create_engine, event, text
from sqlalchemy.exc import SQLAlchemyError

from pairlearn.data.databases import called, make_engine, unreachable
from pairlearn.files.answers_store import StoreError, check_kind, damaged
from pairlearn.label.migrations import upgrade
from pairlearn.system.locks import FileLock

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["DatabasePlace", "FilePlace", "Place"]

# Milliseconds to wait for another program that has the file for a moment.
_PATIENCE = 30_000
# A process that hangs with the lock of the log must not stop the others for good.
_SETTINGS = (
    "SET lock_timeout = '20s'",
    "SET idle_in_transaction_session_timeout = '30s'",
    # What is acknowledged must be on the disk, whatever the server is told otherwise.
    (
        "SELECT set_config('synchronous_commit', 'on', false) "
        "WHERE current_setting('synchronous_commit') = 'off'"
    ),
)


class Place(Protocol):
    """What a store needs to know of the place where it keeps answers.

    Attributes
    ----------
    name : str
        For messages.
    is_shared : bool
        Whether other processes add to it.
    """

    name: str
    is_shared: bool

    def open(self) -> Connection:
        """Return the first connection; the tables are made if there are none."""

    def connect(self) -> Connection:
        """Return a connection."""

    def hold_log(self, connection: Connection) -> None:
        """Let nobody else add to the log until the transaction ends."""

    def may_train(self, connection: Connection) -> bool:
        """Tell whether this process is the one that chooses questions and learns."""

    def close(self) -> None:
        """Let others have it."""


class FilePlace:
    """An SQLite file that one process has.

    A write-ahead log and ``synchronous=FULL``: what was committed is there after a
    power cut. Whoever reads the file meanwhile neither waits nor makes us wait.

    Parameters
    ----------
    path : Path
        The file; it is made if there is none, or if it is empty.
    """

    is_shared = False

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.name
        # Beside the file itself, so that a link to it does not let a second one in.
        real = Path(os.path.realpath(path))
        self._lock = FileLock(real.with_name(f"{real.name}.lock"))
        self._engine = create_engine(
            "sqlite+pysqlite://", creator=self._raw, poolclass=NullPool
        )
        # The driver begins nothing by itself, and we begin with the right to write.
        event.listen(
            self._engine, "begin", lambda c: c.exec_driver_sql("BEGIN IMMEDIATE")
        )

    def open(self) -> Connection:
        """Take the lock, check the file, and make it or bring it to this version."""
        path, new_lock = self.path, not self._lock.path.exists()
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
        try:
            if not path.exists() or path.stat().st_size == 0:
                self._make()
            return self._checked()
        except BaseException:
            if new_lock:
                self._lock.path.unlink(missing_ok=True)
            self._lock.give_back()
            raise

    def _raw(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, isolation_level=None, check_same_thread=False
        )
        connection.execute(f"PRAGMA busy_timeout = {_PATIENCE}")
        return connection

    def _make(self) -> None:
        """Make the file: all of it or nothing, and readable for us alone."""
        missing = not self.path.exists()
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            with self._engine.begin() as connection:
                upgrade(connection, self.name)
        except (OSError, sqlite3.Error, SQLAlchemyError) as error:
            if missing:
                self.path.unlink(missing_ok=True)
            why = getattr(error, "strerror", None) or getattr(error, "orig", error)
            raise StoreError(
                f"{self.path} cannot be made: {why}. Make room on the disk, or name a "
                "file in another folder with --answers"
            ) from None

    def _checked(self) -> Connection:
        if not os.access(self.path, os.R_OK | os.W_OK):
            raise self._read_only()
        try:
            self._check()
            with self._engine.begin() as connection:
                upgrade(connection, self.name)
            return self.connect()
        except (sqlite3.DatabaseError, SQLAlchemyError) as error:
            cause = getattr(error, "orig", error)
            if "READONLY" in getattr(cause, "sqlite_errorname", ""):
                raise self._read_only() from None
            raise damaged(self.path, cause) from None

    def _check(self) -> None:
        """Refuse what is not ours or damaged, before anything is changed."""
        connection = self._raw()
        try:
            check_kind(connection, self.name)
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
        finally:
            connection.close()

    def _read_only(self) -> StoreError:
        return StoreError(
            f"{self.path} may not be written by you, and answers could not be kept. "
            "Change its permissions, or name another file with --answers"
        )

    def connect(self) -> Connection:
        """Return a connection whose commits are on the disk."""
        connection = self._engine.connect()
        raw: Any = connection.connection.dbapi_connection
        raw.execute("PRAGMA synchronous = FULL")
        return connection

    def hold_log(self, connection: Connection) -> None:
        """Do nothing: the transaction has the file."""

    def may_train(self, connection: Connection) -> bool:
        """Return True: there is no other process."""
        del connection
        return True

    def close(self) -> None:
        """Let others have the file."""
        self._engine.dispose()
        self._lock.give_back()


class DatabasePlace:
    """A PostgreSQL database that several processes share.

    Parameters
    ----------
    address : str
        Of SQLAlchemy.
    """

    is_shared = True

    def __init__(self, address: str) -> None:
        self.address, self.name = address, called(address)
        self._engine = make_engine(address)

    def open(self) -> Connection:
        """Make the tables, or bring them to this version; one process at a time."""
        try:
            with self._engine.begin() as connection:
                connection.execute(_LOCK, {"what": "tables"})
                upgrade(connection, self.name)
            return self.connect()
        except SQLAlchemyError as problem:
            raise unreachable(self.address, problem) from None

    def connect(self) -> Connection:
        """Return a connection whose commits are on the disk."""
        connection = self._engine.connect()
        try:
            for setting in _SETTINGS:
                connection.exec_driver_sql(setting)
            connection.commit()
        except BaseException:
            connection.close()
            raise
        return connection

    def hold_log(self, connection: Connection) -> None:
        """Let nobody else add to the log until the transaction ends."""
        connection.execute(_LOCK, {"what": "log"})

    def may_train(self, connection: Connection) -> bool:
        """Tell whether this connection has the lock of the trainer, or has it now.

        It ends with the connection, however that ends. All that the trainer writes goes
        through the same connection, so that there are never two of them.
        """
        return bool(connection.execute(_TRAIN, {"what": "trainer"}).scalar())

    def close(self) -> None:
        """Close what is open."""
        self._engine.dispose()


# Locks are of the whole database, in which each schema may hold answers of its own.
_KEY = "hashtextextended('pairlearn ' || :what || ' ' || current_schema(), 0)"
_LOCK = text(f"SELECT pg_advisory_xact_lock({_KEY})")
_TRAIN = text(f"SELECT pg_try_advisory_lock({_KEY})")
