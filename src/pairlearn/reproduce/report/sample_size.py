"""The figure of ever more pairs, on three sets of images."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pairlearn.reproduce.images import SAMPLE_SIZE as EXPERIMENT
from pairlearn.reproduce.report import panels
from pairlearn.reproduce.report.blocks import Cell, Picture, Table, Text
from pairlearn.reproduce.report.figures import NETWORK, curve
from pairlearn.reproduce.report.paper import IMAGES, SIZES, SOLVER, image_sizes, section
from pairlearn.reproduce.report.progress import NO_FAILURES, Claim, number_of
from pairlearn.reproduce.report.statistics import NOISE, distance, grouped, means_of
from pairlearn.reproduce.report.words import say

if TYPE_CHECKING:
    import pandas as pd

    from pairlearn.reproduce.report.blocks import Check, Section
    from pairlearn.reproduce.report.progress import Failed
    from pairlearn.reproduce.report.statistics import Means

__all__ = ["build"]

NAME = "fig-sample-size"
METHODS = ("CIPS", "SV")
EXTRA = (f"CIPS {SOLVER}", f"SV {SOLVER}")
# A network of ours, on one set; the paper has linear classifiers alone.
OURS, OURS_ON = NETWORK, "mnist"
OURS_LABEL = f"{OURS} (ours, not linear)"
FLOOR, FLOOR_PAIRS = 2.0, 20_000  # its error in percent, from so many pairs
N_TRIALS = 20
KUZUSHIJI = say(NAME, "kuzushiji")


def build(frame: pd.DataFrame, failed: Failed = NO_FAILURES) -> Section:
    """Return the section of the numbers of pairs."""
    by = ["dataset", "m", "method"]
    means = means_of(grouped(frame, by), failed)
    # The sizes of ours are no part of what the paper's method is to be run with.
    linear = means_of(grouped(frame[frame["method"] != OURS], by), failed)
    methods = panels.methods_of(means, METHODS)
    on = _sets_of_ours(means)
    about = say(NAME, "about_ours", ours=OURS, sets=" and ".join(on.values()))
    return section(
        NAME,
        Text(say(NAME, "intro")),
        Text(about) if on else None,
        _picture(means) if means.run else None,
        _table(means) if means.run else None,
        *(_falls_check(linear, name) for name in methods if name.startswith("CIPS")),
        _floor_check(frame, means) if on or OURS in EXPERIMENT.methods else None,
    )


def _sets_of_ours(means: Any) -> dict[str, str]:
    """Return the titles of the image sets that our network was run on."""
    return panels.sets_of(key for key in means if key[2] == OURS)


def _sizes(means: Means, dataset: str) -> list[int]:
    """Return the planned sizes and those that a quick run has besides."""
    run = (m for where, m, _ in means.run if where == dataset)
    return sorted({*image_sizes(dataset), *run})


def _picture(means: Means) -> Picture:
    def curves(axes: Any, dataset: str) -> None:
        sizes = _sizes(means, dataset)
        for method in (*panels.methods_of(means, METHODS), OURS):
            values = [means[dataset, m, method] for m in sizes]
            curve(axes, sizes, values, method, OURS_LABEL if method == OURS else method)
        axes.margins(x=0.03)

    trials = number_of(value.n for value in means.values())
    caption = [
        say(NAME, "caption", trials=trials),
        say(NAME, "not_in_paper", ours=OURS) if _sets_of_ours(means.run) else "",
        KUZUSHIJI if "kuzushiji-mnist" in panels.sets_of(means.run) else "",
    ]
    return Picture(
        "sample-size",
        lambda: panels.draw(means, curves, "pairs m", 3.5),
        caption=" ".join(filter(None, caption)) + panels.not_run(means),
        alt="Curves of clustering error against pairs on sets of images",
    )


def _table(means: Means) -> Table:
    sizes = sorted({*SIZES, *(m for _, m, _ in means.run)})
    rows: list[list[Cell]] = []
    ours = set()
    on = _sets_of_ours(means)
    for dataset, title in panels.sets_of(means.run).items():
        possible = _sizes(means, dataset)
        methods = panels.methods_of(means, METHODS)
        for method in (*methods, *([OURS] if dataset in on else [])):
            if method == OURS:
                ours.add(len(rows))
            values = panels.row(means, dataset, method, sizes, N_TRIALS)
            shown = zip(sizes, values, strict=True)
            rows.append(
                [
                    Cell(f"**{title}**"),
                    Cell(OURS_LABEL if method == OURS else method),
                    *(cell if m in possible else Cell("") for m, cell in shown),
                ]
            )
    return Table(
        head=["images", "method", *(f"{m:,}" for m in sizes)],
        rows=rows,
        labels=2,
        ours=frozenset(ours),
        caption=say(NAME, "table") + panels.not_run(means),
    )


def _falls_check(means: Means, method: str) -> Check:
    n_steps = sum(len(_sizes(means, dataset)) - 1 for dataset in IMAGES)
    claim = Claim(NAME, "falls", n_steps, N_TRIALS, method=method, noise=NOISE)
    lists, exceptions, used = [], [], []
    n_known, refuted = 0, False
    for dataset, title in IMAGES.items():
        sizes = [m for m in _sizes(means, dataset) if means[dataset, m, method].tested]
        known = [means[dataset, m, method] for m in sizes]
        if len(known) < 2:
            continue
        n_known += len(known) - 1
        used += known
        lists.append(f"{title} " + " → ".join(f"{value.mean:.1f}" for value in known))
        refuted |= known[-1].mean >= known[0].mean
        for (m, one), (more, two) in pairwise(zip(sizes, known, strict=True)):
            if two.mean >= one.mean:
                clear = distance(two, one) > NOISE
                refuted |= clear
                exceptions.append(
                    f"{title}, m = {m} to {more}: {one} to {two}, "
                    f"{'beyond' if clear else 'within'} noise"
                )
    here = [value for (_, _, name), value in means.run.items() if name == method]
    if check := claim.undecided(n_known, started=bool(here)):
        return check
    alone = sum(value.n == 1 for value in here)
    return claim.check(
        f"{n_known - len(exceptions)} of {n_known} steps down: {'; '.join(lists)}",
        exceptions,
        refuted=refuted,
        n_run=n_known,
        means=used,
        missing=[f"{alone} means not tested (one trial alone)"] if alone else [],
    )


def _floor_check(frame: pd.DataFrame, means: Means) -> Check:
    """Return the check of our network's error from the most pairs."""
    claim = Claim(
        NAME, "floor", 1, N_TRIALS, ours=OURS, pairs=f"{FLOOR_PAIRS:,} pairs",
        title=IMAGES[OURS_ON], floor=FLOOR,
    )  # fmt: skip
    value = means[OURS_ON, FLOOR_PAIRS, OURS]
    if check := claim.undecided(int(value.tested), started=value.n > 0):
        return check
    here = (frame["dataset"] == OURS_ON) & (frame["m"] == FLOOR_PAIRS)
    errors = 100 * frame[here & (frame["method"] == OURS)]["error"]
    number = (
        f"{value.mean:.2f} ± {value.error:.2f} % over {number_of([value.n])}, which "
        f"lie between {errors.min():.2f} and {errors.max():.2f} %"
    )
    linear = {name: means[OURS_ON, FLOOR_PAIRS, name] for name in METHODS}
    beside = [f"{name} {v.mean:.2f} %" for name, v in linear.items() if v.n]
    if beside:
        number += f"; linear, on as many pairs: {' and '.join(beside)}"
    return claim.check(number, [], refuted=value.mean > FLOOR, n_run=1, means=[value])
