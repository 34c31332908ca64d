"""Constrained spectral clustering: what it finds, and the formulas behind it."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs, make_moons

from pairlearn import ConstrainedSpectralClustering, Pairs, clustering_error
from pairlearn.models.cluster.spectral import _adjust, _neighbour_graph, _solve


def test_spectral_on_the_common_task(common):
    X, y, X_test, y_test = common
    pairs, t = Pairs.sample(X, 999, y, random_state=0)
    model = ConstrainedSpectralClustering(random_state=0)
    model.fit(pairs, t, unlabeled=X_test)
    joined = model.labels_[-len(X_test) :]
    assert clustering_error(y_test, joined) <= 0.10
    # A fitted point keeps its label.
    np.testing.assert_array_equal(model.predict(X_test), joined)


def test_spectral_follows_shapes_that_k_means_cannot():
    X, y = make_moons(600, noise=0.1, random_state=0)
    pairs, t = Pairs.sample(X, 60, y, random_state=0)
    model = ConstrainedSpectralClustering(majority=None, random_state=0)
    assert clustering_error(y, model.fit_predict(X, pairs, t)) < 0.02
    fresh, y_fresh = make_moons(300, noise=0.1, random_state=1)
    assert clustering_error(y_fresh, model.predict(fresh)) < 0.02
    scores = model.decision_function(fresh)
    assert np.abs(scores).max() <= 1 + 1e-12


def test_answers_decide_where_the_graph_does_not():
    # Four groups at the corners of a square; only the answers say which two belong.
    X, corner = make_blobs(
        400, centers=[[0, 0], [9, 9], [0, 9], [9, 0]], random_state=0
    )
    for y in (corner // 2, corner % 2):
        pairs, t = Pairs.sample(X, 80, y, random_state=0)
        model = ConstrainedSpectralClustering(random_state=0)
        assert clustering_error(y, model.fit_predict(X, pairs, t)) < 0.02


def test_an_island_of_outliers_is_not_a_cluster():
    rng = np.random.default_rng(0)
    X, y = make_blobs(300, centers=[[0, 0], [6, 0]], random_state=0)
    X = np.vstack([X, rng.normal(size=(7, 2)) * 0.01 + [0, 500]])
    pairs, t = Pairs.sample(X[:300], 40, y, random_state=0)
    model = ConstrainedSpectralClustering(random_state=0)
    labels = model.fit_predict(X, pairs.index, t)
    assert clustering_error(y, labels[:300]) < 0.05


def test_many_equal_points(blobs):
    X, y = blobs
    table = np.repeat(np.round(X[:40]), 8, axis=0)
    pairs, t = Pairs.sample(table, 60, np.repeat(y[:40], 8), random_state=0)
    model = ConstrainedSpectralClustering(random_state=0)
    assert len(set(model.fit_predict(table, pairs, t))) == 2
    assert np.isfinite(model.affinity_matrix_.data).all()
    assert np.isfinite(model.decision_function(table)).all()


@pytest.mark.parametrize("propagation", [0.0, 0.5, 0.95])
def test_propagation_is_the_formula(propagation, blobs):
    X, y = blobs
    n = 60
    pairs, t = Pairs.sample(X[:n], 15, y[:n], random_state=0)
    nearest = ConstrainedSpectralClustering(random_state=0)
    nearest.fit_predict(X[:n], pairs, t)
    W = _neighbour_graph(nearest._neighbours)
    Z = sparse.coo_array((t, pairs.index.T), shape=(n, n))
    adjusted = _adjust(W, Z, propagation).toarray()

    dense = W.toarray()
    root = 1 / np.sqrt(dense.sum(axis=1))
    inverse = np.linalg.inv(np.eye(n) - propagation * dense * np.outer(root, root))
    F = inverse @ (Z + Z.T).toarray() @ inverse
    F = np.clip(F / np.abs(F[pairs.left, pairs.right]).mean(), -1, 1)
    expected = np.where(F >= 0, 1 - (1 - F) * (1 - dense), (1 + F) * dense)
    used = adjusted != 0
    np.testing.assert_allclose(adjusted[used], expected[used], atol=1e-5)
    assert used[dense > 0].all()
    assert used[pairs.left[t > 0], pairs.right[t > 0]].all()
    np.testing.assert_array_equal(adjusted, adjusted.T)


def test_the_graph_is_the_formula(blobs):
    X, _ = blobs
    model = ConstrainedSpectralClustering(n_neighbors=4, random_state=0)
    model.fit_predict(X[:30], [[0, 1], [2, 3]], [1, -1])
    W = _neighbour_graph(model._neighbours).toarray()
    distance = np.linalg.norm(X[:30, None] - X[:30], axis=2)
    scale = np.sort(distance, axis=1)[:, 4]
    linked = distance <= np.maximum(scale[:, None], scale)
    np.fill_diagonal(linked, False)
    expected = np.where(linked, np.exp(-(distance**2) / np.outer(scale, scale)), 0)
    np.testing.assert_allclose(W, expected, atol=1e-12)


@pytest.mark.parametrize("a", [0.0, 0.3, 0.9, 0.99])
def test_solve(a):
    rng = np.random.default_rng(0)
    W = np.abs(rng.normal(size=(20, 20)))
    W += W.T
    S = W / np.sqrt(np.outer(W.sum(axis=1), W.sum(axis=1)))
    b = rng.normal(size=(20, 3))
    expected = np.linalg.solve(np.eye(20) - a * S, b)
    np.testing.assert_allclose(
        _solve(S, a, b), expected, atol=1e-4 * abs(expected).max()
    )
