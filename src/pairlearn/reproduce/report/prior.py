"""The figure of priors, on three sets of images."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pairlearn.reproduce.report import panels
from pairlearn.reproduce.report.blocks import Bullets, Cell, Picture, Table, Text
from pairlearn.reproduce.report.figures import INK, curve
from pairlearn.reproduce.report.paper import IMAGES, PRIORS, SOLVER, section
from pairlearn.reproduce.report.progress import NO_FAILURES, Claim, number_of
from pairlearn.reproduce.report.statistics import (
    NOISE,
    estimate,
    grouped,
    means_of,
    spread,
)
from pairlearn.reproduce.report.words import say

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from pairlearn.reproduce.report.blocks import Check, Section
    from pairlearn.reproduce.report.progress import Failed
    from pairlearn.reproduce.report.statistics import Estimate, Means

__all__ = ["build"]

NAME = "fig-prior"
METHODS = ("CIPS", "SD", "SV")
N_TRIALS = 10
MIDDLE, OUTER = ("3/7", "4/7"), ("1/7", "6/7")

# By image set and method: the seeds that failed, and the rise of each seed.
Lost = dict[tuple[str, str], list[int]]
Rises = dict[tuple[str, str], dict[int, float]]


def build(frame: pd.DataFrame, failed: Failed = NO_FAILURES) -> Section:
    """Return the section of the priors."""
    frame, left_out = _most_pairs(frame)
    lost = _lost(frame, failed)
    means = means_of(grouped(frame, ["dataset", "prior", "method"]))
    methods = panels.methods_of(means, METHODS)
    rises = {(where, name): _rises(frame, where, name)
             for where in IMAGES for name in methods}  # fmt: skip
    # Ours come after the paper's, where all three have been run.
    solvers = ["", f" {SOLVER}"] if len(methods) == 2 * len(METHODS) else [""]
    return section(
        NAME,
        Text(say(NAME, "intro")),
        _picture(means, frame) if means else None,
        _table(means, lost) if means else None,
        Bullets(say(NAME, "left_out"), left_out) if left_out else None,
        _rise_table(rises, means) if means else None,
        *(check for solver in solvers for check in _checks(rises, lost, means, solver)),
    )


def _most_pairs(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Keep the trials with most pairs of each data set, and name the others.

    A quick run may have left trials with fewer pairs in the same store.
    """
    if not len(frame):
        return frame, []
    most = frame.groupby("dataset")["m"].transform("max")
    others = frame[frame["m"] < most]
    left_out = [
        f"{IMAGES.get(dataset, dataset)}, m = {m}: {len(group):,} trials "
        f"({', '.join(sorted(group['method'].unique()))}); shown: m = "
        f"{most[group.index[0]]}"
        for (dataset, m), group in others.groupby(["dataset", "m"])
    ]
    return frame[frame["m"] == most], left_out


def _lost(frame: pd.DataFrame, failed: Failed) -> Lost:
    """Return the seeds that failed with as many pairs as are shown."""
    most = frame.groupby("dataset")["m"].max().to_dict() if len(frame) else {}
    return {
        (dataset, method): seeds
        for (dataset, m, method), seeds in failed.items()
        if most.get(dataset, m) == m
    }


def _picture(means: Means, frame: pd.DataFrame) -> Picture:
    def curves(axes: Any, dataset: str) -> None:
        x = [float(Fraction(prior)) for prior in PRIORS]
        for method in panels.methods_of(means, METHODS):
            curve(axes, x, [means[dataset, p, method] for p in PRIORS], method)
        axes.plot(
            [x[0], 0.5, x[-1]], [100 * x[0], 50, 100 * x[0]],
            color=INK, linewidth=0.8, linestyle=":", label="min(p, 1 − p)",
        )  # fmt: skip
        axes.set_xticks(x, PRIORS)

    pairs = frame.groupby("dataset")["m"].max()
    caption = say(
        NAME,
        "caption",
        trials=number_of(value.n for value in means.values()),
        sizes=", ".join(f"{pairs[k]:,} on {IMAGES[k]}" for k in IMAGES if k in pairs),
        why=say(NAME, "kuzushiji") if "kuzushiji-mnist" in pairs else "",
    )
    return Picture(
        "prior",
        lambda: panels.draw(means, curves, "prior p", 3.7, sharey=True),
        caption=caption + panels.not_run(means),
        alt="Curves of clustering error against the prior on sets of images",
    )


