"""The interview: it asks, learns from the answers, and says how good the model is."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import pairlearn
from pairlearn.ask.audits import Audits, coins, put_aside
from pairlearn.ask.choosing import Chooser
from pairlearn.ask.given import as_index, check_numbers, is_number, plain
from pairlearn.ask.history import Advice, LearningCurve, Version
from pairlearn.ask.homework import Homework
from pairlearn.ask.judging import (
    choose_audits,
    count_wrong,
    final_certificate,
    live_certificate,
)
from pairlearn.ask.ledger import Ledger
from pairlearn.ask.lessons import Lesson, Teacher, first_guess
from pairlearn.ask.overlap import wants_overlap
from pairlearn.ask.question import (
    AUDIT,
    BROUGHT,
    LEARN,
    RANDOM_CHECK,
    TO_JUDGE,
    Question,
    as_answer,
)
from pairlearn.ask.schedule import has_to_forget, is_time, last_on_time, last_step
from pairlearn.ask.state import check_state, mark_of_points, mark_of_rows
from pairlearn.ask.strategies import as_strategy
from pairlearn.data.checks import (
    check_answers,
    check_flip_rates,
    check_integer,
    check_share,
)
from pairlearn.data.containers import (
    check_table,
    take_rows,
)
from pairlearn.trust.assignment import majority_sign
from pairlearn.trust.sample_checks import MoreKindsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from pairlearn.ask.strategies import Strategy
    from pairlearn.data.types import Ints, PointsLike
    from pairlearn.trust.certificate import Certificate
    from pairlearn.trust.kinds_certificate import KindsCertificate

__all__ = ["Interview", "TooFewPointsError"]

FORMAT = 1
# What is stored with an interview.
PARAMETERS = (
    "n_classes", "audits", "strategy", "noise", "majority", "classes", "confidence",
    "max_candidates", "random_state", "overlap",
)  # fmt: skip
# Parameters that came later, with what they are in states that were stored before.
LATER = {"overlap": 0.0}
# The share of points that are put aside for audits.
RESERVED = 0.3


class TooFewPointsError(ValueError):
    """Without the points put aside for audits, too few are left to ask about."""


class Interview:
    """Questions about pairs, a model that learns from the answers, and a certificate.

    Parameters
    ----------
    points : points, as :class:`~pairlearn.Pairs` takes them
        What to ask about: array, sparse matrix, data frame, tensor or dask array.
    n_classes : int or "auto", default=2
        Number of classes. "auto": a class is opened when a point fits none.
    audits : float, default=0.2
        The share of questions that are audits: random pairs of points that were put
        aside beforehand. They never teach the model, so they can judge it. 0: none, and
        no point is put aside.
    strategy : str or Strategy, default="mixed"
        How questions are chosen: "mixed", "random", "explore", "uncertain",
        "informative", or an object with the method ``choose(view)``.
    noise : "auto", tuple, float or None, default="auto"
        How often answers are wrong, as for :class:`~pairlearn.PairClassifier`; None: no
        answer is wrong, and nothing is asked again.
    majority, classes
        As for :class:`~pairlearn.PairClassifier`.
    estimator : estimator or None, default=None
        What learns: an estimator of this package, which is cloned and fitted with pairs
        and answers each time. None: :class:`~pairlearn.PairClassifier`.
    confidence : float, default=0.95
        Confidence of the certificates.
    names : iterable, optional
        Names of the points. Which points are put aside then depends on their names and
        the seed, and not on the order of the rows.
    max_candidates : int, default=20_000
        Of more points than this that could be asked about, so many are drawn, and only
        they are asked about.
    random_state : int or None, default=0
        Seed; None: a random one.
    overlap : float, default=0.0
        The share of questions that repeat a random pair that somebody else has
        answered, so that one can tell how far people agree; once two people or more
        have answered, who are told apart by `who`.

    Attributes
    ----------
    ledger : Ledger
        What was asked and answered, in order.
    n_candidates : int
        How many points may be asked about.

    Notes
    -----
    The same seed and the same answers give the same questions, also after
    :meth:`state` and :meth:`from_state`.

    Learning takes seconds, and happens within :meth:`next_question` when it is time. In
    a program that must not wait, say ``learn=False`` there, and learn aside, perhaps in
    another thread: :meth:`begin_lesson`, :meth:`Homework.learn
    <pairlearn.ask.homework.Homework.learn>` and :meth:`take_lesson`.

    *Guaranteed:* the live certificate holds at all looks together, if answers are as
    right, or as wrong, as `noise` says, and if the points are random ones of those the
    model is for. *Not guaranteed:* that the questions are the best ones; the forecast
    of :meth:`advice`.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn.ask import Interview
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=300)
    >>> X = rng.normal(size=(300, 2)) + 4 * y[:, None]
    >>> interview = Interview(X, random_state=0)
    >>> for _ in range(60):
    ...     question = interview.next_question()
    ...     interview.answer(question, y[question.left] == y[question.right])
    >>> interview.certificate.n_pairs
    13
    >>> model = interview.learn()
    >>> agree = np.mean(model.predict(X) == np.where(y == 1, 1, -1))
    >>> bool(max(agree, 1 - agree) > 0.97)
    True
    """

    def __init__(
        self,
        points: PointsLike,
        *,
        n_classes: int | str = 2,
        audits: float = 0.2,
        strategy: str | Strategy = "mixed",
        noise: Any = "auto",
        majority: Any = None,
        classes: tuple[Any, ...] | None = None,
        estimator: Any = None,
        confidence: float = 0.95,
        names: Iterable[Any] | None = None,
        max_candidates: int = 20_000,
        random_state: int | None = 0,
        overlap: float = 0.0,
    ) -> None:
        self.X: PointsLike = check_numbers(check_table(points))
        n_points = self.X.shape[0]
        if n_points < 2:
            raise ValueError(f"an interview needs two points at least; got {n_points}")
        if n_classes != "auto":
            check_integer("n_classes", n_classes, minimum=2)
        if not (is_number(audits) and 0 <= audits < 1):
            raise ValueError(
                f"audits must be a share from 0 to below 1; got {audits!r}"
            )
        if not (is_number(overlap) and 0 <= overlap < 1):
            raise ValueError(
                f"overlap must be a share from 0 to below 1; got {overlap!r}"
            )
        check_share("confidence", confidence)
        rates = check_flip_rates(noise, "noise", ("auto",))
        check_integer("max_candidates", max_candidates, minimum=2)
        if random_state is None:
            random_state = int(np.random.default_rng().integers(2**31))
        self.random_state = check_integer("random_state", random_state, minimum=0)
        # As plain values, which JSON can keep.
        self.n_classes: int | str = (
            n_classes if isinstance(n_classes, str) else int(n_classes)
        )
        self.audits, self.overlap = float(audits), float(overlap)
        self.strategy = as_strategy(strategy)
        self.noise: Any = float(noise) if is_number(noise) else rates
        self.majority = plain(majority)
        self.classes: tuple[Any, ...] | None = (
            None if classes is None else tuple(plain(name) for name in classes)
        )
        self.estimator = estimator
        self.confidence = float(confidence)
        self.max_candidates = int(max_candidates)
        wanted = self.n_classes
        if self.classes is not None and wanted not in ("auto", len(self.classes)):
            raise ValueError(
                f"classes must name {wanted} classes, as n_classes says; got "
                f"{self.classes!r}"
            )
        if majority is not None and self.n_classes == 2:
            majority_sign(self.majority, self.classes or (-1, 1))
        self.ledger = Ledger()
        values = coins(n_points, self.random_state, names)
        self._audits = Audits(put_aside(values, RESERVED if audits else 0.0))
        free = np.ones(n_points, dtype=bool)
        free[self._audits.reserve] = False
        # Points with the largest numbers, so that appended rows may come to them.
        rows = np.flatnonzero(free)
        if len(rows) > max_candidates:
            rows = np.sort(rows[np.argsort(-values[rows])[:max_candidates]])
        if len(rows) < 2:
            raise TooFewPointsError(
                f"of {n_points} points {len(rows)} are left to ask about, the others "
                "are put aside for audits; give more points, or say audits=0"
            )
        self._candidates: Ints = rows
        self._lesson: Lesson | None = None

    @cached_property
    def _points_mark(self) -> str:
        return mark_of_points(self.X)

    @cached_property
    def _aside_mark(self) -> str:
        return mark_of_rows(self._audits.reserve)

    @property
    def n_candidates(self) -> int:
        """How many points may be asked about."""
        return len(self._candidates)

    @cached_property
    def _teacher(self) -> Teacher:
        return Teacher(
            self.X,
            self._candidates,
            n_classes=self.n_classes,
            noise=self.noise,
            majority=self.majority,
            classes=self.classes,
            estimator=self.estimator,
            random_state=self.random_state,
        )

    @cached_property
    def _chooser(self) -> Chooser:
        return Chooser(
            self._candidates, self._teacher.features, self.strategy, self.n_classes
        )

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
            Who is going to answer. Questions that are asked again go to others.
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
        found = self._chooser.choose(
            self.ledger,
            lesson.scores if lesson else None,
            lesson.doubtful if lesson else [],
            lesson.noise if lesson else first_guess(self.noise),
            who,
            rng,
            hurry=hurry,
        )
        if found is None:
            # With nothing left to learn from, audits may still be asked.
            pair = self._audits.next_pair(self.ledger) if self.audits else None
            return self._put(number, pair, AUDIT, -1, TO_JUDGE, rng)
        target, partner, why = found
        return self._put(number, (target, partner), LEARN, target, why, rng)

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
        # Computed here, so that two threads do not compute them both.
        _ = self._teacher.features
        return Homework(
            answers,
            on_time,
            len(self.ledger.events) if again is None else again,
            again is not None,
            self._teacher,
            index,
            said,
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
                "was given then, or other versions of libraries compute otherwise; "
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

    @property
    def certificate(self) -> Certificate | KindsCertificate | None:
        """How good the model is, valid however often one looks; None without audits.

        After :meth:`freeze`, and when all its audits are answered: the certificate from
        these.
        """
        model = self.model
        if model is None:
            return None
        options: dict[str, Any] = {
            "confidence": self.confidence,
            "flip_rates": self.noise,
        }
        if self.n_classes != 2:
            # Shares of the groups are counted in points that are random ones.
            options["points"] = take_rows(self.X, self._audits.reserve)
        try:
            if self.frozen:
                final = final_certificate(model, self.X, self.ledger, **options)
                if final is not None:
                    return final
            return live_certificate(model, self.X, self.ledger, **options)
        except MoreKindsError as problem:
            what = str(problem).partition("; kinds=")[0]
            raise MoreKindsError(
                f"{what}. An interview with n_classes='auto', or with their number, "
                "opens more classes; the answers can be brought along"
            ) from None

    @property
    def history(self) -> LearningCurve:
        """The learning curve: what each version of the model expected and got wrong."""
        return LearningCurve(
            [
                Version(k, len(v.answers), v.expected_error, v.n_audits, v.n_wrong)
                for k, v in enumerate(self.ledger.learned, 1)
            ]
        )

    def advice(self, error: float = 0.05) -> Advice:
        """Forecast about how many more answers an error takes.

        Parameters
        ----------
        error : float, default=0.05
            The error that is wanted.

        Returns
        -------
        Advice
        """
        return self.history.advice(error)

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

    def state(self) -> dict[str, Any]:
        """Return all that is needed to go on later: plain values, fit for JSON.

        The points, and their names, are not among them.

        Returns
        -------
        dict
        """
        return {
            "format": FORMAT,
            "pairlearn": pairlearn.__version__,
            "points": self._points_mark,
            "put_aside": self._aside_mark,
            "parameters": {name: getattr(self, name) for name in PARAMETERS}
            | {"strategy": self.strategy.name},
            "events": [list(event) for event in self.ledger.events],
        }

    @classmethod
    def from_state(
        cls,
        points: PointsLike,
        state: dict[str, Any],
        *,
        names: Iterable[Any] | None = None,
        strategy: Strategy | None = None,
        estimator: Any = None,
        learn: bool = True,
    ) -> Interview:
        """Go on with an interview that was stored.

        Parameters
        ----------
        points : points
            The same points as before.
        state : dict
            What :meth:`state` returned, perhaps read from JSON.
        names : iterable, optional
            The same names as before, if there were any.
        strategy : Strategy, optional
            The same strategy as before, if it was an object of your own.
        estimator : estimator, optional
            The same estimator as before, if there was one.
        learn : bool, default=True
            Whether to learn the last version of the model again at once. False: later,
            by :meth:`last_lesson` and :meth:`take_lesson`.

        Returns
        -------
        Interview
            The same questions follow as if it had never been stored.
        """
        parameters = check_state(state, FORMAT, PARAMETERS, LATER)
        if strategy is not None:
            parameters["strategy"] = strategy
        self = cls(points, names=names, estimator=estimator, **parameters)
        if self._points_mark != state["points"]:
            raise ValueError(
                f"these points ({self._points_mark}) are not those of the interview "
                f"({state['points']}); give it the same rows in the same order"
            )
        aside = state.get("put_aside", self._aside_mark)
        if aside != self._aside_mark:
            raise ValueError(
                "other points would be put aside for audits than before: give "
                "from_state() the same names as before, if there were any"
            )
        self.ledger = Ledger.read(state["events"])
        self._audits.check_asked(self.ledger, self.X.shape[0])
        if learn:
            self._make_again()
        return self
