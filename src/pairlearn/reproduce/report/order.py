"""The order of the methods on the tabular datasets, and its exceptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from pairlearn.reproduce.report.blocks import Check
from pairlearn.reproduce.report.paper import N_TRIALS, tabular
from pairlearn.reproduce.report.progress import so_far
from pairlearn.reproduce.report.statistics import (
    Estimate,
    estimate,
    paired_difference,
    spread,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NEAR_HALF", "NOISE", "Key", "Means", "Trials", "order_checks"]

# Priors that count as near 1/2 in the check of SD.
NEAR_HALF = (0.3, 0.7)
NOISE = 2.0  # standard errors of a paired difference

Key = tuple[str, int, str]
Means = dict[Key, Estimate]
Trials: TypeAlias = "dict[Key, pd.DataFrame]"


@dataclass(frozen=True)
class Claim:
    """That some methods err less than others, in some settings."""

    name: str
    text: str
    ahead: tuple[str, ...]
    behind: tuple[str, ...]
    where: list[tuple[str, int]]

    @property
    def comparisons(self) -> list[tuple[str, int, str, str]]:
        """Every dataset, size, method ahead and method behind."""
        return [
            (dataset, m, first, second)
            for dataset, m in self.where
            for first in self.ahead
            for second in self.behind
        ]


def _claims() -> list[Claim]:
    everywhere = list(dict.fromkeys((dataset, m) for dataset, m, _ in tabular()))
    low, high = NEAR_HALF
    near = [
        (dataset, m)
        for dataset, m in everywhere
        if low <= tabular()[dataset, m, "SD"].prior <= high
    ]
    names = ", ".join(dict.fromkeys(dataset for dataset, _ in near))
    clusterings = ("OVPC", "SSP", "CKM", "KM")
    return [
        Claim(
            "SV is best",
            "SV has the lowest mean of the eight methods, for each dataset and m.",
            ("SV",),
            ("CIPS", "MCL", "SD", *clusterings),
            everywhere,
        ),
        Claim(
            "CIPS and MCL come next",
            "Both means are below those of OVPC, SSP, CKM and KM, for each dataset and "
            "m.",
            ("CIPS", "MCL"),
            clusterings,
            everywhere,
        ),
        Claim(
            "SD is behind at priors near 1/2",
            "The means of CIPS and MCL are both below SD's where the prior lies "
            f"between {low} and {high} ({names}), for each m.",
            ("CIPS", "MCL"),
            ("SD",),
            near,
        ),
    ]


def order_checks(trials: Trials, means: Means) -> list[Check]:
    """Return the checks of "SV best, CIPS and MCL next, SD behind near prior 1/2".

    Parameters
    ----------
    trials : dict of DataFrame
        The trials, by dataset, number of pairs and method.
    means : dict of Estimate
        Their means, in percent.

    Returns
    -------
    list of Check
    """
    return [_check(claim, trials, means) for claim in _claims()]


def _check(claim: Claim, trials: Trials, means: Means) -> Check:
    tested = (
        f"{claim.text} An exception is clear if the difference, paired by seed, is "
        f"beyond {NOISE:.0f} of its standard errors; with none clear, the order holds. "
        "It does not hold if half of the comparisons or more are clear exceptions."
    )
    clear: list[str] = []
    noise: list[str] = []
    settings = set()
    used: list[Estimate] = []
    for dataset, m, first, second in claim.comparisons:
        one = means.get((dataset, m, first), estimate([]))
        two = means.get((dataset, m, second), estimate([]))
        if not (one.n and two.n):
            continue
        used += [one, two]
        if one.mean <= two.mean:
            continue
        settings.add((dataset, m))
        gap = paired_difference(
            trials[dataset, m, first], trials[dataset, m, second], "error"
        )
        also = "so" if _turned_in_paper(dataset, m, first, second) else "not so"
        (clear if spread(gap) > NOISE else noise).append(
            f"{dataset}, m = {m}: {first} {one} above {second} {two}, "
            f"{_shown(gap)} ({also} in the paper)"
        )
    n_all, n_known = len(claim.comparisons), len(used) // 2
    if not n_known:
        return Check(claim.name, tested, "not run yet", f"0 of {n_all} comparisons")
    n_paper = sum(_turned_in_paper(*comparison) for comparison in claim.comparisons)
    n_bad = len(clear) + len(noise)
    return Check(
        claim.name,
        tested,
        "holds"
        if not clear
        else "holds with exceptions"
        if len(clear) < n_known / 2
        else "does not hold",
        f"{n_known - n_bad} of {n_known} comparisons in order; exceptions: {n_bad}, in "
        f"{len(settings)} of {len(claim.where)} settings, {len(clear)} of them clear; "
        f"in the paper's own means: {n_paper}",
        [f"{text}: clear" for text in clear]
        + [f"{text}: within noise" for text in noise],
        so_far(n_known, n_all, "comparisons", used, N_TRIALS),
    )


def _turned_in_paper(dataset: str, m: int, first: str, second: str) -> bool:
    one, two = (tabular()[dataset, m, name].value for name in (first, second))
    return one.mean > two.mean


def _shown(gap: Estimate) -> str:
    if not gap.tested:
        return "too few common seeds for a test"
    return f"by {100 * gap.mean:.2f} ± {100 * gap.error:.2f}"
