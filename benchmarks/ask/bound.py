"""What labels of the points that were asked about would give.

``python -m benchmarks.ask.bound`` asks 200 questions, as ``benchmarks.ask`` does, tells
the true labels of all points in them to ordinary classifiers, and counts errors on the
1,000 other points. Right answers that stay connected say as much as the labels, up to
one swap. *Best* takes in each draw whoever has the fewest errors on the very points
that are scored, the model of the interview among them: nobody could choose it. Beside
it stand 500 and 1,000 random pairs, of ``benchmarks/results/ask.jsonl``.
"""

from __future__ import annotations

import argparse
import os
import warnings
from itertools import product

import numpy as np
from joblib import Parallel, delayed

from benchmarks.accuracy import record
from benchmarks.ask.cells import PATH, Cells
from benchmarks.ask.methods import RANDOM
from benchmarks.ask.tasks import TABLES, draw
from benchmarks.labels import learners
from benchmarks.report import machine, publish, table
from pairlearn import clustering_error
from pairlearn.ask import Interview

QUESTIONS, PAIRS = 200, (500, 1000)
OURS, BEST = "ours", "best"


def trial(name: str, seed: int) -> dict[str, float]:
    """Return everybody's error in per cent."""
    warnings.simplefilter("ignore")
    task = draw(name, seed)
    interview = Interview(task.X, audits=0, noise=None, random_state=seed)
    asked: set[int] = set()
    for _ in range(QUESTIONS):
        question = interview.next_question()
        asked |= {question.left, question.right}
        answer = task.oracle.answer(question.left, question.right)
        interview.answer(question, answer)
    found = {OURS: interview.learn().predict(task.X_test)}
    rows = np.array(sorted(asked))
    X, y = task.X[rows], task.y[rows]
    for learner, model in learners(y).items():
        found[learner] = model.fit(X, y).predict(task.X_test)
    errors = {
        who: 100 * clustering_error(task.y_test, group) for who, group in found.items()
    }
    return errors | {BEST: min(errors.values())}


def main() -> None:
    """Run all, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if not os.environ.get("PAIRLEARN_DATA"):
        raise SystemExit("set PAIRLEARN_DATA to the folder with the data files")
    seeds = range(options.trials)
    keys = list(product(TABLES, seeds))
    found = Parallel(options.jobs)(delayed(trial)(*key) for key in keys)
    runs = dict(zip(keys, found, strict=True))
    cells = Cells(record.read(PATH))
    who = [*found[0], *(f"{m:,} pairs" for m in PAIRS)]
    every, reached = [], dict.fromkeys(PAIRS, 0)
    for name in TABLES:
        values = [np.mean([runs[name, k][each] for k in seeds]) for each in found[0]]
        for m in PAIRS:
            random = cells.values((RANDOM, name, m), "error")
            values.append(np.mean([random[k] for k in seeds]))
            reached[m] += int(values[len(found[0]) - 1] <= values[-1])
        every.append(values)
    rows = [
        [name, *(f"{value:.1f}" for value in values)]
        for name, values in zip(TABLES, every, strict=True)
    ]
    rows.append(["mean", *(f"{value:.2f}" for value in np.mean(every, axis=0))])
    counts = ", ".join(f"{n} of {len(TABLES)} ({m:,})" for m, n in reached.items())
    about = (
        f"Error in % on 1,000 other points after {QUESTIONS} questions, mean over "
        f"{options.trials} draws. All but *ours* and the random pairs are told the "
        "true labels of the points that were asked about. *Best* takes in each draw "
        "whoever has the fewest errors on the points that are scored. It is at or "
        f"below random pairs in {counts} of the tables."
    )
    parts = [about, table(["", *who], rows), machine("scikit-learn")]
    publish("ask_bound", "What labels of the points asked about give", parts)


if __name__ == "__main__":
    main()
