"""The signed graph of answers: points are nodes, pairs are links, answers signs.

Answers multiply along a path: same + same = same, same + different = different,
different + different = same (there are two classes). So a spanning forest of the
graph fixes the relative class of all points of a component, and every other
answer is either implied by it or refuted by it.

Everything here is iterative and near-linear: one breadth-first search in SciPy,
then pointer doubling (log2(depth) vectorised rounds) instead of recursion, so a
chain of a million pairs is no harder than any other graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from pairlearn.data.checks import check_index

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Bools, Floats, Ints

__all__ = [
    "Closure",
    "Contradictions",
    "SpanningForest",
    "chosen",
    "closure",
    "narrow",
    "shuffled",
    "small_type",
    "spanning_forest",
]

# Pairs that are looked at together.
_MANY = 2**16


@dataclass(frozen=True)
class SpanningForest:
    """A breadth-first spanning forest of the graph of pairs.

    Attributes
    ----------
    order : ndarray of shape (n_points,)
        The points in breadth-first order, level by level over all components.
    parent : ndarray of shape (n_points,)
        The parent of each point; a root is its own parent.
    pair : ndarray of shape (n_points,)
        The number of the pair that joins a point to its parent; -1 for a root.
    depth : ndarray of shape (n_points,)
        Links between a point and its root.
    component : ndarray of shape (n_points,)
        The number of the component that a point is in.
    """

    order: Ints
    parent: Ints
    pair: Ints
    depth: Ints
    component: Ints

    def signs(self, t: Floats) -> Floats:
        """Return each point's sign relative to its root: the product on the path."""
        sign = np.ones(len(self.pair))
        child = self.pair >= 0
        sign[child] = t[self.pair[child]]
        signs: Floats = _fold_to_root(self.parent, sign, np.multiply)
        return signs

    def path(self, i: int, j: int) -> list[int]:
        """Return the pairs on the way from point i to point j of one component."""
        up, down = [], []
        while i != j:
            # The deeper end climbs; at equal depth either may.
            if self.depth[i] >= self.depth[j]:
                up.append(int(self.pair[i]))
                i = int(self.parent[i])
            else:
                down.append(int(self.pair[j]))
                j = int(self.parent[j])
        return up + down[::-1]


def spanning_forest(n_points: int, index: Ints) -> SpanningForest:
    """Return a breadth-first spanning forest of the graph of pairs.

    Parameters
    ----------
    n_points : int
        The number of points; points without pairs are roots of their own.
    index : ndarray of shape (n_pairs, 2)
        The pairs.

    Returns
    -------
    SpanningForest
    """
    key = _link_key(n_points, index[:, 0], index[:, 1])
    keys, first = np.unique(key, return_index=True)
    left, right = index[first, 0], index[first, 1]
    graph = sparse.csr_array(
        (np.ones(len(first)), (left, right)), shape=(n_points, n_points)
    )
    _, component = csgraph.connected_components(graph, directed=False)
    # An extra node, linked to one point of each component, lets a single search
    # reach all of them.
    _, roots = np.unique(component, return_index=True)
    left = np.concatenate([left, np.full(len(roots), n_points)])
    right = np.concatenate([right, roots])
    rooted = sparse.csr_array(
        (np.ones(len(left)), (left, right)), shape=(n_points + 1, n_points + 1)
    )
    order, predecessor = csgraph.breadth_first_order(rooted, n_points, directed=False)
    parent = predecessor[:n_points].astype(np.intp)
    parent[roots] = roots
    child = np.flatnonzero(parent != np.arange(n_points))
    pair = np.full(n_points, -1, dtype=np.intp)
    found = np.searchsorted(keys, _link_key(n_points, child, parent[child]))
    pair[child] = first[found]
    depth = _fold_to_root(parent, (pair >= 0).astype(np.intp), np.add)
    order, component = order[1:].astype(np.intp), component.astype(np.intp)
    return SpanningForest(order, parent, pair, depth, component)


