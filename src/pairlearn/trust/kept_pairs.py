"""Pairs to keep aside for a certificate."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.data.graph import disjoint_pairs

if TYPE_CHECKING:
    from numpy.random import RandomState

    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Bools, Floats, Ints

__all__ = ["LEAST_KEPT", "keep_aside"]

# Fewer pairs kept aside say next to nothing.
LEAST_KEPT = 20
# Pairs that may be lost to training, as a multiple of those to be kept.
_MOST_LOST = 1.5


def keep_aside(
    pairs: Pairs,
    t: Floats,
    size: float,
    rng: RandomState,
    group: Ints | None = None,
    *,
    usable: Bools | None = None,
    least: int = LEAST_KEPT,
) -> tuple[Ints, Ints]:
    """Divide pairs into those to train on and those to keep for the certificate.

    No point of a kept pair is in a training pair or in another kept pair, so pairs
    that share a point with a kept one are used for neither. Pairs whose points occur
    in few others are kept first, since they cost least; for random pairs that is as
    good as any choice. Groups are kept in random order: how many rows a thing has may
    have to do with what it is. Fewer are kept where as many would cost training too
    much, and none where these are too few.

    Parameters
    ----------
    pairs : Pairs
        The pairs.
    t : ndarray of shape (n_pairs,)
        Their answers.
    size : float or int
        The share to keep, or their number; 0: none.
    rng : RandomState
        Seed.
    group : ndarray of shape (n_points,), optional
        A number for each point; points with the same number are one.
    usable : ndarray of bool of shape (n_pairs,), optional
        Which pairs may be kept. None: all.
    least : int, default=20
        The fewest pairs to keep, unless none.

    Returns
    -------
    trained, kept : ndarray
        Pair numbers.
    """
    n_pairs, n_points = len(pairs), pairs.n_points
    index = pairs.index if group is None else group[pairs.index]
    everything, nothing = np.arange(n_pairs), np.arange(0)
    wanted = size if isinstance(size, numbers.Integral) else size * n_pairs
    if not wanted >= least:
        return everything, nothing
    order = rng.permutation(n_pairs)
    if group is None:
        degree = np.bincount(index.ravel(), minlength=n_points)
        order = np.lexsort((order, degree[index].sum(axis=1)))
    place = np.empty(n_pairs, dtype=np.intp)
    place[order] = np.arange(n_pairs)
    if usable is not None:
        order = order[usable[order]]
    chosen = disjoint_pairs(n_points, index, order)
    chosen = chosen[np.argsort(place[chosen])][: round(wanted)]
    # With which kept pair, in their order, each pair is lost to training.
    step = np.full(n_points, len(chosen))
    step[index[chosen]] = np.arange(len(chosen))[:, None]
    lost_with = step[index].min(axis=1)
    lost = np.cumsum(np.bincount(lost_with, minlength=len(chosen))[: len(chosen)])
    n_kept = int(np.sum(lost <= _MOST_LOST * wanted))
    kept, trained = np.sort(chosen[:n_kept]), np.flatnonzero(lost_with >= n_kept)
    both_kinds = np.any(t[trained] > 0) and np.any(t[trained] < 0)
    if len(kept) < least or not both_kinds:
        return everything, nothing
    return trained, kept
