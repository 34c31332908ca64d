"""Do intervals hold what they promise? Simulations of certificates.

``python -m benchmarks.trust`` writes ``benchmarks/results/trust.md``: for each cell, in
how many runs the interval contained the truth, and how wide it was. ``--runs 100
--parts grid`` tries less and writes nothing. The cells of `NAMED` are also run, a few
times each, by the tests.

A classifier that errs at a known rate is judged by simulated answers, through the
functions that `pairlearn certify` and `pairlearn fit` call after they have read their
tables, with the noise that they assume by default ("auto"), or with the rate given
(``--noise``); cells that are about a whole fit run `pairlearn fit` on tables.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import binom

from benchmarks.report import machine, publish, table
from pairlearn import Pairs, certify
from pairlearn.cli.judging import assumed_noise, judged
from pairlearn.trust.assignment import assign_from_pairs
from pairlearn.trust.certificate import certificate_from_answers, prior_from_answers
from pairlearn.trust.flip_rates import flip_rate_from_repeats, flip_rate_from_triangles
from pairlearn.trust.intervals import clopper_pearson
from pairlearn.trust.noise import Noise, rates_of
from pairlearn.trust.planning import pairs_for_certificate
from pairlearn.trust.sample_checks import (
    MoreKindsError,
    random_pairs_p_value,
    refuse_more_kinds,
)
from pairlearn.trust.theory import clustering_error_from_pair_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pairlearn.trust.certificate import Certificate

RUNS = 1000
# Runs that a process does at a time.
PART = 50
# Whole fits take a second each; without the safeguard they are run less often by this.
SLOW = 10
ERRORS, SIZES, PRIORS = (0.005, 0.05, 0.2, 0.45), (20, 100, 1000), (0.5, 0.8, 0.99)
NOISE = {
    "none": (1.0, 0.0),
    "symmetric .1": (0.9, 0.1),
    "symmetric .3": (0.7, 0.3),
    "'same' missed .3": (0.7, 0.0),
    "'different' missed .3": (1.0, 0.3),
}


class Outcome(NamedTuple):
    """Whether an interval held the truth, its width, and whether there was one."""

    held: bool
    width: float = math.nan
    given: bool = True


class FirstColumn:
    """A classifier that says what the first column says."""

    def predict(self, X: Any) -> Any:
        """Return the first column."""
        return np.asarray(X)[:, 0]


@dataclass(frozen=True)
class World:
    """Random pairs of two kinds, a classifier that errs at a rate, and answers."""

    n_pairs: int
    prior: float
    error: float
    rates: tuple[float, float] = (1.0, 0.0)

    def draw(self, rng: np.random.Generator) -> tuple[Pairs, Any, Any]:
        """Return pairs of what the classifier says, the truth, and the answers."""
        y = rng.random((self.n_pairs, 2)) < self.prior
        says = y ^ (rng.random(y.shape) < self.error)
        truth = np.where(y[:, 0] == y[:, 1], 1.0, -1.0)
        same = rng.random(self.n_pairs) < np.where(truth > 0, *self.rates)
        return as_pairs(says, rng), truth, np.where(same, 1.0, -1.0)

    @property
    def target(self) -> float:
        """The clustering error."""
        return min(self.error, 1 - self.error)


def as_pairs(says: Any, rng: np.random.Generator) -> Pairs:
    """Return pairs of points that differ, with what a classifier says of them."""
    flat = says.ravel().astype(float)
    X = np.stack([flat, rng.random(len(flat))], axis=1)
    return Pairs(X, np.arange(len(flat)).reshape(-1, 2))


def outcome(certificate: Certificate | None, truth: float) -> Outcome:
    """Return whether a certificate held the truth; none claims nothing."""
    if certificate is None:
        return Outcome(held=True, given=False)
    low, high = certificate.clustering_interval
    return Outcome(low <= truth <= high, high - low)


def by_command(
    pairs: Pairs, t: Any, said: Any = "auto", n_answers: int = 1
) -> Certificate | None:
    """Return the certificate that `pairlearn certify --noise SAID` gives.

    For answers that are the mean of so many about each pair.
    """
    clf = FirstColumn()
    answered: Any = SimpleNamespace(
        flip_rate_at=lambda _: None,
        notes=[],
        n_repeated=len(t) * (n_answers > 1),
        lines=[range(n_answers)] * len(t),
    )
    known = assumed_noise(answered, said)[1]
    noise = Noise("unknown", rates_of(clf)) if known is None else known
    return judged(clf, pairs, t, noise, [])


def in_python(pairs: Pairs, t: Any, **options: Any) -> Certificate | None:
    """Return the certificate that `certify` gives; None if it refuses."""
    try:
        return certify(FirstColumn(), pairs, t, **options)
    except MoreKindsError:
        return None


# --- the named cells -----------------------------------------------------------------


def equal_rows(rng: np.random.Generator) -> Outcome:
    """Let a fifth of all points be one blank row, of either kind: `pairlearn fit`."""
    n = 400
    blank = rng.random(n) < 0.2
    y = np.where(rng.random(n) < 0.5, 1, -1)
    X = rng.normal(size=(n, 3)) + 3.0 * y[:, None]
    X[blank] = 0.0
    model, certificate = fitted(X, y, rng)
    # On new points: all others are told apart, and blanks are a toss.
    test = np.where(rng.random(4000) < 0.5, 1, -1)
    Z = rng.normal(size=(4000, 3)) + 3.0 * test[:, None]
    Z[rng.random(4000) < 0.2] = 0.0
    return outcome(certificate, error_of(model, Z, test))


def groups(rng: np.random.Generator, *, told: bool = True) -> Outcome:
    """Let things have sixteen near-equal rows: `pairlearn fit --group thing`."""
    n_things, n_rows = 300, 16
    y = np.where(rng.random(n_things) < 0.5, 1, -1)
    centres = rng.normal(size=(n_things, 8)) + 0.4 * y[:, None]
    thing = np.repeat(np.arange(n_things), n_rows)
    X = centres[thing] + 0.05 * rng.normal(size=(len(thing), 8))
    known = thing if told else None
    model, certificate = fitted(X, y[thing], rng, groups=known, n_pairs=300)
    test = np.where(rng.random(4000) < 0.5, 1, -1)
    Z = rng.normal(size=(4000, 8)) + 0.4 * test[:, None]
    return outcome(certificate, error_of(model, Z, test))


def fitted(
    X: Any,
    y: Any,
    rng: np.random.Generator,
    groups: Any = None,
    n_pairs: int | None = None,
) -> tuple[Any, Certificate | None]:
    """Return what `pairlearn fit` makes of tables, with its defaults."""
    import pandas as pd

    from pairlearn.cli.fit import FitOptions, fit_tables

    names = [f"p{k}" for k in range(len(X))]
    points = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    points.insert(0, "id", names)
    reading: dict[str, Any] = {}
    if groups is not None:
        points["thing"] = [f"t{k}" for k in groups]
        reading["group"] = "thing"
    index = rng.permutation(len(X)).reshape(-1, 2)[:n_pairs]
    answer = np.where(y[index[:, 0]] == y[index[:, 1]], "same", "different")
    pairs = pd.DataFrame(np.array(names)[index], columns=["left", "right"])
    pairs["answer"] = answer
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "points.csv", Path(folder) / "pairs.csv"
        points.to_csv(files[0], index=False)
        pairs.to_csv(files[1], index=False)
        seed = int(rng.integers(2**31))
        summary, _ = fit_tables(*files, reading, FitOptions(seed=seed))
    return summary.model, summary.certificate


def error_of(model: Any, X: Any, y: Any) -> float:
    """Return the clustering error of a model of tables on points."""
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    wrong = float(np.mean((model.predict(frame) == model.classes_[1]) == (y > 0)))
    return min(wrong, 1 - wrong)


def three_kinds(rng: np.random.Generator) -> Outcome:
    """Take three kinds for two."""
    kind = rng.integers(3, size=(200, 2))
    t = np.where(kind[:, 0] == kind[:, 1], 1.0, -1.0)
    found = by_command(as_pairs(kind > 0, rng), t)
    return Outcome(held=found is None, given=found is not None)


def false_alarm_of_kinds(rng: np.random.Generator) -> Outcome:
    """Take two kinds of equal size for more, by chance."""
    n_same = int(rng.binomial(200, 0.5))
    try:
        refuse_more_kinds(n_same, 200, Noise())
    except MoreKindsError:
        return Outcome(held=False)
    return Outcome(held=True)


def hard_pairs(rng: np.random.Generator, *, cautious: bool = True) -> Outcome:
    """Get 15 % of the answers wrong, half of them where the classifier errs."""
    n, error, rate = 400, 0.15, 0.15
    world = World(n, 0.7, error)
    pairs, truth, _ = world.draw(rng)
    says = np.where(pairs.X[::2, 0] == pairs.X[1::2, 0], 1.0, -1.0)
    errs = says != truth
    p_errs = 2 * error * (1 - error)
    flips = rng.random(n) < np.where(errs, rate / 2 / p_errs, rate / 2 / (1 - p_errs))
    t = np.where(flips, -truth, truth)
    if not cautious:
        return outcome(in_python(pairs, t, flip_rates=rate), error)
    return outcome(by_command(pairs, t, rate), error)


def majorities(rng: np.random.Generator) -> Outcome:
    """Ask three times, and get pairs about which the classifier errs wrong in 90 %."""
    n, error = 1000, 0.1
    pairs, truth, _ = World(n, 0.6, error).draw(rng)
    says = np.where(pairs.X[::2, 0] == pairs.X[1::2, 0], 1.0, -1.0)
    flips = (says != truth) & (rng.random((3, n)) < 0.9)
    t = np.where(flips, -truth, truth).mean(axis=0)
    rate = 0.9 * 2 * error * (1 - error)
    return outcome(by_command(pairs, t, rate, n_answers=3), error)


def frequent_things(rng: np.random.Generator) -> Outcome:
    """Err about three things that have 30 % of the rows (anytime)."""
    n, share = 400, np.append(np.full(3, 0.1), np.full(200, 0.7 / 200))
    y = rng.random(203) < 0.5
    errs = np.append(np.ones(3, dtype=bool), rng.random(200) < 0.05)
    thing = rng.choice(203, (n, 2), p=share)
    t = np.where(y[thing[:, 0]] == y[thing[:, 1]], 1.0, -1.0)
    pairs = as_pairs((y ^ errs)[thing], rng)
    found = in_python(pairs, t, groups=thing, anytime=True)
    return outcome(found, float(share @ errs))


def noise_range(rng: np.random.Generator) -> Outcome:
    """Know rates as ranges, in Python; the true ones are anywhere in them."""
    r1, r0 = rng.uniform(0.7, 0.9), rng.uniform(0.0, 0.15)
    world = World(300, 0.8, 0.1, (r1, r0))
    pairs, _, t = world.draw(rng)
    return outcome(in_python(pairs, t, flip_rates=((0.7, 0.9), (0.0, 0.15))), 0.1)


def lopsided_noise(rng: np.random.Generator) -> Outcome:
    """Miss a tenth of "same" at 99 : 1: two rates given, in Python."""
    world = World(300, 0.99, 0.05, (0.9, 0.0))
    pairs, _, t = world.draw(rng)
    return outcome(in_python(pairs, t, flip_rates=(0.9, 0.0)), 0.05)


def unsure(rng: np.random.Generator, *, counted: bool = True) -> Outcome:
    """Be unsure of hard points, about which the classifier is wrong."""
    n = 200
    y = rng.random((n, 2)) < 0.6
    hard = rng.random((n, 2)) < 0.1
    says = y ^ (hard & (rng.random((n, 2)) < 0.5)) ^ (rng.random((n, 2)) < 0.02)
    t = np.where(y[:, 0] == y[:, 1], 1.0, -1.0)
    t[hard.any(axis=1)] = 0.0
    truth = 0.1 * 0.5 + 0.9 * 0.02
    pairs = as_pairs(says, rng)
    sure = np.flatnonzero(t)
    pairs, t = (pairs, t) if counted else (pairs[sure], t[sure])
    return outcome(by_command(pairs, t), truth)


def peeking(rng: np.random.Generator, *, anytime: bool = True) -> Outcome:
    """Look after every fifth answer, and stop when the upper end is below 8 %."""
    world = World(400, 0.6, 0.06)
    pairs, _, t = world.draw(rng)
    says = np.where(pairs.X[::2, 0] == pairs.X[1::2, 0], 1.0, -1.0)
    for n in range(20, 401, 5):
        found = certificate_from_answers(says[:n], t[:n], anytime=anytime)
        if not outcome(found, 0.06).held:
            return outcome(found, 0.06)
        if found.clustering_interval[1] < 0.08:
            break
    return outcome(found, 0.06)


def training_pairs(rng: np.random.Generator) -> Outcome:
    """Give `certify` pairs of which half were learned by heart."""
    from sklearn.tree import DecisionTreeClassifier

    from pairlearn import PairMetaClassifier

    y = np.where(rng.random(400) < 0.5, 1, -1)
    X = rng.normal(size=(400, 4)) + 0.5 * y[:, None]
    pairs, t = Pairs.sample(X, 200, y, random_state=int(rng.integers(2**31)))
    tree = DecisionTreeClassifier(random_state=0)
    by_heart = PairMetaClassifier(tree, max_iter=2, cv=2, random_state=0)
    clf = by_heart.fit(pairs[:100], t[:100])
    test = np.where(rng.random(4000) < 0.5, 1, -1)
    Z = rng.normal(size=(4000, 4)) + 0.5 * test[:, None]
    wrong = float(np.mean(clf.predict(Z) == test))
    return outcome(certify(clf, pairs, t), min(wrong, 1 - wrong))


def repeated_points(rng: np.random.Generator) -> Outcome:
    """Give `certify` a 3-D array of 300 pairs of only 60 points."""
    y = rng.random(60) < 0.6
    says = y ^ (rng.random(60) < 0.15)
    X = np.stack([says.astype(float), rng.random(60)], axis=1)
    left = rng.integers(60, size=300)
    index = np.stack([left, (left + rng.integers(1, 60, 300)) % 60], axis=1)
    t = np.where(y[index[:, 0]] == y[index[:, 1]], 1.0, -1.0)
    return outcome(in_python(X[index], t), 0.15)  # type: ignore[arg-type]


def neighbours(rng: np.random.Generator) -> Outcome:
    """Notice pairs of neighbours."""
    x = np.sort(rng.normal(size=400)).reshape(-1, 2)
    return Outcome(held=random_pairs_p_value(*(x.T > 0.3)) < 0.001)


def random_pairs(rng: np.random.Generator) -> Outcome:
    """Take random pairs for others, by chance."""
    x = rng.normal(size=(200, 2))
    return Outcome(held=random_pairs_p_value(*(x.T > 0.3)) >= 0.001)


def repeats(rng: np.random.Generator) -> Outcome:
    """Estimate the rate of wrong answers from 150 pairs that were answered twice."""
    index = np.tile(np.arange(300).reshape(-1, 2), (2, 1))
    truth = np.tile(rng.choice([-1.0, 1.0], 150), 2)
    return _rate(flip_rate_from_repeats, index, truth, rng)


def triangles(rng: np.random.Generator) -> Outcome:
    """Estimate it from the triangles among 1,000 answers about 60 points."""
    y = rng.choice([-1.0, 1.0], 60)
    all_pairs = np.stack(np.triu_indices(60, 1), axis=1)
    index = all_pairs[rng.permutation(len(all_pairs))[:1000]]
    return _rate(flip_rate_from_triangles, index, y[index].prod(axis=1), rng)


def _rate(
    estimate: Callable[..., Any], index: Any, truth: Any, rng: np.random.Generator
) -> Outcome:
    t = np.where(rng.random(len(truth)) < 0.15, -truth, truth)
    found = estimate(Pairs(np.zeros((index.max() + 1, 1)), index), t, confidence=0.95)
    low, high = found.interval
    return Outcome(low <= 0.15 <= high, high - low)


def votes(
    rng: np.random.Generator, share: float, rates: tuple[float, float], n: int = 150
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw scores of both points of pairs, right for 95 % of points, and answers."""
    y = np.where(rng.random((n, 2)) < share, 1.0, -1.0)
    left, right = np.where(rng.random((n, 2)) < 0.05, -y, y).T
    says_same = np.where(y[:, 0] == y[:, 1], rates[0], rates[1])
    return left, right, np.where(rng.random(n) < says_same, 1.0, -1.0)