def _table(means: Means, lost: Lost) -> Table:
    rows = []
    for dataset, title in panels.sets_of(means).items():
        for method in panels.methods_of(means, METHODS):
            # The list of failures does not tell at which prior one happened.
            n_failed = len(lost.get((dataset, method), ()))
            name = Cell(method, note=f"{n_failed} failed" if n_failed else "")
            values = panels.row(means, dataset, method, PRIORS, N_TRIALS)
            rows.append([Cell(f"**{title}**"), name, *values])
    return Table(
        head=["images", "method", *PRIORS],
        rows=rows,
        labels=2,
        caption=say(NAME, "table") + panels.not_run(means),
    )


def _rises(frame: pd.DataFrame, dataset: str, method: str) -> dict[int, float]:
    """Return, by seed, the mean error at the middle priors minus that at the ends."""
    if not len(frame):
        return {}
    here = frame[(frame["dataset"] == dataset) & (frame["method"] == method)]
    table = here.pivot_table(index="seed", columns="prior", values="error")
    # A quick run has some of the priors alone.
    middle, outer = ([p for p in some if p in table] for some in (MIDDLE, OUTER))
    if not (middle and outer):
        return {}
    low = table[outer].mean(axis=1, skipna=False)
    rise = 100 * (table[middle].mean(axis=1, skipna=False) - low)
    return {int(seed): float(value) for seed, value in rise.dropna().items()}


def _rise_table(rises: Rises, means: Means) -> Table:
    methods = list(dict.fromkeys(method for _, method in rises))
    rows = []
    for dataset, title in panels.sets_of(means).items():
        found = [estimate(rises[dataset, method].values()) for method in methods]
        rows.append([Cell(f"**{title}**"), *(Cell(str(value)) for value in found)])
    return Table(head=["images", *methods], rows=rows, caption=say(NAME, "rises"))


def _checks(rises: Rises, lost: Lost, means: Means, solver: str) -> list[Check]:
    cips, sd, sv = (f"{method}{solver}" for method in ("CIPS", "SD", "SV"))
    names = {"cips": cips, "sd": sd, "sv": sv, "noise": NOISE}

    def check(key: str, *methods: str, clear: bool, beside: str = "") -> Check:
        """Check the rise of a method, or that of one minus that of another."""
        claim = Claim(NAME, key, len(IMAGES), N_TRIALS, **names)
        found = {where: _gap(rises, lost, where, *methods) for where in IMAGES}
        known = {where: value for where, value in found.items() if value.tested}
        started = any(value.n for value in found.values())
        if undecided := claim.undecided(len(known), started=started):
            return undecided
        bad = [where for where in known if (spread(known[where]) > NOISE) != clear]
        shown = {
            where: f"{IMAGES[where]} {value.mean:+.1f} ± {value.error:.1f}"
            for where, value in known.items()
        }
        for where in known if beside else ():
            other = estimate(rises[where, beside].values())
            shown[where] += f" ({beside} {other.mean:+.1f})" if other.n else ""
        n_good, texts = len(known) - len(bad), "; ".join(shown.values())
        return claim.check(
            f"{n_good} of {len(known)} sets: {texts}",
            [shown[where] for where in bad],
            refuted=len(bad) >= len(known) / 2,
            n_run=len(known),
            means=known.values(),
            missing=[_priors_not_run(known, methods, means)],
        )

    return [
        check("sd_rises", sd, clear=True),
        check("cips_does_not", cips, clear=False, beside=sv),
        check("no_more_than_sv", cips, sv, clear=False),
        check("less_than_sd", sd, cips, clear=True),
    ]


def _gap(rises: Rises, lost: Lost, where: str, one: str, two: str = "") -> Estimate:
    """Return the rise of a method, or that minus the rise of another, by seed."""
    left = rises[where, one]
    right = rises[where, two] if two else dict.fromkeys(left, 0.0)
    failed = [seed for name in (one, two) for seed in lost.get((where, name), ())]
    values = [left[seed] - right[seed] for seed in left if seed in right]
    return estimate(values, failed)


def _priors_not_run(
    datasets: Iterable[str], methods: tuple[str, ...], means: Means
) -> str:
    """Return which of the priors that a rise is taken from have not been run."""
    absent = [
        prior
        for prior in (*OUTER, *MIDDLE)
        if any((d, prior, name) not in means for d in datasets for name in methods)
    ]
    return f"without prior {', '.join(sorted(absent))} on some sets" if absent else ""
