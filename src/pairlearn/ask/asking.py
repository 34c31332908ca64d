"""The part of an interview that asks, and takes down what people say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.ask.given import as_index
from pairlearn.ask.learning import Learning
from pairlearn.ask.lessons import first_guess
from pairlearn.ask.overlap import wants_overlap
from pairlearn.ask.question import (
    AUDIT,
    BROUGHT,
    IN_DOUBT,
    LEARN,
    RANDOM_CHECK,
    TO_JUDGE,
    TO_LEARN,
    Question,
    as_answer,
)
from pairlearn.data.checks import check_answers, check_integer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

__all__ = ["Asking"]


class Asking(Learning):
    """Puts questions, one or several at a time, and takes answers down."""

    def bring(
        self, pairs: Any, t: ArrayLike, *, purpose: str | Sequence[str] = LEARN
    ) -> None:
        """Bring answers along that were given before.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2)
            Row numbers of the points of each pair.
        t : array-like of shape (n_pairs,)
            Answers: +1, -1, or 0 for unsure.
        purpose : {"learn", "audit"} or sequence of these, default="learn"
            What each answer is for. Audits must be of points that this interview, with
            its seed, puts aside; points that others have answered about are not put
            aside any more.

        Notes
        -----
        If the pairs were chosen, and not random, say by another interview with another
        seed, the points put aside lose the hard ones, and the certificate is too good.
        """
        if self.frozen:
            raise ValueError(
                "learning has ended with freeze(), and the final model is judged by "
                "the questions that follow alone; bring answers before that"
            )
        index = as_index(pairs, self.X.shape[0])
        said = check_answers(t, len(index), index, unsure=True)
        if not np.isin(said, (-1, 0, 1)).all():
            raise ValueError("answers that are brought along must be -1, 0 or +1")
        purposes = [purpose] * len(index) if isinstance(purpose, str) else list(purpose)
        if len(purposes) != len(index):
            raise ValueError(
                f"there are {len(index)} pairs but {len(purposes)} purposes"
            )
        self._audits.check_brought(self.ledger, index, purposes)
        for (left, right), answer, why in zip(index, said, purposes, strict=True):
            number = len(self.ledger.questions)
            target = int(right) if why == LEARN else -1
            points = int(left), int(right)
            self.ledger.ask(Question(number, *points, why, target, BROUGHT))
            self.ledger.answer(number, int(answer))

    def next_question(
        self, who: str | None = None, *, learn: bool = True, hurry: bool = False
    ) -> Question | None:
        """Return the next question, which is then out; None if nothing is left to ask.

        Parameters
        ----------
        who : str, optional
            Who is going to answer. Questions that are asked again go to others, and
            where several people answer, those in doubt to who is most likely right.
        learn : bool, default=True
            Whether to learn first if it is time. False: the model that there is
            chooses, and it takes milliseconds; see :meth:`begin_lesson`.
        hurry : bool, default=False
            Whether to draw from the questions that teach much rather than to weigh each
            against all that are out: for hundreds of questions per second.

        Returns
        -------
        Question or None
        """
        number = len(self.ledger.questions)
        who = None if who is None else str(who)
        again = None if self.frozen else self._second_opinion(number, who)
        if again is not None:
            return again
        # The coin is thrown before any model is consulted.
        rng = np.random.default_rng([self.random_state, 1, number])
        is_audit = rng.random() < self.audits
        pair: tuple[int, int] | None
        if self.frozen or is_audit:
            pair = self._audits.next_pair(self.ledger)
            if pair is not None or self.frozen:
                return self._put(number, pair, AUDIT, -1, TO_JUDGE, rng)
        if learn:
            self._learn_if_time()
        lesson = self._lesson
        worth = lesson.worth if lesson else None
        # Of several people, not everybody is asked about what is in doubt.
        weighing = worth is not None and who is not None
        found = self._chooser.choose(
            self.ledger,
            lesson.scores if lesson else None,
            lesson.doubtful if lesson and not weighing else [],
            lesson.noise if lesson else first_guess(self.noise),
            who,
            rng,
            hurry=hurry,
            worth=worth,
        )
        if weighing:
            found = self._ask_again(found, who) or found
        if found is None:
            # With nothing left to learn from, audits may still be asked.
            pair = self._audits.next_pair(self.ledger) if self.audits else None
            return self._put(number, pair, AUDIT, -1, TO_JUDGE, rng)
        target, partner, why = found
        return self._put(number, (target, partner), LEARN, target, why, rng)

    def _ask_again(
        self, found: tuple[int, int, str] | None, who: str | None
    ) -> tuple[int, int, str] | None:
        """Return a pair that a person should rather be asked about again, if any."""
        lesson = self._lesson
        if lesson is None or lesson.doubts is None or lesson.worth is None:
            return None
        if who is None or (found is not None and found[2] not in (TO_LEARN, IN_DOUBT)):
            return None
        return self._chooser.instead(
            found, self.ledger, lesson.doubts, lesson.worth, who
        )

    def _second_opinion(self, number: int, who: str | None) -> Question | None:
        """Put a pair again that somebody else has answered, if the coin says so."""
        rng = wants_overlap(self.random_state, number, self.overlap)
        found = None if rng is None else self.ledger.summary.single.draw(rng, who)
        if rng is None or found is None:
            return None
        purpose, target = found.purpose, found.target
        return self._put(number, found.pair, purpose, target, RANDOM_CHECK, rng)

    def next_questions(
        self,
        n: int,
        who: str | None = None,
        *,
        learn: bool = True,
        hurry: bool = False,
    ) -> list[Question]:
        """Return several questions at once, none of which makes another needless.

        Parameters
        ----------
        n : int
            How many; fewer come if fewer are left.
        who : str, optional
            Who is going to answer.
        learn : bool, default=True
            Whether to learn first if it is time.
        hurry : bool, default=False
            As for :meth:`next_question`.

        Returns
        -------
        list of Question
        """
        check_integer("n", n)
        found = []
        for _ in range(n):
            question = self.next_question(who, learn=learn, hurry=hurry)
            if question is None:
                break
            found.append(question)
        return found

    def answer(
        self, question: Question | int, answer: Any, who: str | None = None
    ) -> None:
        """Take down an answer.

        Parameters
        ----------
        question : Question or int
            The question, or its number.
        answer : int, bool, str or None
            +1, True or "same"; -1, False or "different"; 0, None or "unsure".
        who : str, optional
            Who answers.
        """
        by = None if who is None else str(who)
        self.ledger.answer(self._number(question), as_answer(answer), by)

    def opinion(self, question: Question | int, answer: Any, who: str) -> None:
        """Take down what somebody says to a question that another has answered.

        The first answer stands; where people are told apart, the opinion teaches as
        well, for what it is worth. No audit is judged by it.

        Parameters
        ----------
        question : Question or int
            The question, or its number.
        answer : int, bool, str or None
            As for :meth:`answer`.
        who : str
            Who says it.
        """
        self.ledger.opinion(self._number(question), as_answer(answer), str(who))

    def unsay(self, question: Question | int, who: str) -> None:
        """Take an opinion back; the next version of the model does not know it.

        Parameters
        ----------
        question : Question or int
            The question, or its number.
        who : str
            Who gave it.
        """
        self.ledger.unsay(self._number(question), str(who))

    def undo(self, question: Question | int | None = None) -> Question:
        """Take an answer back: the last one, or that to a given question.

        Parameters
        ----------
        question : Question or int, optional
            The question, or its number.

        Returns
        -------
        Question
            The question, which is out again.
        """
        if question is None:
            if not self.ledger.answers:
                raise ValueError("there is no answer to take back")
            number = next(reversed(self.ledger.answers))
        else:
            number = self._number(question)
        self.ledger.undo(number)
        return self.ledger.open[number]

    def withdraw(self, question: Question | int) -> None:
        """Take a question back that nobody is going to answer.

        What it was about may be asked again. An audit will be: if hard ones could be
        withdrawn, the certificate would be too good.

        Parameters
        ----------
        question : Question or int
            The question, or its number.
        """
        self.ledger.withdraw(self._number(question))

    @property
    def unsure(self) -> list[Question]:
        """Questions to which nobody could give an answer yet."""
        return self._chooser.unsure(self.ledger)

    def _put(
        self,
        number: int,
        pair: tuple[int, int] | None,
        purpose: str,
        target: int,
        why: str,
        rng: np.random.Generator,
    ) -> Question | None:
        """Put a question, with its points in random order."""
        if pair is None:
            return None
        left, right = pair if rng.random() < 0.5 else pair[::-1]
        question = Question(number, int(left), int(right), purpose, int(target), why)
        self.ledger.ask(question)
        return question

    def _number(self, question: Question | int) -> int:
        if isinstance(question, Question):
            known = self.ledger.questions.get(question.number)
            if known is not None and known != question:
                raise ValueError(
                    f"question {question.number} of this interview is another one: "
                    "the given question is from a different interview"
                )
            return question.number
        if isinstance(question, bool) or not isinstance(question, int | np.integer):
            raise TypeError(
                "a question is what next_question() returned, or its number; got "
                f"{type(question).__name__}"
            )
        return int(question)
