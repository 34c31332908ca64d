"""Links and couples drawn by the model, and how alike two fits of them are."""

import numpy as np
from numpy.testing import assert_allclose

from pairlearn import LinkClassifier, Pairs


def draw_couples(n, m, rng):
    couples = rng.integers(n, size=(2 * m, 2))
    return couples[couples[:, 0] != couples[:, 1]][:m]


def world(seed, prior=0.35, m=1000, *, n=1000, d=3, rates=(0.5, 0.05), n_couples=None):
    """Draw links and couples by the model, of two Gaussians at a distance of 2."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < prior, 1, -1)
    X = rng.normal(size=(n, d)) + np.outer(y, np.eye(d)[0])
    couples = draw_couples(n, 30 * m, rng)
    same = y[couples[:, 0]] == y[couples[:, 1]]
    links = couples[rng.random(len(couples)) < np.where(same, *rates)][:m]
    assert len(links) == m
    index = np.concatenate([links, draw_couples(n, n_couples or m, rng)])
    return X, y, Pairs(X, index), np.repeat([1.0, -1.0], [m, n_couples or m])


def same_model(one, other, tol=2e-4):
    assert_allclose(one.coef_, other.coef_, rtol=tol, atol=tol)
    assert_allclose(one.intercept_, other.intercept_, rtol=tol, atol=tol)


def same_links(one, other, tol=2e-4):
    same_model(one, other, tol)
    assert_allclose(one.link_odds_, other.link_odds_, rtol=10 * tol, atol=tol)
    assert_allclose(
        one.similarity_weight_, other.similarity_weight_, rtol=10 * tol, atol=tol
    )


def tight(**settings):
    """Return an estimator that goes to the bottom."""
    settings = {"alpha": 0.003, "tol": 1e-7, "max_iter": 1000} | settings
    return LinkClassifier(**settings, random_state=0)
