r"""Summing points out, and what that says about each point.

Point i has weights u_i(c) >= 0 for its classes, and a link between i and j a table
F(c, c'). What is wanted is

.. math:: Z = \sum_c \prod_i u_i(c_i) \prod_{ij} F_{ij}(c_i, c_j)

and its marginals, the distribution of the classes of each point and of each link under
the same weights, which are the derivatives of log Z:

.. math:: \frac{\partial \log Z}{\partial \log u_i(c)} = m_i(c), \qquad
          \frac{\partial \log Z}{\partial \log F_{ij}(c, c')} = b_{ij}(c, c') .

*Up*, in the order of :mod:`pairlearn.engine.components.order`: a leaf v becomes a
factor of its neighbour, F u_v; a point between a and b becomes the table
G(a, b) = sum over c of F_1(a, c) u_v(c) F_2(c, b); links between the same points are
multiplied. *Down*, in the opposite order: the marginal of what a point became is known,
and is divided among the classes of the point in proportion to the terms of the sum.
Links that were multiplied all have the marginal of their product.

Weights of points are kept as logarithms, since a point may have a million leaves;
tables are divided by their largest entry, and what they are divided by is added up.
All of this is done for several models at once, the last axis of all arrays; classes
are on the first axes, so that operations run over long stretches of memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pairlearn.data.types import Bools, Floats, Ints
    from pairlearn.engine.components.order import Leaves, Merge, Order, Series

__all__ = ["TINY", "Passes"]

# The least entry of a table relative to the largest: products of two are still numbers.
TINY = 1e-140


@dataclass
class Passes:
    """One evaluation: the tables on the way up, the marginals on the way down.

    Parameters
    ----------
    order : Order
        As from `find_order`.
    log_u : ndarray of shape (n_classes, n_points, n_models)
        Logarithms of the points' weights; they are worked on in place.
    tables : ndarray of shape (n_classes, n_classes, order.n_links, n_models)
        Tables of the given links; space for those that are made.

    Attributes
    ----------
    log_scale : ndarray of shape (n_models,)
        What weights and tables were divided by.
    marginals : ndarray of shape (n_classes, n_points, n_models)
        m, after the way down; to be set for what is left after the way up.
    beliefs : ndarray, as `tables`
        b, likewise.
    """

    order: Order
    log_u: Floats
    tables: Floats

    def __post_init__(self) -> None:
        self.log_scale = np.zeros(self.log_u.shape[2])
        self.marginals = np.empty_like(self.log_u)
        self.beliefs = np.empty_like(self.tables)
        # What the way up leaves for the way down, round after round.
        self._left: list[tuple[Floats, ...]] = []

    def up(self) -> None:
        """Sum out all points but roots and kernel."""
        for step in self.order.rounds:
            self._merge(step.merge)
            self._leaves_up(step.leaves)
            self._series_up(step.series)

    def down(self) -> None:
        """Find the marginals of what was summed out."""
        for step in reversed(self.order.rounds):
            self._series_down(step.series)
            self._leaves_down(step.leaves)
            self._unmerge(step.merge)

    def _weights(self, points: Ints) -> Floats:
        """Return the weights of points, of which the largest is 1."""
        log_u = self.log_u[:, points]
        top = log_u.max(axis=0)
        self.log_scale += top.sum(axis=0)
        return np.asarray(np.exp(log_u - top))

    def _seen_from(self, links: Ints, turned: Bools) -> Floats:
        """Return the tables of links, with the rows of the other end where turned."""
        return _turn(self.tables[:, :, links], turned)

    def _merge(self, merge: Merge) -> None:
        if not len(merge.new):
            return
        logs = np.log(self._seen_from(merge.old, merge.turned))
        product = np.add.reduceat(logs, merge.begins, axis=2)
        top = product.max(axis=(0, 1))
        self.log_scale += top.sum(axis=0)
        self.tables[:, :, merge.new] = np.maximum(np.exp(product - top), TINY)

    def _unmerge(self, merge: Merge) -> None:
        if not len(merge.new):
            return
        size = np.diff(np.append(merge.begins, len(merge.old)))
        shared = self.beliefs[:, :, np.repeat(merge.new, size)]
        self.beliefs[:, :, merge.old] = _turn(shared, merge.turned)

    def _leaves_up(self, leaves: Leaves) -> None:
        if not len(leaves.point):
            return
        table = self._seen_from(leaves.link, leaves.turned)
        table *= self._weights(leaves.point)
        message = table.sum(axis=1)
        self._left.append((table, message))
        self.log_u[:, leaves.targets] += np.add.reduceat(
            np.log(message), leaves.begins, axis=1
        )

    def _leaves_down(self, leaves: Leaves) -> None:
        if not len(leaves.point):
            return
        belief, message = self._left.pop()
        belief *= (self.marginals[:, leaves.into] / message)[:, None]
        self.marginals[:, leaves.point] = belief.sum(axis=0)
        self.beliefs[:, :, leaves.link] = _turn(belief, leaves.turned)

    def _series_up(self, series: Series) -> None:
        if not len(series.point):
            return
        first = self._seen_from(series.first, series.first_turned)
        first *= self._weights(series.point)
        second = self._seen_from(series.second, series.second_turned)
        made = _product(first, second)
        self._left.append((first, second, made))
        top = made.max(axis=(0, 1))
        self.log_scale += np.log(top).sum(axis=0)
        self.tables[:, :, series.new] = np.maximum(made / top, TINY)

    def _series_down(self, series: Series) -> None:
        if not len(series.point):
            return
        first, second, made = self._left.pop()
        ratio = self.beliefs[:, :, series.new] / made
        belief = first * _product(ratio, second.swapaxes(0, 1))
        self.marginals[:, series.point] = belief.sum(axis=0)
        self.beliefs[:, :, series.first] = _turn(belief, series.first_turned)
        belief = second * _product(first.swapaxes(0, 1), ratio)
        self.beliefs[:, :, series.second] = _turn(belief, series.second_turned)


def _product(left: Floats, right: Floats) -> Floats:
    """Multiply matrices on the first two axes."""
    total = left[:, None, 0] * right[None, 0]
    for c in range(1, len(right)):
        total += left[:, None, c] * right[None, c]
    return total


def _turn(tables: Floats, turned: Bools) -> Floats:
    """Exchange rows and columns of some of the tables."""
    if not turned.any():
        return tables
    if turned.all():
        return tables.swapaxes(0, 1)
    out = tables.copy()
    for a in range(len(tables)):
        for b in range(a):
            out[a, b, turned] = tables[b, a, turned]
            out[b, a, turned] = tables[a, b, turned]
    return out
