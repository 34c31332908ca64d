r"""What the answers of each person are worth, found along with a lesson.

Two people or more who answer are right more or less often. With the two coins of the
person who answers, r1 = P(says same | same) and r0 = P(says same | different)
(:mod:`pairlearn.people.coins`), an answer has the likelihood ratio

.. math:: L = \log \frac{r_1}{r_0} \text{ for "same"}, \qquad
          L = \log \frac{1 - r_1}{1 - r_0} \text{ for "different"} ,

and all answers about one pair have the sum of theirs. Whatever learns takes the sign of
the sum for the answer, and its size for the weight: as one answer in twenty were wrong,
and it had been given |L| / log 19 times. So somebody who answers at random (r1 = r0)
counts nothing, and somebody who says the opposite of what is right counts turned round;
nobody is left out.

The coins are found from the answers that teach, and never from audits, so that audits
still know nothing of the model, nor the model of them. With few answers they are found
in two steps: from pairs that several people answered and from cycles, then with what
neighbours say of each point (:meth:`~pairlearn.models.pool.neighbours.Pool.
spread_to_asked`), which does not know the answers about the point itself. With more of
them :class:`~pairlearn.PairClassifier` finds them together with its models.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pairlearn.models.pool.classifier import learn_beliefs
from pairlearn.people.coin_likelihood import log_ratio
from pairlearn.people.coins import find_coins
from pairlearn.people.crowd import UNNAMED, check_annotators, gather
from pairlearn.people.rates import rates_of_people
from pairlearn.people.views import View, blind_views

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pairlearn.data.types import Floats, Ints
    from pairlearn.models.pool.neighbours import Pool
    from pairlearn.people.crowd import Crowd
    from pairlearn.people.rates import PeopleRates

__all__ = ["AS_WRONG", "Rates", "Together", "Worth", "gather_people", "rates_by_pool"]

Rates = tuple[float, float]
# Weights of answers are relative to answers of which this share is wrong.
AS_WRONG = 0.05
_UNIT = float(np.log((1 - AS_WRONG) / AS_WRONG))
# Nothing is said of people with fewer answers in all, or if fewer than two people have
# given so many.
_FEWEST, _EACH = 30, 5
# So much of what neighbours say is shared out to all classes alike.
_DOUBT = 0.06


class Together(NamedTuple):
    """Answers of several people, gathered by pair.

    Attributes
    ----------
    first : ndarray of int
        The first answer about each pair.
    crowd : Crowd
        Who said what about which pair.
    """

    first: Ints
    crowd: Crowd

    def told(self, people: PeopleRates) -> tuple[Floats, Floats]:
        """Return one answer per pair, -1 or +1, and its weight."""
        found = [people.named(name) for name in self.crowd.names]
        r1, r0 = (
            np.array([getattr(row, name) for row in found]) for name in ("r1", "r0")
        )
        answers = self.crowd.answers(np.zeros((self.crowd.n_pairs, 2), dtype=np.intp))
        each = log_ratio(answers, r1, r0)
        total = np.bincount(self.crowd.pair, each, minlength=self.crowd.n_pairs)
        return np.where(total >= 0, 1.0, -1.0), np.abs(total) / _UNIT

    def names(self) -> list[set[str]]:
        """Return who has answered each pair."""
        found: list[set[str]] = [set() for _ in range(self.crowd.n_pairs)]
        for pair, person in zip(
            self.crowd.pair.tolist(), self.crowd.person.tolist(), strict=True
        ):
            found[pair].add(self.crowd.names[person])
        return found


def gather_people(
    index: Ints, said: Floats, who: Sequence[str | None]
) -> Together | None:
    """Return answers by pair; None while too little is known to tell people apart.

    Parameters
    ----------
    index : ndarray of shape (n_answers, 2)
        The pairs.
    said : ndarray of shape (n_answers,)
        Answers, -1 or +1.
    who : sequence of str or None
        Who gave them.

    Returns
    -------
    Together or None

    Examples
    --------
    >>> index = np.arange(80).reshape(40, 2)
    >>> gather_people(index, np.ones(40), ["Ada"] * 40) is None
    True
    >>> gather_people(index, np.ones(40), ["Ada", "Bob"] * 20).crowd.names
    ('Ada', 'Bob')
    """
    times = Counter(name for name in who if name is not None)
    if len(who) < _FEWEST or sum(n >= _EACH for n in times.values()) < 2:
        return None
    names, person = check_annotators(np.array(who, dtype=object), len(who))
    return Together(*gather(index, said, names, person, np.ones(len(who))))


def rates_by_pool(
    together: Together, index: Ints, pool: Pool, n_classes: int
) -> PeopleRates:
    """Find how often each person is right, with the help of a pool of points.

    Parameters
    ----------
    together : Together
        The answers.
    index : ndarray of shape (n_pairs, 2)
        The points of each pair, by their numbers in the pool.
    pool : Pool
        Points.
    n_classes : int
        Number of classes.

    Returns
    -------
    PeopleRates
    """
    points, places = np.unique(index, return_inverse=True)
    places = places.reshape(-1, 2)
    answers = together.crowd.answers(places)
    # Two of them do: how large the larger class is matters little here.
    coins = find_coins(answers, blind_views(len(points), n_classes)[::2])
    t, weight = together.told(rates_of_people(together.crowd, coins))
    beliefs, _ = learn_beliefs(
        pool, index, t, n_classes=n_classes, noise=AS_WRONG, weight=weight
    )
    others = pool.spread_to_asked(beliefs.points, beliefs.probability)
    p = (1 - _DOUBT) * others + _DOUBT / others.shape[1]
    coins = find_coins(answers, [View(p)], coins.rates, only=True)
    return rates_of_people(together.crowd, coins)


class Worth:
    """What is known of people, for choosing who is asked what.

    Parameters
    ----------
    people : PeopleRates
        How often each person is right.

    Examples
    --------
    >>> from pairlearn.people.rates import PersonRates, PeopleRates
    >>> def person(name, r1, r0):
    ...     return PersonRates(name, 50, 9, r1, r0, (0, 1), (0, 1), 0.5)
    >>> worth = Worth(PeopleRates((person("Ada", 0.9, 0.1), person("Bob", 0.7, 0.3))))
    >>> round(worth.accuracy("Ada"), 3), worth.accuracy("Bob"), worth.accuracy("Cy")
    (0.9, 0.7, None)
    >>> worth.better("Bob", ["Ada"]), worth.better("Ada", ["Bob"])
    (['Ada'], [])
    """

    # Whose balanced accuracy is lower than the best one's by no more is about as good.
    NEARLY = 0.05
    # With fewer answers, what is thought of a person is mostly what is thought of all.
    ENOUGH = 15

    def __init__(self, people: PeopleRates) -> None:
        self.people = people
        self._rates: dict[str | None, Rates] = {
            None if row.name == UNNAMED else row.name: (row.r1, row.r0)
            for row in people
        }
        self._known = {row.name for row in people if row.n_answers >= self.ENOUGH}
        self._mean = people.mean_rates

    def rates(self, who: str | None) -> Rates:
        """Return (r1, r0) of a person; of one who is not known, the mean of all."""
        return self._rates.get(who, self._mean)

    def is_known(self, who: str) -> bool:
        """Tell whether a person has given so many answers that they can be judged."""
        return who in self._known

    def accuracy(self, who: str | None) -> float | None:
        """Return the balanced accuracy of a person, None if it is not known."""
        if who not in self._rates:
            return None
        r1, r0 = self._rates[who]
        return (r1 + 1 - r0) / 2

    def better(self, who: str, others: Sequence[str]) -> list[str] | None:
        """Return who of others is more likely to be right; None if one cannot tell."""
        own = self.accuracy(who)
        if own is None:
            return None
        known = [(self.accuracy(name) or 0.0, name) for name in others]
        return [name for theirs, name in known if own < theirs - self.NEARLY]

    def log_ratio(self, who: str | None, said: int) -> float:
        """Return the likelihood ratio of an answer of a person, as a logarithm."""
        r1, r0 = np.clip(self.rates(who), 1e-4, 1 - 1e-4)
        if said > 0:
            return float(np.log(r1) - np.log(r0))
        return float(np.log1p(-r1) - np.log1p(-r0)) if said else 0.0
