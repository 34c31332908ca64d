"""The trainer's part: the back room, what is ordered of it, and what it says.

One process has the back room, the only one with a file, and of those that share a
database the one with the trainer's lock. It passes on to the back room whatever happens
anywhere, and writes down what it chooses, and its panel as a fact, so that all can show
it. The others write down who waits for questions. If the trainer ends, another process
gets the lock, and goes on.
"""

from __future__ import annotations

import queue
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from pairlearn.label.commands import Command
from pairlearn.label.link import Link
from pairlearn.label.stock import Stock

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.label.clerk import Clerk
    from pairlearn.label.store import Event
    from pairlearn.label.writer import Writer

__all__ = ["Training"]

# Most questions of one order to the back room: many at once would keep those waiting
# who need one now.
_ORDER = 400
# Events that the back room is told of.
_TOLD = ("answer", "opinion", "undo", "withdraw", "name")
# Events that the trainer alone adds.
_OWN = ("ask", "learn", "withdraw")
# Seconds between two tries to become the trainer, between two wishes of one person, and
# after which a wish is forgotten, and a page.
_TRY, _WISH, _FORGOTTEN, _GONE = 1.0, 0.5, 10.0, 30.0


class Training:
    """The back room, as the writer sees it.

    Parameters
    ----------
    writer : Writer
        Does commands.
    room : callable or None
        What runs in the other process; None: nothing does.
    hook : str or None
        For tests: see :class:`~pairlearn.label.writer.Writer`.

    Attributes
    ----------
    state : {"starting", "ready", "failed"}
        How the back room is.
    trouble : str or None
        Why it cannot go on.
    learning : bool
        Whether it is learning.
    panel : dict
        Its last panel.
    """

    def __init__(self, writer: Writer, room: Any, hook: str | None) -> None:
        self._writer, self._room, self._hook = writer, room, hook
        self._stock = Stock()
        self._outbox: queue.SimpleQueue[Any] | None = None
        # Who was last given questions, who has too few; the order that is out, for whom
        # and since when; what is to be ordered next; for whom there was nothing.
        self._last: str | None = None
        self._needy: dict[str, None] = {}
        self._ordered: tuple[str | None, float] | None = None
        self._next: tuple[int, str | None] | None = None
        self._nothing: dict[str | None, tuple[float, int]] = {}
        self._news = self._ordered_at = 0
        # Wishes: ours at another process, and those of others here.
        self._wished: dict[str, float] = {}
        self._wishers: dict[str, float] = {}
        self.state, self.learning = "starting", False
        self.trouble: str | None = None
        self.panel: dict[str, Any] = {}
        self._panel_number = 0
        self._published: dict[str, Any] | None = None
        self._is_trainer = self._is_shared = False
        self._try_at = 0.0
        # Each back room, and each time that one is the trainer, has a number.
        self._number = self._session = 0
        self._link: Link | None = None
        self._links: list[Link] = []

    @property
    def pid(self) -> int | None:
        """The number of the back room's process."""
        return self._link.pid if self._link is not None else None

    def open(self, clerk: Clerk, file: dict[str, Any]) -> None:
        """Start the back room, if this process has it."""
        self._file, self._clerk = file, clerk
        self._is_shared = clerk.store.is_shared
        self._session = clerk.store.session
        if clerk.store.may_train():
            self._begin()

    def close(self) -> None:
        """End all back rooms."""
        for link in self._links:
            link.close()

    def _begin(self) -> None:
        """Be the trainer from now on."""
        self._is_trainer, self._published = True, None
        self._number += 1
        self._wishers.clear()
        self._nothing.clear()
        self.state, self.trouble, self.learning = "starting", None, False
        if self._room is not None:
            number = self._number
            self._link = Link(
                partial(self._enlist, number),
                lambda message: self.heard(message, number),
                self._room,
            )
            self._links.append(self._link)
            self._link.start()

    def _end(self) -> None:
        """Be the trainer no more; what the back room says is not done."""
        if self._is_trainer:
            self._is_trainer, self.learning = False, False
            self._number += 1
            self._outbox = self._ordered = None
            if self._link is not None:
                self._link.leave()
                self._link = None

    def knows(self, room: int | None) -> bool:
        """Tell whether something comes from the back room that there is."""
        return room is None or room == self._number

    # In the thread of the writer.

    def check_session(self, session: int) -> None:
        """End the back room if the connection is another one: the lock has gone."""
        if session != self._session:
            self._session, self._try_at = session, 0.0
            self._end()

    def follow(self, news: list[Event]) -> None:
        """Begin anew if somebody else was the trainer meanwhile."""
        if self._is_trainer and any(event.kind in _OWN for event in news):
            self._end()
            self._begin()

    def tell(self, news: list[Event]) -> None:
        """Tell the back room what has happened."""
        fresh = [event for event in news if event.kind in _TOLD]
        if not fresh:
            return
        self._news += 1
        n_answers = sum(event.kind in ("answer", "opinion") for event in fresh)
        self._stock.saw_answers(n_answers, time.monotonic())
        if self._outbox is not None:
            lines = [(e.number, e.kind, e.question, e.who, e.body) for e in fresh]
            self._outbox.put(("events", lines))

    def served(self, who: str, page: str, *, short: bool) -> None:
        """Note who was given questions, and whether it was too few."""
        now = time.monotonic()
        self._stock.saw_page(page, now)
        self._last = who
        if not short:
            return
        if self._is_trainer or not self._is_shared:
            self._needy[who] = None
        elif now - self._wished.get(who, -_WISH) >= _WISH:
            self._wished[who] = now
            self._clerk.store.leases.wish(who, time.time())

    def has_nothing_for(self, who: str, since: float) -> bool:
        """Tell whether the back room, asked since then, has no question for somebody.

        To be called by a command.
        """
        if self._is_trainer or not self._is_shared:
            found = self._nothing.get(who)
            return found is not None and found[0] >= since
        begin = time.time() - (time.monotonic() - since)
        return self._clerk.store.leases.was_nothing(who) >= begin

    def look_around(self, clerk: Clerk) -> None:
        """See who waits elsewhere, or what the trainer says; within a transaction."""
        now, store = time.time(), clerk.store
        if self._is_trainer:
            self._stock.saw_others(store.leases.n_pages(now - _GONE))
            for who, wish in store.leases.wishes(now - _FORGOTTEN).items():
                if self._wishers.get(who) != wish:
                    self._wishers[who] = wish
                    self._needy[who] = None
            return
        told = store.fact("room") or {}
        self.state = told.get("state", "starting")
        self.learning = bool(told.get("learning"))
        number = told.get("panel", 0)
        if number != self._panel_number:
            self._panel_number, self.panel = number, store.fact("panel") or {}
        # Those who wait look again: the trainer may have nothing for them.
        limit = time.monotonic() - _FORGOTTEN
        self._wished = {who: at for who, at in self._wished.items() if at > limit}
        if self._wished or self.state == "ready":
            self._writer.wake()

    def publish(self, clerk: Clerk) -> None:
        """Become the trainer if there is none; write down how the back room is."""
        store = clerk.store
        if not self._is_trainer:
            if time.monotonic() >= self._try_at:
                self._try_at = time.monotonic() + _TRY
                if store.may_train():
                    self._begin()
            return
        room = {"state": self.state, "learning": self.learning}
        room["panel"] = self._panel_number
        if room != self._published and self.state != "failed":
            with store.transaction():
                store.keep_fact("room", room)
                if room["panel"] != (self._published or {}).get("panel"):
                    store.keep_fact("panel", self.panel)
            self._published = room

    def plan(self, clerk: Clerk) -> None:
        """See what is to be ordered, within a transaction."""
        self._next = None
        if self._outbox is None or self._ordered is not None or self.state != "ready":
            return
        wanted = self._stock.wanted(time.monotonic())
        who = self._last
        if self._needy:
            who = next(iter(self._needy))
        elif self._nothing.get(who, (0.0, -1))[1] == self._news:
            return  # there was nothing, and nothing has happened since
        self._next = wanted - clerk.n_suitable(who), who

    def order(self) -> None:
        """Order questions, if more should be ready than there are."""
        if self._next is None or self._outbox is None or self._ordered is not None:
            return
        missing, who = self._next
        self._next = None
        if who is not None:
            self._needy.pop(who, None)
        if missing > 0:
            self._ordered = who, time.monotonic()
            self._outbox.put(("choose", min(missing, _ORDER), who))
            self._ordered_at = self._news

    # In the thread that listens to the back room.

    def _owe(
        self,
        do: Callable[[Clerk], Any],
        room: int | None,
        then: Callable[[Any], None] = lambda _: None,
        *,
        log: bool = True,
    ) -> None:
        """Have something done that the program itself wants."""

        def settle(result: Any, problem: BaseException | None) -> None:
            if problem is None:
                then(result)

        self._writer.put(Command(do, settle, owed=True, log=log, room=room))

    def _enlist(
        self, number: int, outbox: queue.SimpleQueue[Any]
    ) -> dict[str, Any] | None:
        """Return what the back room begins with; it is told what happens after."""
        answer: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        writer, store = self._writer, self._clerk.store

        def begin(_: Any) -> None:
            self._outbox, self._ordered = outbox, None
            self.state = "starting"
            answer.put(
                {
                    "store": str(store.where),
                    "points": str(writer.points),
                    "settings": writer.settings,
                    "mark": writer.facts.get("points"),
                    "upto": store.last,
                    "hook": self._hook,
                }
            )

        self._owe(lambda _: None, number, begin, log=False)
        while not writer.is_closed and number == self._number:
            with suppress(queue.Empty):
                return answer.get(timeout=0.2)
        return None

    def heard(self, message: tuple[Any, ...], room: int | None = None) -> None:
        """Do what the back room says."""
        if self.knows(room):
            what, *values = message
            getattr(self, f"_on_{what}")(room, *values)

    def _on_ready(self, room: int | None, mark: str) -> None:
        facts = {"points": mark, "points_file": self._file}
        writer = self._writer

        def do(clerk: Clerk) -> None:
            for name, value in facts.items():
                if writer.facts.get(name) != value:
                    clerk.store.keep_fact(name, value)

        def then(_: Any) -> None:
            writer.facts |= facts
            self._clerk.is_shut = False
            self.state, self.trouble = "ready", None
            writer.wake()

        self._owe(do, room, then)

    def _on_asked(
        self,
        room: int | None,
        questions: list[tuple[int, dict[str, Any]]],
        short: bool,
    ) -> None:
        def do(clerk: Clerk) -> None:
            for number, body in questions:
                clerk.ask(number, body)
            who = self._ordered[0] if self._ordered is not None else None
            if short and who in self._wishers:
                clerk.store.leases.say_nothing(who or "", self._wishers[who or ""])

        def then(_: Any) -> None:
            if self._ordered is not None:
                who, when = self._ordered
                if short:
                    self._nothing[who] = when, self._ordered_at
                self._ordered = None
            self._writer.wake()

        self._owe(do, room, then)

    def _on_learned(self, room: int | None, body: dict[str, Any]) -> None:
        def do(clerk: Clerk) -> None:
            clerk.learned(body)
            clerk.withdraw(10 + 2 * self._stock.wanted(time.monotonic()))

        self._owe(do, room)

    def _on_learning(self, _: int | None, learning: bool) -> None:
        self.learning = learning

    def _on_panel(self, room: int | None, panel: dict[str, Any]) -> None:
        # In line behind the model that it is about: nothing is shown of a model whose
        # line is not on the disk.
        def then(_: Any) -> None:
            self.panel = panel
            self._panel_number += 1

        self._owe(lambda _: None, room, then, log=False)

    def _on_failed(self, _: int | None, sentence: str) -> None:
        self.state, self.trouble = "failed", sentence
        self._writer.wake()

    def _on_gone(self, room: int | None) -> None:
        def then(_: Any) -> None:
            self._outbox = self._ordered = None
            self.learning = False
            if self.state != "failed":
                self.state = "starting"

        self._owe(lambda _: None, room, then, log=False)
