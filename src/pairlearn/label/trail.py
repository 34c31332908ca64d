"""The trail: who did what, and when, in sentences.

Answers are not among it; they are the history. What is: everything else that people do
which somebody who is responsible for the answers would want to know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.label.store import Event

__all__ = ["Line", "Trail"]

# Names of groups that a sentence tells.
_MOST_NAMES = 6
# Whoever started the server and has not said a name, or works at the terminal.
_NOBODY = "The owner"


class Line(NamedTuple):
    """One thing that somebody did.

    Attributes
    ----------
    number : int
        The number of the event.
    at : str
        When, in UTC.
    who : str or None
        Who did it; None: the owner, before a name was said, or at the terminal.
    about : str or None
        Who else it is about.
    kind : str
        The kind of the event.
    text : str
        The sentence.
    """

    number: int
    at: str
    who: str | None
    about: str | None
    kind: str
    text: str


class Trail:
    """The lines so far.

    Attributes
    ----------
    lines : list of Line
        The oldest first.

    Examples
    --------
    >>> from pairlearn.label.store import Event
    >>> trail = Trail()
    >>> body = {"id": "k7", "name": "Bob", "role": "annotator"}
    >>> trail.apply(Event(1, "", "Ada", "invite", None, None, body))
    >>> trail.lines[0].text
    'Ada invited Bob as annotator.'
    """

    def __init__(self) -> None:
        self.lines: list[Line] = []
        # Who gave an answer, by the number of its event: to tell own ones from others'.
        self._whose: dict[int, str | None] = {}

    def apply(self, event: Event) -> None:
        """Take an event into account."""
        if event.kind in ("answer", "opinion"):
            self._whose[event.number] = event.who
            return
        about: str | None = None
        if event.kind == "undo":
            about = self._whose.get(int(event.body["of"]))
        elif event.kind == "comment":
            about = str(event.body.get("to", event.who or ""))
        elif event.kind in _ABOUT:
            about = str(event.body["name"])
        if event.kind in _OF_OTHERS and about in (None, event.who):
            return
        tell = _SENTENCES.get(event.kind)
        if tell is not None:
            text = tell(event, event.who or _NOBODY, about or "")
            line = Line(event.number, event.at, event.who, about, event.kind, text)
            self.lines.append(line)

    def page(
        self, before: int | None, limit: int, who: str | None = None
    ) -> tuple[list[Line], bool]:
        """Return lines, the newest first.

        Parameters
        ----------
        before : int or None
            Only lines before that with this number.
        limit : int
            How many at most.
        who : str, optional
            Only what this person did, or what was done about them.

        Returns
        -------
        lines : list of Line
            The lines.
        more : bool
            Whether there are earlier ones.
        """
        found: list[Line] = []
        for line in reversed(self.lines):
            if before is not None and line.number >= before:
                continue
            if who is not None and who not in (line.who, line.about):
                continue
            if len(found) == limit:
                return found, True
            found.append(line)
        return found, False

    def people(self) -> list[str]:
        """Return who is in the trail, in order of their names."""
        named = {name for line in self.lines for name in (line.who, line.about)}
        return sorted(name for name in named if name)


def _joined(event: Event, who: str, _: str) -> str:
    role = ", as owner" if event.body["owner"] else ""
    return f"{who} took part for the first time{role}."


def _named(event: Event, who: str, _: str) -> str:
    names = [str(each["name"]) for each in event.body["names"]]
    if not names:
        return f"{who} removed the names of the groups."
    shown = ", ".join(f"“{name}”" for name in names[:_MOST_NAMES])
    if len(names) > _MOST_NAMES:
        shown += f" and {len(names) - _MOST_NAMES} more"
    return f"{who} named the groups: {shown}."


def _commented(event: Event, who: str, about: str) -> str:
    what = "commented on" if event.body["text"] else "removed the comment on"
    return f"{who} {what} the answer of {about} to question {event.question}."


def _copied(event: Event, who: str, _: str) -> str:
    n, place = int(event.body["n_events"]), str(event.body["place"])
    if event.kind == "export":
        return f"{who} exported {n:,} events to {place}."
    return f"{who} imported {n:,} events from {place}."


# Those that tell whom they are about by the name; and those of interest only if that
# is somebody else.
_ABOUT = ("invite", "revoke", "link")
_OF_OTHERS = ("undo", "comment")
_SENTENCES: dict[str, Callable[[Event, str, str], str]] = {
    "join": _joined,
    "invite": lambda e, who, name: f"{who} invited {name} as {e.body['role']}.",
    "revoke": lambda _, who, name: f"{who} revoked the link of {name}.",
    "link": lambda _, who, name: f"{who} had the link of {name} shown again.",
    "new_links": lambda _, who, __: f"{who} made all links from before invalid.",
    "download": lambda e, who, _: f"{who} downloaded {e.body['what']}.",
    "name": _named,
    "comment": _commented,
    "undo": lambda e, who, name: (
        f"{who} changed the answer of {name} to question {e.question}."
    ),
    "freeze": lambda _, __, ___: "Learning was ended: the model is final.",
    "export": _copied,
    "import": _copied,
}
