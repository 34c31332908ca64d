"""Certificates of models that learn while one looks, and of audits chosen by doubt.

``python -m benchmarks.audits`` writes ``benchmarks/results/audits.md`` in some minutes.
``--runs 100`` tries less and writes nothing. The functions are also run, a few times
each, by the tests.

*Live.* An interview has 300 questions, a fifth of them audits by a coin. The model gets
a new version after 10, 15, 22, ... learning answers, and its error falls. After every
answer one looks at the interval of the current version, from all audits so far.

*Chosen.* Audits of a model that no longer changes, chosen by its doubts, in the worlds
of ``benchmarks/audit_worlds.py`` and on real tables.
"""

from __future__ import annotations

import argparse
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks.audit_worlds import (
    MODELS,
    WORLDS,
    draw,
    held,
    limit,
    some,
    uniform_needed,
    uniform_width,
    widths,
)
from benchmarks.report import machine, publish, table
from pairlearn.trust.audit_needs import audit_needs
from pairlearn.trust.chosen_audits import certify_audits, plan_audits
from pairlearn.trust.intervals import clopper_pearson, confidence_sequence
from pairlearn.trust.live import live_confidence
from pairlearn.trust.theory import clustering_error_from_pair_error

RUNS = 2000
QUESTIONS, AUDITS, GROWTH, FIRST = 300, 0.2, 1.5, 10
TARGETS = (0.25, 0.2)
TABLES = ("codrna", "ijcnn1", "phishing", "spambase", "w8a")

# --- a model that learns -------------------------------------------------------------


class Interviews(NamedTuple):
    """What one sees after each answer, in each run; shape (n_runs, n_questions)."""

    # The current version (0: there is none), audits and disagreements with it so far.
    version: Any
    n_audits: Any
    n_wrong: Any
    error: Any


def interviews(n_runs: int, rng: np.random.Generator, *, nested: bool) -> Interviews:
    """Simulate; `nested`: a version errs only where earlier ones have erred."""
    audit = rng.random((n_runs, QUESTIONS)) < AUDITS
    n_learned, n_audits = np.cumsum(~audit, axis=1), np.cumsum(audit, axis=1)
    starts = [FIRST]
    while starts[-1] < QUESTIONS:
        starts.append(int(starts[-1] * GROWTH))
    version = np.searchsorted(starts, n_learned, side="right")
    # Some interviews learn more, and faster, than others.
    last, speed = rng.uniform(0.02, 0.12, (n_runs, 1)), rng.uniform(15, 60, (n_runs, 1))
    error = last + (0.4 - last) * np.exp(-np.array(starts) / speed)
    hard = rng.random((n_runs, QUESTIONS, 2))
    n_wrong = np.zeros(audit.shape, dtype=int)
    for v in range(1, len(starts) + 1):
        if not nested:
            hard = rng.random(hard.shape)
        errs = hard < error[:, v - 1, None, None]
        wrong = np.cumsum(audit & (errs[..., 0] ^ errs[..., 1]), axis=1)
        n_wrong = np.where(version == v, wrong, n_wrong)
    now = np.take_along_axis(error, np.maximum(version - 1, 0), axis=1)
    return Interviews(version, n_audits, n_wrong, now)


@cache
def _ends(way: str, version: int, n_wrong: int, n: int) -> tuple[float, float]:
    if way == "Clopper-Pearson":
        ends = clopper_pearson(n_wrong, n)
    else:
        level = live_confidence(0.95, version) if way == "live" else 0.95
        ends = confidence_sequence(n_wrong, n, level)
    low, high = clustering_error_from_pair_error(np.array(ends)).tolist()
    return low, high


