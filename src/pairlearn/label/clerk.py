"""The clerk: does one thing after the other, on the disk and in memory.

Each method stands inside a transaction of the store, which begins with
:meth:`Clerk.follow` where other processes add to the log. Whoever calls them commits;
if that fails, :meth:`Clerk.begin_again` makes the memory anew from the disk.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pairlearn.files.answers_store import damaged
from pairlearn.label.invitations import InvitationEnded
from pairlearn.label.leases import Lease
from pairlearn.label.records import Records
from pairlearn.label.values import SAID, Asked, Item, Outcome, Refused, can_be_in_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pairlearn.label.store import Event, Store
    from pairlearn.label.values import Given, Person

__all__ = ["Clerk"]

# Letters of a comment, a name of a group, a name of a person and an id of a request.
_LONGEST_TEXT, _LONGEST_NAME, _LONGEST_ID = 10_000, 200, 100
# Most questions that a page may have at a time, and most groups that have names.
_MOST, _MOST_GROUPS = 50, 1000
# Seconds that a second opinion is kept for the person whom it was chosen for: who
# answers asks for questions far more often, and who does not is away.
_KEPT = 180.0


class Clerk:
    """Does what people and the back room want, one after the other.

    Parameters
    ----------
    store : Store
        Where everything is kept.
    clock : callable
        Returns the time in seconds since 1970.
    lease_seconds : float
        How long a question stays on a page that is not heard of.

    Attributes
    ----------
    records : Records
        What the events say.
    fresh : list of Event
        What was added since :meth:`take_news`, by us and by others.
    is_shut : bool
        Whether no question is given out for now.
    """

    def __init__(
        self, store: Store, clock: Callable[[], float], lease_seconds: float
    ) -> None:
        self.store, self._clock, self._seconds = store, clock, lease_seconds
        self.fresh: list[Event] = []
        self.is_shut = False
        self._taken, self._now = store.last, clock()
        self.begin_again()
        with store.transaction():
            self.follow()
            store.leases.tidy(self.records.open, self.records.open, clock())
            store.leases.shorten(clock() + lease_seconds)
        self.take_news()

    def begin_again(self) -> None:
        """Make all that is in memory from what is on the disk."""
        records, store = Records(), self.store
        self.fresh.clear()
        last = 0
        try:
            for event in store.events():
                records.apply(event)
                last = event.number
                if last > self._taken:
                    self.fresh.append(event)
        except (KeyError, TypeError, ValueError) as problem:
            raise damaged(store.where, problem) from None
        self.records, store.last = records, last

    def follow(self) -> list[Event]:
        """Take into account what other processes have added; return it."""
        found = []
        for event in self.store.follow():
            self.records.apply(event)
            found.append(event)
        self.fresh += found
        return found

    def take_news(self) -> list[Event]:
        """Return what was added since the last time, in order, by whomever."""
        news, self.fresh = self.fresh, []
        self._taken = self.store.last
        return news

    # What people do.

    def answer(self, person: Person, given: Given) -> Outcome:
        """Take down an answer, or say why not."""
        try:
            _check_request(given.request)
            if not self._has_said(person, given.request, given.question, given.said):
                self._meet(person)
                self._answer(person, given)
        except Refused as problem:
            return Outcome(given.request, "refused", str(problem))
        return Outcome(given.request, "saved")

    def _answer(self, person: Person, given: Given) -> None:
        number, who = given.question, person.name
        self._check_known(number)
        asked = self.records.questions[number]
        if given.rows is not None and tuple(sorted(given.rows)) != asked.pair:
            raise Refused(
                f"Question {number} is about other things here: the file of answers "
                "was put back to an older copy. Your answer was not kept.",
                409,
            )
        _check_said(given.said)
        comment = _checked_text(given.comment or "")
        own = self.records.own(who, number)
        if own is not None:
            if own.said == given.said:
                return  # from a second window that showed the same question
            raise Refused(
                f"You have answered this question before, with "
                f'"{SAID[own.said or 0]}", and now with "{SAID[given.said]}". The '
                "first one stands; you can change it in the history.",
                409,
            )
        # Somebody else was quicker, after our lease had run out; or the question was
        # taken back. What was said is kept all the same.
        kind = "answer" if number in self.records.open else "opinion"
        body = {"said": int(given.said), "seconds": _checked_seconds(given.seconds)}
        request = given.request
        self._add(kind, body, who, number, f"{request}/1" if comment else request)
        if comment:
            self._add("comment", {"text": comment, "to": who}, who, number, request)
        self.store.leases.end(number, who, self._clock())

    def hand(
        self, person: Person, page: str, have: Iterable[int], want: int
    ) -> list[Asked]:
        """Return questions that a page may show beside those that it has.

        Parameters
        ----------
        person : Person
            Who asks.
        page : str
            The id of the page.
        have : iterable of int
            Questions that the page has.
        want : int
            How many it wants to have, those among them.

        Returns
        -------
        list of Asked
        """
        _check_page(page)
        if self.is_shut:
            return []
        self._meet(person)
        lease, leases = self._lease(person, page), self.store.leases
        now, who = self._now, person.name
        want = min(want, _MOST)
        held = list(dict.fromkeys(have))[:_MOST]
        mine = leases.of_page(who, page, now)
        # What was answered by the same person elsewhere is not shown once more.
        known = {n: until for n, until in mine.items() if self._may_wait(n, who)}
        lost = [n for n in held if n not in known and self._suits(n, who)]
        leases.take_back(lost, lease)
        # Those on the page stay there, as long as somebody looks at it.
        half = now + self._seconds / 2
        leases.extend([n for n, until in known.items() if until <= half], lease)
        found = [n for n in known if n not in held]
        missing = max(0, want - len(held))
        found += self._take_kept(missing - len(found), lease)
        found += leases.take(
            missing - len(found), lease, lambda number: self._suits(number, who)
        )
        return [self.records.asked(number) for number in found[:missing]]

    def _take_kept(self, most: int, lease: Lease) -> list[int]:
        """Put second opinions on a page that were chosen for its person."""
        who = lease.who
        numbers = [n for n in self.records.chosen_for(who) if self._suits(n, who)]
        if most <= 0 or not numbers:
            return []
        return self.store.leases.take_kept(numbers[:most], lease)

    def _lease(self, person: Person, page: str, number: int = -1) -> Lease:
        """Return a lease from now on."""
        now = self._clock()
        if now < self._now:  # the clock was put back
            self.store.leases.shorten(now + self._seconds)
        self._now = now
        is_open = number in self.records.open
        return Lease(number, person.name, page, now + self._seconds, now, is_open)

    def _may_wait(self, number: int, who: str) -> bool:
        """Tell whether a question may be on a person's page, though it is answered."""
        known = number in self.records.questions
        return known and self.records.own(who, number) is None

    def _suits(self, number: int, who: str) -> bool:
        """Tell whether a question is open, and about a pair that is new to a person."""
        records = self.records
        return number in records.open and not records.has_answered(who, number)

    def n_suitable(self, who: str | None) -> int:
        """Return how many questions could be given to a person, or somewhat less."""
        leases, now = self.store.leases, self._clock()
        n_free = leases.n_free(now)
        if who is None:
            return n_free
        if self.records.chosen_for(who):
            n_free += leases.n_kept(who, now)
        return n_free - self.records.n_unsuitable(who)

    def undo(
        self, person: Person, page: str, request: str, question: int | None
    ) -> tuple[Asked, int]:
        """Take an answer of a person back; the question is on the page again."""
        _check_request(request)
        _check_page(page)
        who = person.name
        done = self._has_done(person, request, question, ("undo",))
        if done is not None and done.question is not None:
            return self.records.asked(done.question), int(done.body["said"])
        if question is None:
            item = self.records.newest(who)
            if item is None:
                raise Refused("There is no answer of yours to take back.", 409)
        else:
            self._check_known(question)
            found = self.records.own(who, question)
            if found is None:
                raise Refused(
                    "You have no answer to this question that could be taken back.", 409
                )
            item = found
        self._meet(person)
        self._take_back(item, who, request)
        self.store.leases.put(self._lease(person, page, item.question))
        return self.records.asked(item.question), item.said or 0

    def edit(self, person: Person, request: str, question: int, said: int) -> None:
        """Change an answer: one's own, or for the owner anybody's."""
        _check_request(request)
        self._check_known(question)
        _check_said(said)
        if self._has_said(person, request, question, said):
            return
        item = self._editable(person, question)
        is_first = self.records.first.get(question) == item.number
        self._meet(person)
        self._take_back(item, person.name, f"{request}/1")
        kind = "answer" if is_first else "opinion"
        body = {"said": int(said), "seconds": None}
        self._add(kind, body, person.name, question, request)
        if item.comment and item.who != person.name:
            moved = {"text": item.comment, "to": person.name}
            self._add("comment", moved, person.name, question, None)

    def _editable(self, person: Person, question: int) -> Item:
        item = self.records.own(person.name, question)
        if item is None and person.owner:
            item = self.records.item(question)
        if item is None or item.said is None:
            raise Refused("You have no answer to this question.", 409)
        return item

    def comment(self, person: Person, request: str, question: int, text: str) -> None:
        """Comment on an answer: one's own, or for the owner anybody's."""
        _check_request(request)
        self._check_known(question)
        text = _checked_text(text)
        if self._has_done(person, request, question, ("comment",)):
            return
        item = self._editable(person, question)
        self._meet(person)
        body = {"text": text, "to": item.who}
        self._add("comment", body, person.name, question, request)

    def name_groups(
        self, person: Person, request: str, names: list[dict[str, Any]]
    ) -> None:
        """Keep the names of groups, each with the ids of points it was given for."""
        _check_request(request)
        if self._has_done(person, request, None, ("name",)):
            return
        if len(names) > _MOST_GROUPS:
            raise Refused(f"At most {_MOST_GROUPS} groups can have names.")
        kept = []
        for each in names:
            name = str(each["name"]).strip()
            if name:
                _check_word(name, "name of a group", _LONGEST_NAME)
                kept.append({"name": name, "members": list(each["members"])})
        twice = {one["name"] for one in kept}
        if len(twice) < len(kept):
            raise Refused("Two groups have the same name; give each one of its own.")
        self._meet(person)
        self._add("name", {"names": kept}, person.name, None, request)

    def item(self, person: Person, question: int) -> Item:
        """Return what was said to a question: by the person, or for the owner."""
        self._check_known(question)
        own = self.records.own(person.name, question)
        if own is not None:
            return own
        found = self.records.item(question)
        if person.owner:
            return found
        # What is on nobody's page, or on another one, is not theirs to look at.
        if self.store.leases.has(person.name, question, self._clock()):
            asked = self.records.asked(question)
            return Item(0, question, asked.left, asked.right, None, None, None)
        raise Refused("This question is not on your page.", 403)

    def may_see(self, person: Person, row: int) -> bool:
        """Tell whether a point is one that a person is asked about, or was."""
        if person.owner or self.records.has_judged(person.name, row):
            return True
        numbers = self.store.leases.of_person(person.name)
        asked = (self.records.questions.get(number) for number in numbers)
        return any(each is not None and row in each.pair for each in asked)

    # What is noted about people and links.

    def check_welcome(self, person: Person) -> None:
        """Refuse somebody whose invitation has been revoked."""
        if person.owner and person.invitation is None:
            return
        found = self.records.invitations.of(person.name, person.invitation)
        if found is None or not found.stands:
            raise InvitationEnded

    def note(
        self, who: str | None, kind: str, body: dict[str, Any], request: str | None
    ) -> Event:
        """Take down what somebody did, once per id of a request.

        Parameters
        ----------
        who : str or None
            Who did it.
        kind, body
            As for :class:`~pairlearn.label.store.Event`.
        request : str or None
            The id that the page gave to it.

        Returns
        -------
        Event
        """
        if request is not None:
            _check_request(request)
            done = self.store.event_of(request)
            if done is not None:
                if (done.who, done.kind) != (who, kind):
                    raise _used_before()
                return done
        if kind == "revoke":
            self.store.leases.keep_no_longer(str(body["name"]))
        return self._add(kind, body, who, None, request)

    # What the back room does.

    def ask(self, number: int, body: dict[str, Any]) -> None:
        """Keep a question that was chosen."""
        if number in self.records.questions:
            return
        self._add("ask", body, None, number, None)
        keep_for = str(body.get("for") or "")
        until = self._clock() + _KEPT if keep_for else 0.0
        self.store.leases.add(number, keep_for, until)

    def learned(self, body: dict[str, Any]) -> None:
        """Keep that a model was learned."""
        self._add("learn", body, None, None, None)

    def withdraw(self, most: int) -> None:
        """Take questions back that are too many, and have never been on a page.

        A later model chooses better ones. Audits stay: they do not get old.
        """
        questions = self.records.questions
        unseen = [
            number
            for number in self.store.leases.unseen()
            if number in questions and questions[number].purpose == "learn"
        ]
        for number in self.store.leases.withdraw(unseen[most:]):
            self._add("withdraw", {}, None, number, None)

    # Helpers.

    def _add(
        self,
        kind: str,
        body: dict[str, Any],
        who: str | None,
        question: int | None,
        request: str | None,
    ) -> Event:
        event = self.store.append(
            kind, body, who=who, question=question, request=request
        )
        self.records.apply(event)
        self.fresh.append(event)
        return event

    def _take_back(self, item: Item, who: str, request: str) -> None:
        body = {"of": item.number, "said": item.said}
        self._add("undo", body, who, item.question, request)

    def _meet(self, person: Person) -> None:
        """Note who takes part, the first time."""
        name = person.name
        if self.records.has_joined(person):
            return
        _check_word(name, "name", _LONGEST_NAME)
        body = {"owner": person.owner, "invitation": person.invitation}
        self._add("join", body, name, None, None)

    def _has_done(
        self,
        person: Person,
        request: str,
        question: int | None,
        kinds: tuple[str, ...],
    ) -> Event | None:
        """Return what was done for this id before; refuse an id of something else."""
        event = self.store.event_of(request)
        if event is None:
            return None
        same = event.who == person.name and event.kind in kinds
        if not same or question not in (None, event.question):
            raise _used_before()
        return event

    def _has_said(self, person: Person, request: str, question: int, said: int) -> bool:
        """Tell whether an id was used for this answer; refuse one of another answer."""
        event = self._has_done(person, request, question, _ANSWERS)
        if event is None:
            return False
        # With a comment, the answer itself is the first of two events.
        comment = event.kind == "comment"
        answer = self.store.event_of(f"{request}/1") if comment else event
        if answer is None or answer.body["said"] != said:
            raise _used_before()
        return True

    def _check_known(self, number: int) -> None:
        if number not in self.records.questions:
            raise Refused(f"There is no question {number}.", 404)


