r"""Two coins for each person who answers, and what they tell about the pairs.

Answer k about the points i_k and j_k by person a is "same" (s_k = 1) with probability
r1_a if the points are of the same class, and r0_a = 1 - q0_a if they are not, whatever
other people say. With class probabilities p of the points, by models that have not seen
them, all answers have the likelihood

.. math:: Z(r) = \sum_{c_1, \dots, c_n} \prod_i p_i(c_i) \prod_k \psi_k, \qquad
          \psi_k = \begin{cases}
          s_k r_{1a} + (1 - s_k) (1 - r_{1a}) & \text{if the classes are the same} \\
          s_k r_{0a} + (1 - s_k) (1 - r_{0a}) & \text{if they are different,}
          \end{cases}

as in :mod:`pairlearn.engine.components.likelihood`. It holds all three sources: pairs
that several people answered, cycles of answers that cannot be all right, and answers
that p contradicts.

Let P_k be the probability that the points of answer k are the same given all answers
*but this one*: its odds are the odds given all answers, divided by psi_k(same) /
psi_k(different). As a function of the coins of person a,

.. math:: L_a(r_1, q_0) = \prod_{k \text{ of } a} [P_k \psi_k(\text{same})
          + (1 - P_k) \psi_k(\text{different})]

has the same derivatives as Z at the coins with which the P_k were found,

.. math:: \frac{\partial \log Z}{\partial r_{1a}} = \sum_{k \text{ of } a}
          \frac{P_k (2 s_k - 1)}{P_k \psi_k(\text{same})
          + (1 - P_k) \psi_k(\text{different})}
          = \frac{\partial \log L_a}{\partial r_{1a}} ,

so a maximum of the one is a maximum of the other, and it is Z itself where no two
answers of a person are in one component. Each round finds the P_k, then everybody's
distribution given L and the priors of :mod:`pairlearn.people.coin_priors`, and goes on
with the mean of r1 and q0. (Expectation maximisation has the same fixed points without
priors, but steps that are much shorter where p says little.)

How certain the models may be was learned from the same answers. So p is one of several
*views*, each more or less certain than the others, with prior weights; each has coins
of its own, and what is found is their average by evidence. Before there are models,
the views are that nothing is known of the points but how large the larger class is.

The outcome of several starts is compared by

.. math:: \log Z + \log \int \prod_a \frac{L_a(r_1, q_0)}{L_a(\hat r)} \, d\pi ,

which is the evidence itself where L is the likelihood.

*The intervals* are those of the distribution of a person's coins, with P_k as found. By
that they would be too narrow where the P_k rest on other people's coins, which are not
known exactly either. So each is widened: the observed information of everybody's
coins on the scale of logits, J = -d^2 log Z, with the curvature of the priors added,
has an inverse whose diagonal is the variance with the others' coins unknown, and the
inverse of its own diagonal block is that with the others known. The interval is
stretched about its median, on that scale, by the root of the ratio; and by 15 % in any
case, since p is never quite right (`benchmarks/results/people.md`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, log_expit, logit, logsumexp, softmax

from pairlearn.engine.components.likelihood import Components
from pairlearn.engine.components.propagation import Memory
from pairlearn.people.coin_likelihood import Look, psi
from pairlearn.people.coin_priors import RATES, posteriors, quantiles

if TYPE_CHECKING:
    from pairlearn.data.types import Bools, Floats
    from pairlearn.people.coin_likelihood import CoinAnswers
    from pairlearn.people.views import View

__all__ = ["Coins", "find_coins", "interval"]

_ROUNDS, _SETTLED = 60, 1e-3
# Coins that move by less than this are all moved together.
_CLOSE = 0.03
# Explanations in which somebody's coins differ by more than this are two.
_OTHER = 0.3
# Where the search begins: both coins of everybody.
_STARTS = (0.8, 0.95)
# By how much intervals are stretched at least, as p is never quite right.
_ALLOWANCE = 1.15
# So many terms of weight 1 have a product far above the smallest number.
_FACTORS = 60
# So many groups of people are moved in turns, unless they move little.
_TURNS = 8


@dataclass(frozen=True)
class Coins:
    """What was found.

    Attributes
    ----------
    r1, r0 : ndarray of shape (n_people,)
        Mean of each person's P(says same | same) and P(says same | different).
    cells : ndarray of shape (n_people, n_cells, n_cells)
        Distribution of (r1, q0 = 1 - r0).
    stretch : ndarray of shape (n_people,)
        By how much intervals are stretched.
    evidence : float
        Logarithm of the evidence of all answers.
    """

    r1: Floats
    r0: Floats
    cells: Floats
    stretch: Floats
    evidence: float

    @property
    def rates(self) -> tuple[Floats, Floats]:
        """(r1, r0) of everybody."""
        return self.r1, self.r0

    @property
    def at_chance(self) -> Bools:
        """Whose answers more likely than not tell next to nothing about the pairs."""
        return self._chance(np.abs(_DIFFERENCE) < _NEXT_TO_NOTHING) > _LIKELY

    @property
    def adverse(self) -> Bools:
        """Whose answers are almost certainly wrong more often than right."""
        return (self._chance(_DIFFERENCE < 0) > _ALMOST_CERTAIN) & ~self.at_chance

    @property
    def mirrored(self) -> tuple[Floats, Floats]:
        """(r1, r0) of everybody if all that seems the same were different."""
        return self.r0, self.r1

    def _chance(self, some: Bools) -> Floats:
        return np.asarray(self.cells[:, some].sum(axis=1))


# r1 - r0 at all cells; a person for whom it is near 0 answers at random.
_DIFFERENCE = RATES[:, None] + RATES - 1
_NEXT_TO_NOTHING, _LIKELY, _ALMOST_CERTAIN = 0.25, 0.5, 0.95


def find_coins(
    answers: CoinAnswers,
    views: list[View],
    start: tuple[Floats, Floats] | None = None,
    *,
    only: bool = False,
) -> Coins:
    """Find everybody's coins.

    Parameters
    ----------
    answers : CoinAnswers
        The answers.
    views : list of View
        Class probabilities that there may be, by models that have not seen the points;
        the outcome is averaged over them, by their evidence.
    start : tuple of ndarray, optional
        (r1, r0) of each person, to begin with beside the usual starts.
    only : bool, default=False
        Whether to begin there alone.

    Returns
    -------
    Coins

    Examples
    --------
    Three people and thirty pairs; the third one always says the opposite.

    >>> from pairlearn.people.coin_likelihood import CoinAnswers
    >>> from pairlearn.people.views import blind_views
    >>> same = np.arange(30) % 2 == 0
    >>> index = np.arange(60).reshape(30, 2)
    >>> answers = CoinAnswers(
    ...     np.tile(index, (3, 1)),
    ...     np.concatenate([same, same, ~same]).astype(float),
    ...     np.repeat([0, 1, 2], 30),
    ...     3,
    ...     np.ones(90),
    ... )
    >>> find_coins(answers, blind_views(60)).r1.round(1)
    array([1., 1., 0.])
    """
    graph = Components(answers.ends, len(views[0].p), views[0].p.shape[1])
    looks = [Look(answers, view.p, graph) for view in views]
    usual = [np.full((2, answers.n_people), each) for each in _STARTS]
    starts = [] if only else usual
    if start is not None:
        starts = [np.stack([start[0], 1 - start[1]]), *starts]
    tried = [_settle(looks[0], each) for each in starts]
    if not only:
        # What if all that seems the same were different?
        turned = 1 - max(tried, key=_by_evidence).coins[::-1]
        tried.append(_settle(looks[0], turned))
    found = [max(tried, key=_by_evidence)]
    for look in looks[1:]:
        found.append(_settle(look, found[-1].coins))
    logs = np.array(
        [end.evidence + view.log_weight for end, view in zip(found, views, strict=True)]
    )
    best = int(logs.argmax())
    # Views that end in another explanation of everything are not averaged in.
    other = [np.abs(end.coins - found[best].coins).max() > _OTHER for end in found]
    weight = softmax(np.where(other, -np.inf, logs))
    cells = np.einsum("v,vars->ars", weight, [end.cells for end in found])
    r1, q0 = np.einsum("v,vca->ca", weight, [end.coins for end in found])
    evidence = float(logsumexp(logs) - logsumexp([view.log_weight for view in views]))
    return Coins(r1, 1 - q0, cells, _stretch(looks[best], found[best]), evidence)


class _End(NamedTuple):
    """Where a search ended: evidence, coins (2, n_people), and their distribution."""

    evidence: float
    coins: Floats
    cells: Floats


def _by_evidence(end: _End) -> float:
    return end.evidence


def _settle(look: Look, coins: Floats) -> _End:
    """Go on from a start until nobody's coins move."""
    memory = Memory(1, tolerance=1e-6)
    answers, everybody = look.answers, np.arange(look.answers.n_people)
    tables = np.zeros((len(everybody), len(RATES), len(RATES)))
    coins = coins.copy()
    together = False
    for _ in range(_ROUNDS):
        before = coins.copy()
        n_turns = 1 if together else min(len(everybody), _TURNS)
        for turn in range(n_turns):
            some = everybody[turn::n_turns]
            log_z, odds = look(coins[0][:, None], 1 - coins[1][:, None], memory)
            for a in everybody if turn == 0 else some:
                tables[a] = likelihood_table(answers, odds[:, 0], a)
            here = _at(answers, odds[:, 0], coins)
            cells, gained = posteriors(tables)
            evidence = float(log_z[0]) + gained - float(here.sum())
            new = np.stack([cells.sum(axis=2) @ RATES, cells.sum(axis=1) @ RATES])
            # Two people who contradict each other must not change their minds at once.
            step = 1.0 if together or len(some) == 1 else 0.6
            coins[:, some] += step * (new - coins)[:, some]
        moved = float(np.abs(coins - before).max())
        if together and moved < _SETTLED:
            break
        together = moved < _CLOSE
    return _End(evidence, coins, cells)


