r"""Strategies: which candidate to ask about next.

A strategy sees a :class:`View` and returns the number of a candidate that has not been
asked about. It keeps nothing between calls, so that the same view gives the same
choice, and an interview can be stored and resumed. What is costly is computed once for
each model (:mod:`pairlearn.ask.scores`); between two models only the questions that are
out are new.

* :class:`Random`: any candidate.
* :class:`Explore`: cover the points. The candidate x that lowers

  .. math:: \sum_r \min\bigl(\min_{a \in A} |z_r - z_a|^2,\; |z_r - z_x|^2\bigr)

  most, with A the points asked about and r over a sample: the centres of k-means, one
  at a time and among the points.
* :class:`Uncertain`: the smallest difference between the probabilities of the two
  likeliest classes.
* :class:`Informative`: the answer that is expected to take most from the variance of
  the probabilities of all candidates, g(x) in :mod:`pairlearn.ask.scores`, given the
  questions that are out. Before there is a model it explores, since every class is
  as likely everywhere; later it turns to where the classes meet, as far as answers
  there tell about many points.
* :class:`Mixed`, the default: informative, and one in twenty of the first hundred at
  random, for what the features and a model of few answers do not show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from pairlearn.ask.outlook import NoCandidateLeftError, Outlook
from pairlearn.ask.question import AT_RANDOM, TO_LEARN
from pairlearn.ask.scores import LATE, Scores
from pairlearn.data.checks import check_choice

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints

__all__ = [
    "STRATEGIES", "Explore", "Informative", "Mixed", "NoCandidateLeftError", "Random",
    "Strategy", "Uncertain", "View", "as_strategy",
]  # fmt: skip

# Points that stand for all when distances are summed, and candidates that are tried.
_SAMPLE = 1000
_TRIED = 500


@dataclass(frozen=True)
class View:
    """What a strategy may look at.

    Attributes
    ----------
    Z : ndarray of shape (n, d)
        Features of the candidates, as by :func:`~pairlearn.ask.scores.embed`: for
        distances, and their products are prior covariances.
    scores : Scores or None
        Computed once for each model; None before the first (then
        :meth:`~pairlearn.ask.scores.Scores.before` is computed, unless an outlook is
        given).
    asked : ndarray of int
        Candidates asked about so far, answered or not, in order.
    since : int
        How many of them had been asked when the model was learned.
    n_answers : int
        Number of answers so far.
    n_classes : int
        Number of classes.
    rng : Generator
        Depends on the seed and on the number of the question only.
    outlook : Outlook or None
        What candidates settle by :attr:`known_scores`, kept from question to question;
        None: it is computed.
    hurry : bool
        Whether so many questions are wanted that they cannot be weighed one by one.
    """

    Z: Floats
    scores: Scores | None
    asked: Ints
    since: int
    n_answers: int
    n_classes: int
    rng: np.random.Generator
    outlook: Outlook | None = None
    hurry: bool = False

    @property
    def free(self) -> Ints:
        """Candidates that have not been asked about.

        Raises
        ------
        NoCandidateLeftError
            If there are none.
        """
        left = np.ones(len(self.Z), dtype=bool)
        left[self.asked] = False
        if not left.any():
            raise NoCandidateLeftError(
                f"all {len(self.Z)} candidates have been asked about"
            )
        return np.flatnonzero(left)

    @property
    def out(self) -> Ints:
        """Candidates that were asked about, but that the model has not learned from."""
        if self.scores is None:
            return self.asked
        return self.asked[~np.isin(self.asked, self.scores.answered)]

    @property
    def known_scores(self) -> Scores:
        """The scores, or those before there is a model."""
        if self.scores is not None:
            return self.scores
        if self.outlook is not None:
            return self.outlook.scores
        return Scores.before(self.Z, self.n_classes)


class Strategy(Protocol):
    """Chooses the candidate to ask about next.

    One that also has a method ``pick(view)``, which returns the candidate and a reason
    in words, is asked for that instead.

    Attributes
    ----------
    name : str
        The name.
    """

    name: str

    def choose(self, view: View) -> int:
        """Return the candidate to ask about next."""
        ...


class Random:
    """Ask about any candidate.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> view = View(np.eye(3), None, np.array([0, 2]), 0, 0, 2, rng)
    >>> Random().choose(view)
    1
    """

    name = "random"

    def choose(self, view: View) -> int:
        """Return the candidate to ask about next."""
        return int(view.rng.choice(view.free))

    def pick(self, view: View) -> tuple[int, str]:
        """Return the candidate to ask about next, and why."""
        return self.choose(view), AT_RANDOM


class Explore:
    """Cover the points: the centres of k-means, one at a time and among the points.

    Examples
    --------
    >>> Z = np.array([[0.0], [0.1], [0.2], [9.0]])
    >>> rng = np.random.default_rng(0)
    >>> nothing = np.array([], dtype=int)
    >>> Explore().choose(View(Z, None, nothing, 0, 0, 2, rng))
    2
    >>> Explore().choose(View(Z, None, np.array([2]), 0, 0, 2, rng))
    3
    """

    name = "explore"

    def choose(self, view: View) -> int:
        """Return the candidate to ask about next."""
        free = view.free
        tried = _draw(view.rng, free, _TRIED)
        sample = view.Z[_draw(view.rng, np.arange(len(view.Z)), _SAMPLE)]
        distance = euclidean_distances(sample, view.Z[tried], squared=True)
        if len(view.asked):
            near = euclidean_distances(sample, view.Z[view.asked], squared=True)
            distance = np.minimum(distance, near.min(axis=1)[:, None])
        return int(tried[np.argmin(distance.sum(axis=0))])


class Uncertain:
    """Ask where the two likeliest classes are nearly as likely.

    Before there is a model: as :class:`Explore`.

    Examples
    --------
    >>> from pairlearn.ask.scores import Scores
    >>> p = np.array([0.1, 0.45, 0.8])
    >>> Z, asked = np.eye(3), np.array([0])
    >>> scores = Scores.of(np.column_stack([1 - p, p]), Z, asked)
    >>> rng = np.random.default_rng(0)
    >>> Uncertain().choose(View(Z, scores, asked, 1, 1, 2, rng))
    1
    """

    name = "uncertain"

    def choose(self, view: View) -> int:
        """Return the candidate to ask about next."""
        if view.scores is None or not len(view.scores.answered):
            return Explore().choose(view)
        free = view.free
        top = np.partition(view.scores.proba[free], -2, axis=1)
        return int(free[np.argmin(top[:, -1] - top[:, -2])])


class Informative:
    """Ask for the answer that is expected to settle most about all candidates.

    Examples
    --------
    Two places, of which one has more points. An answer there tells more, until it is
    out:

    >>> Z = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> rng = np.random.default_rng(0)
    >>> nothing = np.array([], dtype=int)
    >>> Informative().choose(View(Z, None, nothing, 0, 0, 2, rng))
    0
    >>> Informative().choose(View(Z, None, np.array([0, 1]), 0, 0, 2, rng))
    3
    """

    name = "informative"

    def choose(self, view: View) -> int:
        """Return the candidate to ask about next."""
        outlook = view.outlook or Outlook(view.known_scores, view.Z)
        if view.hurry:
            return outlook.some(view.asked, view.rng)
        return outlook.best(view.asked)


class Mixed:
    """The default: informative, and some of the first hundred at random.

    Parameters
    ----------
    random_share : float, default=0.05
        How many of the first hundred are chosen at random.

    Examples
    --------
    >>> Z = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> rng = np.random.default_rng(0)
    >>> Mixed().choose(View(Z, None, np.array([0, 1]), 0, 0, 2, rng))
    3
    """

    name = "mixed"

    def __init__(self, random_share: float = 0.05) -> None:
        self.random_share = random_share

    def choose(self, view: View) -> int:
        """Return the candidate to ask about next."""
        return self.pick(view)[0]

    def pick(self, view: View) -> tuple[int, str]:
        """Return the candidate to ask about next, and why."""
        if len(view.asked) < LATE and view.rng.random() < self.random_share:
            return Random().choose(view), AT_RANDOM
        return Informative().choose(view), TO_LEARN


def _draw(rng: np.random.Generator, rows: Ints, most: int) -> Ints:
    """Return all rows, or so many of them."""
    if len(rows) <= most:
        return rows
    return np.sort(rng.choice(rows, most, replace=False))


def as_strategy(strategy: str | Strategy) -> Strategy:
    """Return a strategy by its name, or one that was given.

    Examples
    --------
    >>> as_strategy("explore").name
    'explore'
    """
    if isinstance(strategy, str):
        check_choice("strategy", strategy, STRATEGIES)
        return STRATEGIES[strategy]()
    if not hasattr(strategy, "choose") or not hasattr(strategy, "name"):
        raise TypeError(
            "a strategy is a name or an object with a name and a method choose(view); "
            f"got {type(strategy).__name__}"
        )
    return strategy


STRATEGIES: dict[str, type[Strategy]] = {
    kind.name: kind for kind in (Random, Explore, Uncertain, Informative, Mixed)
}
