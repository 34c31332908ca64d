"""What goes on in the back room: one thread owns the interview, others compute.

The main thread takes messages in order: what people have answered, how many questions
are wanted, a model or a panel that is ready. Learning, and computing the panel, happen
in threads of their own with what does not change meanwhile, so that choosing never
waits for them.
"""

from __future__ import annotations

import os
import threading
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairlearn.ask.interview import Interview
from pairlearn.ask.question import AUDIT, IN_DOUBT
from pairlearn.ask.state import mark_of_points
from pairlearn.ask.tables import begin_interview, encode, noise_to_learn_with
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.points import read_points
from pairlearn.label.ledger_lines import LedgerLines
from pairlearn.label.panel import Panel, no_panel
from pairlearn.label.same_points import mark_of_ids, other_points
from pairlearn.label.settings import OVERLAP
from pairlearn.label.store import read_events
from pairlearn.system.aside import work_aside
from pairlearn.system.memory import give_back_memory

if TYPE_CHECKING:
    import queue
    from collections.abc import Callable

    from pairlearn.ask.question import Question

__all__ = ["Interviewer"]

# Seconds between two panels at least, and how many times as long as one takes.
_PAUSE, _SHARE = 1.0, 10.0
# More questions than this at once are drawn rather than weighed one by one.
_HURRY = 40


