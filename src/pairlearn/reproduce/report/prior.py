"""The figure of priors, on three sets of images."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.reproduce.report.blocks import (
    Block,
    Cell,
    Check,
    Picture,
    Section,
    Table,
    Text,
)
from pairlearn.reproduce.report.figures import (
    INK,
    curve,
    mark_empty,
    new_figure,
    shared_legend,
)
from pairlearn.reproduce.report.paper import IMAGES, PRIORS, SOLVER
from pairlearn.reproduce.report.progress import share_of, so_far
from pairlearn.reproduce.report.statistics import Estimate, estimate, spread

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

__all__ = ["build"]

METHODS = ("CIPS", "SD", "SV")
EXTRA = tuple(f"{method} {SOLVER}" for method in METHODS)
N_TRIALS = 10
NOISE = 2.0
MIDDLE, OUTER = ("3/7", "4/7"), ("1/7", "6/7")

Means = dict[tuple[str, str, str], Estimate]


def build(frame: pd.DataFrame) -> Section:
    """Return the section of the priors."""
    if len(frame):
        # A quick run may have left trials with fewer pairs in the same store.
        most = frame.groupby("dataset")["m"].transform("max")
        frame = frame[frame["m"] == most]
    groups = frame.groupby(["dataset", "prior", "method"]) if len(frame) else []
    means = {
        (str(dataset), str(prior), str(method)): estimate(100 * group["error"])
        for (dataset, prior, method), group in groups
    }
    rises = {
        (dataset, method): _rises(frame, dataset, method)
        for dataset in IMAGES
        for method in _methods(means)
    }
    blocks: list[Block] = [
        Text(
            "The same images, drawn so that the prior is what we want. A classifier "
            "that always names the majority class errs at rate min(p, 1 − p), which "
            "is itself largest at 1/2, so every method has an easier task at the ends."
        )
    ]
    if means:
        blocks.append(_picture(means, frame))
    blocks += [_table(means), _rise_table(rises), *_checks(rises, "")]
    if set(EXTRA) <= set(_methods(means)):
        blocks += _checks(rises, f" {SOLVER}")
    return Section("fig-prior", "Other priors, on images", blocks)


def _methods(means: Means) -> tuple[str, ...]:
    """Return the paper's methods, and those with our solver that have been run."""
    found = {method for _, _, method in means}
    return (*METHODS, *(method for method in EXTRA if method in found))


def _picture(means: Means, frame: pd.DataFrame) -> Picture:
    pairs = frame.groupby("dataset")["m"].max()
    sizes = ", ".join(
        f"{pairs[key]:,} on {IMAGES[key]}" for key in IMAGES if key in pairs
    )
    return Picture(
        "prior",
        lambda: _draw(means),
        caption=(
            f"Clustering error against the prior: mean over the trials, shaded by one "
            f"standard error. Pairs: {sizes}; the paper has 10,000, but of "
            "Kuzushiji-MNIST only the 10,000 test images are at hand. Dotted: always "
            "naming the majority class."
        ),
        alt="Curves of clustering error against the prior on three image sets",
    )


def _draw(means: Means) -> Any:
    x = [float(Fraction(prior)) for prior in PRIORS]
    figure = new_figure(10.4, 3.7)
    panels = figure.subplots(1, 3, sharey=True)
    for axes, (dataset, title) in zip(panels, IMAGES.items(), strict=True):
        for method in _methods(means):
            key = [(dataset, prior, method) for prior in PRIORS]
            curve(axes, x, [means.get(k, estimate([])) for k in key], method)
        if not axes.lines:
            mark_empty(axes)
        axes.plot(
            [x[0], 0.5, x[-1]], [100 * x[0], 50, 100 * x[0]],
            color=INK, linewidth=0.8, linestyle=":", label="min(p, 1 − p)",
        )  # fmt: skip
        axes.set_title(title)
        axes.set_xticks(x, PRIORS)
        axes.set_xlabel("prior p")
        axes.set_ylim(0, None)
    panels[0].set_ylabel("clustering error, %")
    shared_legend(figure, panels)
    return figure


