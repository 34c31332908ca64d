r"""The sum over the points that are left, by tables of several points.

The points of a kernel are summed out one after the other, the one with the fewest
neighbours first: all tables with the point are multiplied into one over it and its
neighbours, and the sum over its classes is a new table. That is exact. Its cost is the
size of the largest table, C^(neighbours + 1); kernels for which it would be too large
go to :mod:`pairlearn.engine.components.propagation`.

The way back is as for trees: the marginal of the new table is divided among the terms
of its sum, and each table that was multiplied gets the marginal over its own points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints

    # log Z, marginals of points, and of links.
    Sums = tuple[Floats, dict[int, Floats], list[Floats]]

__all__ = ["Elimination", "plan_elimination"]


@dataclass(frozen=True)
class _Step:
    """A point is summed out.

    Attributes
    ----------
    point : int
        The point.
    scope : tuple of int
        The point, then its neighbours: the axes of the table.
    used : list of int
        The tables that are multiplied.
    """

    point: int
    scope: tuple[int, ...]
    used: list[int]


@dataclass(frozen=True)
class Elimination:
    """How to sum over one kernel.

    Attributes
    ----------
    points : list of int
        Its points.
    links : list of int
        Its links: the first tables.
    scopes : list of tuple of int
        The points of each table, the given ones first, then those made by each step.
    steps : list of _Step
        In their order.
    n_entries : int
        The entries of all tables together: what the sum costs.
    """

    points: list[int]
    links: list[int]
    scopes: list[tuple[int, ...]]
    steps: list[_Step]
    n_entries: int

    def sum(self, u: dict[int, Floats], tables: list[Floats]) -> Sums:
        """Return log Z, marginals of points and of links.

        `u` has the weights of each point, (n_models, n_classes), and `tables` those of
        each link, (n_models, n_classes, n_classes).
        """
        tables, totals, log_z = list(tables), [], 0.0
        for step in self.steps:
            full = _spread(u[step.point], (step.point,), step.scope)
            for k in step.used:
                full = full * _spread(tables[k], self.scopes[k], step.scope)
            total = full.sum(axis=1)
            axes = tuple(range(1, total.ndim))
            top = total.max(axis=axes, keepdims=True)
            log_z = log_z + np.log(top).reshape(len(top))
            full = full / np.expand_dims(top, 1)
            totals.append(full)
            tables.append(total / top)
        return self._back(tables, totals, np.asarray(log_z))

    def _back(self, tables: list[Floats], totals: list[Floats], log_z: Floats) -> Sums:
        """Return log Z, and the marginals from the last step to the first."""
        n_given = len(self.links)
        points: dict[int, Floats] = {}
        beliefs: list[Floats] = [None] * len(tables)  # type: ignore[list-item]
        for k in reversed(range(len(self.steps))):
            step, made, full = self.steps[k], n_given + k, totals[k]
            above = beliefs[made]
            # The last point of a kernel leaves a number, whose marginal is 1.
            share = 1.0 if above is None else above
            belief = full * np.expand_dims(share / tables[made], 1)
            points[step.point] = _onto(belief, step.scope, (step.point,))
            for used in step.used:
                beliefs[used] = _onto(belief, step.scope, self.scopes[used])
        return log_z, points, beliefs[:n_given]


def plan_elimination(
    points: Ints, links: Ints, ends: Ints, n_classes: int, max_states: int
) -> Elimination | None:
    """Return how to sum over a kernel, or None if a table would be too large.

    Parameters
    ----------
    points, links : ndarray
        The points and links of the kernel.
    ends : ndarray of shape (n_all_links, 2)
        The points of each link.
    n_classes : int
        Number of classes.
    max_states : int
        The most entries of a table.

    Returns
    -------
    Elimination or None
    """
    scopes: list[tuple[int, ...]] = [tuple(pair) for pair in ends[links].tolist()]
    neighbours: dict[int, set[int]] = {point: set() for point in points.tolist()}
    for i, j in scopes:
        neighbours[i].add(j)
        neighbours[j].add(i)
    left = set(range(len(scopes)))
    steps: list[_Step] = []
    remaining = dict(neighbours)
    while remaining:
        point = min(remaining, key=lambda p: (len(remaining[p]), p))
        around = sorted(remaining.pop(point))
        if n_classes ** (len(around) + 1) > max_states:
            return None
        used = [k for k in sorted(left) if point in scopes[k]]
        left.difference_update(used)
        left.add(len(scopes))
        scopes.append(tuple(around))
        steps.append(_Step(point, (point, *around), used))
        for i in around:
            remaining[i].discard(point)
            remaining[i].update(j for j in around if j != i)
    n_entries = sum(n_classes ** len(step.scope) for step in steps)
    return Elimination(points.tolist(), links.tolist(), scopes, steps, n_entries)


def _spread(table: Floats, scope: tuple[int, ...], over: tuple[int, ...]) -> Floats:
    """Give a table of some points the axes of more points."""
    order = np.argsort([over.index(point) for point in scope])
    table = table.transpose(0, *(order + 1)) if len(scope) > 1 else table
    size = table.shape[-1] if len(scope) else 1
    shape = [size if point in scope else 1 for point in over]
    return table.reshape(len(table), *shape)


def _onto(belief: Floats, scope: tuple[int, ...], points: tuple[int, ...]) -> Floats:
    """Sum a table over all points but some, whose order is that of the axes then."""
    away = tuple(k + 1 for k, point in enumerate(scope) if point not in points)
    kept = [point for point in scope if point in points]
    total = belief.sum(axis=away)
    return np.asarray(total.transpose(0, *(kept.index(p) + 1 for p in points)))
