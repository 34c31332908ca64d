"""Lessons: what is learned from the answers so far, for the questions that follow.

Which model learns depends on how much there is to learn from. With few answers the
points that nobody was asked about tell most, and
:class:`~pairlearn.models.pool.PoolClassifier` learns; with more of them
:class:`~pairlearn.PairClassifier` chooses among more models, with features that are
shaped by all points; in between, both together. For more than two classes it is always
the first.

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
# With fewer answers than this, points that nobody was asked about tell most. With fewer
# than the second, neighbours tell better than held-out answers how often answers are
# wrong; and nobody tells people apart by them.
FEW, FEW_WRONG = 30, 100
# From so many answers on, two models together tell more than either.
_TOGETHER = 12
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
        asked = np.unique(places)
        many = self.n_classes == 2 and len(said) >= FEW and self._both(said)
        noise, doubtful = first_guess(self.noise), []
        learned = None
        # Answers that were brought along may be about other points than candidates.
        here = len(sure) > 1
        if self.estimator is None and not many and here:
            near, pool = self._neighbourhood(asked)
            learned = self._by_pool(pool, np.searchsorted(near, places), sure)
            beliefs, noise = learned.beliefs, learned.model.noise_
            if self.n_classes == 2 and len(said) >= _TOGETHER and self._both(said):
                rate = None if self.noise is None else noise
                other = self._fit(Pairs(self.X, index).compact(), said, rate)
                average_with(learned.model, other, self._some(_SHAPING))
        elif self.noise is not None and here:
            near, pool = self._neighbourhood(asked)
            beliefs, noise = learn_beliefs(
                pool,
                np.searchsorted(near, places),
                sure,
                n_classes=self._n_classes,
                noise=self._rate,
            )
        if self.noise is not None and here:
            doubtful = self.candidates[near[_doubted(beliefs, places, near)]].tolist()
        if learned is not None:
            model: Any = learned.model
        elif self.estimator is not None:
            model = clone(self.estimator).fit(all_pairs.compact(), all_said)
        else:
            found = self.noise == "auto" and here and len(said) < FEW_WRONG
            rate = noise if found else self.noise
            model = self._fit(Pairs(self.X, index).compact(), said, rate)
            if self.noise is not None and here:
                X = take_rows(self.X, self.candidates[near[beliefs.points]])
                agrees = _agreement(model, X, beliefs)
                # Wrong answers give the likelihood minima far from the best.
                if agrees < 1 - _LOST:
                    other = self._by_pool(pool, np.searchsorted(near, places), sure)
                    if _agreement(other.model, X, beliefs) > agrees + _LOST:
                        model = other.model
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

    @staticmethod
    def _both(said: Floats) -> bool:
        """Tell whether there are answers of both kinds."""
        return len(np.unique(said)) == 2

    def _by_pool(self, pool: Pool, numbers: Ints, said: Floats) -> Learned:
        """Learn from answers about points of a pool, with the help of the others."""
        return learn(
            pool,
            numbers,
            said,
            n_classes=self._n_classes,
            noise=self._rate,
            classes=self.classes,
            random_state=self.random_state,
        )

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
