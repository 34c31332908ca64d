"""Why some cells of the paper's table differ from ours: one change at a time.

``python -m benchmarks.reproduction`` (needs PAIRLEARN_DATA; some minutes) writes
``benchmarks/results/reproduction.md``.
"""

from __future__ import annotations

import csv
import warnings
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks.report import machine, publish, table
from pairlearn import OVPCClassifier, clustering_error
from pairlearn.reproduce.methods import METHODS, test_error
from pairlearn.reproduce.sample import Sample, draw_table, generator, load_cached

if TYPE_CHECKING:
    from collections.abc import Callable

TRIALS = 20


def printed(dataset: str, m: int, method: str) -> str:
    """Return the paper's mean (standard error), in percent."""
    numbers = files("pairlearn.reproduce.report") / "paper_tabular.csv"
    with numbers.open() as file:
        lines = (line for line in file if not line.startswith("#"))
        for row in csv.DictReader(lines):
            if (row["dataset"], row["m"], row["method"]) == (dataset, str(m), method):
                mean, error = (
                    row["mean_clustering_error_pct"],
                    row["standard_error_pct"],
                )
                return f"{mean} ({error})"
    raise LookupError(f"the paper has no cell {dataset}, {m}, {method}")


def summary(errors: list[float]) -> str:
    """Return mean (standard error), in percent."""
    values = 100 * np.array(errors)
    return f"{values.mean():.1f} ({values.std(ddof=1) / np.sqrt(len(values)):.1f})"


def error(sample: Sample, method: str, seed: int, **changes: object) -> float:
    """Return the error of a method of the table with some settings changed."""
    return test_error(method, {**METHODS[method].settings, **changes}, sample, seed)


def more_samples() -> str:
    """CIPS on banana, on the samples of the table and on others."""
    rows = []
    for m in (100, 500, 1000):
        cells = []
        for seeds in (range(20), range(100, 180)):
            samples = [(draw_table("banana", m, seed), seed) for seed in seeds]
            cells.append(summary([error(s, "CIPS", seed) for s, seed in samples]))
        rows.append([f"banana, {m}", *cells, printed("banana", m, "CIPS")])
    header = ["CIPS on", "the table's 20 samples", "80 other samples", "paper"]
    return table(header, rows)


def scaled_on_all_points(dataset: str, m: int, seed: int) -> Sample:
    """Return the sample of the table, standardised by all points of the data set."""
    data = load_cached(dataset, None, None)
    points = data.data.toarray() if hasattr(data.data, "toarray") else data.data
    rows = generator(dataset, m, seed).permutation(len(points))[: 2 * m + 1000]
    X = StandardScaler().fit(points).transform(points[rows])
    y, n = data.target[rows], 2 * m
    return Sample(X[:n], y[:n], X[n:], y[n:], data.prior)


def scaling() -> str:
    """CIPS, MCL, SD and SV at m = 100, scaled in two ways."""
    rows = []
    for dataset in ("adult", "w8a"):
        training = [draw_table(dataset, 100, seed) for seed in range(TRIALS)]
        everything = [scaled_on_all_points(dataset, 100, s) for s in range(TRIALS)]
        for method in ("CIPS", "MCL", "SD", "SV"):
            cells = [
                summary([error(s, method, seed) for seed, s in enumerate(samples)])
                for samples in (training, everything)
            ]
            rows.append(
                [f"{dataset}, 100, {method}", *cells, printed(dataset, 100, method)]
            )
    header = ["cell", "standardised on the training points", "on all points", "paper"]
    return table(header, rows)


def starts_of_kmeans() -> str:
    """k-means with one start and with ten."""
    rows = []
    for dataset in ("phoneme", "spambase", "w8a"):
        samples = [draw_table(dataset, 500, seed) for seed in range(TRIALS)]
        cells = [
            summary([error(s, "KM", k, n_init=n) for k, s in enumerate(samples)])
            for n in (1, 10)
        ]
        rows.append([f"{dataset}, 500", *cells, printed(dataset, 500, "KM")])
    return table(["KM on", "one start", "ten starts", "paper"], rows)


def choice_of_start() -> str:
    """Constrained k-means with the best start chosen in two ways."""
    rows = []
    for dataset, m in (("phishing", 100), ("phishing", 1000), ("spambase", 1000)):
        by_inertia, by_error = [], []
        for seed in range(TRIALS):
            sample = draw_table(dataset, m, seed)
            by_inertia.append(error(sample, "CKM", seed))
            one_each = [
                error(sample, "CKM", 1000 * seed + k, n_init=1) for k in range(10)
            ]
            by_error.append(min(one_each))
        cells = [summary(by_inertia), summary(by_error), printed(dataset, m, "CKM")]
        rows.append([f"{dataset}, {m}", *cells])
    return table(["CKM on", "by its objective", "by the test error", "paper"], rows)


def ridge_of_ovpc() -> str:
    """OVPC with penalties from weak to strong."""
    strengths = (1e-6, 1e-4, 1e-2, 1.0)
    rows = []
    for dataset in ("codrna", "ijcnn1", "magic", "phishing", "spambase", "waveform"):
        errors: dict[float, list[float]] = {alpha: [] for alpha in strengths}
        for seed in range(TRIALS):
            sample = draw_table(dataset, 1000, seed)
            for alpha in strengths:
                clf = OVPCClassifier(alpha=alpha).fit(sample.pairs, sample.t)
                found = clustering_error(sample.y_test, clf.predict(sample.X_test))
                errors[alpha].append(found)
        cells = [summary(errors[alpha]) for alpha in strengths]
        rows.append([f"{dataset}, 1000", *cells, printed(dataset, 1000, "OVPC")])
    header = ["OVPC on", *(f"alpha {a:g}" for a in strengths), "paper"]
    return table(header, rows)


CHECKS = {
    "Banana has no linear boundary: what do other samples say?": more_samples,
    "Columns that the training points hardly show: on what to standardise?": scaling,
    "k-means: scikit-learn's default starts, today's and then": starts_of_kmeans,
    "Constrained k-means: the best of ten starts, by what?": choice_of_start,
    "OVPC: how strong is its ridge?": ridge_of_ovpc,
}


def answer(
    checks: dict[str, Callable[[], str]], name: str, title: str, about: str
) -> None:
    """Run checks, each the answer to a question, and write their tables."""
    warnings.simplefilter("ignore")
    parts = [machine("numpy", "scipy", "scikit-learn"), about]
    for question, check in checks.items():
        print(f"{question} ...", flush=True)
        parts += [f"## {question}", check()]
    publish(name, title, parts)


def main() -> None:
    """Write the tables."""
    about = (
        "Clustering error in percent, mean (standard error); 20 trials unless said "
        "otherwise, on the samples of the table."
    )
    answer(CHECKS, "reproduction", "Where the reproduction differs, and why", about)


if __name__ == "__main__":
    main()
