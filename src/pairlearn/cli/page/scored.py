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
        Scores.
    group : ndarray of shape (n_points,)
        The class that each point is put into, 0 or 1.
    probability : ndarray of shape (n_points,) or None
        Probability of that class.
    """

    summary: FitSummary
    scores: Floats
    group: Ints
    probability: Floats | None

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
    group = (scores > 0).astype(np.intp)
    probability = None
    if hasattr(summary.model, "predict_proba"):
        each = np.asarray(summary.model.predict_proba(summary.points), dtype=float)
        probability = each[np.arange(len(each)), group]
    return ScoredPoints(summary, scores, group, probability)