def named_classes(rng: np.random.Generator) -> Outcome:
    """Name the classes by their sizes, where "same" is missed in 40 %."""
    rates = (0.6, 0.0)
    found = assign_from_pairs(*votes(rng, 0.8, rates), majority=1, flip_rates=rates)
    return Outcome(found.sign == 1)


def p_values(rng: np.random.Generator) -> Outcome:
    """Look for a p-value below 0.1 where both classes are of one size."""
    rates = [(1.0, 0.0), (0.8, 0.2), (0.6, 0.0)][rng.integers(3)]
    found = assign_from_pairs(*votes(rng, 0.5, rates), majority=1, flip_rates=rates)
    return Outcome(found.p_value is None or found.p_value >= 0.1)


def prior(rng: np.random.Generator) -> Outcome:
    """Estimate the prior, behind the error of one group for all."""
    y = rng.random((200, 2)) < 0.8
    low, high = prior_from_answers(y[:, 0] == y[:, 1]).interval
    return Outcome(low <= 0.8 <= high, high - low)


def planned_width(rng: np.random.Generator) -> Outcome:
    """Test with as many pairs as are planned for a width, to be reached in 90 %."""
    n = pairs_for_certificate(0.1, 0.05)
    k = int(rng.binomial(n, 0.18))
    low, high = clustering_error_from_pair_error(clopper_pearson(k, n))
    return Outcome(high - low <= 0.05, high - low)


