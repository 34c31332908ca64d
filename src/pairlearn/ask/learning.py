"""The part of an interview that learns: when, from what, and when that ends."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.ask.beginning import Beginning
from pairlearn.ask.homework import Homework
from pairlearn.ask.judging import choose_audits, count_wrong
from pairlearn.ask.schedule import has_to_forget, is_time, last_on_time, last_step
from pairlearn.data.checks import check_integer

if TYPE_CHECKING:
    from pairlearn.ask.lessons import Lesson

__all__ = ["Learning"]


class Learning(Beginning):
    """Learns from the answers so far, within a call or aside."""

    def learn(self) -> Any:
        """Learn from all answers so far, now; otherwise it is done when it is time.

        A model that is learned before it is time is judged by later audits alone, since
        the earlier ones may be why it was wished for; until there are some, it has no
        :attr:`certificate`. To see how good the model is, look before this.

        Returns
        -------
        estimator
            The model.
        """
        if self.frozen:
            raise ValueError("learning has ended with freeze(); the model is final")
        self._make_again()
        answers = self.ledger.teaching()
        if self._lesson is None or answers != self.ledger.learned[-1].answers:
            self._do(self._homework(answers, is_time(self.ledger)))
        return self.model

    def begin_lesson(self) -> Homework | None:
        """Return what to learn from now, if it is time or something is to be forgotten.

        Nothing changes by that. ``homework.learn()`` does the work, which may take
        many seconds, and may run in another thread while questions are asked and
        answered here; :meth:`take_lesson` takes its result. One that is never taken is
        lost without a trace, and is due again.

        Returns
        -------
        Homework or None
            None if it is not time, and after :meth:`freeze`.

        Examples
        --------
        >>> import numpy as np
        >>> from pairlearn.ask import Interview
        >>> X = np.repeat([[0.0, 1.0], [3.0, 0.0]], 30, axis=0)
        >>> interview = Interview(X, audits=0, noise=None)
        >>> for question in interview.next_questions(12, learn=False):
        ...     interview.answer(question, X[question.left, 1] == X[question.right, 1])
        >>> homework = interview.begin_lesson()
        >>> question = interview.next_question(learn=False)  # while that learns
        >>> interview.take_lesson(homework, homework.learn())
        >>> interview.history[-1].n_answers
        12
        """
        on_time = is_time(self.ledger)
        if self.frozen or not (on_time or has_to_forget(self.ledger)):
            return None
        answers, learned = self.ledger.teaching(), self.ledger.learned
        if learned and answers == learned[-1].answers:
            return None
        return self._homework(answers, on_time)

    def last_lesson(self) -> Homework | None:
        """Return what makes the last version of the model again.

        After ``from_state(..., learn=False)``, which does not: until its lesson has
        been taken, questions are chosen without a model.

        Returns
        -------
        Homework or None
            None if there was no version yet.
        """
        if not self.ledger.learned:
            return None
        last = self.ledger.learned[-1]
        return self._homework(last.answers, last.on_time, last.upto)

    def take_lesson(self, homework: Homework, lesson: Lesson) -> None:
        """Let a model that has learned aside be the one that chooses and is judged.

        Parameters
        ----------
        homework : Homework
            From :meth:`begin_lesson` or :meth:`last_lesson`.
        lesson : Lesson
            What its ``learn()`` returned.

        Notes
        -----
        The certificate stays valid, although others have been asked and answered since
        the homework began. *What* the version learned from was fixed then: one that
        began because of the number of answers knows nothing of any audit, and is judged
        by all of them, also by those that were answered while it learned. One that
        began for another reason is judged by the audits that are asked from now on.
        *How many versions* could be seen, and so how much risk was used up, is counted
        now: until now people saw the certificate of the version before, with all
        audits so far. Of two that began at the same step of the schedule, the first
        one taken is the one that was on time.

        If an answer that it learned from has been taken back meanwhile,
        :meth:`begin_lesson` says so at once.
        """
        learned = self.ledger.learned
        if homework.teacher is not self._teacher:
            raise ValueError("this homework is from a different interview")
        if homework.again:
            if homework.upto != learned[-1].upto:
                raise ValueError(
                    "a later version of the model has been taken meanwhile; this "
                    "lesson is not needed any more"
                )
            self._lesson = lesson
            self._warn_of_another(lesson, learned[-1].expected_error)
            return
        if self.frozen:
            raise ValueError(
                "learning has ended with freeze() meanwhile; this lesson comes too late"
            )
        if learned and homework.upto <= learned[-1].upto:
            raise ValueError(
                "a version of the model that knows more answers has been taken "
                "meanwhile; this lesson is not needed any more"
            )
        step = last_step(len(homework.answers))
        on_time = homework.on_time and step > last_on_time(self.ledger)
        counts = count_wrong(lesson.model, self.X, self.ledger, lesson.groups)
        self.ledger.learn(lesson.expected_error, *counts, on_time, homework.upto)
        self._lesson = lesson

    def _homework(
        self, answers: dict[int, int], on_time: bool, again: int | None = None
    ) -> Homework:
        """Return what there is to learn; again: up to so many lines, once more."""
        said = np.array(list(answers.values()), dtype=float)
        if not len(said):
            raise ValueError("there is no answer yet that a model could learn from")
        asked = [self.ledger.questions[number] for number in answers]
        # The partner first: it was there before the target.
        index = np.array([(q.partner, q.target) for q in asked], dtype=np.intp)
        audited = [row for q in self.ledger.audits() for row in q.pair]
        upto = len(self.ledger.events) if again is None else again
        known = self.ledger.who_at(upto)
        more = self.ledger.opinions_at(upto)
        pairs = [self.ledger.questions[number] for number, _ in more]
        # Computed here, so that two threads do not compute them both.
        _ = self._teacher.features
        return Homework(
            answers,
            on_time,
            upto,
            again is not None,
            self._teacher,
            index,
            said,
            [known.get(number) for number in answers],
            (
                np.array([(q.partner, q.target) for q in pairs], dtype=np.intp).reshape(
                    -1, 2
                ),
                np.array(list(more.values()), dtype=float),
                [who for _, who in more],
            ),
            np.array(audited, dtype=np.intp),
        )

    def _do(self, homework: Homework | None) -> None:
        if homework is not None:
            self.take_lesson(homework, homework.learn())

    def _learn_if_time(self) -> None:
        self._make_again()
        self._do(self.begin_lesson())

    def _make_again(self) -> None:
        """Learn the last version again, if the interview was read without it."""
        if self._lesson is None:
            self._do(self.last_lesson())

    def _warn_of_another(self, lesson: Lesson, before: float) -> None:
        if not np.isclose(lesson.expected_error, before, atol=1e-6):
            warnings.warn(
                "the model is not quite the one that was stored: another estimator "
                "was given then, or other versions, of this package or of libraries, "
                "compute otherwise; "
                "the questions that follow may differ from those that would have "
                "followed there",
                stacklevel=2,
            )

    @property
    def frozen(self) -> bool:
        """Whether learning has ended."""
        return self.ledger.frozen_at is not None

    def freeze(self, n_audits: int = 100, *, chosen: bool = False) -> Any:
        """End learning: from now on only audits are asked, and judge the final model.

        Parameters
        ----------
        n_audits : int, default=100
            How many. Their certificate counts these alone, and is there when all are
            answered.
        chosen : bool, default=False
            Whether the model chooses pairs that it doubts, with known chances that are
            weighted back; see :mod:`pairlearn.trust.chosen_audits`, and
            :func:`~pairlearn.trust.audit_needs.audits_needed` for whether that takes
            fewer. It takes answers that are right (``noise=None``), and two classes.

        Returns
        -------
        estimator
            The final model.
        """
        check_integer("n_audits", n_audits)
        if self.frozen:
            raise ValueError("learning has ended already")
        if chosen and (self.noise is not None or self.n_classes != 2):
            raise ValueError(
                "chosen audits are for two classes and answers that are right: make "
                "the interview with n_classes=2 and noise=None, or freeze with "
                "chosen=False"
            )
        fresh = self._audits.unused(self.ledger)
        left = (len(fresh) - 2 * chosen) // 2
        if n_audits > left:
            raise ValueError(
                f"{n_audits} audits are wanted, but the points put aside are enough "
                f"for {left} more"
                + ("" if self.audits else "; audits=0 puts no point aside")
            )
        model = self.learn()
        plan = None
        if chosen:
            plan = choose_audits(model, self.X, fresh, n_audits, self.random_state)
        self.ledger.freeze(n_audits, plan)
        return model

    @property
    def model(self) -> Any:
        """The last version of the model; None before the first."""
        return self._lesson.model if self._lesson else None