class Interviewer:
    """Chooses questions, learns, and says how it goes.

    Parameters
    ----------
    task : dict
        "store", "points": where answers and points are; "settings": how to ask; "mark":
        what the points were when the store was begun, or None; "upto": the event up to
        which the store is to be read; "hook": for tests, see
        :class:`~pairlearn.label.writer.Writer`.
    send : callable
        Sends a message to the front.
    inbox : queue
        Messages to take.

    Raises
    ------
    ValueError
        If it cannot be done with these points, with the way out.
    """

    def __init__(
        self,
        task: dict[str, Any],
        send: Callable[[tuple[Any, ...]], None],
        inbox: queue.SimpleQueue[tuple[Any, ...]],
    ) -> None:
        self._send, self._inbox = send, inbox
        settings, path = task["settings"], Path(task["points"])
        points = read_points(
            path,
            settings["id"],
            first_row=settings["first_row"],
            delimiter=settings.get("delimiter"),
            embed=settings.get("embed"),
        )
        if len(points) < 2:
            raise TableError(f"{path.name} holds one point; a question needs two")
        self._ids = [str(each) for each in points.ids]
        X = encode(points)
        mark = _mark(X, self._ids)
        store = task["store"]
        if task["mark"] not in (None, mark):
            raise TableError(other_points(path.name, store))
        estimator = _called(task["hook"])
        interview = begin_interview(
            X,
            self._ids,
            path.name,
            n_classes=settings["kinds"],
            audits=settings["audits"],
            strategy=settings["strategy"],
            noise=noise_to_learn_with(_pair(settings["noise"]), settings["kinds"]),
            confidence=settings["confidence"],
            random_state=settings["seed"],
            estimator=estimator,
            overlap=OVERLAP,
        )
        self._lines = LedgerLines()
        self._names: list[dict[str, Any]] = []
        lines = self._read(store, task["upto"])
        if lines:
            state = interview.state() | {"events": lines}
            interview = Interview.from_state(
                X, state, names=self._ids, estimator=estimator, learn=False
            )
        self._interview = interview
        self._seen: int = task["upto"]
        self._lesson: Any = None
        self._candidates: Any = None
        self._learning: int | None = None
        self._refused_at: int | None = None
        self._panel = Panel(points, self._ids)
        self._panel_due = self._paneling = False
        self._next_panel = 0.0
        # What the tables took.
        del points, X
        give_back_memory()
        send(("ready", mark))

    def _read(self, store: str, upto: int) -> list[list[Any]]:
        """Return the lines of the store, up to an event."""
        found = []
        for event in read_events(store, upto):
            line = self._line(
                event.number, event.kind, event.question, event.who, event.body
            )
            if line is not None:
                found.append(line)
        return found

    def _line(self, *event: Any) -> list[Any] | None:
        if event[1] == "name":
            self._names = event[-1]["names"]
        return self._lines.line(*event)

    def run(self) -> None:
        """Take messages until the front ends us."""
        homework = self._interview.last_lesson()
        if homework is not None:
            self._learn(homework)
        elif not self._interview.ledger.learned:
            self._send(("panel", no_panel(self._interview)))
        while True:
            what, *values = self._inbox.get()
            if what == "end":
                return
            getattr(self, f"_on_{what}")(*values)
            self._look()

    def _on_events(self, events: list[tuple[Any, ...]]) -> None:
        """Let the interview know what people did."""
        interview = self._interview
        for event in events:
            line = self._line(*event)
            self._seen = event[0]
            if event[1] == "name":
                self._panel_due = True
            if line is None:
                continue
            what, number, *values = line
            if what == "answer":
                interview.answer(number, *values)
                audit = interview.ledger.questions[number].purpose == AUDIT
                self._panel_due |= audit
            elif what in ("opinion", "unsay"):
                getattr(interview, what)(number, *values)
            else:
                getattr(interview, what)(number)
                self._panel_due = True

    def _on_choose(self, n: int, who: str | None) -> None:
        """Choose questions."""
        hurry = n > _HURRY
        found = self._interview.next_questions(n, who, learn=False, hurry=hurry)
        asked = [(question.number, self._body(question, who)) for question in found]
        self._send(("asked", asked, len(found) < n))

    def _body(self, question: Question, who: str | None) -> dict[str, Any]:
        body = {
            "left": question.left,
            "right": question.right,
            "left_id": self._ids[question.left],
            "right_id": self._ids[question.right],
            "purpose": question.purpose,
            "target": question.target,
            "why": question.why,
        }
        knows_people = self._interview.people() is not None
        if who is not None and knows_people and question.why == IN_DOUBT:
            # Of all who are there, this one is most likely to be right.
            body["for"] = who
        return body

    def _look(self) -> None:
        """Begin what is due, a panel or a lesson: one at a time, as it takes memory."""
        if self._paneling or self._learning is not None:
            return
        if self._panel_due and time.monotonic() >= self._next_panel:
            self._begin_panel()
        elif self._refused_at != self._seen:
            homework = self._interview.begin_lesson()
            if homework is not None:
                self._learn(homework)

    def _learn(self, homework: Any) -> None:
        self._learning = seen = self._seen
        self._send(("learning", True))

        def work() -> None:
            try:
                lesson = work_aside(homework.learn, _n_threads())
            except ValueError as problem:
                self._inbox.put(("unlearned", str(problem)))
            except BaseException:  # the main thread ends the process
                self._inbox.put(("broke", traceback.format_exc()))
            else:
                self._inbox.put(("lesson", homework, lesson, seen))

        threading.Thread(target=work, name="lesson", daemon=True).start()

    def _on_lesson(self, homework: Any, lesson: Any, seen: int) -> None:
        """Take a model that is ready."""
        ledger = self._interview.ledger
        n_before = len(ledger.learned)
        self._interview.take_lesson(homework, lesson)
        self._lesson, self._learning = lesson, None
        self._candidates = homework.teacher.candidates
        if len(ledger.learned) > n_before:
            last = ledger.learned[-1]
            body = {
                "expected_error": last.expected_error,
                "n_audits": last.n_audits,
                "n_wrong": last.n_wrong,
                "on_time": last.on_time,
                "upto": seen,
            }
            self._send(("learned", body))
        self._panel_due = True
        give_back_memory()
        self._send(("learning", False))

    def _on_unlearned(self, _: str) -> None:
        """Go on without a new model, until there are other answers."""
        self._learning, self._refused_at = None, self._seen
        self._send(("learning", False))

    def _on_broke(self, text: str) -> None:
        """End the process: the front begins again with another one."""
        raise RuntimeError(f"something went wrong in the back room\n{text}")

    def _begin_panel(self) -> None:
        self._panel_due, self._paneling = False, True
        if self._lesson is None:
            self._inbox.put(("panel", no_panel(self._interview)))
            return
        compute = self._panel.begin(
            self._interview, self._lesson, self._candidates, self._names
        )

        def work() -> None:
            try:
                self._inbox.put(("panel", work_aside(compute, _n_threads())))
            except BaseException:  # the main thread ends the process
                self._inbox.put(("broke", traceback.format_exc()))

        threading.Thread(target=work, name="panel", daemon=True).start()

    def _on_panel(self, panel: dict[str, Any]) -> None:
        """Show a panel that is ready, and look again if more has happened since."""
        self._send(("panel", panel))
        self._paneling = False
        self._panel.told = panel["version"], panel["columns"]
        pause = max(_PAUSE, _SHARE * panel["seconds"])
        self._next_panel = time.monotonic() + pause
        # Somebody has to look then, though nobody may have said anything.
        clock = threading.Timer(pause, self._inbox.put, [("look",)])
        clock.daemon = True
        clock.start()

    def _on_look(self) -> None:
        """Look what is due, which follows every message."""


def _n_threads() -> int:
    """Return how many threads may compute: one core is for those who answer."""
    return max(1, (os.cpu_count() or 1) - 1)


def _mark(X: Any, ids: list[str]) -> str:
    return f"{mark_of_points(X)}, {mark_of_ids(ids)}"


def _pair(noise: Any) -> Any:
    return tuple(noise) if isinstance(noise, list) else noise


def _called(hook: str | None) -> Any:
    """Return what a function of a test returns."""
    if hook is None:
        return None
    module, _, name = hook.partition(":")
    return getattr(import_module(module), name)()