def _table(means: Means) -> Table:
    rows = []
    for dataset, title in IMAGES.items():
        for method in _methods(means):
            row = [Cell(f"**{title}**"), Cell(method)]
            for prior in PRIORS:
                value = means.get((dataset, prior, method), estimate([]))
                row.append(Cell(str(value), note=share_of(value, N_TRIALS)))
            rows.append(row)
    return Table(
        head=["images", "method", *PRIORS],
        rows=rows,
        labels=2,
        caption="The numbers of the figure: clustering error in percent, mean "
        "(standard error), by the prior.",
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


Rises = dict[tuple[str, str], dict[int, float]]


def _rise_table(rises: Rises) -> Table:
    methods = list(dict.fromkeys(method for _, method in rises))
    return Table(
        head=["images", *methods],
        rows=[
            [
                Cell(f"**{title}**"),
                *(
                    Cell(str(estimate(rises[dataset, method].values())))
                    for method in methods
                ),
            ]
            for dataset, title in IMAGES.items()
        ],
        caption="Rise towards prior 1/2, in percentage points: the mean error at 3/7 "
        "and 4/7 minus that at 1/7 and 6/7 (of those that have been run), mean "
        "(standard error) over the seeds.",
    )


def _checks(rises: Rises, extra: str) -> list[Check]:
    cips, sd, sv = f"CIPS{extra}", f"SD{extra}", f"SV{extra}"
    rise = "the mean error at 3/7 and 4/7 minus that at 1/7 and 6/7, where run"
    return [
        _check(
            {key: _own(rises, key, sd) for key in IMAGES},
            f"{sd}: the error rises towards prior 1/2",
            f"On each set the rise of {sd} ({rise}) is above zero by more than "
            f"{NOISE:.0f} standard errors.",
            lambda value: spread(value) > NOISE,
        ),
        _check(
            {key: _own(rises, key, cips) for key in IMAGES},
            f"{cips}: the error does not rise towards prior 1/2",
            f"On each set the rise of {cips} ({rise}) is not above zero by more than "
            f"{NOISE:.0f} standard errors. SV's rise stands beside it, as a measure of "
            "how much harder the task becomes.",
            lambda value: spread(value) <= NOISE,
            beside={key: _own(rises, key, sv) for key in IMAGES},
        ),
        _check(
            {key: _gap(rises, key, cips, sv) for key in IMAGES},
            f"{cips}: the error rises no more than that of {sv}",
            f"On each set the rise of {cips} minus that of {sv}, paired by seed, is "
            f"not above zero by more than {NOISE:.0f} standard errors.",
            lambda value: spread(value) <= NOISE,
        ),
        _check(
            {key: _gap(rises, key, sd, cips) for key in IMAGES},
            f"{cips} is less affected by the prior than {sd}",
            f"On each set the rise of {sd} minus that of {cips}, paired by seed, is "
            f"above zero by more than {NOISE:.0f} standard errors.",
            lambda value: spread(value) > NOISE,
        ),
    ]


def _own(rises: Rises, dataset: str, method: str) -> Estimate:
    return estimate(rises[dataset, method].values())


def _gap(rises: Rises, dataset: str, one: str, two: str) -> Estimate:
    left, right = rises[dataset, one], rises[dataset, two]
    return estimate(left[seed] - right[seed] for seed in left if seed in right)


def _check(
    values: dict[str, Estimate],
    claim: str,
    tested: str,
    fits: Callable[[Estimate], bool],
    beside: dict[str, Estimate] | None = None,
) -> Check:
    tested += " If it fails on one set of three, it holds with exceptions."
    known = {key: value for key, value in values.items() if value.tested}
    if not known:
        return Check(claim, tested, "not run yet", f"0 of {len(values)} sets")
    bad = [key for key, value in known.items() if not fits(value)]
    shown = {
        key: f"{IMAGES[key]} {value.mean:+.1f} ± {value.error:.1f}"
        + (f" (SV {beside[key].mean:+.1f})" if beside and beside[key].n else "")
        for key, value in known.items()
    }
    number = (
        f"{len(known) - len(bad)} of {len(known)} sets: {'; '.join(shown.values())}"
    )
    missing = so_far(len(known), len(values), "sets", known.values(), N_TRIALS)
    share = np.mean([key in bad for key in known])
    return Check(
        claim,
        tested,
        "holds"
        if not bad
        else "holds with exceptions"
        if share < 0.5
        else "does not hold",
        number,
        [shown[key] for key in bad],
        missing,
    )