def likelihood_table(answers: CoinAnswers, odds: Floats, person: int) -> Floats:
    """Return log L of a person's coins at all cells.

    Terms are multiplied before the logarithm is taken, as many as cannot vanish: none
    is less than the smallest rate to the power of its weight.
    """
    own = np.flatnonzero(answers.person == person)
    chance, weight = expit(odds[own]), answers.weight[own]
    share = answers.share[own]
    table = np.zeros((len(RATES), len(RATES)))
    heaviest = max(1.0, float(weight.max(initial=0.0)))
    step = max(1, int(_FACTORS / heaviest))
    for begin in range(0, len(own), step):
        rows = slice(begin, begin + step)
        table += np.log(_product(chance[rows], share[rows], weight[rows]))
    return table


def _product(chance: Floats, share: Floats, weight: Floats) -> Floats:
    """Return the product of some terms of L at all cells."""
    r1 = share[:, None] * RATES + (1 - share[:, None]) * (1 - RATES)
    q0 = share[:, None] * (1 - RATES) + (1 - share[:, None]) * RATES
    same = chance[:, None] * r1 ** weight[:, None]
    different = (1 - chance[:, None]) * q0 ** weight[:, None]
    return np.asarray(np.prod(same[:, :, None] + different[:, None, :], axis=0))