class Cell(NamedTuple):
    """A named simulation: which item it is about, what is promised, and how often."""

    run: Callable[[np.random.Generator], Outcome]
    item: int
    promised: float = 0.95
    slow: bool = False


NAMED = {
    "equal rows, of which some are hard (fit)": Cell(equal_rows, 1, slow=True),
    "16 near-equal rows per thing (fit --group)": Cell(groups, 2, slow=True),
    "the classifier errs about frequent things": Cell(frequent_things, 2),
    "three kinds are refused": Cell(three_kinds, 3),
    "two kinds are not refused": Cell(false_alarm_of_kinds, 3, 0.999),
    # By Lemma 3 with these rates the names are wrong in at most 1.8 %.
    "classes get names, 40 % of 'same' missed": Cell(named_classes, 4, 0.982),
    "no p-value below 0.1 without a reason": Cell(p_values, 4, 0.9),
    "hard pairs are answered wrong (--noise 0.15)": Cell(hard_pairs, 5),
    "majorities of three, wrong about hard pairs": Cell(majorities, 5),
    "rates known as ranges": Cell(noise_range, 5),
    "99 : 1 with 'same' missed": Cell(lopsided_noise, 5),
    "hard pairs are unsure": Cell(unsure, 6),
    "stops when it looks good (anytime)": Cell(peeking, 7),
    "half of the pairs are training pairs": Cell(training_pairs, 8),
    "a 3-D array of repeated points": Cell(repeated_points, 8),
    "pairs of neighbours are noticed": Cell(neighbours, 9, 0.95),
    "random pairs are not": Cell(random_pairs, 9, 0.999),
    "rate from repeats": Cell(repeats, 10),
    "rate from triangles": Cell(triangles, 10),
    "prior of the larger class": Cell(prior, 11),
    "planned width is reached": Cell(planned_width, 11, 0.9),
}


