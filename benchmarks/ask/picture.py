"""The learning curves, for the README."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.ask.methods import (
    COBRAS,
    EXPLORE,
    MARGIN,
    METHODS,
    MINMAX,
    NPU,
    OURS,
    RANDOM,
    SVM,
)
from benchmarks.ask.tasks import CANCER, DIGITS, SMALL_BUDGETS, TABLE_BUDGETS, TABLES
from benchmarks.report import RESULTS
from pairlearn.reproduce.report.blocks import Picture
from pairlearn.reproduce.report.figures import (
    PANELS,
    curve,
    new_figure,
    render,
    shared_legend,
)
from pairlearn.reproduce.report.paper import SOLVER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.ask.cells import Cells
    from pairlearn.reproduce.report.statistics import Estimate

IMAGE = RESULTS.parents[1] / "docs" / "images" / "asking.png"
# Whose colour a method borrows; labels are dashed, since they are no answers.
COLOUR = {
    OURS: "CIPS",
    RANDOM: "SD",
    MARGIN: f"SV {SOLVER}",
    SVM: f"SLLC {SOLVER}",
    COBRAS: "OVPC",
    MINMAX: "MCL",
    NPU: "PairNet",
    EXPLORE: "grey",
}
LABEL = {
    OURS: "asking (ours)",
    RANDOM: "random pairs (ours)",
    MARGIN: "labels by margin",
    SVM: "random labels",
}
PEERS = [name for name, method in METHODS.items() if method.peer]


def panel(
    axes: Any,
    value: Callable[[str, int], Estimate],
    budgets: dict[str, Sequence[int]],
    *,
    least: bool,
) -> None:
    """Draw the methods that have budgets, and the best of the other tools."""
    top = max(SMALL_BUDGETS if not least else TABLE_BUDGETS)
    at_top = {peer: value(peer, top) for peer in PEERS}
    ran = [peer for peer in PEERS if at_top[peer].tested]
    choose = min if least else max
    best = [choose(ran, key=lambda peer: at_top[peer].mean)] if ran else []
    for method in [*budgets, *best]:
        x = budgets.get(method, budgets[OURS])
        values = [value(method, m) for m in x]
        curve(axes, x, values, COLOUR[method], LABEL.get(method, method))
    axes.set_xscale("log")
    # Without 500, which would touch its neighbour.
    ticks = sorted({m for x in budgets.values() for m in x} - {500})
    axes.set_xticks(ticks, [f"{m:,}" for m in ticks])
    axes.minorticks_off()


def draw(cells: Cells) -> None:
    """Write the curves to docs/images/asking.png, which README and guide show."""

    def figure() -> Any:
        figure = new_figure(PANELS[3], 3.9)
        left, middle, right = figure.subplots(1, 3)
        budgets = dict.fromkeys((OURS, MARGIN, SVM), TABLE_BUDGETS)
        budgets[RANDOM] = METHODS[RANDOM].budgets(TABLES[0])
        panel(left, lambda k, m: cells.over(k, TABLES, m, "error"), budgets, least=True)
        left.set(title="ten tables", ylabel="error in %, mean of ten", ylim=(0, None))
        small = dict.fromkeys((OURS, RANDOM), SMALL_BUDGETS)
        for axes, name, result, what in (
            (middle, CANCER, "accuracy", "accuracy on held-out points"),
            (right, DIGITS, "ari", "adjusted Rand index"),
        ):
            panel(
                axes,
                lambda k, m, name=name, result=result: cells.mean((k, name, m), result),
                small,
                least=False,
            )
            axes.set(title=name, ylabel=what)
        for axes in (left, middle, right):
            axes.set_xlabel("answers (or labels)")
        shared_legend(figure, [left, middle, right])
        return figure

    _, png = render(Picture("ask", figure, "", ""))
    IMAGE.write_bytes(png)
