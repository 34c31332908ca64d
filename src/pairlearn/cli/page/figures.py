"""The figures of the page, as SVG in the colours of the page.

No text of a user is in them: names stand in the HTML around.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.cli.page.markup import Html

if TYPE_CHECKING:
    from pairlearn.data.types import Floats
    from pairlearn.trust.certificate import Certificate

__all__ = ["certificate_figure", "score_figure"]

WIDTH = 640
MARGIN = 44
BINS = 20  # on either side of the boundary


def certificate_figure(certificate: Certificate) -> Html:
    """Draw the error and its interval on a scale from 0 to 50 %, which is guessing."""
    low, high = certificate.clustering_interval
    # A scale up to 50 % would hide a narrow interval near 0.
    end = next(e for e in (0.05, 0.1, 0.2, 0.5) if high <= 0.9 * e or e == 0.5)

    def place(error: float) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * error / end

    x, left, right = (place(e) for e in (certificate.clustering_error, low, high))
    ticks = [end * k / 5 for k in range(6)]
    marks = "".join(
        f'<line class="grid" x1="{place(e):.1f}" x2="{place(e):.1f}" y1="34" y2="84"/>'
        f'<text class="tick" x="{place(e):.1f}" y="102">{100 * e:g}%</text>'
        for e in ticks
    )
    guess = (
        f'<text class="tick end" x="{place(0.5) + MARGIN:.1f}" y="120">guessing</text>'
        if end == 0.5
        else ""
    )
    middle = min(max((left + right) / 2, MARGIN + 60), WIDTH - MARGIN - 60)
    return _svg(
        124,
        f"The error is {certificate.clustering_error:.1%}, between {low:.1%} and "
        f"{high:.1%}, on a scale from 0 to {100 * end:g}%.",
        marks,
        guess,
        f'<rect class="band" x="{left:.1f}" y="46" '
        f'width="{max(right - left, 2):.1f}" height="26" rx="6"/>',
        f'<line class="ends" x1="{left:.1f}" x2="{left:.1f}" y1="42" y2="76"/>',
        f'<line class="ends" x1="{right:.1f}" x2="{right:.1f}" y1="42" y2="76"/>',
        f'<circle class="dot" cx="{x:.1f}" cy="59" r="7"/>',
        f'<text class="value" x="{middle:.1f}" y="22">'
        f"{low:.1%} … {certificate.clustering_error:.1%} … {high:.1%}</text>",
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
    floor, top = 190, 16
    step = (WIDTH - 2 * MARGIN) / (2 * BINS)
    bars = "".join(
        f'<rect class="side{int(k >= BINS)}" x="{MARGIN + k * step + 0.5:.1f}" '
        f'y="{floor - (floor - top) * n / most:.1f}" width="{step - 1:.1f}" '
        f'height="{(floor - top) * n / most:.1f}"/>'
        for k, n in enumerate(counts.tolist())
        if n
    )
    levels = "".join(
        f'<line class="grid" x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{y:.1f}" '
        f'y2="{y:.1f}"/><text class="tick end" x="{MARGIN - 6}" y="{y + 4:.1f}">'
        f"{n:,}</text>"
        for n, y in (
            (n, floor - (floor - top) * n / most)
            for n in sorted({0, most // 2, most} if most > 1 else {0, 1})
        )
    )
    ticks = "".join(
        f'<text class="tick" x="{MARGIN + k * step:.1f}" y="{floor + 18}">'
        f"{_plain(reach * (k / BINS - 1))}</text>"
        for k in (0, BINS // 2, BINS, 3 * BINS // 2, 2 * BINS)
    )
    middle = WIDTH / 2
    n_first = int(counts[:BINS].sum())
    return _svg(
        floor + 44,
        f"Histogram of the scores of {len(scores):,} points: {n_first:,} on the side "
        f"of the first class, {len(scores) - n_first:,} on that of the second.",
        levels,
        bars,
        f'<line class="boundary" x1="{middle}" x2="{middle}" y1="{top - 8}" '
        f'y2="{floor}"/>',
        ticks,
        f'<text class="tick" x="{middle}" y="{floor + 38}">score f(x)</text>',
    )


def _svg(height: int, label: str, *parts: str) -> Html:
    return Html(
        f'<div class="drawing"><svg viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{label}">{"".join(parts)}</svg></div>'
    )


def _round_up(count: int) -> int:
    """Return the next number of one leading digit, or 1.5 or 2.5 of a power of ten."""
    power = 10 ** max(0, math.floor(math.log10(max(count, 1))))
    steps = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    return next(int(s * power) for s in steps if int(s * power) >= count)


def _plain(value: float) -> str:
    """Return a number for an axis, short and with a proper minus sign."""
    shown = f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}"
    return shown.replace("-", "−")
