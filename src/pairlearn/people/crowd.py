"""Answers by several people, gathered by pair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from pairlearn.data.checks import is_missing
from pairlearn.data.containers import on_host
from pairlearn.people.coin_likelihood import CoinAnswers, log_ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Bools, Floats, Ints
    from pairlearn.people.coins import Coins

__all__ = ["UNNAMED", "Crowd", "check_annotators", "gather"]

# Who is meant where no name is given.
UNNAMED = "(no name)"
# Coins this much better than chance, on the mean, may count in a certificate.
_HALF = 0.5


@dataclass(frozen=True)
class Crowd:
    """Who said what about which pair.

    Attributes
    ----------
    names : tuple of str
        The people.
    n_pairs : int
        Number of pairs.
    pair, person : ndarray of shape (n_answers,)
        The number of the pair, and of the person, of each answer; a person has one
        answer about a pair.
    share : ndarray of shape (n_answers,)
        1 for "same", 0 for "different".
    weight : ndarray of shape (n_answers,)
        How much each answer counts.
    """

    names: tuple[str, ...]
    n_pairs: int
    pair: Ints
    person: Ints
    share: Floats
    weight: Floats

    def answers(self, index: Ints) -> CoinAnswers:
        """Return the answers, with the points of each pair."""
        return CoinAnswers(
            index[self.pair], self.share, self.person, len(self.names), self.weight
        )

    def part(self, pairs: Ints) -> Crowd:
        """Return the answers about some of the pairs, which are numbered anew."""
        number = np.full(self.n_pairs, -1, dtype=np.intp)
        number[pairs] = np.arange(len(pairs))
        kept = number[self.pair] >= 0
        return replace(
            self,
            n_pairs=len(pairs),
            pair=number[self.pair[kept]],
            person=self.person[kept],
            share=self.share[kept],
            weight=self.weight[kept],
        )

    def told(self, coins: Coins) -> tuple[Floats, Floats]:
        """Return what all answers about each pair say, and how likely that is wrong.

        With L the product of psi(same) / psi(different) over the answers about a pair,
        they say "same" if L > 1, and are wrong with probability 1 / (1 + L) if same
        and different are as likely beforehand: as one answer whose two rates of wrong
        answers are both this number they have the likelihood that they have.
        """
        ratio = log_ratio(self.answers(np.zeros((self.n_pairs, 2), int)), *coins.rates)
        total = np.bincount(self.pair, ratio, minlength=self.n_pairs)
        return np.where(total >= 0, 1.0, -1.0), expit(-np.abs(total))

    @property
    def n_answers(self) -> Ints:
        """How many answers each person gave."""
        return np.bincount(self.person, minlength=len(self.names))

    @property
    def n_overlaps(self) -> Ints:
        """How many of each person's answers are about pairs that others answered."""
        others = np.bincount(self.pair, minlength=self.n_pairs)[self.pair] > 1
        return np.bincount(self.person[others], minlength=len(self.names))

    def to_count(
        self, r1: Floats, r0: Floats, at_chance: Bools, adverse: Bools
    ) -> tuple[Floats, Bools, tuple[float, float]]:
        """Return answers to judge a model by, and which pairs have one.

        Of each pair the answer of one person counts: who that is depends on the people
        alone and not on what they said, since answers that were left out for what they
        say would make the others look better than they are. It is the one who tells
        most. Adversaries count turned round; people who seem to be at chance do not
        count, nor do pairs that nobody else answered.

        Parameters
        ----------
        r1, r0 : ndarray of shape (n_people,)
            Everybody's rates.
        at_chance, adverse : ndarray of bool of shape (n_people,)
            Who tells next to nothing, and who says the opposite.

        Returns
        -------
        t : ndarray of shape (n_pairs,)
            The answers, -1 or +1; 0 where nobody counts, or who counts is unsure.
        countable : ndarray of bool of shape (n_pairs,)
            Pairs with an answer that counts.
        rates : tuple of float
            The mean (r1, r0) of these answers.
        """
        good = (r1 > _HALF) & (r0 < _HALF) & ~at_chance
        adverse = adverse & (r1 < _HALF) & (r0 > _HALF)
        worth = np.where(good | adverse, np.abs(r1 - r0), -1.0)
        order = np.lexsort((-worth[self.person], self.pair))
        pairs, first = np.unique(self.pair[order], return_index=True)
        best = order[first]
        chosen = worth[self.person[best]] > 0
        pairs, best = pairs[chosen], best[chosen]
        who = self.person[best]
        t = np.zeros(self.n_pairs)
        t[pairs] = np.where(adverse[who], -1.0, 1.0) * (2 * self.share[best] - 1)
        countable = np.zeros(self.n_pairs, dtype=bool)
        countable[pairs] = True
        if not len(who):
            return t, countable, (1.0, 0.0)
        turned = adverse[who]
        rates = (
            float(np.where(turned, 1 - r1[who], r1[who]).mean()),
            float(np.where(turned, 1 - r0[who], r0[who]).mean()),
        )
        return t, countable, rates


