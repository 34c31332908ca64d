"""The ledger of an interview: what was asked and what was answered, in order.

Everything that an interview decides depends on its parameters, its points and this
list alone, so that one that is stored and read again goes on with the same questions.
Nothing is ever deleted from the list: whoever takes an answer back adds a line.

What the list says is kept in a summary as the lines come
(:class:`~pairlearn.ask.summary.Summary`), so that no question passes over all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pairlearn.ask.question import AUDIT, LEARN, Question
from pairlearn.ask.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Answer", "Learned", "Ledger"]

_SAID = {1: "same", -1: "different", 0: "unsure"}


@dataclass(frozen=True)
class Answer:
    """What somebody said.

    Attributes
    ----------
    question : Question
        What was asked.
    said : int
        +1 for same, -1 for different, 0 for unsure.
    who : str or None
        Who said it.
    """

    question: Question
    said: int
    who: str | None = None


@dataclass(frozen=True)
class Learned:
    """What one version of the model was learned from.

    Attributes
    ----------
    answers : dict
        The answers, by the number of the question.
    expected_error : float
        The error that it expects of itself.
    n_audits, n_wrong : int
        Audits that had been answered then, and how many of these it gets wrong.
    on_time : bool
        Whether it was learned when it was time to, and not when somebody wished.
    n_questions : int
        How many questions had been asked when it took the place of the one before.
    n_seen : int
        How many audits had ever been answered then, also if that was taken back.
    upto : int
        How many lines of the ledger were known when learning began.
    n_asked : int
        How many questions had been asked when learning began.
    """

    answers: dict[int, int]
    expected_error: float
    n_audits: int
    n_wrong: int
    on_time: bool
    n_questions: int
    n_seen: int = 0
    upto: int = 0
    n_asked: int = 0


@dataclass
class Ledger:
    """What happened so far.

    Attributes
    ----------
    events : list
        Lines of plain values, as they are stored.
    questions : dict
        All questions, by number.
    answers : dict
        Answers that stand, by the number of the question, in the order they came.
    open : dict
        Questions that are out, by number.
    learned : list of Learned
        The versions of the model.
    frozen_at : int or None
        How many questions had been asked when learning ended.
    n_final : int
        How many audits judge the final model.
    plan : dict or None
        Which pairs these are, and how they were drawn, if the model chose them.
    opinions : dict
        What others say to questions that have an answer, by number and name.
    summary : Summary
        What is asked for all the time, from the lines so far.

    Examples
    --------
    >>> ledger = Ledger()
    >>> ledger.ask(Question(0, 3, 5, "learn", 5))
    >>> ledger.answer(0, 1, "Ada")
    >>> ledger.answers[0].said
    1
    >>> ledger.undo(0)
    >>> sorted(ledger.open)
    [0]
    >>> Ledger.read(ledger.events).open == ledger.open
    True
    """

    events: list[list[Any]] = field(default_factory=list)
    questions: dict[int, Question] = field(default_factory=dict)
    answers: dict[int, Answer] = field(default_factory=dict)
    open: dict[int, Question] = field(default_factory=dict)
    learned: list[Learned] = field(default_factory=list)
    frozen_at: int | None = None
    n_final: int = 0
    plan: dict[str, Any] | None = None
    opinions: dict[tuple[int, str], int] = field(default_factory=dict)
    summary: Summary = field(default_factory=Summary, compare=False, repr=False)

    @classmethod
    def read(cls, events: Iterable[list[Any]]) -> Ledger:
        """Return the ledger of such lines."""
        ledger = cls()
        for number, line in enumerate(events):
            if not isinstance(line, list | tuple) or not line:
                raise ValueError(f"line {number} of the state is damaged: {line!r}")
            what, *values = line
            if not isinstance(what, str) or what not in _LINES:
                raise ValueError(
                    f"line {number} of the state says {what!r}, which this version of "
                    "pairlearn does not know"
                )
            try:
                _LINES[what](ledger, *values)
            except (TypeError, KeyError, IndexError) as problem:
                raise ValueError(
                    f"line {number} of the state is damaged: {problem}"
                ) from None
        return ledger

    def ask(self, question: Question) -> None:
        """Note that a question is out."""
        number = question.number
        if number != len(self.questions):
            raise ValueError(f"question {number} is asked out of order")
        q = question
        self.questions[number] = self.open[number] = q
        self.summary.asked(q)
        line = ["ask", number, q.left, q.right, q.purpose, q.target]
        self.events.append([*line, q.why] if q.why else line)

    def answer(self, number: int, said: int, who: str | None = None) -> None:
        """Note an answer."""
        self.refuse_unknown(number)
        if said not in (-1, 0, 1):
            raise ValueError(f"the answer {said!r} to question {number} is damaged")
        if number in self.answers:
            before = _SAID[self.answers[number].said]
            again = "the same" if self.answers[number].said == said else _SAID[said]
            raise ValueError(
                f"question {number} was answered '{before}' already, and now "
                f"'{again}'; take the first answer back with undo(question), then "
                "answer again"
            )
        if number not in self.open:
            raise ValueError(
                f"question {number} was withdrawn, so its answer is not expected"
            )
        question = self.open.pop(number)
        answer = self.answers[number] = Answer(question, said, who)
        self.summary.answered(answer)
        self.events.append(["answer", number, said, who])

    def undo(self, number: int) -> None:
        """Take an answer back; the question is open again."""
        self.refuse_unknown(number)
        if number not in self.answers:
            raise ValueError(f"question {number} has no answer to take back")
        answer = self.answers.pop(number)
        self.open[number] = answer.question
        self.summary.undone(answer, self.answers)
        self.events.append(["undo", number])

    def opinion(self, number: int, said: int, who: str) -> None:
        """Note what somebody says to a question that another person has answered.

        It is no answer: the first one stands, no audit is judged by it, and it does not
        count when it is decided whether it is time to learn.
        """
        self.refuse_unknown(number)
        if said not in (-1, 0, 1) or not isinstance(who, str):
            raise ValueError(f"the opinion {said!r} of {who!r} is damaged")
        if (number, who) in self.opinions:
            raise ValueError(
                f"{who} has given an opinion on question {number} already; take it "
                "back first"
            )
        self.opinions[number, who] = said
        self.events.append(["opinion", number, said, who])

    def unsay(self, number: int, who: str) -> None:
        """Take an opinion back."""
        if (number, who) not in self.opinions:
            raise ValueError(
                f"{who} has given no opinion on question {number} that could be taken "
                "back"
            )
        del self.opinions[number, who]
        self.events.append(["unsay", number, who])

    def opinions_at(self, upto: int) -> dict[tuple[int, str], int]:
        """Return the sure opinions to learn from after so many lines."""
        found = self.opinions
        if upto != len(self.events):
            found = {}
            for what, *values in self.events[:upto]:
                if what == "opinion":
                    found[values[0], values[2]] = values[1]
                elif what == "unsay":
                    found.pop((values[0], values[1]), None)
        return {
            (number, who): said
            for (number, who), said in found.items()
            if said and self.questions[number].purpose == LEARN
        }

    def who_at(self, upto: int) -> dict[int, str | None]:
        """Return who had answered which question after so many lines."""
        if upto == len(self.events):
            return {number: answer.who for number, answer in self.answers.items()}
        lines = (line for line in self.events[:upto] if line[0] == "answer")
        return {number: who for _, number, _, who in lines}

    def withdraw(self, number: int) -> None:
        """Take a question back that nobody is going to answer."""
        self.refuse_unknown(number)
        if number not in self.open:
            raise ValueError(f"question {number} is not open")
        self.summary.withdrawn(self.open.pop(number))
        self.events.append(["withdraw", number])

    def learn(
        self,
        expected_error: float,
        n_audits: int,
        n_wrong: int,
        on_time: bool,
        upto: int | None = None,
    ) -> None:
        """Note that a model was learned.

        Parameters
        ----------
        expected_error, n_audits, n_wrong, on_time
            As of :class:`Learned`.
        upto : int, optional
            How many lines were known when learning began; None, as in states that were
            stored before learning could take its time: all so far.
        """
        now = len(self.events)
        upto = now if upto is None else upto
        first = self.learned[-1].upto if self.learned else 0
        if type(upto) is not int or not first <= upto <= now:
            raise ValueError(
                f"a model that has learned from the first {upto!r} lines cannot come "
                f"after {now} lines, of which an earlier one knew {first}"
            )
        figures = expected_error, n_audits, n_wrong, on_time
        answers, n_asked = self.known_at(upto)
        counts = len(self.questions), len(self.summary.seen), upto, n_asked
        self.learned.append(Learned(answers, *figures, *counts))
        self.summary.learned(self.learned[-1])
        self.events.append(["learn", *figures, upto])

    def known_at(self, upto: int) -> tuple[dict[int, int], int]:
        """Return what could be learned from after so many lines.

        Parameters
        ----------
        upto : int
            How many lines.

        Returns
        -------
        answers : dict
            As :meth:`teaching` was then.
        n_asked : int
            How many questions had been asked.
        """
        if upto == len(self.events):
            return self.teaching(), len(self.questions)
        answers: dict[int, int] = {}
        n_asked = 0
        for what, *values in self.events[:upto]:
            if what == "ask":
                n_asked += 1
            elif what == "undo":
                answers.pop(values[0], None)
            elif what == "answer":
                number, said, _ = values
                if said and self.questions[number].purpose == LEARN:
                    answers[number] = said
        return answers, n_asked

    def freeze(self, n_audits: int, plan: dict[str, Any] | None = None) -> None:
        """Note that learning has ended."""
        self.frozen_at, self.n_final = len(self.questions), n_audits
        self.plan = plan
        self.events.append(["freeze", n_audits, plan])

    def final_audits(self) -> list[Question]:
        """Return the audits that were asked after learning had ended."""
        first = self.frozen_at
        return [q for q in self.audits() if first is not None and q.number >= first]

    def teaching(self) -> dict[int, int]:
        """Return the answers that a model may learn from, by number."""
        return dict(self.summary.teaching)

    def audits(self) -> list[Question]:
        """Return the audits that were asked, in order; of a repeated one, the first."""
        return list(self.summary.audits.values())

    def audit_answers(self) -> dict[tuple[int, int], int]:
        """Return what was said of each audited pair: the first sure answer stands.

        Somebody who was unsure does not take back what another one said, nor does a
        second opinion: the pair is counted once, with the answer of one person, whose
        chance of being wrong is what a certificate takes into account. The first is the
        one to the question that was asked first, so that a person's correction of an
        answer takes its place, whoever has answered meanwhile. Only where the first was
        unsure does the second one count: which pairs are asked twice is drawn without
        looking at any answer or model.
        """
        return {
            pair: next((said for _, said in sorted(answers.items()) if said), 0)
            for pair, answers in self.summary.audit_answers.items()
            if answers
        }

    def audits_by_people(self) -> dict[tuple[int, int], list[tuple[str | None, int]]]:
        """Return who has said what of each audited pair, in the order of questions."""
        return {
            pair: [(self.answers[k].who, said) for k, said in sorted(answers.items())]
            for pair, answers in self.summary.audit_answers.items()
            if answers
        }

    def refuse_unknown(self, number: int) -> None:
        """Refuse a question that was never asked."""
        if number not in self.questions:
            raise ValueError(
                f"question {number} was never asked in this interview; "
                f"{len(self.questions)} were (numbers from 0 on)"
            )

    def _ask_again(self, *values: Any) -> None:
        number, left, right, purpose, target, *rest = values
        if len(rest) > 1 or not all(isinstance(why, str) for why in rest):
            raise ValueError(f"question {number} of the state is damaged: {rest!r}")
        if purpose not in (LEARN, AUDIT):
            raise ValueError(f"question {number} has the purpose {purpose!r}")
        targets = (left, right) if purpose == LEARN else (-1,)
        if left == right or target not in targets:
            raise ValueError(
                f"question {number} of the state is damaged: {left!r} and {right!r}, "
                f"about {target!r}"
            )
        self.ask(Question(number, left, right, purpose, target, *rest))


_LINES: dict[str, Any] = {
    "ask": Ledger._ask_again,
    "answer": Ledger.answer,
    "undo": Ledger.undo,
    "opinion": Ledger.opinion,
    "unsay": Ledger.unsay,
    "withdraw": Ledger.withdraw,
    "learn": Ledger.learn,
    "freeze": Ledger.freeze,
}
