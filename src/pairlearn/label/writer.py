"""The writer: one thread that owns the store, the memory and the stock of questions."""

from __future__ import annotations

import hashlib
import queue
import sqlite3
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from pairlearn.label.back_room import enter
from pairlearn.label.clerk import Clerk
from pairlearn.label.invitations import Invitations
from pairlearn.label.link import Link
from pairlearn.label.settings import settled
from pairlearn.label.stock import Stock
from pairlearn.label.store import Store
from pairlearn.label.values import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["Command", "Writer"]

# Most commands of one commit, and most questions of one order to the back room: many
# at once would keep those waiting who need one now.
_BATCH, _ORDER = 256, 400
# Seconds after which what could not be written is tried again.
_AGAIN = 1.0
# Events that the back room is told of.
_TOLD = ("answer", "opinion", "undo", "withdraw", "name")


class Command(NamedTuple):
    """Something to do.

    Attributes
    ----------
    do : callable
        Does it, with the clerk, within a transaction.
    settle : callable
        Told the result, or the problem, when it is on the disk.
    owed : bool
        Whether it is done later if it cannot be done now: it comes from the program
        itself, and nobody would ask for it again.
    """

    do: Callable[[Clerk], Any]
    settle: Callable[[Any, BaseException | None], None]
    owed: bool = False


