"""Time and peak memory against n, m and d."""

from __future__ import annotations

from typing import Any

from matplotlib.ticker import LogLocator

from benchmarks.scale.growth import AXES, LEAST, OURS, slopes
from benchmarks.scale.rivals import SGD, SUPERVISED
from pairlearn.reproduce.report.blocks import Picture
from pairlearn.reproduce.report.figures import new_figure, render

COLOURS = {
    OURS: "#0072b2",
    SUPERVISED: "#009e73",
    SGD: "#d55e00",
    "ITML": "#cc79a7",
    "MMC": "#e69f00",
    "COPKMeans": "#56b4e9",
    "MPCKMeans": "#777777",
}
QUANTITIES = {"seconds": ("time of a fit, s", 1.0), "bytes": ("peak memory, MB", 1e6)}


def short(value: float) -> str:
    """Write 20000 as 20k."""
    return f"{value / 1e3:g}k" if value >= 1e4 else f"{value:g}"


def panel(axes: Any, methods: dict[str, Any], key: str, unit: float) -> None:
    """Draw all methods of one axis, with their exponents in the legend."""
    for name, found in methods.items():
        seen = [row for row in found if row[key] >= LEAST[key]]
        if not seen:
            continue
        slope = slopes(found, key)
        axes.loglog(
            [row["size"] for row in seen],
            [row[key] / unit for row in seen],
            color=COLOURS[name],
            marker="o",
            linewidth=2.4 if name == OURS else 1.5,
            zorder=3 if name == OURS else 2,
            # A slope that is not a number has too few sizes.
            label=name if slope != slope else f"{name}: {slope:.2f}",
        )
    axes.minorticks_off()
    for one in (axes.xaxis, axes.yaxis):
        low, high = one.get_view_interval()
        if high < 200 * low:
            one.set_major_locator(LogLocator(subs=(1, 2, 5)))
            one.set_major_formatter(lambda value, _: short(value))
    if len(methods) > 3:
        # Too many to lie between the curves.
        axes.legend(title="exponent", loc="upper left", bbox_to_anchor=(1, 1))
    else:
        axes.legend(title="exponent", loc="upper left")


def png(record: dict[str, Any]) -> bytes:
    """Draw what the part `growth` has measured."""

    def figure() -> Any:
        figure = new_figure(18.0, 7.2)
        # Rivals are many in m: their legend stands beside the curves.
        widths = [1.35 if axis == "m" else 1 for axis in record]
        rows = figure.subplots(
            len(QUANTITIES), len(record), sharex="col", width_ratios=widths
        )
        for row, (key, (title, unit)) in zip(rows, QUANTITIES.items(), strict=True):
            for axes, methods in zip(row, record.values(), strict=True):
                panel(axes, methods, key, unit)
                axes.set_ylabel(title)
        for axes, axis in zip(rows[0], record, strict=True):
            axes.set_title(axis)
        for axes, axis in zip(rows[-1], record, strict=True):
            axes.set_xlabel(f"{axis[0]}: {AXES[axis]}")
        return figure

    return render(Picture("scale", figure, "", ""))[1]
