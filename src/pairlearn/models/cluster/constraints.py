"""Answers as hard constraints of a clustering.

Points that answers join by "same" (must-links) go together whatever happens, so they
are one *group*, and an assignment step needs to know only what it costs to put a group
into a cluster. "Different" (cannot-links) is inherited by the groups.

Two clusters and more are two different problems. With two, "different" from a group
leaves one cluster, so a component of the graph of answers has two labelings and the
better one is found exactly. With more, the groups are the nodes of a graph to be
coloured, which is hard in general: a search with backtracking does it.
"""

from __future__ import annotations

import heapq
from collections import Counter
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from pairlearn.data.graph import SpanningForest, spanning_forest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pairlearn.data.types import Floats, Ints

__all__ = ["Constraints", "ManyClusters", "StuckError", "TwoClusters"]

# How many groups a search may place again before it gives up.
MAX_STEPS = 2_000
# Steps spent on looking for a cheaper assignment after the first: enough to find the
# cheapest for a few groups.
BETTER_STEPS = 300
# Moves of a repair: a few seconds at most.
MAX_MOVES = 30_000
# Groups that are tried one by one to find out which ones make it impossible.
_BLAME_GROUPS = 60
# Pair numbers that a message lists.
_LISTED = 12


class Constraints(Protocol):
    """What k-means needs to know of the answers.

    Attributes
    ----------
    group : ndarray of shape (n_points,)
        The number of each point's group.
    dropped : ndarray
        The numbers of the pairs whose answers were dropped because others refute them.
    """

    group: Ints
    dropped: Ints

    def assign(self, cost: Floats, previous: Ints | None) -> Ints:
        """Return a cluster for each group that respects every answer.

        Parameters
        ----------
        cost : ndarray of shape (n_groups, n_clusters)
            What it costs to put a group into a cluster.
        previous : ndarray of shape (n_groups,) or None
            An assignment that respects the answers; the result costs no more.

        Returns
        -------
        ndarray of shape (n_groups,)
        """


class StuckError(ValueError):
    """No assignment respects all answers, or none was found.

    Attributes
    ----------
    proved : bool
        True: there is none. False: the search gave up.
    """

    def __init__(self, message: str, *, proved: bool) -> None:
        super().__init__(message)
        self.proved = proved


class TwoClusters:
    """Constraints of two clusters, with the exact assignment step.

    A spanning forest of the answers fixes the sign s of each point relative to its
    component. A component puts its points with s = +1 into cluster 0 and the others
    into cluster 1, or the other way round, whichever costs less.

    Parameters
    ----------
    n_points : int
        Number of points.
    index : ndarray of shape (n_pairs, 2)
        Pairs with certain answers.
    t : ndarray of shape (n_pairs,)
        The answers, -1 or +1.
    numbers : ndarray of shape (n_pairs,)
        What the user calls these pairs; for messages.
    drop : bool
        Drop the answers that others refute, instead of raising an error.

    Examples
    --------
    >>> import numpy as np
    >>> index, t = np.array([[0, 1], [1, 2]]), np.array([1.0, -1.0])
    >>> constraints = TwoClusters(4, index, t, np.arange(2), drop=False)
    >>> constraints.group  # 0 and 1 go together; 3 has no answer
    array([0, 0, 1, 2])
    >>> constraints.assign(np.array([[2.0, 1.0], [5.0, 1.0], [0.0, 1.0]]), None)
    array([0, 1, 0])
    """

    def __init__(
        self, n_points: int, index: Ints, t: Floats, numbers: Ints, *, drop: bool
    ) -> None:
        forest = spanning_forest(n_points, index)
        sign = forest.signs(t)
        refuted = np.flatnonzero(sign[index[:, 0]] * sign[index[:, 1]] != t)
        if refuted.size and not drop:
            raise _contradiction(forest, index, t, refuted, numbers, numbers)
        self.dropped = numbers[refuted]
        sides, self.group = np.unique(
            2 * forest.component + (sign < 0), return_inverse=True
        )
        self._component, self._negative = sides // 2, sides % 2

    def assign(self, cost: Floats, previous: Ints | None) -> Ints:  # noqa: ARG002 - the optimum needs no help
        """Return the cheapest assignment; see `Constraints.assign`."""
        sign = 1 - 2 * self._negative
        gain = np.bincount(self._component, sign * (cost[:, 1] - cost[:, 0]))
        turned = gain[self._component] < 0
        return np.where(turned, 1 - self._negative, self._negative).astype(np.intp)


