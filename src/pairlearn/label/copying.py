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
from pathlib import Path
from typing import Any, NamedTuple

from pairlearn.data.databases import called, is_address
from pairlearn.data.stored_answers import snapshot
from pairlearn.files.answers_store import StoreError
from pairlearn.label.store import Event, Store, copy_store, open_store, read_events

__all__ = ["Copied", "Digest", "copy_all"]


class Copied(NamedTuple):
    """What was copied.

    Attributes
    ----------
    n_events, n_facts : int
        How many events and facts.
    checksum : str
        Over all of them, as :class:`Digest` makes it; the same at both places.
    noted : bool
        Whether the source could note that it was copied.
    """

    n_events: int
    n_facts: int
    checksum: str
    noted: bool


class Digest:
    """The SHA-256 of facts and events, whatever keeps them.

    Each is written as JSON with sorted keys and without spaces, one per line: the facts
    by name, then the events by number.

    Attributes
    ----------
    n_facts, n_events : int
        How many were added.

    Examples
    --------
    >>> one, same, other = Digest(), Digest(), Digest()
    >>> event = Event(1, "", "Ada", "answer", 3, None, {"said": 1, "seconds": None})
    >>> one.add(event)
    >>> same.add(event._replace(body={"seconds": None, "said": 1}))
    >>> other.add(event._replace(question=4))
    >>> one.value == same.value, one.value == other.value
    (True, False)
    """

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self.n_facts = self.n_events = 0

    def add(self, what: dict[str, Any] | Event) -> None:
        """Add all facts, or an event."""
        if isinstance(what, Event):
            self.n_events += 1
            self._digest.update(_line(what))
        else:
            self.n_facts += len(what)
            for fact in sorted(what.items()):
                self._digest.update(_line(fact))

    @property
    def value(self) -> str:
        """The digest, in 64 letters and digits."""
        return self._digest.hexdigest()


def _line(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"{text}\n".encode()


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
    if not is_address(target) and Path(target).suffix.lower() != ".sqlite":
        raise StoreError(
            f"{target} must end in .sqlite, or be the address of a database"
        )
    if not is_address(source) and not Path(source).is_file():
        raise StoreError(f"there is no file {source}")
    new = not is_address(target) and not Path(target).exists()
    wanted = Digest()

    def note(store: Store) -> None:
        body = {"place": called(source), "n_events": wanted.n_events}
        store.append("import", body, who=who)

    n_events = copy_store(source, target, watch=wanted.add, note=note)
    if _digest_of(target, n_events).value != wanted.value:
        if new:
            Path(target).unlink(missing_ok=True)
        raise StoreError(
            f"the copy at {called(target)} is not the same as what was read: do not "
            "use it, and try again at another place"
        )
    noted = kind != "export" or _note(source, n_events, called(target), who)
    return Copied(n_events, wanted.n_facts, wanted.value, noted)


def _digest_of(where: str, upto: int) -> Digest:
    """Return the digest of a place, without what was added behind the copy."""
    found = Digest()
    with snapshot(where) as connection:
        rows = connection.execute("SELECT name, value FROM facts")
        found.add({name: json.loads(value) for name, value in rows})
    for event in read_events(where, upto):
        found.add(event)
    return found


def _note(where: str, n_events: int, target: str, who: str | None) -> bool:
    """Note at the source that it was copied, unless it is in use or read-only."""
    try:
        store = open_store(where, time.time)
    except StoreError:
        return False
    try:
        with store.transaction():
            for _ in store.follow():
                pass
            store.append("export", {"place": target, "n_events": n_events}, who=who)
    finally:
        store.close()
    return True
