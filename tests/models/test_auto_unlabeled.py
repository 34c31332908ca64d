"""Unlabelled points: a smoothness term over neighbours, judged by held-out answers."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons

from pairlearn import Pairs, certify, load, save
from pairlearn.models.auto import choose, classifier
from pairlearn.models.auto.kernels import FeatureMap, Kernel
from pairlearn.models.auto.likelihood import CERTAIN, PairLikelihood
from pairlearn.models.auto.path import PathObjective
from pairlearn.models.auto.smooth import neighbour_laplacian, smoothed
from pairlearn.models.auto.stack import HeldOut, clearly_better
from tests.support.auto_tasks import error_of, make, risk_by_loops, task

# -- the smoothness term ---------------------------------------------------------------


def edges_by_loops(X, k):
    """Edges between points of which one is among the k nearest of the other."""
    near = np.argsort(cdist(X, X), axis=1)[:, 1 : k + 1]
    return {tuple(sorted((i, int(j)))) for i, row in enumerate(near) for j in row}


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_the_laplacian_is_the_mean_square_along_edges(kind):
    rng = np.random.default_rng(0)
    X, f = rng.normal(size=(40, 3)), rng.normal(size=40)
    L = neighbour_laplacian(kind(X), 4)
    edges = edges_by_loops(X, 4)
    mean = np.mean([(f[i] - f[j]) ** 2 for i, j in edges])
    assert f @ (L @ f) == pytest.approx(mean, rel=1e-12)
    np.testing.assert_allclose(L @ np.ones(40), 0, atol=1e-15)


def test_few_points_have_as_many_neighbours_as_there_are():
    L = neighbour_laplacian(np.array([[0.0], [1.0], [5.0]]), 10).toarray()
    np.testing.assert_allclose(L, np.eye(3) - 1 / 3)


def smooth_task(strength):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    plain = FeatureMap(Kernel("rbf", 1.0), 12)
    Z = plain.fit_transform(X, np.random.RandomState(0))
    L = neighbour_laplacian(X, 5)
    smooth, deformed = smoothed(plain, Z, L, strength)
    return X, Z, L, smooth, deformed


def test_deformed_features_have_the_inner_products_of_the_deformed_kernel():
    X, Z, L, smooth, deformed = smooth_task(30.0)
    K = Z @ np.linalg.inv(np.eye(Z.shape[1]) + 30.0 * Z.T @ (L @ Z)) @ Z.T
    np.testing.assert_allclose(deformed @ deformed.T, K * 50 / np.trace(K), atol=1e-9)
    np.testing.assert_allclose(smooth.transform(X), deformed, atol=1e-9)
    np.testing.assert_allclose(deformed.mean(axis=0), 0, atol=1e-12)
    variance = (deformed**2).mean(axis=0)
    np.testing.assert_allclose(deformed.T @ deformed / 50, np.diag(variance), atol=1e-9)
    assert variance.sum() == pytest.approx(1)
    assert (np.diff(variance) <= 1e-12).all()


def test_the_objective_on_deformed_features_is_that_with_the_smoothness_term():
    strength, scale = 30.0, 2.0
    _, Z, L, _, deformed = smooth_task(strength)
    rng = np.random.default_rng(1)
    index = np.arange(40).reshape(-1, 2)
    same = rng.integers(2, size=(20, 1)).astype(float)
    risk = PairLikelihood(index, same, 1 - same, 50, CERTAIN, None)
    size = Z.shape[1]

    def explicit(theta):
        f = Z @ theta[:-1] + theta[-1]
        square = theta[:-1] @ theta[:-1] + strength * f @ (L @ f)
        prior = square / (2 * scale**2) + theta[-1] ** 2 / 200
        return risk_by_loops(risk, f[:, None], 0) + prior

    # Scaling E|z|^2 to one changes the scale by this factor, and nothing else.
    root = np.linalg.cholesky(np.eye(size) + strength * Z.T @ (L @ Z))
    factor = np.sqrt((np.linalg.solve(root, Z.T) ** 2).sum(axis=0).mean())
    J = PathObjective(deformed, risk, 1, scale * factor, np.array([0]))
    turn = np.linalg.lstsq(Z, deformed, rcond=None)[0]
    for _ in range(3):
        v = rng.normal(size=size + 1)
        theta = np.append(turn @ v[:-1], v[-1])
        value, gradient = J((v * J.stretch)[None], np.array([0]))
        assert value[0] == pytest.approx(explicit(theta), rel=1e-9)
        by_theta = approx_fprime(theta, explicit, 1e-6)
        expected = np.append(turn.T @ by_theta[:-1], by_theta[-1])
        found = gradient[0] * J.stretch
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


# -- whether held-out answers speak for it ---------------------------------------------


def test_better_is_more_than_one_standard_error():
    held_out = HeldOut(np.array([0.5, 0.5, 1.0]), np.zeros(3), CERTAIN)
    judged = np.array([0, 0, 1])

    def logs(*odds):
        first = np.stack([np.zeros(3), np.array(odds)], axis=1)
        return np.stack([first, np.tile([0.0, 2.0], (3, 1))], axis=1)

    old = logs(1.0, 1.0, 1.0)
    assert clearly_better(logs(2.0, 2.0, 2.0), old, held_out, judged)
    assert not clearly_better(old, logs(2.0, 2.0, 2.0), held_out, judged)
    assert not clearly_better(old, old, held_out, judged)
    # One answer that gains is no evidence, also if it is judged twice.
    assert not clearly_better(logs(2.0, 2.0, 1.0), old, held_out, judged)


def test_what_is_not_clearly_better_changes_nothing(monkeypatch):
    monkeypatch.setattr(choose, "clearly_better", lambda *_: False)
    pairs, t, X, _ = task(40)
    plain = make().fit(pairs, t)
    clf = make().fit(pairs, t, unlabeled=X[:200])
    np.testing.assert_array_equal(clf.decision_function(X), plain.decision_function(X))
    assert clf.certificate_ == plain.certificate_
    smooth = [row for row in clf.candidates_ if "smooth" in row.kernel]
    assert smooth
    assert not any(row.weight for row in smooth)
    assert len(clf.candidates_) == len(plain.candidates_) + len(smooth)


# -- the classifier --------------------------------------------------------------------


def moons(seed, n_pairs=20):
    X, y = make_moons(2 * n_pairs + 1400, noise=0.08, random_state=seed)
    y = np.where(y, 1, -1)
    n = 2 * n_pairs
    pairs = Pairs(X[:n], np.arange(n).reshape(-1, 2))
    return pairs, pairs.answers(y[:n]), X[n : n + 500], X[n + 500 :], y[n + 500 :]


def test_two_moons_with_few_pairs():
    before, after = [], []
    for seed in range(4):
        pairs, t, unlabeled, X, y = moons(seed)
        before.append(error_of(make(noise=None).fit(pairs, t), X, y))
        clf = make(noise=None).fit(pairs, t, unlabeled=unlabeled)
        after.append(error_of(clf, X, y))
    assert np.mean(after) < 0.6 * np.mean(before)
    assert any("smooth" in row.kernel and row.weight for row in clf.candidates_)


def test_other_candidates_stay_as_they_are():
    pairs, t, X, _ = task(40)
    plain = make(noise=None).fit(pairs, t)
    clf = make(noise=None).fit(pairs, t, unlabeled=X[:200])

    def judged(fitted):
        return {
            (row.columns, row.kernel, row.scale): row.log_likelihood
            for row in fitted.candidates_
            # What the constant model is depends on which candidate is best.
            if "smooth" not in row.kernel and row.kernel != "constant"
        }

    assert judged(clf) == pytest.approx(judged(plain), rel=1e-12)
    assert len(clf.candidates_) > len(plain.candidates_)
    assert not any("smooth" in row.kernel for row in plain.candidates_)


def test_the_same_points_in_any_container():
    pairs, t, X, _ = task(30)
    fit = make(noise=None).fit
    right = fit(pairs, t, unlabeled=X[:150]).decision_function(X)
    for given in (X[:150].tolist(), sparse.csr_matrix(X[:150])):
        found = fit(pairs, t, unlabeled=given).decision_function(X)
        np.testing.assert_allclose(found, right, rtol=1e-6, atol=1e-8)
    thin = Pairs(sparse.csr_matrix(pairs.X), pairs.index)
    for given in (X[:150], sparse.csr_matrix(X[:150])):
        found = fit(thin, t, unlabeled=given).decision_function(X)
        np.testing.assert_allclose(found, right, rtol=1e-6, atol=1e-8)


def test_several_classes_labels_and_points_shared_by_pairs():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=400)
    X = rng.normal(size=(400, 3)) + 3 * np.eye(3)[y]
    pairs, t = Pairs.sample(X[:100], 120, y[:100], reuse=True, random_state=0)
    clf = make(n_classes=3, noise=None)
    clf.fit(pairs, t, labeled=(X[100:109], y[100:109]), unlabeled=X[109:250])
    assert np.mean(clf.predict(X[250:]) == y[250:]) > 0.85


@pytest.mark.parametrize("n_unlabeled", [1, 5])
def test_few_unlabelled_points(n_unlabeled):
    pairs, t, X, y = task(30)
    clf = make(noise=None).fit(pairs, t, unlabeled=X[:n_unlabeled])
    assert error_of(clf, X, y) < 0.3


def test_points_that_are_all_the_same():
    pairs = Pairs(np.ones((20, 2)), np.arange(20).reshape(-1, 2))
    t = np.where(np.arange(10) % 2, 1, -1)
    clf = make(noise=None).fit(pairs, t, unlabeled=np.ones((30, 2)))
    assert len(set(clf.predict(np.ones((3, 2))))) == 1


@pytest.mark.parametrize(
    ("unlabeled", "message"),
    [
        (np.zeros((5, 3)), "3 features"),
        (np.zeros((0, 4)), "0 sample"),
        (np.zeros(4), "1D array"),
        (np.full((5, 4), np.nan), "NaN"),
        (np.zeros((5, 2, 4)), "points are needed"),
        ([["a", "b", "c", "d"]], "not a number"),
    ],
)
def test_bad_unlabelled_points(unlabeled, message):
    pairs, t, _, _ = task(20)
    with pytest.raises(ValueError, match=message):
        make().fit(pairs, t, unlabeled=unlabeled)


# -- what the model has seen -----------------------------------------------------------


def test_unlabelled_points_count_as_seen():
    pairs, t, X, y = task(60)
    fresh, answers = Pairs.sample(X, 100, y, random_state=0)
    clf = make(noise=None).fit(pairs, t)
    assert certify(clf, fresh, answers).unseen is True
    clf.fit(pairs, t, unlabeled=X)
    with pytest.raises(ValueError, match="with an answer or without"):
        certify(clf, fresh, answers)
    clf.fit(pairs, t)
    assert certify(clf, fresh, answers).unseen is True


def test_of_very_many_points_some_are_drawn_and_only_these_are_seen(monkeypatch):
    monkeypatch.setattr(classifier, "MOST_UNLABELED", 50)
    pairs, t, X, _ = task(30)
    clf = make(noise=None).fit(pairs, t, unlabeled=X)
    assert len(clf._training_points["hashes"]) == 60 + 50
    again = make(noise=None).fit(pairs, t, unlabeled=X)
    np.testing.assert_array_equal(clf.decision_function(X), again.decision_function(X))


def test_models_are_saved_and_loaded(tmp_path):
    pairs, t, X, _ = task(30)
    clf = make(noise=None).fit(pairs, t, unlabeled=X[:100])
    save(clf, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))
    assert repr(loaded.candidates_) == repr(clf.candidates_)


# -- points that shape the features ----------------------------------------------------


def test_others_shape_scales_axes_and_landmarks():
    """Asked points that lie in one corner say little about the table; others do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    corner = np.flatnonzero((np.abs(X[:, 0]) < 0.6) & (X[:, 1] > 0))[:40]
    index = np.stack([np.full(len(corner) - 1, corner[0]), corner[1:]], axis=1)
    pairs = Pairs(X, index).compact()
    t = np.where(y[index[:, 0]] == y[index[:, 1]], 1, -1)
    clf = make().fit(pairs, t, shaping=X)
    view = clf._ensemble.members[0].view
    everything = np.concatenate([pairs.X, X])
    np.testing.assert_allclose(view.centre, everything.mean(axis=0), atol=1e-12)
    narrow = make().fit(pairs, t)._ensemble.members[0].view
    assert narrow.scale[0] < 0.5 * view.scale[0]
    # Points of the pairs are landmarks before others are.
    maps = [member.feature_map for member in clf._ensemble.members]
    found = [m.landmarks for m in maps if m.landmarks is not None]
    assert all(len(landmarks) == min(300, len(everything)) for landmarks in found)


def test_points_that_shape_are_remembered_as_seen(tmp_path):
    X, _, pairs, t, (new_X, new_y) = _with_others()
    clf = make().fit(pairs, t, shaping=X[200:])
    again = Pairs(X, np.arange(200, 240).reshape(-1, 2))
    with pytest.raises(ValueError, match="equals one of those the classifier was"):
        certify(clf, again, np.ones(20))
    save(clf, tmp_path / "model.skops")
    kept = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(kept.predict(new_X), clf.predict(new_X))
    wrong = np.mean(clf.predict(new_X) != new_y)
    assert min(wrong, 1 - wrong) < 0.15


def _with_others():
    X, y = make_moons(300, noise=0.2, random_state=0)
    new_X, new_y = make_moons(500, noise=0.2, random_state=1)
    pairs, t = Pairs.sample(X[:200], 80, y[:200], random_state=0)
    return X, y, pairs, t, (new_X, np.where(new_y == 1, 1, -1))
