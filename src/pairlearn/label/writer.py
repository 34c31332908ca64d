"""The writer: one thread that owns the store, the memory and the stock of questions.

Where several processes share a database, each has a writer that follows the log. One of
them is the trainer, which has the back room; see :mod:`pairlearn.label.training`. If
the database cannot be reached, those who wait are told so, and it is tried again.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import SQLAlchemyError

from pairlearn.files.answers_store import StoreError
from pairlearn.files.tables.checksum import digest_of_table
from pairlearn.label.back_room import enter
from pairlearn.label.clerk import Clerk
from pairlearn.label.invitations import Invitations
from pairlearn.label.settings import settled
from pairlearn.label.store import NeedsLog, open_store
from pairlearn.label.training import Training
from pairlearn.label.values import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pairlearn.label.commands import Command

__all__ = ["Writer"]

# Most commands of one commit.
_BATCH = 256
# Seconds after which what could not be written is tried again; and after which a
# database that cannot be reached is tried again, at first and at most.
_AGAIN, _PAUSE, _LONGEST_PAUSE = 1.0, 0.1, 5.0
# Seconds after which one looks what other processes have done.
_POLL = 0.2
_TROUBLE = (SQLAlchemyError, sqlite3.Error, OSError)


class Writer:
    """Does commands one after the other, and commits those that wait together.

    Parameters
    ----------
    where : Path or str
        The file in which everything is kept, or the address of a database.
    points : Path
        The table of points.
    given : dict
        Settings that were given.
    lease_seconds : float
        How long a question stays on a page that is not heard of.
    clock : callable
        Returns the time in seconds since 1970.
    deliver : callable
        Given functions without arguments, calls them where results are waited for.
    changed : callable
        Called when there may be questions for those who wait.
    room : callable or None
        What runs in the other process; None: nothing does.
    hook : str or None
        For tests: a function, "module:name", that returns what the interview learns
        with. It is no setting, and nothing that is stored or sent can name it.

    Attributes
    ----------
    points : Path
        As given.
    training : Training
        The back room, and what is ordered of it.
    """

    def __init__(
        self,
        where: Path | str,
        points: Path,
        given: Mapping[str, Any],
        *,
        lease_seconds: float,
        clock: Callable[[], float],
        deliver: Callable[[list[Callable[[], None]]], None],
        changed: Callable[[], None],
        room: Any = enter,
        hook: str | None = None,
    ) -> None:
        self._where, self.points, self._given = where, points, given
        self._lease_seconds, self._clock = lease_seconds, clock
        self._deliver, self._changed = deliver, changed
        self._queue: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        self._owed: list[Command] = []
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._broken = self._closed = False
        # While the database cannot be reached: when it is tried again.
        self._pause, self._try_at, self._poll_at = _PAUSE, 0.0, 0.0
        self.counts: dict[int, int] = {}
        self.people: dict[str, int] = {}
        self.invitations = Invitations()
        self.settings: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}
        self.training = Training(self, room, hook)

    def open(self) -> None:
        """Open the store, and start both the thread and the back room."""
        file = {"name": self.points.name, "sha256": digest_of_table(self.points)}
        store = open_store(self._where, self._clock)
        try:
            with store.transaction():
                self.facts = store.facts()
                kept = self.facts.get("settings")
                self.settings = settled(
                    self._given, kept, store.name, is_shared=store.is_shared
                )
                if kept is None:
                    new = {"settings": self.settings, "created": self._clock()}
                    new["points_file"] = file
                    for name, value in new.items():
                        store.keep_fact(name, value)
                    self.facts |= new
            self._clerk = Clerk(store, self._clock, self._lease_seconds)
            self._check_points(file)
            self._look()
            self.training.open(self._clerk, file)
        except BaseException:
            store.close()
            raise
        self._thread.start()

    def _check_points(self, file: dict[str, Any]) -> None:
        """Give nothing out if the points may be others.

        With other bytes, row numbers may be those of other points; the back room finds
        out. A process without one has nobody who could.
        """
        store = self._clerk.store
        same = self.facts.get("points_file", {}).get("sha256") == file["sha256"]
        if not same and not store.may_train():
            raise StoreError(
                f"{self.points.name} is not, byte for byte, the table that the other "
                f"processes at {store.name} have; give each of them the same file"
            )
        self._clerk.is_shut = not same

    def close(self) -> None:
        """End the back room, do what waits, and close the store."""
        if self._closed:
            return
        self._closed = True
        if self._thread.ident is not None:
            self.training.close()
            self._queue.put(None)
            self._thread.join()

    @property
    def is_closed(self) -> bool:
        """Whether nothing more is done."""
        return self._closed

    @property
    def is_shared(self) -> bool:
        """Whether other processes add to the log, too."""
        return self._clerk.store.is_shared

    def put(self, command: Command) -> None:
        """Have something done."""
        if self._closed and not command.owed:
            command.settle(None, Refused("The page has been closed.", 503))
        else:
            self._queue.put(command)

    def wake(self) -> None:
        """Tell those who wait that there may be questions."""
        self._changed()

    # In the thread of the writer.

    def _run(self) -> None:
        running, is_shared = True, self._clerk.store.is_shared
        while running:
            batch = self._owed
            self._owed = []
            patience = _POLL if is_shared else _AGAIN if batch else None
            with suppress(queue.Empty):
                first = self._queue.get(timeout=patience)
                while first is not None:
                    batch.append(first)
                    if len(batch) >= _BATCH:
                        break
                    first = self._queue.get_nowait()
                running = first is not None
            try:
                if batch:
                    self._together(batch)
                if is_shared and running and time.monotonic() >= self._poll_at:
                    self._look_around()
            except Exception as problem:  # the thread must not end
                self._tell(batch, [(None, _unkept(problem))] * len(batch))
        with suppress(*_TROUBLE):
            self._clerk.store.close()

    def _together(self, batch: list[Command]) -> None:
        """Do commands, and commit once."""
        try:
            batch, results = self._try(batch)
        except _TROUBLE as problem:
            self._fail(batch, problem)
            return
        except Exception as problem:  # one of them cannot be done
            if len(batch) == 1:
                self._fail(batch, problem, again=False)
            for command in batch if len(batch) > 1 else ():
                self._together([command])
            return
        self._pass_on()
        self._tell(batch, results)
        self.training.order()

    def _try(
        self, batch: list[Command]
    ) -> tuple[list[Command], list[tuple[Any, BaseException | None]]]:
        self._reach()
        batch = [command for command in batch if self.training.knows(command.room)]
        log = any(command.log for command in batch)
        try:
            try:
                results = self._once(batch, log=log)
            except NeedsLog:  # somebody is here for the first time
                results = self._once(batch, log=True)
        except BaseException:
            self._broken = True
            with suppress(*_TROUBLE, StoreError):
                self._mend()
            raise
        return batch, results

    def _once(
        self, batch: list[Command], *, log: bool
    ) -> list[tuple[Any, BaseException | None]]:
        clerk = self._clerk
        results: list[tuple[Any, BaseException | None]] = []
        with clerk.store.transaction(log=log):
            self.training.follow(clerk.follow())
            for command in batch:
                try:
                    results.append((command.do(clerk), None))
                except Refused as problem:
                    results.append((None, problem))
            self.training.plan(clerk)
        return results

    def _reach(self) -> None:
        """See to a connection, and to a memory that says what the log says."""
        if time.monotonic() < self._try_at:
            raise _AwayError
        store = self._clerk.store
        try:
            store.reach()
            self.training.check_session(store.session)
            if self._broken:
                self._mend()
        except SQLAlchemyError:
            self._wait_longer()
            raise
        self._pause, self._try_at = _PAUSE, 0.0

    def _mend(self) -> None:
        self._clerk.begin_again()
        self._broken = False

    def _wait_longer(self) -> None:
        """Leave the database alone for a while."""
        self._try_at = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    def _look_around(self) -> None:
        """See what other processes have done, and do what is due."""
        self._poll_at = time.monotonic() + _POLL
        try:
            self._reach()
            clerk = self._clerk
            with clerk.store.transaction(log=False):
                news = clerk.follow()
                self.training.follow(news)
                self.training.look_around(clerk)
                self.training.plan(clerk)
            self._pass_on()
            self.training.publish(clerk)
        except _TROUBLE:
            return  # it is tried again
        if any(event.kind in ("ask", "undo") for event in news):
            self._changed()
        self.training.order()

    def _fail(
        self, batch: list[Command], problem: Exception, *, again: bool = True
    ) -> None:
        self._owed = [command for command in batch if command.owed and again]
        told = [command for command in batch if command not in self._owed]
        self._tell(told, [(None, _unkept(problem))] * len(told))

    def _tell(
        self, batch: list[Command], results: list[tuple[Any, BaseException | None]]
    ) -> None:
        """Tell those who wait; what belongs to the program itself, here and now."""
        told: list[Callable[[], None]] = []
        for command, (result, problem) in zip(batch, results, strict=True):
            if command.owed:
                command.settle(result, problem)
            else:
                told.append(_later(command.settle, result, problem))
        if told:
            self._deliver(told)

    def _pass_on(self) -> None:
        """Tell the back room what has happened."""
        self.training.tell(self._clerk.take_news())
        self._look()

    def _look(self) -> None:
        """Note what others may look at meanwhile."""
        records = self._clerk.records
        self.counts = dict(records.counts)
        self.people = {name: records.n_answers(name) for name in records.people}
        self.invitations = records.invitations


class _AwayError(OSError):
    """The database could not be reached a moment ago."""


def _later(
    settle: Callable[[Any, BaseException | None], None],
    result: Any,
    problem: BaseException | None,
) -> Callable[[], None]:
    return lambda: settle(result, problem)


def _unkept(problem: BaseException) -> Refused:
    """Return what to tell people whose wish could not be kept."""
    cause = getattr(problem, "orig", None) or problem
    if isinstance(problem, _AwayError) or getattr(
        problem, "connection_invalidated", False
    ):
        return _away()
    if isinstance(problem, SQLAlchemyError) and not isinstance(cause, sqlite3.Error):
        state = str(getattr(cause, "sqlstate", None) or "")
        # No connection; the server ends or begins, or has no room for us: 53, 57, 08.
        if not state or state[:2] in ("08", "53", "57", "55", "40"):
            return _away()
    if getattr(cause, "sqlite_errorname", "") == "SQLITE_FULL":
        why = "the disk is full"
    elif isinstance(cause, sqlite3.Error | OSError):
        why = str(cause)
    else:
        why = f"{type(cause).__name__}: {cause}".partition("\n")[0]
    return Refused(
        f"This could not be kept, and nothing was changed ({why}). Try again.", 503
    )


def _away() -> Refused:
    # A commit may have arrived whose reply is lost: the same id again does no harm.
    return Refused(
        "The database cannot be reached at the moment, and it is not known whether "
        "this was kept. Try again in a moment; nothing is kept twice.",
        503,
    )
