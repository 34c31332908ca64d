"""The figure of priors, on three sets of images."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from pairlearn.reproduce.report.blocks import (
    Block,
    Bullets,
    Cell,
    Check,
    Picture,
    Section,
    Table,
    Text,
)
from pairlearn.reproduce.report.figures import (
    INK,
    PANELS,
    curve,
    new_figure,
    shared_legend,
)
from pairlearn.reproduce.report.paper import (
    EXPERIMENTS,
    IMAGES,
    PRIORS,
    SOLVER,
    images_not_run,
    run_images,
)
from pairlearn.reproduce.report.progress import (
    NO_FAILURES,
    Failed,
    n_ended,
    number_of,
    share_of,
    so_far,
    unknown,
    without_failures,
)
from pairlearn.reproduce.report.statistics import Estimate, estimate, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pandas as pd

__all__ = ["build"]

NAME = "fig-prior"
METHODS = ("CIPS", "SD", "SV")
EXTRA = tuple(f"{method} {SOLVER}" for method in METHODS)
N_TRIALS = 10
NOISE = 2.0
MIDDLE, OUTER = ("3/7", "4/7"), ("1/7", "6/7")

Means = dict[tuple[str, str, str], Estimate]
Rises = dict[tuple[str, str], dict[int, float]]
Lost = dict[tuple[str, str], list[int]]
Fits: TypeAlias = "Callable[[Estimate], bool]"


@dataclass(frozen=True)
class Values:
    """What a check is about: one mean for each set, and the methods behind it."""

    found: dict[str, Estimate]
    methods: tuple[str, ...]
    notes: dict[str, str]


def build(frame: pd.DataFrame, failed: Failed = NO_FAILURES) -> Section:
    """Return the section of the priors."""
    frame, left_out = _most_pairs(frame)
    lost = _lost(frame, failed)
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
        blocks += [_picture(means, frame), _table(means, lost)]
    if left_out:
        title = "**Left out,** since there are trials with more pairs"
        blocks.append(Bullets(title, left_out))
    if means:
        blocks.append(_rise_table(rises, run_images(means)))
    blocks += _checks(rises, lost, means, "")
    if set(EXTRA) <= set(_methods(means)):
        blocks += _checks(rises, lost, means, f" {SOLVER}")
    return Section(NAME, EXPERIMENTS[NAME].title, blocks)


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


def _methods(means: Means) -> tuple[str, ...]:
    """Return the paper's methods, and those with our solver that have been run."""
    found = {method for _, _, method in means}
    return (*METHODS, *(method for method in EXTRA if method in found))


def _picture(means: Means, frame: pd.DataFrame) -> Picture:
    pairs = frame.groupby("dataset")["m"].max()
    sizes = ", ".join(
        f"{pairs[key]:,} on {IMAGES[key]}" for key in IMAGES if key in pairs
    )
    why = ""
    if "kuzushiji-mnist" in pairs:
        why = ", but of Kuzushiji-MNIST only the 10,000 test images are at hand"
    return Picture(
        "prior",
        lambda: _draw(means),
        caption=(
            "Clustering error against the prior: mean over "
            f"{number_of(value.n for value in means.values())}, shaded by one standard "
            f"error. Pairs: {sizes}; the paper has 10,000{why}. Dotted: always naming "
            f"the majority class.{images_not_run(run_images(means))}"
        ),
        alt="Curves of clustering error against the prior on sets of images",
    )


def _draw(means: Means) -> Any:
    x = [float(Fraction(prior)) for prior in PRIORS]
    shown = run_images(means)
    figure = new_figure(PANELS[len(shown)], 3.7)
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for axes, (dataset, title) in zip(panels, shown.items(), strict=True):
        for method in _methods(means):
            key = [(dataset, prior, method) for prior in PRIORS]
            curve(axes, x, [means.get(k, estimate([])) for k in key], method)
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


def _table(means: Means, lost: Lost) -> Table:
    rows = []
    for dataset, title in run_images(means).items():
        for method in _methods(means):
            # The list of failures does not tell at which prior one happened.
            n_failed = len(lost.get((dataset, method), ()))
            note = f"{n_failed} failed" if n_failed else ""
            row = [Cell(f"**{title}**"), Cell(method, note=note)]
            for prior in PRIORS:
                value = means.get((dataset, prior, method), estimate([]))
                row.append(Cell(str(value), note=share_of(value, N_TRIALS)))
            rows.append(row)
    return Table(
        head=["images", "method", *PRIORS],
        rows=rows,
        labels=2,
        caption="The numbers of the figure: clustering error in percent, mean "
        f"(standard error), by the prior.{images_not_run(run_images(means))}",
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


def _rise_table(rises: Rises, shown: dict[str, str]) -> Table:
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
            for dataset, title in shown.items()
        ],
        caption="Rise towards prior 1/2, in percentage points: the mean error at 3/7 "
        "and 4/7 minus that at 1/7 and 6/7 (of those that have been run), mean "
        "(standard error) over the seeds.",
    )


