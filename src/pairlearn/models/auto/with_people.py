"""Models and people, each learned from what the other says.

The models need to know how often each person is right, and what the models say of
points that they have not seen tells how often each person is right. So both are found
in turns: first from the pairs that several people answered, and from cycles of answers,
which need no model; then with the models' class probabilities, until nobody's rates
move by much.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import softmax

from pairlearn.models.auto.likelihood import CERTAIN
from pairlearn.people.coins import find_coins
from pairlearn.people.views import bent_views, blind_views

if TYPE_CHECKING:
    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Floats, Ints
    from pairlearn.models.auto.choice import Choice
    from pairlearn.models.auto.choose import Chooser
    from pairlearn.models.auto.ensemble import Ensemble
    from pairlearn.models.auto.likelihood import Rates
    from pairlearn.models.auto.problem import Problem
    from pairlearn.models.base import Answered
    from pairlearn.people.coins import Coins
    from pairlearn.people.crowd import Crowd

__all__ = ["Turns", "weighed"]

_ROUNDS = 4
# Rates that move by less than this, on the mean over answers, are not worth a round.
_SETTLED = 0.01
# Evidence, as a logarithm, by which one explanation must be better than its mirror
# image to be believed without models; and how far rates of two explanations differ.
_CLOSE, _OTHER = 8.0, 0.2


def weighed(problem: Problem, crowd: Crowd, coins: Coins) -> Problem:
    """Return a problem whose pairs have one answer, and how likely that is wrong."""
    t, wrong = crowd.told(coins)
    return replace(problem, same=(1 + t) / 2, different=(1 - t) / 2, wrong=wrong)


class Turns:
    """The people of a fit, and what is known of them so far.

    Parameters
    ----------
    crowd : Crowd
        Who said what about all pairs.
    part : ndarray
        The pairs on which models are chosen.
    chooser : Chooser
        Of these pairs. Its problem is replaced by one with the answers as the people
        are worth, here and whenever more is known of them.

    Attributes
    ----------
    coins : Coins
        Everybody's coins.
    """

    def __init__(self, crowd: Crowd, part: Ints, chooser: Chooser) -> None:
        self.everything = crowd
        self.part = part
        self.crowd = crowd.part(part)
        problem = chooser.problem
        answers = self.crowd.answers(problem.index)
        views = blind_views(problem.X.shape[0])
        self.coins = find_coins(answers, views)
        # What if all that seems the same were different? Without models it may be hard
        # to tell.
        turned = find_coins(answers, views, self.coins.mirrored, only=True)
        close = turned.evidence > self.coins.evidence - _CLOSE
        other = np.abs(np.subtract(turned.rates, self.coins.rates)).max() > _OTHER
        self._rival = turned if close and other else None
        chooser.problem = weighed(problem, self.crowd, self.coins)

    def first_answers(self) -> Floats:
        """Return what all people together say about each of all pairs."""
        return self.everything.told(self.coins)[0]

    def choose(self, chooser: Chooser, rates: Rates | None) -> tuple[Choice, Rates]:
        """Choose models and find everybody's coins, in turns."""
        used = rates or CERTAIN
        starts = [self.coins] if self._rival is None else [self.coins, self._rival]
        turns = [self._turn(chooser, coins, used) for coins in starts]
        k = int(np.argmax([turn[1].evidence for turn in turns]))
        best, before = turns[k], starts[k]
        for _ in range(_ROUNDS - 1):
            moved = np.abs(np.subtract(before.rates, best[1].rates)).max(axis=0)
            if moved[self.crowd.person].mean() < _SETTLED:
                break
            before = best[1]
            best = self._turn(chooser, before, used)
        choice, self.coins, self.p = best
        chooser.problem = weighed(chooser.problem, self.crowd, before)
        return choice, used

    def _turn(
        self, chooser: Chooser, coins: Coins, rates: Rates
    ) -> tuple[Choice, Coins, Floats]:
        """Choose models with everybody's coins, then find these anew."""
        chooser.problem = problem = weighed(chooser.problem, self.crowd, coins)
        choice = chooser.choose(rates)
        # A point that no model has left out may be of either class.
        logits = np.nan_to_num(choice.out_of_fold(problem), nan=0.0)
        p = softmax(logits, axis=1)
        answers = self.crowd.answers(problem.index)
        return choice, find_coins(answers, bent_views(p), coins.rates), p

    def with_others(self, pairs: Pairs, ensemble: Ensemble) -> Coins:
        """Return coins by all answers, where models were chosen on a part of them.

        The models have not seen the points of the other pairs.
        """
        p = softmax(ensemble.logits(pairs.X), axis=1)
        used = pairs[self.part].used_points()
        p[used] = self.p[: len(used)]
        answers = self.everything.answers(pairs.index)
        self.coins = find_coins(answers, bent_views(p), self.coins.rates)
        return self.coins

    def to_judge(self, sample: Answered) -> tuple[Answered, Floats, Rates]:
        """Return what all say together, answers to count, and the rates of these.

        The answers to count are NaN where nobody counts.
        """
        coins = self.coins
        t, countable, rates = self.crowd.to_count(
            *coins.rates, coins.at_chance, coins.adverse
        )
        said, wrong = self.crowd.told(coins)
        together = sample._replace(t=said * (1 - 2 * wrong))
        return together, np.where(countable, t, np.nan), rates