class Contradictions(Sequence["Ints"]):
    """The refuted answers, each with a cycle of pairs that shows it.

    Cycles are walked when they are asked for, since all of them together can be far
    longer than the list of answers.

    Attributes
    ----------
    refuted : ndarray
        Numbers of the refuted pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import Pairs
    >>> pairs = Pairs(np.zeros((3, 1)), [[0, 1], [1, 2], [0, 2]])
    >>> found = pairs.contradictions([1, 1, -1])
    >>> len(found), found.refuted, found[0]
    (1, array([1]), array([1, 2, 0]))
    """

    def __init__(self, n_points: int, index: Ints, t: Floats) -> None:
        # Only certain answers take part.
        self._certain = np.flatnonzero(np.abs(t) == 1)
        self._index = index[self._certain]
        self._forest = spanning_forest(n_points, self._index)
        self._refuted = _refuted(self._forest, self._index, t[self._certain])
        self.refuted = self._certain[self._refuted]

    def __len__(self) -> int:
        return len(self.refuted)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(len(self)))]
        k = self._refuted[number]
        i, j = self._index[k]
        return self._certain[np.array([k, *self._forest.path(int(j), int(i))])]

    def __repr__(self) -> str:
        return f"<Contradictions: {len(self)} refuted answer(s)>"


