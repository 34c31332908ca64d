r"""The likelihood of answers that share points.

Point i is of class c with probability p_i(c), whatever the other points, and an answer
is "same" with probability r1 if its two points are of the same class and r0 if not.
Answers about points that are connected by answers then have the joint likelihood

.. math:: Z = \sum_{c_1, \dots, c_n} \prod_i p_i(c_i) \prod_k \psi_k(c_{i_k}, c_{j_k}),
          \qquad \psi_k = \begin{cases}
          s_k r_1 + (1 - s_k) (1 - r_1) & \text{if the classes are the same} \\
          s_k r_0 + (1 - s_k) (1 - r_0) & \text{if they are different,}
          \end{cases}

a sum over the classes of all points of the component; s = (1 + t) / 2 for the answer
t, and an answer with weight v counts as psi^v. For two classes and answers that are
right it is prod p_i(s_i) + prod p_i(-s_i), with the signs s_i that the answers imply: a
chain of answers is worth as much as a star. Of a pair that shares no point with another
Z is the usual likelihood.

The derivative in a score is the marginal of the class less its probability: with p the
softmax of the scores f (or the sigmoid of one score, for two classes),

.. math:: \frac{\partial \log Z}{\partial f_i(c)} = m_i(c) - p_i(c) ,

since d log p_i(c') / d f_i(c) = [c = c'] - p_i(c) and d log Z / d log p = m.

The sum is exact, and linear in the answers, on trees and on all graphs that fall apart
when points with one or two neighbours are summed out; exact on others as long as their
tables stay small; and Bethe's approximation on the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.special import log_softmax

from pairlearn.engine.components.kernel import plan_elimination
from pairlearn.engine.components.order import find_order
from pairlearn.engine.components.passes import TINY, Passes
from pairlearn.engine.components.propagation import Propagation

if TYPE_CHECKING:
    from pairlearn.data.types import Bools, Floats, Ints
    from pairlearn.engine.components.kernel import Elimination
    from pairlearn.engine.components.propagation import Memory

__all__ = [
    "Answers",
    "Components",
    "LinkTables",
    "Posterior",
    "class_log_probabilities",
    "shares_points",
]

# The most entries of a table over several points.
MAX_STATES = 2**14
# Kernels with more points than this are left to belief propagation in any case.
_MANY = 64
# So are those of more than so many points whose tables have more entries in all than
# this: the sum would take several times as long.
_FEW, _MOST_ENTRIES = 12, 2**12


class Answers(NamedTuple):
    """How much either answer to each pair counts for each model.

    Both have shape (n_pairs, n_models): v (1 + t) / 2 and v (1 - t) / 2.
    """

    same: Floats
    different: Floats


class LinkTables(NamedTuple):
    """psi of each link, (n_links, n_models), up to a factor for each model."""

    same: Floats
    different: Floats
    log_scale: Floats


class Posterior(NamedTuple):
    """What all answers and probabilities together say.

    Attributes
    ----------
    log_z : ndarray of shape (n_models,)
        Log-likelihood of the answers.
    points : ndarray of shape (n_classes, n_points, n_models)
        Marginal distribution of each point's class; p where a point is in no link.
    links : ndarray of shape (n_links, n_models)
        Probability that the two points of a link are of the same class.
    """

    log_z: Floats
    points: Floats
    links: Floats


def shares_points(index: Ints, n_points: int) -> Bools:
    """Tell which pairs share a point with another pair.

    A pair of a point with itself says nothing and counts as sharing.

    Examples
    --------
    >>> import numpy as np
    >>> shares_points(np.array([[0, 1], [2, 3], [3, 4]]), 5)
    array([False,  True,  True])
    """
    times = np.bincount(index.ravel(), minlength=n_points)
    return np.asarray((times[index] > 1).any(axis=1))


def class_log_probabilities(scores: Floats) -> Floats:
    """Return log p, (n_classes, n_points, n_models).

    `scores` has shape (n_points, n_models) for two classes, else (n_points, n_models,
    n_classes).
    """
    if scores.ndim == 2:
        # log(1 / (1 + exp(-f))) = min(f, 0) - log(1 + exp(-|f|)), and one logarithm
        # serves both classes.
        rest = np.log1p(np.exp(-np.abs(scores)))
        return np.stack([np.minimum(-scores, 0), np.minimum(scores, 0)]) - rest
    return np.moveaxis(log_softmax(scores, axis=2), 2, 0)


def _summed(logs: Floats) -> tuple[Floats, Floats]:
    """Return the logarithm of the sum over classes, and the share of each class.

    These are logsumexp and softmax over the first axis, with one exponential for both.
    """
    top = logs.max(axis=0)
    share = np.exp(logs - top)
    total = share.sum(axis=0)
    share /= total
    return np.log(total) + top, share


@dataclass
class Components:
    """The graph of some answers, and how to sum over it.

    Parameters
    ----------
    index : ndarray of shape (n_pairs, 2)
        The pairs.
    n_points : int
        Number of points.
    n_classes : int
        Number of classes.
    max_states : int, optional
        Kernels are summed over exactly if no table has more entries than this. None:
        16,384, and 4,096 in all tables of a kernel with more than 12 points.

    Attributes
    ----------
    links : ndarray of shape (n_links, 2)
        The pairs of two different points, each once.
    exact : bool
        Whether the sum is exact.
    """

    index: Ints
    n_points: int
    n_classes: int
    max_states: int | None = None
    links: Ints = field(init=False)
    exact: bool = field(init=False)

    def __post_init__(self) -> None:
        low, high = self.index.min(axis=1), self.index.max(axis=1)
        key = low.astype(np.int64) * self.n_points + high
        proper = np.flatnonzero(low != high)
        _, first, link = np.unique(key[proper], return_index=True, return_inverse=True)
        self.links = np.stack([low, high], axis=1)[proper[first]]
        # Adds up what the answers to each pair say.
        self._at_link = sparse.csr_array(
            (np.ones(len(proper)), (link, proper)),
            shape=(len(self.links), len(self.index)),
        )
        self._used, ends = np.unique(self.links, return_inverse=True)
        self._order = find_order(len(self._used), ends.reshape(-1, 2))
        self._plan_kernels()

    def _plan_kernels(self) -> None:
        """Decide for each part of the kernel how to sum over it."""
        order = self._order
        ends = order.ends[order.kernel]
        graph = sparse.csr_array(
            (np.ones(len(ends)), ends.T), shape=(len(self._used),) * 2
        )
        _, part = csgraph.connected_components(graph, directed=False)
        self._sums: list[Elimination] = []
        large = np.zeros(len(ends), dtype=bool)
        of_link = part[ends[:, 0]] if len(ends) else np.empty(0, dtype=int)
        by_part = np.argsort(of_link, kind="stable")
        borders = np.flatnonzero(np.diff(of_link[by_part])) + 1
        for members in np.split(by_part, borders) if len(ends) else []:
            points = np.unique(ends[members])
            plan = None
            if len(points) <= _MANY:
                plan = plan_elimination(
                    points,
                    order.kernel[members],
                    order.ends,
                    self.n_classes,
                    self.max_states or MAX_STATES,
                )
            slow = plan is not None and plan.n_entries > _MOST_ENTRIES
            if plan is None or (slow and len(points) > _FEW and not self.max_states):
                large[members] = True
            else:
                self._sums.append(plan)
        self._loopy_links = order.kernel[large]
        self._loopy_points, local = np.unique(ends[large], return_inverse=True)
        self._loopy = Propagation(local.reshape(-1, 2), len(self._loopy_points))
        self.exact = not large.any()

    def at_links(self, *values: Floats) -> list[Floats]:
        """Add up values of the pairs for each link."""
        return [self._at_link @ value for value in values]

    def at_pairs(self, values: Floats) -> Floats:
        """Return the value of each pair's link; 0 for pairs of one point."""
        return np.asarray(self._at_link.T @ values)

    def rate_slopes(
        self, answers: Answers, links: Floats, rates: tuple[float, float]
    ) -> Floats:
        """Return the derivatives of log Z of one model in its two flip rates.

        With P the probability that the points of an answer are the same, it is the sum
        over answers of v P (2s - 1) / psi(same) for r1, and likewise for r0.
        """
        alike = self.at_pairs(links)[:, 0]
        # A point and itself are the same for certain, and say nothing about rates.
        proper = self.index[:, 0] != self.index[:, 1]
        weight = (answers.same + answers.different)[:, 0] * proper
        share = answers.same[:, 0] / np.where(weight > 0, weight, 1.0)
        slopes = [
            weight * chance * (2 * share - 1) / (share * r + (1 - share) * (1 - r))
            for chance, r in zip((alike, 1 - alike), rates, strict=True)
        ]
        return np.array([slope.sum() for slope in slopes])

    def tables(self, answers: Answers, rates: tuple[Any, Any]) -> LinkTables:
        """Return psi of each link.

        Parameters
        ----------
        answers : Answers
            Their weights.
        rates : tuple of float or of ndarray of shape (n_models,)
            (r1, r0).
        """
        weight = answers.same + answers.different
        share = answers.same / np.where(weight > 0, weight, 1.0)
        logs = [
            self._at_link @ (weight * np.log(share * r + (1 - share) * (1 - r)))
            for r in rates
        ]
        top = np.maximum(*logs)
        # Very many answers about one pair would leave nothing of the other case.
        same, different = (np.maximum(np.exp(each - top), TINY) for each in logs)
        return LinkTables(same, different, top.sum(axis=0))

    def __call__(
        self,
        log_p: Floats,
        tables: LinkTables,
        memory: Memory | None = None,
        models: Ints | None = None,
    ) -> Posterior:
        """Sum over the classes of all points.

        Parameters
        ----------
        log_p : ndarray of shape (n_classes, n_points, n_models)
            Logarithms of class probabilities, or of other weights.
        tables : LinkTables
            psi for the same models.
        memory : Memory, optional
            Where belief propagation begins, and leaves its messages.
        models : ndarray, optional
            Which of the memory's models these are.

        Returns
        -------
        Posterior
        """
        order, n_given = self._order, len(self.links)
        n_classes, _, n_models = log_p.shape
        full = np.empty((n_classes, n_classes, order.n_links, n_models))
        full[:, :, :n_given] = tables.different
        for c in range(n_classes):
            full[c, c, :n_given] = tables.same
        passes = Passes(order, log_p[:, self._used], full)
        passes.up()
        log_z = tables.log_scale + passes.log_scale
        roots = passes.log_u[:, order.roots]
        totals, passes.marginals[:, order.roots] = _summed(roots)
        log_z += totals.sum(axis=0)
        log_z += self._kernels(passes, memory, models)
        passes.down()
        points = _summed(log_p)[1]
        points[:, self._used] = passes.marginals
        same = sum(passes.beliefs[c, c, :n_given] for c in range(n_classes))
        return Posterior(log_z, points, np.asarray(same))

    def _kernels(
        self, passes: Passes, memory: Memory | None, models: Ints | None
    ) -> Floats:
        """Sum over what the way up has left."""
        log_z = np.zeros(passes.log_u.shape[2])
        for plan in self._sums:
            log_u = passes.log_u[:, plan.points]
            top = log_u.max(axis=0)
            log_z += top.sum(axis=0)
            # Models come first in tables with many axes.
            u = np.exp(log_u - top).transpose(1, 2, 0)
            given = passes.tables[:, :, plan.links].transpose(2, 3, 0, 1)
            value, points, beliefs = plan.sum(
                dict(zip(plan.points, u, strict=True)), list(given)
            )
            log_z += value
            for point, marginal in points.items():
                passes.marginals[:, point] = marginal.T
            for link, belief in zip(plan.links, beliefs, strict=True):
                passes.beliefs[:, :, link] = belief.transpose(1, 2, 0)
        if len(self._loopy_links):
            value, marginals, joint = self._loopy(
                passes.log_u[:, self._loopy_points],
                passes.tables[:, :, self._loopy_links],
                memory,
                models,
            )
            log_z += value
            passes.marginals[:, self._loopy_points] = marginals
            passes.beliefs[:, :, self._loopy_links] = joint
        return log_z