class Writer:
    """Does commands one after the other, and commits those that wait together.

    Parameters
    ----------
    path : Path
        The file in which everything is kept.
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
    state : {"starting", "ready", "failed"}
        How the back room is.
    trouble : str or None
        Why it cannot go on.
    panel : dict
        Its last panel.
    """

    def __init__(
        self,
        path: Path,
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
        self._path, self._points, self._given = path, points, given
        self._lease_seconds, self._clock = lease_seconds, clock
        self._deliver, self._changed = deliver, changed
        self._room, self._hook = room, hook
        self._queue: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        self._owed: list[Command] = []
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._stock = Stock()
        self._outbox: queue.SimpleQueue[Any] | None = None
        self._ordered: tuple[str | None, float] | None = None
        self._needy: dict[str, None] = {}
        self._last: str | None = None
        self._nothing: dict[str | None, tuple[float, int]] = {}
        self._news = self._ordered_at = 0
        self._broken = self._closed = False
        self.state, self.learning = "starting", False
        self.trouble: str | None = None
        self.panel: dict[str, Any] = {}
        self.counts: dict[int, int] = {}
        self.people: dict[str, int] = {}
        self.invitations = Invitations()
        self.settings: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}
        self._link: Link | None = None

    @property
    def pid(self) -> int | None:
        """The number of the back room's process."""
        return self._link.pid if self._link is not None else None

    def open(self) -> None:
        """Open the store, and start both the thread and the back room."""
        file = {"name": self._points.name, "sha256": _digest(self._points)}
        store = Store(self._path, self._clock)
        try:
            self.facts = store.facts()
            kept = self.facts.get("settings")
            self.settings = settled(self._given, kept, self._path.name)
            self._clerk = Clerk(store, self._clock, self._lease_seconds)
            if kept is None:
                self._keep({"settings": self.settings, "created": self._clock()})
                self._keep({"points_file": file})
        except BaseException:
            store.close()
            raise
        # With other bytes, row numbers may be those of other points; the back room
        # finds out, and until then nothing is given out.
        self._file = file
        self._clerk.is_shut = (
            self.facts.get("points_file", {}).get("sha256") != (file["sha256"])
        )
        self._look()
        self._thread.start()
        if self._room is not None:
            self._link = Link(self._enlist, self._heard, self._room)
            self._link.start()

    def _keep(self, facts: dict[str, Any]) -> None:
        store = self._clerk.store
        with store.transaction():
            for name, value in facts.items():
                store.keep_fact(name, value)
        self.facts |= facts

    def close(self) -> None:
        """End the back room, do what waits, and close the store."""
        if self._closed:
            return
        self._closed = True
        if self._thread.ident is not None:
            if self._link is not None:
                self._link.close()
            self._queue.put(None)
            self._thread.join()

    def put(self, command: Command) -> None:
        """Have something done."""
        if self._closed and not command.owed:
            command.settle(None, Refused("The page has been closed.", 503))
        else:
            self._queue.put(command)

    # In the thread of the writer.

    def _run(self) -> None:
        running = True
        while running:
            batch = self._owed
            self._owed = []
            with suppress(queue.Empty):
                first = self._queue.get(timeout=_AGAIN if batch else None)
                while first is not None:
                    batch.append(first)
                    if len(batch) >= _BATCH:
                        break
                    first = self._queue.get_nowait()
                running = first is not None
            try:
                self._together(batch)
            except Exception as problem:  # the thread must not end
                self._tell(batch, [(None, _unkept(problem))] * len(batch))
        with suppress(sqlite3.Error):
            self._clerk.store.close()

    def _together(self, batch: list[Command]) -> None:
        """Do commands, and commit once."""
        try:
            results = self._try(batch)
        except (sqlite3.Error, OSError) as problem:
            self._fail(batch, problem)
            return
        except Exception as problem:  # one of them cannot be done
            if len(batch) == 1:
                self._fail(batch, problem, again=False)
            for command in batch if len(batch) > 1 else ():
                self._together([command])
            return
        self._pass_on()
        self._look()
        self._tell(batch, results)
        self._order()

    def _try(self, batch: list[Command]) -> list[tuple[Any, BaseException | None]]:
        clerk = self._clerk
        if self._broken:
            clerk.begin_again()
            self._broken = False
        results: list[tuple[Any, BaseException | None]] = []
        try:
            with clerk.store.transaction():
                for command in batch:
                    try:
                        results.append((command.do(clerk), None))
                    except Refused as problem:
                        results.append((None, problem))
        except BaseException:
            self._broken = True
            clerk.begin_again()
            self._broken = False
            raise
        return results

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
        fresh = [e for e in self._clerk.fresh if e.kind in _TOLD]
        self._clerk.fresh.clear()
        if not fresh:
            return
        self._news += 1
        n_answers = sum(event.kind in ("answer", "opinion") for event in fresh)
        self._stock.saw_answers(n_answers, time.monotonic())
        if self._outbox is not None:
            lines = [(e.number, e.kind, e.question, e.who, e.body) for e in fresh]
            self._outbox.put(("events", lines))

    def _look(self) -> None:
        """Note what others may look at meanwhile."""
        records = self._clerk.records
        self.counts = dict(records.counts)
        self.people = {name: records.n_answers(name) for name in records.people}
        self.invitations = records.invitations

    def served(self, who: str, page: str, *, short: bool) -> None:
        """Note who was given questions, and whether it was too few."""
        self._stock.saw_page(page, time.monotonic())
        self._last = who
        if short:
            self._needy[who] = None

    def has_nothing_for(self, who: str, since: float) -> bool:
        """Tell whether the back room, asked since then, has no question for somebody.

        To be called by a command.
        """
        found = self._nothing.get(who)
        return found is not None and found[0] >= since

    def _order(self) -> None:
        """Order questions, if more should be ready than there are."""
        if self._outbox is None or self._ordered is not None or self.state != "ready":
            return
        wanted = self._stock.wanted(time.monotonic())
        who = self._last
        if self._needy:
            who = next(iter(self._needy))
            del self._needy[who]
        elif self._nothing.get(who, (0.0, -1))[1] == self._news:
            return  # there was nothing, and nothing has happened since
        missing = wanted - self._clerk.n_suitable(who, wanted)
        if missing <= 0:
            return
        self._ordered = who, time.monotonic()
        self._outbox.put(("choose", min(missing, _ORDER), who))
        self._ordered_at = self._news

    # In the thread that listens to the back room.

    def _owe(
        self,
        do: Callable[[Clerk], Any],
        then: Callable[[Any], None] = lambda _: None,
    ) -> None:
        """Have something done that the program itself wants."""

        def settle(result: Any, problem: BaseException | None) -> None:
            if problem is None:
                then(result)

        self.put(Command(do, settle, owed=True))

    def _enlist(self, outbox: queue.SimpleQueue[Any]) -> dict[str, Any] | None:
        """Return what the back room begins with; it is told what happens after."""
        answer: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()

        def begin(_: Any) -> None:
            self._outbox, self._ordered = outbox, None
            self.state = "starting"
            answer.put(
                {
                    "store": str(self._path),
                    "points": str(self._points),
                    "settings": self.settings,
                    "mark": self.facts.get("points"),
                    "upto": self._clerk.store.last,
                    "hook": self._hook,
                }
            )

        self._owe(lambda _: None, begin)
        while not self._closed:
            with suppress(queue.Empty):
                return answer.get(timeout=0.2)
        return None

    def _heard(self, message: tuple[Any, ...]) -> None:
        """Do what the back room says."""
        what, *values = message
        getattr(self, f"_on_{what}")(*values)

    def _on_ready(self, mark: str) -> None:
        facts = {"points": mark, "points_file": self._file}

        def do(clerk: Clerk) -> None:
            for name, value in facts.items():
                if self.facts.get(name) != value:
                    clerk.store.keep_fact(name, value)

        def then(_: Any) -> None:
            self.facts |= facts
            self._clerk.is_shut = False
            self.state, self.trouble = "ready", None
            self._changed()

        self._owe(do, then)

    def _on_asked(
        self, questions: list[tuple[int, dict[str, Any]]], short: bool
    ) -> None:
        def do(clerk: Clerk) -> None:
            for number, body in questions:
                clerk.ask(number, body)

        def then(_: Any) -> None:
            if self._ordered is not None:
                who, when = self._ordered
                if short:
                    self._nothing[who] = when, self._ordered_at
                self._ordered = None
            self._changed()

        self._owe(do, then)

    def _on_learned(self, body: dict[str, Any]) -> None:
        def do(clerk: Clerk) -> None:
            clerk.learned(body)
            clerk.withdraw(10 + 2 * self._stock.wanted(time.monotonic()))

        self._owe(do)

    def _on_learning(self, learning: bool) -> None:
        self.learning = learning

    def _on_panel(self, panel: dict[str, Any]) -> None:
        # In line behind the model that it is about: nothing is shown of a model whose
        # line is not on the disk.
        def then(_: Any) -> None:
            self.panel = panel

        self._owe(lambda _: None, then)

    def _on_failed(self, sentence: str) -> None:
        self.state, self.trouble = "failed", sentence
        self._changed()

    def _on_gone(self) -> None:
        def then(_: Any) -> None:
            self._outbox = self._ordered = None
            self.learning = False
            if self.state != "failed":
                self.state = "starting"

        self._owe(lambda _: None, then)


def _later(
    settle: Callable[[Any, BaseException | None], None],
    result: Any,
    problem: BaseException | None,
) -> Callable[[], None]:
    return lambda: settle(result, problem)


def _unkept(problem: BaseException) -> Refused:
    """Return what to tell people whose wish could not be kept."""
    if getattr(problem, "sqlite_errorname", "") == "SQLITE_FULL":
        why = "the disk is full"
    elif isinstance(problem, sqlite3.Error | OSError):
        why = str(problem)
    else:
        why = f"{type(problem).__name__}: {problem}"
    return Refused(
        f"This could not be kept, and nothing was changed ({why}). Try again.", 503
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
