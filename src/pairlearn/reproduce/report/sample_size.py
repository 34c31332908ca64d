"""The figure of ever more pairs, on three sets of images."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pairlearn.reproduce.images import SAMPLE_SIZE as EXPERIMENT
from pairlearn.reproduce.report.blocks import (
    Block,
    Cell,
    Check,
    Picture,
    Section,
    Table,
    Text,
    Verdict,
)
from pairlearn.reproduce.report.figures import (
    NETWORK,
    PANELS,
    curve,
    new_figure,
    shared_legend,
)
from pairlearn.reproduce.report.paper import (
    EXPERIMENTS,
    IMAGES,
    SIZES,
    SOLVER,
    image_sizes,
    images_not_run,
    run_images,
)
from pairlearn.reproduce.report.progress import (
    NO_FAILURES,
    Failed,
    enough,
    n_ended,
    number_of,
    share_of,
    so_far,
    unknown,
    without_failures,
)
from pairlearn.reproduce.report.statistics import Estimate, distance, estimate

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["build"]

NAME = "fig-sample-size"
METHODS = ("CIPS", "SV")
EXTRA = (f"CIPS {SOLVER}", f"SV {SOLVER}")
# A network of ours, on one set; the paper has linear classifiers alone.
OURS, OURS_ON = NETWORK, "mnist"
FLOOR, FLOOR_PAIRS = 2.0, 20_000  # its error in percent, from so many pairs
N_TRIALS = 20
NOISE = 2.0
KUZUSHIJI = (
    "Kuzushiji-MNIST: only its 10,000 test images are at hand, so fewer pairs than in "
    "the paper."
)

Means = dict[tuple[str, int, str], Estimate]


def build(frame: pd.DataFrame, failed: Failed = NO_FAILURES) -> Section:
    """Return the section of the numbers of pairs."""
    groups = frame.groupby(["dataset", "m", "method"]) if len(frame) else []
    means = {
        (str(dataset), int(m), str(method)): estimate(100 * group["error"])
        for (dataset, m, method), group in groups
    }
    blocks: list[Block] = [
        Text(
            "Even against odd: digits on MNIST, class numbers on the two others; a "
            "linear classifier, ever more pairs. The paper prints curves without "
            "numbers; the table has ours."
        )
    ]
    on = _sets_of_ours(means, failed)
    if on:
        blocks.append(Text(_about_ours(on)))
    if means:
        blocks += [_picture(means), _table(means, failed)]
    # The sizes of ours are no part of what the paper's method is to be run with.
    linear = {key: value for key, value in means.items() if key[2] != OURS}
    blocks.append(_check(linear, failed, "CIPS"))
    if EXTRA[0] in _methods(means):
        blocks.append(_check(linear, failed, EXTRA[0]))
    if on or OURS in EXPERIMENT.methods:
        blocks.append(_floor_check(frame, means, failed))
    return Section(NAME, EXPERIMENTS[NAME].title, blocks)


def _methods(means: Means) -> tuple[str, ...]:
    """Return the paper's methods, and those with our solver that have been run."""
    found = {method for _, _, method in means}
    return (*METHODS, *(method for method in EXTRA if method in found))


def _sets_of_ours(means: Means, failed: Failed) -> dict[str, str]:
    """Return the titles of the image sets that our network was run on."""
    found = {dataset for dataset, _, method in (*means, *failed) if method == OURS}
    return {name: title for name, title in IMAGES.items() if name in found}


def _about_ours(on: dict[str, str]) -> str:
    return (
        f"{OURS} is ours, and not linear: a small convolutional network that learns "
        "from pairs drawn in the same way, and from no label. The paper has no "
        f"such curve. It was run on {' and '.join(on.values())} alone."
    )


def _sizes(means: Means, dataset: str) -> list[int]:
    """Return the planned sizes and those that a quick run has besides."""
    return sorted({*image_sizes(dataset), *(m for d, m, _ in means if d == dataset)})


def _get(means: Means, dataset: str, m: int, method: str) -> Estimate:
    return means.get((dataset, m, method), estimate([]))


def _picture(means: Means) -> Picture:
    shown = run_images(means)
    ours = "" if not _sets_of_ours(means, {}) else f" {OURS} is not in the paper."
    caption = (
        "Clustering error against the number of pairs: mean over "
        f"{number_of(value.n for value in means.values())}, shaded by one standard "
        f"error. SV knows the labels of the same 2m points.{ours}"
    )
    if "kuzushiji-mnist" in shown:
        caption += f" {KUZUSHIJI}"
    return Picture(
        "sample-size",
        lambda: _draw(means),
        caption=caption + images_not_run(shown),
        alt="Curves of clustering error against pairs on sets of images",
    )


def _draw(means: Means) -> Any:
    shown = run_images(means)
    figure = new_figure(PANELS[len(shown)], 3.5)
    panels = figure.subplots(1, len(shown), squeeze=False)[0]
    for axes, (dataset, title) in zip(panels, shown.items(), strict=True):
        sizes = _sizes(means, dataset)
        for method in _methods(means):
            values = [_get(means, dataset, m, method) for m in sizes]
            curve(axes, sizes, values, method)
        values = [_get(means, dataset, m, OURS) for m in sizes]
        curve(axes, sizes, values, OURS, f"{OURS} (ours, not linear)")
        axes.set_title(title)
        axes.set_xlabel("pairs m")
        axes.set_ylim(0, None)
        axes.margins(x=0.03)
    panels[0].set_ylabel("clustering error, %")
    shared_legend(figure, panels)
    return figure