def _at(answers: CoinAnswers, odds: Floats, coins: Floats) -> Floats:
    """Return log L of each person at their coins."""
    same, different = psi(answers, coins[0], 1 - coins[1])
    weight = answers.weight
    terms = np.logaddexp(
        log_expit(odds) + weight * np.log(same),
        log_expit(-odds) + weight * np.log(different),
    )
    found = np.bincount(answers.person, terms, minlength=answers.n_people)
    return np.asarray(found, dtype=float)


def _stretch(look: Look, end: _End) -> Floats:
    """Return by how much unknown coins of others stretch a person's interval."""
    n = look.answers.n_people
    at = logit(np.clip(np.concatenate(end.coins), 0.01, 0.99))
    step = 0.05
    moved = at[:, None] + step * np.concatenate([np.eye(2 * n), -np.eye(2 * n)], axis=1)
    rates = expit(moved)
    first, second = rates[:n], 1 - rates[n:]
    _, odds = look(first, second)
    slope = look.slopes(first, second, odds).reshape(2 * n, -1)
    information = -(slope[:, : 2 * n] - slope[:, 2 * n :]) / (2 * step)
    information = (information + information.T) / 2
    # The distribution of a person's coins holds prior and likelihood.
    spread = _logit_covariances(end.cells)
    for a in range(n):
        block = np.ix_([a, n + a], [a, n + a])
        information[block] = np.linalg.inv(spread[a])
    values, vectors = np.linalg.eigh(information)
    least = 0.1 * np.median(np.diag(information))
    inverse = (vectors / np.maximum(values, least)) @ vectors.T
    out = np.ones(n)
    for a in range(n):
        block = np.ix_([a, n + a], [a, n + a])
        ratio = np.diag(inverse[block]) / np.diag(spread[a])
        out[a] = _ALLOWANCE * np.sqrt(max(1.0, float(ratio.max())))
    return out


def _logit_covariances(cells: Floats) -> Floats:
    """Return the covariance of (logit r1, logit q0) of each person."""
    x = logit(RATES)
    rows, columns = cells.sum(axis=2), cells.sum(axis=1)
    mean1, mean0 = rows @ x, columns @ x
    one = rows @ x**2 - mean1**2
    two = columns @ x**2 - mean0**2
    both = np.einsum("arq,r,q->a", cells, x, x) - mean1 * mean0
    found = np.empty((len(cells), 2, 2))
    found[:, 0, 0], found[:, 1, 1] = one, two
    found[:, 0, 1] = found[:, 1, 0] = both
    return found


def interval(cells: Floats, stretch: float, confidence: float = 0.95) -> Floats:
    """Return the interval of a rate from its distribution, stretched."""
    tail = (1 - confidence) / 2
    low, middle, high = quantiles(cells, (tail, 0.5, 1 - tail))
    ends = logit(np.clip([low, middle, high], 1e-9, 1 - 1e-9))
    low, high = ends[1] + stretch * (ends[[0, 2]] - ends[1])
    return np.asarray(expit([low, high]))
