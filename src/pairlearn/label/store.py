"""The store: a log of events that is only ever added to, and what else is kept.

It is the same for a file and for a database that several processes share; see
:mod:`pairlearn.label.places` for what differs. What a transaction adds is sent together
when it commits, and it is all there then, or nothing is.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, func, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from pairlearn.data.databases import is_address, unreachable
from pairlearn.data.stored_answers import snapshot
from pairlearn.files.answers_store import StoreError
from pairlearn.label.leases import Leases
from pairlearn.label.places import DatabasePlace, FilePlace
from pairlearn.label.quick import Quick
from pairlearn.label.tables import EVENTS, FACTS
from pairlearn.label.upserts import upsert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sqlalchemy import Connection, RootTransaction

    from pairlearn.label.places import Place

__all__ = ["Event", "NeedsLog", "Store", "copy_store", "open_store", "read_events"]

# Events that are read at a time.
_PART = 2000
_READ = (
    select(EVENTS)
    .where(EVENTS.c.number > bindparam("after"))
    .order_by(EVENTS.c.number)
    .limit(_PART)
)
_OF_REQUEST = select(EVENTS).where(EVENTS.c.request == bindparam("id"))
_LAST = select(func.max(EVENTS.c.number))
_FACT = select(FACTS.c.value).where(FACTS.c.name == bindparam("called"))
_ADD = EVENTS.insert()


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


def _event(row: Iterable[Any]) -> Event:
    number, at, who, kind, question, request, body = row
    return Event(number, at, who, kind, question, request, json.loads(body))


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def read_events(where: str | Path, upto: int | None = None) -> Iterator[Event]:
    """Yield the events of a file or a database in order, beside whoever writes it.

    Parameters
    ----------
    where : str or Path
        The file, or the address of the database.
    upto : int, optional
        The number of the last event.

    Yields
    ------
    Event
    """
    with snapshot(where) as connection:
        rows = connection.execute(
            "SELECT number, at, who, kind, question, request, body FROM events "
            "WHERE number <= ? ORDER BY number",
            (2**62 if upto is None else upto,),
        )
        yield from map(_event, rows)


class Store:
    """The answers, where they are kept.

    Parameters
    ----------
    where : Path or str
        A file, which is made if there is none or if it is empty; or the address of a
        database, in which tables are made if there are none.
    clock : callable
        Returns the time in seconds since 1970.

    Raises
    ------
    StoreError
        If it cannot be used; it is then as it was.

    Attributes
    ----------
    where : Path or str
        As given.
    name : str
        For messages.
    last : int
        The number of the last event that is known here.
    is_new : bool
        Whether there was no event, and no fact.
    is_shared : bool
        Whether other processes add to it.
    leases : Leases
        Which question is on which page.
    session : int
        Counts connections: after another one, locks of the one before are gone.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder, "answers.sqlite"), lambda: 0.0)
    ...     with store.transaction():
    ...         event = store.append("answer", {"said": 1}, who="Ada", question=3)
    ...     store.close()
    >>> event.number, event.at
    (1, '1970-01-01T00:00:00.000Z')
    """

    def __init__(self, where: Path | str, clock: Callable[[], float]) -> None:
        self.where, self._clock = where, clock
        self._place: Place = (
            DatabasePlace(str(where)) if is_address(where) else FilePlace(Path(where))
        )
        self.name, self.is_shared = self._place.name, self._place.is_shared
        self._transaction: RootTransaction | None = None
        self._has_log = False
        # What is sent when the transaction commits: events, by their ids, too; facts.
        self._added: list[dict[str, Any]] = []
        self._requests: dict[str, Event] = {}
        self._facts: dict[str, Any] = {}
        self._compiled = Quick()
        self.leases = Leases(self._run, self._quick, self._dialect)
        self.session = 0
        self._connection: Connection | None = self._place.open()
        try:
            with self.transaction(log=False):
                self.last = int(self._run(_LAST).scalar() or 0)
                self.is_new = not self.last and not self.facts()
        except SQLAlchemyError as problem:
            self.close()
            if self.is_shared:
                raise unreachable(str(where), problem) from None
            raise
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close it, and let others have it."""
        self._let_go()
        self._place.close()

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.close()

    def _run(self, statement: Any, values: Any = None) -> Any:
        """Execute a statement, within a transaction."""
        if self._connection is None or self._transaction is None:
            raise RuntimeError("this needs a transaction")
        return self._connection.execute(statement, values)

    def _quick(self, statement: Any, values: Any) -> list[tuple[Any, ...]]:
        """Execute a statement that was compiled before, within a transaction."""
        if self._connection is None or self._transaction is None:
            raise RuntimeError("this needs a transaction")
        return self._compiled(self._connection, statement, values)

    def reach(self) -> None:
        """Make a connection, if the last one was lost."""
        if self._connection is None:
            self._connection = self._place.connect()
            self.session += 1

    @contextmanager
    def transaction(self, *, log: bool = True) -> Iterator[None]:
        """Do all of what is written inside, and it is on the disk; or nothing.

        Parameters
        ----------
        log : bool, default=True
            Whether something is added to the log. Without, no other process waits for
            us, nor we for one: nothing but leases can be written.
        """
        self.reach()
        connection = self._connection
        assert connection is not None  # noqa: S101 - for the types
        before: int | None = getattr(self, "last", None)
        try:
            self._transaction, self._has_log = connection.begin(), log
            if log:
                self._place.hold_log(connection)
            yield
            self._send()
            self._commit()
        except BaseException as problem:
            self._roll_back(problem)
            if before is not None:
                self.last -= len(self._added)
            raise
        finally:
            self._transaction = None
            self._added, self._requests, self._facts = [], {}, {}
            self.leases.forget()

    def _send(self) -> None:
        """Send what was added."""
        if self._added:
            self._quick(_ADD, self._added)
        if self._facts:
            facts = sorted(self._facts.items())
            values = [{"name": name, "value": _to_json(v)} for name, v in facts]
            self._run(upsert(FACTS, "name", self._dialect), values)
        self.leases.send()

    def _commit(self) -> None:
        if self._transaction is not None:
            self._transaction.commit()

    def _roll_back(self, problem: BaseException) -> None:
        with suppress(SQLAlchemyError):
            if self._transaction is not None:
                self._transaction.rollback()
        connection = self._connection
        lost = isinstance(problem, DBAPIError) and problem.connection_invalidated
        if connection is not None and (lost or connection.invalidated):
            self._let_go()

    @property
    def _dialect(self) -> str:
        return "postgresql" if self.is_shared else "sqlite"

    def may_train(self) -> bool:
        """Tell whether this process is the one that chooses questions and learns."""
        with self.transaction(log=False):
            assert self._connection is not None  # noqa: S101 - for the types
            return self._place.may_train(self._connection)

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
        if self._transaction is None or not self._has_log:
            raise NeedsLog
        event = Event(self.last + 1, self._now(), who, kind, question, request, body)
        self._added.append(event._asdict() | {"body": _to_json(body)})
        if request is not None:
            self._requests[request] = event
        self.last = event.number
        return event

    def _now(self) -> str:
        now = datetime.fromtimestamp(self._clock(), UTC)
        return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def events(self, after: int = 0) -> Iterator[Event]:
        """Yield the events with larger numbers in order, those that are kept."""
        while True:
            if self._transaction is not None:
                rows = self._run(_READ, {"after": after}).all()
            else:
                with self.transaction(log=False):
                    rows = self._run(_READ, {"after": after}).all()
            for row in rows:
                yield _event(row)
            if len(rows) < _PART:
                return
            after = rows[-1].number

    def follow(self) -> Iterator[Event]:
        """Yield what other processes have added meanwhile, within a transaction."""
        if self.is_shared:
            for event in self.events(self.last):
                self.last = event.number
                yield event

    def event_of(self, request: str) -> Event | None:
        """Return the event that a page gave this id to."""
        if request in self._requests:
            return self._requests[request]
        if self._transaction is None:
            with self.transaction(log=False):
                return self.event_of(request)
        rows = self._quick(_OF_REQUEST, {"id": request})
        return _event(rows[0]) if rows else None

    def facts(self) -> dict[str, Any]:
        """Return what else is kept: settings, the mark of the points and so on."""
        if self._transaction is None:
            with self.transaction(log=False):
                return self.facts()
        rows = self._run(select(FACTS)).all()
        return {name: json.loads(value) for name, value in rows} | self._facts

    def fact(self, name: str) -> Any:
        """Return one of the facts, or None, within a transaction."""
        if name in self._facts:
            return self._facts[name]
        found = self._run(_FACT, {"called": name}).scalar()
        return None if found is None else json.loads(found)

    def keep_fact(self, name: str, value: Any) -> None:
        """Keep a fact, within a transaction."""
        if self._transaction is None or not self._has_log:
            raise NeedsLog
        self._facts[name] = value

    def _copy(self, events: Iterable[Event], facts: dict[str, Any]) -> None:
        """Write events as they are, within a transaction."""
        for event in events:
            self._added.append(event._asdict() | {"body": _to_json(event.body)})
            self.last = event.number
            if len(self._added) >= _PART:
                self._run(_ADD, self._added)
                self._added = []
        self._facts |= facts


