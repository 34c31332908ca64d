r"""The average of a model that neighbours help, and of one that chooses among kernels.

With some dozens of answers, :class:`~pairlearn.models.pool.PoolClassifier` and
:class:`~pairlearn.PairClassifier` err in different places, and the mean of their
probabilities is better than either. Both are averages of models on features, so the
mean is one, too: the members of both, with a part of their shares. A model with one
score f for two classes has the same probabilities as one with the scores -f / 2 and
f / 2. The calibration is a geometric mean with the same weights: a log-odds times a
slope plus a bias, where that of `PoolClassifier` is one and zero.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.models.auto.ensemble import Ensemble
from pairlearn.models.auto.stack import Calibration

if TYPE_CHECKING:
    from pairlearn.data.types import PointsLike
    from pairlearn.models.auto import PairClassifier
    from pairlearn.models.auto.ensemble import Member
    from pairlearn.models.pool.classifier import PoolClassifier

__all__ = ["average_with"]


def average_with(
    model: PoolClassifier, other: PairClassifier, points: PointsLike, share: float
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
    share : float
        Weight of the first one, between 0 and 1.
    """
    here, there = (each.predict_proba(points)[:, 1] - 0.5 for each in (model, other))
    # The classes of an ensemble may stand in another order than those of the model.
    sign = -1.0 if (here @ there < 0) ^ (model._order[0] != other._order[0]) else 1.0
    mine, others = model._ensemble, other._ensemble
    rest = 1 - share
    turn = slice(None) if sign > 0 else slice(None, None, -1)
    shares = share * mine.constant_share, rest * others.constant_share
    both = shares[0] * mine.constant + shares[1] * others.constant[turn]
    total = sum(shares)
    slope, bias = others.calibration.slope, others.calibration.bias[turn]
    model._ensemble = Ensemble(
        [replace(member, shares=share * member.shares) for member in mine.members]
        + [
            replace(_of_two_scores(member, sign), shares=rest * member.shares)
            for member in others.members
        ],
        total,
        both / total if total else mine.constant,
        Calibration(
            mine.calibration.slope**share * slope**rest,
            share * mine.calibration.bias + rest * bias,
        ),
    )


def _of_two_scores(member: Member, sign: float) -> Member:
    """Return a member with a score for each class."""
    weights = np.concatenate([-sign * member.weights, sign * member.weights], axis=1)
    return replace(member, weights=weights / 2)
