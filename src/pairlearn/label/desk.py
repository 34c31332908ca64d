"""The desk: where people get questions and hand in answers.

One thread, the writer, owns the store and all that is in memory. It takes every
command that waits, does them one after the other, commits once, and only then answers:
what was acknowledged is on the disk, and a hundred answers at once cost one commit. If
the commit fails, the memory is made anew from the disk, and those who waited are told
that nothing was kept.

Choosing questions and learning happen in another process, the back room; see
:mod:`pairlearn.label.link`. Nobody waits for it but a page that has no question left.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from pairlearn.label.commands import Command
from pairlearn.label.members import Members
from pairlearn.label.values import (
    SAID,
    Asked,
    Given,
    Hand,
    History,
    Item,
    Outcome,
    Person,
    Refused,
)
from pairlearn.label.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from pairlearn.label.clerk import Clerk
    from pairlearn.label.invitations import Invitations

__all__ = ["Asked", "Desk", "Given", "Hand", "History", "Item", "Outcome", "Person"]
__all__ += ["Refused"]

Result = TypeVar("Result")

# Seconds that a page without questions waits before it is told to ask again.
_PATIENCE = 2.0
# Seconds that "saved" waits for further questions: hardly any, since it is so already.
_BRIEFLY = 0.05
# Most answers of a history at a time, and most letters to search for.
_MOST_ITEMS, _LONGEST_SEARCH = 500, 1000


class Desk:
    """Gives out questions and takes answers.

    Parameters
    ----------
    store : Path or str
        The file in which everything is kept, or the address of a database that other
        processes share.
    points : Path
        The table of points.
    given : dict, optional
        Settings that were given, of those in :mod:`pairlearn.label.settings`.
    words : callable, optional
        Returns the text of a point by its row number; the history is searched for it.
    lease_seconds : float, default=600.0
        How long a question stays on a page that is not heard of.
    clock : callable
        Returns the time in seconds since 1970.
    patience : float, default=2.0
        Seconds that a page without questions waits before it is told to ask again.
    **others
        For tests: see :class:`~pairlearn.label.writer.Writer`.

    Attributes
    ----------
    members : Members
        Invitations, and the trail of who did what.
    """

    def __init__(
        self,
        store: Path | str,
        points: Path,
        given: Mapping[str, Any] | None = None,
        *,
        words: Callable[[int], str] | None = None,
        lease_seconds: float = 600.0,
        clock: Callable[[], float] = time.time,
        patience: float = _PATIENCE,
        **others: Any,
    ) -> None:
        self._writer = Writer(
            store,
            points,
            given or {},
            lease_seconds=lease_seconds,
            clock=clock,
            deliver=self._deliver,
            changed=self._changed,
            **others,
        )
        self._training = self._writer.training
        self._words, self._patience = words, patience
        self._loop: asyncio.AbstractEventLoop | None = None
        self._arrival = asyncio.Event()
        self.members = Members(self._do)

    async def open(self) -> None:
        """Open the store and start the back room, without waiting for the latter.

        Raises
        ------
        StoreError
            If the file of answers cannot be used.
        """
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._writer.open)

    async def close(self) -> None:
        """End the back room, finish what waits, and close the store."""
        await asyncio.to_thread(self._writer.close)

    async def ready(self) -> bool:
        """Wait until the back room has read the points.

        Raises
        ------
        Refused
            If it cannot go on, with the reason.
        """
        while True:
            arrival = self._arrival
            if self.trouble is not None:
                raise Refused(self.trouble, 503)
            if self._training.state == "ready":
                return True
            await arrival.wait()

    @property
    def trouble(self) -> str | None:
        """Why no questions can be chosen, if they cannot."""
        return self._training.trouble

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that hold."""
        return dict(self._writer.settings)

    @property
    def back_room_pid(self) -> int | None:
        """The number of the process that chooses and learns."""
        return self._training.pid

    def fact(self, name: str) -> Any:
        """Return something that was kept beside the answers, or None."""
        return self._writer.facts.get(name)

    async def keep_fact(self, name: str, value: Any) -> None:
        """Keep something beside the answers: any value that JSON knows."""
        await self._do(lambda clerk: clerk.store.keep_fact(name, value))
        self._writer.facts[name] = value

    async def secret(self, by: str | None = None, *, new: bool = False) -> str:
        """Return what links are signed with; it is made if there is none.

        Parameters
        ----------
        by : str or None
            Who asks.
        new : bool
            Whether to make another one, so that no link from before is valid.

        Returns
        -------
        str
        """
        made = secrets.token_hex(32)

        def do(clerk: Clerk) -> str:
            # Read again: with several servers, another one may have been quicker.
            before = clerk.store.fact("secret")
            if before is not None and not new:
                return str(before)
            clerk.store.keep_fact("secret", made)
            if before is not None:
                clerk.note(by, "new_links", {}, None)
            return made

        return await self._do(do)

    async def invitations(self) -> Invitations:
        """Return who may come in, as it is now."""
        if not self._writer.is_shared:
            return self._writer.invitations
        # Another process may have revoked a link a moment ago.
        return await self._do(lambda clerk: clerk.records.invitations, log=False)

    async def settle_fact(self, name: str, value: Any) -> Any:
        """Keep something unless there is such a fact, and return what there is.

        Of several processes that begin at the same time, the first decides.
        """

        def do(clerk: Clerk) -> Any:
            found = clerk.store.fact(name)
            if found is None:
                clerk.store.keep_fact(name, value)
            return value if found is None else found

        self._writer.facts[name] = found = await self._do(do)
        return found

    async def hand(
        self, person: Person, page: str, have: Iterable[int], want: int
    ) -> Hand:
        """Return questions for a page.

        Parameters
        ----------
        person : Person
            Who asks.
        page : str
            The id that the page has made, and keeps when it is loaded again.
        have : iterable of int
            Questions that it has.
        want : int
            How many it wants to have, those among them.

        Returns
        -------
        Hand
        """
        held = list(have)

        def do(clerk: Clerk) -> list[Asked]:
            return self._give(clerk, person, page, held, want)

        found = await self._do(do, person, log=False)
        return await self._hand(person, page, held, want, found, self._patience)

    async def answer(
        self,
        person: Person,
        page: str,
        answers: Iterable[Given],
        have: Iterable[int],
        want: int,
    ) -> tuple[list[Outcome], Hand]:
        """Take answers, and return further questions.

        Parameters
        ----------
        person, page, have, want
            As for :meth:`hand`.
        answers : iterable of Given
            The answers.

        Returns
        -------
        outcomes : list of Outcome
            What became of each answer; what was saved is on the disk.
        hand : Hand
            Questions for the page.
        """
        given, held = list(answers), list(have)

        def do(clerk: Clerk) -> tuple[list[Outcome], list[Asked]]:
            outcomes = [clerk.answer(person, each) for each in given]
            return outcomes, self._give(clerk, person, page, held, want)

        outcomes, found = await self._do(do, person)
        brief = min(_BRIEFLY, self._patience)
        return outcomes, await self._hand(person, page, held, want, found, brief)

    def _give(
        self, clerk: Clerk, person: Person, page: str, held: list[int], want: int
    ) -> list[Asked]:
        """Give questions to a page; a command."""
        found = clerk.hand(person, page, held, want)
        short = len(held) + len(found) < want
        self._training.served(person.name, page, short=short)
        return found

    async def _hand(
        self,
        person: Person,
        page: str,
        held: list[int],
        want: int,
        found: list[Asked],
        patience: float,
    ) -> Hand:
        """Return the questions; wait for some if the page has none."""
        if found or held or want <= 0:
            return Hand(found)
        begin = time.monotonic()

        def look(clerk: Clerk) -> tuple[list[Asked], bool]:
            found = self._give(clerk, person, page, held, want)
            return found, self._training.has_nothing_for(person.name, begin)

        while True:
            # Before we look: what comes in between wakes us.
            arrival = self._arrival
            found, nothing = await self._do(look, person, log=False)
            if found or nothing:
                return Hand(found, done=not found)
            if self.trouble is not None:
                raise Refused(self.trouble, 503)
            try:
                left = begin + patience - time.monotonic()
                await asyncio.wait_for(arrival.wait(), max(0.0, left))
            except TimeoutError:
                return Hand(waiting=True)

    async def undo(
        self, person: Person, page: str, request: str, question: int | None = None
    ) -> tuple[Asked, int]:
        """Take an answer back: the person's last one, or that to a given question.

        Parameters
        ----------
        person, page
            As for :meth:`hand`.
        request : str
            The id that the page has made for this.
        question : int, optional
            The number of the question.

        Returns
        -------
        asked : Asked
            The question, which is on the page again.
        said : int
            What had been said.
        """
        return await self._do(
            lambda clerk: clerk.undo(person, page, request, question), person
        )

    async def edit(
        self, person: Person, request: str, question: int, said: int
    ) -> None:
        """Change an answer: one's own; the owner may change all.

        Parameters
        ----------
        person, request
            As for :meth:`undo`.
        question : int
            The number of the question.
        said : int
            1 for same, -1 for different, 0 for unsure.
        """
        await self._do(
            lambda clerk: clerk.edit(person, request, question, said), person
        )

    async def comment(
        self, person: Person, request: str, question: int, text: str
    ) -> None:
        """Comment on an answer: one's own; the owner may comment on all.

        Parameters
        ----------
        person, request, question
            As for :meth:`edit`.
        text : str
            The comment; an empty one removes it.
        """
        await self._do(
            lambda clerk: clerk.comment(person, request, question, text), person
        )

    async def question(self, person: Person, number: int) -> Item:
        """Return a question and what was said: by the person, or for the owner."""
        return await self._do(
            lambda clerk: clerk.item(person, number), person, log=False
        )

    async def may_see(self, person: Person, row: int) -> bool:
        """Tell whether a person may see a point: for owners, every one."""
        if person.owner:
            return True
        return await self._do(lambda clerk: clerk.may_see(person, row), log=False)

    async def history(
        self,
        person: Person,
        search: str = "",
        before: int | None = None,
        limit: int = 50,
        everyone: bool = False,
    ) -> History:
        """Return answers, the newest first.

        Parameters
        ----------
        person : Person
            Who looks.
        search : str
            Words that all must occur: in ids, comments, answers or points.
        before : int, optional
            Only answers before that with this number.
        limit : int, default=50
            How many at most.
        everyone : bool, default=False
            Whether to show what others said; for the owner.

        Returns
        -------
        History
        """
        if everyone and not person.owner:
            raise Refused("Only the owner sees what others have answered.", 403)
        if len(search) > _LONGEST_SEARCH:
            raise Refused(f"One can search for at most {_LONGEST_SEARCH:,} letters.")

        def look(clerk: Clerk) -> tuple[Any, list[Item]]:
            items = clerk.records.items.values()
            who = person.name
            return clerk.records, [i for i in items if everyone or i.who == who]

        # The list is made by the writer, and searched beside it.
        records, items = await self._do(look, person, log=False)
        return await asyncio.to_thread(
            records.search,
            items,
            search,
            before,
            max(1, min(limit, _MOST_ITEMS)),
            self._words,
        )

    async def progress(self) -> dict[str, Any]:
        """Return the last panel of the back room, with counts as they are now."""
        writer, training = self._writer, self._training
        panel = dict(training.panel)
        panel["answers"] = {
            SAID[said]: writer.counts.get(said, 0) for said in (1, -1, 0)
        }
        rates = {each["name"]: each for each in panel.get("people", ())}
        panel["people"] = [
            {"name": name, "n": n} | rates.get(name, {})
            for name, n in sorted(writer.people.items())
        ]
        panel["learning"] = training.learning
        panel["back_room"] = training.state
        panel["trouble"] = training.trouble
        return panel

    async def name_groups(
        self, person: Person, request: str, names: Iterable[Mapping[str, Any]]
    ) -> None:
        """Name groups of the panel.

        Parameters
        ----------
        person : Person
            Who names them; the owner.
        request : str
            The id that the page has made for this.
        names : iterable of dict
            Each with "key", of a group of the panel, and "name"; no name: none.
        """
        if not person.owner:
            raise Refused("Only the owner names the groups.", 403)
        members = {
            group["key"]: group["members"]
            for group in self._training.panel.get("groups", ())
        }
        kept = []
        for each in names:
            if each["key"] not in members:
                raise Refused(
                    "The groups have changed meanwhile; look at them again.", 409
                )
            kept.append({"name": each["name"], "members": members[each["key"]]})
        await self._do(lambda clerk: clerk.name_groups(person, request, kept), person)

    async def for_files(self) -> tuple[int, list[dict[str, Any]]]:
        """Return what files that are made of the answers depend on.

        Returns
        -------
        number : int
            The number of the last event that changes them: an answer, one that was
            taken back, or names of groups.
        names : list of dict
            The names of the groups, each with the ids of members it was given for.
        """
        return await self._do(
            lambda clerk: (clerk.records.last_change, list(clerk.records.names)),
            log=False,
        )

    def n_answers(self, person: Person) -> int:
        """Return how many answers of a person stand."""
        return self._writer.people.get(person.name, 0)

    def people(self) -> list[str]:
        """Return who takes part, in order of their names."""
        return sorted(self._writer.people)

    async def _do(
        self,
        do: Callable[[Clerk], Result],
        person: Person | None = None,
        *,
        log: bool = True,
    ) -> Result:
        """Let the writer do something; return when it is on the disk.

        It is done for a person only if their link still holds at that moment, also if
        it was revoked after the request had been let in. Without `log` nothing but
        leases is written, and no other process waits for us.
        """

        def if_welcome(clerk: Clerk) -> Result:
            if person is not None:
                clerk.check_welcome(person)
            return do(clerk)

        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()

        def settle(result: Any, problem: BaseException | None) -> None:
            if done.cancelled():
                return
            if problem is None:
                done.set_result(result)
            else:
                done.set_exception(problem)

        self._writer.put(Command(if_welcome, settle, log=log))
        return await done

    def _deliver(self, results: list[Callable[[], None]]) -> None:
        """Hand results over to those who wait; called by the writer.

        All at once: to wake the loop takes longer than to do a command.
        """

        def settle_all() -> None:
            for settle in results:
                settle()

        with suppress(RuntimeError):  # nobody is left who waits
            if self._loop is not None:
                self._loop.call_soon_threadsafe(settle_all)

    def _changed(self) -> None:
        """Wake those who wait; called by other threads."""
        with suppress(RuntimeError):
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._arrival.set()
        self._arrival = asyncio.Event()
