"""The likelihood of everybody's coins; the formulas are in `pairlearn.people.coins`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, logit

from pairlearn.engine.components.likelihood import LinkTables
from pairlearn.engine.components.passes import TINY

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints
    from pairlearn.engine.components.likelihood import Components
    from pairlearn.engine.components.propagation import Memory

__all__ = ["CoinAnswers", "Look", "log_ratio", "psi"]

# Coins are kept from certainty.
_CERTAIN = 1e-4


class CoinAnswers(NamedTuple):
    """Answers with who gave them.

    Attributes
    ----------
    ends : ndarray of shape (n_answers, 2)
        Row numbers of the two points.
    share : ndarray of shape (n_answers,)
        1 for "same", 0 for "different", between for unsure.
    person : ndarray of shape (n_answers,)
        The number of the person.
    n_people : int
        How many people there are.
    weight : ndarray of shape (n_answers,)
        How much each counts.
    """

    ends: Ints
    share: Floats
    person: Ints
    n_people: int
    weight: Floats


def log_ratio(answers: CoinAnswers, r1: Floats, r0: Floats) -> Floats:
    """Return log psi(same) - log psi(different) of each answer, times its weight.

    `r1` and `r0` have shape (n_people,) or (n_people, n_models).
    """
    same, different = psi(answers, r1, r0)
    weight = answers.weight.reshape(-1, *[1] * (r1.ndim - 1))
    return np.asarray(weight * (np.log(same) - np.log(different)))


def psi(answers: CoinAnswers, r1: Floats, r0: Floats) -> tuple[Floats, Floats]:
    """Return psi(same) and psi(different) of each answer."""
    share = answers.share.reshape(-1, *[1] * (r1.ndim - 1))
    found = []
    for rate in (r1, r0):
        r = np.clip(rate, _CERTAIN, 1 - _CERTAIN)[answers.person]
        found.append(share * r + (1 - share) * (1 - r))
    return found[0], found[1]


class Look:
    """What everybody's coins make of the pairs."""

    def __init__(self, answers: CoinAnswers, p: Floats, graph: Components) -> None:
        self.answers = answers
        self.graph = graph
        self._log_p = np.log(np.maximum(p, 1e-12)).T[:, :, None]
        proper = answers.ends[:, 0] != answers.ends[:, 1]
        self._proper = proper

    def __call__(
        self, r1: Floats, r0: Floats, memory: Memory | None = None
    ) -> tuple[Floats, Floats]:
        """Return log Z and, for each answer, the odds (as logs) by all others.

        `r1` and `r0` have shape (n_people, n_models).
        """
        same, different = (np.log(each) for each in psi(self.answers, r1, r0))
        weight = self.answers.weight[:, None]
        logs = self.graph.at_links(weight * same, weight * different)
        top = np.maximum(*logs)
        tables = LinkTables(
            np.maximum(np.exp(logs[0] - top), TINY),
            np.maximum(np.exp(logs[1] - top), TINY),
            top.sum(axis=0),
        )
        log_p = np.repeat(self._log_p, r1.shape[1], axis=2)
        found = self.graph(log_p, tables, memory)
        alike = np.clip(self.graph.at_pairs(found.links), 1e-12, 1 - 1e-12)
        odds = logit(alike) - weight * (same - different)
        # A point and itself are the same whatever anybody says.
        odds[~self._proper] = np.inf
        return found.log_z, odds

    def slopes(self, r1: Floats, r0: Floats, odds: Floats) -> Floats:
        """Return d log Z / d logit of r1 and of q0, (2, n_people, n_models)."""
        same, different = psi(self.answers, r1, r0)
        chance = expit(odds)
        total = chance * same + (1 - chance) * different
        sign = (2 * self.answers.share - 1)[:, None] * self.answers.weight[:, None]
        who = self.answers.person
        out = []
        for part, rate, turn in ((chance, r1, 1.0), (1 - chance, r0, -1.0)):
            each = turn * sign * part / total * (rate * (1 - rate))[who]
            summed = np.zeros(r1.shape)
            np.add.at(summed, who, each)
            out.append(summed)
        return np.array(out)