# What the same worlds do to intervals without the safeguard.
OTHERWISE: dict[str, Callable[[np.random.Generator], Outcome]] = {
    "16 near-equal rows per thing (fit without --group)": partial(groups, told=False),
    "hard pairs are answered wrong (Python, flip_rates=0.15)": partial(
        hard_pairs, cautious=False
    ),
    "hard pairs are unsure, and left out": partial(unsure, counted=False),
    "stops when it looks good (without anytime)": partial(peeking, anytime=False),
}


def floor(promised: float, n_runs: int) -> float:
    """Return what chance leaves of a promise, at three standard errors."""
    return promised - 3 * math.sqrt(promised * (1 - promised) / n_runs)


def simulate(name: str, n_runs: int, seed: int = 0) -> list[Outcome]:
    """Run a named cell."""
    rng = np.random.default_rng([seed, *name.encode()])
    run = NAMED[name].run if name in NAMED else OTHERWISE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [run(rng) for _ in range(n_runs)]


def simulate_all(
    sizes: dict[str, int], pool: ProcessPoolExecutor
) -> Iterator[tuple[str, list[Outcome]]]:
    """Run cells in parts, which share the processes evenly; yield each when done."""
    parts = {
        name: [
            pool.submit(simulate, name, min(PART, n - begin), begin)
            for begin in range(0, n, PART)
        ]
        for name, n in sizes.items()
    }
    for name, waiting in parts.items():
        outcomes = [each for part in waiting for each in part.result()]
        print(f"{len(outcomes)} runs: {name}", file=sys.stderr, flush=True)
        yield name, outcomes