@dataclass(frozen=True)
class Closure:
    """All answers that given answers imply, in linear space.

    A component of s points implies s (s - 1) / 2 answers: too many to list, so
    they are kept as one sign for each point. Two points of one component are of
    the same class exactly if their signs agree.

    Attributes
    ----------
    component : ndarray of shape (n_points,)
        The number of each point's component.
    sign : ndarray of shape (n_points,)
        The class of each point relative to its component: +1 or -1, and 0 where
        the component contains a contradiction and nothing can be said.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import Pairs
    >>> pairs = Pairs(np.zeros((4, 1)), [[0, 1], [1, 2]])
    >>> closure = pairs.closure([-1, -1])
    >>> closure.answers([[0, 2], [0, 3]])  # implied: same; not implied
    array([1., 0.])
    >>> closure.n_answers
    3
    """

    component: Ints
    sign: Floats

    @property
    def n_answers(self) -> int:
        """How many pairs of distinct points have an implied or given answer."""
        sizes = np.bincount(self.component[self.sign != 0]).astype(object)
        return int((sizes * (sizes - 1) // 2).sum())

    def answers(self, index: ArrayLike) -> Floats:
        """Return the answer of each pair: +1, -1, or 0 where none is implied.

        Parameters
        ----------
        index : array-like of shape (n_pairs, 2)
            Pairs of points.

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
        i, j = check_index(index, len(self.component)).T
        return np.where(
            self.component[i] == self.component[j], self.sign[i] * self.sign[j], 0.0
        )

    def pairs(self, limit: int = 10_000_000) -> tuple[Ints, Floats]:
        """Return all pairs with an answer, given or implied, and their answers.

        Parameters
        ----------
        limit : int, default=10_000_000
            Refuse to list more pairs than this.

        Returns
        -------
        index : ndarray of shape (n_answers, 2)
        t : ndarray of shape (n_answers,)
        """
        if self.n_answers > limit:
            raise ValueError(
                f"the closure holds {self.n_answers:,} answers, more than the limit "
                f"of {limit:,}; ask for the ones you need with closure.answers(index)"
                " or raise limit="
            )
        known = np.flatnonzero(self.sign != 0)
        members = known[np.argsort(self.component[known], kind="stable")]
        sizes = np.bincount(self.component[known])
        sizes = sizes[sizes > 0]
        starts = np.cumsum(sizes) - sizes
        listed = [np.empty((0, 2), dtype=np.intp)]
        # Components of one size are handled together, so that a million small
        # ones are no slower than one large one.
        for size in np.unique(sizes[sizes > 1]):
            block = members[starts[sizes == size][:, None] + np.arange(size)]
            first, second = np.triu_indices(size, k=1)
            listed.append(
                np.stack([block[:, first].ravel(), block[:, second].ravel()], axis=1)
            )
        index = np.concatenate(listed)
        return index, self.answers(index)


def closure(n_points: int, index: Ints, t: Floats) -> Closure:
    """Return the answers that the certain ones (t = -1 or +1) imply."""
    certain = np.flatnonzero(np.abs(t) == 1)
    index, t = index[certain], t[certain]
    forest = spanning_forest(n_points, index)
    sign = forest.signs(t)
    wrong = forest.component[index[_refuted(forest, index, t), 0]]
    return Closure(
        forest.component, np.where(np.isin(forest.component, wrong), 0, sign)
    )


def _refuted(forest: SpanningForest, index: Ints, t: Floats) -> Ints:
    sign = forest.signs(t)
    return np.flatnonzero(sign[index[:, 0]] * sign[index[:, 1]] != t)


def _link_key(n_points: int, i: Ints, j: Ints) -> Ints:
    low, high = np.minimum(i, j).astype(np.int64), np.maximum(i, j).astype(np.int64)
    return (low * n_points + high).astype(np.intp)


def _fold_to_root(parent: Ints, value: Any, combine: np.ufunc) -> Any:
    """Combine the values on the way from each node to its root.

    Roots must hold the neutral element. Each round doubles the length of the
    jumps, so log2(depth) rounds are enough.
    """
    value, parent = value.copy(), parent.copy()
    while True:
        grandparent = parent[parent]
        value = combine(value, value[parent])
        if np.array_equal(grandparent, parent):
            return value
        parent = grandparent


def is_disjoint(n_points: int, index: Ints) -> bool:
    """Tell whether no point occurs in two pairs."""
    return bool(np.bincount(index.ravel(), minlength=n_points).max(initial=0) <= 1)


def shuffled(n: int, rng: RandomState) -> Ints:
    """Return the numbers below n in random order, in little memory."""
    order: Ints = np.arange(n, dtype=small_type(n))
    rng.shuffle(order)
    return order


def narrow(index: Ints, n_points: int) -> Ints:
    """Return row numbers of points in one piece, in little memory.

    Of millions of pairs each array counts, and so does the time to read it.
    """
    return np.ascontiguousarray(index, dtype=small_type(n_points))


def chosen(index: Ints, mask: Bools, dtype: Any = None) -> Ints:
    """Return the pairs of a mask, as integers of any type.

    A part at a time: all at once NumPy makes numbers of the mask, which take as much
    as the pairs.
    """
    if len(mask) != len(index):
        raise IndexError(f"there are {len(index)} pairs, but a mask of {len(mask)}")
    pairs = np.empty((np.count_nonzero(mask), 2), dtype or index.dtype)
    end = 0
    for begin in range(0, len(index), _MANY):
        some = index[begin : begin + _MANY][mask[begin : begin + _MANY]]
        pairs[end : end + len(some)] = some
        end += len(some)
    return pairs


def small_type(n: int) -> type[np.signedinteger[Any]]:
    """Return the smallest type that holds the numbers below n; at least 32 bits."""
    return np.int32 if n <= 2**31 else np.int64


def disjoint_pairs(n_points: int, index: Ints, order: Ints) -> Ints:
    """Return pairs that share no point, taken greedily in the given order.

    Of the pairs in question, those are taken at once that come first at both of their
    points; then pairs with a point in use are out of question, and so on. A part of the
    pairs at a time keeps memory small.
    """
    used: Bools = np.zeros(n_points, dtype=bool)
    first = np.full(n_points, len(order), dtype=np.intp)
    kept = [np.empty(0, dtype=np.intp)]
    for begin in range(0, len(order), _MANY):
        part = order[begin : begin + _MANY]
        part = part[index[part, 0] != index[part, 1]]
        while True:
            part = part[~(used[index[part, 0]] | used[index[part, 1]])]
            if not len(part):
                break
            left, right = index[part].T
            place = np.arange(len(part))
            np.minimum.at(first, left, place)
            np.minimum.at(first, right, place)
            chosen = (first[left] == place) & (first[right] == place)
            kept.append(part[chosen])
            used[left[chosen]] = used[right[chosen]] = True
            first[left] = first[right] = len(order)
    return np.sort(np.concatenate(kept)).astype(np.intp, copy=False)
