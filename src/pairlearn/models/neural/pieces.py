r"""Batches and held-out pairs that keep answers together that share points.

Answers are the links of a graph, and points that answers connect are a component of it.
The likelihood of a component has no parts that could be drawn one by one, so a batch is
made of whole components; one with more pairs than a batch is cut into connected pieces.
The likelihood of a piece,

.. math:: Z_P = \sum_c \prod_{i \in P} p_i(c_i) \prod_{k \in P} \psi_k ,

is that of its answers alone, as if nobody had given the others: a proper likelihood,
which leaves out what answers imply across the cuts. These are drawn anew in each epoch,
so no answers stay apart for long.

Pairs are held out by their points: some points are chosen, neighbour by neighbour, and
all answers about them are held out. So no answer that trains is about them, or implies
anything of them; the points at the other ends are known from training. A chain loses
one stretch, a star some of its rays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from torch.utils.data import Sampler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.random import Generator, RandomState

    from pairlearn.data.types import Ints

__all__ = ["PieceBatches", "connected_pieces", "pairs_of_some_points"]


class PieceBatches(Sampler[list[int]]):
    """Batches of connected pieces, which depend on the seed and the epoch alone.

    Pieces come in random order, and a batch ends where the next piece would make it too
    large: two batches in a row have more than `batch_size` pairs together.

    Parameters
    ----------
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    batch_size : int
        The most pairs in a batch.
    seed : int
        The seed.
    epoch : callable
        Returns the number of the epoch.

    Examples
    --------
    >>> import numpy as np
    >>> index = np.array([[0, 1], [2, 3], [1, 4], [5, 6], [6, 7]])
    >>> batches = PieceBatches(index, 2, seed=0, epoch=lambda: 0)
    >>> sorted(sorted(batch) for batch in batches)
    [[0, 2], [1], [3, 4]]
    """

    def __init__(
        self, index: Ints, batch_size: int, seed: int, epoch: Callable[[], int]
    ) -> None:
        self.batch_size = batch_size
        self.seed = seed
        self.epoch = epoch
        _, ends = np.unique(index, return_inverse=True)
        self.ends = ends.reshape(-1, 2)
        part = _components(self.ends)
        by_part = np.argsort(part, kind="stable")
        parts = np.split(by_part, np.flatnonzero(np.diff(part[by_part])) + 1)
        self._whole = [p.tolist() for p in parts if len(p) <= batch_size]
        self._large = [p for p in parts if len(p) > batch_size]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[list[int]]:
        rng = np.random.default_rng([self.seed, self.epoch()])
        pieces = list(self._whole)
        for pairs in self._large:
            cut = connected_pieces(self.ends[pairs], self.batch_size, rng)
            pieces += [pairs[piece].tolist() for piece in cut]
        batch: list[int] = []
        for k in rng.permutation(len(pieces)).tolist():
            if batch and len(batch) + len(pieces[k]) > self.batch_size:
                yield batch
                batch = []
            batch = batch + pieces[k]
        if batch:
            yield batch


def connected_pieces(index: Ints, size: int, rng: Generator) -> list[list[int]]:
    """Cut a connected graph at random into connected pieces.

    A piece begins at a point of those before it, and grows by a pair of one of its
    points, drawn at random, until it is large enough or no pair of its points is left.

    Parameters
    ----------
    index : ndarray of shape (n_pairs, 2)
        The pairs, all of one component.
    size : int
        The most pairs in a piece.
    rng : Generator
        What is drawn from.

    Returns
    -------
    list of list of int
        The pairs of each piece; every pair is in one of them.

    Examples
    --------
    >>> import numpy as np
    >>> chain = np.stack([np.arange(7), np.arange(1, 8)], axis=1)
    >>> pieces = connected_pieces(chain, 3, np.random.default_rng(0))
    >>> [sorted(piece) for piece in pieces]
    [[0, 1, 2], [3, 4, 5], [6]]
    """
    # The pairs of each point in random order, from `begin` to `end`.
    order = rng.permutation(len(index))
    points, local = np.unique(index[order], return_inverse=True)
    local = local.reshape(-1, 2)
    by_point = np.argsort(local.ravel(), kind="stable")
    pairs_at = order.repeat(2)[by_point].tolist()
    borders = np.searchsorted(local.ravel()[by_point], np.arange(len(points) + 1))
    begin, end = borders[:-1].tolist(), borders[1:].tolist()
    ends = np.empty_like(local)
    ends[order] = local
    ends_of = ends.tolist()

    free = [True] * len(index)
    pieces: list[list[int]] = []
    open_points = [int(rng.integers(len(points)))]
    while open_points:
        near = [_draw(open_points, rng)]
        inside = set(near)
        piece: list[int] = []
        while near and len(piece) < size:
            place = int(rng.random() * len(near))
            point = near[place]
            while begin[point] < end[point] and not free[pairs_at[begin[point]]]:
                begin[point] += 1
            if begin[point] == end[point]:
                near[place] = near[-1]
                near.pop()
                continue
            pair = pairs_at[begin[point]]
            free[pair] = False
            piece.append(pair)
            for other in ends_of[pair]:
                if other not in inside:
                    inside.add(other)
                    near.append(other)
        open_points += near
        if piece:
            pieces.append(piece)
    return pieces


def pairs_of_some_points(index: Ints, n: int, rng: RandomState) -> Ints:
    """Return all pairs of some points, at most n pairs altogether.

    Points are taken neighbour by neighbour, from a random one on; points in too many
    pairs, such as the middle of a star, are passed over.

    Parameters
    ----------
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    n : int
        The most pairs that are wanted.
    rng : RandomState
        What is drawn from.

    Returns
    -------
    ndarray
        Numbers of pairs; fewer than n where all other points are in too many.

    Examples
    --------
    >>> import numpy as np
    >>> star = np.stack([np.zeros(7, dtype=int), np.arange(1, 8)], axis=1)
    >>> len(pairs_of_some_points(star, 3, np.random.RandomState(0)))
    3
    """
    points, ends = np.unique(index, return_inverse=True)
    ends = ends.reshape(-1, 2)
    by_point = np.argsort(ends.ravel(), kind="stable")
    borders = np.searchsorted(ends.ravel()[by_point], np.arange(len(points) + 1))
    pairs_at = by_point // 2
    taken = np.zeros(len(index), dtype=bool)
    seen = np.zeros(len(points), dtype=bool)
    missing = n
    for start in rng.permutation(len(points)):
        near = [int(start)]
        while near and missing:
            point = _draw(near, rng)
            if seen[point]:
                continue
            seen[point] = True
            own = np.unique(pairs_at[borders[point] : borders[point + 1]])
            new = own[~taken[own]]
            if len(new) > missing:
                continue
            taken[new] = True
            missing -= len(new)
            near += ends[own].ravel().tolist()
        if not missing:
            break
    return np.flatnonzero(taken)


def _draw(values: list[int], rng: Generator | RandomState) -> int:
    """Take a random value out of a list."""
    place = int(rng.random() * len(values))
    values[place], values[-1] = values[-1], values[place]
    return values.pop()


def _components(ends: Ints) -> Ints:
    """Return the number of each pair's component."""
    n_points = int(ends.max(initial=-1)) + 1
    graph = sparse.csr_array((np.ones(len(ends)), ends.T), shape=(n_points, n_points))
    _, part = csgraph.connected_components(graph, directed=False)
    return np.asarray(part[ends[:, 0]])
