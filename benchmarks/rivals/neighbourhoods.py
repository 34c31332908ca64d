"""NPU, MinMax and Explore-Consolidate of active-semi-supervised-clustering.

All three end in MPCKMeans, as in their papers; new points get the nearest centre under
its metric. Patched: NumPy's error state, which the package sets to "raise" for all, is
put back; loops over all pairs of points in Python, which take hours with 2,000 points,
are array operations here with the same results (`fast_mpckmeans`); a cluster that stays
empty ten times gets the point farthest from its centre (NPU would try for ever).
"""

import numpy as np
from asking import run
from fast_mpckmeans import FastMPCKMeans, star

before = np.geterr()
from active_semi_clustering.active.pairwise_constraints import (  # noqa: E402
    NPU,
    ExploreConsolidate,
    MinMax,
    explore_consolidate,
    min_max,
    npu,
)
from sklearn.ensemble import RandomForestClassifier  # noqa: E402

np.seterr(**before)

TREES = 50  # as in the package


class Asked:
    """The package's oracle; it ends a method by the package's own exception."""

    def __init__(self, task, budget):
        self.task, self.max_queries_cnt, self.queries_cnt = task, budget, 0

    def query(self, i, j):
        """Tell whether two points are linked."""
        if self.queries_cnt >= self.max_queries_cnt:
            raise npu.MaximumQueriesExceeded
        self.queries_cnt += 1
        return self.task.oracle.same(i, j)


def nearest_distance(i, members, points):
    """Return the least distance to some points; the package's has a loop."""
    return np.sqrt(((points[members] - points[i]) ** 2).sum(axis=1).min())


explore_consolidate.dist = nearest_distance


class FastMinMax(MinMax):
    """MinMax with similarities of all points at once."""

    def _consolidate(self, neighborhoods, X, oracle):
        squares = (X**2).sum(axis=1)
        distances = squares[:, None] + squares - 2 * X @ X.T
        width = np.percentile(np.sqrt(np.maximum(distances, 0)), 20)
        if width == 0:
            width = np.sqrt(np.median(distances[distances > 0]))
        similar = np.exp(-distances / (2 * width**2))
        skeleton = [i for group in neighborhoods for i in group]
        while True:
            closest = similar[:, skeleton].max(axis=1)
            closest[skeleton] = np.inf
            point = int(closest.argmin())
            groups = sorted(neighborhoods, key=lambda g: similar[point, g].max())
            try:
                for group in reversed(groups):
                    if oracle.query(point, group[0]):
                        group.append(point)
                        break
            except min_max.MaximumQueriesExceeded:
                return neighborhoods
            skeleton.append(point)


class FastNPU(NPU):
    """NPU with the similarities that it needs, not all."""

    def _most_informative(self, X, clusterer, neighborhoods):
        n, k = len(X), len(neighborhoods)
        known = [i for group in neighborhoods for i in group]
        if k <= 1:
            return np.random.choice(np.setdiff1d(np.arange(n), known)), [1]  # noqa: NPY002
        forest = RandomForestClassifier(n_estimators=TREES).fit(X, clusterer.labels_)
        leaves = forest.apply(X).astype(np.int32)
        p = np.empty((n, k))
        for column, group in enumerate(neighborhoods):
            together = [(leaves == leaves[j]).mean(axis=1) for j in group]
            p[:, column] = np.mean(together, axis=0)
        p[p.sum(axis=1) == 0] = 1
        p /= p.sum(axis=1, keepdims=True)
        positive = p > 0
        bits = np.where(positive, p * np.log2(np.where(positive, p, 1)), 0)
        # The package counts the groups with a positive chance, in their order.
        cost = (p * np.cumsum(positive, axis=1)).sum(axis=1)
        informative = -bits.sum(axis=1) / cost
        informative[known] = 0
        if not informative.any():
            informative[np.setdiff1d(np.arange(n), known)] = 1
        best = int(informative.argmax())
        return best, p[best]


class Recorder(FastMPCKMeans):
    """The clusterer within NPU; it keeps what it found at each budget."""

    def __init__(self, task, oracle):
        super().__init__(n_clusters=task.n_classes)
        self.task, self.oracle = task, oracle

    def fit(self, X, y=None, ml=(), cl=()):
        """Cluster; the last clustering within a budget is the one that counts."""
        super().fit(X, y, ml, cl)
        labels = self.predict(self.task)
        for budget in self.task.budgets:
            if self.oracle.queries_cnt <= budget:
                self.task.found(budget, labels)
        return self


def ask_npu(task):
    """One run; it clusters after each point anyway."""
    oracle = Asked(task, task.budgets[-1])
    FastNPU(Recorder(task, oracle)).fit(task.pool, oracle)


def ask_in_two_steps(learner):
    """Return a method that asks first and clusters once, budget by budget."""

    def method(task):
        for budget in task.budgets:
            np.random.seed(task.seed)  # noqa: NPY002 - the same questions, and more
            neighborhoods = Groups(learner, task, Asked(task, budget)).found
            model = FastMPCKMeans(n_clusters=task.n_classes)
            model.fit(task.pool, None, *star(neighborhoods))
            task.found(budget, model.predict(task))

    return method


class Groups:
    """The groups that a learner has found; links within and between them follow."""

    def __init__(self, learner, task, oracle):
        model = learner(n_clusters=task.n_classes)
        groups = model._explore(task.pool, task.n_classes, oracle)
        self.found = model._consolidate(groups, task.pool, oracle)


METHODS = {
    "NPU": ask_npu,
    "MinMax": ask_in_two_steps(FastMinMax),
    "Explore-Consolidate": ask_in_two_steps(ExploreConsolidate),
}


def method(task):
    """Run the method asked for."""
    METHODS[task.option](task)


run(method)