def check_annotators(
    annotators: ArrayLike, n_answers: int
) -> tuple[tuple[str, ...], Ints]:
    """Return the names of the people, in the order of the alphabet, and who is who.

    Parameters
    ----------
    annotators : array-like of shape (n_answers,)
        A name or a number for each answer; nothing (None, NaN, "") is one person, too.
    n_answers : int
        How many answers there are.

    Returns
    -------
    names : tuple of str
    person : ndarray of shape (n_answers,)

    Examples
    --------
    >>> check_annotators(["bob", "ann", None, "bob"], 4)
    (('(no name)', 'ann', 'bob'), array([2, 1, 0, 2]))
    """
    given: Any = on_host(annotators)
    values = np.asarray(given, dtype=object)
    if values.shape != (n_answers,):
        raise ValueError(
            "annotators must hold one name per answer, so have shape "
            f"({n_answers},); got shape {values.shape}"
        )
    texts = [_name(value) for value in values.tolist()]
    names, person = np.unique(np.array(texts, dtype=object), return_inverse=True)
    return tuple(names.tolist()), person.ravel()


def _name(value: Any) -> str:
    return ("" if is_missing(value) else str(value).strip()) or UNNAMED


def gather(
    index: Ints,
    t: Floats,
    names: tuple[str, ...],
    person: Ints,
    weight: Floats,
) -> tuple[Ints, Crowd]:
    """Gather answers by pair, in whatever order it names its points.

    Several answers of one person about one pair count as one, their mean: whoever
    repeats an answer need not have thought again.

    Parameters
    ----------
    index : ndarray of shape (n_answers, 2)
        Row numbers of the points.
    t : ndarray of shape (n_answers,)
        Answers, from -1 to +1.
    names, person : tuple of str, ndarray of shape (n_answers,)
        As by `check_annotators`.
    weight : ndarray of shape (n_answers,)
        How much each answer counts.

    Returns
    -------
    first : ndarray of shape (n_pairs,)
        The first answer about each pair; pairs are in this order.
    crowd : Crowd

    Examples
    --------
    >>> index, t = np.array([[0, 1], [2, 3], [1, 0]]), np.array([1.0, 1, -1])
    >>> who = ("ann", "bob"), np.array([0, 0, 1])
    >>> first, crowd = gather(index, t, *who, np.ones(3))
    >>> first, crowd.pair, crowd.person, crowd.share
    (array([0, 1]), array([0, 0, 1]), array([0, 1, 0]), array([1., 0., 1.]))
    """
    ends = np.sort(index, axis=1)
    _, first, pair = np.unique(ends, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    pair = rank[pair.ravel()]
    key, one = np.unique(pair * len(names) + person, return_inverse=True)
    times = np.bincount(one.ravel(), weight)
    told = np.bincount(one.ravel(), weight * (1 + t) / 2)
    often = np.bincount(one.ravel())
    crowd = Crowd(
        names,
        len(first),
        key // len(names),
        key % len(names),
        told / np.where(times > 0, times, 1.0),
        times / often,
    )
    return first[order], crowd
