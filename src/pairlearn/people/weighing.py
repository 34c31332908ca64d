"""Answers of several people as one answer per pair, for any estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pairlearn.data.checks import check_answers
from pairlearn.data.pairs import as_pairs
from pairlearn.people.coins import find_coins
from pairlearn.people.crowd import check_annotators, gather
from pairlearn.people.rates import rates_of_people
from pairlearn.people.views import blind_views

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Floats, PairsLike
    from pairlearn.people.rates import PeopleRates

__all__ = ["Weighed", "weigh_answers"]


class Weighed(NamedTuple):
    """One answer per pair.

    Attributes
    ----------
    pairs : Pairs
        Each pair once.
    t : ndarray of shape (n_pairs,)
        What everybody together says, from -1 (surely different) to 1 (surely same).
    people : PeopleRates
        How often each person is right.
    """

    pairs: Pairs
    t: Floats
    people: PeopleRates


def weigh_answers(pairs: PairsLike, t: ArrayLike, annotators: ArrayLike) -> Weighed:
    """Make one answer of all that people say about a pair, by what each is worth.

    How often each person is right is found from the answers alone: from pairs that
    several people answered, and from cycles of answers. Any estimator can learn from
    the outcome. :class:`~pairlearn.PairClassifier` does better with
    ``fit(pairs, t, annotators=...)``, since its models help to tell who is right.

    Parameters
    ----------
    pairs : Pairs or array-like of shape (n_answers, 2, n_features)
        One pair per answer. A pair that several people answered occurs several times,
        by its row numbers.
    t : array-like of shape (n_answers,)
        Answers: +1 for same, -1 for different, or between.
    annotators : array-like of shape (n_answers,)
        Who gave each answer.

    Returns
    -------
    Weighed

    Examples
    --------
    Ann and Bob agree; Cy contradicts both.

    >>> import numpy as np
    >>> from pairlearn import Pairs
    >>> pairs = Pairs(np.zeros((40, 1)), np.tile(np.arange(40).reshape(20, 2), (3, 1)))
    >>> right = np.tile([1, -1], 10)
    >>> who = np.repeat(["ann", "bob", "cy"], 20)
    >>> weighed = weigh_answers(pairs, np.concatenate([right, right, -right]), who)
    >>> len(weighed.pairs), bool(np.all(np.sign(weighed.t) == right))
    (20, True)
    >>> weighed.people.named("cy").is_adversary
    True
    """
    pairs = as_pairs(pairs)
    answers = check_answers(t, len(pairs), pairs.index)
    names, person = check_annotators(annotators, len(pairs))
    first, crowd = gather(pairs.index, answers, names, person, np.ones(len(pairs)))
    merged = pairs[first]
    coins = find_coins(crowd.answers(merged.index), blind_views(pairs.n_points))
    said, wrong = crowd.told(coins)
    return Weighed(merged, said * (1 - 2 * wrong), rates_of_people(crowd, coins))
