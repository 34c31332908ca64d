"""The order of the methods on the tabular data sets, and its exceptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from pairlearn.reproduce.report.blocks import Check
from pairlearn.reproduce.report.paper import N_TRIALS, tabular
from pairlearn.reproduce.report.progress import (
    NO_FAILURES,
    Failed,
    enough,
    n_ended,
    so_far,
    unknown,
    without_failures,
)
from pairlearn.reproduce.report.statistics import (
    Estimate,
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
        """Every data set, size, method ahead and method behind."""
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
            "SV has the lowest mean of the eight methods, for each data set and m.",
            ("SV",),
            ("CIPS", "MCL", "SD", *clusterings),
            everywhere,
        ),
        Claim(
            "CIPS and MCL come next",
            "Both means are below those of OVPC, SSP, CKM and KM, for each data set "
            "and m.",
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


def order_checks(
    trials: Trials, means: Means, failed: Failed = NO_FAILURES
) -> list[Check]:
    """Return the checks of "SV best, CIPS and MCL next, SD behind near prior 1/2".

    Parameters
    ----------
    trials : dict of DataFrame
        The trials, by data set, number of pairs and method.
    means : dict of Estimate
        Their means, in percent.
    failed : dict of list
        The seeds of those that failed.

    Returns
    -------
    list of Check
    """
    return [_check(claim, trials, means, failed) for claim in _claims()]


def _check(claim: Claim, trials: Trials, means: Means, failed: Failed) -> Check:
    tested = (
        f"{claim.text} Each comparison that is the other way round is an exception; "
        "it is clear if the difference, paired by seed, is beyond "
        f"{NOISE:.0f} of its standard errors, and within noise if not. Without any "
        "exception the order holds; it does not hold if half of the comparisons or "
        "more are clear exceptions."
    )
    clear: list[str] = []
    noise: list[str] = []
    settings, compared = set(), set()
    used: set[Key] = set()
    n_known = n_untested = n_paper = 0
    for dataset, m, first, second in claim.comparisons:
        keys = (dataset, m, first), (dataset, m, second)
        if not all(key in trials for key in keys):
            continue
        gap = paired_difference(trials[keys[0]], trials[keys[1]], "error")
        if not gap.tested:
            n_untested += 1
            continue
        n_known += 1
        used.update(keys)
        compared.add((dataset, m))
        turned = _turned_in_paper(dataset, m, first, second)
        n_paper += turned
        one, two = (means[key] for key in keys)
        if one.mean <= two.mean:
            continue
        settings.add((dataset, m))
        also = "so" if turned else "not so"
        (clear if spread(gap) > NOISE else noise).append(
            f"{dataset}, m = {m}: {first} {one} above {second} {two}, by "
            f"{100 * gap.mean:.2f} ± {100 * gap.error:.2f} ({also} in the paper)"
        )
    n_all = len(claim.comparisons)
    if not enough(n_known, n_all):
        return unknown(
            claim.name,
            tested,
            f"of {n_all} comparisons",
            started=n_known + n_untested > 0,
            n_known=n_known,
        )
    n_bad = len(clear) + len(noise)
    ended = [n_ended(means[key], failed.get(key)) for key in used]
    missing = so_far(n_known + n_untested, n_all, "comparisons", ended, N_TRIALS)
    if n_untested:
        few = f"{n_untested} not tested (too few common trials)"
        missing = f"{missing}; {few}" if missing else few
    return Check(
        claim.name,
        tested,
        "holds"
        if not n_bad
        else "holds with exceptions"
        if len(clear) < n_known / 2
        else "does not hold",
        f"{n_known - n_bad} of {n_known} comparisons in order; exceptions: {n_bad}, in "
        f"{len(settings)} of {len(compared)} settings, {len(clear)} of them clear; "
        f"the paper's own means have {n_paper} such exception{'s' * (n_paper != 1)}"
        + without_failures(sum(len(failed.get(key, ())) for key in used)),
        [f"{text}: clear" for text in clear]
        + [f"{text}: within noise" for text in noise],
        missing,
    )


def _turned_in_paper(dataset: str, m: int, first: str, second: str) -> bool:
    one, two = (tabular()[dataset, m, name].value for name in (first, second))
    return one.mean > two.mean
