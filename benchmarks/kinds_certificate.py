"""Do certificates for any number of kinds hold what they promise? Simulations.

``python -m benchmarks.kinds_certificate`` writes
``benchmarks/results/kinds_certificate.md`` in a few minutes: for each cell, in how many
of 2,000 runs the interval held the error, and the intervals of the purities of all
groups held all of these together. ``--runs 100`` tries less and writes nothing. The
corners are also run, a few times each, by the tests.

A world is a matrix: the share of each true class in each predicted group. Errors go
evenly to all other classes, or all to the next one ("worst": these are the share
vectors for which the bounds of purity are reached), or all to one group, half of which
is wrong ("one group"). Answers are drawn as counts: of random pairs so many lie within
each group, and so many of those are different. A few cells draw points and pairs, and
go through `certify`.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from benchmarks.report import machine, publish, table
from pairlearn import Pairs, certify, pairs_within_groups
from pairlearn.trust.certificate import certificate_from_counts
from pairlearn.trust.intervals import clopper_pearson
from pairlearn.trust.noise import Noise
from pairlearn.trust.purity import Within, error_interval, purity_intervals
from pairlearn.trust.theory import pair_error_from_error

RUNS = 2000
KINDS, ERRORS, SIZES = (2, 3, 5, 10), (0.01, 0.05, 0.2), (100, 300, 1000)
BALANCES = ("equal", "unequal")
SHAPES = ("even", "worst", "one group")
AUDITS = ("random", "within groups")
# The cell whose width is compared with labels.
NAMED = (3, "equal", "even", 0.05, 300)


class Outcome(NamedTuple):
    """Whether the error and all purities were held, and the width of the interval."""

    error: bool
    purities: bool
    width: float


@dataclass(frozen=True)
class World:
    """Groups, how large they are, and the share of each class in each group."""

    shares: Any
    matrix: Any

    @classmethod
    def of(cls, n_kinds: int, balance: str, shape: str, error: float) -> World:
        """Return one of so many groups and classes, with this error."""
        size = np.ones(n_kinds) if balance == "equal" else 0.6 ** np.arange(n_kinds)
        shares = size / size.sum()
        wrong = np.full(n_kinds, error)
        if shape == "one group":
            # As much of the last groups as it takes is half wrong.
            left = error
            wrong = np.zeros(n_kinds)
            for k in reversed(range(n_kinds)):
                wrong[k] = min(0.5, left / shares[k])
                left -= wrong[k] * shares[k]
        others = np.roll(np.eye(n_kinds), 1, axis=1)
        if shape == "even":
            others = (1 - np.eye(n_kinds)) / (n_kinds - 1)
        return cls(shares, np.diag(1 - wrong) + wrong[:, None] * others)

    @property
    def error(self) -> float:
        """The error if each group bears the name of its largest class."""
        return float(self.shares @ (1 - self.purities))

    @property
    def purities(self) -> Any:
        """The largest share in each group."""
        return self.matrix.max(axis=1)

    def counted(self, n_pairs: int, audit: str, rng: np.random.Generator) -> Any:
        """Return numbers of different pairs and of pairs, shares, and of how many."""
        different = 1 - (self.matrix**2).sum(axis=1)
        if audit == "random":
            group = rng.choice(len(self.shares), p=self.shares, size=(n_pairs, 2))
            inside = group[group[:, 0] == group[:, 1], 0]
            n = np.bincount(inside, minlength=len(self.shares))
            shares = np.bincount(group.ravel(), minlength=len(n)) / group.size
            return rng.binomial(n, different), n, shares, 2 * n_pairs
        n = dealt(n_pairs, tuple(self.shares))
        return rng.binomial(n, different), n, self.shares, None

    def points(self, n_points: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Return points whose first column is their group, and their classes."""
        group = rng.choice(len(self.shares), p=self.shares, size=n_points)
        steps = np.cumsum(self.matrix, axis=1)[group]
        y = (rng.random(n_points)[:, None] > steps).sum(axis=1)
        return np.stack([group.astype(float), rng.random(n_points)], axis=1), y