def _checks(rises: Rises, lost: Lost, means: Means, extra: str) -> list[Check]:
    cips, sd, sv = f"CIPS{extra}", f"SD{extra}", f"SV{extra}"
    rise = "the mean error at 3/7 and 4/7 minus that at 1/7 and 6/7, where run"

    def check(claim: str, tested: str, values: Values, fits: Fits) -> Check:
        return _check(claim, tested, values, fits, lost, means)

    return [
        check(
            f"{sd}: the error rises towards prior 1/2",
            f"On each set the rise of {sd} ({rise}) is above zero by more than "
            f"{NOISE:.0f} standard errors.",
            _own(rises, sd),
            lambda value: spread(value) > NOISE,
        ),
        check(
            f"{cips}: the error does not rise towards prior 1/2",
            f"On each set the rise of {cips} ({rise}) is not above zero by more than "
            f"{NOISE:.0f} standard errors. The rise of {sv} stands beside it, as a "
            "measure of how much harder the task becomes.",
            _own(rises, cips, beside=sv),
            lambda value: spread(value) <= NOISE,
        ),
        check(
            f"{cips}: the error rises no more than that of {sv}",
            f"On each set the rise of {cips} minus that of {sv}, paired by seed, is "
            f"not above zero by more than {NOISE:.0f} standard errors.",
            _gap(rises, cips, sv),
            lambda value: spread(value) <= NOISE,
        ),
        check(
            f"{cips} is less affected by the prior than {sd}",
            f"On each set the rise of {sd} minus that of {cips}, paired by seed, is "
            f"above zero by more than {NOISE:.0f} standard errors.",
            _gap(rises, sd, cips),
            lambda value: spread(value) > NOISE,
        ),
    ]


def _own(rises: Rises, method: str, beside: str = "") -> Values:
    """Return the rise of a method; that of another is only shown beside it."""
    found = {key: estimate(rises[key, method].values()) for key in IMAGES}
    notes = {}
    if beside:
        others = {key: estimate(rises[key, beside].values()) for key in IMAGES}
        notes = {k: f" ({beside} {e.mean:+.1f})" for k, e in others.items() if e.n}
    return Values(found, (method,), notes)


def _gap(rises: Rises, one: str, two: str) -> Values:
    """Return the rise of one method minus that of another, paired by seed."""
    found = {}
    for key in IMAGES:
        left, right = rises[key, one], rises[key, two]
        found[key] = estimate(
            left[seed] - right[seed] for seed in left if seed in right
        )
    return Values(found, (one, two), {})


def _check(
    claim: str, tested: str, values: Values, fits: Fits, lost: Lost, means: Means
) -> Check:
    tested += (
        " If it fails on fewer than half of the sets that were run, it holds with "
        "exceptions; on half or more, it does not hold."
    )
    known = {key: value for key, value in values.found.items() if value.tested}
    if not known:
        started = any(value.n for value in values.found.values())
        return unknown(claim, tested, f"of {len(IMAGES)} sets", started=started)
    bad = [key for key, value in known.items() if not fits(value)]
    shown = {
        key: f"{IMAGES[key]} {value.mean:+.1f} ± {value.error:.1f}"
        + values.notes.get(key, "")
        for key, value in known.items()
    }
    seeds = {
        key: [s for method in values.methods for s in lost.get((key, method), ())]
        for key in known
    }
    number = (
        f"{len(known) - len(bad)} of {len(known)} sets: {'; '.join(shown.values())}"
        + without_failures(sum(len(some) for some in seeds.values()))
    )
    ended = [n_ended(value, seeds[key]) for key, value in known.items()]
    parts = [
        so_far(len(known), len(IMAGES), "sets", ended, N_TRIALS),
        _priors_not_run(known, values.methods, means),
    ]
    missing = "; ".join(filter(None, parts))
    return Check(
        claim,
        tested,
        "holds"
        if not bad
        else "holds with exceptions"
        if len(bad) < len(known) / 2
        else "does not hold",
        number,
        [shown[key] for key in bad],
        missing,
    )


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
