"""Spectral clustering of a graph that answers have adjusted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

from pairlearn.models.cluster.base import PairClusterer, as_dense, order_clusters

if TYPE_CHECKING:
    from numpy.random import RandomState

    from pairlearn.data.types import Floats, Ints, PointsLike
    from pairlearn.models.base import Answered

__all__ = ["ConstrainedSpectralClustering"]

# Weight that is added between all points, relative to the mean degree. 0.001 or 0.01
# do as well; without it islands of outliers become clusters.
_BACKGROUND = 0.003
# Up to here all eigenvectors by LAPACK are as fast as a few by ARPACK.
_DENSE = 500
# Answered points whose propagation is computed at once; bounds the memory.
_BLOCK = 128


class ConstrainedSpectralClustering(PairClusterer):
    r"""Spectral clustering of a graph that the answers have adjusted.

    1. W: each point is linked to its `n_neighbors` nearest, and they to it, with
       W_ij = exp(-d_ij^2 / (s_i s_j)), s_i the distance to the last of them.
    2. The answers Z_ij = sum of v_k t_k over the pairs k of i and j spread along W:

       .. math:: F = (I - a S)^{-1} Z (I - a S)^{-1}, \quad
                 S = D^{-1/2} W D^{-1/2}

       with a = `propagation`. F is then divided by the mean of its size on the
       answered pairs and clipped to [-1, 1].
    3. W~_ij = 1 - (1 - F_ij)(1 - W_ij) where F_ij >= 0, (1 + F_ij) W_ij elsewhere.
    4. k-means on the rows, scaled to length 1, of the leading eigenvectors of
       D~^{-1/2} (W~ + e) D~^{-1/2}. The weight e, the same between any two points,
       adds 0.3 % to the mean degree: without it a few points that are linked to no
       others would make a cluster.

    F is dense. It is used, and computed, only on the links of W, on the answered
    pairs, and between their points' neighbours; W~ is as sparse.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters. Scores and class assignment are for two.
    n_neighbors : int, default=5
        Neighbours a point is linked to, and neighbours that vote on a new point.
    propagation : float, default=0.8
        a, from 0 (an answer is about its pair alone) up to, but not, 1 (it spreads
        far). Time grows as 1 / sqrt(1 - a).
    majority : {+1, -1} or None, default=None
        The class that holds more than half of the points: +1 for the second of
        `classes`, -1 for the first. None: no class assignment; the clusters are in
        order of the feature in which their means differ most.
    assignment_size : float or int, default=0.2
        Share (or number) of pairs kept out of the clustering for class assignment.
    classes : tuple, default=(-1, 1)
        Names of the negative and of the positive class; for two clusters.
    random_state : int, RandomState or None, default=None
        Seed of k-means, and of the choice of pairs for class assignment.

    Attributes
    ----------
    labels_ : ndarray of shape (n_fitted_points,)
        Class of each fitted point: first the points of the pairs, in the order of
        `rows_`, then the unlabeled ones.
    rows_ : ndarray
        Row numbers of the points of the pairs that were fitted.
    affinity_matrix_ : CSR array of shape (n_fitted_points, n_fitted_points)
        W~.
    embedding_ : ndarray of shape (n_fitted_points, n_clusters)
        The rows that k-means clusters.
    n_iter_ : int
        Iterations of k-means.
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
    The method is transductive: let the points to be labelled join the clustering,
    with :meth:`fit_predict` or as `unlabeled` points. A new point is labelled by the
    vote of its `n_neighbors` nearest fitted points, each weighted by the inverse of
    its distance; the score is the difference of the two shares, from -1 to 1. So a
    fitted point keeps its label.

    This is a reconstruction of the idea of Chen and Feng (semi-supervised spectral
    clustering) by way of the constraint propagation of Lu and Ip. No fidelity beyond
    the idea is claimed; the scale of F, where it is used, and the choice of s_i
    (Zelnik-Manor and Perona) and e (Amini and others) are ours.

    *Not guaranteed:* that the answers hold, since they only adjust the graph; that
    "different" answers between parts of the graph that are not linked have any
    effect; a good result on features of different scales (scale them first).

    References
    ----------
    W. Chen and G. Feng, "Spectral clustering: a semi-supervised approach",
    Neurocomputing 77, 2012.
    Z. Lu and H. H. S. Ip, "Constrained spectral clustering via exhaustive and
    efficient constraint propagation", ECCV 2010.
    L. Zelnik-Manor and P. Perona, "Self-tuning spectral clustering", NIPS 2004.
    A. A. Amini, A. Chen, P. J. Bickel and E. Levina, "Pseudo-likelihood methods for
    community detection in large sparse networks", Annals of Statistics 41, 2013.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from pairlearn import ConstrainedSpectralClustering, Pairs, clustering_error
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> pairs, t = Pairs.sample(X, 80, y, random_state=0)
    >>> model = ConstrainedSpectralClustering(random_state=0)
    >>> round(clustering_error(y, model.fit_predict(X, pairs, t)), 2)
    0.0
    """

    def __init__(
        self,
        *,
        n_clusters: int = 2,
        n_neighbors: int = 5,
        propagation: float = 0.8,
        majority: int | None = None,
        assignment_size: float = 0.2,
        classes: tuple[Any, Any] = (-1, 1),
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.propagation = propagation
        self.majority = majority
        self.assignment_size = assignment_size
        self.classes = classes
        self.random_state = random_state

    def _cluster(self, given: Answered, numbers: Ints, rng: RandomState) -> Ints:  # noqa: ARG002 - no answer is refused
        X, index, n_points = given.pairs.X, given.pairs.index, given.pairs.n_points
        n_neighbors = min(self.n_neighbors, n_points - 1)
        self._neighbours = NearestNeighbors(n_neighbors=n_neighbors).fit(X)
        W = _neighbour_graph(self._neighbours)
        pull = given.weight * given.t
        Z = sparse.coo_array((pull, index.T), shape=(n_points, n_points))
        self.affinity_matrix_ = _adjust(W, Z, self.propagation)
        self.embedding_ = _embed(self.affinity_matrix_, self.n_clusters, rng)
        model = KMeans(self.n_clusters, n_init=10, random_state=rng)
        clusters = model.fit_predict(self.embedding_)
        self.n_iter_ = int(model.n_iter_)
        member = sparse.csr_array((np.ones(n_points), (clusters, np.arange(n_points))))
        totals = as_dense(member @ X)
        order = order_clusters(totals / np.bincount(clusters)[:, None])
        named: Ints = np.argsort(order)[clusters]
        return named

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the search tree, which is quickly built again from the points."""
        state = dict(super().__getstate__())
        neighbours = state.pop("_neighbours", None)
        if neighbours is not None:
            state["_searched"] = (neighbours._fit_X, neighbours.n_neighbors)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        searched = state.pop("_searched", None)
        super().__setstate__(state)
        if searched is not None:
            X, n_neighbors = searched
            self._neighbours = NearestNeighbors(n_neighbors=n_neighbors).fit(X)

    def _affinities(self, X: PointsLike) -> Floats:
        distance, nearest = self._neighbours.kneighbors(X)
        met = distance == 0
        vote = np.where(met.any(axis=1, keepdims=True), met, 0.0)
        np.divide(1.0, distance, out=vote, where=~met.any(axis=1, keepdims=True))
        vote /= vote.sum(axis=1, keepdims=True)
        clusters = self._clusters[nearest]
        return np.stack(
            [(vote * (clusters == c)).sum(axis=1) for c in range(self.n_clusters)],
            axis=1,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not 0 <= self.propagation < 1:
            raise ValueError(
                f"propagation must be at least 0 and below 1; got {self.propagation}"
            )


def _neighbour_graph(neighbours: NearestNeighbors) -> Any:
    """Return the Gaussian weights W between each point and its neighbours."""
    distance, nearest = neighbours.kneighbors()
    n_points, n_neighbors = nearest.shape
    scale = distance[:, -1]
    # Many equal points have no scale; they are as near as can be to each other. Bounded
    # below, so that a point far from all others keeps its links.
    product = np.maximum(scale[:, None] * scale[nearest], np.finfo(float).tiny)
    weight = np.exp(-np.minimum(distance**2 / product, 50.0))
    rows = np.repeat(np.arange(n_points), n_neighbors)
    W = sparse.csr_array(
        (weight.ravel(), (rows, nearest.ravel())), shape=(n_points, n_points)
    )
    return sparse.csr_array(W.maximum(W.T))


def _adjust(W: Any, Z: Any, propagation: float) -> Any:
    """Return W~: the weights adjusted by the answers Z, given once a pair."""
    n_points = W.shape[0]
    S = _normalise(W)
    Z = sparse.csc_array(sparse.triu(Z + Z.T, k=1))
    asked = Z != 0
    near = (W != 0).astype(float) + sparse.eye_array(n_points)
    # Where F is wanted: on links, on answered pairs, between their neighbours.
    wanted = near @ (asked + asked.T).astype(float) @ near + W
    row, column = sparse.triu(wanted, k=1).tocoo().coords
    F = np.zeros(len(row))
    # Z = U + U^T, U upper triangular, so F = H U H + its transpose, H the inverse: a
    # sum over the columns j of U of (H U e_j) (H e_j)^T. Only answered columns count.
    columns = np.flatnonzero(np.diff(Z.indptr))
    for start in range(0, len(columns), _BLOCK):
        block = columns[start : start + _BLOCK]
        unit = np.zeros((n_points, len(block)))
        unit[block, np.arange(len(block))] = 1.0
        left = _solve(S, propagation, Z[:, block].toarray())
        right = _solve(S, propagation, unit)
        F += np.einsum("ij,ij->i", left[row], right[column])
        F += np.einsum("ij,ij->i", right[row], left[column])
    size = np.abs(F[np.asarray(asked[row, column]).ravel()])
    if size.any():
        F = np.clip(F / size.mean(), -1.0, 1.0)
    w = np.asarray(W[row, column]).ravel()
    adjusted = np.where(F >= 0, 1 - (1 - F) * (1 - w), (1 + F) * w)
    # A point whose links were all refuted would otherwise be on its own.
    adjusted = np.maximum(adjusted, 1e-6 * w)
    upper = sparse.coo_array((adjusted, (row, column)), shape=W.shape)
    return sparse.csr_array(upper + upper.T)


def _solve(S: Any, a: float, b: Floats) -> Floats:
    """Solve (I - a S) x = b by Chebyshev's iteration.

    The eigenvalues of S lie in [-1, 1], so a known number of sparse products gives
    six digits. The factors of a sparse LU would be nearly dense in more than a few
    dimensions.
    """
    rate = a / (1 + math.sqrt(1 - a * a))
    n_steps = math.ceil(math.log(1e-6) / math.log(rate)) if a > 0 else 0
    before, x, factor = np.zeros_like(b), b, 2.0
    for _ in range(n_steps):
        factor = 1 / (1 - a * a * factor / 4)
        before, x = x, factor * (a * (S @ x) + b - before) + before
    return x


def _embed(W: Any, n_clusters: int, rng: RandomState) -> Floats:
    """Return the leading eigenvectors of the normalised graph, rows of length 1."""
    n_points = W.shape[0]
    degree = W.sum(axis=1)
    background = _BACKGROUND * degree.mean()
    root = 1 / np.sqrt(degree + background)
    scale = sparse.diags_array(root)
    S = sparse.csr_array(scale @ W @ scale)
    # The background weight e = background / n_points has rank one: u u^T.
    u = root * math.sqrt(background / n_points)
    if n_points <= max(_DENSE, 2 * n_clusters):
        last = [n_points - n_clusters, n_points - 1]
        _, vectors = eigh(S.toarray() + np.outer(u, u), subset_by_index=last)
    else:
        operator = LinearOperator(
            S.shape, matvec=lambda v: S @ v + u * (u @ v), dtype=np.float64
        )
        _, vectors = eigsh(
            operator,
            k=n_clusters,
            which="LA",
            v0=rng.uniform(-1, 1, n_points),
            # The eigenvalues are close to each other: more vectors, fewer restarts.
            ncv=min(n_points, max(80, 4 * n_clusters)),
            tol=1e-8,
        )
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    embedding: Floats = vectors / np.where(length > 0, length, 1.0)
    return embedding


def _normalise(W: Any) -> Any:
    scale = sparse.diags_array(1 / np.sqrt(W.sum(axis=1)))
    return sparse.csr_array(scale @ W @ scale)
