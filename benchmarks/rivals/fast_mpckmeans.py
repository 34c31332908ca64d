"""MPCKMeans of active-semi-supervised-clustering without its loops over all pairs.

The same assignments, centres and metric; the logarithm of the metric's determinant is
left out, since it is the same for all clusters and under- or overflows with many
columns.
"""

import numpy as np

before = np.geterr()
from active_semi_clustering.exceptions import (  # noqa: E402
    EmptyClustersException,
    InconsistentConstraintsException,
)
from active_semi_clustering.semi_supervised.pairwise_constraints import (  # noqa: E402
    MPCKMeans,
    mpckmeans,
)

np.seterr(**before)

TRIES = 10


def star(groups):
    """Return links whose closure joins each group and parts it from the others."""
    ml = [(group[0], i) for group in groups for i in group[1:]]
    cl = [(a[0], b[0]) for k, a in enumerate(groups) for b in groups[:k]]
    return ml, cl


def closure(ml, cl, n):
    """Return the closure of the links; the package's takes minutes for 200 answers."""
    parent = list(range(n))

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for i, j in ml:
        parent[root(i)] = root(j)
    members = {}
    for i in range(n):
        members.setdefault(root(i), []).append(i)
    same = {i: set() for i in range(n)}
    apart = {i: set() for i in range(n)}
    for group in members.values():
        for i in group:
            same[i] = set(group) - {i}
    for a, b in {(root(i), root(j)) for i, j in cl}:
        if a == b:
            raise InconsistentConstraintsException
        for i in members[a]:
            apart[i].update(members[b])
        for j in members[b]:
            apart[j].update(members[a])
    return same, apart, [group for group in members.values() if len(group) > 1]


mpckmeans.preprocess_constraints = closure


class FastMPCKMeans(MPCKMeans):
    """MPCKMeans that predicts, too."""

    rescue = False

    def fit(self, X, y=None, ml=(), cl=()):
        """Cluster; the package gives up where a cluster is empty, and so do we not."""
        for attempt in range(TRIES):
            self.rescue = attempt == TRIES - 1
            try:
                return super().fit(X, y, ml, cl)
            except EmptyClustersException:
                continue
        raise EmptyClustersException

    def predict(self, task):
        """Return the groups of all points of a task."""
        scale = np.diag(self.metric_)
        others = task.X[len(task.y) :]
        nearest = self._to_centres(others, self.cluster_centers_, scale).argmin(axis=1)
        return np.concatenate([self.labels_, nearest])

    def _to_centres(self, X, centres, scale):
        return np.stack([(X - centre) ** 2 @ scale for centre in centres], axis=1)

    def _find_farthest_pairs_of_points(self, X, A):
        Z = X * np.sqrt(np.diag(A))
        squares = (Z**2).sum(axis=1)
        distances = squares[:, None] + squares - 2 * Z @ Z.T
        i, j = np.unravel_index(distances.argmax(), distances.shape)
        return max(i, j), min(i, j), float(distances[i, j])

    def _assign_clusters(
        self, X, _y, cluster_centers, A, farthest, ml_graph, cl_graph, w
    ):
        scale = np.diag(A)
        distances = self._to_centres(X, cluster_centers, scale)
        linked = [i for i in ml_graph if ml_graph[i] or cl_graph[i]]
        labels = distances.argmin(axis=1)
        labels[linked] = -1
        np.random.shuffle(linked)  # noqa: NPY002
        for i in linked:
            cost = distances[i].copy()
            for others, apart in ((ml_graph[i], False), (cl_graph[i], True)):
                j = np.array([k for k in others if labels[k] >= 0], dtype=int)
                gaps = (X[j] - X[i]) ** 2 @ scale
                gaps = 2 * w * (farthest[2] - gaps if apart else gaps)
                by_cluster = np.bincount(labels[j], gaps, minlength=len(cost))
                cost += by_cluster if apart else by_cluster.sum() - by_cluster
            labels[i] = cost.argmin()
        for empty in np.flatnonzero(
            np.bincount(labels, minlength=self.n_clusters) == 0
        ):
            if not self.rescue:
                raise EmptyClustersException
            own = distances[np.arange(len(X)), labels]
            labels[own.argmax()] = empty
            distances[own.argmax()] = 0
        return labels

    def _update_metrics(
        self, X, labels, cluster_centers, farthest, ml_graph, cl_graph, w
    ):
        total = ((X - cluster_centers[labels]) ** 2).sum(axis=0)
        far = (X[farthest[0]] - X[farthest[1]]) ** 2
        for i in ml_graph:
            broken = [j for j in ml_graph[i] if labels[j] != labels[i]]
            if broken:
                total = total + w / 2 * ((X[broken] - X[i]) ** 2).sum(axis=0)
            broken = [j for j in cl_graph[i] if labels[j] == labels[i]]
            if broken:
                gaps = far - (X[broken] - X[i]) ** 2
                total = total + w * np.maximum(gaps, 0).sum(axis=0)
        scale = len(X) / np.maximum(total, 1e-9)
        # A column that is constant here says nothing; with other points it would drown
        # all the rest.
        self.metric_ = np.diag(np.where(np.ptp(X, axis=0) > 0, scale, 0))
        return self.metric_