_ANSWERS = ("answer", "opinion", "comment")


def _used_before() -> Refused:
    return Refused(
        "The id of this request was used for something else before; load the page "
        "again.",
        409,
    )


def _check_said(said: Any) -> None:
    if said not in SAID or isinstance(said, bool):
        raise Refused("An answer is same, different or unsure.")


def _check_request(request: str) -> None:
    _check_word(request, "id of a request", _LONGEST_ID)
    # Of two events of one request, the first has the id with "/1" behind it.
    if "/" in request:
        raise Refused("The id of a request has no slash.")


def _check_page(page: str) -> None:
    _check_word(page, "id of a page", _LONGEST_ID)


def _check_word(word: str, what: str, most: int) -> None:
    if not 0 < len(word.strip()) <= len(word) <= most:
        raise Refused(f"The {what} has 1 to {most} letters.")
    if not all(map(can_be_in_names, word)):
        raise Refused(f"The {what} has letters that cannot be shown.")


def _checked_text(text: str) -> str:
    if len(text) > _LONGEST_TEXT:
        raise Refused(f"A comment has at most {_LONGEST_TEXT:,} letters.")
    # A half of a pair of surrogates cannot be written as UTF-8, and PostgreSQL does not
    # know the letter of number 0.
    return text.replace("\0", "").strip().encode("utf-8", "replace").decode()


def _checked_seconds(seconds: float | None) -> float | None:
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        return None
    return round(float(seconds), 3)