def look(seen: Interviews, way: str) -> dict[str, float]:
    """Return how often the interval is wrong at some look, or where one stops."""
    shown = (seen.version > 0) & (seen.n_audits > 0)
    keys = np.stack([seen.version, seen.n_wrong, seen.n_audits], axis=-1)[shown]
    if way != "live":
        keys[:, 0] = 1
    each, place = np.unique(keys, axis=0, return_inverse=True)
    ends = np.array([_ends(way, *key) for key in each.tolist()])[place.ravel()]
    low, high = np.zeros(shown.shape), np.full(shown.shape, 0.5)
    low[shown], high[shown] = ends.T
    miss = shown & ((seen.error < low) | (seen.error > high))
    found = {
        "some look": float(miss.any(axis=1).mean()),
        "upper end": high[:, -1].mean(),
    }
    runs = np.arange(len(miss))
    for target in TARGETS:
        good = shown & (high < target)
        stop = np.where(good.any(axis=1), good.argmax(axis=1), miss.shape[1] - 1)
        found[f"stop {target}"] = float(miss[runs, stop].mean())
        found[f"stopped {target}"] = float(good.any(axis=1).mean())
    return found


def live_part(n_runs: int) -> str:
    """Lay out how often live certificates are wrong."""
    rows = []
    for nested in (True, False):
        seen = interviews(n_runs, np.random.default_rng(0), nested=nested)
        for way in ("live", "sequence", "Clopper-Pearson"):
            found = look(seen, way)
            stops = [
                f"{found[f'stop {x}']:.1%} ({found[f'stopped {x}']:.0%})"
                for x in TARGETS
            ]
            rows.append(
                [
                    {
                        "live": "live certificate",
                        "sequence": "confidence sequence, 95% for each version",
                    }.get(way, way + " at every look"),
                    "as before" if nested else "elsewhere",
                    f"{found['some look']:.1%}",
                    *stops,
                    f"{found['upper end']:.3f}",
                ]
            )
    stop_heads = [f"stop below {x:g}" for x in TARGETS]
    head = ["interval", "versions err", "wrong at some look", *stop_heads, "upper end"]
    told = (
        f"Live certificates: {n_runs} interviews, looked at after every answer; 5% are "
        "allowed. How often the interval misses the error of the current version at "
        "some look; how often it does where one stops since the upper end is below a "
        "target, or at the end (and how many stop); the mean upper end at the end."
    )
    return f"{told}\n\n{table(head, rows)}"


# --- audits chosen by doubt ----------------------------------------------------------


