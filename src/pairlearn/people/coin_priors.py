r"""What is believed of a person's two coins before they have said anything.

A person's coins are r1 = P(says same | same) and q0 = P(says different | different).
Both are near an accuracy c of the person, and the accuracies of all people are alike to
a degree that the people show themselves:

.. math:: c \sim 0.9\,\mathrm{Beta}(s m, s (1 - m)) + 0.1\,\mathrm{Beta}(1, 1), \qquad
          r_1, q_0 \mid c \sim \mathrm{Beta}(\kappa c, \kappa (1 - c)) .

kappa says how far one coin will do for both: it weighs as kappa answers about pairs
whose truth is known, so that a person with fewer has one coin, and one with many has
two. The three numbers h = (m, s, kappa) are shared by all people. Nobody knows them, so
they have priors themselves, on a grid: a mean accuracy m above one half as a rule, so
that the people on the whole are taken to be better than chance; any one of them may
still be a spammer (c near 1/2) or an adversary (c near 0).

With L_a(r1, q0) the likelihood of a person's coins, W_a(h) = sum of pi_h L_a, and prior
weights w(h), the distribution of the coins of person a given everybody's answers is

.. math:: \propto L_a \sum_h \Big[w(h) \prod_{b \ne a} W_b(h)\Big] \pi_h ,

summed exactly: the shared numbers are not estimated, but averaged over, so that five
people, who say little about them, get the wide intervals that they should.

Everything is a table over cells of (r1, q0): the cells are of equal width in
arcsin(sqrt(r)), in which a rate is about equally well known everywhere.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betainc
from scipy.stats import beta, norm

if TYPE_CHECKING:
    from pairlearn.data.types import Floats

__all__ = ["EDGES", "RATES", "Shared", "posteriors", "quantiles", "shared_priors"]

_CELLS = 40
# Ends of the cells of a rate, and the rates that stand for them.
EDGES = np.sin(np.linspace(0, np.pi / 2, _CELLS + 1)) ** 2
RATES = np.sin((np.arange(_CELLS) + 0.5) * np.pi / 2 / _CELLS) ** 2

# The grid of h. The mean accuracy has the prior Beta(8, 3); its sample size, which says
# how much alike people are, lies around 6 within a factor of e; kappa is any of three.
_MEANS = (0.55, 0.62, 0.69, 0.75, 0.81, 0.87, 0.93)
_SIZES = (1.5, 2.5, 4.0, 7.0, 12.0, 25.0, 60.0)
_ONE_COIN = (12.0, 30.0, 100.0)
# The chance that a person is like nobody else: any accuracy.
_STRANGE = 0.1
_MEAN_PRIOR, _SIZE_PRIOR = (8.0, 3.0), (np.log(6.0), 1.0)


class Shared(NamedTuple):
    """The distributions of the coins that people may share.

    Attributes
    ----------
    log_weight : ndarray of shape (n_shared,)
        Prior weight of each.
    tables : ndarray of shape (n_shared, n_cells, n_cells)
        Probability of each cell of (r1, q0).
    """

    log_weight: Floats
    tables: Floats


@lru_cache(maxsize=1)
def shared_priors() -> Shared:
    """Return the grid of h, with the distribution of the coins for each."""
    kinds, weights = [], []
    near = {kappa: _coins_near(kappa) for kappa in _ONE_COIN}
    for mean, size, kappa in product(_MEANS, _SIZES, _ONE_COIN):
        alike = _cell_shares(size * mean, size * (1 - mean))
        accuracy = (1 - _STRANGE) * alike + _STRANGE * np.diff(EDGES)
        each = near[kappa]
        kinds.append(np.einsum("c,cr,cq->rq", accuracy, each, each))
        weights.append(
            beta.logpdf(mean, *_MEAN_PRIOR) + norm.logpdf(np.log(size), *_SIZE_PRIOR)
        )
    log_weight = np.array(weights)
    log_weight -= np.logaddexp.reduce(log_weight)
    return Shared(log_weight, np.array(kinds))


def _coins_near(kappa: float) -> Floats:
    """Return the cells of a coin near each accuracy, (n_accuracies, n_cells)."""
    return np.array([_cell_shares(kappa * c, kappa * (1 - c)) for c in RATES])


def _cell_shares(a: float, b: float) -> Floats:
    """Return the probability of each cell under Beta(a, b)."""
    return np.asarray(np.maximum(np.diff(betainc(a, b, EDGES)), 1e-300))


def posteriors(log_likelihood: Floats) -> tuple[Floats, float]:
    """Return the distribution of everybody's coins, and the evidence of all.

    Parameters
    ----------
    log_likelihood : ndarray of shape (n_people, n_cells, n_cells)
        log L of each person's coins, at `RATES`.

    Returns
    -------
    coins : ndarray of shape (n_people, n_cells, n_cells)
        Probabilities of the cells.
    evidence : float
        log of the sum over h of w(h) prod W_a(h).

    Examples
    --------
    Nothing is known of the only person: better than chance, but not much is excluded.

    >>> coins, evidence = posteriors(np.zeros((1, len(RATES), len(RATES))))
    >>> round(float(coins[0].sum(axis=1) @ RATES), 1), abs(round(evidence, 6))
    (0.7, 0.0)
    >>> ends = quantiles(coins[0].sum(axis=1), (0.025, 0.975))
    >>> [round(float(end), 1) for end in ends]
    [0.1, 1.0]
    """
    shared = shared_priors()
    top = log_likelihood.max(axis=(1, 2), keepdims=True)
    likelihood = np.exp(log_likelihood - top)
    flat = shared.tables.reshape(len(shared.tables), -1)
    # (n_people, n_shared); the tops come back in the evidence.
    log_w = np.log(likelihood.reshape(len(likelihood), -1) @ flat.T)
    total = shared.log_weight + log_w.sum(axis=0)
    evidence = float(np.logaddexp.reduce(total) + top.sum())
    others = total - log_w
    others = np.exp(others - others.max(axis=1, keepdims=True))
    prior = (others @ flat).reshape(likelihood.shape)
    coins = likelihood * prior
    coins /= coins.sum(axis=(1, 2), keepdims=True)
    return coins, evidence


def quantiles(
    cells: Floats, levels: tuple[float, ...], edges: Floats = EDGES
) -> Floats:
    """Return quantiles of a number that lies in cells with these probabilities."""
    below = np.append(0.0, np.cumsum(cells))
    return np.interp(levels, below / below[-1], edges)
