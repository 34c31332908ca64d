"""What the model says of the points that it was trained with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.cli.page.markup import Html, text

if TYPE_CHECKING:
    from pairlearn.cli.summary import FitSummary
    from pairlearn.data.types import Floats, Ints

__all__ = ["DOUBTFUL", "ScoredPoints", "score_points"]

# From here on an answer is likelier wrong than right.
DOUBTFUL = 0.5


@dataclass(frozen=True)
class ScoredPoints:
    """A summary, and what its model says of the points.

    Attributes
    ----------
    summary : FitSummary
        The summary.
    scores : ndarray of shape (n_points,)
        Scores; of more than two classes, how far the largest is above the next.
    group : ndarray of shape (n_points,)
        The class that each point is put into, 0 or 1, or more.
    probability : ndarray of shape (n_points,) or None
        Probability of that class.
    second : ndarray of shape (n_points,) or None
        Of more than two classes, the next likely one.
    second_probability : ndarray of shape (n_points,) or None
        Its probability.
    """

    summary: FitSummary
    scores: Floats
    group: Ints
    probability: Floats | None
    second: Ints | None = None
    second_probability: Floats | None = None

    @property
    def names(self) -> dict[str, Html]:
        """The names of the first and the second class, for use in a sentence."""
        return {
            place: Html(f"<em>{text(name, most=40)}</em>")
            for place, name in zip(
                ("first", "second"), self.summary.classes, strict=True
            )
        }


def score_points(summary: FitSummary) -> ScoredPoints:
    """Ask the model about the points."""
    scores = np.asarray(summary.model.decision_function(summary.points), dtype=float)
    second = probability = second_probability = None
    rows = np.arange(len(scores))
    if scores.ndim == 2:
        group = scores.argmax(axis=1)
        others = scores.copy()
        others[rows, group] = -np.inf
        second = others.argmax(axis=1)
        scores = scores[rows, group] - scores[rows, second]
    else:
        group = (scores > 0).astype(np.intp)
    if hasattr(summary.model, "predict_proba"):
        each = np.asarray(summary.model.predict_proba(summary.points), dtype=float)
        probability = each[rows, group]
        if second is not None:
            second_probability = each[rows, second]
    return ScoredPoints(summary, scores, group, probability, second, second_probability)
