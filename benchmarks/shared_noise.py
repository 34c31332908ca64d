"""``python -m benchmarks.shared_noise``: whether wrong answers are noticed.

1,000 answers by nobody in particular about 500 points, each in four pairs, of which
15 % are wrong, whatever the pair. Noticed: the interval of `PairClassifier` leaves out
0. The tables of the paper need PAIRLEARN_DATA.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from benchmarks.accuracy import record
from benchmarks.accuracy.record import Key, Results
from benchmarks.report import RESULTS, machine, publish, table
from pairlearn import PairClassifier, Pairs
from pairlearn.reproduce.sample import draw_table, generator
from pairlearn.reproduce.tabular import DATASETS

PATH = RESULTS / "shared-noise.jsonl"
ANSWERS, TIMES, WRONG, NEAR = 1000, 4, 0.15, 0.03
# The numbers are those of the likelihood: 0 means that the answers were taken as right.
HEAD = ["data set", "trials", "noticed", "within 3 points", "mean rate", "in interval"]


def draw_pairs(rng: np.random.RandomState) -> np.ndarray:
    """Return pairs of 500 points such that each is in four, by shuffling ends."""
    n_points = 2 * ANSWERS // TIMES
    ends = np.repeat(np.arange(n_points), TIMES)
    while True:
        rng.shuffle(ends)
        index = ends.reshape(-1, 2).copy()
        for _ in range(200):
            bad = np.flatnonzero(index[:, 0] == index[:, 1])
            if not len(bad):
                return index
            other = rng.randint(ANSWERS, size=len(bad))
            index[bad, 1], index[other, 1] = index[other, 1], index[bad, 1].copy()


def run(key: Key) -> Results:
    """Return what is found of the wrong answers."""
    sample = draw_table(key.dataset, ANSWERS // TIMES, key.seed)
    rng = generator("shared noise", key.dataset, key.seed)
    pairs = Pairs(sample.X, draw_pairs(rng))
    right = pairs.answers(sample.y)
    t = np.where(rng.random_sample(len(right)) < WRONG, -right, right)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = PairClassifier(random_state=key.seed).fit(pairs, t)
    r1, r0 = clf.flip_rates_
    same = np.mean(right > 0)
    rate = same * (1 - r1) + (1 - same) * r0
    return {
        "rate": round(float(rate), 4),
        "rates": [round(float(r), 4) for r in (r1, r0)],
        "interval": [round(float(end), 4) for end in clf.flip_rate_interval_],
    }


def write(rows: dict[Key, Results]) -> None:
    """Write the table."""
    lines = []
    for name in [*DATASETS, "all"]:
        some = [r for key, r in rows.items() if name in (key.dataset, "all")]
        if not some:
            continue
        rate = np.array([r["rate"] for r in some])
        low, high = np.array([r["interval"] for r in some]).T
        lines.append(
            [
                name,
                str(len(some)),
                f"{np.mean((low > 0) & (rate > 0)):.0%}",
                f"{np.mean(np.abs(rate - WRONG) <= NEAR):.0%}",
                f"{rate.mean():.1%}",
                f"{np.mean((low <= WRONG) & (high >= WRONG)):.0%}",
            ]
        )
    about = (
        "1,000 answers about 500 points, each in four pairs; 15 % of them are wrong, "
        'whatever the pair. `PairClassifier(noise="auto")` is not told.'
    )
    parts = [about, table(HEAD, lines), machine("numpy", "scipy", "scikit-learn")]
    publish("shared-noise", "Wrong answers about shared points", parts)


def main() -> None:
    """Run what is missing, then write the table."""
    parser = argparse.ArgumentParser("python -m benchmarks.shared_noise")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=DATASETS)
    options = parser.parse_args()
    record.repair(PATH)
    for seed in range(options.trials):
        for name in options.datasets:
            key = Key("shared noise", "auto", name, ANSWERS, seed)
            if key not in record.read(PATH):
                found = run(key)
                record.add(key, found, PATH)
                print(key, found, flush=True)
    write(record.read(PATH))


if __name__ == "__main__":
    main()
