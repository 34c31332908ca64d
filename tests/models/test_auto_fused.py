"""Scores of an ensemble in one reading: the same as one map after another."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from pairlearn import Pairs, load, save
from pairlearn.engine.backends.numpy import distances
from pairlearn.models.auto import choose, columns, fused
from pairlearn.models.auto.columns import ColumnView
from pairlearn.models.auto.ensemble import Ensemble, Member
from pairlearn.models.auto.kernels import FeatureMap, Kernel, laplacian
from pairlearn.models.auto.stack import Calibration
from pairlearn.system.threads import own_threads
from tests.support.auto_tasks import make, task

KERNELS = [
    Kernel("linear"),
    Kernel("rbf", 0.25),
    Kernel("rbf", 4.0),
    Kernel("laplacian", 1.0),
]


def one_by_one(ensemble, X):
    """Log-probabilities by the definition: all features of each kernel."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    mean = np.tile(ensemble.constant_share * ensemble.constant, (len(X), 1))
    for member in ensemble.members:
        seen, made = member.view.transform(X), member.feature_map
        if sparse.issparse(seen):
            seen = seen.toarray()
        if made.kernel.name == "rbf":
            seen = rbf_kernel(seen, made.landmarks, gamma=made.gamma)
        elif made.kernel.name == "laplacian":
            seen = laplacian_kernel(seen, made.landmarks, gamma=made.gamma)
        z = seen @ made.turn - made.centre
        for w, slope, share in zip(
            member.weights, member.slopes, member.shares, strict=True
        ):
            f = slope * (z @ w[:, :-1].T + w[:, -1])
            p = (
                softmax(f, axis=1)
                if f.shape[1] > 1
                else np.hstack([expit(-f), expit(f)])
            )
            mean += share * p
    return ensemble.calibration(mean)


