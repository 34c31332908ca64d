"""The table of ten data sets, and Table 2, which is a part of it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from pairlearn.reproduce.experiment import Experiment, Options
from pairlearn.reproduce.methods import METHODS, test_error
from pairlearn.reproduce.sample import draw_table, load_cached
from pairlearn.reproduce.store import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["TABLE"]

NAME = "table-tabular"
DATASETS = (
    "adult", "banana", "codrna", "ijcnn1", "magic", "phishing", "phoneme", "spambase",
    "w8a", "waveform",
)  # fmt: skip
_SECONDS = {"SSP": 2.5e-3, "OVPC": 1e-3}  # a pair; the others take less
SIZES = (100, 500, 1000)


def _plan(
    options: Options, datasets: Sequence[str], methods: Sequence[str]
) -> Iterator[Trial]:
    sizes = SIZES[:2] if options.quick else SIZES
    seeds = range(options.n_trials(20, 2))
    # Seeds first: a run that is stopped has a few trials of every cell.
    for seed, dataset, m, method in product(seeds, datasets, sizes, methods):
        yield Trial(NAME, dataset, method, m, seed, METHODS[method].settings)


def _run(trial: Trial, data_home: Any) -> dict[str, Any]:
    sample = draw_table(trial.dataset, trial.m, trial.seed, data_home=data_home)
    return {"error": test_error(trial.method, trial.settings, sample, trial.seed)}


TABLE = Experiment(
    name=NAME,
    title="Clustering error of eight methods on ten tables",
    datasets=DATASETS,
    methods=tuple(METHODS),
    plan=_plan,
    run=_run,
    work=lambda trial: trial.m * _SECONDS.get(trial.method, 3e-4),
    quick_datasets=("codrna", "phishing", "waveform"),
    load=lambda dataset, data_home: load_cached(dataset, None, data_home),
)
