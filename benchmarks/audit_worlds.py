"""Worlds of points and models with doubts, in which audits are chosen.

Points have a probability of being on the wrong side, and a model has a doubt about
each, which is that probability (calibrated) or something else. Answers are right. All
runs of a simulation are drawn together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtri

from pairlearn.trust.audit_needs import best_floor, doubts_of_pairs
from pairlearn.trust.betting import Draws, betting_interval, relative_chances
from pairlearn.trust.theory import (
    clustering_error_from_pair_error,
    pair_error_from_error,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def gaussian(error: float, shape: Any, rng: np.random.Generator) -> Any:
    """Return P(wrong side) for two normal laws, at the best boundary."""
    d = -float(ndtri(error))
    return expit(-np.abs(2 * d * (rng.normal(size=shape) + d)))


def hard_region(error: float, shape: Any, rng: np.random.Generator) -> Any:
    """Return 25 to 50 % for some points, and nearly nothing for the others."""
    # The mean is 0.375 s + (1 - s) error / 20.
    share = (error - error / 20) / (0.375 - error / 20)
    hard = rng.random(shape) < share
    return np.where(
        hard, rng.uniform(0.25, 0.5, shape), rng.uniform(0, error / 10, shape)
    )


def toss_ups(error: float, shape: Any, rng: np.random.Generator) -> Any:
    """Return 1/2 for some points, and 0 for the others."""
    return np.where(rng.random(shape) < 2 * error, 0.5, 0.0)


WORLDS: dict[str, Callable[..., Any]] = {
    "two normal laws": gaussian,
    "a hard region": hard_region,
    "toss-ups": toss_ups,
}


def _odds(e: Any, power: float) -> Any:
    return expit(power * logit(np.clip(e, 1e-12, 0.5)))


MODELS: dict[str, Callable[[Any], Any]] = {
    "calibrated": lambda e: e,
    "too sure (odds cubed)": lambda e: _odds(e, 3.0),
    "too unsure (root of odds)": lambda e: _odds(e, 0.5),
    "certain of everything": lambda e: np.full_like(e, 1e-4),
    "doubts the wrong points": lambda e: 0.5 - e,
}


def draw(
    world: str,
    model: str,
    error: float,
    n: int,
    n_points: int,
    n_runs: int,
    seed: int = 0,
) -> tuple[Draws, Any]:
    """Draw blocks, choose one pair of each, and return what is known of it."""
    rng = np.random.default_rng(seed)
    doubt_of, make = MODELS[model], WORLDS[world]
    floor = best_floor(doubt_of(make(error, 400, rng)), n, n_points)
    first = doubts_of_pairs(doubt_of(make(error, (n_runs, 2 * n_points), rng)))
    i, j = np.triu_indices(n_points, 1)
    run = np.arange(n_runs)
    kept: list[Any] = []
    for _ in range(n):
        e = make(error, (n_runs, n_points), rng)
        errs = rng.random(e.shape) < e
        h = doubts_of_pairs(doubt_of(e))
        chance = relative_chances(h, floor)
        sums = np.cumsum(chance, axis=1)
        at = rng.random((n_runs, 1)) * sums[:, -1:]
        k = np.minimum((sums <= at).sum(axis=1), len(i) - 1)
        spread = (h * (1 - h) / chance).mean(axis=1)
        wrong = errs[run, i[k]] ^ errs[run, j[k]]
        kept.append((h[run, k], chance[run, k], h.mean(axis=1), spread, wrong))
    doubt, chance, mean_doubt, spread, wrong = map(np.array, zip(*kept, strict=True))
    first_spread = (first * (1 - first) / relative_chances(first, floor)).mean(axis=1)
    known: Any = (first.mean(axis=1), first_spread, floor, n)
    return Draws(doubt, chance, mean_doubt, spread, *known), wrong


def held(draws: Draws, wrong: Any, error: float) -> float:
    """Return how often no look rejects the true error, on a grid that contains it."""
    truth = float(pair_error_from_error(error))
    # Two values that are as good as one tell which end has passed it.
    grid = truth * np.array([1.0, 1 + 1e-9])
    low, high = betting_interval(draws, wrong, grid=grid)
    return float(np.mean((low < truth) & (high > truth)))


def widths(draws: Draws, wrong: Any, error: float) -> Any:
    """Return the width of the interval for the clustering error in each run."""
    errors = np.concatenate(
        [np.linspace(0, 3 * error, 151)[1:], np.linspace(3 * error, 0.5, 31)[1:]]
    )
    grid = np.unique(pair_error_from_error(np.minimum(errors, 0.5)))
    ends = betting_interval(draws, wrong, grid=grid)
    low, high = (clustering_error_from_pair_error(end) for end in ends)
    return high - low


def uniform_width(error: float, n: int) -> float:
    """Return the mean width of Clopper and Pearson's interval from uniform audits."""
    rng = np.random.default_rng(0)
    k = rng.binomial(n, float(pair_error_from_error(error)), 4000).astype(float)
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, 0.025), 0.0)
    high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 0.975), 1.0)
    ends = clustering_error_from_pair_error(np.array([low, high]))
    return float(np.mean(ends[1] - ends[0]))


def uniform_needed(error: float, width: float) -> int:
    """Return how many uniform audits have this mean width."""
    low, high = 1, 2**16
    while high - low > 1:
        middle = (low + high) // 2
        enough = uniform_width(error, middle) <= width
        low, high = (low, middle) if enough else (middle, high)
    return high


def limit(world: str, error: float) -> float:
    """Return the least share of audits that any choice of pairs could need.

    That is the variance with chances in proportion to s and the doubts as control
    variate, if they are right, over that of uniform audits; n is large.
    """
    e = WORLDS[world](error, (2, 10**6), np.random.default_rng(0))
    h = e[0] + e[1] - 2 * e[0] * e[1]
    rate = h.mean()
    return float(np.sqrt(h * (1 - h)).mean() ** 2 / (rate * (1 - rate)))


def some(draws: Draws, runs: slice) -> Draws:
    """Return some of the runs."""
    arrays: Any = [array[:, runs] for array in draws[:4]]
    first: Any = [np.asarray(number)[runs] for number in draws[4:6]]
    return Draws(*arrays, *first, *draws[6:])
