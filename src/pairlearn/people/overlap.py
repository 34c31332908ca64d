"""Which answers may be compared with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from pairlearn.data.types import Bools, Ints
    from pairlearn.people.given import Given

__all__ = ["Overlap", "overlap_of"]


class Overlap(NamedTuple):
    """Sure answers about pairs that two people or more have answered.

    Attributes
    ----------
    pair, who, said : ndarray of int
        Pair (from 0), person and answer (1 or -1), each person once per pair.
    counts : ndarray of shape (n_pairs, 2)
        How many people call each pair the same, and how many different.
    """

    pair: Ints
    who: Ints
    said: Ints
    counts: Ints


def overlap_of(given: Given, random: Bools | None) -> Overlap:
    """Return the answers to compare: of all repeats, or of the random ones alone.

    Of a pair that was drawn at random, its first answer and the random ones count. An
    opinion that was asked for because others were in doubt is left out: such pairs are
    harder than others. Of a person who answered a pair twice, the first answer counts.
    """
    sure = (given.said != 0) & (given.who >= 0)
    rows = given.order[sure[given.order]]
    if random is not None:
        first = np.zeros(len(rows), dtype=bool)
        first[np.unique(given.pair[rows], return_index=True)[1]] = True
        rows = rows[first | random[rows]]
    key = given.pair[rows] * max(len(given.names), 1) + given.who[rows]
    rows = rows[np.sort(np.unique(key, return_index=True)[1])]
    n_people = np.bincount(given.pair[rows], minlength=1)
    rows = rows[n_people[given.pair[rows]] > 1]
    pair = np.unique(given.pair[rows], return_inverse=True)[1].ravel()
    said = given.said[rows]
    n_pairs = int(pair.max(initial=-1)) + 1
    same = np.bincount(pair[said > 0], minlength=n_pairs)
    counts = np.stack([same, np.bincount(pair, minlength=n_pairs) - same], axis=1)
    return Overlap(pair, given.who[rows], said, counts)
