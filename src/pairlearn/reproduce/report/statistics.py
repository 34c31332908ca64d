"""Means, tests and rates: the numbers behind the tables and checks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from pairlearn.data.types import Floats

__all__ = [
    "NOISE", "Estimate", "Means", "agreement", "beside", "best_of", "distance",
    "estimate", "grouped", "log_log_slope", "means_of", "paired_difference",
    "spread",
]  # fmt: skip

NOISE = 2.0  # standard errors of a difference that chance explains


@dataclass(frozen=True)
class Estimate:
    """A mean over trials.

    Attributes
    ----------
    mean : float
        The mean; nan without trials.
    error : float
        Its standard error; nan with fewer than two trials.
    n : int
        Number of trials.
    failed : tuple of int
        The seeds of those that failed, and are not among the n.
    """

    mean: float
    error: float
    n: int
    failed: tuple[int, ...] = ()

    @property
    def n_ended(self) -> int:
        """How many trials have ended, with a result or in failure."""
        return self.n + len(set(self.failed))

    @property
    def tested(self) -> bool:
        """Whether there are trials enough for a standard error."""
        return self.n >= 2

    def __str__(self) -> str:
        if not self.n:
            return "–"
        error = f"{self.error:.1f}" if self.tested else "–"
        # Adding zero turns a rounded -0.0 into 0.0.
        return f"{round(self.mean, 1) + 0.0:.1f} ({error})"


def estimate(values: Iterable[float], failed: Iterable[int] = ()) -> Estimate:
    """Return mean and standard error of some values.

    Parameters
    ----------
    values : iterable of float
        One value a trial.
    failed : iterable of int
        The seeds of trials that failed.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> print(estimate([10, 12, 14]))
    12.0 (1.2)
    """
    array = np.array(list(values), dtype=float)
    n = len(array)
    mean = float(array.mean()) if n else math.nan
    error = float(array.std(ddof=1)) / math.sqrt(n) if n >= 2 else math.nan
    return Estimate(mean, error, n, tuple(failed))


class Means(dict[Any, Estimate]):
    """Means by what they are the means of; what was never run has an empty one."""

    def __missing__(self, _: object) -> Estimate:
        return estimate([])

    @property
    def run(self) -> dict[Any, Estimate]:
        """Those with trials; of the others, all trials failed."""
        return {key: value for key, value in self.items() if value.n}


def grouped(frame: pd.DataFrame, by: str | list[str]) -> dict[Any, pd.DataFrame]:
    """Return the trials by the values of some columns.

    Parameters
    ----------
    frame : DataFrame
        Trials; without any, it may lack the columns.
    by : str or list of str
        The columns.

    Returns
    -------
    dict of DataFrame
    """
    return dict(iter(frame.groupby(by))) if len(frame) else {}


def means_of(
    trials: Mapping[Any, pd.DataFrame],
    failed: Mapping[Any, Sequence[int]] = MappingProxyType({}),
    *,
    accuracy: bool = False,
) -> Means:
    """Return the mean errors in percent, or the accuracies.

    Parameters
    ----------
    trials : dict of DataFrame
        Those of `grouped`.
    failed : dict of list
        The seeds that failed, by the same keys.
    accuracy : bool
        Whether to take 100 minus the error.

    Returns
    -------
    Means
    """
    means = Means({key: estimate([], seeds) for key, seeds in failed.items()})
    for key, group in trials.items():
        percent = 100 * group["error"]
        values = 100 - percent if accuracy else percent
        means[key] = estimate(values, failed.get(key, ()))
    return means


def distance(ours: Estimate, other: Estimate) -> float:
    """Return z = (ours - other) / sqrt(se^2 + se_other^2); nan if not known.

    Parameters
    ----------
    ours, other : Estimate
        Two independent means.

    Returns
    -------
    float

    Examples
    --------
    >>> distance(Estimate(13.0, 0.3, 20), Estimate(10.0, 0.4, 20))
    6.0
    """
    if not (ours.tested and other.tested):
        return math.nan
    return _ratio(ours.mean - other.mean, math.hypot(ours.error, other.error))


def beside(ours: Estimate, paper: Estimate) -> str:
    """Return our mean against the paper's, in words.

    Examples
    --------
    >>> beside(Estimate(13.0, 0.3, 20), Estimate(10.0, 0.4, 20))
    '13.0 (0.3) against 10.0 (0.4), z = +6.0'
    """
    return f"{ours} against {paper}, z = {distance(ours, paper):+.1f}"


def agreement(ours: Estimate, paper: Estimate | None, limit: float = 3.0) -> str:
    """Return "within", "below" or "above"; empty if there is nothing to compare.

    Parameters
    ----------
    ours, paper : Estimate
        Our mean and the paper's.
    limit : float, default=3.0
        Combined standard errors that still count as the same.

    Returns
    -------
    str

    Examples
    --------
    >>> agreement(Estimate(13.0, 0.3, 20), Estimate(10.0, 0.4, 20))
    'above'
    """
    z = math.nan if paper is None else distance(ours, paper)
    if math.isnan(z):
        return ""
    return "within" if abs(z) <= limit else "below" if z < 0 else "above"


def best_of(estimates: Mapping[str, Estimate], level: float = 0.05) -> set[str]:
    """Return the lowest mean and those not significantly above it.

    One-sided unpaired t-test with unequal variances (Welch), as far as can be told
    the test behind the paper's bold numbers.

    Parameters
    ----------
    estimates : dict of Estimate
        One for each method; those with fewer than two trials are left out.
    level : float, default=0.05
        Significance level.

    Returns
    -------
    set of str

    Examples
    --------
    >>> a, b = Estimate(10.0, 0.3, 20), Estimate(10.5, 0.4, 20)
    >>> sorted(best_of({"a": a, "b": b, "c": Estimate(12.0, 0.4, 20)}))
    ['a', 'b']
    """
    known = {name: value for name, value in estimates.items() if value.tested}
    if len(known) < 2:
        return set()
    best = min(known.values(), key=lambda value: value.mean)
    return {name for name, value in known.items() if _p_above(value, best) > level}


def _p_above(value: Estimate, best: Estimate) -> float:
    from scipy.special import stdtr

    if value.mean == best.mean:
        return 1.0
    one, two = value.error**2, best.error**2
    if one + two == 0:
        return 0.0
    freedom = (one + two) ** 2 / (one**2 / (value.n - 1) + two**2 / (best.n - 1))
    return float(stdtr(freedom, -distance(value, best)))


def paired_difference(
    one: pd.DataFrame, two: pd.DataFrame, failed: Iterable[int] = ()
) -> Estimate:
    """Return the mean error of one minus that of two over the seeds that both have.

    Parameters
    ----------
    one, two : DataFrame
        Trials with the columns seed and error; without trials, with any columns.
    failed : iterable of int
        The seeds of trials that failed.

    Returns
    -------
    Estimate
    """
    if not (len(one) and len(two)):
        return estimate([], failed)
    left, right = _by_seed(one), _by_seed(two)
    gaps = (left[seed] - right[seed] for seed in sorted(left.keys() & right.keys()))
    return estimate((gap for gap in gaps if not math.isnan(gap)), failed)


def _by_seed(trials: pd.DataFrame) -> dict[int, float]:
    """Return the mean error of each seed; most have one trial, and need no mean."""
    errors = dict(zip(trials["seed"].tolist(), trials["error"].tolist(), strict=True))
    if len(errors) < len(trials):
        errors = trials.groupby("seed")["error"].mean().to_dict()
    return errors


def log_log_slope(table: Floats, m: Floats, n_boot: int = 1000) -> tuple[float, float]:
    """Return the slope of log mean against log m, and its bootstrap standard error.

    Parameters
    ----------
    table : ndarray of shape (n_seeds, n_sizes)
        One value for each seed and size; whole seeds are resampled.
    m : ndarray of shape (n_sizes,)
        The sizes.
    n_boot : int, default=1000
        Number of resamples, drawn from a fixed seed.

    Returns
    -------
    slope, error : float
        nan where they cannot be had.

    Examples
    --------
    >>> import numpy as np
    >>> m = np.array([10.0, 100.0, 1000.0])
    >>> slope, error = log_log_slope(np.tile(m**-0.5, (4, 1)), m)
    >>> round(slope, 6), round(error, 6)
    (-0.5, 0.0)
    """
    if len(m) < 2 or not len(table):
        return math.nan, math.nan
    slope = _slope(table.mean(axis=0), m)
    if len(table) < 2:
        return slope, math.nan
    rng = np.random.default_rng(0)
    rows = rng.integers(len(table), size=(n_boot, len(table)))
    slopes = np.array([_slope(table[row].mean(axis=0), m) for row in rows])
    return slope, float(np.nanstd(slopes, ddof=1))


def _slope(means: Floats, m: Floats) -> float:
    known = means > 0
    if known.sum() < 2:
        return math.nan
    x = np.log(m[known])
    x = x - x.mean()
    return float(x @ np.log(means[known]) / (x @ x))


def _ratio(difference: float, error: float) -> float:
    if error:
        return difference / error
    return math.copysign(math.inf, difference) if difference else 0.0


def spread(value: Estimate) -> float:
    """Return how many standard errors a mean lies from zero; nan if not known.

    Parameters
    ----------
    value : Estimate
        A mean, such as that of a difference.

    Returns
    -------
    float

    Examples
    --------
    >>> spread(Estimate(-0.5, 0.25, 20))
    -2.0
    """
    return _ratio(value.mean, value.error) if value.tested else math.nan
