"""Tasks for `PairClassifier`, and what it should come to."""

import numpy as np
from scipy.special import expit, softmax

from pairlearn import PairClassifier, Pairs, clustering_error


def make(**parameters):
    return PairClassifier(**{"random_state": 0, "n_folds": 3, **parameters})


def groups(n, seed=0, prior=0.7, n_features=4, distance=1.0):
    """Two groups that overlap; at distance 1 the best error is about 0.1."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < prior, 1, -1)
    X = rng.normal(size=(n, n_features))
    X[:, :3] += distance * np.outer(y, [1.0, -0.5, 0.5])
    return X, y


def task(n_pairs, seed=0, n_test=1000, **options):
    X, y = groups(2 * n_pairs + n_test, seed, **options)
    n = 2 * n_pairs
    pairs = Pairs(X[:n], np.arange(n).reshape(-1, 2))
    return pairs, pairs.answers(y[:n]), X[n:], y[n:]


def error_of(clf, X, y):
    return clustering_error(y, clf.predict(X))


def risk_by_loops(likelihood, scores, model):
    """The risk of one model, from its definition."""
    f = scores[:, model]
    p = softmax(f, axis=1) if f.ndim == 2 else np.stack([expit(-f), expit(f)], axis=1)
    (r1, r0), total = likelihood.rates, 0.0
    for k, (i, j) in enumerate(likelihood.index):
        together = sum(p[i, c] * p[j, c] for c in range(p.shape[1]))
        q = r1 * together + r0 * (1 - together)
        total -= likelihood.same[k, model] * np.log(q)
        total -= likelihood.different[k, model] * np.log(1 - q)
    if likelihood.labels is not None:
        for i, c, v in zip(*likelihood.labels, strict=True):
            total -= v[model] * np.log(p[i, c])
    return total
