"""A model that learns at once, for tests in which it does not matter which one does."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from pairlearn.data.containers import on_host
from pairlearn.data.graph import spanning_forest
from pairlearn.system import aside


def dense(X):
    X = on_host(X)
    X = X.toarray() if sparse.issparse(X) else X
    return np.asarray(X, dtype=float)


class NearestMean(BaseEstimator):
    """Two means, of the sides that the answers imply; the nearer one counts."""

    def fit(self, pairs, t):
        X = dense(pairs.X)
        side = spanning_forest(pairs.n_points, pairs.index).signs(np.asarray(t, float))
        self.means_ = np.array([X[side < 0].mean(axis=0), X[side > 0].mean(axis=0)])
        self.classes_ = np.array([-1, 1])
        return self

    def decision_function(self, X):
        distance = ((dense(X)[:, None] - self.means_) ** 2).sum(axis=2)
        return distance[:, 0] - distance[:, 1]

    def _flip(self):
        self.means_ = self.means_[::-1]

    def predict(self, X):
        return np.where(self.decision_function(X) > 0, 1, -1)

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-np.clip(self.decision_function(X) / 2, -30, 30)))
        return np.stack([1 - p, p], axis=1)


def quick_model():
    """Return one: what the back room of a test learns with.

    The back room is a process of its own, in which nobody but this hook can see to it
    that learning does not wait until all other tests are idle.
    """
    aside._NICE = 0
    return NearestMean()
