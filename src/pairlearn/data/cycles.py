"""Which answers are in a contradictory cycle.

A cycle of answers that multiply to -1 cannot be all right. Two pairs that are on a
common cycle are in one *block* of the graph, and in a block that has one contradictory
cycle every pair is on such a cycle: join the pair to the cycle by two paths that share
no point; of the two cycles through the pair that arise, one is contradictory, since
their product is. So the pairs in question are those of the blocks with a contradiction.

With more than two classes answers do not multiply. A cycle is then contradictory if
exactly one of its answers is "different".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.graph import Contradictions, spanning_forest

if TYPE_CHECKING:
    from pairlearn.data.graph import SpanningForest
    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Bools, Floats, Ints

__all__ = ["ManyKindsContradictions", "in_contradictory_cycle"]


def in_contradictory_cycle(
    n_points: int, index: Ints, t: Floats, n_classes: int = 2
) -> Bools:
    """Tell for each pair whether it is on a cycle of answers that cannot be all right.

    Only certain answers (-1 or +1) take part.

    Parameters
    ----------
    n_points : int
        Number of points.
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    t : ndarray of shape (n_pairs,)
        The answers.
    n_classes : int, default=2
        Number of classes.

    Returns
    -------
    ndarray of bool, shape (n_pairs,)

    Examples
    --------
    >>> import numpy as np
    >>> index = np.array([[0, 1], [1, 2], [0, 2], [2, 3]])
    >>> in_contradictory_cycle(4, index, np.array([1.0, 1.0, -1.0, 1.0]))
    array([ True,  True,  True, False])
    """
    found: Bools = np.zeros(len(t), dtype=bool)
    # A pair of a point with itself is on no cycle with others.
    links = np.flatnonzero((np.abs(t) == 1) & (index[:, 0] != index[:, 1]))
    if n_classes == 2:
        refuted = Contradictions(n_points, index[links], t[links]).refuted
        if len(refuted):
            blocks = _Blocks(n_points, index[links])
            block = blocks.of_pairs()
            found[links] = np.isin(block, block[refuted])
        return found
    same, different = links[t[links] > 0], links[t[links] < 0]
    blocks = _Blocks(n_points, index[same])
    component = blocks.forest.component
    refuted = different[
        component[index[different, 0]] == component[index[different, 1]]
    ]
    through: set[int] = set()
    for i, j in index[refuted].tolist():
        through |= blocks.between(i, j)
    found[refuted] = True
    found[same] = np.isin(blocks.of_pairs(), list(through))
    return found


class ManyKindsContradictions(Sequence["Ints"]):
    """Answers "different" about points that answers "same" join, with a cycle for each.

    These contradict each other however many kinds there are.

    Parameters
    ----------
    pairs : Pairs
        The pairs.
    t : ndarray of shape (n_pairs,)
        The answers; only certain ones (-1 or +1) take part.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import Pairs
    >>> pairs = Pairs(np.zeros((3, 1)), [[0, 1], [1, 2], [0, 2]])
    >>> ManyKindsContradictions(pairs, np.array([1.0, 1.0, -1.0]))[0]
    array([2, 1, 0])
    >>> len(ManyKindsContradictions(pairs, -np.ones(3)))
    0
    """

    def __init__(self, pairs: Pairs, t: Floats) -> None:
        self._index = pairs.index
        self._same = np.flatnonzero(t == 1)
        self._forest = spanning_forest(pairs.n_points, pairs.index[self._same])
        component = self._forest.component[pairs.index]
        joined = component[:, 0] == component[:, 1]
        self.refuted = np.flatnonzero((t == -1) & joined)

    def __len__(self) -> int:
        return len(self.refuted)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(len(self)))]
        k = self.refuted[number]
        i, j = self._index[k]
        way = self._forest.path(int(j), int(i))
        return np.array([k, *self._same[way]])


class _Blocks:
    """The blocks of a graph: pairs are in one block if a cycle holds both.

    Each point but a root stands for the pair that joins it to its parent in a spanning
    forest. A pair outside the forest joins all those on the way between its two ends.
    Joined pairs of the forest form a subtree, so a climb goes over it in one step, from
    any of its points to its `top`: all climbs together are near-linear.
    """

    def __init__(self, n_points: int, index: Ints) -> None:
        self.forest: SpanningForest = spanning_forest(n_points, index)
        self._index = index
        self._depth: list[int] = self.forest.depth.tolist()
        self._leader = list(range(n_points))
        self._top: list[int] = self.forest.parent.tolist()
        in_forest = np.zeros(len(index), dtype=bool)
        in_forest[self.forest.pair[self.forest.pair >= 0]] = True
        for i, j in index[~in_forest].tolist():
            self._join(self.between(i, j))

    def between(self, i: int, j: int) -> set[int]:
        """Return the blocks on the way between two points of one component."""
        met = set()
        while i != j:
            if self._depth[i] < self._depth[j]:
                i, j = j, i
            block = self._find(i)
            met.add(block)
            i = self._top[block]
        return met

    def of_pairs(self) -> Ints:
        """Return the block of each pair."""
        leader = np.array([self._find(i) for i in range(len(self._leader))])
        # The deeper end of any pair, by its parent pair, is in the pair's block: the
        # cycle of a pair outside the forest begins there.
        left, right = self._index.T
        deeper = self.forest.depth[left] >= self.forest.depth[right]
        blocks: Ints = leader[np.where(deeper, left, right)]
        return blocks

    def _join(self, blocks: set[int]) -> None:
        leader, *others = sorted(blocks, key=lambda b: self._depth[self._top[b]])
        for block in others:
            self._leader[block] = leader

    def _find(self, i: int) -> int:
        while self._leader[i] != i:
            self._leader[i] = self._leader[self._leader[i]]
            i = self._leader[i]
        return i
