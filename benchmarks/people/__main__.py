"""``python -m benchmarks.people``: run what is missing, then write the table.

The tables of the paper need PAIRLEARN_DATA; Dawid and Skene need crowd-kit's
environment, which ``make bench-people`` builds. Every trial goes into
``benchmarks/results/people.jsonl`` at once and is not run again: after a change of our
method, use ``--fresh --methods annotators``.
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import product

from joblib import Parallel, delayed

from benchmarks.accuracy import record
from benchmarks.accuracy.record import Key, Results
from benchmarks.people.crowds import CROWDS
from benchmarks.people.methods import METHODS, run
from benchmarks.people.table import PATH, TRIALS, write
from pairlearn.reproduce.tabular import DATASETS

# Few columns first: a run that is stopped has something of each kind.
ORDER = ("banana", "phoneme", "codrna", "magic", "waveform", "ijcnn1", "phishing")
ORDER += ("spambase", "adult", "w8a")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.people")
    add, names = parser.add_argument, list(METHODS)
    add("--methods", nargs="+", choices=names, default=names, metavar="METHOD")
    add("--datasets", nargs="+", choices=DATASETS, default=ORDER, metavar="SET")
    add("--trials", type=int, default=TRIALS, help=f"seeds 0, 1, ... ({TRIALS})")
    add("--first", type=int, default=0, help="the first of these seeds to run (0)")
    add("--jobs", type=int, default=1, help="trials at a time (1)")
    add("--fresh", action="store_true", help="forget the trials asked for; run again")
    add("--table-only", action="store_true", help="run nothing; write the table")
    return parser.parse_args()


def attempt(key: Key) -> tuple[Key, Results | str]:
    """Return the results of a trial, or what went wrong: the others shall go on."""
    try:
        return key, run(key)
    except Exception as error:
        return key, f"{type(error).__name__}: {error}"


def main() -> None:
    """Run what is missing, then write the table."""
    options = arguments()
    n_failed = 0
    if not options.table_only:
        if not os.environ.get("PAIRLEARN_DATA"):
            raise SystemExit("set PAIRLEARN_DATA to the folder with the data files")
        seeds = range(options.first, options.trials)
        every = product(seeds, options.datasets, CROWDS, options.methods)
        keys = [Key("people", method, name, n, k) for k, name, n, method in every]
        record.repair(PATH)
        if options.fresh:
            record.forget(set(keys), PATH)
        done = record.read(PATH)
        left = [key for key in keys if key not in done]
        print(f"{len(keys)} trials asked for, {len(left)} to run", flush=True)
        start = time.perf_counter()
        parallel = Parallel(n_jobs=options.jobs, return_as="generator_unordered")
        outcomes = parallel(delayed(attempt)(key) for key in left)
        for n, (key, outcome) in enumerate(outcomes, 1):
            if isinstance(outcome, str):
                n_failed += 1
                said = f"FAILED: {outcome}"
            else:
                record.add(key, outcome, PATH)
                said = f"{outcome['error']:.3f}; {outcome['seconds']:.1f} s"
            minutes = (time.perf_counter() - start) / n * (len(left) - n) / 60
            what = f"{key.method}, {key.dataset}, {key.m} people, seed {key.seed}"
            print(
                f"[{n}/{len(left)}, {minutes:.0f} min left] {what}: {said}", flush=True
            )
    write(record.read(PATH))
    if n_failed:
        raise SystemExit(f"{n_failed} trials failed; the next run tries them again")


if __name__ == "__main__":
    main()
