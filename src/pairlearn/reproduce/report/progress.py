"""How far an experiment has got, and what failed, in words."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from pairlearn.reproduce.report.blocks import Check
from pairlearn.reproduce.report.statistics import grouped
from pairlearn.reproduce.report.words import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from pairlearn.reproduce.report.blocks import Verdict
    from pairlearn.reproduce.report.statistics import Estimate

__all__ = ["NO_FAILURES", "Claim", "Failed", "failed_seeds", "number_of", "share_of"]

# The seeds of the trials that failed, by data set, number of pairs and method.
Failed: TypeAlias = "Mapping[tuple[str, int, str], list[int]]"

NO_FAILURES: Failed = MappingProxyType({})

FEWEST = 0.1  # a smaller share of what is planned gives no verdict


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
    here = failures[failures["experiment"] == experiment]
    groups = grouped(here, ["dataset", "m", "method"])
    return {key: group["seed"].tolist() for key, group in groups.items()}


def share_of(value: Estimate, n_trials: int) -> str:
    """Return "n/N" where trials are missing, and how many of them failed.

    Examples
    --------
    >>> from pairlearn.reproduce.report.statistics import estimate
    >>> share_of(estimate([1, 2]), 20), share_of(estimate([1, 2], [4, 5, 6]), 20)
    ('2/20', '2/20, 3 failed')
    >>> share_of(estimate([1, 2], [4, 5]), 4)
    '2 of 4 failed'
    """
    # Failures beyond what is missing belong to another setting.
    n_failed = min(len(value.failed), n_trials - value.n)
    if value.n >= n_trials:
        return ""
    if value.n + n_failed == n_trials:
        return f"{n_failed} of {n_trials} failed"
    share = f"{value.n}/{n_trials}"
    return f"{share}, {n_failed} failed" if n_failed else share


class Claim:
    """A claim of the paper, in the words of `words.toml`, and how it is judged.

    Parameters
    ----------
    section, key : str
        Where its words stand.
    n_all : int
        How many cases are to be tested.
    n_trials : int
        How many trials each mean is to have.
    **values
        What to fill in.

    Examples
    --------
    >>> claim = Claim("fig-sample-size", "falls", 150, 20, method="CIPS", noise=2)
    >>> claim.undecided(3, started=True).number
    '3 of 150 steps have the two trials that a test needs; a verdict needs a tenth'
    >>> claim.undecided(100, started=True)
    >>> check = claim.check("all fall", [], refuted=False, n_run=100)
    >>> check.label, check.outcome
    ('holds, so far', 'all fall; 100 of 150 steps have been run')
    """

    def __init__(
        self, section: str, key: str, n_all: int, n_trials: int = 0, **values: Any
    ) -> None:
        self.text, self.tested, self.cases, self.needs = (
            say(section, key, part, n_all=n_all, **values)
            for part in ("claim", "tested", "cases", "needs")
        )
        self.n_all, self.n_trials = n_all, n_trials

    def undecided(self, n_known: int, *, started: bool) -> Check | None:
        """Return the check if there is too little for a verdict, and else None.

        Parameters
        ----------
        n_known : int
            How many cases could be tested.
        started : bool
            Whether there are trials at all.

        Returns
        -------
        Check or None
        """
        if n_known > 0 and n_known >= FEWEST * self.n_all:
            return None
        number = f"{n_known} of {self.n_all} {self.cases}"
        if not started:
            return Check(self.text, self.tested, "not run yet", number)
        number += f" have {self.needs} that a test needs"
        if n_known:
            number += "; a verdict needs a tenth"
        return Check(self.text, self.tested, "too few trials", number)

    def check(
        self,
        number: str,
        exceptions: list[str],
        *,
        refuted: bool,
        n_run: int,
        means: Iterable[Estimate] = (),
        n_failed: int | None = None,
        missing: Iterable[str] = (),
    ) -> Check:
        """Return the check of a claim that there is enough to judge by.

        Parameters
        ----------
        number : str
            The outcome in numbers.
        exceptions : list of str
            The cases that do not fit.
        refuted : bool
            Whether they are too many, or too clear, for the claim to hold.
        n_run : int
            How many cases have been run.
        means : iterable of Estimate
            What the outcome rests on.
        n_failed : int, optional
            How many trials of these failed, if that is not the sum over the means.
        missing : iterable of str
            What else is missing.

        Returns
        -------
        Check
        """
        means = list(means)
        if n_failed is None:
            n_failed = sum(len(value.failed) for value in means)
        if n_failed:
            number += f"; without {n_failed} trial{'s' * (n_failed > 1)} that failed"
        parts = []
        if n_run < self.n_all:
            parts.append(f"{n_run} of {self.n_all} {self.cases} have been run")
        # Those that failed have ended, too: running them again would not help.
        fewest = min((value.n_ended for value in means), default=self.n_trials)
        if fewest < self.n_trials:
            parts.append(
                f"not all trials are there, {fewest} of {self.n_trials} in some cells"
            )
        verdict: Verdict = "holds with exceptions" if exceptions else "holds"
        return Check(
            self.text,
            self.tested,
            "does not hold" if refuted else verdict,
            number,
            exceptions,
            "; ".join(filter(None, [*parts, *missing])),
        )
