"""Events of the store as lines of an interview's ledger."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

__all__ = ["LedgerLines"]


class LedgerLines:
    """Turns events into lines, one after the other.

    The interview knows one answer to each question, and opinions of others. Comments
    and names are not for it.

    Examples
    --------
    >>> lines = LedgerLines()
    >>> asked = {"left": 4, "right": 2, "purpose": "learn", "target": 2, "why": ""}
    >>> lines.line(1, "ask", 0, None, asked)
    ['ask', 0, 4, 2, 'learn', 2]
    >>> lines.line(2, "join", None, "Ada", {})
    >>> lines.line(3, "answer", 0, "Ada", {"said": -1})
    ['answer', 0, -1, 'Ada']
    >>> learned = {"expected_error": 0.1, "n_audits": 0, "n_wrong": 0, "on_time": True}
    >>> lines.line(4, "learn", None, None, learned | {"upto": 2})
    ['learn', 0.1, 0, 0, True, 1]
    >>> lines.line(5, "opinion", 0, "Bob", {"said": 1})
    ['opinion', 0, 1, 'Bob']
    >>> lines.line(6, "undo", 0, "Bob", {"of": 5})
    ['unsay', 0, 'Bob']
    """

    def __init__(self) -> None:
        # The event of each line, and of the answer to each question.
        self._events: list[int] = []
        self._answers: dict[int, int] = {}
        # Opinions that stand: question and person, by their event.
        self._opinions: dict[int, tuple[int, str]] = {}

    def line(
        self,
        number: int,
        kind: str,
        question: int | None,
        who: str | None,
        body: dict[str, Any],
    ) -> list[Any] | None:
        """Return the line of an event, or None if the interview need not know of it.

        Parameters
        ----------
        number, kind, question, who, body
            As of :class:`~pairlearn.label.store.Event`.

        Returns
        -------
        list or None
        """
        found = self._line(number, kind, question, who, body)
        if found is not None:
            self._events.append(number)
        return found

    def _line(
        self,
        number: int,
        kind: str,
        question: int | None,
        who: str | None,
        body: dict[str, Any],
    ) -> list[Any] | None:
        if kind == "learn":
            upto = bisect_right(self._events, int(body["upto"]))
            names = ("expected_error", "n_audits", "n_wrong", "on_time")
            return ["learn", *(body[name] for name in names), upto]
        if kind == "freeze":
            return ["freeze", body["n_audits"], body.get("plan")]
        if question is None:
            return None
        if kind == "ask":
            names = ("left", "right", "purpose", "target")
            why = [body["why"]] if body.get("why") else []
            return ["ask", question, *(body[name] for name in names), *why]
        if kind == "answer":
            self._answers[question] = number
            return ["answer", question, int(body["said"]), who]
        if kind == "undo" and self._answers.get(question) == body["of"]:
            del self._answers[question]
            return ["undo", question]
        if kind == "opinion" and who and (question, who) not in self._opinions.values():
            self._opinions[number] = question, who
            return ["opinion", question, int(body["said"]), who]
        if kind == "undo" and body["of"] in self._opinions:
            return ["unsay", *self._opinions.pop(body["of"])]
        return ["withdraw", question] if kind == "withdraw" else None