def points(n, seed=0):
    """Points with heavy tails, far-off columns and a column of two values."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, size=(n, 7)) * np.geomspace(1e-6, 1e6, 7)
    X[:, 2] += 1e4
    X[:, 5] = rng.random(n) < 0.1
    return X


def ensemble_of(kernels, n_classes, X, n_outputs=None, view="power"):
    """Members with random weights, two models each."""
    rng = np.random.default_rng(1)
    n_outputs = n_outputs or (1 if n_classes == 2 else n_classes)
    seen = ColumnView(view).fit(X, np.random.RandomState(0))
    members = []
    for kernel in kernels:
        made = FeatureMap(kernel, 30).fit(seen.transform(X), np.random.RandomState(2))
        weights = 3 * rng.normal(size=(2, n_outputs, made.n_features + 1))
        slopes, shares = np.array([0.5, 2.0]), np.array([0.3, 0.6]) / len(kernels)
        members.append(Member(seen, made, weights, np.ones(2), slopes, shares))
    constant = np.full(n_classes, 1 / n_classes)
    bias = np.linspace(-0.2, 0.2, n_classes)
    return Ensemble(members, 0.1, constant, Calibration(1.3, bias))


class TestSameAsOneByOne:
    @pytest.mark.parametrize("n_classes", [2, 4])
    @pytest.mark.parametrize("kernel", KERNELS, ids=str)
    def test_each_kernel(self, kernel, n_classes):
        X = points(300)
        ensemble = ensemble_of([kernel], n_classes, X[:120])
        np.testing.assert_allclose(
            ensemble.logits(X), one_by_one(ensemble, X), atol=1e-9
        )

    @pytest.mark.parametrize("compiled", [True, False])
    def test_all_kernels_in_both_views(self, compiled, monkeypatch):
        if not compiled:
            monkeypatch.setattr(distances, "compiled_module", lambda: None)
        X = points(distances.COMPILED + 5)
        both = [ensemble_of(KERNELS, 2, X[:120], view=view) for view in columns.VIEWS]
        members = [member for ensemble in both for member in ensemble.members]
        ensemble = Ensemble(members, 0.1, both[0].constant, both[0].calibration)
        assert len(ensemble.average.views) == 2
        np.testing.assert_allclose(
            ensemble.logits(X), one_by_one(ensemble, X), atol=1e-9
        )

    def test_two_classes_with_a_score_for_each(self):
        X = points(50)
        ensemble = ensemble_of(KERNELS, 2, X, n_outputs=2)
        np.testing.assert_allclose(
            ensemble.logits(X), one_by_one(ensemble, X), atol=1e-9
        )

    def test_a_table_that_stays_sparse(self, monkeypatch):
        monkeypatch.setattr(columns, "DENSE_ENTRIES", 100)
        X = sparse.random_array((60, 40), density=0.2, format="csr", rng=0)
        ensemble = ensemble_of(KERNELS, 3, X)
        assert ensemble.members[0].view.stays_sparse
        np.testing.assert_allclose(
            ensemble.logits(X), one_by_one(ensemble, X), atol=1e-9
        )

    def test_points_far_out_are_like_none(self):
        X = points(100)
        ensemble = ensemble_of(KERNELS[1:], 2, X, view="standard")
        far = np.full((1, 7), 1e15)
        assert np.isfinite(ensemble.logits(far)).all()
        np.testing.assert_allclose(
            ensemble.logits(far), one_by_one(ensemble, far), atol=1e-9
        )

    def test_without_members(self):
        ensemble = Ensemble(
            [], 1.0, np.array([0.3, 0.7]), Calibration(1.0, np.zeros(2))
        )
        np.testing.assert_allclose(
            np.exp(ensemble.logits(np.zeros((3, 2)))), [[0.3, 0.7]] * 3
        )


def test_any_number_of_threads_gives_the_same_numbers(monkeypatch):
    X = points(1000)
    ensemble = ensemble_of(KERNELS, 2, X[:120])
    monkeypatch.setattr(fused, "_CHUNK", 100)
    with own_threads():
        alone = ensemble.logits(X)
    monkeypatch.setattr("pairlearn.system.threads._blas_threads", lambda: 3)
    np.testing.assert_array_equal(ensemble.logits(X), alone)


@pytest.mark.parametrize("width", [1, 4, 7, 2000])
@pytest.mark.parametrize("compiled", [0, 10**9])
def test_the_laplacian_kernel_is_that_of_scikit_learn(width, compiled, monkeypatch):
    monkeypatch.setattr("pairlearn.models.auto.kernels.COMPILED", compiled)
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(40, width)), rng.normal(size=(9, width))
    np.testing.assert_allclose(
        laplacian(X, Z, 0.7 / width), laplacian_kernel(X, Z, gamma=0.7 / width)
    )


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("width", "rows"), [(8, 3), (4, 2), (4, 4)])
def test_distances_between_unequal_things_are_refused(width, rows, compiled):
    """As in a model file that somebody has changed."""
    landmarks, seen, out = np.zeros((3, width)), np.zeros((4, 5)), np.zeros((rows, 5))
    if (width, rows) == (4, 4):
        landmarks, seen = np.zeros((4, 3)), np.zeros((3, 5))
    with pytest.raises(ValueError, match="coordinates"):
        distances.city_block(landmarks, seen, 1.0, out, compiled=compiled)


@pytest.fixture(params=[2, 3])
def fitted(request, monkeypatch):
    """A classifier of two or three classes, and points."""
    kernels = {"standard": (Kernel("linear"),), "power": tuple(KERNELS[2:])}
    monkeypatch.setattr(choose, "KERNELS", kernels)
    monkeypatch.setattr(choose, "SCALES", (1.0, 4.0))
    pairs, t, X, _ = task(60, n_test=40)
    options = {"n_classes": request.param, "noise": None, "n_components": 40}
    return make(**options).fit(pairs, t), X


class TestClassifier:
    def test_containers(self, fitted):
        clf, X = fitted
        logits = one_by_one(clf._ensemble, X)
        expected = softmax(logits[:, clf._order], axis=1)
        np.testing.assert_allclose(clf.predict_proba(X), expected, atol=1e-9)
        rows = sparse.csr_array(X)
        np.testing.assert_allclose(clf.predict_proba(rows), expected, atol=1e-9)
        torch = pytest.importorskip("torch")
        found = clf.predict_proba(torch.from_numpy(X))
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-9)
        da = pytest.importorskip("dask.array")
        blocks = clf.predict_proba(da.from_array(X, chunks=(15, -1)))
        np.testing.assert_allclose(blocks.compute(), expected, atol=1e-9)

    def test_what_was_made_for_speed_is_not_kept(self, fitted, tmp_path):
        clf, X = fitted
        before = pickle.dumps(clf)
        found = clf.predict_proba(X)
        assert "average" in vars(clf._ensemble)
        assert len(pickle.dumps(clf)) == len(before)
        again = pickle.loads(pickle.dumps(clf))  # noqa: S301
        assert "average" not in vars(again._ensemble)
        np.testing.assert_array_equal(again.predict_proba(X), found)
        save(clf, tmp_path / "model.skops")
        loaded = load(tmp_path / "model.skops")
        assert "average" not in vars(loaded._ensemble)
        np.testing.assert_array_equal(loaded.predict_proba(X), found)

    def test_a_model_fitted_again_forgets_the_old_one(self, fitted):
        clf, X = fitted
        before = clf.predict_proba(X)
        index = np.arange(40).reshape(-1, 2)
        t = np.where(X[index[:, 0], 3] * X[index[:, 1], 3] > 0, 1, -1)
        clf.set_params(n_classes=2).fit(Pairs(X, index), t)
        after = clf.predict_proba(X)
        assert after.shape != before.shape or np.abs(after - before).max() > 0.05
        logits = one_by_one(clf._ensemble, X)[:, clf._order]
        np.testing.assert_allclose(after, softmax(logits, axis=1), atol=1e-9)
