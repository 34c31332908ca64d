"""The points of a table that are in no pair, which `pairlearn fit` may look at.

With ``--unlabeled`` all are, and with ``--no-unlabeled`` none. If nobody said which,
half of them are where there is free text: texts show which words go together, whether
anybody was asked about them or not, and that is worth many answers. The other half is
left for answers that test the model later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pairlearn.models.auto.classifier import MOST_UNLABELED

if TYPE_CHECKING:
    from numpy.random import RandomState

    from pairlearn.data.types import Ints
    from pairlearn.files.tables.answered_pairs import AnsweredPairs

__all__ = ["find_other_points"]


def find_other_points(
    answered: AnsweredPairs, kept: Ints, rng: RandomState, wished: bool | None
) -> Ints:
    """Return the numbers of points in no pair, and note that the model sees them.

    Pairs kept aside are to be of points that the model has not seen. So no point in
    one of their groups is used either.

    Parameters
    ----------
    answered : AnsweredPairs
        The tables.
    kept : ndarray
        The pairs kept aside for the certificate, unsure ones numbered last.
    rng : RandomState
        Draws some of very many points.
    wished : bool or None
        Whether somebody said that they are to be used, or not.

    Returns
    -------
    ndarray
        Ascending.
    """
    texts = any(column.kind == "text" for column in answered.points.columns)
    if wished is False or not (wished or texts):
        return np.arange(0)
    pairs, groups = answered.with_unsure[0], answered.points.groups
    free = np.ones(pairs.n_points, dtype=bool)
    free[pairs.used_points()] = False
    free &= ~np.isin(groups, groups[pairs.index[kept]])
    if answered.audits is not None:
        audited = answered.audits.with_unsure[0].index
        free &= ~np.isin(groups, groups[audited])
    others = np.flatnonzero(free)
    if not len(others):
        if wished:
            answered.notes.append("all points are in pairs, or kept aside: --unlabeled "
                                  "has nothing to use")  # fmt: skip
        return others
    most = MOST_UNLABELED if wished else min(MOST_UNLABELED, -(-len(others) // 2))
    drawn = np.sort(rng.permutation(others)[:most])
    told = f"the model has seen {len(drawn)} point(s) in no pair, without answers"
    if not wished:
        told = (
            f"the texts of {len(drawn)} of {len(others)} point(s) in no pair show "
            "which words go together (--no-unlabeled leaves them out)"
        )
    answered.notes.append(
        f"{told}; so later answers about these points cannot test the model"
    )
    return drawn
