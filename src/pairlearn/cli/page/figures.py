"""The figures of the page, as SVG in the colours of the page.

No text of a user is in them: names stand in the HTML around.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.cli.page.markup import fill, join

if TYPE_CHECKING:
    from pairlearn.cli.page.markup import Html
    from pairlearn.data.types import Floats

__all__ = ["error_figure", "purity_figure", "score_figure"]

# As in page.html, where the lines are that never move.
WIDTH = 640
MARGIN = 44
TOP, FLOOR = 16, 190
BINS = 20  # on either side of the boundary


def error_figure(
    error: float, interval: tuple[float, float], most: float = 0.5
) -> Html:
    """Draw the error and its interval on a scale from 0 to what it is at most."""
    low, high = interval
    # A scale up to the end would hide a narrow interval near 0.
    end = next(e for e in (0.05, 0.1, 0.2, 0.5, 1.0) if high <= 0.9 * e or e == most)

    def place(error: float) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * error / end

    x, left, right = place(error), place(low), place(high)
    ticks = [end * k / 5 for k in range(6)]
    shown = {"error": error, "low": low, "high": high}
    parts = fill(
        "error",
        ticks=join(fill("error tick", x=place(e), share=100 * e) for e in ticks),
        x=x,
        left=left,
        right=right,
        width=max(right - left, 2),
        middle=min(max((left + right) / 2, MARGIN + 60), WIDTH - MARGIN - 60),
        **shown,
    )
    label = fill("error label", end=100 * end, **shown)
    return fill("drawing", height=108, label=label, parts=parts)


def purity_figure(purity: float, interval: tuple[float, float]) -> Html:
    """Draw the purity of a group and its interval, small enough for a table."""
    low, high = interval
    left, right = (6 + 188 * end for end in interval)
    known = not math.isnan(purity)
    return fill(
        "purity",
        label=fill(
            "purity label" if known else "purity unknown",
            purity=purity,
            low=low,
            high=high,
        ),
        left=left,
        right=right,
        width=max(right - left, 1),
        dot=fill("purity dot", x=6 + 188 * purity) if known else "",
    )


def score_figure(scores: Floats) -> Html:
    """Draw how many points have which score, the two sides in two colours."""
    # A few extreme scores would squeeze the rest, so the outermost 1 % pile up.
    reach = float(np.quantile(np.abs(scores), 0.99)) or 1.0
    # The boundary is an edge of bins, so that no bar is of both colours. A score of 0
    # belongs to the first class, as sign(0) = -1.
    away = np.clip(np.ceil(np.abs(scores) / reach * BINS), 1, BINS).astype(int)
    place = np.where(scores > 0, BINS - 1 + away, BINS - away)
    counts = np.bincount(place, minlength=2 * BINS)
    most = _round_up(int(counts.max()))
    step = (WIDTH - 2 * MARGIN) / (2 * BINS)

    def bar(k: int, n: int) -> Html:
        height = (FLOOR - TOP) * n / most
        x, y = MARGIN + k * step + 0.5, FLOOR - height
        side = int(k >= BINS)
        return fill("score bar", side=side, x=x, y=y, width=step - 1, height=height)

    def level(n: int) -> Html:
        y = FLOOR - (FLOOR - TOP) * n / most
        return fill("score level", y=y, below=y + 4, n=n)

    def tick(k: int) -> Html:
        score = _plain(reach * (k / BINS - 1))
        return fill("score tick", x=MARGIN + k * step, score=score)

    parts = fill(
        "score",
        levels=join(map(level, sorted({0, most // 2, most} if most > 1 else {0, 1}))),
        bars=join(bar(k, n) for k, n in enumerate(counts.tolist()) if n),
        ticks=join(map(tick, (0, BINS // 2, BINS, 3 * BINS // 2, 2 * BINS))),
    )
    n_points, n_first = len(scores), int(counts[:BINS].sum())
    n_second = n_points - n_first
    label = fill("score label", n_points=n_points, n_first=n_first, n_second=n_second)
    return fill("drawing", height=FLOOR + 44, label=label, parts=parts)


def _round_up(count: int) -> int:
    """Return the next number of one leading digit, or 1.5 or 2.5 of a power of ten."""
    power = 10 ** max(0, math.floor(math.log10(max(count, 1))))
    steps = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    return next(int(s * power) for s in steps if int(s * power) >= count)


def _plain(value: float) -> str:
    """Return a number for an axis, short and with a proper minus sign."""
    shown = f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}"
    return shown.replace("-", "−")
