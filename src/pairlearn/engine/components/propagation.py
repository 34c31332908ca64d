r"""Kernels that are too large for tables: belief propagation.

Each link sends a message to both of its ends: what it says about the classes of the
point, given what the other end knows from elsewhere. With b the normalised belief of
the other end without this link, the message is F b. In a fixed point the beliefs are
approximate marginals, exact were there no cycles, and

.. math:: \log Z \approx \sum_i \log \Big[\sum_c u_i(c) \prod_k (F_k b_k)(c)\Big]
          - \sum_{ij} \log b_{i \setminus j}^T F_{ij} b_{j \setminus i} ,

Bethe's approximation. Its derivatives in log u and log F are the beliefs, since it is
stationary in the messages there.

An evaluation begins with the messages of the last one, if they are kept in a `Memory`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.special import expit, logsumexp, softmax

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.data.types import Floats, Ints

    # What is heard by the sources, and the models it is of -> messages.
    Send = Callable[[Floats, Ints], Floats]

__all__ = ["Memory", "Propagation"]

_ITERATIONS, _TOLERANCE = 200, 1e-6
# Where nothing is known of the points, all classes alike is a fixed point, though not
# the one that the answers speak for: one point of each part says something first.
_NUDGE = 1.0
# From this round on, steps are half as long: full ones can go back and forth for ever.
_PATIENCE = 15


@dataclass
class Memory:
    """Messages of the last evaluation, for each of several models.

    Attributes
    ----------
    messages : ndarray of shape (1 or n_classes, 2 n_links, n_models) or None
        None before the first evaluation.
    tolerance : float
        An evaluation ends when no message moves by more than this.
    """

    n_models: int
    messages: Floats | None = field(default=None, repr=False)
    tolerance: float = 1e-3

    def of(self, models: Ints) -> Memory:
        """Return the memory of some of the models."""
        some = None if self.messages is None else self.messages[:, :, models]
        return Memory(len(models), some, self.tolerance)


class Propagation:
    """Belief propagation on one part of a graph.

    Parameters
    ----------
    ends : ndarray of shape (n_links, 2)
        The points of each link, from 0 to n_points - 1.
    n_points : int
        Number of points.
    """

    def __init__(self, ends: Ints, n_points: int) -> None:
        n_links = len(ends)
        self.n_links = n_links
        # First all messages from left to right, then all from right to left.
        self.source = np.concatenate([ends[:, 0], ends[:, 1]])
        self.target = np.concatenate([ends[:, 1], ends[:, 0]])
        self.back = np.roll(np.arange(2 * n_links), n_links)
        self.gather = sparse.csr_array(
            (np.ones(2 * n_links), (self.target, np.arange(2 * n_links))),
            shape=(n_points, 2 * n_links),
        )
        # What the point with most links in each part says at the beginning.
        graph = sparse.csr_array((np.ones(n_links), ends.T), shape=(n_points,) * 2)
        _, part = csgraph.connected_components(graph, directed=False)
        order = np.lexsort((-np.bincount(self.source, minlength=n_points), part))
        hubs = order[np.append(True, np.diff(part[order]) != 0)[: len(order)]]
        self.first = np.flatnonzero(np.isin(self.source, hubs))

    def __call__(
        self,
        log_u: Floats,
        tables: Floats,
        memory: Memory | None = None,
        models: Ints | None = None,
    ) -> tuple[Floats, Floats, Floats]:
        """Return log Z, marginals of points, and marginals of links.

        `log_u` has shape (n_classes, n_points, n_models), `tables` (n_classes,
        n_classes, n_links, n_models). `models` says which of the memory's models these
        are.
        """
        n_models = log_u.shape[2]
        models = np.arange(n_models) if models is None else models
        two = len(log_u) == 2
        # Of two classes only the difference counts.
        field = log_u[1:] - log_u[:1] if two else log_u
        send = _two_classes(tables) if two else _several_classes(tables)
        message = np.zeros((len(field), 2 * self.n_links, n_models))
        message[-1, self.first] = _NUDGE
        if memory is not None and memory.messages is not None:
            message = memory.messages[:, :, models]
        tolerance = _TOLERANCE if memory is None else memory.tolerance
        busy = np.arange(n_models)
        for iteration in range(_ITERATIONS):
            some = message if len(busy) == n_models else message[:, :, busy]
            new = send(self._heard(field[:, :, busy], some), busy)
            step = np.abs(new - some).max(axis=(0, 1), initial=0.0)
            message[:, :, busy] = new if iteration < _PATIENCE else (some + new) / 2
            busy = busy[step > tolerance]
            if not len(busy):
                break
        if memory is not None:
            if memory.messages is None:
                memory.messages = np.zeros((*message.shape[:2], memory.n_models))
                memory.messages[-1, self.first] = _NUDGE
            memory.messages[:, :, models] = message
        heard = self._heard(field, message)
        cavity = normalised(np.concatenate([0 * heard, heard]) if two else heard)
        return self._outcome(log_u, tables, cavity)

    def _heard(self, field: Floats, message: Floats) -> Floats:
        """Return what the source of each message knows from elsewhere."""
        belief = field + self._summed(message)
        return np.asarray(belief[:, self.source] - message[:, self.back])

    def _summed(self, message: Floats) -> Floats:
        return np.stack([self.gather @ each for each in message])

    def _outcome(
        self,
        log_u: Floats,
        tables: Floats,
        cavity: Floats,
    ) -> tuple[Floats, Floats, Floats]:
        seen = np.concatenate([tables.swapaxes(0, 1), tables], axis=2)
        sent = (seen * cavity).sum(axis=1)
        belief = log_u + self._summed(np.log(sent))
        left, right = cavity[:, : self.n_links], cavity[:, self.n_links :]
        # Sent to the right end from the left: what the right end's belief meets.
        meeting = (sent[:, : self.n_links] * right).sum(axis=0)
        log_z = logsumexp(belief, axis=0).sum(axis=0) - np.log(meeting).sum(axis=0)
        joint = left[:, None] * tables * right[None] / meeting
        return np.asarray(log_z), normalised(belief), joint


def normalised(log_weights: Floats) -> Floats:
    """Return probabilities, the classes on the first axis."""
    if len(log_weights) == 2:
        odds = log_weights[1] - log_weights[0]
        return np.stack([expit(-odds), expit(odds)])
    return np.asarray(softmax(log_weights, axis=0))


def _two_classes(tables: Floats) -> Send:
    """Return log-odds of the messages as a function of log-odds heard."""
    seen = np.concatenate([tables.swapaxes(0, 1), tables], axis=2)
    (a, b), (c, d) = seen
    b, d = b - a, d - c

    def send(heard: Floats, busy: Ints) -> Floats:
        second = expit(heard[0])
        if len(busy) == a.shape[1]:
            return np.asarray(np.log((c + d * second) / (a + b * second))[None])
        top = c[:, busy] + d[:, busy] * second
        return np.asarray(np.log(top / (a[:, busy] + b[:, busy] * second))[None])

    return send


def _several_classes(tables: Floats) -> Send:
    """Return logarithms of the messages as a function of what was heard.

    Where every table has one entry for "same" and one for "different", these two say
    all, and a message costs C instead of C^2.
    """
    same, different = tables[0, 0], tables[0, 1]
    plain = all(
        np.array_equal(table, same if a == b else different)
        for a, row in enumerate(tables)
        for b, table in enumerate(row)
    )
    both = np.concatenate([tables.swapaxes(0, 1), tables], axis=2)
    least, more = both[0, 1], both[0, 0] - both[0, 1]

    def send(heard: Floats, busy: Ints) -> Floats:
        cavity = normalised(heard)
        if plain:
            new = np.log(least[:, busy] + more[:, busy] * cavity)
        else:
            new = np.log((both[..., busy] * cavity).sum(axis=1))
        new -= new.max(axis=0)
        return np.asarray(new)

    return send
