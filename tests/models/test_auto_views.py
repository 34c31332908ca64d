"""Views of the columns, and features with the inner products of a kernel."""

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from pairlearn.models.auto import columns
from pairlearn.models.auto.axes import AxesView
from pairlearn.models.auto.columns import ColumnView
from pairlearn.models.auto.kernels import FeatureMap, Kernel

# -- features of kernels ---------------------------------------------------------------


def centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


@pytest.mark.parametrize(
    ("kernel", "measure", "metric"),
    [
        (Kernel("rbf", 0.5), rbf_kernel, "sqeuclidean"),
        (Kernel("laplacian", 2.0), laplacian_kernel, "cityblock"),
    ],
    ids=["rbf", "laplacian"],
)
def test_features_have_the_inner_products_of_the_kernel(kernel, measure, metric):
    X = np.random.default_rng(0).normal(size=(80, 3))
    features = FeatureMap(kernel, 200)
    Z = features.fit_transform(X, np.random.RandomState(0))
    gamma = 1 / (kernel.width * np.median(pdist(X, metric)))
    assert features.gamma == pytest.approx(gamma, rel=1e-12)
    K = centred(measure(X, gamma=gamma))
    np.testing.assert_allclose(Z @ Z.T, K * 80 / np.trace(K), atol=1e-5)


def test_linear_features_have_the_inner_products_of_the_points():
    X = np.random.default_rng(0).normal(size=(50, 4)) * [1, 5, 0.1, 2] + [0, 9, 0, 1]
    Z = FeatureMap(Kernel("linear"), 10).fit_transform(X, None)
    K = centred(X @ X.T)
    np.testing.assert_allclose(Z @ Z.T, K * 50 / np.trace(K), atol=1e-9)


KERNELS = [Kernel("linear"), Kernel("rbf", 1.0), Kernel("laplacian", 4.0)]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("n_components", [5, 300])
def test_features_are_centred_principal_and_of_unit_size(kernel, n_components):
    X = np.random.default_rng(0).normal(size=(90, 20))
    features = FeatureMap(kernel, n_components)
    Z = features.fit_transform(X, np.random.RandomState(0))
    assert Z.shape == (90, features.n_features)
    assert features.n_features <= n_components
    assert (Z**2).sum(axis=1).mean() == pytest.approx(1)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
    variance = (Z**2).mean(axis=0)
    assert (np.diff(variance) <= 1e-12).all()
    np.testing.assert_allclose(Z.T @ Z / 90, np.diag(variance), atol=1e-7)
    np.testing.assert_allclose(features.transform(X), Z, atol=1e-6)
    np.testing.assert_allclose(features.transform(X[7:9]), Z[7:9], atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("n_points", [3, 49, 100])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e5])
def test_points_that_are_all_the_same_have_no_features(kernel, n_points, value):
    X = np.full((n_points, 2), value)
    features = FeatureMap(kernel, 10)
    Z = features.fit_transform(X, np.random.RandomState(0))
    assert features.n_features == 0
    assert Z.shape == features.transform(X).shape == (n_points, 0)


def test_linear_features_of_many_columns_are_the_leading_ones():
    X = np.random.default_rng(0).normal(size=(60, 40)) * np.geomspace(1, 0.1, 40)
    Z = FeatureMap(Kernel("linear"), 7).fit_transform(X, np.random.RandomState(0))
    u, s, _ = np.linalg.svd(X - X.mean(axis=0))
    leading = u[:, :7] * s[:7] * np.sqrt(60 / (s[:7] ** 2).sum())
    np.testing.assert_allclose(Z @ Z.T, leading @ leading.T, atol=1e-8)


def test_linear_features_of_a_sparse_table():
    X = sparse.random(30, 50, density=0.3, random_state=0)
    features = FeatureMap(Kernel("linear"), 40)
    Z = features.fit_transform(X.tocsr(), np.random.RandomState(0))
    dense = X.toarray()
    K = centred(dense @ dense.T)
    np.testing.assert_allclose(Z @ Z.T, K * 30 / np.trace(K), atol=1e-7)
    np.testing.assert_allclose(features.transform(X.tocsr()), Z, atol=1e-9)


