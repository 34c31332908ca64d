"""How far people agree: whether the figures are right, and their intervals hold.

``python -m benchmarks.agreement`` writes ``benchmarks/results/agreement.md`` in some
five minutes. ``--runs 100`` tries less and writes nothing. The values are compared
with those of the packages krippendorff (in an environment of its own) and scikit-learn.
For the intervals worlds are simulated: people of known accuracy, of whom some answer
each pair, so that alpha and agreement of endless answers are known. Three bootstraps
over pairs are tried: percentile, BCa (bias-corrected and accelerated), and ours, see
`pairlearn.people.agreement`. Corners are also run by the tests.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.metrics import cohen_kappa_score

from benchmarks.outside import run_rival
from benchmarks.report import machine, publish, table
from pairlearn.people.agreement import (
    agreement_of,
    alpha_of,
    cohen_kappa,
    interval,
    krippendorff_alpha,
)
from pairlearn.people.couples import Couple

RUNS, TABLES, DRAWS = 1000, 1000, 1000
SIZES = (60, 200)
# Overlaps for the table of widths, and how many runs each width is the mean of.
OVERLAPS, WIDTH_RUNS = (20, 30, 50, 100, 200, 500, 1000), 200


COVERAGE = (
    "Share of {runs:,} simulated sets of answers whose interval held the truth; it "
    "should be 95%. The first three are intervals of alpha. Runs in which all answers "
    "were the same are left out. A world is the accuracies of the people, how many of "
    "them answer each pair, and the share of pairs that are the same."
)
WIDTHS = (
    "Mean width of the 95% intervals, of agreement in percentage points and of alpha, "
    "where two people answer each pair and half of the answers are 'same'."
)


@dataclass(frozen=True)
class World:
    """People of some accuracy, so many of whom answer each pair.

    Attributes
    ----------
    accuracies : tuple of float
        How often each is right, whatever the truth.
    n_each : int
        How many of them answer each pair, drawn at random.
    same : float
        The share of pairs that are the same.
    """

    accuracies: tuple[float, ...]
    n_each: int = 2
    same: float = 0.5

    @property
    def name(self) -> str:
        """Say it in words."""
        people = ", ".join(f"{a:g}" for a in self.accuracies)
        return f"{people}; {self.n_each} per pair; {self.same:.0%} same"

    @cached_property
    def patterns(self) -> Any:
        """Counts of both answers: (k, 2)."""
        n_same = np.arange(self.n_each + 1)
        return np.stack([n_same, self.n_each - n_same], axis=1)

    @cached_property
    def chances(self) -> Any:
        """How likely each of the patterns is: (k,)."""
        found = np.zeros(self.n_each + 1)
        groups = list(combinations(self.accuracies, self.n_each))
        for group in groups:
            for truth, share in ((True, self.same), (False, 1 - self.same)):
                known = np.ones(1)
                for right in group:
                    says_same = right if truth else 1 - right
                    known = np.convolve(known, [1 - says_same, says_same])
                found += share * known / len(groups)
        return found

    @property
    def alpha(self) -> float:
        """Krippendorff's alpha of endless answers."""
        return float(alpha_of(self.patterns, self.chances))

    @property
    def agreement(self) -> float:
        """The share of comparisons that agree, of endless answers."""
        return float(agreement_of(self.patterns, self.chances))

    def draw(self, rng: Any, n_pairs: int) -> Any:
        """Return how often each pattern occurs among some pairs."""
        return rng.multinomial(n_pairs, self.chances)


WORLDS = [
    *(
        World((a, a), 2, same)
        for same in (0.5, 0.8, 0.95)
        for a in (0.7, 0.9, 0.97, 0.99)
    ),
    World((0.95, 0.9, 0.85, 0.5), 2),
    World((0.95, 0.9, 0.85, 0.5), 3),
    World((0.99, 0.98, 0.97, 0.96, 0.95), 5, 0.8),
]


def percentile(patterns: Any, often: Any, rng: Any) -> tuple[float, float]:
    """Return the plain bootstrap's interval of alpha."""
    low, high = np.quantile(_bootstrap(patterns, often, rng), [0.025, 0.975])
    return float(low), float(high)


