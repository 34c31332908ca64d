"""``python -m benchmarks.ask``: run what is missing, then write tables and figure.

The tables of the paper need PAIRLEARN_DATA; other tools need their environments, which
``make bench-ask`` builds. Every trial goes into ``benchmarks/results/ask.jsonl`` at
once and is not run again: after a change of our method, use ``--fresh --methods ours``.
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from joblib import Parallel, delayed

from benchmarks.accuracy import record
from benchmarks.accuracy.record import Key
from benchmarks.ask import methods
from benchmarks.ask.table import PATH, TRIALS, write
from benchmarks.ask.tasks import SMALL, TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable

DATASETS = (*TABLES, *SMALL)


class Trial(NamedTuple):
    """One run of a method; it is scored at several budgets."""

    method: str
    dataset: str
    seed: int
    budgets: tuple[int, ...]

    @property
    def keys(self) -> list[Key]:
        """Its lines in the record."""
        return [
            Key("ask", self.method, self.dataset, m, self.seed) for m in self.budgets
        ]


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.ask")
    add, names = parser.add_argument, list(methods.METHODS)
    add("--methods", nargs="+", choices=names, default=names, metavar="METHOD")
    add("--datasets", nargs="+", choices=DATASETS, default=DATASETS, metavar="SET")
    add("--trials", type=int, default=TRIALS, help=f"seeds 0, 1, ... ({TRIALS})")
    add("--most", type=int, default=1000, help="no budgets above this one")
    add("--jobs", type=int, default=1, help="trials at a time (1)")
    add("--fresh", action="store_true", help="forget the trials asked for; run again")
    add("--table-only", action="store_true", help="run nothing; write the tables")
    return parser.parse_args()


def plan(options: argparse.Namespace) -> list[Trial]:
    """Return the trials asked for."""
    # Seeds first: a run that is stopped has a few trials of every cell.
    every = product(range(options.trials), options.datasets, options.methods)
    trials = []
    for seed, dataset, method in every:
        usual = methods.METHODS[method].budgets(dataset)
        budgets = tuple(m for m in usual if m <= options.most)
        if budgets:
            trials.append(Trial(method, dataset, seed, budgets))
    return trials


def attempt(trial: Trial) -> tuple[Trial, dict[int, Any] | str]:
    """Return the results of a trial, or what went wrong: the others shall go on."""
    try:
        return trial, methods.run(*trial)
    except Exception as error:
        return trial, f"{type(error).__name__}: {error}"


def run(trials: list[Trial], jobs: int) -> list[Trial]:
    """Run trials, write each when it is done, and return those that failed."""
    failed = []
    start = time.perf_counter()
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    outcomes: Iterable = parallel(delayed(attempt)(trial) for trial in trials)
    for n, (trial, outcome) in enumerate(outcomes, 1):
        if isinstance(outcome, str):
            failed.append(trial)
            said = f"FAILED: {outcome}"
        else:
            for key in trial.keys:
                record.add(key, outcome[key.m], PATH)
            said = ", ".join(f"{m}: {r['error']:.3f}" for m, r in outcome.items())
            said += f"; {list(outcome.values())[-1]['seconds']:.1f} s"
        left = (time.perf_counter() - start) / n * (len(trials) - n) / 60
        what = f"{trial.method}, {trial.dataset}, seed {trial.seed}"
        print(f"[{n}/{len(trials)}, {left:.0f} min left] {what}: {said}", flush=True)
    return failed


def main() -> None:
    """Run what is missing, then write the tables and the figure."""
    options = arguments()
    failed = []
    if not options.table_only:
        trials = plan(options)
        needed = set(TABLES) & {trial.dataset for trial in trials}
        if needed and not os.environ.get("PAIRLEARN_DATA"):
            raise SystemExit("set PAIRLEARN_DATA to the folder with the data files")
        record.repair(PATH)
        if options.fresh:
            record.forget({key for trial in trials for key in trial.keys}, PATH)
        done = record.read(PATH)
        left = [t for t in trials if not all(key in done for key in t.keys)]
        print(f"{len(trials)} trials asked for, {len(left)} to run", flush=True)
        failed = run(left, options.jobs)
    write(record.read(PATH))
    if failed:
        raise SystemExit(f"{len(failed)} trials failed; the next run tries them again")


if __name__ == "__main__":
    main()
