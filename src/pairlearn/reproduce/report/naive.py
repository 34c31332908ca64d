"""The figure of the naive rule: where it is right, by formula and by simulation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.reproduce.assignment import NAIVE
from pairlearn.reproduce.experiment import Options
from pairlearn.reproduce.report.blocks import Check, Picture, Text
from pairlearn.reproduce.report.figures import INK, RIGHT, WRONG, new_figure
from pairlearn.reproduce.report.paper import section
from pairlearn.reproduce.report.progress import NO_FAILURES, Claim
from pairlearn.reproduce.report.words import say
from pairlearn.trust.theory import naive_assignment_is_right

if TYPE_CHECKING:
    import pandas as pd

    from pairlearn.reproduce.report.blocks import Section
    from pairlearn.reproduce.report.progress import Failed

__all__ = ["build"]

NAME = "fig-naive-assignment"
BORDER = 0.05
PRIORS = (0.7, 0.3)
_PLACE = ("prior", "false_negative", "false_positive")

Place = tuple[float, ...]


def build(frame: pd.DataFrame, _: Failed = NO_FAILURES) -> Section:
    """Return the section of the naive rule."""
    return section(
        NAME,
        Text(say(NAME, "intro")),
        _picture(frame) if len(frame) else None,
        _check(frame),
    )


def _picture(frame: pd.DataFrame) -> Picture:
    return Picture(
        "naive-assignment",
        lambda: _draw(frame),
        caption=say(NAME, "caption"),
        alt="Areas in which the naive rule is right and wrong, for two priors",
    )


def _draw(frame: pd.DataFrame) -> Any:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    priors = [p for p in PRIORS if p in set(frame["prior"])] or list(PRIORS)
    figure = new_figure(8.4, 4.8)
    panels = np.atleast_1d(figure.subplots(1, len(priors), width_ratios=priors))
    for axes, prior in zip(panels, priors, strict=True):
        _areas(axes, prior)
        here = frame[frame["prior"] == prior]
        for flag, marker in ((True, "o"), (False, "x")):
            dots = here[here["right"].astype(bool) == flag]
            axes.plot(
                dots["false_negative"], dots["false_positive"], linestyle="none",
                marker=marker, markersize=2.6, color=INK, markeredgewidth=0.8,
            )  # fmt: skip
        axes.set_title(f"prior {prior}, {'above' if prior > 0.5 else 'below'} 1/2")
        axes.set_xlabel("R+: positives missed")
        axes.set_ylabel("R−: negatives missed")
        axes.set_aspect("equal")
        axes.grid(visible=False)
    dot: dict[str, Any] = {"color": INK, "linestyle": "none", "markersize": 4}
    figure.legend(
        handles=[
            Patch(color=RIGHT, alpha=0.55, label="right by formula"),
            Patch(color=WRONG, alpha=0.55, label="wrong by formula"),
            Line2D([], [], marker="o", label="right in the simulation", **dot),
            Line2D([], [], marker="x", label="wrong in the simulation", **dot),
        ],
        loc="outside lower center",
        ncols=4,
    )
    return figure


def _areas(axes: Any, prior: float) -> None:
    # Two lines cross; the rule is right between them, or outside, as the prior says.
    plus = np.unique([*np.linspace(0, prior, 141), prior / 2])
    lines = np.clip([plus + 0.5 - prior, 0.5 - plus], 0, 1 - prior)
    between, outside = (RIGHT, WRONG) if prior > 0.5 else (WRONG, RIGHT)
    low, high = lines.min(axis=0), lines.max(axis=0)
    for bottom, top, colour in (
        (0, low, outside), (low, high, between), (high, 1 - prior, outside)
    ):  # fmt: skip
        axes.fill_between(plus, bottom, top, color=colour, alpha=0.55, linewidth=0)
    axes.set_xlim(0, prior)
    axes.set_ylim(0, 1 - prior)


def _check(frame: pd.DataFrame) -> Check:
    grid = _grid()
    border = BORDER
    n_points = float(frame["points" if "points" in frame else "m"].min())
    if n_points > 0:
        # Three standard deviations of a mean of signs.
        border = max(border, 3 / math.sqrt(n_points))
    claim = Claim(NAME, "formula", len(grid), border=f"{border:.3g}")
    if not len(frame):
        return Check(claim.text, claim.tested, "not run yet", "0 points")
    n_known = n_same = 0
    exceptions = []
    for prior, group in frame.groupby("prior"):
        plus = np.minimum(group["false_negative"].to_numpy(float), prior)
        minus = np.minimum(group["false_positive"].to_numpy(float), 1 - prior)
        far = np.abs(-2 * plus + 2 * minus + 2 * prior - 1) >= border
        far &= np.abs(1 - 2 * plus - 2 * minus) >= border
        right = group["right"].to_numpy(bool)
        same = right == naive_assignment_is_right(float(prior), plus, minus)
        n_known += int(far.sum())
        n_same += int((far & same).sum())
        exceptions += [
            f"prior {prior:g}, R+ = {plus[i]:.3f}, R− = {minus[i]:.3f}: "
            f"{'right' if right[i] else 'wrong'} in the simulation"
            for i in np.flatnonzero(far & ~same)
        ]
    if check := claim.undecided(n_known, started=True):
        return check
    return claim.check(
        f"{n_same} of {n_known} points agree; {len(frame) - n_known} more are close to "
        "a border",
        exceptions,
        refuted=n_same < 0.99 * n_known,
        n_run=len(grid),
        missing=[_missing(frame, grid)],
    )


def _grid() -> set[Place]:
    """Return the points of the full run."""
    trials = NAIVE.trials(Options())
    return {tuple(float(t.settings[name]) for name in _PLACE) for t in trials}


def _missing(frame: pd.DataFrame, grid: set[Place]) -> str:
    there = {tuple(map(float, row)) for row in frame[list(_PLACE)].to_numpy()}
    if grid <= there:
        return ""
    others = len(there - grid)
    return (
        f"{len(there & grid)} of the {len(grid)} points of the full grid have been run"
        + (f", and {others} others" if others else "")
    )