def bca(patterns: Any, often: Any, rng: Any) -> tuple[float, float]:
    """Return the bias-corrected and accelerated interval of alpha (Efron 1987)."""
    drawn, alpha = _bootstrap(patterns, often, rng), _alpha(patterns, often)
    below = np.mean(drawn < alpha) + np.mean(drawn == alpha) / 2
    shift = norm.ppf(np.clip(below, 1 / DRAWS, 1 - 1 / DRAWS))
    there = np.flatnonzero(often)
    without = np.array(
        [_alpha(patterns, often - (np.arange(len(often)) == k)) for k in there]
    )
    known = np.isfinite(without)
    without, weight = without[known], often[there][known]
    away = np.average(without, weights=weight) - without
    spread = np.sum(weight * away**2)
    bend = np.sum(weight * away**3) / (6 * spread**1.5) if spread > 0 else 0.0
    ends = shift + norm.ppf([0.025, 0.975])
    low, high = np.quantile(drawn, norm.cdf(shift + ends / (1 - bend * ends)))
    return float(low), float(high)


def ours(patterns: Any, often: Any, rng: Any) -> tuple[float, float]:
    """Return the interval of alpha that `compare_people` gives."""
    counts = np.repeat(patterns, often, axis=0)
    figure = partial(alpha_of, n_answers=float(counts.sum()))
    return interval(counts, figure, random_state=rng.integers(2**31))


def agreement(patterns: Any, often: Any, rng: Any) -> tuple[float, float]:
    """Return the interval of the agreement that `compare_people` gives."""
    counts = np.repeat(patterns, often, axis=0)
    return interval(counts, agreement_of, random_state=rng.integers(2**31))


def _alpha(patterns: Any, often: Any) -> float:
    return float(alpha_of(np.repeat(patterns, often, axis=0)))


def _bootstrap(patterns: Any, often: Any, rng: Any) -> Any:
    n_pairs = often.sum()
    drawn = rng.multinomial(n_pairs, often / n_pairs, size=DRAWS)
    n_answers = float(n_pairs * patterns[0].sum())
    alphas = alpha_of(patterns, drawn.astype(float), n_answers)
    return alphas[np.isfinite(alphas)]


def coverage(
    world: World, n_pairs: int, method: Any, runs: int, seed: int = 0
) -> tuple[float, float, int]:
    """Return how often an interval held the truth, its mean width, and runs without.

    There is no interval where all answers are the same and alpha is undefined.
    """
    rng = np.random.default_rng(seed)
    truth = world.agreement if method is agreement else world.alpha
    figure = agreement_of if method is agreement else alpha_of
    held, widths, undefined = 0, [], 0
    for _ in range(runs):
        often = world.draw(rng, n_pairs)
        value = float(figure(np.repeat(world.patterns, often, axis=0)))
        if np.isnan(value):
            undefined += 1
            continue
        low, high = method(world.patterns, often, rng)
        low, high = min(low, value), max(high, value)
        held += low - 1e-12 <= truth <= high + 1e-12
        widths.append(high - low)
    return held / (runs - undefined), float(np.mean(widths)), undefined


def kappa_coverage(one: float, other: float, n_pairs: int, runs: int) -> float:
    """Return how often the interval of kappa of two people held the truth."""
    rng = np.random.default_rng(0)
    hits = np.array([one * other, one * (1 - other), (1 - one) * other])
    cells = np.array([*hits, 1 - hits.sum()])
    # Both same, one alone, other alone, both different; as many pairs are the same.
    chances = (cells + cells[::-1]) / 2
    seen = chances[0] + chances[3]
    shares = chances[0] + chances[1], chances[0] + chances[2]
    chance = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    truth = (seen - chance) / (1 - chance)
    held = known = 0
    for _ in range(runs):
        same, alone, other_alone, different = rng.multinomial(n_pairs, chances).tolist()
        ends = Couple("a", "b", same, different, alone, other_alone).kappa_interval
        known += ends is not None
        held += ends is not None and ends[0] - 1e-12 <= truth <= ends[1] + 1e-12
    return held / known


