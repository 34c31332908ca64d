"""Do live certificates hold? Whole interviews, looked at after every answer.

``python -m benchmarks.interviews`` lets :class:`pairlearn.ask.Interview` ask 300
questions about two Gaussian classes, for which the error of every linear model can be
computed, and compares the interval with that error at every look, for the model as it
is at that time. It counts interviews in which the interval misses at any look, and
those that end "when the upper end is below x" and are wrong then. Beside it stands what
the ordinary interval (Clopper and Pearson) would do at every look.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import norm
from sklearn.base import BaseEstimator

from benchmarks.report import machine, publish, table
from pairlearn import Pairs, certify
from pairlearn.ask import Interview
from pairlearn.ask.judging import answered_audits
from pairlearn.data.graph import spanning_forest
from pairlearn.trust.sample_checks import MoreKindsError

N_QUESTIONS, N_POINTS, N_FEATURES = 300, 1200, 4
# Gap between the classes, share of the larger class, share of audits, wrong answers.
WORLDS = (
    (3.3, 0.5, 0.4, None),
    (2.0, 0.7, 0.4, None),
    (3.3, 0.5, 0.4, 0.1),
    (4.6, 0.6, 0.2, None),
)
STOP_BELOW = (0.10, 0.15)
# Interviews of which the ordinary interval is computed, too.
COMPARED = 400


class Means(BaseEstimator):
    """A linear model between the means of the two sides that answers imply."""

    def fit(self, pairs: Pairs, t: Any) -> Means:
        """Take the means."""
        forest = spanning_forest(pairs.n_points, pairs.index)
        side = forest.signs(np.asarray(t, dtype=float))
        right, left = (pairs.X[side == s].mean(axis=0) for s in (1, -1))
        self.coef_, self.intercept_ = right - left, (left @ left - right @ right) / 2
        self.classes_ = np.array([-1, 1])
        return self

    def decision_function(self, X: Any) -> Any:
        """Return the scores."""
        return np.asarray(X) @ self.coef_ + self.intercept_

    def predict(self, X: Any) -> Any:
        """Return the sides."""
        return np.where(self.decision_function(X) > 0, 1, -1)

    def predict_proba(self, X: Any) -> Any:
        """Return probabilities."""
        p = 1 / (1 + np.exp(-np.clip(self.decision_function(X), -30, 30)))
        return np.stack([1 - p, p], axis=1)

    def true_error(self, gap: float, prior: float) -> float:
        """Return the error on all points, up to swapping the sides."""
        size = np.linalg.norm(self.coef_)
        reach, shift = gap / 2 * self.coef_[0] / size, self.intercept_ / size
        error = prior * norm.sf(reach + shift) + (1 - prior) * norm.sf(reach - shift)
        return float(min(error, 1 - error))


def interview(world: tuple[Any, ...], seed: int) -> dict[str, Any]:
    """Run one interview, and return what was wrong at some look."""
    gap, prior, audits, wrong = world
    rng = np.random.default_rng([seed, 77])
    y = np.where(rng.random(N_POINTS) < prior, 1, -1)
    X = rng.normal(size=(N_POINTS, N_FEATURES))
    X[:, 0] += gap / 2 * y
    asker = Interview(
        X,
        audits=audits,
        noise=wrong,
        strategy="uncertain",
        estimator=Means(),
        random_state=seed,
    )
    found: dict[str, Any] = {"missed": False, "plain": False, "width": np.nan}
    found |= {f"stop {x}": None for x in STOP_BELOW}
    seen = None
    for _ in range(N_QUESTIONS):
        question = asker.next_question()
        said = y[question.left] == y[question.right]
        if wrong is not None and rng.random() < wrong:
            said = not said
        asker.answer(question, bool(said))
        now = len(asker.ledger.learned), len(asker.ledger.audit_answers())
        if asker.model is None or now == seen:
            continue  # neither the model nor the audits have changed
        seen = now
        error = asker.model.true_error(gap, prior)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                certificate = asker.certificate
            except MoreKindsError:
                continue
            if certificate is None:
                continue
            if seed < COMPARED:
                index, t = answered_audits(
                    asker.ledger.audits(), asker.ledger.audit_answers()
                )
                plain = certify(asker.model, Pairs(X, index), t, flip_rates=wrong)
                low, high = plain.clustering_interval
                found["plain"] |= not low <= error <= high
        low, high = certificate.clustering_interval
        found["missed"] |= not low <= error <= high
        found["width"] = high - low
        for x in STOP_BELOW:
            if high < x and found[f"stop {x}"] is None:
                found[f"stop {x}"] = error > x
    found["error"] = error
    return found


def main() -> None:
    """Run all worlds; write the table after each, so that nothing found is lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--worlds", type=int, default=len(WORLDS))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows: list[list[str]] = []
    for world in WORLDS[: options.worlds]:
        runs = Parallel(options.jobs, batch_size=10)(
            delayed(interview)(world, seed) for seed in range(options.runs)
        )
        rows.append(summarise(world, runs))
        print(rows[-1], flush=True)
        write(rows, options.runs)


def summarise(world: tuple[Any, ...], runs: list[dict[str, Any]]) -> list[str]:
    """Return a row of the table."""
    _, prior, audits, wrong = world
    stops = []
    for x in STOP_BELOW:
        ended = [run[f"stop {x}"] for run in runs if run[f"stop {x}"] is not None]
        stops.append(f"{sum(ended)} of {len(ended)}")
    return [
        f"{np.mean([run['error'] for run in runs]):.1%}",
        f"{prior:.0%}",
        f"{audits:.0%}",
        "none" if wrong is None else f"{wrong:.0%}",
        f"{np.mean([run['missed'] for run in runs]):.1%}",
        f"{np.mean([run['plain'] for run in runs[:COMPARED]]):.1%}",
        f"{np.nanmean([run['width'] for run in runs]):.3f}",
        *stops,
    ]


def write(rows: list[list[str]], n_runs: int) -> None:
    """Write the table of the worlds so far."""
    header = [
        "error at the end", "larger class", "audits", "wrong answers",
        "misses at some look", "one-look interval misses", "width at the end",
        *(f"stopped below {x:.0%}, and wrong" for x in STOP_BELOW),
    ]  # fmt: skip
    publish(
        "interviews",
        "Live certificates, looked at after every answer",
        [
            (
                f"{n_runs:,} interviews per row, {N_QUESTIONS} questions each, 95 % "
                "confidence: at most 5 % may miss the model's true error at any look."
            ),
            table(header, rows),
            machine("numpy", "scipy", "scikit-learn"),
        ],
    )


if __name__ == "__main__":
    main()
