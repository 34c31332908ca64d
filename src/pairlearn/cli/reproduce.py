"""The progress of a reproduction, on a terminal or in a log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from pairlearn.reproduce.runner import EXPERIMENTS

if TYPE_CHECKING:
    from pairlearn.reproduce.runner import Done
    from pairlearn.reproduce.store import Trial

__all__ = ["Display"]

# In a log, a line about the progress at most this often.
LOG_SECONDS = 30


class Display:
    """Shows how many trials are done, how many remain, and for how long.

    Trials take from milliseconds to minutes, so the bar and the time that remains
    count the work in them, not their number.
    """

    def __init__(self) -> None:
        self.console = Console(stderr=True)
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[done]} of {task.fields[trials]} trials"),
            TimeElapsedColumn(),
            TextColumn("so far,"),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=self.console,
            disable=not self.console.is_terminal,
            speed_estimate_period=600,
        )
        self.task = self.progress.add_task("", total=1, done=0, trials=0)
        self.done = self.stored = self.trials = self.there = 0
        self.work = self.work_done = 0.0
        self.began = self.logged = time.monotonic()

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def damaged(self, n_damaged: int) -> None:
        """Say that trials of the store cannot be used."""
        self.console.print(
            f"{n_damaged} trials in the store are damaged or were altered. They are "
            "removed, and run again if this command needs them"
        )

    def start(self, trials: list[Trial], there: int) -> None:
        """Begin with trials to run, and some that are there already."""
        self.trials, self.there = len(trials), there
        already = f", {there} are already done" if there else ""
        self.console.print(f"{len(trials)} trials to run{already}")
        self.work = sum(map(_work, trials))
        self.began = time.monotonic()
        self.progress.update(self.task, total=self.work, trials=len(trials))

    def finished(self, done: Done) -> None:
        """Count a trial that has ended."""
        self.done += 1
        self.stored += done.problem is None
        self.work_done += _work(done.trial)
        trial = done.trial
        if done.problem is not None:
            # As it is: brackets, as in pairlearn[neural], are no markup here.
            self.console.print(
                f"failed: {describe(trial)}: {done.problem}", markup=False
            )
        self.progress.update(
            self.task,
            advance=_work(trial),
            done=self.done,
            description=f"{trial.experiment} {trial.dataset}",
        )
        if not self.console.is_terminal and (
            time.monotonic() - self.logged > LOG_SECONDS
        ):
            self.logged = time.monotonic()
            elapsed = self.logged - self.began
            left = elapsed * (self.work / self.work_done - 1)
            self.console.print(
                f"{self.done} of {self.trials} trials done in {_minutes(elapsed)}, "
                f"about {_minutes(left)} left"
            )

    def resume(self) -> str:
        """Return what is kept when a run ends early."""
        return (
            f"{self.stored} trials were stored; give the same command again to continue"
        )


def describe(trial: Trial) -> str:
    """Return a trial in words."""
    return (
        f"{trial.experiment}, {trial.dataset}, {trial.method}, m = {trial.m}, "
        f"seed {trial.seed}"
    )


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _work(trial: Trial) -> float:
    return EXPERIMENTS[trial.experiment].work(trial)