# -- views of columns ------------------------------------------------------------------


def table(seed=0, n=200):
    """Columns: skewed, heavy-tailed, normal, a rare indicator, constant."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            rng.lognormal(size=n),
            rng.normal(size=n) ** 3,
            rng.normal(size=n),
            np.arange(n) % 10 == 0,
            np.full(n, 7.3),
        ]
    )


def view_of(X, kind, seed=0):
    return ColumnView(kind).fit(X, np.random.RandomState(seed))


@pytest.mark.parametrize("kind", columns.VIEWS)
@pytest.mark.parametrize("unit", [1e-14, 1e-3, 1e6])
def test_views_do_not_depend_on_units(kind, unit):
    X, new = table(), table(seed=1, n=20)
    factor, shift = unit * np.arange(1.0, 6.0), unit * np.array([3, 0, -2, 1, 5])
    here, there = view_of(X, kind), view_of(X * factor + shift, kind)
    np.testing.assert_array_equal(there.kept, here.kept)
    np.testing.assert_allclose(
        there.transform(new * factor + shift), here.transform(new), atol=1e-8
    )


def test_standard_view():
    X = table()
    seen = view_of(X, "standard").transform(X)
    np.testing.assert_allclose(
        seen, ((X - X.mean(axis=0)) / X.std(axis=0).clip(1e-9))[:, :4], atol=1e-9
    )


def test_power_view_tames_tails_and_leaves_rare_indicators_small():
    X = table()
    view = view_of(X, "power")
    seen = view.transform(X)
    np.testing.assert_array_equal(view.kept, [0, 1, 2, 3])
    np.testing.assert_allclose(seen[:, :3].std(axis=0), 0.5, rtol=1e-6)
    np.testing.assert_allclose(np.unique(seen[:, 3]), [-0.1, 0.9], atol=1e-12)
    skew = np.abs(stats.skew(X[:, :3]))
    assert skew[0] > 1.5
    assert abs(stats.skew(seen[:, 0])) < 0.3
    # The tails of a cube become thinner, too.
    assert stats.kurtosis(seen[:, 1]) < stats.kurtosis(X[:, 1])
    # An increasing function of each column.
    order = np.argsort(X, axis=0)[:, :3]
    assert (np.diff(np.take_along_axis(seen[:, :3], order, axis=0), axis=0) >= 0).all()
    assert view.bends
    assert not view_of(X[:, 3:], "power").bends


@pytest.mark.parametrize("power", [-1.5, 0.0, 0.7, 1.0, 2.0, 3.25])
def test_bend_is_yeo_johnson(power):
    x = np.linspace(-6, 6, 49)
    bent = columns._bend(x[:, None], np.array([power]))[:, 0]
    np.testing.assert_allclose(bent, stats.yeojohnson(x, power), rtol=1e-4, atol=1e-9)


def test_powers_are_those_of_the_likelihood():
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [
            rng.lognormal(sigma=0.6, size=400),
            -rng.gamma(2.0, size=400),
            rng.normal(size=400),
            rng.exponential(size=400),
        ]
    )
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    exact = [stats.yeojohnson_normmax(x) for x in X.T]
    np.testing.assert_allclose(columns._powers(X), exact, atol=0.08)


def test_far_new_values_stay_within_reach():
    view = view_of(table(), "power")
    far = np.full((2, 5), 1e200) * [[1], [-1]]
    seen = view.transform(far)
    assert np.isfinite(seen).all()
    assert np.abs(seen[:, :3]).max() <= 5


@pytest.mark.parametrize("kind", columns.VIEWS)
def test_a_sparse_table_is_seen_as_a_dense_one(kind):
    X = table()
    X[np.random.default_rng(0).random(X.shape) < 0.6] = 0
    dense, thin = view_of(X, kind), view_of(sparse.csr_array(X), kind)
    np.testing.assert_array_equal(
        thin.transform(sparse.csr_array(X[:9])), dense.transform(X[:9])
    )


@pytest.mark.parametrize("kind", columns.VIEWS)
def test_a_large_sparse_table_stays_sparse(kind, monkeypatch):
    monkeypatch.setattr(columns, "DENSE_ENTRIES", 100)
    X = sparse.random(200, 6, density=0.2, random_state=0, format="lil")
    X[:, 2] = 0
    X = sparse.csr_array(X)
    view = view_of(X, kind)
    seen = view.transform(X)
    assert sparse.issparse(seen)
    assert not view.bends
    np.testing.assert_array_equal(view.kept, [0, 1, 3, 4, 5])
    expected = X.toarray()[:, view.kept]
    if kind == "standard":
        expected = expected / np.sqrt((expected**2).mean(axis=0))
    np.testing.assert_allclose(seen.toarray(), expected, rtol=1e-12)


# -- axes ------------------------------------------------------------------------------


def measured(n_things, n_columns=12, n_points=600, seed=0):
    """Columns that measure few things, with noise."""
    rng = np.random.default_rng(seed)
    things = rng.normal(size=(n_points, n_things))
    load = rng.normal(size=(n_things, n_columns))
    return things @ load + rng.normal(size=(n_points, n_columns))


def axes_of(X, kind="power"):
    view = view_of(X, kind)
    return AxesView(view).fit(view.transform(X), np.random.RandomState(0))


@pytest.mark.parametrize("kind", columns.VIEWS)
@pytest.mark.parametrize("n_things", [1, 2, 4])
def test_as_many_axes_as_things_were_measured(kind, n_things):
    X = measured(n_things)
    axes = axes_of(X, kind)
    assert axes.n_axes == n_things
    shown = np.asarray(view_of(X, kind).transform(X))
    u, s, _ = np.linalg.svd(shown - shown.mean(axis=0), full_matrices=False)
    leading = u[:, :n_things] * s[:n_things]
    along = axes.transform(X)
    np.testing.assert_allclose(along @ along.T, leading @ leading.T, atol=1e-9)
    np.testing.assert_allclose(axes.transform(X[5:8]), along[5:8], atol=1e-12)
    thin = axes.transform(sparse.csr_array(X[5:8]))
    np.testing.assert_allclose(thin, along[5:8], atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_know_nothing_of_each_other_have_no_axes(seed):
    rng = np.random.default_rng(seed)
    units = np.geomspace(0.1, 10, 12)
    assert axes_of(rng.normal(size=(600, 12)) * units).n_axes == 0


def test_a_thing_that_one_column_measures_alone_is_no_axis():
    X = np.column_stack([measured(1), 30 * np.random.default_rng(1).normal(size=600)])
    view = view_of(X, "standard")
    axes = AxesView(view).fit(view.transform(X), np.random.RandomState(0))
    assert axes.n_axes == 1
    assert abs(axes.turn[-1, 0]) < 0.1


def test_a_single_column_and_a_sparse_view_have_no_axes(monkeypatch):
    assert axes_of(measured(1, n_columns=1)).n_axes == 0
    monkeypatch.setattr(columns, "DENSE_ENTRIES", 100)
    X = sparse.csr_array(measured(2))
    axes = axes_of(X)
    assert axes.view.stays_sparse
    assert axes.n_axes == 0


def test_axes_are_those_of_the_spread_wherever_points_lie():
    X = measured(2)
    view = view_of(X, "power")
    shown = np.asarray(view.transform(X))
    here, far = (
        AxesView(view).fit(shown + shift, np.random.RandomState(0)) for shift in (0, 5)
    )
    assert far.n_axes == 2
    np.testing.assert_allclose(np.abs(far.turn.T @ here.turn), np.eye(2), atol=1e-9)
