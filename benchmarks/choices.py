"""What each part of PairClassifier is worth: the same fits with one part changed.

``python -m benchmarks.choices`` runs this where the data files are at hand
(PAIRLEARN_DATA). The subsamples are other ones than those of ``benchmarks.accuracy``.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed

from benchmarks.report import machine, publish, table
from pairlearn import PairClassifier, clustering_error
from pairlearn.models.auto.choose import KERNELS
from pairlearn.models.auto.stack import Calibration
from pairlearn.reproduce.sample import draw_table

DATASETS = [
    *("adult", "banana", "codrna", "ijcnn1", "magic"),
    *("phishing", "phoneme", "spambase", "w8a", "waveform"),
]
FIRST_SEED = 100


def best_only(p: Any, prior: Any, held_out: Any) -> Any:
    """Put all weight on the candidate that explains most held-out answers."""
    return np.eye(len(prior))[held_out.log_likelihood(p).argmax()]


def prior_only(p: Any, prior: Any, held_out: Any) -> Any:  # noqa: ARG001
    """Average with the prior weights, whatever the answers say."""
    return prior


def uncalibrated(p: Any, held_out: Any) -> Calibration:  # noqa: ARG001
    """Leave the average as it is."""
    return Calibration(1.0, np.zeros(p.shape[-1]))


def without(name: str) -> dict[str, Any]:
    """Return the kernels of each view but one."""
    return {
        view: tuple(kernel for kernel in kernels if kernel.name != name)
        for view, kernels in KERNELS.items()
    }


LINEAR = {view: kernels[:1] for view, kernels in KERNELS.items()}
# Name of a variant -> what is replaced, in pairlearn.models.auto.
VARIANTS: dict[str, dict[str, Any]] = {
    "PairClassifier": {},
    "best candidate, no average": {"choose.average": best_only},
    "average by prior weights": {"choose.average": prior_only},
    "no prior on the weights": {"stack._LAMBDA": 1e-9},
    "no calibration": {"choose.calibrate_average": uncalibrated},
    # Laplacian kernels go with the powers: none are tried on standard columns.
    "standard columns, no Laplacian": {
        "choose.KERNELS": {"standard": KERNELS["power"], "power": ()}
    },
    "power columns only": {
        "choose.KERNELS": {"standard": (), "power": KERNELS["power"]}
    },
    "linear kernels only": {"choose.KERNELS": LINEAR},
    "no Laplacian kernels": {"choose.KERNELS": without("laplacian")},
    "folds dealt once": {"classifier.MOST_DEALS": 1},
    "one start": {"path.N_STARTS": 1},
}


def error(variant: str, dataset: str, m: int, seed: int) -> float:
    """Return the clustering error of a variant on a subsample."""
    sample = draw_table(dataset, m, seed)
    with ExitStack() as changed:
        for name, value in VARIANTS[variant].items():
            changed.enter_context(patch(f"pairlearn.models.auto.{name}", value))
        clf = PairClassifier(noise=None, random_state=seed)
        clf.fit(sample.pairs, sample.t)
    return float(clustering_error(sample.y_test, clf.predict(sample.X_test)))


def main() -> None:
    """Run all variants on the same subsamples, and publish the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--m", type=int, default=100)
    options.add_argument("--trials", type=int, default=8)
    options.add_argument("--jobs", type=int, default=2)
    chosen = options.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + chosen.trials)
    rows, errors = [], {}
    for variant in VARIANTS:
        found = Parallel(n_jobs=chosen.jobs)(
            delayed(error)(variant, dataset, chosen.m, seed)
            for dataset in DATASETS
            for seed in seeds
        )
        errors[variant] = np.reshape(found, (len(DATASETS), -1)) * 100
        means = errors[variant].mean(axis=1)
        # The data sets are given; what varies is the subsample.
        change = errors[variant] - errors["PairClassifier"]
        spread = change.mean(axis=0).std(ddof=1) / np.sqrt(chosen.trials)
        rows.append(
            [
                variant,
                *(f"{mean:.1f}" for mean in means),
                f"{means.mean():.2f}",
                f"{change.mean():+.2f} ({spread:.2f})",
            ]
        )
        print(" ".join(rows[-1]), flush=True)
    what = (
        f"Clustering error in per cent, {chosen.m} pairs, {chosen.trials} subsamples a "
        f"data set (seeds from {FIRST_SEED}); the last column is the mean difference "
        "from PairClassifier and its standard error."
    )
    publish(
        f"choices-{chosen.m}",
        "PairClassifier, one part changed at a time",
        [
            machine("numpy", "scipy", "scikit-learn"),
            what,
            table(["variant", *DATASETS, "mean", "difference"], rows),
        ],
    )


if __name__ == "__main__":
    main()
