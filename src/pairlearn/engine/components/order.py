r"""In which order the points of a graph of answers are summed out.

A point with one neighbour is summed out into its neighbour; a point with two is summed
out into a new link between them. Both are exact. Points that are no neighbours of each
other go at the same time, in one *round*. Of a path of points with two neighbours each,
a random third goes in every round, so a chain of a million answers takes some thirty
rounds, and all rounds together handle each point once. What is left when no point has
fewer than three neighbours is the *kernel*; a tree leaves none.

The order depends on the graph alone, so it is found once for all evaluations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from pairlearn.data.types import Bools, Ints

__all__ = ["Leaves", "Merge", "Order", "Round", "Series", "find_order"]


class Leaves(NamedTuple):
    """Points with one neighbour: summed out into it.

    They are in the order of their neighbours; `begins` says where those of each of
    `targets` begin. A link is turned if its table has the leaf's classes in its rows.
    """

    point: Ints
    into: Ints
    link: Ints
    turned: Bools
    targets: Ints
    begins: Ints


class Series(NamedTuple):
    """Points with two neighbours: summed out into a new link between these.

    The first link is turned if its table has the point's classes in its rows, the
    second one if it has them in its columns.
    """

    point: Ints
    first: Ints
    first_turned: Bools
    second: Ints
    second_turned: Bools
    new: Ints


class Merge(NamedTuple):
    """Links between the same two points: multiplied into one.

    `old` holds their numbers one group after the other, `begins` where each begins.
    """

    old: Ints
    turned: Bools
    begins: Ints
    new: Ints


@dataclass(frozen=True)
class Round:
    """What happens at once: links are merged, then points are summed out."""

    merge: Merge
    leaves: Leaves
    series: Series


@dataclass(frozen=True)
class Order:
    """The rounds, and what they leave.

    Attributes
    ----------
    rounds : list of Round
        In their order.
    n_links : int
        Links in all: those that were given come first, then those that were made.
    ends : ndarray of shape (n_links, 2)
        Their two points; a link's table has the classes of the first in its rows.
    roots : ndarray
        Points without a neighbour in the end.
    kernel : ndarray
        Numbers of the links in the end.
    """

    rounds: list[Round]
    n_links: int
    ends: Ints
    roots: Ints
    kernel: Ints


class _Links:
    """The links that are left, and all that ever were."""

    def __init__(self, ends: Ints) -> None:
        self.ends = [np.asarray(ends, dtype=np.intp)]
        self.n = self.n_given = len(ends)
        self.number = np.arange(self.n)
        self.left, self.right = self.ends[0].T

    def keep(self, kept: Bools) -> None:
        self.number = self.number[kept]
        self.left, self.right = self.left[kept], self.right[kept]

    def add(self, left: Ints, right: Ints) -> Ints:
        made = np.arange(self.n, self.n + len(left))
        self.n += len(left)
        self.ends.append(np.stack([left, right], axis=1))
        self.number = np.concatenate([self.number, made])
        self.left = np.concatenate([self.left, left])
        self.right = np.concatenate([self.right, right])
        return made


def find_order(n_points: int, ends: Ints) -> Order:
    """Return the order for a graph.

    Parameters
    ----------
    n_points : int
        Number of points.
    ends : ndarray of shape (n_links, 2)
        The two points of each link; no two links have the same, and no link the same
        point twice. Their tables are symmetric: what counts is whether two classes are
        the same.

    Returns
    -------
    Order

    Examples
    --------
    A triangle: one point goes into a link between the others, which is merged with the
    one that was there; then there is one link, one leaf, and one root.

    >>> import numpy as np
    >>> order = find_order(3, np.array([[0, 1], [1, 2], [0, 2]]))
    >>> len(order.rounds), order.n_links, len(order.roots), len(order.kernel)
    (2, 5, 1, 0)
    """
    rng = np.random.RandomState(0)
    links, rounds = _Links(ends), []
    gone = np.zeros(n_points, dtype=bool)
    while True:
        merge = _merge(links)
        degree = np.bincount(links.left, minlength=n_points)
        degree += np.bincount(links.right, minlength=n_points)
        chosen = _chosen(links, degree, rng)
        if not chosen.any() and not len(merge.new):
            break
        leaves, series = _sum_out(links, degree, chosen)
        gone |= chosen
        rounds.append(Round(merge, leaves, series))
    return Order(
        rounds,
        links.n,
        np.concatenate(links.ends),
        np.flatnonzero((degree == 0) & ~gone),
        links.number,
    )


def _merge(links: _Links) -> Merge:
    """Join links between the same points; of the joined, the lower point is first."""
    low = np.minimum(links.left, links.right)
    high = np.maximum(links.left, links.right)
    key = low.astype(np.int64) * (int(high.max(initial=0)) + 1) + high
    order = np.argsort(key, kind="stable")
    begins = np.flatnonzero(np.append(True, np.diff(key[order]) != 0)[: len(key)])
    size = np.diff(np.append(begins, len(key)))
    several = np.repeat(size > 1, size)
    old = order[several]
    size = size[size > 1]
    starts = np.cumsum(size) - size
    number = links.number[old]
    turned = (links.left[old] != low[old]) & (number >= links.n_given)
    first = old[starts]
    kept = np.ones(len(key), dtype=bool)
    kept[old] = False
    low, high = low[first], high[first]
    links.keep(kept)
    return Merge(number, turned, starts, links.add(low, high))


def _chosen(links: _Links, degree: Ints, rng: np.random.RandomState) -> Bools:
    """Choose points with one or two neighbours, no two of them neighbours."""
    able = (degree == 1) | (degree == 2)
    # Leaves first: what hangs on a point goes before the point itself.
    rank = np.where(able, rng.permutation(len(degree)) + 1.0, 0.0)
    rank[degree == 1] += len(degree)
    left, right = links.left, links.right
    lower = np.where(rank[left] < rank[right], left, right)
    chosen: Bools = able.copy()
    chosen[lower[able[left] & able[right]]] = False
    return chosen


def _sum_out(links: _Links, degree: Ints, chosen: Bools) -> tuple[Leaves, Series]:
    """Take the chosen points and their links out, and put the new links in."""
    at_left, at_right = chosen[links.left], chosen[links.right]
    touched = np.flatnonzero(at_left | at_right)
    # A link is looked at from its neighbour: turned if the chosen point is first.
    turned = at_left[touched]
    point = np.where(turned, links.left[touched], links.right[touched])
    other = np.where(turned, links.right[touched], links.left[touched])
    number = links.number[touched]
    order = np.argsort(point, kind="stable")
    point, other, number, turned = (
        point[order],
        other[order],
        number[order],
        turned[order],
    )
    # The tables of given links look the same from both ends.
    made_before = number >= links.n_given
    away = ~turned & made_before
    turned &= made_before
    one = degree[point] == 1
    hung = np.flatnonzero(one)
    hung = hung[np.argsort(other[hung], kind="stable")]
    targets, begins = np.unique(other[hung], return_index=True)
    leaves = Leaves(
        point[hung], other[hung], number[hung], turned[hung], targets, begins
    )
    # The two links of a point with two neighbours follow each other.
    first = np.flatnonzero(~one)[0::2]
    second = np.flatnonzero(~one)[1::2]
    kept = np.ones(len(links.number), dtype=bool)
    kept[touched] = False
    links.keep(kept)
    made = links.add(other[first], other[second])
    series = Series(
        point[first], number[first], turned[first], number[second], away[second], made
    )
    return leaves, series
