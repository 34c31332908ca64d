"""How every figure looks, and how it becomes SVG and PNG."""

from __future__ import annotations

import io
import re
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.reproduce.report.paper import SOLVER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pairlearn.reproduce.report.blocks import Picture
    from pairlearn.reproduce.report.statistics import Estimate

__all__ = [
    "INK", "PANELS", "colour_of", "curve", "inline", "new_figure", "render",
    "shared_legend",
]  # fmt: skip

# A colour of text and axes that occurs nowhere else: on the page it becomes the
# colour of the page's text, so that figures are legible on a dark page too.
INK = "#1f2328"
GRID = "#8c959f"
_PIXELS = 1.42  # the largest size on the page, of a point of 1/72 inch

# Width in inches of a figure of so many panels side by side.
PANELS = {1: 4.4, 2: 7.4, 3: 10.4}

# Okabe and Ito's colours, told apart by colour-blind readers; the last is a network
# of ours, which has a line and a marker of its own besides.
COLOURS = {
    "CIPS": "#0072b2",
    "MCL": "#cc79a7",
    "SD": "#d55e00",
    "SV": "#009e73",
    "OVPC": "#e69f00",
    "SLLC": "#56b4e9",
    "PairNet": "#d41159",
}
RIGHT, WRONG = "#56b4e9", "#e69f00"
NETWORK = "PairNet"


@contextmanager
def _style() -> Iterator[None]:
    """Draw in the report's style, whatever the user's matplotlibrc says."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        path = str(files(__package__) / "figures.mplstyle")
        mpl.rcParams.update(mpl.rc_params_from_file(path, use_default_template=False))
        yield


def new_figure(width: float, height: float) -> Any:
    """Return a figure of its own, without pyplot: no window and no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def colour_of(method: str) -> str:
    """Return the colour that a method has in all figures."""
    return COLOURS.get(method.removesuffix(SOLVER).strip(), "#777777")


def _line_of(method: str) -> dict[str, str]:
    colour = colour_of(method)
    if SOLVER in method:
        return {"linestyle": "--", "marker": "s", "markerfacecolor": "none"}
    if method == NETWORK:
        return {"linestyle": "-.", "marker": "D", "markerfacecolor": colour}
    return {"linestyle": "-", "marker": "o", "markerfacecolor": colour}


def curve(
    axes: Any,
    x: Sequence[float],
    values: Sequence[Estimate],
    method: str,
    label: str | None = None,
) -> None:
    """Draw a method's means with a band of one standard error on both sides."""
    known = [(a, e) for a, e in zip(x, values, strict=True) if e.n]
    if not known:
        return
    colour = colour_of(method)
    place, means = [a for a, _ in known], np.array([e.mean for _, e in known])
    errors = np.array([e.error if e.tested else 0.0 for _, e in known])
    axes.plot(place, means, color=colour, label=label or method, **_line_of(method))
    low, high = means - errors, means + errors
    axes.fill_between(place, low, high, color=colour, alpha=0.2, linewidth=0)


def shared_legend(figure: Any, panels: Sequence[Any]) -> None:
    """Put one legend below all panels, each entry once."""
    found: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    figure.legend(
        list(found.values()), list(found), loc="outside lower center",
        ncols=min(len(found), 3 * len(panels)),
    )  # fmt: skip


def render(picture: Picture) -> tuple[str, bytes]:
    """Draw a figure as SVG and as PNG; the same figure gives the same bytes."""
    svg, png = io.StringIO(), io.BytesIO()
    with _style():
        figure = picture.draw()
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
        figure.savefig(png, format="png", dpi=160, metadata={"Software": None})
    return svg.getvalue(), png.getvalue()


def inline(picture: Picture, svg: str) -> str:
    """Return an SVG as an element of a page: own names, the page's colours."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\s(?:xmlns(?::xlink)?|version)="[^"]*"', "", svg)
    # Names must be unique on the page, and every figure has a figure_1.
    svg = re.sub(r'\bid="', f'id="{picture.name}-', svg)
    svg = svg.replace("url(#", f"url(#{picture.name}-")
    svg = svg.replace('xlink:href="#', f'href="#{picture.name}-')
    svg = svg.replace(INK, "currentColor").replace("fill: #ffffff", "fill: none")
    svg = re.sub(
        r'^<svg [^>]*?(viewBox="0 0 ([0-9.]+) [^"]*")[^>]*>',
        lambda m: f'<svg {m[1]} style="max-width: {_PIXELS * float(m[2]):.0f}px">',
        svg,
    )
    label = picture.alt.replace("&", "&amp;").replace('"', "&quot;")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1).strip()
