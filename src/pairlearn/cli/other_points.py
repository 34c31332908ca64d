"""The points of a table that are in no pair, for `pairlearn fit --unlabeled`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pairlearn.models.auto.classifier import MOST_UNLABELED

if TYPE_CHECKING:
    from numpy.random import RandomState

    from pairlearn.data.types import Ints
    from pairlearn.files.tables.answered_pairs import AnsweredPairs

__all__ = ["find_other_points"]


def find_other_points(answered: AnsweredPairs, kept: Ints, rng: RandomState) -> Ints:
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

    Returns
    -------
    ndarray
        Ascending.
    """
    pairs, groups = answered.with_unsure[0], answered.points.groups
    free = np.ones(pairs.n_points, dtype=bool)
    free[pairs.used_points()] = False
    free &= ~np.isin(groups, groups[pairs.index[kept]])
    if answered.audits is not None:
        audited = answered.audits.with_unsure[0].index
        free &= ~np.isin(groups, groups[audited])
    others = np.flatnonzero(free)
    if not len(others):
        answered.notes.append("all points are in pairs, or kept aside: --unlabeled has "
                              "nothing to use")  # fmt: skip
        return others
    others = np.sort(rng.permutation(others)[:MOST_UNLABELED])
    answered.notes.append(
        f"the model has seen {len(others)} point(s) in no pair, without answers; so "
        "later answers about these points cannot test it"
    )
    return others
