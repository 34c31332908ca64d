r"""An interval for a mean from questions that were drawn by how doubtful they are.

One step is one block of candidate pairs, of which one is asked. Candidate j has the
doubt h_j, the probability that a model gives to being wrong about it, and is asked with
probability r_j / R, where R is the number of candidates and

.. math:: r_j = f + (1 - f) \frac{s_j}{\bar s}, \qquad s_j = \sqrt{h_j (1 - h_j)},

so that r_j is how many times as often as by a uniform draw, and never below the floor
f. With w = 1 if the model is wrong about the pair that is asked, and 0 otherwise,

.. math:: x = c \bar h + \frac{w - c h_j}{r_j}

has the mean D = P(wrong about a random pair), whatever the doubts are worth, for every
c that does not depend on which candidate is drawn. If the doubts are right and c = 1,
its variance given the block is the mean of h (1 - h) / r over the candidates.

*Betting* (Waudby-Smith and Ramdas 2024). Blocks are independent draws. To test that D
is at least m, begin with a wealth of 1 and bet the part b_k of it on the k-th block, so
that it is multiplied by 1 + b_k (m - x_k). If b_k >= 0 depends on earlier blocks only
and the wealth cannot become negative, its mean never grows while D >= m, and by Ville's
inequality it reaches 1 / a at any time with probability at most a. The lower end is the
same with x - m. Bets do not have to be good for that, only to be made beforehand.

*Which bets.* The goal is to reach 1 / a by the last step n, not to grow rich. In the
limit of many small steps the wealth with the best chance of that is the price of an
option that pays 1 / a if the sum ends far enough on one side (the test of Neyman and
Pearson). If F is a times the wealth, z the normal quantile of F, and V the variance
that is still to come, that option is replicated by

.. math:: b = \frac{\varphi(z)}{F \sqrt{V}} .

It makes the interval about as short as the exact one for a fixed number of questions;
bets for growth would need nearly twice as many questions. V comes from the doubts and
from earlier blocks. In simulations bets that are a little bolder do better, with less
of V: 85 % of it for the upper end, and 55 % for the lower, towards which x has its long
tail. The first bets are more careful, in case the model is surer than it should be.

*Limits.* As h <= 1/2, h_j / r_j <= 1/2; and c is reduced where that is needed to keep
c times the mean doubt below a cap B, which is twice the mean of earlier blocks. So x
lies between -1/2 and B + 1/f, and bets of at most 0.99 / (B + 1/f - m) for one side and
0.99 / (m + 1/2) for the other leave something of the wealth.

*A grid.* Tests are made on a grid that is fixed beforehand. The upper end is the
smallest value such that it and all larger ones are rejected. If it were at or below D,
the largest value of the grid that is not above D would be rejected although it is true.
So one test decides, and the confidence is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from pairlearn.data.types import Bools, Floats

__all__ = ["GRID", "Draws", "betting_interval", "estimate", "relative_chances"]

# Pair errors from 0 to 1/2, closest where they are small: an error of 5 % is found
# within 0.0002.
_ERRORS = 0.5 * np.linspace(0.0, 1.0, 2001)[1:] ** 1.5
GRID = 2 * _ERRORS * (1 - _ERRORS)
# The part of the wealth that a bet may lose.
_MOST_LOST = 0.99
# How many questions the doubts' own variance counts for, what is added to it, and how
# much of the whole is taken for what is to come: for the upper end, and for the lower.
_PRIOR = 10.0
_EXTRA = {True: 0.06, False: 0.01}
_BOLD = {True: 0.85, False: 0.55}
# How many the belief counts for that the doubts are right.
_TRUST = 50.0
# How far above earlier ones the mean doubt of a block may be.
_CAP, _SLACK = 2.0, 0.01


class Draws(NamedTuple):
    """Blocks of which one pair each is asked; arrays of shape (n_steps, ...)."""

    # h and r of the pair that is asked.
    doubt: Floats
    chance: Floats
    # The mean of h over the candidates, and of h (1 - h) / r.
    mean_doubt: Floats
    spread: Floats
    # These two means, of pairs that are not asked.
    first_doubt: float
    first_spread: float
    floor: float
    # How many steps were planned.
    horizon: int

    def up_to(self, n_steps: int) -> Draws:
        """Return the first steps."""
        return self._replace(
            doubt=self.doubt[:n_steps],
            chance=self.chance[:n_steps],
            mean_doubt=self.mean_doubt[:n_steps],
            spread=self.spread[:n_steps],
        )


class _Steps(NamedTuple):
    """What the bets rest on: x, its variance as expected before, and its limit."""

    x: Floats
    variance: Floats
    most: Floats


def relative_chances(doubts: Floats, floor: float) -> Floats:
    """Return how many times as often as by a uniform draw each pair is asked.

    Parameters
    ----------
    doubts : ndarray of shape (..., n_candidates)
        Probabilities, at most 1/2, that the model is wrong about them.
    floor : float
        The least that any pair gets.

    Returns
    -------
    ndarray of shape (..., n_candidates)
        Their mean over the candidates is 1.

    Examples
    --------
    >>> import numpy as np
    >>> relative_chances(np.array([0.0, 0.0, 0.5, 0.5]), floor=0.4)
    array([0.4, 0.4, 1.6, 1.6])
    """
    s = np.sqrt(doubts * (1 - doubts))
    mean = s.mean(axis=-1, keepdims=True)
    even = np.ones_like(s)
    share = np.divide(s, mean, out=even, where=mean > 0)
    return np.asarray(floor + (1 - floor) * share)


def estimate(draws: Draws, wrong: Floats) -> Floats:
    """Return the mean of x over the steps, an estimate of D without bias.

    Parameters
    ----------
    draws : Draws
        The blocks.
    wrong : ndarray of shape (n_steps, ...)
        1 where the model was wrong about the pair that was asked, else 0.

    Returns
    -------
    ndarray
    """
    return np.asarray(_steps(draws, wrong).x.mean(axis=0))


def betting_interval(
    draws: Draws,
    wrong: Floats,
    unsure: Floats | None = None,
    *,
    confidence: float = 0.95,
    grid: Floats = GRID,
) -> tuple[Floats, Floats]:
    """Return an interval for D that holds however often one looks.

    Parameters
    ----------
    draws : Draws
        The blocks so far, in the order in which they were planned.
    wrong : ndarray of shape (n_steps, ...)
        1 where the model was wrong about the pair that was asked, else 0.
    unsure : ndarray of shape (n_steps, ...), optional
        1 where nobody can tell: wrong for the upper end, right for the lower end.
    confidence : float, default=0.95
        The probability, at least, with which the intervals of all looks together
        contain D; shared equally by both sides.
    grid : ndarray, optional
        Increasing values, above 0 and up to 1/2, at which the interval may end.

    Returns
    -------
    low, high : ndarray

    Examples
    --------
    >>> import numpy as np
    >>> even = np.ones(300)
    >>> draws = Draws(0 * even, even, 0 * even, 0 * even, 0.0, 0.1, 1.0, 300)
    >>> low, high = betting_interval(draws, np.arange(300) % 10 == 0)
    >>> print(f"{low:.3f} {high:.3f}")  # that of Clopper and Pearson: 0.068 and 0.140
    0.069 0.142
    """
    wrong = np.asarray(wrong, dtype=float)
    most = wrong if unsure is None else np.maximum(wrong, unsure)
    tail = (1 - confidence) / 2
    above = _rejected(_steps(draws, most), grid, tail, draws.horizon, upper=True)
    below = _rejected(_steps(draws, wrong), grid, tail, draws.horizon, upper=False)
    # How many values are rejected in a row, from the top and from the bottom.
    from_top = np.logical_and.accumulate(above[..., ::-1], axis=-1).sum(axis=-1)
    from_bottom = np.logical_and.accumulate(below, axis=-1).sum(axis=-1)
    high = np.append(grid, grid[-1])[len(grid) - from_top]
    low = np.append(0.0, grid)[from_bottom]
    # They cross only where one of them is wrong.
    return np.minimum(low, high), np.maximum(low, high)


def _steps(draws: Draws, wrong: Floats) -> _Steps:
    """Return x of each step, with a control variate and limits from earlier steps."""
    h, r, mean_doubt, spread = map(np.asarray, draws[:4])
    w = np.broadcast_to(np.asarray(wrong, dtype=float), h.shape)
    n = np.arange(len(h)).reshape(-1, *[1] * (h.ndim - 1))
    spreads = _before(spread, draws.first_spread) / (n + 1)
    doubts = _before(mean_doubt, draws.first_doubt) / (n + 1)
    cap = np.minimum(_CAP * doubts + _SLACK, 0.5)
    trust = _TRUST * np.maximum(spreads, 1e-9)
    c = (trust + _before(h * w / r**2)) / (trust + _before((h / r) ** 2))
    c = np.minimum(np.clip(c, 0.0, 1.0), cap / np.maximum(mean_doubt, 1e-12))
    x = c * mean_doubt + (w - c * h) / r
    # Squares about the mean of earlier steps, or about what the doubts say.
    centre = np.where(n > 0, _before(x) / np.maximum(n, 1), mean_doubt)
    squares = _before((x - centre) ** 2)
    variance = (_PRIOR * spreads + squares) / (_PRIOR + n)
    return _Steps(x, variance, cap + 1 / draws.floor)


def _before(values: Floats, first: Floats | float = 0.0) -> Floats:
    """Return the sums of all earlier values, and of a first one."""
    sums = np.cumsum(values, axis=0)
    return np.asarray(np.concatenate([np.zeros_like(sums[:1]), sums[:-1]]) + first)


def _rejected(
    steps: _Steps, grid: Floats, tail: float, horizon: int, *, upper: bool
) -> Bools:
    """Tell which values of the grid the bets have rejected at some step."""
    # F, the wealth times the tail; once it is 1 no more bets are made.
    F = np.full((*steps.x.shape[1:], len(grid)), tail)
    for k, (x, variance, most) in enumerate(zip(*steps, strict=True)):
        gain = (grid - x[..., None]) * (1 if upper else -1)
        lost = most[..., None] - grid if upper else grid + 0.5
        z = ndtri(np.clip(F, 1e-300, 1 - 1e-12))
        expected = variance + _EXTRA[upper] * _PRIOR / (_PRIOR + k)
        to_come = np.sqrt(_BOLD[upper] * (horizon - k) * expected)[..., None]
        bet = np.exp(-z * z / 2) / (np.sqrt(2 * np.pi) * np.maximum(F, 1e-300))
        bet = np.minimum(bet / to_come, _MOST_LOST / lost)
        F = np.where(F < 1, np.minimum(F * (1 + bet * gain), 1.0), 1.0)
    return np.asarray(F >= 1)