def random_tables(n_tables: int, seed: int = 0) -> list[Any]:
    """Return tables of answers, people by things, with gaps; NaN is none."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n_tables):
        shape = int(rng.integers(2, 9)), int(rng.integers(2, 61))
        n_kinds = int(rng.integers(2, 6))
        truth = rng.integers(n_kinds, size=shape[1])
        guess = rng.integers(n_kinds, size=shape)
        answers = np.where(rng.random(shape) < rng.random(), truth, guess).astype(float)
        answers[rng.random(shape) < 0.8 * rng.random()] = np.nan
        several = np.sum(~np.isnan(answers), axis=0) > 1
        if len(np.unique(answers[:, several][~np.isnan(answers[:, several])])) > 1:
            found.append(answers)
    return found


def values(n_tables: int) -> str:
    """Compare with krippendorff and scikit-learn; return a sentence."""
    tables = random_tables(n_tables)
    told = run_rival(
        "alphas",
        "krippendorff",
        600,
        answers=np.concatenate([answers.ravel() for answers in tables]),
        shapes=np.array([answers.shape for answers in tables]),
    )
    own = [krippendorff_alpha(answers.tolist()) for answers in tables]
    alpha = float(np.max(np.abs(np.array(own) - told["alphas"])))
    kappas = []
    for answers in tables:
        both = answers[:2, ~np.isnan(answers[:2]).any(axis=0)].tolist()
        if both[0] and len({*both[0], *both[1]}) > 1:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = cohen_kappa_score(*both)
            kappas.append(abs(cohen_kappa(*both) - theirs))
    return (
        f"{len(tables):,} random tables of 2 to 8 people, 2 to 60 things, 2 to 5 "
        "different answers and up to 80% gaps: the largest difference of alpha to "
        f"krippendorff 0.9.0 is {alpha:.1g}; of {len(kappas):,} kappas of the first "
        f"two people, the largest difference to scikit-learn is {max(kappas):.1g}."
    )


def coverages(runs: int) -> list[str]:
    """Return the tables of coverage."""
    head = ["world", "alpha", "pairs", "percentile", "BCa", "ours"]
    head += ["agreement", "width of alpha"]
    rows = []
    for n_pairs in SIZES:
        for world in WORLDS:
            methods = [percentile, bca, ours, agreement]
            found = [coverage(world, n_pairs, method, runs) for method in methods]
            rows.append([world.name, f"{world.alpha:.2f}", f"{n_pairs}"])
            rows[-1] += [f"{held:.1%}" for held, _, _ in found] + [f"{found[2][1]:.2f}"]
    kappa = [
        [f"{one:g}, {other:g}"]
        + [f"{kappa_coverage(one, other, n, runs):.1%}" for n in (20, *SIZES)]
        for one, other in ((0.7, 0.9), (0.9, 0.9), (0.97, 0.97), (0.99, 0.95))
    ]
    return [
        table(head, rows),
        "Kappa of two people, as many pairs the same as different:",
        table(["accuracies", "20 pairs", "60 pairs", "200 pairs"], kappa),
    ]


def widths() -> str:
    """Return how wide the intervals are, by the number of overlaps."""
    shares = (0.7, 0.8, 0.9, 0.95)
    head = ["overlaps", *(f"agreement {share:.0%}" for share in shares)]
    rows = []
    for n_pairs in OVERLAPS:
        row = [f"{n_pairs:,}"]
        for share in shares:
            right = (1 + np.sqrt(2 * share - 1)) / 2
            world = World((right, right))
            both = [
                coverage(world, n_pairs, method, WIDTH_RUNS)[1]
                for method in (agreement, ours)
            ]
            row.append(f"{100 * both[0]:.0f} points, {both[1]:.2f}")
        rows.append(row)
    return table(head, rows)


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    parts = [
        machine("numpy", "scipy", "scikit-learn"),
        "## Values",
        values(TABLES),
        "## Do 95% intervals hold?",
        COVERAGE.format(runs=runs),
        *coverages(runs),
        "## How much overlap?",
        WIDTHS,
        widths(),
    ]
    if runs == RUNS:
        publish("agreement", "How far people agree", parts)
    else:
        print("\n\n".join(parts))


if __name__ == "__main__":
    main()
