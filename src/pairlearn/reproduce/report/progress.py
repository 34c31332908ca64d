"""How far an experiment has got, and what failed, in words."""

from __future__ import annotations

from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from pairlearn.reproduce.report.blocks import Check

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from pairlearn.reproduce.report.statistics import Estimate

__all__ = [
    "FEWEST",
    "NO_FAILURES",
    "Failed",
    "enough",
    "failed_seeds",
    "n_ended",
    "number_of",
    "share_of",
    "so_far",
    "unknown",
    "without_failures",
]

# The seeds of the trials that failed, by data set, number of pairs and method.
Failed: TypeAlias = "Mapping[tuple[str, int, str], list[int]]"

NO_FAILURES: Failed = MappingProxyType({})

FEWEST = 0.1  # a smaller share of what is planned gives no verdict


def enough(n_known: int, n_all: int) -> bool:
    """Return whether there is enough of what is planned for a verdict."""
    return n_known > 0 and n_known >= FEWEST * n_all


def number_of(counts: Iterable[int], what: str = "trials") -> str:
    """Return how many trials the means of a table have.

    Examples
    --------
    >>> number_of([20, 20]), number_of([2, 20]), number_of([1])
    ('20 trials', '2 to 20 trials', '1 trial')
    """
    found = {count for count in counts if count}
    if not found:
        return f"0 {what}"
    low, high = min(found), max(found)
    if low < high:
        return f"{low:,} to {high:,} {what}"
    return f"{high:,} {what if high > 1 else what.removesuffix('s')}"


def failed_seeds(failures: pd.DataFrame, experiment: str) -> Failed:
    """Return the failed trials of an experiment.

    Parameters
    ----------
    failures : DataFrame
        Those of `Store.failures`.
    experiment : str
        Its id.

    Returns
    -------
    dict of list
        Seeds by data set, number of pairs and method.
    """
    found: dict[tuple[str, int, str], list[int]] = defaultdict(list)
    for row in failures[failures["experiment"] == experiment].to_dict("records"):
        key = (str(row["dataset"]), int(row["m"]), str(row["method"]))
        found[key].append(int(row["seed"]))
    return dict(found)


def share_of(value: Estimate, n_trials: int, n_failed: int = 0) -> str:
    """Return "n/N" where trials are missing, and how many of them failed.

    Examples
    --------
    >>> from pairlearn.reproduce.report.statistics import estimate
    >>> share_of(estimate([1, 2]), 20), share_of(estimate([1, 2]), 20, 3)
    ('2/20', '2/20, 3 failed')
    >>> share_of(estimate([1, 2]), 4, 2)
    '2 of 4 failed'
    """
    # Failures beyond what is missing belong to another setting.
    n_failed = min(n_failed, n_trials - value.n)
    if value.n >= n_trials:
        return ""
    if value.n + n_failed == n_trials:
        return f"{n_failed} of {n_trials} failed"
    share = f"{value.n}/{n_trials}"
    return f"{share}, {n_failed} failed" if n_failed else share


def n_ended(value: Estimate, seeds: Iterable[int] | None) -> int:
    """Return how many trials have ended, with a result or in failure."""
    return value.n + len(set(seeds or ()))


def without_failures(n_failed: int) -> str:
    """Return the end of a sentence on trials that failed; empty if none did.

    Examples
    --------
    >>> without_failures(1)
    '; without 1 trial that failed'
    """
    if not n_failed:
        return ""
    return f"; without {n_failed} trial{'s' * (n_failed > 1)} that failed"


def so_far(
    n_known: int,
    n_all: int,
    what: str,
    ended: Iterable[int] = (),
    n_trials: int = 0,
) -> str:
    """Return what is missing from a check.

    Parameters
    ----------
    n_known, n_all : int
        How many there are, of how many.
    what : str
        Of what.
    ended : iterable of int
        Trials behind each of the means that the outcome rests on, those that failed
        included: running them again would not help.
    n_trials : int
        How many each of them is to have.

    Returns
    -------
    str
        Empty if nothing is missing.

    Examples
    --------
    >>> so_far(3, 5, "cells")
    '3 of 5 cells have been run'
    """
    parts = []
    if n_known < n_all:
        parts.append(f"{n_known} of {n_all} {what} have been run")
    fewest = min(ended, default=n_trials)
    if fewest < n_trials:
        parts.append(f"not all trials are there, {fewest} of {n_trials} in some cells")
    return "; ".join(parts)


def unknown(
    claim: str,
    tested: str,
    what: str,
    *,
    started: bool,
    n_known: int = 0,
    needs: str = "the two trials",
) -> Check:
    """Return a check without an outcome: nothing was run, or not enough of it.

    Parameters
    ----------
    claim, tested : str
        Those of the check.
    what : str
        What there is not enough of, such as "of 90 cells".
    started : bool
        Whether there are trials at all.
    n_known : int, default=0
        How many could be tested.
    needs : str
        What a test of one of them needs.

    Returns
    -------
    Check

    Examples
    --------
    >>> unknown("A", "B", "of 150 cells", started=True, n_known=3).number
    '3 of 150 cells have the two trials that a test needs; a verdict needs a tenth'
    """
    if not started:
        return Check(claim, tested, "not run yet", f"0 {what}")
    number = f"{n_known} {what} have {needs} that a test needs"
    if n_known:
        number += "; a verdict needs a tenth"
    return Check(claim, tested, "too few trials", number)
