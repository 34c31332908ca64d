"""What the events say: who has answered what, what stands, and what is open.

Nothing is here that the log does not say, so that it can be made again from the log at
any time: when the program starts, and when something could not be written.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pairlearn.label.invitations import Invitations
from pairlearn.label.trail import Trail
from pairlearn.label.values import SAID, Asked, History, Item, Person

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pairlearn.label.store import Event

__all__ = ["Question", "Records"]


class Question(NamedTuple):
    """What was asked.

    Attributes
    ----------
    left, right : int
        Row numbers of the points.
    left_id, right_id : str
        Their ids.
    purpose : str
        "learn" or "audit".
    chosen_for : str
        Whose second opinion is asked for; empty: anybody may answer.
    """

    left: int
    right: int
    left_id: str
    right_id: str
    purpose: str
    chosen_for: str = ""

    @property
    def pair(self) -> tuple[int, int]:
        """The two points, the smaller row number first."""
        return min(self.left, self.right), max(self.left, self.right)


class Records:
    """What the events so far amount to.

    Attributes
    ----------
    questions : dict
        All questions, by number.
    open : dict
        Numbers of questions that nobody has answered, in order.
    withdrawn : set of int
        Questions that were taken back.
    items : dict
        The answers that stand, by the number of their event, the oldest first.
    first : dict
        For each question, the event of the answer that the interview knows.
    people : dict
        Persons by name.
    names : list of dict
        The names of the groups, each with the ids it was given for.
    counts : Counter
        How many answers of each kind stand.
    last_change : int
        The number of the last event that changes answers or names.
    invitations : Invitations
        Who has which link.
    trail : Trail
        Who did what.
    last_seen : dict
        When each person did something for the last time.

    Examples
    --------
    >>> from pairlearn.label.store import Event
    >>> records = Records()
    >>> body = {"left": 4, "right": 2, "left_id": "p4", "right_id": "p2"}
    >>> body["purpose"] = "learn"
    >>> records.apply(Event(1, "", None, "ask", 0, None, body))
    >>> records.apply(Event(2, "", "Ada", "answer", 0, None, {"said": 1}))
    >>> records.has_answered("Ada", 0), list(records.open)
    (True, [])
    """

    def __init__(self) -> None:
        self.questions: dict[int, Question] = {}
        self.open: dict[int, None] = {}
        self.withdrawn: set[int] = set()
        self.items: dict[int, Item] = {}
        self.first: dict[int, int] = {}
        self.people: dict[str, Person] = {}
        self.names: list[dict[str, Any]] = []
        self.counts: Counter[int] = Counter()
        self.last_change = 0
        self.invitations = Invitations()
        self.trail = Trail()
        self.last_seen: dict[str, str] = {}
        self._joined: set[tuple[str, bool, str | None]] = set()
        self._rows: dict[str, set[int]] = {}
        self._of_person: dict[str, dict[int, int]] = {}
        self._pairs: dict[str, Counter[tuple[int, int]]] = {}
        self._comments: dict[tuple[int, str], str] = {}
        self._taken_back: set[int] = set()
        # Open questions about pairs that somebody may have answered before: asked in
        # another question, too, or taken back.
        self._repeated: set[int] = set()
        self._first_about: dict[tuple[int, int], int] = {}
        # Open questions that were chosen for somebody.
        self._chosen_for: dict[str, dict[int, None]] = {}

    @classmethod
    def read(cls, events: Iterable[Event]) -> Records:
        """Return the records of such events."""
        records = cls()
        for event in events:
            records.apply(event)
        return records

    def apply(self, event: Event) -> None:
        """Take an event into account."""
        do = _KINDS.get(event.kind)
        if do is not None:
            do(self, event)
        if event.kind in _CHANGES:
            self.last_change = event.number
        self.invitations = self.invitations.after(event)
        self.trail.apply(event)
        if event.who is not None:
            self.last_seen[event.who] = event.at

    def asked(self, number: int) -> Asked:
        """Return a question as it is shown."""
        question = self.questions[number]
        return Asked(number, question.left, question.right)

    def has_answered(self, who: str, number: int) -> bool:
        """Tell whether a person has answered the pair of a question."""
        pairs = self._pairs.get(who)
        return pairs is not None and pairs[self.questions[number].pair] > 0

    def n_unsuitable(self, who: str) -> int:
        """Return how many open questions a person has answered the pair of."""
        return sum(self.has_answered(who, number) for number in self._repeated)

    def chosen_for(self, who: str) -> list[int]:
        """Return the open questions that were chosen for a person, in order."""
        return list(self._chosen_for.get(who, ()))

    def has_judged(self, who: str, row: int) -> bool:
        """Tell whether a person has ever answered about a point."""
        return row in self._rows.get(who, ())

    def own(self, who: str, number: int) -> Item | None:
        """Return what a person said to a question, if it stands."""
        event = self._of_person.get(who, {}).get(number)
        return None if event is None else self.items[event]

    def newest(self, who: str) -> Item | None:
        """Return the last answer of a person that stands."""
        own = self._of_person.get(who)
        return self.items[own[next(reversed(own))]] if own else None

    def n_answers(self, who: str) -> int:
        """Return how many answers of a person stand."""
        return len(self._of_person.get(who, ()))

    def item(self, number: int, who: str | None = None) -> Item:
        """Return the answer to a question: that of a person, or the first one."""
        event = self._of_person.get(who or "", {}).get(number, self.first.get(number))
        if event is not None:
            return self.items[event]
        asked = self.questions[number]
        return Item(0, number, asked.left, asked.right, None, None, None)

    def _ask(self, event: Event) -> None:
        number, body = _number(event), event.body
        self.questions[number] = Question(
            int(body["left"]),
            int(body["right"]),
            str(body["left_id"]),
            str(body["right_id"]),
            str(body["purpose"]),
            str(body.get("for") or ""),
        )
        self._open(number)
        first = self._first_about.setdefault(self.questions[number].pair, number)
        if first != number:
            self._repeated |= {number, first} & self.open.keys()

    def _answer(self, event: Event) -> None:
        number, said, who = _number(event), int(event.body["said"]), event.who or ""
        question = self.questions[number]
        if event.kind == "answer":
            self._close(number)
            self.first[number] = event.number
        self.items[event.number] = Item(
            event.number,
            number,
            question.left,
            question.right,
            said,
            who,
            event.at,
            self._comments.get((number, who)),
            number in self._taken_back,
        )
        self.counts[said] += 1
        self._rows.setdefault(who, set()).update(question.pair)
        self._of_person.setdefault(who, {})[number] = event.number
        self._pairs.setdefault(who, Counter())[question.pair] += 1

    def _undo(self, event: Event) -> None:
        number = _number(event)
        item = self.items.pop(int(event.body["of"]))
        who = item.who or ""
        if self.first.get(number) == item.number:
            del self.first[number]
            self._open(number)
            self._repeated.add(number)
        self.counts[item.said or 0] -= 1
        del self._of_person[who][number]
        self._pairs[who][self.questions[number].pair] -= 1
        self._taken_back.add(number)

    def _withdraw(self, event: Event) -> None:
        number = _number(event)
        self._close(number)
        self.withdrawn.add(number)

    def _open(self, number: int) -> None:
        self.open[number] = None
        who = self.questions[number].chosen_for
        if who:
            self._chosen_for.setdefault(who, {})[number] = None

    def _close(self, number: int) -> None:
        self.open.pop(number, None)
        self._repeated.discard(number)
        if number in self.questions:
            who = self.questions[number].chosen_for
            self._chosen_for.get(who, {}).pop(number, None)

    def _comment(self, event: Event) -> None:
        number, who = _number(event), str(event.body.get("to", event.who or ""))
        text = str(event.body["text"])
        self._comments[number, who] = text
        item = self.own(who, number)
        if item is not None:
            self.items[item.number] = replace(item, comment=text or None)

    def _name(self, event: Event) -> None:
        self.names = list(event.body["names"])

    def _join(self, event: Event) -> None:
        who = event.who or ""
        owner, invitation = bool(event.body["owner"]), event.body.get("invitation")
        self.people[who] = Person(who, owner)
        self._joined.add((who, owner, invitation))

    def has_joined(self, person: Person) -> bool:
        """Tell whether a person has taken part before, by the same link."""
        return (person.name, person.owner, person.invitation) in self._joined

    def search(
        self,
        items: list[Item],
        words: str,
        before: int | None,
        limit: int,
        text: Callable[[int], str] | None = None,
    ) -> History:
        """Return answers that hold all words, the newest first.

        Parameters
        ----------
        items : list of Item
            Answers, the oldest first.
        words : str
            What to look for: in ids, comments, names of persons, in "same",
            "different" and "unsure", and in the points.
        before : int or None
            Only answers before that with this number.
        limit : int
            How many at most.
        text : callable, optional
            Returns the text of a point, by its row number.

        Returns
        -------
        History
        """
        wanted = words.casefold().split()
        found: list[Item] = []
        for item in reversed(items):
            if before is not None and item.number >= before:
                continue
            if wanted and not self._holds(item, wanted, text):
                continue
            if len(found) == limit:
                return History(found, more=True)
            found.append(item)
        return History(found, more=False)

    def _holds(
        self, item: Item, wanted: list[str], text: Callable[[int], str] | None
    ) -> bool:
        question = self.questions[item.question]
        parts = [question.left_id, question.right_id, item.who or ""]
        parts += [SAID[item.said or 0], item.comment or ""]
        here = "\n".join(parts).casefold()
        missing = [word for word in wanted if word not in here]
        if missing and text is not None:
            there = f"{text(item.left)}\n{text(item.right)}".casefold()
            missing = [word for word in missing if word not in there]
        return not missing


def _number(event: Event) -> int:
    if event.question is None:
        raise ValueError(f"event {event.number} is about no question")
    return event.question


_CHANGES = ("answer", "opinion", "undo", "name")
_KINDS: dict[str, Callable[[Records, Event], None]] = {
    "ask": Records._ask,
    "answer": Records._answer,
    "opinion": Records._answer,
    "undo": Records._undo,
    "withdraw": Records._withdraw,
    "comment": Records._comment,
    "name": Records._name,
    "join": Records._join,
}
