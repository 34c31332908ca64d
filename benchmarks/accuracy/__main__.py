"""``python -m benchmarks.accuracy``: run what is missing, then write the table.

It needs PAIRLEARN_DATA. Every trial goes into ``benchmarks/results/accuracy.jsonl`` at
once and is not run again: after a change of a method, use ``--fresh --methods ...``.
``--time`` measures `PairClassifier` alone on two cores; let nothing else run then.
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import product
from typing import TYPE_CHECKING

from joblib import Parallel, delayed

from benchmarks.accuracy import record, trials
from benchmarks.accuracy.record import Key
from benchmarks.accuracy.table import REPEATS, SEEDS, write
from pairlearn.reproduce.report.paper import TABULAR_SIZES
from pairlearn.reproduce.tabular import DATASETS

if TYPE_CHECKING:
    from collections.abc import Iterable

SHOWN = ("error", "seconds", "ece")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.accuracy")
    add = parser.add_argument
    add("--methods", nargs="+", choices=trials.METHODS, default=trials.METHODS)
    add("--datasets", nargs="+", choices=DATASETS, default=DATASETS)
    add("--m", nargs="+", type=int, choices=TABULAR_SIZES, default=TABULAR_SIZES)
    add("--trials", type=int, default=len(SEEDS), help="seeds 0, 1, ... (20)")
    add("--jobs", type=int, default=1, help="trials at a time (1)")
    add("--time", action="store_true", help="time PairClassifier on two cores instead")
    add("--fresh", action="store_true", help="forget the trials asked for; run again")
    add("--table-only", action="store_true", help="run nothing; write the table")
    return parser.parse_args()


def plan(options: argparse.Namespace) -> list[Key]:
    """Return the trials asked for."""
    cells = options.datasets, options.m
    if options.time:
        every = product(*cells, REPEATS)
        return [Key("time", trials.OURS, *cell) for cell in every]
    # Seeds first: a run that is stopped has a few trials of every cell.
    every = product(range(options.trials), *cells, options.methods)
    return [Key("trial", method, name, m, seed) for seed, name, m, method in every]


def run(keys: list[Key], jobs: int) -> list[Key]:
    """Run trials, write each when it is done, and return those that failed."""
    failed = []
    start = time.perf_counter()
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    outcomes: Iterable = parallel(delayed(trials.attempt)(key) for key in keys)
    for n, (key, outcome) in enumerate(outcomes, 1):
        if isinstance(outcome, str):
            failed.append(key)
            said = f"FAILED: {outcome}"
        else:
            record.add(key, outcome)
            shown = [f"{k} {outcome[k]:.3f}" for k in outcome if k in SHOWN]
            said = ", ".join(shown)
        left = (time.perf_counter() - start) / n * (len(keys) - n) / 60
        print(f"[{n}/{len(keys)}, {left:.0f} min left] {key}: {said}", flush=True)
    return failed


def main() -> None:
    """Run what is missing, then write the table."""
    options = arguments()
    failed = []
    if not options.table_only:
        if not os.environ.get("PAIRLEARN_DATA"):
            raise SystemExit("set PAIRLEARN_DATA to the folder with the data files")
        keys = plan(options)
        record.repair()
        if options.fresh:
            record.forget(set(keys))
        done = record.read()
        left = [key for key in keys if key not in done]
        print(f"{len(keys)} trials asked for, {len(left)} to run", flush=True)
        # A fit that is timed has the cores for itself.
        failed = run(left, jobs=1 if options.time else options.jobs)
    write(record.read())
    if failed:
        raise SystemExit(f"{len(failed)} trials failed; the next run tries them again")


if __name__ == "__main__":
    main()
