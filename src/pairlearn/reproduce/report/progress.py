"""How far an experiment has got, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pairlearn.reproduce.report.statistics import Estimate

__all__ = ["share_of", "so_far"]


def share_of(value: Estimate, n_trials: int) -> str:
    """Return "n/N" where trials are missing, else nothing.

    Examples
    --------
    >>> from pairlearn.reproduce.report.statistics import estimate
    >>> share_of(estimate([1, 2]), 20)
    '2/20'
    """
    return "" if value.n >= n_trials else f"{value.n}/{n_trials}"


def so_far(
    n_known: int,
    n_all: int,
    what: str,
    used: Iterable[Estimate] = (),
    n_trials: int = 0,
) -> str:
    """Return what is missing from a check.

    Parameters
    ----------
    n_known, n_all : int
        How many there are, of how many.
    what : str
        Of what.
    used : iterable of Estimate
        The means that the outcome rests on.
    n_trials : int
        How many trials each of them is to have.

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
    fewest = min((value.n for value in used), default=n_trials)
    if fewest < n_trials:
        parts.append(f"not all trials are there, {fewest} of {n_trials} in some cells")
    return "; ".join(parts)
