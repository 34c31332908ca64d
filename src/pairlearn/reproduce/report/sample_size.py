"""The figure of ever more pairs, on three sets of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from pairlearn.reproduce.report.figures import curve, new_figure, picture, style
from pairlearn.reproduce.report.paper import IMAGES, SIZES, SOLVER, image_sizes
from pairlearn.reproduce.report.statistics import Estimate, distance, estimate

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["build"]

METHODS = ("CIPS", "SV", f"CIPS {SOLVER}", f"SV {SOLVER}")
N_TRIALS = 20
NOISE = 2.0
KUZUSHIJI = (
    "Kuzushiji-MNIST: only its 10,000 test images are at hand, so fewer pairs than in "
    "the paper."
)

Means = dict[tuple[str, int, str], Estimate]


def build(frame: pd.DataFrame) -> Section:
    """Return the section of the numbers of pairs."""
    groups = frame.groupby(["dataset", "m", "method"]) if len(frame) else []
    means = {
        (str(dataset), int(m), str(method)): estimate(100 * group["error"])
        for (dataset, m, method), group in groups
    }
    blocks: list[Block] = [
        Text(
            "Even digits (classes) against odd ones, a linear classifier, ever more "
            "pairs. The paper prints curves without numbers; the table has ours."
        )
    ]
    if means:
        blocks.append(_draw(means))
    blocks += [_table(means), _check(means, "CIPS"), _check(means, f"CIPS {SOLVER}")]
    return Section("fig-sample-size", "More pairs, on images", blocks)


def _get(means: Means, dataset: str, m: int, method: str) -> Estimate:
    return means.get((dataset, m, method), estimate([]))


def _draw(means: Means) -> Picture:
    with style():
        figure = new_figure(10.4, 3.5)
        panels = figure.subplots(1, 3)
        for axes, (dataset, title) in zip(panels, IMAGES.items(), strict=True):
            sizes = image_sizes(dataset)
            for method in METHODS:
                values = [_get(means, dataset, m, method) for m in sizes]
                curve(axes, sizes, values, method)
            axes.set_title(title)
            axes.set_xlabel("pairs m")
            axes.set_ylim(0, None)
            axes.margins(x=0.03)
        panels[0].set_ylabel("clustering error, %")
        handles, labels = _legend(panels)
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
        return picture(
            "sample-size",
            figure,
            caption=(
                "Clustering error against the number of pairs: mean over the trials, "
                "shaded by one standard error. SV knows the labels of the same 2m "
                f"points. {KUZUSHIJI}"
            ),
            alt="Curves of clustering error against pairs on three image sets",
        )


def _legend(panels: object) -> tuple[list[object], list[str]]:
    found: dict[str, object] = {}
    for axes in panels:  # type: ignore[attr-defined]
        handles, labels = axes.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    return list(found.values()), list(found)


def _table(means: Means) -> Table:
    rows = []
    for dataset, title in IMAGES.items():
        for method in METHODS:
            row = [Cell(f"**{title}**"), Cell(method)]
            for m in SIZES:
                value = _get(means, dataset, m, method)
                possible = m in image_sizes(dataset)
                short = possible and value.n < N_TRIALS
                note = f"{value.n}/{N_TRIALS}" if short else ""
                row.append(Cell(str(value) if possible else "", note=note))
            rows.append(row)
    return Table(
        head=["images", "method", *(f"{m:,}" for m in SIZES)],
        rows=rows,
        labels=2,
        caption="The numbers of the figure: clustering error in percent, mean "
        "(standard error), by the number of pairs.",
        footnotes=[KUZUSHIJI],
    )


def _check(means: Means, method: str) -> Check:
    claim = f"{method}: the error falls with m on all three image sets"
    tested = (
        f"On each set the mean of {method} falls from each m to the next. A rise "
        f"beyond {NOISE:.0f} standard errors of the difference (unpaired), or a last "
        "mean that is not below the first, means that it does not hold; smaller rises "
        "are exceptions."
    )
    lists, exceptions = [], []
    n_steps = 0
    verdict: Verdict = "holds"
    total = sum(len(image_sizes(dataset)) - 1 for dataset in IMAGES)
    for dataset, title in IMAGES.items():
        known = [
            (m, value)
            for m in image_sizes(dataset)
            if (value := _get(means, dataset, m, method)).n
        ]
        if len(known) < 2:
            continue
        n_steps += len(known) - 1
        lists.append(
            f"{title} " + " → ".join(f"{value.mean:.1f}" for _, value in known)
        )
        for (m, one), (more, two) in zip(known, known[1:], strict=False):
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
    if not lists:
        return Check(claim, tested, "not run yet", f"0 of {total} steps")
    number = f"{n_steps - len(exceptions)} of {n_steps} steps down: {'; '.join(lists)}"
    if n_steps < total:
        number += f"; so far {n_steps} of {total} steps have been run"
    return Check(claim, tested, verdict, number, exceptions)
