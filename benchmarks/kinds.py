"""How many kinds there are: what ``n_classes="auto"`` finds, and what it costs.

``python -m benchmarks.kinds`` runs this (about a quarter of an hour), and goes on where
it was; to begin anew, delete benchmarks/results/kinds.md. Each draw is of
random pairs, in which points may occur again; accuracy is on all points, up to the
names of the groups. Times are of the processor, and ratios of them are within a draw.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from benchmarks.report import RESULTS, machine, publish, table
from pairlearn import PairClassifier, Pairs, datasets
from pairlearn.trust.assignment import match_classes

DRAWS = 20
# Of two kinds, and with wrong answers, this many draws are also fitted with the number
# given, for the time.
TIMED = 3
PAPER = (
    *("adult", "banana", "codrna", "ijcnn1", "magic"),
    *("phishing", "phoneme", "spambase", "w8a", "waveform"),
)


def some_digits() -> tuple[np.ndarray, np.ndarray]:
    """Return the digits 3, 8 and 9."""
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, [3, 8, 9])
    return X[chosen], y[chosen]


# Name: how to load it, number of kinds, number of answers.
TASKS = {
    "wine": (lambda: load_wine(return_X_y=True), 3, 400),
    "iris": (lambda: load_iris(return_X_y=True), 3, 400),
    "digits 3, 8, 9": (some_digits, 3, 400),
    "digits": (lambda: load_digits(return_X_y=True), 10, 2000),
    "breast cancer": (lambda: load_breast_cancer(return_X_y=True), 2, 400),
} | {
    name: (
        lambda name=name: getattr(datasets, f"load_{name}")(return_X_y=True),
        2,
        400,
    )
    for name in PAPER
}


def accuracy(y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the share of points in the right group, for the best names."""
    classes, groups = np.unique(y), np.unique(predicted)
    size = max(len(classes), len(groups))
    counts = np.zeros((size, size))
    for a, c in enumerate(classes):
        for b, g in enumerate(groups):
            counts[a, b] = np.sum((y == c) & (predicted == g))
    return float(counts[np.arange(size), match_classes(counts)].sum() / len(y))


def fitted(n_classes: int | str, pairs: Pairs, t: np.ndarray):
    """Return a model, and how long the processor took."""
    start = time.process_time()
    model = PairClassifier(n_classes=n_classes, random_state=0).fit(pairs, t)
    return model, time.process_time() - start


def compare(name: str, wrong: float) -> list[str]:
    """Return a row of the table."""
    load, n_kinds, n_pairs = TASKS[name]
    X, y = load()
    some = np.random.RandomState(0).permutation(len(y))[:5000]
    looked, truth = X[some], y[some]
    found, own, known, seconds, ratios = Counter(), [], [], [], []
    for seed in range(DRAWS):
        pairs, t = Pairs.sample(X, n_pairs, y, reuse=True, random_state=seed)
        flips = np.random.RandomState(seed).random_sample(n_pairs) < wrong
        t = np.where(flips, -t, t)
        model, took = fitted("auto", pairs, t)
        found[model.n_classes_] += 1
        own.append(accuracy(truth, model.predict(looked)))
        seconds.append(took)
        if (n_kinds > 2 and not wrong) or seed < TIMED:
            given, alone = fitted(n_kinds, pairs, t)
            known.append(accuracy(truth, given.predict(looked)))
            ratios.append(took / alone)
    numbers = ", ".join(f"{k}: {n}" for k, n in sorted(found.items()))
    return [
        name,
        f"{n_pairs:,}",
        f"{wrong:.0%}",
        str(n_kinds),
        numbers,
        f"{np.mean(own):.3f}",
        f"{np.min(own):.3f}",
        f"{np.mean(known):.3f}",
        f"{np.mean(seconds):.1f}",
        f"{np.median(ratios):.2f}",
    ]


def speed() -> list[list[str]]:
    """Return how long ten kinds take, by the number of pairs."""
    X, y = load_digits(return_X_y=True)
    rows = []
    for n_pairs in (600, 2000, 10_000):
        pairs, t = Pairs.sample(X, n_pairs, y, reuse=True, random_state=0)
        model, took = fitted(10, pairs, t)
        rows.append(
            [f"{n_pairs:,}", f"{took:.1f}", f"{accuracy(y, model.predict(X)):.3f}"]
        )
    return rows


HEAD = ["data", "answers", "wrong", "kinds", "found: how often", "accuracy"]
HEAD += ["least", "number given", "seconds", "times as long"]
SPEED = ["answers", "seconds", "accuracy"]


def rows_of(text: str, width: int) -> list[list[str]]:
    """Return the rows of the tables of a page that have so many columns."""
    lines = [line.strip(" |").split("|") for line in text.splitlines() if "|" in line]
    rows = [[cell.strip() for cell in line] for line in lines if len(line) == width]
    return [row for row in rows if row not in (HEAD, SPEED) and "---" not in row[0]]


def page(rows: list[list[str]], fast: list[list[str]]) -> None:
    """Print what is known, and write it."""
    told = (
        f"{DRAWS} draws of random pairs each. "
        '`n_classes="auto"`: how often which number of kinds was found, clustering '
        "accuracy (mean and least; on 5,000 points at most), that with the number "
        "given, seconds of the "
        "processor, and how many times as long as with the number given (median; "
        f"{TIMED} draws where there are two kinds or wrong answers):"
    )
    parts = [machine("numpy", "scipy", "scikit-learn"), told, table(HEAD, rows)]
    parts += ["Ten digits, `n_classes=10`:", table(SPEED, fast)]
    publish("kinds", "How many kinds there are", parts)


def main() -> None:
    """Run what is not on the page yet; without the page, everything."""
    warnings.simplefilter("ignore")
    stored = RESULTS / "kinds.md"
    text = stored.read_text() if stored.exists() else ""
    rows, fast = rows_of(text, len(HEAD)), rows_of(text, len(SPEED)) or speed()
    tried = [(name, 0.0) for name in TASKS]
    tried += [(name, 0.05) for name in TASKS if name not in (*PAPER, "digits")]
    for name, wrong in tried:
        if not any(row[0] == name and row[2] == f"{wrong:.0%}" for row in rows):
            rows.append(compare(name, wrong))
            page(rows, fast)


if __name__ == "__main__":
    main()