# --- the grid -------------------------------------------------------------------------

WAYS = {
    "certify (auto)": lambda pairs, t, _: by_command(pairs, t),
    "certify --noise": lambda pairs, t, rates: by_command(pairs, t, said(rates)),
    "Python, flip_rates": lambda pairs, t, rates: in_python(pairs, t, flip_rates=rates),
}


def said(rates: tuple[float, float]) -> Any:
    """Return what a user says of these rates on the command line."""
    return None if rates == (1.0, 0.0) else rates


def grid_cell(key: tuple[str, str, float, int, float], n_runs: int) -> dict[str, float]:
    """Return coverage, width and share of certificates given, in one cell."""
    way, noise, error, n, share = key
    rng = np.random.default_rng([1, *repr(key).encode()])
    world = World(n, share, error, NOISE[noise])
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(n_runs):
            pairs, _, t = world.draw(rng)
            found.append(outcome(WAYS[way](pairs, t, world.rates), error))
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


def grid_keys() -> list[tuple[str, str, float, int, float]]:
    """Return all cells of the grid."""
    return [
        (way, noise, error, n, share)
        for way in WAYS
        for noise in NOISE
        for error in ERRORS
        for n in SIZES
        for share in PRIORS
    ]


def grid_part(n_runs: int, pool: ProcessPoolExecutor) -> str:
    """Run the grid, and lay out the worst cells of each way and kind of noise."""
    keys = grid_keys()
    cells = dict(
        zip(keys, pool.map(grid_cell, keys, [n_runs] * len(keys)), strict=True)
    )
    rows, below = [], []
    for way in WAYS:
        for noise in NOISE:
            mine = {k: c for k, c in cells.items() if k[:2] == (way, noise)}
            worst = min(mine, key=lambda k: mine[k]["held"])
            below += [k for k in mine if mine[k]["held"] < floor(0.95, n_runs)]
            ratios = [c["width"] / c["shortest"] for c in mine.values() if c["given"]]
            known = [ratio for ratio in ratios if math.isfinite(ratio)]
            rows.append(
                [
                    way,
                    noise,
                    f"{np.mean([c['held'] for c in mine.values()]):.1%}",
                    f"{mine[worst]['held']:.1%}",
                    f"error {worst[2]:.1%}, n {worst[3]}, prior {worst[4]}",
                    f"{np.mean([c['given'] for c in mine.values()]):.1%}",
                    f"{np.median(known):.2f}" if known else "",
                ]
            )
    head = [
        "way", "wrong answers", "coverage", "worst", "where", "given", "width",
    ]  # fmt: skip
    told = (
        f"Grid: {len(keys)} cells of {n_runs} runs, promised 95%, floor "
        f"{floor(0.95, n_runs):.1%} (three standard errors). {len(below)} cells are "
        "below it"
        + (f": {below}" if below else "")
        + ". Given: in how many runs there "
        "was a certificate; a refusal (more than two kinds, it seems) claims nothing. "
        "Width: the median over cells of the mean width, divided by that of Blaker's "
        "interval for known symmetric noise, the shortest exact interval known."
    )
    return f"{told}\n\n{table(head, rows)}"


