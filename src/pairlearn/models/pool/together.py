r"""The average of a model that neighbours help, and of one that chooses among kernels.

With a dozen answers or two, :class:`~pairlearn.models.pool.PoolClassifier` and
:class:`~pairlearn.PairClassifier` err in different places, and the mean of their
probabilities is better than either. Both are averages of models on features, so the
mean is one, too: the members of both, with half of their shares. A model with one score
f for two classes has the same probabilities as one with the scores -f / 2 and f / 2.
The calibration of `PairClassifier`, which few answers tell little about, is left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.models.auto.ensemble import Ensemble

if TYPE_CHECKING:
    from pairlearn.data.types import PointsLike
    from pairlearn.models.auto import PairClassifier
    from pairlearn.models.auto.ensemble import Member
    from pairlearn.models.pool.classifier import PoolClassifier

__all__ = ["average_with"]


def average_with(
    model: PoolClassifier, other: PairClassifier, points: PointsLike
) -> None:
    """Let a model of two classes say the mean of what it and another one say.

    Parameters
    ----------
    model : PoolClassifier
        Fitted; it is changed.
    other : PairClassifier
        Fitted to the same answers. Its classes get the names of the first one's.
    points : array-like, sparse or data frame
        Points by which they are matched.
    """
    here, there = (each.predict_proba(points)[:, 1] - 0.5 for each in (model, other))
    # The classes of an ensemble may stand in another order than those of the model.
    sign = -1.0 if (here @ there < 0) ^ (model._order[0] != other._order[0]) else 1.0
    mine, others = model._ensemble, other._ensemble
    constant = others.constant if sign > 0 else others.constant[::-1]
    shares = mine.constant_share / 2, others.constant_share / 2
    both = shares[0] * mine.constant + shares[1] * constant
    total = sum(shares)
    model._ensemble = Ensemble(
        [replace(member, shares=member.shares / 2) for member in mine.members]
        + [_of_two_scores(member, sign) for member in others.members],
        total,
        both / total if total else mine.constant,
        mine.calibration,
    )


def _of_two_scores(member: Member, sign: float) -> Member:
    """Return a member with a score for each class, and half of its share."""
    weights = np.concatenate([-sign * member.weights, sign * member.weights], axis=1)
    return replace(member, weights=weights / 2, shares=member.shares / 2)
