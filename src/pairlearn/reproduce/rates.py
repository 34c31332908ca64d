r"""Table 1: how fast the error falls with the number of pairs, here measured.

Two Gaussian classes with unit covariance, means +-mu and prior p, have the linear Bayes
rule w = 2 mu, b = log(p / (1 - p)). The error of any linear rule is

.. math:: p \Phi(-(w^T \mu + b) / |w|) + (1 - p) \Phi((b - w^T \mu) / |w|),

so the excess clustering error needs no test points.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from pairlearn.data.pairs import Pairs
from pairlearn.models.linear import (
    CIPSClassifier,
    MCLClassifier,
    OVPCClassifier,
    SDClassifier,
    SLLCClassifier,
)
from pairlearn.reproduce.experiment import Experiment, Options
from pairlearn.reproduce.sample import generator
from pairlearn.reproduce.store import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pairlearn.data.types import Floats

__all__ = ["METHODS_TABLE", "excess_error"]

N_FEATURES, PRIOR = 5, 0.3
MEAN = np.array([1.0, 0.5, 0.0, 0.0, 0.0])
SIZES = (64, 128, 256, 512, 1024, 2048, 4096)
METHODS: dict[str, tuple[Any, dict[str, Any]]] = {
    "CIPS": (CIPSClassifier, {}),
    "OVPC": (OVPCClassifier, {}),
    "SLLC": (SLLCClassifier, {}),
    "MCL": (MCLClassifier, {}),
    "SD": (SDClassifier, {"prior": PRIOR, "loss": "logistic"}),
}


def error(w: Floats, b: float) -> float:
    """Return the error of a linear rule on the two Gaussians."""
    length = max(float(np.linalg.norm(w)), 1e-300)
    margin = float(w @ MEAN)
    return float(
        PRIOR * ndtr(-(margin + b) / length) + (1 - PRIOR) * ndtr((b - margin) / length)
    )


def excess_error(w: Floats, b: float) -> float:
    """Return by how much the clustering error exceeds that of the Bayes rule.

    Examples
    --------
    >>> round(excess_error(2 * MEAN, math.log(PRIOR / (1 - PRIOR))), 12)
    0.0
    """
    best = error(2 * MEAN, math.log(PRIOR / (1 - PRIOR)))
    found = error(w, b)
    return min(found, 1 - found) - best


def _plan(
    options: Options, datasets: Sequence[str], methods: Sequence[str]
) -> Iterator[Trial]:
    sizes = SIZES[:5] if options.quick else SIZES
    seeds = range(options.n_trials(20, 5))
    for seed, dataset, m, method in product(seeds, datasets, sizes, methods):
        yield Trial("table-methods", dataset, method, m, seed, METHODS[method][1])


def _run(trial: Trial, _: Any) -> dict[str, Any]:
    rng = generator(trial.experiment, trial.m, trial.seed)
    y = np.where(rng.uniform(size=2 * trial.m) < PRIOR, 1, -1)
    X = rng.normal(size=(2 * trial.m, N_FEATURES)) + y[:, None] * MEAN
    pairs = Pairs(X, np.arange(2 * trial.m).reshape(-1, 2))
    kind = METHODS[trial.method][0]
    clf = kind(**trial.settings, random_state=trial.seed)
    clf.fit(pairs, y[0::2] * y[1::2])
    # The linear rule behind the scores, whatever the method calls its weights.
    b = float(clf.decision_function(np.zeros((1, N_FEATURES)))[0])
    w = clf.decision_function(np.eye(N_FEATURES)) - b
    return {"excess": excess_error(w, b)}


METHODS_TABLE = Experiment(
    name="table-methods",
    title="How fast the error falls with the number of pairs, by method",
    datasets=("gaussians",),
    methods=tuple(METHODS),
    plan=_plan,
    run=_run,
    work=lambda trial: 0.02 + 2e-5 * trial.m,
)