def named_part(n_runs: int, pool: ProcessPoolExecutor) -> str:
    """Run the named cells, and lay them out."""
    rows = []
    # The slow ones first, so that they run beside each other.
    names = sorted(NAMED, key=lambda name: not NAMED[name].slow)
    sizes = dict.fromkeys(names, n_runs)
    for name, outcomes in simulate_all(sizes, pool):
        cell, n = NAMED[name], sizes[name]
        held = float(np.mean([each.held for each in outcomes]))
        widths = [each.width for each in outcomes if math.isfinite(each.width)]
        rows.append(
            [
                str(cell.item),
                name,
                f"{n}",
                f"{100 * cell.promised:g}%",
                f"{held:.1%}" + ("" if held >= floor(cell.promised, n) else " BELOW"),
                f"{np.mean(widths):.3f}" if widths else "",
            ]
        )
    head = ["item", "cell", "runs", "promised", "held", "mean width"]
    sizes = dict.fromkeys(OTHERWISE, n_runs)
    sizes[next(iter(OTHERWISE))] = max(1, n_runs // SLOW)
    others = [
        [name, f"{sizes[name]}", f"{np.mean([each.held for each in outcomes]):.1%}"]
        for name, outcomes in simulate_all(sizes, pool)
    ]
    told = "The same worlds without the safeguard; 95% were promised:"
    return "\n\n".join(
        [table(head, rows), told, table(["cell", "runs", "held"], others)]
    )


def main() -> None:
    """Simulate, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each cell")
    parser.add_argument("--parts", nargs="+", default=["named", "grid"])
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as pool:
        made = {"named": named_part, "grid": grid_part}
        parts = [made[name](options.runs, pool) for name in options.parts]
    if options.runs < RUNS or len(parts) < 2:
        print("\n\n".join(parts))
        return
    about = "`python -m benchmarks.trust`. " + machine("numpy", "scipy", "scikit-learn")
    publish("trust", "Certificates under simulation", [about, *parts])


if __name__ == "__main__":
    main()
