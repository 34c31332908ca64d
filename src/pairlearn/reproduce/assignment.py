r"""The figures on class assignment: how often it fails, and when the naive rule does.

A pair votes v = t (h(x) + h(x')) / 2, which is -1, 0 or +1. The proposed rule takes
the sign of the sum of the votes, times the sign of the majority; so its failure
probability is exact: the votes of m pairs are drawn from one law of three values, and
the law of their sum is that law convolved with itself m times.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from pairlearn.datasets import make_gaussians
from pairlearn.reproduce.experiment import Experiment, Options
from pairlearn.reproduce.sample import generator
from pairlearn.reproduce.store import Trial
from pairlearn.trust.assignment import naive_assignment
from pairlearn.trust.metrics import q_statistic
from pairlearn.trust.theory import assignment_error_bound

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pairlearn.data.types import Floats

__all__ = ["ASSIGNMENT", "NAIVE", "bound", "exact_failure", "threshold_error"]

PRIORS = (0.1, 0.4, 0.7)
THRESHOLDS = (-3, -2, -1, 0, 1, 2, 3)
SIZES = (2, 8, 32, 128, 512)
MEANS, SCALES = (1.0, -1.0), (1.0, 2.0)  # of class +1, of class -1
REPEATS = 500  # assignments that are stored as one row


def above(threshold: float) -> tuple[float, float]:
    """Return P(x >= threshold) in class +1 and in class -1."""
    positive, negative = (
        float(ndtr((mean - threshold) / scale))
        for mean, scale in zip(MEANS, SCALES, strict=True)
    )
    return positive, negative


def threshold_error(prior: float, threshold: float) -> float:
    """Return the error of h(x) = sign(x - threshold).

    Examples
    --------
    >>> round(threshold_error(0.5, 0.0), 3)
    0.234
    """
    positive, negative = above(threshold)
    return prior * (1 - positive) + (1 - prior) * negative


def vote_law(prior: float, threshold: float) -> Floats:
    """Return the probabilities of the votes -1, 0 and +1 of a pair."""
    above_plus, above_minus = above(threshold)
    # P(h = s, y = c) for a point, then for both points of a pair, independently.
    joint = {
        (+1, +1): prior * above_plus,
        (-1, +1): prior * (1 - above_plus),
        (+1, -1): (1 - prior) * above_minus,
        (-1, -1): (1 - prior) * (1 - above_minus),
    }
    law = np.zeros(3)
    for ((h, y), p), ((h_, y_), p_) in product(joint.items(), repeat=2):
        law[1 + y * y_ * (h + h_) // 2] += p * p_
    return law


@cache
def exact_failure(prior: float, threshold: float, m: int) -> float:
    """Return the probability that m pairs settle the sign wrongly.

    A sum of zero counts as negative, since sign(0) = -1.

    Examples
    --------
    >>> round(exact_failure(0.1, 0.0, 2), 4), round(exact_failure(0.1, 0.0, 128), 4)
    (0.1068, 0.0)
    """
    law, total = vote_law(prior, threshold), np.ones(1)
    for _ in range(m):
        total = np.convolve(total, law)
    # The sum should have the sign of (2p - 1) (1 - 2R); entry m stands for zero.
    wanted = (2 * prior - 1) * (1 - 2 * threshold_error(prior, threshold))
    wrong = total[: m + 1] if wanted > 0 else total[m + 1 :]
    return float(wrong.sum())


def bound(prior: float, threshold: float, m: int) -> float:
    """Return Lemma 3's bound on that probability."""
    return assignment_error_bound(m, prior, threshold_error(prior, threshold))


def _plan(
    options: Options, datasets: Sequence[str], methods: Sequence[str]
) -> Iterator[Trial]:
    sizes = SIZES[::2] if options.quick else SIZES
    n_trials = options.n_trials(10_000, 500)
    chunks = range(-(-n_trials // REPEATS))
    cells = product(chunks, datasets, methods, PRIORS, THRESHOLDS, sizes)
    for seed, dataset, method, prior, threshold, m in cells:
        repeats = min(REPEATS, n_trials - seed * REPEATS)
        settings = {"prior": prior, "threshold": threshold, "repeats": repeats}
        yield Trial("fig-assignment", dataset, method, m, seed, settings)


def _run(trial: Trial, _: Any) -> dict[str, Any]:
    prior, threshold, repeats = (
        trial.settings[name] for name in ("prior", "threshold", "repeats")
    )
    rng = generator(trial.key)
    majority = 1 if prior > 0.5 else -1
    best = 1 if threshold_error(prior, threshold) < 0.5 else -1
    wrong = 0
    for _ in range(repeats):
        X, y = make_gaussians(
            2 * trial.m, prior, means=MEANS, scales=SCALES, random_state=rng
        )
        # h(x) = +1 also at the threshold itself, so not sign(x - threshold).
        h = np.where(X[:, 0] >= threshold, 1.0, -1.0)
        # The rule of assign_from_pairs, without its warning that two pairs are few.
        q = q_statistic(y[0::2] * y[1::2], h[0::2], h[1::2])
        wrong += (majority if q < 0.5 else -majority) != best
    return {"wrong": int(wrong)}


def _plan_naive(
    options: Options, datasets: Sequence[str], methods: Sequence[str]
) -> Iterator[Trial]:
    steps = 6 if options.quick else 15
    for dataset, method, prior in product(datasets, methods, (0.7, 0.3)):
        for i, j in product(range(steps), repeat=2):
            settings = {
                "prior": prior,
                "false_negative": round(prior * (i + 0.5) / steps, 6),
                "false_positive": round((1 - prior) * (j + 0.5) / steps, 6),
                "points": 10_000,
            }
            yield Trial("fig-naive-assignment", dataset, method, 0, 0, settings)


def _run_naive(trial: Trial, _: Any) -> dict[str, Any]:
    prior, points = trial.settings["prior"], trial.settings["points"]
    false_negative = trial.settings["false_negative"]
    false_positive = trial.settings["false_positive"]
    rng = generator(trial.key)
    y = np.where(rng.uniform(size=points) < prior, 1, -1)
    missed = np.where(y > 0, false_negative / prior, false_positive / (1 - prior))
    h = np.where(rng.uniform(size=points) < missed, -y, y)
    found = naive_assignment(h, majority=1 if prior > 0.5 else -1)
    best = 1 if false_negative + false_positive < 0.5 else -1
    return {"right": bool(found.sign == best)}


ASSIGNMENT = Experiment(
    name="fig-assignment",
    title="How often pairs settle the classes wrongly",
    datasets=("gaussians",),
    methods=("pairs",),
    plan=_plan,
    run=_run,
    work=lambda trial: 2e-4 * trial.settings["repeats"],
)

NAIVE = Experiment(
    name="fig-naive-assignment",
    title="Where the naive rule for the classes is right",
    datasets=("grid",),
    methods=("naive",),
    plan=_plan_naive,
    run=_run_naive,
    work=lambda _: 0.005,
)
