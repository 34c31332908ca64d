"""k-means under constraints."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.cluster import kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning

from pairlearn.data.checks import check_choice
from pairlearn.engine.points import as_points
from pairlearn.models.cluster.base import PairClusterer, as_dense, order_clusters
from pairlearn.models.cluster.constraints import (
    Constraints,
    ManyClusters,
    StuckError,
    TwoClusters,
)

if TYPE_CHECKING:
    from numpy.random import RandomState

    from pairlearn.data.types import Floats, Ints, PointsLike
    from pairlearn.models.base import Answered

__all__ = ["ConstrainedKMeans"]


class ConstrainedKMeans(PairClusterer):
    r"""k-means in which every answer is a hard constraint.

    Minimises the inertia

    .. math:: \sum_i |x_i - c_{z_i}|^2

    over centres c and clusters z of the points, subject to z_i = z_j for every pair
    with the answer +1 ("must-link") and z_i != z_j for every pair with the answer -1
    ("cannot-link"). Two steps take turns: each centre moves to the mean of its
    points, and the points are assigned again under the constraints. Neither increases
    the inertia. The best of `n_init` k-means++ starts is kept.

    Points that must go together are replaced by their mean, so that a step costs
    O(groups). With two clusters the assignment step is exact: the answers fix the
    relative clusters of a whole component of the graph of pairs, which then takes
    the cheaper of its two labelings. With more, it is a search with backtracking.

    With two clusters the score is f(x) = \|x - c_0\|^2 - \|x - c_1\|^2, linear in x.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters. Scores and class assignment are for two.
    n_init : int, default=10
        Number of starts.
    max_iter : int, default=300
        Iterations of a start.
    tol : float, default=1e-4
        A start ends when the centres move by less: the sum of their squared moves,
        relative to the mean variance of the features.
    on_contradiction : {"raise", "drop"}, default="raise"
        What to do when answers exclude each other: raise an error that names the
        pairs, or drop the answers that a spanning forest of the others refutes.
    majority : {+1, -1} or None, default=None
        The class that holds more than half of the points: +1 for the second of
        `classes`, -1 for the first. None: no class assignment; the clusters are in
        order of the coordinate in which their centres differ most.
    assignment_size : float or int, default=0.2
        Share (or number) of pairs kept out of the clustering for class assignment.
    classes : tuple, default=(-1, 1)
        Names of the negative and of the positive class; for two clusters.
    random_state : int, RandomState or None, default=None
        Seed of the starts, and of the choice of pairs for class assignment.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres, in the order of `classes_`.
    labels_ : ndarray of shape (n_fitted_points,)
        Class of each fitted point: first the points of the pairs, in the order of
        `rows_`, then the unlabeled ones.
    rows_ : ndarray
        Row numbers of the points of the pairs that were fitted.
    inertia_ : float
        The sum of squared distances to the assigned centre.
    history_ : dict
        "inertia": the inertia after each assignment step of the best start.
    n_iter_ : int
        Iterations of the best start.
    dropped_ : ndarray
        Numbers of the pairs whose answers were dropped as refuted.
    assignment_ : Assignment or None
        Outcome of the class assignment.
    classes_ : ndarray of shape (n_clusters,)
        The negative and the positive class; 0 to n_clusters - 1 for more than two.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if the points have any.

    Notes
    -----
    Only certain answers (-1 and +1) are constraints, as in :meth:`Pairs.closure`;
    points of pairs with an uncertain answer take part as points without answers. Of the
    weights of pairs it matters only whether they are zero: a constraint holds or does
    not.

    New points go to the nearest centre. That is also where a fitted point without
    answers is; one with answers may have been pushed to the other cluster.

    *Not guaranteed:* the least inertia (starts help); for more than two clusters, the
    cheapest assignment in each step, nor that a search finds one that exists (graph
    colouring is hard; the error says whether there is none or none was found); that
    the clusters are the classes. The answers bind their own points, and the inertia
    decides the rest: when the classes are not the most compact groups, a method that
    learns from the answers does better (:class:`~pairlearn.CIPSClassifier`). It also
    does better when answers are wrong, since here one wrong answer can swap the
    clusters of a whole component.

    References
    ----------
    K. Wagstaff, C. Cardie, S. Rogers and S. Schroedl, "Constrained k-means clustering
    with background knowledge", ICML 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import ConstrainedKMeans, Pairs
    >>> X = np.array([[0.0], [1.0], [4.0], [5.0], [9.0]])
    >>> pairs = Pairs(X, [[0, 1], [1, 2], [2, 3], [3, 4]])
    >>> ConstrainedKMeans(random_state=0).fit(pairs, [1, -1, 1, 1]).labels_
    array([-1, -1,  1,  1,  1])
    >>> ConstrainedKMeans(random_state=0).fit(pairs, [1, 1, 1, -1]).labels_
    array([-1, -1, -1, -1,  1])
    """

    def __init__(
        self,
        *,
        n_clusters: int = 2,
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        on_contradiction: str = "raise",
        majority: int | None = None,
        assignment_size: float = 0.2,
        classes: tuple[Any, Any] = (-1, 1),
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.on_contradiction = on_contradiction
        self.majority = majority
        self.assignment_size = assignment_size
        self.classes = classes
        self.random_state = random_state

    def _cluster(self, given: Answered, numbers: Ints, rng: RandomState) -> Ints:
        certain = np.abs(given.t) == 1
        if not certain.any():
            raise ValueError(
                "no answer is certain (-1 or +1), and soft answers do not constrain a "
                "clustering; round them, for example numpy.where(t > 0, 1, -1)"
            )
        kind = TwoClusters if self.n_clusters == 2 else ManyClusters
        pairs, t, _ = given.part(certain)
        drop = self.on_contradiction == "drop"
        constraints: Constraints = kind(
            pairs.n_points, pairs.index, t, numbers[certain], drop=drop
        )
        problem = _Problem.of(pairs.X, constraints)
        runs, stuck = [], None
        for _ in range(self.n_init):
            try:
                runs.append(problem.run(self.n_clusters, self.max_iter, self.tol, rng))
            except StuckError as error:
                # Another start searches in another order, and may find what this one
                # did not.
                stuck = error
                if error.proved:
                    break
        if stuck is not None and not runs:
            raise stuck
        best = min(runs, key=lambda run: run.history[-1])
        if not best.converged:
            warnings.warn(
                f"k-means stopped after max_iter={self.max_iter} iterations; raise "
                "max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )
        order = order_clusters(best.centres)
        self.cluster_centers_ = best.centres[order] + problem.shift
        self.inertia_ = best.history[-1]
        self.history_ = {"inertia": np.array(best.history)}
        self.n_iter_ = len(best.history) - 1
        self.dropped_ = constraints.dropped
        clusters: Ints = np.argsort(order)[best.clusters[constraints.group]]
        return clusters

    def _affinities(self, X: PointsLike) -> Floats:
        # Relative to the middle of the centres, so that little is lost to rounding
        # when all points are far from the origin. |x|^2, the same for all, is left out.
        middle = self.cluster_centers_.mean(axis=0)
        centres = self.cluster_centers_ - middle
        offset = np.einsum("ij,ij->i", centres, centres) + 2 * centres @ middle
        return as_points(X).scores(2 * centres.T, -offset)

    def _flip(self) -> None:
        super()._flip()
        self.cluster_centers_ = self.cluster_centers_[::-1].copy()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("on_contradiction", self.on_contradiction, ("raise", "drop"))
        if not self.tol >= 0:
            raise ValueError(f"tol must not be negative; got {self.tol}")


@dataclass(frozen=True)
class _Run:
    """Where one start of k-means ended."""

    clusters: Ints
    centres: Floats
    history: list[float]
    converged: bool


@dataclass(frozen=True)
class _Problem:
    """k-means on groups of points that go together.

    Attributes
    ----------
    means : ndarray or CSR array of shape (n_groups, n_features)
        Means of the groups; dense ones relative to `shift`.
    square : ndarray of shape (n_groups,)
        Their squared lengths.
    size : ndarray of shape (n_groups,)
        Points a group.
    scatter : float
        Sum of squared distances of points to the mean of their group.
    spread : float
        Mean variance of the features.
    shift : ndarray of shape (n_features,)
        The mean of the points if they are dense, against loss of accuracy far from
        the origin; zero if they are sparse.
    constraints : Constraints
        What an assignment has to respect.
    """

    means: Any
    square: Floats
    size: Floats
    scatter: float
    spread: float
    shift: Floats
    constraints: Constraints

    @classmethod
    def of(cls, X: PointsLike, constraints: Constraints) -> Self:
        X = X.astype(np.float64)
        n_points, n_features = X.shape
        shift = np.zeros(n_features)
        if not sparse.issparse(X):
            shift = X.mean(axis=0)
            X = X - shift
        size = np.bincount(constraints.group).astype(float)
        gather = sparse.csr_array(
            (1 / size[constraints.group], (constraints.group, np.arange(n_points)))
        )
        means = gather @ X
        square = _squares(means)
        total, mean = _squares(X).sum(), np.asarray(X.mean(axis=0)).ravel()
        scatter = max(0.0, float(total - size @ square))
        spread = max(0.0, float(total / n_points - mean @ mean) / n_features)
        return cls(means, square, size, scatter, spread, shift, constraints)

    def run(self, n_clusters: int, max_iter: int, tol: float, rng: RandomState) -> _Run:
        """Start from k-means++ and take turns until nothing moves."""
        if len(self.size) < n_clusters:
            raise ValueError(
                f"n_clusters={n_clusters}, but the answers 'same' join the points into "
                f"{len(self.size)} group(s); ask for fewer clusters, drop answers, or "
                "pass unlabeled points"
            )
        centres, _ = kmeans_plusplus(
            self.means, n_clusters, sample_weight=self.size, random_state=rng
        )
        centres = as_dense(centres)
        clusters, price = self._assign(centres, None)
        history, converged = [price], False
        while len(history) <= max_iter and not converged:
            moved = self._centres(clusters, centres)
            before = clusters
            # Assigned after the centres moved, so that what is returned fits together.
            clusters, price = self._assign(moved, before)
            history.append(price)
            converged = bool(
                np.array_equal(clusters, before)
                or np.sum((moved - centres) ** 2) <= tol * self.spread
            )
            centres = moved
        return _Run(clusters, centres, history, converged)

    def _assign(self, centres: Floats, previous: Ints | None) -> tuple[Ints, float]:
        """Return the clusters of the groups and the inertia."""
        distance = self._distances(centres)
        cost = self.size[:, None] * distance
        clusters = self.constraints.assign(cost, previous)
        price = cost[np.arange(len(clusters)), clusters].sum()
        return clusters, float(price) + self.scatter

    def _centres(self, clusters: Ints, centres: Floats) -> Floats:
        """Return the mean of each cluster; an empty one moves to the worst group."""
        n_clusters = len(centres)
        total = np.bincount(clusters, self.size, minlength=n_clusters)
        empty = np.flatnonzero(total == 0)
        share = self.size / total[clusters]
        gather = sparse.csr_array(
            (share, (clusters, np.arange(len(clusters)))),
            shape=(n_clusters, len(clusters)),
        )
        moved: Floats = as_dense(gather @ self.means)
        if empty.size:
            distance = self._distances(centres)[np.arange(len(clusters)), clusters]
            worst = np.argsort(-self.size * distance)[: len(empty)]
            moved[empty] = as_dense(self.means[worst])
        return moved

    def _distances(self, centres: Floats) -> Floats:
        """Return the squared distance of each group's mean from each centre."""
        distance = as_points(self.means).scores(-2 * centres.T, _squares(centres))
        distance += self.square[:, None]
        return np.maximum(distance, 0.0, out=distance)


def _squares(X: PointsLike) -> Floats:
    """Return |x|^2 of each row."""
    if sparse.issparse(X):
        X = X.copy()
        X.data **= 2
        return np.asarray(X.sum(axis=1), dtype=float).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))
