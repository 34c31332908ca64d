"""What an experiment is: trials to run, and how to run one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pairlearn.datasets.registry import find_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pairlearn.reproduce.store import Trial

__all__ = ["Experiment", "Options", "chosen"]


@dataclass(frozen=True)
class Options:
    """What of an experiment to run.

    Attributes
    ----------
    trials : int or None
        Trials of each cell; None: as many as in the paper.
    datasets, methods : sequence of str or None
        Some of the data sets or methods; None: all.
    quick : bool
        The smallest run that still shows the shape.
    """

    trials: int | None = None
    datasets: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    quick: bool = False

    def __post_init__(self) -> None:
        if self.trials is not None and self.trials < 1:
            raise ValueError(f"trials must be 1 or more; got {self.trials}")

    def n_trials(self, full: int, quick: int) -> int:
        """Return the number of trials, given the full and the quick one."""
        if self.trials is not None:
            return self.trials
        return quick if self.quick else full


@dataclass(frozen=True)
class Experiment:
    """An experiment of the paper.

    Attributes
    ----------
    name : str
        Its id on the command line.
    title : str
        What it shows, in a few words.
    datasets, methods : tuple of str
        All of them.
    plan : callable
        Options, data sets and methods -> trials, in the order to run them.
    run : callable
        Trial and data folder -> results.
    work : callable
        Trial -> about how many seconds it takes; for the estimate of what remains.
    load : callable
        Data set and data folder -> whatever; downloads files that are missing.
    quick_datasets : tuple of str
        Those of a quick run; empty: all of them.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    plan: Callable[[Options, Sequence[str], Sequence[str]], Iterable[Trial]]
    run: Callable[[Trial, Any], dict[str, Any]]
    work: Callable[[Trial], float]
    load: Callable[[str, Any], object] = lambda _, __: None
    quick_datasets: tuple[str, ...] = ()

    def trials(self, options: Options) -> list[Trial]:
        """Return the trials that the options ask for."""
        datasets = _some(self.datasets, options.datasets)
        if options.quick and options.datasets is None:
            datasets = self.quick_datasets or datasets
        methods = _some(self.methods, options.methods)
        return list(self.plan(options, datasets, methods))


def chosen(
    wanted: Sequence[str] | None, known: Iterable[str], kind: str
) -> tuple[str, ...] | None:
    """Return the known names that are meant, by letters and digits; None stays None."""
    if wanted is None:
        return None
    if isinstance(wanted, str):
        wanted = (wanted,)
    known, found = list(dict.fromkeys(known)), []
    for name in wanted:
        meant, close = find_name(name, known)
        if meant is None:
            hint = f" Did you mean {close!r}?" if close else ""
            raise ValueError(
                f"there is no {kind} {name!r} here.{hint} There are: {', '.join(known)}"
            )
        found.append(meant)
    return tuple(found)


def _some(known: Sequence[str], wanted: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(n for n in known if wanted is None or n in wanted)
