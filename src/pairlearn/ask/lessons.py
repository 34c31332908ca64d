"""Lessons: what is learned from the answers so far, for the questions that follow.

Which model learns depends on how much there is to learn from. With few answers the
points that nobody was asked about tell most, and
:class:`~pairlearn.models.pool.PoolClassifier` learns; with more of them
:class:`~pairlearn.PairClassifier` chooses among more models, with features that are
shaped by all points. From 12 answers on it is the weighted mean of both, the first of
which counts for half and then for ever less, until there are forty right answers. For
more than two classes it is always the first.

Where answers may be wrong, neighbours tell which are doubtful: what the others say
about an asked point is weighed against the answers about it
(:func:`~pairlearn.models.pool.classifier.learn_beliefs`). By that they also tell how
often answers are wrong, until a hundred answers are there, and whether a model has lost
its way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from pairlearn.ask.doubts import Doubts
from pairlearn.ask.enough import some_answers
from pairlearn.ask.scores import Scores, embed
from pairlearn.ask.worth import (
    AS_WRONG,
    Together,
    Worth,
    gather_people,
    rates_by_pool,
)
from pairlearn.data.containers import on_host, take_rows
from pairlearn.data.pairs import Pairs
from pairlearn.models.auto import PairClassifier
from pairlearn.models.pool.classifier import learn, learn_beliefs
from pairlearn.models.pool.neighbours import Pool
from pairlearn.models.pool.together import average_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pairlearn.data.types import Floats, Ints, PointsLike
    from pairlearn.models.pool.classifier import Learned
    from pairlearn.trust.beliefs import Beliefs

    # Pairs, answers, and who gave them.
    Opinions = tuple[Ints, Floats, Sequence[str | None]]

__all__ = ["Lesson", "Teacher", "first_guess"]

# Where answers are not said to be right, they are taken to be wrong this often until
# there is a lesson.
_FIRST_GUESS = 0.02
# From so many answers on two models tell more than either: half and half at first, and
# from so many right answers on `PairClassifier` alone.
_TOGETHER, _ALONE = 12, 40
# With fewer than this, neighbours tell better than held-out answers how often answers
# are wrong; and nobody tells people apart by them.
FEW_WRONG = 100
# A model that agrees so much less with what is believed of asked points is lost.
_LOST = 0.25
# Of more answers than this, so many are learned from, which takes about ten seconds on
# one core; where answers may be wrong, fewer do.
MOST, MOST_WRONG = 3000, 1500
# Points that shape features, and points whose neighbours are known.
_SHAPING, _NEIGHBOURS = 2000, 1500
# A point whose likeliest class is less likely than this is asked about again, up to so
# many answers about it.
_DOUBTFUL, _MOST_ANSWERS = 0.9, 4


@dataclass(frozen=True)
class Lesson:
    """A model, and what it says of the points that may be asked about.

    Attributes
    ----------
    model : estimator
        The model.
    scores : Scores
        What it says of the candidates.
    noise : float
        The rate of wrong answers, given or estimated.
    doubtful : list of int
        Row numbers of points whose answers are not believed, most doubtful first.
    groups : dict
        What the model says of the points of audits, by their row numbers.
    worth : Worth or None
        What the answers of each person are worth; None while people are not told apart.
    doubts : Doubts or None
        Pairs that may be asked again of somebody else; None likewise.
    """

    model: Any
    scores: Scores
    noise: float
    doubtful: list[int]
    groups: dict[int, Any] = field(default_factory=dict)
    worth: Worth | None = None
    doubts: Doubts | None = None

    @property
    def expected_error(self) -> float:
        """The error that the model expects of itself."""
        return float(np.mean(1 - self.scores.proba.max(axis=1)))


def first_guess(noise: Any) -> float:
    """Return a rate of wrong answers: the given one, or a guess.

    Examples
    --------
    >>> first_guess(None), first_guess(0.1), first_guess((0.9, 0.2))
    (0.0, 0.1, 0.15)
    """
    if noise is None:
        return 0.0
    if isinstance(noise, str):
        return _FIRST_GUESS
    if isinstance(noise, tuple):
        return round(float(1 - noise[0] + noise[1]) / 2, 12)
    return float(noise)


class Teacher:
    """Learns from answers about some points, and from the others.

    Parameters
    ----------
    X : points
        All points.
    candidates : ndarray of int
        Row numbers of those that may be asked about.
    n_classes, noise, majority, classes, estimator, random_state
        As for :class:`~pairlearn.ask.Interview`.
    """

    def __init__(
        self,
        X: PointsLike,
        candidates: Ints,
        *,
        n_classes: int | str,
        noise: Any,
        majority: Any,
        classes: tuple[Any, ...] | None,
        estimator: Any,
        random_state: int,
    ) -> None:
        self.X, self.candidates = X, candidates
        self.n_classes, self.noise, self.majority = n_classes, noise, majority
        self.classes, self.estimator = classes, estimator
        self.random_state = random_state
        order = np.random.default_rng([random_state, 2]).permutation(len(candidates))
        self._order: Ints = order

    @cached_property
    def points(self) -> PointsLike:
        """The candidates, as an array or a sparse matrix."""
        X = on_host(take_rows(self.X, self.candidates))
        return X.to_numpy() if hasattr(X, "to_numpy") else X

    @cached_property
    def features(self) -> Floats:
        """Their features, whose products are prior covariances."""
        return embed(self.points, seed=self.random_state)

    def teach(
        self,
        index: Ints,
        said: Floats,
        who: Sequence[str | None] | None = None,
        more: Opinions | None = None,
    ) -> Lesson:
        """Learn from answers; of very many, from some.

        More than 3,000 answers (1,500 where answers may be wrong) are not learned from
        all at once, as that would take minutes: the most recent ones are, and random
        ones of the others (:func:`~pairlearn.ask.enough.some_answers`). An estimator
        that was given learns from all; which answers are doubtful is found by some.

        Parameters
        ----------
        index : ndarray of shape (n_answers, 2)
            Row numbers of the points, the one that was known first on the left.
        said : ndarray of shape (n_answers,)
            Answers, -1 or +1.
        who : sequence of str or None, optional
            Who gave them. Where answers are wrong at rates that nobody knows
            (``noise="auto"``), and two people or more answer, each answer counts for
            what it is worth; see :mod:`pairlearn.ask.worth`.
        more : tuple, optional
            Index, answers and names of opinions: answers to questions that somebody
            else has answered already. They count where people are told apart.

        Returns
        -------
        Lesson
        """
        place = np.full(self.X.shape[0], -1)
        place[self.candidates] = np.arange(len(self.candidates))
        answered = place[index[(place[index] >= 0).all(axis=1)]]
        all_pairs, all_said = Pairs(self.X, index), said
        most = MOST if self.noise is None else MOST_WRONG
        some = some_answers(index, most, self.random_state)
        index, said = index[some], said[some]
        together = None
        if who is not None and self.noise == "auto" and self._n_classes is not None:
            by = [who[k] for k in some.tolist()]
            raw = index, said, by
            if more is not None and len(more[2]):
                raw = (
                    np.concatenate([index, more[0]]),
                    np.concatenate([said, more[1]]),
                    by + list(more[2]),
                )
            together = gather_people(*raw)
        if together is not None:
            whole = all_pairs, all_said
            return self._with_people(place, answered, raw, together, whole)
        inside = (place[index] >= 0).all(axis=1)
        places, sure = place[index[inside]], said[inside]
        # Answers that were brought along may be about other points than candidates.
        near = _Neighbours(self, places, sure) if len(sure) > 1 else None
        noise, doubtful = first_guess(self.noise), []
        if self.noise is not None and near is not None:
            noise, doubtful = near.noise, near.doubtful
        if self.estimator is not None:
            model: Any = clone(self.estimator).fit(all_pairs.compact(), all_said)
        else:
            model = self._model(index, said, near)
        return Lesson(model, self._score(model, answered), noise, doubtful)

    def _with_people(
        self,
        place: Ints,
        answered: Ints,
        raw: Opinions,
        together: Together,
        whole: tuple[Pairs, Floats],
    ) -> Lesson:
        """Learn from answers of several people, each for what it is worth."""
        index, said, by = raw
        kinds = self._n_classes or 2
        rows = index[together.first]
        inside = np.flatnonzero((place[rows] >= 0).all(axis=1))
        places = place[rows[inside]]
        near, pool = self._neighbourhood(np.unique(places))
        numbers = np.searchsorted(near, places)
        here = Together(together.first[inside], together.crowd.part(inside))
        both = len(np.unique(said)) == 2
        many = kinds == 2 and len(said) >= FEW_WRONG and both
        model: Any = None
        if self.estimator is None and many:
            pairs = Pairs(self.X, index).compact()
            model = self._fit(pairs, said, self.noise, by)
            people = model.people_
        else:
            people = rates_by_pool(here, numbers, pool, kinds)
        t, weight = here.told(people)
        options: dict[str, Any] = {
            "n_classes": kinds,
            "noise": AS_WRONG,
            "weight": weight,
        }
        if self.estimator is not None:
            model = clone(self.estimator).fit(whole[0].compact(), whole[1])
        if model is not None:
            beliefs, _ = learn_beliefs(pool, numbers, t, **options)
        else:
            learned = learn(
                pool,
                numbers,
                t,
                classes=self.classes,
                random_state=self.random_state,
                **options,
            )
            model, beliefs = learned.model, learned.beliefs
        doubtful = self.candidates[near[_doubted(beliefs, places, near)]].tolist()
        r1, r0 = people.mean_rates
        return Lesson(
            model,
            self._score(model, answered),
            float(np.clip((1 - r1 + r0) / 2, 0.0, 0.45)),
            doubtful,
            worth=Worth(people),
            doubts=Doubts.of(here, rows[inside], places, numbers, beliefs),
        )

    def _model(self, index: Ints, said: Floats, near: _Neighbours | None) -> Any:
        """Learn a model: one that neighbours help, `PairClassifier`, or both."""
        share = 0.0
        if near is not None:
            both = self.n_classes == 2 and len(np.unique(said)) == 2
            share = near.share(len(said)) if both and len(said) >= _TOGETHER else 1.0
            if share == 1.0:
                return near.learned.model
        found = self.noise == "auto" and near is not None and len(said) < FEW_WRONG
        rate = near.noise if near is not None and found else self.noise
        model = self._fit(Pairs(self.X, index).compact(), said, rate)
        if near is None:
            return model
        # Wrong answers give the likelihood minima far from the best.
        if self.noise is not None and near.contradict(model):
            return near.learned.model
        if share > 0.0:
            average_with(near.learned.model, model, self._some(_SHAPING), share)
            return near.learned.model
        return model

    def _score(self, model: Any, answered: Ints) -> Scores:
        """Give the majority its name, and return what the model says of candidates."""
        self._name(model)
        proba = model.predict_proba(take_rows(self.X, self.candidates))
        return Scores.of(np.asarray(on_host(proba)), self.features, np.unique(answered))

    def _fit(
        self,
        pairs: Pairs,
        said: Floats,
        noise: Any,
        annotators: Sequence[str | None] | None = None,
    ) -> Any:
        model = PairClassifier(
            n_classes=self.n_classes,
            noise=noise,
            classes=self.classes,
            random_state=self.random_state,
        )
        who = None if annotators is None else np.array(annotators, dtype=object)
        return model.fit(pairs, said, shaping=self._some(_SHAPING), annotators=who)

    @property
    def _n_classes(self) -> int | None:
        return None if isinstance(self.n_classes, str) else self.n_classes

    @property
    def _rate(self) -> float | str | None:
        """The rate of wrong answers, as one number, or "auto" or None."""
        return first_guess(self.noise) if isinstance(self.noise, tuple) else self.noise

    def _neighbourhood(self, asked: Ints) -> tuple[Ints, Pool]:
        """Return candidates, those that were asked about among them, as a pool."""
        others = self._order[: max(0, _NEIGHBOURS - len(asked))]
        near = np.union1d(asked, others)
        if len(near) == len(self.candidates):
            return near, self._everything
        return near, Pool(self.points[near], self.random_state)

    @cached_property
    def _everything(self) -> Pool:
        return Pool(self.points, self.random_state)

    def _some(self, most: int) -> PointsLike:
        """Return at most so many random candidates."""
        return self.points[np.sort(self._order[:most])]

    def _name(self, model: Any) -> None:
        """Give the name of the majority to the larger of two groups.

        The answers cannot tell which it is: they are about points that were chosen.
        """
        if self.majority is None or len(model.classes_) > 2:
            return
        names = model.classes_.tolist()
        larger = names.index(self.majority) if self.majority in names else None
        if larger is None:
            larger = int(self.majority > 0)
        group = np.asarray(model.predict(self._some(_SHAPING)))
        if np.mean(group == model.classes_[larger]) < 0.5:
            model._flip()


class _Neighbours:
    """What the other candidates tell about those that were asked about.

    Parameters
    ----------
    teacher : Teacher
        Knows all points.
    places : ndarray of shape (n_answers, 2)
        The candidates that the answers are about.
    said : ndarray of shape (n_answers,)
        The answers.
    """

    def __init__(self, teacher: Teacher, places: Ints, said: Floats) -> None:
        self.teacher, self.places, self.said = teacher, places, said

    @cached_property
    def _around(self) -> tuple[Ints, Pool]:
        """Candidates, those that were asked about among them, and their pool."""
        return self.teacher._neighbourhood(np.unique(self.places))

    @cached_property
    def _numbers(self) -> Ints:
        """The points of the answers, by their numbers in the pool."""
        return np.searchsorted(self._around[0], self.places)

    @cached_property
    def learned(self) -> Learned:
        """A model that they help."""
        teacher = self.teacher
        return learn(
            self._around[1],
            self._numbers,
            self.said,
            n_classes=teacher._n_classes,
            noise=teacher._rate,
            classes=teacher.classes,
            random_state=teacher.random_state,
        )

    @cached_property
    def _found(self) -> tuple[Beliefs, float]:
        teacher = self.teacher
        return learn_beliefs(
            self._around[1],
            self._numbers,
            self.said,
            n_classes=teacher._n_classes,
            noise=teacher._rate,
        )

    @property
    def noise(self) -> float:
        """The rate of wrong answers."""
        known = self.teacher.noise != "auto"
        return first_guess(self.teacher.noise) if known else self._found[1]

    @property
    def doubtful(self) -> list[int]:
        """Row numbers of points whose answers are not believed."""
        doubt = _doubted(self._found[0], self.places, self._around[0])
        rows: list[int] = self.teacher.candidates[self._around[0][doubt]].tolist()
        return rows

    def share(self, n_answers: int) -> float:
        """Return the share of the model that they help, beside `PairClassifier`.

        An answer that is wrong with the chance e tells about (1 - 2e)^2 of what one
        that is right does.
        """
        told = n_answers * (1 - 2 * self.noise) ** 2
        return float(np.clip(1 - told / _ALONE, 0.0, 0.5))

    def contradict(self, model: Any) -> bool:
        """Tell whether a model lost its way, and the one that they help did not."""
        beliefs = self._found[0]
        rows = self.teacher.candidates[self._around[0][beliefs.points]]
        X = take_rows(self.teacher.X, rows)
        agrees = _agreement(model, X, beliefs)
        if agrees >= 1 - _LOST:
            return False
        return _agreement(self.learned.model, X, beliefs) > agrees + _LOST


def _agreement(model: Any, X: PointsLike, beliefs: Beliefs) -> float:
    """Return how far a model of two classes says of asked points what is believed."""
    says = np.asarray(on_host(model.predict_proba(X))).argmax(axis=1)
    believed = beliefs.probability[np.arange(len(says)), says].mean()
    swapped = beliefs.probability[np.arange(len(says)), 1 - says].mean()
    return float(max(believed, swapped))


def _doubted(beliefs: Beliefs, places: Ints, near: Ints) -> Ints:
    """Return the points of a pool that are in doubt, the most doubtful first."""
    times = np.bincount(np.searchsorted(near, places).ravel(), minlength=len(near))
    few = times[beliefs.points] < _MOST_ANSWERS
    doubt = np.flatnonzero(few & (beliefs.confidence < _DOUBTFUL))
    doubt = doubt[np.argsort(beliefs.confidence[doubt], kind="stable")]
    return np.asarray(beliefs.points[doubt])
