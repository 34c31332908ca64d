"""Homework: what a model learns from, put together so that it can be done aside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pairlearn.ask.judging import groups_of

if TYPE_CHECKING:
    from pairlearn.ask.lessons import Lesson, Teacher
    from pairlearn.data.types import Floats, Ints

__all__ = ["Homework"]


@dataclass(frozen=True, eq=False)
class Homework:
    """What one version of the model learns from.

    Made by :meth:`~pairlearn.ask.Interview.begin_lesson`. It holds copies of what was
    answered, so that nothing that happens to the interview changes it.

    Attributes
    ----------
    answers : dict
        The answers, by the number of the question.
    on_time : bool
        Whether the number of answers says that it is time, and not a wish.
    upto : int
        How many lines of the ledger were known when it began.
    again : bool
        Whether it makes the last version once more.
    teacher : Teacher
        Who teaches. It is used by the interview at the same time, and keeps nothing
        from lesson to lesson.
    index, said : ndarray
        The pairs, and what was said of them.
    who : list of str or None
        Who said it.
    more : tuple
        The same of opinions: further answers to questions that have one.
    audited : ndarray of int
        Row numbers of the points of the audits so far. The model does not learn from
        them; what it says of them is computed along with it.
    """

    answers: dict[int, int]
    on_time: bool
    upto: int
    again: bool
    teacher: Teacher
    index: Ints
    said: Floats
    who: list[str | None]
    more: tuple[Ints, Floats, list[str | None]]
    audited: Ints

    def learn(self) -> Lesson:
        """Learn: seconds of work, in any thread.

        Returns
        -------
        Lesson
            For :meth:`~pairlearn.ask.Interview.take_lesson`.
        """
        lesson = self.teacher.teach(self.index, self.said, self.who, self.more)
        groups = groups_of(lesson.model, self.teacher.X, self.audited)
        return replace(lesson, groups=groups)
