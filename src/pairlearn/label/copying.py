"""All that is kept, copied from one place to another: a file, or a database.

Every event with its number and its time, and every fact, the secret of the links among
them. Leases are left behind: they say what is on somebody's page just now. The source
is read as it is at one moment, while people may go on answering; the target is written
in one transaction, and read again at the end.
"""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pairlearn.data.stored_answers import snapshot
from pairlearn.files.answers_store import StoreError
from pairlearn.label.store import Event, Store, lines_from

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

__all__ = ["Copied", "checksum", "copy_all", "events_of", "is_address", "shown_place"]


class Copied(NamedTuple):
    """What was copied.

    Attributes
    ----------
    n_events, n_facts : int
        How many events and facts.
    checksum : str
        Over all of them, as :func:`checksum` makes it; the same at both places.
    noted : bool
        Whether the source could note that it was copied.
    """

    n_events: int
    n_facts: int
    checksum: str
    noted: bool


def is_address(where: str) -> bool:
    """Tell whether something is the address of a database, and not a file."""
    return "://" in where


def shown_place(where: str) -> str:
    """Return how a place is called in messages and in the trail."""
    return where if is_address(where) else Path(where).name


def checksum(facts: dict[str, Any], events: Iterable[Event]) -> str:
    """Return the SHA-256 of facts and events, whatever keeps them.

    Each is written as JSON with sorted keys and without spaces, one per line: the facts
    by name, then the events by number.

    Parameters
    ----------
    facts : dict
        The facts.
    events : iterable of Event
        The events in order.

    Returns
    -------
    str

    Examples
    --------
    >>> one = Event(1, "", "Ada", "answer", 3, None, {"said": 1, "seconds": None})
    >>> same = one._replace(body={"seconds": None, "said": 1})
    >>> checksum({"seed": 0}, [one]) == checksum({"seed": 0}, [same])
    True
    >>> checksum({"seed": 0}, [one]) == checksum({"seed": 1}, [one])
    False
    """
    digest = hashlib.sha256()
    for fact in sorted(facts.items()):
        digest.update(_line(fact))
    for event in events:
        digest.update(_line(event))
    return digest.hexdigest()


def _line(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"{text}\n".encode()


def events_of(where: str) -> Iterator[Event]:
    """Yield all events of a file or a database, as it is now."""
    with _reading(where) as connection:
        yield from lines_from(connection)


def copy_all(kind: str, source: str, target: str, who: str | None) -> Copied:
    """Copy all that is kept, or nothing.

    Parameters
    ----------
    kind : {"export", "import"}
        An export is also noted at the source, where that can be written; an import
        leaves its file as it is.
    source, target : str
        From where and to where; the target must be new or empty.
    who : str or None
        Who does it, for the trail.

    Returns
    -------
    Copied

    Raises
    ------
    StoreError
        If it cannot be done; the target is then as it was.
    """
    with _reading(source) as connection:
        facts = _facts(connection)
        n_events = _fill(
            target, facts, lines_from(connection), shown_place(source), who
        )
        wanted = checksum(facts, lines_from(connection))
    with _reading(target) as connection:
        found = checksum(_facts(connection), lines_from(connection, upto=n_events))
    if found != wanted:
        raise StoreError(
            f"the copy at {shown_place(target)} is not the same as what was read: do "
            "not use it, and try again at another place"
        )
    noted = kind != "export" or _note(source, n_events, shown_place(target), who)
    return Copied(n_events, len(facts), wanted, noted)


@contextmanager
def _reading(where: str) -> Iterator[sqlite3.Connection]:
    """Open a place to read one state of it, whoever writes there meanwhile."""
    if is_address(where):
        raise StoreError("databases cannot be read yet")
    if not Path(where).is_file():
        raise StoreError(f"there is no file {where}")
    with snapshot(where) as connection:
        yield connection


def _facts(connection: sqlite3.Connection) -> dict[str, Any]:
    rows = connection.execute("SELECT name, value FROM facts")
    return {name: json.loads(value) for name, value in rows}


def _fill(
    where: str,
    facts: dict[str, Any],
    events: Iterable[Event],
    source: str,
    who: str | None,
) -> int:
    """Write facts and events to a place that is new or empty; return how many events.

    One more event tells where they come from.
    """
    path = Path(where)
    if path.suffix.lower() != ".sqlite":
        raise StoreError(
            f"{where} must end in .sqlite, or be the address of a database"
        )
    new = not path.exists()
    store = Store(path, time.time)
    try:
        if store.last or store.facts():
            raise StoreError(
                f"{shown_place(where)} holds answers already, and was left as it is; "
                "name a place that is new or empty"
            )
        n_events = 0
        with store.transaction():
            for name, value in facts.items():
                store.keep_fact(name, value)
            for event in events:
                store.put(event)
                n_events += 1
            body = {"place": source, "n_events": n_events}
            store.append("import", body, who=who)
    except BaseException:
        store.close()
        if new:
            for end in ("", "-wal", "-shm", ".lock"):
                path.with_name(path.name + end).unlink(missing_ok=True)
        raise
    store.close()
    return n_events


def _note(where: str, n_events: int, target: str, who: str | None) -> bool:
    """Note at the source that it was copied, unless it is in use or read-only."""
    try:
        store = Store(Path(where), time.time)
    except StoreError:
        return False
    try:
        with store.transaction():
            store.append("export", {"place": target, "n_events": n_events}, who=who)
    finally:
        store.close()
    return True