@cache
def dealt(n_pairs: int, shares: tuple[float, ...]) -> Any:
    """Return how many pairs each group gets if it gets as many as its share."""
    exact = n_pairs * np.array(shares)
    n = np.floor(exact).astype(int)
    n[np.argsort(n - exact)[: n_pairs - n.sum()]] += 1
    return n


class FirstColumn:
    """A classifier that says what the first column says."""

    def __init__(self, n_groups: int) -> None:
        self.classes_ = np.arange(n_groups)

    def predict(self, X: Any) -> Any:
        """Return the first column."""
        return np.asarray(X)[:, 0].astype(int)


def outcome(interval: Any, purities: Any, world: World) -> Outcome:
    """Return whether intervals held the truth."""
    low, high = interval
    ends = np.asarray(purities)
    # Rounding is no miss: a group without an error has a purity of exactly 1.
    held = (ends[0] - 1e-9 <= world.purities) & (world.purities <= ends[1] + 1e-9)
    return Outcome(
        low - 1e-9 <= world.error <= high + 1e-9, bool(held.all()), high - low
    )


def simulate(cell: Any, audit: str, n_runs: int, seed: int = 0) -> list[Outcome]:
    """Return outcomes of counts drawn at random."""
    *kind, n_pairs = cell
    world, rng = World.of(*kind), np.random.default_rng(seed)
    known: dict[Any, Outcome] = {}
    found = []
    for _ in range(n_runs):
        different, n, shares, n_points = world.counted(n_pairs, audit, rng)
        key = (*different.tolist(), *n.tolist(), *shares.tolist())
        if key not in known:
            counts = Within(n, different, 0 * n)
            known[key] = outcome(
                error_interval(counts, shares, Noise(), 0.05, n_points=n_points),
                purity_intervals(counts, Noise(), 0.05),
                world,
            )
        found.append(known[key])
    return found


def through_certify(cell: Any, audit: str, n_runs: int) -> list[Outcome]:
    """Return outcomes of points and pairs that `certify` judges."""
    *kind, n_pairs = cell
    world = World.of(*kind)
    clf = FirstColumn(len(world.shares))
    rng = np.random.default_rng(1)
    found = []
    for run in range(n_runs):
        X, y = world.points(4 * n_pairs if audit != "random" else 2 * n_pairs, rng)
        if audit == "random":
            pairs = Pairs(X, np.arange(len(X)).reshape(-1, 2))
            certificate = certify(clf, pairs, pairs.answers(y))
        else:
            pairs = pairs_within_groups(clf, X, n_pairs, random_state=run)
            certificate = certify(clf, pairs, pairs.answers(y), points=X)
            shares = np.bincount(X[:, 0].astype(int), minlength=len(world.shares))
            # What is certified is the error of points that fall into groups as these.
            world = World(shares / len(X), world.matrix)
        ends = np.array([group.interval for group in certificate.groups]).T
        found.append(outcome(certificate.interval, ends, world))
    return found


def floor(n_runs: int, promised: float = 0.95) -> float:
    """Return the least coverage that chance explains: three standard errors below."""
    return promised - 3 * float(np.sqrt(promised * (1 - promised) / n_runs))


def by_labels(n: int, error: float) -> float:
    """Return the mean width of Clopper and Pearson's interval from n labels."""
    wrong = np.random.default_rng(0).binomial(n, error, size=RUNS)
    return float(np.mean([np.subtract(*clopper_pearson(k, n)[::-1]) for k in wrong]))


def by_theorem_1(n: int, error: float) -> float:
    """Return the mean width of the certificate for two kinds from n random pairs."""
    rng = np.random.default_rng(0)
    wrong = rng.binomial(n, pair_error_from_error(error), size=RUNS).tolist()
    found = [certificate_from_counts(k, n).clustering_interval for k in wrong]
    return float(np.mean([high - low for low, high in found]))


