"""Reliability diagrams: of the points with P(+1) = 0.8, are 80 % of class +1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.report import RESULTS
from pairlearn.reproduce.report.blocks import Picture
from pairlearn.reproduce.report.figures import COLOURS, GRID, new_figure, render

if TYPE_CHECKING:
    import numpy as np

COLUMNS = 5


def panel(axes: Any, bins: np.ndarray) -> None:
    """Draw what was predicted and what was seen; the area of a dot is its share."""
    axes.plot([0, 1], [0, 1], color=GRID, linewidth=1, linestyle="--")
    counts, expected, observed = bins[:, bins[0] > 0]
    if len(counts):
        x, y = expected / counts, observed / counts
        axes.plot(x, y, color=COLOURS["CIPS"], linewidth=1.2, alpha=0.6)
        # Twelve square points at least, or bins of few points could not be seen.
        area = 12 + 140 * counts / counts.sum()
        axes.scatter(x, y, area, color=COLOURS["CIPS"], linewidth=0, zorder=3)
    else:
        axes.text(0.05, 0.85, "not run yet")
    axes.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), aspect="equal")
    axes.set(xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])


def draw(bins: dict[str, np.ndarray], m: int) -> None:
    """Write the diagrams of all data sets to results/reliability.png."""

    def figure() -> Any:
        figure = new_figure(10.4, 4.9)
        panels = figure.subplots(-(-len(bins) // COLUMNS), COLUMNS, squeeze=False)
        for axes, (name, found) in zip(panels.flat, bins.items(), strict=True):
            panel(axes, found)
            axes.set_title(name)
        figure.supxlabel(f"mean P(+1) of a bin, at m = {m:,} pairs", size=10)
        figure.supylabel("share of +1 seen", size=10)
        return figure

    _, png = render(Picture("reliability", figure, "", ""))
    (RESULTS / "reliability.png").write_bytes(png)