class ManyClusters:
    """Constraints of any number of clusters.

    The assignment step gives each group its cheapest cluster. Where that puts two
    groups together that must differ, their component of the graph of "different"
    answers is assigned anew: two groups by trying all combinations; more, one by one
    with backtracking, the one with the fewest clusters left first, and of those the one
    that loses most by not getting its cheapest cluster. The search then goes on for a
    while, passing over what cannot be cheaper, so a few groups get their cheapest
    assignment. Where it gets stuck, clashes are repaired by a tabu search.

    Parameters
    ----------
    n_points : int
        Number of points.
    index : ndarray of shape (n_pairs, 2)
        Pairs with certain answers.
    t : ndarray of shape (n_pairs,)
        The answers, -1 or +1.
    numbers : ndarray of shape (n_pairs,)
        What the user calls these pairs; for messages.
    drop : bool
        Drop the answers that others refute, instead of raising an error.

    Examples
    --------
    >>> import numpy as np
    >>> index, t = np.array([[0, 1], [1, 2]]), np.array([1.0, -1.0])
    >>> constraints = ManyClusters(3, index, t, np.arange(2), drop=False)
    >>> constraints.assign(np.array([[0.0, 2.0, 3.0], [0.0, 1.0, 3.0]]), None)
    array([0, 1])
    """

    def __init__(
        self, n_points: int, index: Ints, t: Floats, numbers: Ints, *, drop: bool
    ) -> None:
        same, different = np.flatnonzero(t > 0), np.flatnonzero(t < 0)
        forest = spanning_forest(n_points, index[same])
        self.group = forest.component
        ends = np.sort(self.group[index[different]], axis=1)
        inside = ends[:, 0] == ends[:, 1]
        refuted = different[inside]
        if refuted.size and not drop:
            raise _contradiction(forest, index, t, refuted, numbers, numbers[same])
        self.dropped = numbers[refuted]
        self._ends, first = np.unique(ends[~inside], axis=0, return_index=True)
        self._pair = numbers[different[~inside][first]]
        n_groups = int(self.group.max(initial=-1)) + 1
        links = sparse.csr_array(
            (np.ones(len(first)), (self._ends[:, 0], self._ends[:, 1])),
            shape=(n_groups, n_groups),
        )
        links = sparse.csr_array(links + links.T)
        _, self._component = csgraph.connected_components(links, directed=False)
        self._size = np.bincount(self._component)
        self._start = np.cumsum(self._size) - self._size
        self._order = np.argsort(self._component, kind="stable")
        self._neighbours = {
            int(g): links.indices[links.indptr[g] : links.indptr[g + 1]].tolist()
            for g in np.unique(self._ends)
        }

    def assign(self, cost: Floats, previous: Ints | None) -> Ints:
        """Return a cheap assignment; see `Constraints.assign`."""
        cluster: Ints = np.argmin(cost, axis=1)
        clash = cluster[self._ends[:, 0]] == cluster[self._ends[:, 1]]
        components = np.unique(self._component[self._ends[clash, 0]])
        couples = self._start[components[self._size[components] == 2]]
        a, b = self._order[couples], self._order[couples + 1]
        cluster[a], cluster[b] = _best_two(cost[a], cost[b])
        for c in components[self._size[components] > 2]:
            members = self._order[self._start[c] :][: self._size[c]]
            cluster[members] = self._assign_component(cost, members, previous)
        return cluster

    def _assign_component(
        self, cost: Floats, members: Ints, previous: Ints | None
    ) -> Ints:
        rows, price = np.arange(len(members)), cost[members]
        found = self._search(price, members.tolist())
        known: list[Ints] = [] if previous is None else [previous[members]]
        if isinstance(found, dict):
            known.append(np.array([found[g] for g in members.tolist()]))
        elif not known:
            known.append(self._other_way(price, members.tolist(), found))
        return min(known, key=lambda cluster: price[rows, cluster].sum())

    def _other_way(
        self, cost: Floats, members: list[int], stuck_at: list[int] | None
    ) -> Ints:
        """Assign groups that the search could not; or say why that is impossible."""
        n_clusters = int(cost.shape[1])
        core = self._core(members, n_clusters)
        no_cost = np.zeros((len(core), n_clusters))
        if stuck_at is None or self._search(no_cost, core) is None:
            pairs = self._between(self._impossible(core, n_clusters))
            raise StuckError(
                f"no assignment to n_clusters={n_clusters} clusters respects the "
                f"answers: with the answers 'same', {_listed(pairs)} cannot all be "
                "'different'. Drop or correct one of them, or raise n_clusters",
                proved=True,
            )
        repaired = self._repair(cost, members)
        if repaired is not None:
            return repaired
        hardest = Counter(stuck_at).most_common(1)[0][0]
        pairs = self._between([hardest, *self._neighbours[hardest]], hardest)
        raise StuckError(
            f"no assignment to n_clusters={n_clusters} clusters that respects the "
            "answers was found, although there may be one; the search got stuck most "
            f"often at the answers 'different' of {_listed(pairs)}. Drop or correct "
            "one of them, or raise n_clusters",
            proved=False,
        )

    def _repair(self, cost: Floats, members: list[int]) -> Ints | None:
        """Remove clashes one by one, by a tabu search; None if some are left.

        It finds what backtracking does not on large and dense graphs, but it cannot
        prove that there is nothing to find, and it pays no heed to the cost.
        """
        rng = np.random.default_rng(0)
        place = {g: k for k, g in enumerate(members)}
        neighbours = [
            np.array([place[other] for other in self._neighbours[g]]) for g in members
        ]
        rows = np.arange(len(members))
        cluster: Ints = np.argmin(cost, axis=1)
        # clashes[g, c]: how many groups in cluster c must differ from group g.
        clashes, forbidden_until = np.zeros(cost.shape), np.zeros(cost.shape)
        for g in rows:
            np.add.at(clashes, (neighbours[g], cluster[g]), 1)
        for move in range(MAX_MOVES):
            clashing = np.flatnonzero(clashes[rows, cluster])
            if not clashing.size:
                return cluster
            change = clashes[clashing] - clashes[clashing, cluster[clashing], None]
            change[forbidden_until[clashing] > move] = np.inf
            change[np.arange(len(clashing)), cluster[clashing]] = np.inf
            best = np.flatnonzero(change == change.min())
            k, c = divmod(int(rng.choice(best)), cost.shape[1])
            g, old = clashing[k], cluster[clashing[k]]
            cluster[g] = c
            clashes[neighbours[g], old] -= 1
            clashes[neighbours[g], c] += 1
            # Back only after a while, or the search would go round in circles.
            forbidden_until[g, old] = move + 0.6 * len(clashing) + rng.integers(10)
        return None

    def _search(
        self, cost: Floats, members: list[int]
    ) -> dict[int, int] | list[int] | None:
        """Assign some groups one by one, with backtracking, then look for better.

        Returns the clusters; or None if there is no assignment; or, out of steps, the
        groups for which no cluster was left, as often as that happened.
        """
        n_clusters = int(cost.shape[1])
        extra = cost - cost.min(axis=1, keepdims=True)
        regret = dict(zip(members, (-np.sort(extra)[:, 1]).tolist(), strict=True))
        liking = dict(zip(members, np.argsort(extra, axis=1).tolist(), strict=True))
        loss: dict[int, list[float]]
        loss = dict(zip(members, extra.tolist(), strict=True))
        taken = {g: [0] * n_clusters for g in members}
        n_open: dict[int, int] = dict.fromkeys(members, n_clusters)
        cluster: dict[int, int] = {}
        # Entries are not removed when they go out of date, but passed over.
        queue = [(n_clusters, regret[g], g) for g in members]
        heapq.heapify(queue)

        def place(g: int, c: int, step: int) -> float:
            for other in self._neighbours[g]:
                if other in taken:
                    taken[other][c] += step
                    if taken[other][c] == (step > 0):
                        n_open[other] -= step
                        if other not in cluster:
                            entry = (n_open[other], regret[other], other)
                            heapq.heappush(queue, entry)
            return step * loss[g][c]

        trail: list[tuple[int, Iterator[int]]] = []
        dead_ends: list[int] = []
        best: dict[int, int] | None = None
        lost, least = 0.0, np.inf
        n_left = len(members) + MAX_STEPS
        while n_left:
            n_left -= 1
            g = -1
            while queue and g < 0:
                n_clusters_left, _, top = heapq.heappop(queue)
                if top not in cluster and n_clusters_left == n_open[top]:
                    g = top
            if g >= 0:
                if not n_open[g]:
                    dead_ends.append(g)
                trail.append((g, iter([c for c in liking[g] if not taken[g][c]])))
            else:
                best, least = dict(cluster), lost
                n_left = min(n_left, BETTER_STEPS)
            while trail:
                g, options = trail[-1]
                if g in cluster:
                    lost += place(g, cluster.pop(g), -1)
                c = next(options, -1)
                # Clusters come in order of cost: if this one is too much, all are.
                if c >= 0 and lost + loss[g][c] < least:
                    cluster[g] = c
                    lost += place(g, c, 1)
                    break
                trail.pop()
                heapq.heappush(queue, (n_open[g], regret[g], g))
            else:
                return best
        return dead_ends if best is None else best

    def _core(self, members: list[int], n_clusters: int) -> list[int]:
        """Return the groups without those that any assignment of the rest leaves room.

        A group that differs from fewer than n_clusters others can always come last.
        """
        core, shrinking = set(members), True
        while shrinking:
            loose = {
                g
                for g in core
                if sum(other in core for other in self._neighbours[g]) < n_clusters
            }
            core, shrinking = core - loose, bool(loose)
        return sorted(core)

    def _impossible(self, core: list[int], n_clusters: int) -> list[int]:
        """Return few of the groups that cannot be assigned together."""
        few = core
        for g in core[:_BLAME_GROUPS]:
            rest = [other for other in few if other != g]
            no_cost = np.zeros((len(rest), n_clusters))
            if self._search(no_cost, rest) is None:
                few = rest
        return few

    def _between(self, groups: Sequence[int], only: int | None = None) -> Ints:
        """Return the pairs between some groups, or from them to `only`."""
        chosen = np.isin(self._ends, groups).all(axis=1)
        if only is not None:
            chosen &= (self._ends == only).any(axis=1)
        return np.sort(self._pair[chosen])