def main() -> None:
    """Simulate all cells, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    n_runs = parser.parse_args().runs
    start = time.perf_counter()
    coverage, widths, below, n_cells = [], [], 0, 0
    for n_kinds, shape, audit in product(KINDS, SHAPES, AUDITS):
        worst = {"error": (2.0, ""), "purities": (2.0, "")}
        means: dict[str, list[float]] = {name: [] for name in worst}
        sizes = SIZES if shape == "even" else (300,)
        for balance, error, n in product(BALANCES, ERRORS, sizes):
            cell = (n_kinds, balance, shape, error, n)
            found = simulate(cell, audit, n_runs)
            where = f"{balance}, {error:.0%}, n {n}"
            for name in worst:
                held = float(np.mean([getattr(each, name) for each in found]))
                worst[name] = min(worst[name], (held, where))
                means[name].append(held)
                below += held < floor(n_runs)
                n_cells += 1
            if shape == "even" and error == 0.05:
                width = np.mean([each.width for each in found])
                widths.append((audit, n_kinds, balance, n, width))
        row = [str(n_kinds), shape, audit]
        for name in worst:
            row += [f"{np.mean(means[name]):.1%}", f"{worst[name][0]:.1%}"]
        coverage.append([*row, worst["error"][1]])
    through = []
    for cell, audit in product([NAMED, (5, "unequal", "even", 0.2, 300)], AUDITS):
        found = through_certify(cell, audit, max(50, n_runs // 10))
        held = [np.mean([getattr(each, name) for each in found]) for name in worst]
        below += sum(each < floor(len(found)) for each in held)
        through.append(
            [
                f"{cell[0]}, {cell[1]}, {cell[3]:.0%}, n {cell[4]}",
                audit,
                str(len(found)),
                *(f"{each:.1%}" for each in held),
                f"{np.mean([each.width for each in found]):.3f}",
            ]
        )
    width = {row[:4]: row[4] for row in widths}
    named = [width[audit, 3, "equal", 300] for audit in AUDITS]
    comparison = [
        ["300 pairs within groups, shares known", f"{named[1]:.3f}"],
        ["300 random pairs, shares from their 600 points", f"{named[0]:.3f}"],
        ["300 random pairs of two kinds (Theorem 1)", f"{by_theorem_1(300, 0.05):.3f}"],
        ["labels of 300 points", f"{by_labels(300, 0.05):.3f}"],
        ["labels of 600 points", f"{by_labels(600, 0.05):.3f}"],
    ]
    shown = [
        [str(k), balance, *(f"{width[audit, k, balance, n]:.3f}" for n in SIZES), audit]
        for k, balance, audit in product(KINDS, BALANCES, AUDITS)
    ]
    told = (
        f"Coverage: {n_cells} figures from {n_runs} runs each, over equal and unequal "
        "groups (each 0.6 times the one before), errors of 1, 5 and 20% and 100, 300 "
        f"and 1000 pairs. Promised: 95%; floor: {floor(n_runs):.1%} (three standard "
        f"errors). {below} figures are below it, those through `certify` included. "
        "*Error*: the interval holds the error. *Purities*: the intervals of all "
        "groups hold their purities together. Errors go evenly to all other classes; "
        "or all to one other class, for which the bounds are reached (worst, with 300 "
        "pairs); or to as few groups as possible, which are half wrong (one group, "
        "with 300 pairs)."
    )
    columns = ["kinds", "errors go", "pairs", "error", "worst", "purities", "worst"]
    compared = (
        "Three kinds of equal size, an error of 5%: mean width of the 95% interval for "
        "the error."
    )
    whole = (
        "Points and pairs, through `certify`; shares are those of the pool for pairs "
        "within groups:"
    )
    parts = [
        "`python -m benchmarks.kinds_certificate`. " + machine("numpy", "scipy"),
        compared,
        table(["from", "width"], comparison),
        told,
        table([*columns, "where the error's is worst"], coverage),
        "Mean width of the interval for the error, at 5%, by number of pairs:",
        table(["kinds", "groups", *map(str, SIZES), "pairs"], shown),
        whole,
        table(["kinds", "pairs", "runs", "error", "purities", "width"], through),
    ]
    if n_runs == RUNS:
        publish("kinds_certificate", "Certificates for any number of kinds", parts)
    else:
        print("\n\n".join(parts))
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
