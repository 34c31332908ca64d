"""More than two kinds: how many, and how often a model contradicts answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.trust.intervals import clopper_pearson

if TYPE_CHECKING:
    from pairlearn.cli.summary import FitSummary
    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Floats

__all__ = ["AnswerError", "headline", "judge_several"]

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class AnswerError:
    """How often a model contradicts answers that it has not seen.

    This is an error of answers about pairs, not of points: a wrong answer counts, and
    two points that are both in a wrong group may be the same all the same.

    Attributes
    ----------
    n_wrong, n_pairs : int
        Answers that the model contradicts, and all that were kept aside.
    interval : tuple of float
        Exact interval (Clopper and Pearson) for the share of contradicted answers.
    confidence : float
        Its confidence.
    """

    n_wrong: int
    n_pairs: int
    interval: tuple[float, float]
    confidence: float = _CONFIDENCE

    def in_words(self) -> str:
        """Return the share of contradicted answers, and its interval.

        Examples
        --------
        >>> AnswerError(2, 80, (0.003, 0.087)).in_words()
        '2.5% (2 of 80), between 0.3% and 8.7% with 95% confidence'
        """
        low, high = self.interval
        return (
            f"{self.n_wrong / self.n_pairs:.1%} ({self.n_wrong} of {self.n_pairs}), "
            f"between {low:.1%} and {high:.1%} with {100 * self.confidence:g}% "
            "confidence"
        )


def judge_several(
    model: Any, pairs: Pairs, t: Floats, notes: list[str]
) -> AnswerError | None:
    """Judge a model of more than two kinds by pairs that it has not seen.

    This is the one place where `pairlearn fit` does so.

    Parameters
    ----------
    model : Pipeline
        The model.
    pairs : Pairs
        Pairs that share no point with the training, nor with each other.
    t : ndarray of shape (n_pairs,)
        Their answers; those that are not certain are left out.
    notes : list of str
        What to tell is added to these.

    Returns
    -------
    AnswerError or None
        None if there is no certain answer.
    """
    certain = np.flatnonzero(np.abs(t) == 1)
    if not len(certain):
        notes.append(
            "no pairs were kept aside, so it is not known how often the model "
            "contradicts answers; see --holdout"
        )
        return None
    if len(certain) < len(t):
        notes.append(
            f"{len(t) - len(certain)} pair(s) that were kept aside are unsure, and "
            "not counted"
        )
    kept = pairs[certain].compact()
    group = np.asarray(model.predict(kept.X))[kept.index]
    n_wrong = int(np.sum((group[:, 0] == group[:, 1]) != (t[certain] > 0)))
    interval = clopper_pearson(n_wrong, len(certain), _CONFIDENCE)
    return AnswerError(n_wrong, len(certain), interval)


def headline(summary: FitSummary) -> str | None:
    """Return how many kinds there are, if more than two."""
    n_kinds = len(summary.classes)
    if n_kinds == 2:
        return None
    if summary.kinds is None:
        return f"The model has {n_kinds} kinds, as you said."
    return f"The answers speak for {n_kinds} kinds, not for two."