def coverage_part(n_runs: int, n: int = 200, n_points: int = 20) -> str:
    """Lay out how often intervals of chosen audits hold, and how wide they are."""
    rows = []
    lowest = 0.95 - 3 * np.sqrt(0.95 * 0.05 / n_runs)
    for model in MODELS:
        for error in (0.01, 0.05, 0.2):
            draws, wrong = draw("two normal laws", model, error, n, n_points, n_runs)
            share = held(draws, wrong, error)
            few = slice(0, max(1, n_runs // 20))
            width = widths(some(draws, few), wrong[:, few], error).mean()
            rows.append(
                [
                    model,
                    f"{error:.0%}",
                    f"{share:.1%}" + ("" if share >= lowest else " BELOW"),
                    f"{draws.floor:g}",
                    f"{width:.3f}",
                    f"{uniform_width(error, n):.3f}",
                ]
            )
    head = ["doubts", "error", "held", "floor", "width", "uniform"]
    told = (
        f"Chosen audits: {n_runs} runs of {n} audits, each from a block of {n_points} "
        "points of two normal laws; 95% promised, at all looks together, floor "
        f"{lowest:.1%} (three standard errors). Uniform: the mean width from as many "
        "uniform audits (Clopper-Pearson, one look)."
    )
    return f"{told}\n\n{table(head, rows)}"


def needed_part(n_runs: int, error: float = 0.05, n_points: int = 40) -> str:
    """Lay out how many uniform audits give the width of so many chosen ones."""
    rows = []
    for world in WORLDS:
        sample = WORLDS[world](error, 4000, np.random.default_rng(1))
        for n in (100, 200, 400, 800, 1600):
            draws, wrong = draw(world, "calibrated", error, n, n_points, n_runs)
            width = widths(draws, wrong, error).mean()
            uniform = uniform_needed(error, width)
            forecast = audit_needs(sample, width)
            rows.append(
                [
                    world,
                    f"{n}",
                    f"{draws.floor:g}",
                    f"{width:.4f}",
                    f"{uniform}",
                    f"{n / uniform:.2f}",
                    f"{forecast.chosen} : {forecast.uniform}",
                    f"{limit(world, error):.2f}",
                ]
            )
    head = [
        "points",
        "chosen",
        "floor",
        "width",
        "uniform",
        "share",
        "forecast",
        "limit",
    ]
    told = (
        f"How many audits: calibrated models with an error of {error:.0%}, {n_runs} "
        f"runs, blocks of {n_points} points. Uniform: how many uniform audits have the "
        "same mean width (Clopper-Pearson, one look). Share: chosen ones for one "
        "uniform one. Forecast: what `audits_needed` says for this width. Limit: the "
        "share with ever more audits; no chances of random pairs, and no weights, can "
        "do with less."
    )
    return f"{told}\n\n{table(head, rows)}"


class Recalled:
    """A classifier of row numbers, with the predictions of another."""

    def __init__(self, chances: Any) -> None:
        self.chances, self.classes_ = chances, np.array([0, 1])

    def predict_proba(self, X: Any) -> Any:
        """Return what was predicted for these rows."""
        return self.chances[np.asarray(X)[:, 0].astype(int)]

    def predict(self, X: Any) -> Any:
        """Return the likelier class."""
        return self.predict_proba(X).argmax(axis=1)


def tables_part(n_runs: int, n: int = 500) -> str:
    """Lay out the same for models of real tables, whose doubts are what they are."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    from pairlearn.datasets import load_dataset

    rows = []
    for name in TABLES:
        data = load_dataset(name)
        X = data.data.toarray() if hasattr(data.data, "toarray") else data.data
        y = (data.target == np.unique(data.target)[1]).astype(int)
        order = np.random.default_rng(0).permutation(len(y))
        learn, rest = order[:2000], order[2000:22000]
        svm = make_pipeline(StandardScaler(), SVC())
        svm = CalibratedClassifierCV(svm, cv=3).fit(X[learn], y[learn])
        clf, y = Recalled(svm.predict_proba(X[rest])), y[rest]
        points = np.arange(len(rest), dtype=float)[:, None]
        error = float(np.mean(clf.predict(points) != y))
        ends = []
        for run in range(n_runs):
            plan = plan_audits(clf, points, n, random_state=run)
            left, right = y[plan.pairs.index].T
            t = np.where(left == right, 1, -1)
            ends.append(certify_audits(clf, plan, t).clustering_interval)
        low, high = np.array(ends).T
        width = float(np.mean(high - low))
        uniform = uniform_needed(error, width)
        rows.append(
            [
                name,
                f"{error:.1%}",
                f"{np.mean((low <= error) & (error <= high)):.0%}",
                f"{plan.draws.floor:g}",
                f"{width:.4f}",
                f"{uniform}",
                f"{n / uniform:.2f}",
            ]
        )
    head = ["table", "error", "held", "floor", "width", "uniform", "share"]
    told = (
        f"Real tables: an RBF-SVM of 2,000 labels with calibrated probabilities, {n} "
        f"audits chosen from up to 20,000 other points, {n_runs} plans."
    )
    return f"{told}\n\n{table(head, rows)}"


def main() -> None:
    """Simulate, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each cell")
    n_runs = parser.parse_args().runs
    parts = [
        live_part(n_runs),
        coverage_part(n_runs),
        needed_part(max(2, n_runs // 20)),
        tables_part(max(2, n_runs // 40)),
    ]
    if n_runs < RUNS:
        print("\n\n".join(parts))
        return
    about = "`python -m benchmarks.audits`. " + machine(
        "numpy", "scipy", "scikit-learn"
    )
    publish("audits", "Live certificates and chosen audits", [about, *parts])


if __name__ == "__main__":
    main()