class NeedsLog(Exception):  # noqa: N818 - a transaction is begun again for it
    """Something is to be added in a transaction that does not have the log."""


def open_store(where: Path | str, clock: Callable[[], float]) -> Store:
    """Open a file or a database of answers to write.

    Parameters
    ----------
    where, clock
        As for :class:`Store`.

    Returns
    -------
    Store

    Raises
    ------
    StoreError
        If it cannot be used.
    """
    return Store(where, clock)


def copy_store(
    source: Path | str,
    target: Path | str,
    *,
    without: Iterable[str] = (),
    watch: Callable[[Any], None] = lambda _: None,
    note: Callable[[Store], None] = lambda _: None,
) -> int:
    """Copy events, in their order, and facts: everything, or nothing.

    Parameters
    ----------
    source : Path or str
        A file or the address of a database, which may be in use.
    target : Path or str
        A file or the address of a database that holds nothing yet.
    without : iterable of str
        Facts to leave out.
    watch : callable
        Told what is copied: the facts, then each event.
    note : callable
        Given the target, adds to it what comes behind the copied events.

    Returns
    -------
    int
        The number of events that were copied.

    Raises
    ------
    StoreError
        If one of them cannot be used, or the target holds something.
    """

    def watched(events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            watch(event)
            yield event

    is_file = not is_address(target)
    there = is_file and Path(target).exists()
    with snapshot(source) as connection:
        facts = {
            name: json.loads(value)
            for name, value in connection.execute("SELECT name, value FROM facts")
            if name not in set(without)
        }
        rows = connection.execute(
            "SELECT number, at, who, kind, question, request, body FROM events "
            "ORDER BY number"
        )
        watch(facts)
        store = Store(target, time.time)
        try:
            if not store.is_new:
                raise StoreError(
                    f"{store.name} holds answers already; name a file or a database "
                    "that holds none"
                )
            with store.transaction():
                store._copy(watched(map(_event, rows)), facts)
                last = store.last
                note(store)
        except BaseException:
            store.close()
            if is_file and not there:
                for end in ("", "-wal", "-shm", ".lock"):
                    Path(f"{target}{end}").unlink(missing_ok=True)
            raise
        store.close()
    return last