def _best_two(cost_a: Floats, cost_b: Floats) -> tuple[Ints, Ints]:
    """Return the cheapest two different clusters for each couple of groups."""
    n_clusters = cost_a.shape[1]
    both = cost_a[:, :, None] + cost_b[:, None, :]
    both[:, np.arange(n_clusters), np.arange(n_clusters)] = np.inf
    best = both.reshape(-1, n_clusters**2).argmin(axis=1)
    return best // n_clusters, best % n_clusters


def _contradiction(
    forest: SpanningForest,
    index: Ints,
    t: Floats,
    refuted: Ints,
    numbers: Ints,
    numbers_of_forest: Ints,
) -> ValueError:
    k = int(refuted[0])
    path = numbers_of_forest[forest.path(int(index[k, 1]), int(index[k, 0]))]
    said, implied = ("same", "different") if t[k] > 0 else ("different", "same")
    others = f" ({len(refuted)} such answers)" if len(refuted) > 1 else ""
    return ValueError(
        f"the answers contradict each other: pair {numbers[k]} says '{said}', but "
        f"{_listed(path)} imply '{implied}'{others}. Correct or drop one of them, or "
        "pass on_contradiction='drop'"
    )


def _listed(pairs: Ints) -> str:
    shown = ", ".join(str(k) for k in pairs[:_LISTED].tolist())
    more = f" and {len(pairs) - _LISTED} more" if len(pairs) > _LISTED else ""
    return f"pair(s) {shown}{more}"
