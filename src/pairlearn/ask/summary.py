"""What a ledger is asked for all the time, kept up to date as its lines come.

Nothing here is stored: reading the lines of a ledger again makes the same summary. So
no question passes over all earlier ones, and the thousandth is chosen as quickly as the
first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairlearn.ask.overlap import SingleAnswers
from pairlearn.ask.question import AUDIT

if TYPE_CHECKING:
    from pairlearn.ask.ledger import Answer, Learned
    from pairlearn.ask.question import Question

__all__ = ["Summary"]


class Summary:
    """What the lines so far say, sorted by what it is needed for.

    Attributes
    ----------
    teaching : dict
        Answers that a model may learn from, by number, in the order they came.
    unsure : dict
        Of each point that somebody was unsure about, these answers, in the order they
        came; of questions to learn from alone.
    ruled_out : dict
        Points that were said to be different from another one, with the number of such
        answers; of questions to learn from, in the order they came.
    audits : dict
        The first audit of each pair, in the order they were asked.
    audit_answers : dict
        What was said of each audited pair, by the number of the question.
    owed : dict
        Audited pairs that have no answer and are not out, with the number of their
        first audit.
    points : set
        Points that are in any question.
    seen : set
        Audited pairs that were ever answered.
    single : SingleAnswers
        Pairs that one person alone has answered.
    forgotten : set
        Questions whose answer the last model knows, and which stands no more.
    """

    def __init__(self) -> None:
        self.teaching: dict[int, int] = {}
        self._n_same = 0
        self.unsure: dict[int, list[Answer]] = {}
        self.ruled_out: dict[int, int] = {}
        self.audits: dict[tuple[int, int], Question] = {}
        self.audit_answers: dict[tuple[int, int], dict[int, int]] = {}
        self._n_out: dict[tuple[int, int], int] = {}
        self.owed: dict[tuple[int, int], int] = {}
        self.points: set[int] = set()
        self.seen: set[tuple[int, int]] = set()
        self.single = SingleAnswers()
        self._last: dict[int, int] = {}
        self.forgotten: set[int] = set()

    @property
    def has_both(self) -> bool:
        """Whether there are answers of both kinds to learn from."""
        return 0 < self._n_same < len(self.teaching)

    def asked(self, question: Question) -> None:
        """Note that a question is out."""
        self.points.update(question.pair)
        self.single.asked(question)
        if question.purpose == AUDIT:
            self.audits.setdefault(question.pair, question)
            self._n_out[question.pair] = self._n_out.get(question.pair, 0) + 1
            self.owed.pop(question.pair, None)

    def withdrawn(self, question: Question) -> None:
        """Note that a question is no longer out."""
        self.single.withdrawn(question)
        pair = question.pair
        if question.purpose == AUDIT:
            self._n_out[pair] -= 1
            if not self._n_out[pair] and not self.audit_answers.get(pair):
                self.owed[pair] = self.audits[pair].number

    def answered(self, answer: Answer) -> None:
        """Note an answer."""
        question, said = answer.question, answer.said
        number = question.number
        self.single.answered(question, answer.who)
        if question.purpose == AUDIT:
            self._n_out[question.pair] -= 1
            self.audit_answers.setdefault(question.pair, {})[number] = said
            self.seen.add(question.pair)
            return
        if not said:
            self.unsure.setdefault(question.target, []).append(answer)
        else:
            self.teaching[number] = said
            self._n_same += said > 0
        if said < 0:
            times = self.ruled_out.get(question.target, 0)
            self.ruled_out[question.target] = times + 1
        if number in self._last:
            if said == self._last[number]:
                self.forgotten.discard(number)
            else:
                self.forgotten.add(number)

    def undone(self, answer: Answer, standing: dict[int, Answer]) -> None:
        """Note that an answer was taken back; the question is out again."""
        question, said = answer.question, answer.said
        number = question.number
        self.single.undone(question)
        if question.purpose == AUDIT:
            del self.audit_answers[question.pair][number]
            self._n_out[question.pair] += 1
            return
        if not said:
            # Points come in the order of their first unsure answer that stands.
            self.unsure = {}
            for other in standing.values():
                if not other.said and other.question.purpose != AUDIT:
                    self.unsure.setdefault(other.question.target, []).append(other)
        else:
            del self.teaching[number]
            self._n_same -= said > 0
        if said < 0:
            self.ruled_out = {}
            for other in standing.values():
                if other.said < 0 and other.question.purpose != AUDIT:
                    target = other.question.target
                    self.ruled_out[target] = self.ruled_out.get(target, 0) + 1
        if number in self._last:
            self.forgotten.add(number)

    def learned(self, version: Learned) -> None:
        """Note that a model has learned; answers may have been taken back meanwhile."""
        self._last = version.answers
        self.forgotten = {
            number
            for number, said in version.answers.items()
            if self.teaching.get(number) != said
        }
