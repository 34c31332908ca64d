"""Running trials: in parallel, each stored as soon as it is done."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import threading
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
from threadpoolctl import ThreadpoolController, threadpool_limits

import pairlearn
from pairlearn.datasets import DataFileError
from pairlearn.reproduce.assignment import ASSIGNMENT, NAIVE
from pairlearn.reproduce.experiment import Experiment, Options, chosen
from pairlearn.reproduce.images import PRIOR, SAMPLE_SIZE
from pairlearn.reproduce.pubmed import PUBMED
from pairlearn.reproduce.rates import METHODS_TABLE
from pairlearn.reproduce.store import Store, Trial
from pairlearn.reproduce.tabular import TABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = [
    "EXPERIMENTS", "Done", "MissingDataError", "plan", "reproduce", "versions",
]  # fmt: skip

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        TABLE, PUBMED, METHODS_TABLE, ASSIGNMENT, NAIVE, PRIOR, SAMPLE_SIZE
    )
}  # fmt: skip


@dataclass(frozen=True)
class Done:
    """A trial that has ended: with results, or with the error that ended it."""

    trial: Trial
    results: dict[str, Any]
    seconds: float
    problem: str | None = None


def plan(names: Sequence[str], options: Options) -> list[Trial]:
    """Return the trials of some experiments; "all" stands for every one.

    Examples
    --------
    >>> len(plan(["fig-naive-assignment"], Options(quick=True)))
    72
    """
    names = chosen(names, ["all", *EXPERIMENTS], "experiment") or ()
    wanted = [e for e in EXPERIMENTS.values() if e.name in names or "all" in names]
    all_datasets = [name for e in wanted for name in e.datasets]
    all_methods = [name for e in wanted for name in e.methods]
    options = replace(
        options,
        datasets=chosen(options.datasets, all_datasets, "data set"),
        methods=chosen(options.methods, all_methods, "method"),
    )
    return [trial for experiment in wanted for trial in experiment.trials(options)]


def reproduce(
    names: Sequence[str],
    folder: str | Path,
    options: Options | None = None,
    *,
    n_jobs: int | None = 1,
    data_home: Any = None,
    command: str = "pairlearn.reproduce",
    on_damaged: Callable[[int], None] | None = None,
    on_start: Callable[[list[Trial], int], None] | None = None,
    on_done: Callable[[Done], None] | None = None,
) -> list[Done]:
    """Run the trials that the store of a folder does not have yet.

    Each finished trial is stored at once, so a run can be stopped at any moment and
    started again. The trials run with joblib, in whatever backend
    :func:`joblib.parallel_config` sets.

    Parameters
    ----------
    names : sequence of str
        Experiments, or "all".
    folder : path
        Where the store lies, or will.
    options : Options, optional
        What of the experiments to run.
    n_jobs : int, default=1
        Trials at a time; -1: one for each core; None: what the backend says.
    data_home : path, optional
        Folder of the data sets.
    command : str
        What to record as the source of this run.
    on_damaged : callable, optional
        Called with how many trials of the store are damaged, if there are any. They
        are removed, and those that are asked for are run again.
    on_start : callable, optional
        Called with the trials to run, and how many were there already.
    on_done : callable, optional
        Called after each trial.

    Returns
    -------
    list of Done
        The trials that failed; the next run tries them again.

    Raises
    ------
    MissingDataError
        Some data sets could not be loaded. Raised at the end: all other trials are
        in the store.
    StoreError
        The folder cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     failed = reproduce(
    ...         ["fig-assignment"], folder, Options(trials=3, quick=True))
    ...     store = Store(folder)
    ...     len(failed), len(store.keys())
    ...     store.close()
    (0, 63)
    """
    trials = plan(names, options or Options())
    with Store.create(folder) as store:
        n_damaged = store.forget_damaged()
        if n_damaged and on_damaged:
            on_damaged(n_damaged)
        there = store.keys()
        left = [trial for trial in trials if trial.key not in there]
        if on_start:
            on_start(left, len(trials) - len(left))
        if not left:
            return []
        missing = _load_all(left, data_home)
        left = [trial for trial in left if trial.dataset not in missing]
        run, failed = store.begin(command, versions()), []
        # Also here, for a backend of threads.
        with threadpool_limits(1):
            for done in _execute_all(left, n_jobs, data_home):
                if done.problem is None:
                    store.add(done.trial, done.results, seconds=done.seconds, run=run)
                else:
                    store.add_failure(done.trial, done.problem, run=run)
                    failed.append(done)
                if on_done:
                    on_done(done)
    if missing:
        raise MissingDataError(missing)
    return failed


class MissingDataError(OSError):
    """Some data sets could not be loaded; whatever needs none of them was run."""

    def __init__(self, errors: dict[str, str]) -> None:
        names = ", ".join(errors)
        text = "\n\n".join(dict.fromkeys(errors.values()))
        super().__init__(f"no trials were run on {names}:\n\n{text}")


def _load_all(trials: list[Trial], data_home: Any) -> dict[str, str]:
    """Load every data set once, and return why some could not be.

    Here, so that the workers do not all download the same files.
    """
    errors: dict[str, str] = {}
    for name, dataset in dict.fromkeys((t.experiment, t.dataset) for t in trials):
        try:
            EXPERIMENTS[name].load(dataset, data_home)
        except (OSError, DataFileError) as error:
            errors[dataset] = str(error)
    return errors


def _execute_all(
    trials: list[Trial], n_jobs: int | None, data_home: Any
) -> Iterator[Done]:
    # More workers than trials would only take time to start.
    if n_jobs is not None:
        n_jobs = max(1, min(joblib.effective_n_jobs(n_jobs), len(trials)))
    parallel = joblib.Parallel(
        n_jobs=n_jobs, return_as="generator_unordered", batch_size=1
    )
    results: Iterator[Done] = parallel(
        joblib.delayed(execute)(trial, data_home) for trial in trials
    )
    return results


def execute(trial: Trial, data_home: Any = None) -> Done:
    """Run one trial on one thread.

    A method that fails on a sample, in whatever way, is reported, and the others go
    on. Data that are missing or damaged concern the whole run: that error is raised.
    """
    start = time.perf_counter()
    results: dict[str, Any] = {}
    problem = None
    with _quiet_process():
        try:
            results = EXPERIMENTS[trial.experiment].run(trial, data_home)
        except (DataFileError, OSError):
            raise
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
    return Done(trial, results, time.perf_counter() - start, problem)


@contextmanager
def _quiet_process() -> Iterator[None]:
    """Pin BLAS to one thread, and ignore warnings.

    Among thousands of fits a warning about one helps nobody. Both are settings of the
    process, so a thread among others leaves them alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _pools(len(sys.modules)).limit(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@lru_cache(maxsize=1)
def _pools(_n_modules: int) -> ThreadpoolController:
    """Find the libraries with threads, anew when more modules have brought some.

    To look for them takes longer than some trials.
    """
    return ThreadpoolController()


@cache
def versions() -> dict[str, str]:
    """Return what the results depend on: code, libraries, and the machine."""
    names = ("numpy", "scipy", "scikit-learn", "joblib", "numba", "torch", "skorch")
    found = {"pairlearn": pairlearn.__version__, "source": source_digest()}
    found["commit"] = commit()
    found["python"] = platform.python_version()
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "none"
    found["machine"] = f"{platform.system()} {platform.machine()}"
    found["cores"] = str(os.cpu_count())
    return found


def commit() -> str:
    """Return the commit of a checkout, marked if there are changes on top of it."""
    root = Path(pairlearn.__file__).parents[2]
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return "none"
    command = [git, "describe", "--always", "--dirty", "--exclude=*"]
    asked = subprocess.run(command, cwd=root, capture_output=True, text=True)  # noqa: S603
    return asked.stdout.strip() or "none"


def source_digest() -> str:
    """Return a short digest of the code that the results come from.

    Unlike a commit, it is there when the package is installed, and it changes with
    every change that is not committed. How results are shown does not count.
    """
    root = Path(pairlearn.__file__).parent
    shown = (root / "cli", root / "reproduce" / "report")
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if any(path.is_relative_to(folder) for folder in shown):
            continue
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
