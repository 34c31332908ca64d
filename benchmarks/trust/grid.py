"""The grid: errors, sizes, priors and kinds of noise, in each way to certify."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from scipy.stats import binom

from benchmarks.trust.worlds import (
    NOISE,
    Outcome,
    World,
    by_command,
    in_python,
    outcome,
)
from pairlearn.trust.intervals import clopper_pearson
from pairlearn.trust.theory import clustering_error_from_pair_error

ERRORS, SIZES, PRIORS = (0.005, 0.05, 0.2, 0.45), (20, 100, 1000), (0.5, 0.8, 0.99)
# The way, the kind of noise, the error, the number of pairs, and the prior.
Key = tuple[str, str, float, int, float]
WAYS = {
    "certify (auto)": lambda pairs, t, _: by_command(pairs, t),
    "certify --noise": lambda pairs, t, rates: by_command(pairs, t, said(rates)),
    "Python, flip_rates": lambda pairs, t, rates: in_python(pairs, t, flip_rates=rates),
}


def said(rates: tuple[float, float]) -> Any:
    """Return what a user says of these rates on the command line."""
    return None if rates == (1.0, 0.0) else rates


def simulate_cell(key: Key, n_runs: int) -> list[Outcome]:
    """Run a cell of the grid."""
    way, noise, error, n, share = key
    rng = np.random.default_rng([1, *repr(key).encode()])
    world = World(n, share, error, NOISE[noise])
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(n_runs):
            pairs, _, t = world.draw(rng)
            found.append(outcome(WAYS[way](pairs, t, world.rates), error))
    return found


def grid_cell(key: Key, n_runs: int) -> dict[str, float]:
    """Return coverage, width and share of certificates given, in one cell."""
    _, noise, error, n, share = key
    found = simulate_cell(key, n_runs)
    world = World(n, share, error, NOISE[noise])
    widths = [each.width for each in found if each.given]
    return {
        "held": float(np.mean([each.held for each in found])),
        "given": len(widths) / n_runs,
        "width": float(np.mean(widths)) if widths else math.nan,
        "shortest": shortest_width(world) if noise in SYMMETRIC else math.nan,
    }


SYMMETRIC = ("none", "symmetric .1", "symmetric .3")


def shortest_width(world: World) -> float:
    """Return the expected width with Blaker's interval, the shortest exact one known.

    Rates are taken for known, and as likely for easy pairs as for hard ones.
    """
    n, flips = world.n_pairs, world.rates[1]
    rate = flips + (1 - 2 * flips) * 2 * world.error * (1 - world.error)
    counts = np.arange(n + 1)
    likely = binom.pmf(counts, n, rate)
    kept = counts[likely > 1e-4]
    # Some of many counts stand for the others.
    kept = kept[:: 1 + len(kept) // 25]
    widths = []
    for k in kept.tolist():
        ends = (np.array(blaker(k, n)) - flips) / (1 - 2 * flips)
        low, high = clustering_error_from_pair_error(np.clip(ends, 0, 1))
        widths.append(high - low)
    return float(np.average(widths, weights=likely[kept]))


def blaker(k: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Blaker's interval for a probability (2000), found by steps."""

    def accepted(p: float) -> bool:
        above, below = binom.sf(k - 1, n, p), binom.cdf(k, n, p)
        least = min(above, below)
        if above < below:
            other = binom.cdf(binom.ppf(least, n, p) - 1, n, p)
        else:
            other = binom.sf(binom.isf(least, n, p), n, p)
        return bool(least + other > 1 - confidence)

    low, high = clopper_pearson(k, n, confidence)
    step = (high - low) / 2000
    while low + step < k / n and not accepted(low + step):
        low += step
    while high - step > k / n and not accepted(high - step):
        high -= step
    return low, high


def grid_keys() -> list[Key]:
    """Return all cells of the grid."""
    return [
        (way, noise, error, n, share)
        for way in WAYS
        for noise in NOISE
        for error in ERRORS
        for n in SIZES
        for share in PRIORS
    ]
