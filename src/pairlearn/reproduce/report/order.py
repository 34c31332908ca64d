"""The order of the methods on the tabular data sets, and its exceptions."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from pairlearn.reproduce.report.paper import N_TRIALS, tabular, tabular_settings
from pairlearn.reproduce.report.progress import Claim
from pairlearn.reproduce.report.statistics import NOISE, paired_difference, spread
from pairlearn.reproduce.report.words import say

if TYPE_CHECKING:
    import pandas as pd

    from pairlearn.reproduce.report.blocks import Check
    from pairlearn.reproduce.report.statistics import Means

__all__ = ["NEAR_HALF", "order_checks"]

NAME = "table-tabular"
Key = tuple[str, int, str]
# Priors that count as near 1/2 in the check of SD.
NEAR_HALF = (0.3, 0.7)


def order_checks(trials: dict[Any, pd.DataFrame], means: Means) -> list[Check]:
    """Return the checks of "SV best, CIPS and MCL next, SD behind near prior 1/2".

    Parameters
    ----------
    trials : dict of DataFrame
        The trials, by data set, number of pairs and method.
    means : Means
        Their means, in percent.

    Returns
    -------
    list of Check
    """
    low, high = NEAR_HALF
    everywhere = tabular_settings()
    near = [
        (dataset, m)
        for dataset, m in everywhere
        if low <= tabular()[dataset, m, "SD"].prior <= high
    ]
    clusterings = ("OVPC", "SSP", "CKM", "KM")
    others = ("CIPS", "MCL", "SD", *clusterings)
    # Where, which methods are ahead, and of which.
    comparisons = {
        "sv_best": list(product(everywhere, ["SV"], others)),
        "cips_mcl_next": list(product(everywhere, ["CIPS", "MCL"], clusterings)),
        "sd_behind": list(product(near, ["CIPS", "MCL"], ["SD"])),
    }
    words = {
        "rule": say(NAME, "order", "rule", noise=NOISE),
        "near": ", ".join(dict.fromkeys(dataset for dataset, _ in near)),
        "low": low,
        "high": high,
    }
    return [
        _check(Claim(NAME, key, len(some), N_TRIALS, **words), some, trials, means)
        for key, some in comparisons.items()
    ]


def _check(
    claim: Claim,
    comparisons: list[tuple[tuple[str, int], str, str]],
    trials: dict[Any, pd.DataFrame],
    means: Means,
) -> Check:
    clear: list[str] = []
    noise: list[str] = []
    settings, compared = set(), set()
    used: set[Key] = set()
    n_known = n_untested = n_paper = 0
    for where, first, second in comparisons:
        keys = (*where, first), (*where, second)
        if not all(key in trials for key in keys):
            continue
        gap = paired_difference(trials[keys[0]], trials[keys[1]])
        if not gap.tested:
            n_untested += 1
            continue
        n_known += 1
        used.update(keys)
        compared.add(where)
        turned = tabular()[keys[0]].value.mean > tabular()[keys[1]].value.mean
        n_paper += turned
        one, two = (means[key] for key in keys)
        if one.mean <= two.mean:
            continue
        settings.add(where)
        (clear if spread(gap) > NOISE else noise).append(
            f"{where[0]}, m = {where[1]}: {first} {one} above {second} {two}, by "
            f"{100 * gap.mean:.2f} ± {100 * gap.error:.2f} "
            f"({'so' if turned else 'not so'} in the paper)"
        )
    if check := claim.undecided(n_known, started=n_known + n_untested > 0):
        return check
    n_bad = len(clear) + len(noise)
    few = f"{n_untested} not tested (too few common trials)" if n_untested else ""
    return claim.check(
        f"{n_known - n_bad} of {n_known} comparisons in order; exceptions: {n_bad}, in "
        f"{len(settings)} of {len(compared)} settings, {len(clear)} of them clear; "
        f"the paper's own means have {n_paper} such exception{'s' * (n_paper != 1)}",
        [f"{text}: clear" for text in clear]
        + [f"{text}: within noise" for text in noise],
        refuted=len(clear) >= n_known / 2,
        n_run=n_known + n_untested,
        means=[means[key] for key in used],
        missing=[few],
    )