def _table(means: Means, failed: Failed) -> Table:
    sizes = sorted({*SIZES, *(m for _, m, _ in means)})
    rows: list[list[Cell]] = []
    ours = set()
    on = _sets_of_ours(means, failed)
    for dataset, title in run_images(means).items():
        for method in (*_methods(means), *([OURS] if dataset in on else [])):
            name = method
            if method == OURS:
                ours.add(len(rows))
                name = f"{OURS} (ours, not linear)"
            row = [Cell(f"**{title}**"), Cell(name)]
            for m in sizes:
                value = _get(means, dataset, m, method)
                possible = m in _sizes(means, dataset)
                if not possible:
                    row.append(Cell(""))
                    continue
                n_failed = len(failed.get((dataset, m, method), ()))
                row.append(Cell(str(value), note=share_of(value, N_TRIALS, n_failed)))
            rows.append(row)
    return Table(
        head=["images", "method", *(f"{m:,}" for m in sizes)],
        rows=rows,
        labels=2,
        ours=frozenset(ours),
        caption="The numbers of the figure: clustering error in percent, mean "
        f"(standard error), by the number of pairs.{images_not_run(run_images(means))}",
    )


def _check(means: Means, failed: Failed, method: str) -> Check:
    claim = f"{method}: the error falls with m on all three image sets"
    tested = (
        f"On each set the mean of {method} falls from each m to the next. Without any "
        "rise it holds; rises are exceptions. It does not hold if one of them is "
        f"beyond {NOISE:.0f} standard errors of the difference (unpaired), or if the "
        "last mean is not below the first. Means of one trial alone are not compared."
    )
    lists, exceptions = [], []
    used: list[tuple[str, int, str]] = []
    n_steps = 0
    verdict: Verdict = "holds"
    total = sum(len(_sizes(means, dataset)) - 1 for dataset in IMAGES)
    for dataset, title in IMAGES.items():
        known = [
            (m, value)
            for m in _sizes(means, dataset)
            if (value := _get(means, dataset, m, method)).tested
        ]
        if len(known) < 2:
            continue
        n_steps += len(known) - 1
        used += [(dataset, m, method) for m, _ in known]
        lists.append(
            f"{title} " + " → ".join(f"{value.mean:.1f}" for _, value in known)
        )
        for (m, one), (more, two) in pairwise(known):
            if two.mean < one.mean:
                continue
            clear = distance(two, one) > NOISE
            exceptions.append(
                f"{title}, m = {m} to {more}: {one} to {two}, "
                f"{'beyond' if clear else 'within'} noise"
            )
            if clear:
                verdict = "does not hold"
            elif verdict == "holds":
                verdict = "holds with exceptions"
        if known[-1][1].mean >= known[0][1].mean:
            verdict = "does not hold"
    alone = sum(value.n == 1 for (_, _, name), value in means.items() if name == method)
    if not enough(n_steps, total):
        started = any(name == method for _, _, name in means)
        what = f"of {total} steps"
        return unknown(claim, tested, what, started=started, n_known=n_steps)
    number = f"{n_steps - len(exceptions)} of {n_steps} steps down: {'; '.join(lists)}"
    number += without_failures(sum(len(failed.get(key, ())) for key in used))
    ended = [n_ended(means[key], failed.get(key)) for key in used]
    missing = so_far(n_steps, total, "steps", ended, N_TRIALS)
    if alone:
        missing += f"; {alone} means not tested (one trial alone)"
    return Check(claim, tested, verdict, number, exceptions, missing)


def _floor_check(frame: pd.DataFrame, means: Means, failed: Failed) -> Check:
    """Return the check of our network's error from the most pairs."""
    title, pairs = IMAGES[OURS_ON], f"{FLOOR_PAIRS:,} pairs"
    claim = f"{OURS} from {pairs} and no label: error at most {FLOOR} % on {title}"
    tested = (
        f"The mean clustering error of {OURS}, which is ours and not linear, from "
        f"{pairs} of {title} is at most {FLOOR} %. If it is above, it does not hold."
    )
    key = (OURS_ON, FLOOR_PAIRS, OURS)
    value = means.get(key, estimate([]))
    if not value.tested:
        return unknown(claim, tested, "of 1 means", started=value.n > 0)
    here = (frame["dataset"] == OURS_ON) & (frame["m"] == FLOOR_PAIRS)
    errors = 100 * frame[here & (frame["method"] == OURS)]["error"]
    number = (
        f"{value.mean:.2f} ± {value.error:.2f} % over {number_of([value.n])}, which "
        f"lie between {errors.min():.2f} and {errors.max():.2f} %"
    )
    linear = {
        name: mean
        for name in METHODS
        if (mean := _get(means, OURS_ON, FLOOR_PAIRS, name)).n
    }
    if linear:
        beside = " and ".join(f"{name} {v.mean:.2f} %" for name, v in linear.items())
        number += f"; linear, on as many pairs: {beside}"
    lost = failed.get(key, [])
    return Check(
        claim,
        tested,
        "holds" if value.mean <= FLOOR else "does not hold",
        number + without_failures(len(lost)),
        missing=so_far(1, 1, "means", [n_ended(value, lost)], N_TRIALS),
    )
