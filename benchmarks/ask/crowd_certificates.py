"""Whether certificates hold where a crowd answers, one of whom answers at random.

``python -m benchmarks.ask.crowd_certificates`` runs 300 small interviews with the
default settings: five people answer 70 questions, then learning ends and 100 audits
judge the final model. Its error on very many other points is known here. Every run goes
into ``benchmarks/results/ask-crowd-certificates.jsonl`` at once and is not run again.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import beta

from benchmarks.accuracy import record
from benchmarks.accuracy.record import Key, Results
from benchmarks.report import RESULTS, machine, publish, table
from pairlearn import certify, clustering_error
from pairlearn.ask import Interview
from pairlearn.ask.judging import answered_audits
from pairlearn.data.pairs import Pairs

PATH = RESULTS / "ask-crowd-certificates.jsonl"
RUNS, QUESTIONS, AUDITS, POINTS = 300, 70, 100, 900
LESSON = 40
ACCURACY = {"Ann": 0.98, "Ben": 0.9, "Cy": 0.8, "Dan": 0.65, "Eve": 0.5}
CONFIDENCE = 0.95


def world(n_points: int, gap: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points of two classes, four columns."""
    rng = np.random.default_rng([seed, 9])
    y = rng.integers(2, size=n_points)
    X = rng.normal(size=(n_points, 4))
    X[:, 0] += gap * y
    return X, y


def run(seed: int) -> Results:
    """Return the error, ends of the certificate, pairs left out, and who is told."""
    gap = (2.0, 3.0, 4.0)[seed % 3]
    X, y = world(POINTS, gap, seed)
    rng = np.random.default_rng([seed, 10])
    names = list(ACCURACY)
    interview = Interview(X, overlap=0.1, random_state=seed)
    with warnings.catch_warnings():
        # Few random pairs may look odd.
        warnings.simplefilter("ignore")
        for n in range(QUESTIONS + AUDITS):
            if n == LESSON:
                interview.learn()
            if n == QUESTIONS:
                # Which points are put aside is drawn: rarely there are too few.
                fresh = len(interview._audits.unused(interview.ledger)) // 2
                model = interview.freeze(min(AUDITS, fresh))
            who = names[rng.integers(len(names))]
            question = interview.next_question(who, learn=False)
            if question is None:
                break
            right = bool(y[question.left] == y[question.right])
            said = right == bool(rng.random() < ACCURACY[who])
            interview.answer(question, said, who)
        found = interview.certificate
        ledger = interview.ledger
        index, t = answered_audits(ledger.final_audits(), ledger.audit_answers())
        # What it would be if every answer were taken for right.
        naive = certify(model, Pairs(X, index), t, confidence=CONFIDENCE)
    X_new, y_new = world(20_000, gap, 10**6 + seed)
    error = clustering_error(y_new, model.predict(X_new))
    people = interview.people()
    told = people is not None and "Eve" in [p.name for p in people if p.is_spammer]
    low, high = found.clustering_interval
    holds = naive.clustering_interval[0] <= error <= naive.clustering_interval[1]
    return {
        "error": round(error, 6),
        "low": round(low, 6),
        "high": round(high, 6),
        "left_out": found.n_left_out,
        "told": told,
        "naive": bool(holds),
    }


def main() -> None:
    """Run, and write the table."""
    parser = argparse.ArgumentParser("python -m benchmarks.ask.crowd_certificates")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table-only", action="store_true")
    options = parser.parse_args()
    every = [Key("crowd", "people", "gaps", QUESTIONS, k) for k in range(options.runs)]
    done = record.read(PATH)
    left = [key for key in every if key not in done and not options.table_only]
    parallel = Parallel(n_jobs=options.jobs, return_as="generator_unordered")
    for seed, results in parallel(delayed(numbered)(key.seed) for key in left):
        record.add(Key("crowd", "people", "gaps", QUESTIONS, seed), results, PATH)
    write(list(record.read(PATH).values()))


def numbered(seed: int) -> tuple[int, Results]:
    """Run, and return the seed as well."""
    return seed, run(seed)


def write(rows: list[Results]) -> None:
    """Write the table."""
    names = ("error", "low", "high", "left_out", "told", "naive")
    error, low, high, left, told, naive = (
        np.array([row[name] for row in rows], dtype=float) for name in names
    )
    holds = (low <= error) & (error <= high)
    n, k = len(rows), int(holds.sum())
    least = beta.ppf(0.025, k, n - k + 1)
    publish(
        "ask_crowd_certificates",
        "Certificates where a crowd answers",
        [
            (
                f"{n} interviews with five people who are right in "
                f"{', '.join(f'{a:.0%}' for a in ACCURACY.values())} of the cases; the "
                f"last one answers at random. {QUESTIONS} questions, then {AUDITS} "
                f"audits of the final model; {CONFIDENCE:.0%} certificates."
            ),
            table(
                ["", ""],
                [
                    ["holds the error", f"{k / n:.1%} (at least {least:.1%})"],
                    ["error of the models, mean", f"{error.mean():.1%}"],
                    ["upper end, median", f"{np.median(high):.1%}"],
                    ["upper end below one half", f"{np.mean(high < 0.5):.1%}"],
                    ["audits left out, mean", f"{left.mean():.1f}"],
                    [
                        "told to answer at random: the one who does",
                        f"{told.mean():.1%}",
                    ],
                    [
                        "if every answer is taken for right: holds",
                        f"{naive.mean():.1%}",
                    ],
                ],
            ),
            machine("numpy", "scipy", "scikit-learn"),
        ],
    )


if __name__ == "__main__":
    main()
