"""The parts of PairClassifier: likelihood, path, features, columns, stack and folds."""

import itertools

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.optimize import approx_fprime, minimize
from scipy.spatial.distance import pdist
from scipy.special import expit, softmax
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from pairlearn import Pairs
from pairlearn.assignment import match_classes
from pairlearn.auto import columns, path, stack
from pairlearn.auto.choose import deal_folds
from pairlearn.auto.columns import ColumnView
from pairlearn.auto.kernels import FeatureMap, Kernel
from pairlearn.auto.likelihood import (
    CERTAIN,
    Labels,
    PairLikelihood,
    probabilities,
    says_same,
)
from pairlearn.auto.path import PathObjective, follow, refine, score
from pairlearn.auto.stack import (
    Calibration,
    HeldOut,
    average,
    calibrate_average,
    estimate_rates,
    prior_weights,
    slopes,
)
from pairlearn.certificate import certificate_from_counts
from pairlearn.solvers import minimise_together

N_POINTS, N_PAIRS, N_MODELS = 12, 25, 3


def likelihood_of(n_classes, rates=CERTAIN, labelled=True, seed=0):
    """Soft answers with weights, shared points, and a test fold for each model."""
    rng = np.random.default_rng(seed)
    index = rng.integers(N_POINTS, size=(N_PAIRS, 2))
    trained_on = np.arange(N_PAIRS)[:, None] % N_MODELS != np.arange(N_MODELS)
    share, weight = rng.random(N_PAIRS), rng.uniform(0.2, 2, N_PAIRS)
    labels = None
    if labelled:
        rows = np.array([0, 3, 3, 7])  # a point may be labelled twice
        weights = rng.uniform(0, 2, size=(4, N_MODELS))
        labels = Labels(rows, rng.integers(n_classes, size=4), weights)
    return PairLikelihood(
        index,
        (weight * share)[:, None] * trained_on,
        (weight * (1 - share))[:, None] * trained_on,
        N_POINTS,
        rates,
        labels,
    )


def scores_of(n_classes, seed=1):
    shape = (N_POINTS, N_MODELS) if n_classes == 2 else (N_POINTS, N_MODELS, n_classes)
    return 2 * np.random.default_rng(seed).normal(size=shape)


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


# -- the likelihood --------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rates", [CERTAIN, (0.85, 0.3)], ids=["certain", "noisy"])
@pytest.mark.parametrize("labelled", [False, True])
def test_likelihood_is_its_formula_and_has_its_gradient(n_classes, rates, labelled):
    likelihood = likelihood_of(n_classes, rates, labelled)
    scores = scores_of(n_classes)
    everyone = np.arange(N_MODELS)
    risk, slope = likelihood(scores, everyone)
    expected = [risk_by_loops(likelihood, scores, model) for model in everyone]
    np.testing.assert_allclose(risk, expected, rtol=1e-12)
    # The risks are of different scores, so the derivative of their sum has all.
    flat, step = scores.ravel(), 1e-6
    numeric = np.array(
        [
            likelihood((flat + step * e).reshape(scores.shape), everyone)[0].sum()
            - likelihood((flat - step * e).reshape(scores.shape), everyone)[0].sum()
            for e in np.eye(flat.size)
        ]
    ) / (2 * step)
    np.testing.assert_allclose(slope.ravel(), numeric, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_likelihood_of_some_models(n_classes):
    """Rows may be any models in any order, as the solver asks for them."""
    likelihood, scores = likelihood_of(n_classes), scores_of(n_classes)
    risk, slope = likelihood(scores, np.arange(N_MODELS))
    some = np.array([2, 0])
    risk_some, slope_some = likelihood(scores[:, some], some)
    np.testing.assert_allclose(risk_some, risk[some], rtol=1e-12)
    np.testing.assert_allclose(slope_some, slope[:, some], rtol=1e-12)


def test_a_model_does_not_see_its_test_fold():
    likelihood, scores = likelihood_of(2, labelled=False), scores_of(2)
    before = likelihood(scores, np.arange(N_MODELS))[0]
    index = likelihood.index.copy()
    index[::N_MODELS] = 0  # the test fold of model 0
    changed = PairLikelihood(index, likelihood.same, likelihood.different, N_POINTS)
    after = changed(scores, np.arange(N_MODELS))[0]
    assert after[0] == pytest.approx(before[0], rel=1e-12)
    assert (np.abs(after[1:] - before[1:]) > 1e-3).all()


def test_two_classes_are_a_softmax_with_one_score_at_zero():
    two = likelihood_of(2)
    f = scores_of(2)
    both = np.stack([np.zeros_like(f), f], axis=2)
    risk, slope = two(f, np.arange(N_MODELS))
    risk_of_both, slope_of_both = two(both, np.arange(N_MODELS))
    np.testing.assert_allclose(risk_of_both, risk, rtol=1e-10)
    np.testing.assert_allclose(slope_of_both[..., 1], slope, rtol=1e-9, atol=1e-12)


def test_an_answer_of_zero_is_half_of_each():
    index = np.array([[0, 1], [2, 3]])
    scores = scores_of(2)[:4, :1]
    only = np.array([0])

    def risk(same):
        same = np.array(same)[:, None]
        return PairLikelihood(index, same, 1 - same, 4)(scores, only)[0][0]

    assert risk([0.5, 1]) == pytest.approx((risk([1.0, 1]) + risk([0.0, 1])) / 2)


def test_certain_scores_leave_finite_risks():
    index = np.array([[0, 1], [1, 2]])
    ones = np.ones((2, 1))
    f = np.array([[800.0], [-800.0], [-800.0]])
    risk, slope = PairLikelihood(index, ones, ones, 3)(f, np.array([0]))
    # For each pair one of the two answers is wrong.
    assert risk[0] == pytest.approx(-2 * (np.log(1e-4) + np.log1p(-1e-4)))
    assert np.isfinite(slope).all()


def test_probabilities_and_says_same():
    f = np.array([[0.3], [-2.0]])
    np.testing.assert_allclose(probabilities(f)[:, 1], expit(f[:, 0]))
    np.testing.assert_allclose(probabilities(f).sum(axis=1), 1)
    three = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_allclose(probabilities(three), softmax(three, axis=1))
    q = says_same(np.array([0.2, 0.8]), np.array([0.5, 0.5]), (0.9, 0.3))
    assert q == pytest.approx(0.3 + 0.6 * 0.5)


# -- the path --------------------------------------------------------------------------


def path_task(n_classes=2, n_points=60, n_pairs=45, n_models=3, seed=0):
    """Features of groups that overlap, and pairs with a fold for each model."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_points)
    centres = 2 * np.eye(n_classes, 4)
    X = rng.normal(size=(n_points, 4)) + centres[y]
    features = FeatureMap(Kernel("linear"), 10).fit_transform(X, None)
    index = rng.integers(n_points, size=(n_pairs, 2))
    trained_on = np.arange(n_pairs)[:, None] % n_models != np.arange(n_models)
    same = (y[index[:, 0]] == y[index[:, 1]]).astype(float)[:, None]
    labels = Labels(np.arange(4), y[:4], np.ones((4, n_models)))
    likelihood = PairLikelihood(
        index,
        same * trained_on,
        (1 - same) * trained_on,
        n_points,
        (0.95, 0.05),
        labels,
    )
    return features, likelihood


def column(likelihood, k):
    """The likelihood of one model alone."""
    return PairLikelihood(
        likelihood.index,
        likelihood.same[:, [k]],
        likelihood.different[:, [k]],
        likelihood.n_points,
        likelihood.rates,
        likelihood.labels,
    )


@pytest.mark.parametrize(("n_classes", "n_outputs"), [(2, 1), (3, 3)])
def test_path_objective_gradient(n_classes, n_outputs):
    features, likelihood = path_task(n_classes)
    models = np.array([2, 0, 1, 2])
    J = PathObjective(features, likelihood, n_outputs, 2.0, models)
    u = np.random.default_rng(1).normal(size=(4, n_outputs * (features.shape[1] + 1)))
    u *= 3
    rows = np.array([3, 1])
    value, gradient = J(u[rows], rows)
    for k, row in enumerate(rows):
        numeric = approx_fprime(
            u[row], lambda v, r=row: J(v[None], np.array([r]))[0][0], 1e-6
        )
        np.testing.assert_allclose(gradient[k], numeric, atol=1e-4)
        # J from its definition.
        w = (u[row] / J.stretch).reshape(n_outputs, -1)
        f = features @ w[:, :-1].T + w[:, -1]
        scores = np.repeat(f[:, None], 3, axis=1)
        scores = scores[..., 0] if n_outputs == 1 else scores
        expected = risk_by_loops(likelihood, scores, models[row])
        expected += (w[:, :-1] ** 2).sum() / 8 + (w[:, -1] ** 2).sum() / 200
        assert value[k] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_path_ends_in_minima(n_classes):
    """No scale's solution is improved by another solver that begins there."""
    features, likelihood = path_task(n_classes)
    scales, n_outputs = (1.0, 4.0), 1 if n_classes == 2 else n_classes
    rng = np.random.RandomState(0)
    weights, n_iter = follow(
        features, likelihood, scales, n_classes, rng, max_iter=3000, tol=1e-11
    )
    assert weights.shape == (2, 3, n_outputs, features.shape[1] + 1)
    assert 2 < n_iter < 6000
    for s, k in itertools.product(range(2), range(3)):
        J = PathObjective(features, likelihood, n_outputs, scales[s], np.array([k]))
        u = weights[s, k].ravel() * J.stretch

        def objective(v, J=J):
            value, gradient = J(v[None], np.array([0]))
            return value[0], gradient[0]

        # A little away, so that the other solver has something to do.
        away = u + 0.01 * np.random.default_rng(k).normal(size=u.size)
        best = minimize(objective, away, jac=True, options={"gtol": 1e-8})
        assert objective(u)[0] == pytest.approx(best.fun, abs=1e-6)
        np.testing.assert_allclose(u, best.x, atol=2e-3)
    small, large = (weights[..., :-1] ** 2).sum(axis=(1, 2, 3))
    assert large > small


def test_a_fold_is_solved_as_if_alone():
    features, likelihood = path_task()
    options = {"max_iter": 3000, "tol": 1e-12}
    rng = np.random.RandomState(0)
    together, _ = follow(features, likelihood, (1.0, 4.0, 8.0), 2, rng, **options)
    for k in range(3):
        alone, _ = follow(
            features, column(likelihood, k), (1.0, 4.0, 8.0), 2, rng, **options
        )
        np.testing.assert_allclose(together[:, k], alone[:, 0], atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_more_starts_are_never_worse(n_classes, monkeypatch):
    """Random answers to many features have many local minima."""
    scales, n_outputs = (8.0, 16.0), 1 if n_classes == 2 else n_classes
    only, gains = np.array([0]), []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 12))
        features = FeatureMap(Kernel("linear"), 12).fit_transform(X, None)
        same = rng.choice([0.0, 1.0], size=(40, 1))
        index = rng.integers(40, size=(40, 2))
        likelihood = PairLikelihood(index, same, 1 - same, 40)
        values = []
        for n_starts in (1, 4):
            monkeypatch.setattr(path, "N_STARTS", n_starts)
            weights, _ = follow(
                features,
                likelihood,
                scales,
                n_classes,
                np.random.RandomState(0),
                max_iter=1000,
                tol=1e-9,
            )
            for scale, w in zip(scales, weights, strict=True):
                J = PathObjective(features, likelihood, n_outputs, scale, only)
                values.append(J(w.reshape(1, -1) * J.stretch, only)[0][0])
        gains.append(np.subtract(values[:2], values[2:]))
    assert np.min(gains) > -1e-4
    assert np.max(gains) > 0.01


def test_refine_reaches_the_minimum_of_other_pairs():
    features, likelihood = path_task()
    first = np.random.default_rng(0).normal(size=(2, 1, features.shape[1] + 1))
    only = column(likelihood, 1)
    better = refine(features, only, first, np.array([1.0, 4.0]))
    for w, start, scale in zip(better, first, (1.0, 4.0), strict=True):
        J = PathObjective(features, only, 1, scale, np.array([0]))
        value, before = (
            J(v.reshape(1, -1) * J.stretch, np.array([0]))[0][0] for v in (w, start)
        )
        best = minimize(
            lambda u, J=J: [a[0] for a in J(u[None], np.array([0]))],
            w.ravel() * J.stretch,
            jac=True,
        )
        assert value < before - 0.1
        assert value < best.fun + 0.01


def test_labels_turn_the_starts():
    """With labels the names of the classes are part of the solution."""
    features, likelihood = path_task(3)
    rows, classes, weight = likelihood.labels
    likelihood.labels = Labels(rows, classes, 20 * weight)
    weights, _ = follow(features, likelihood, (4.0,), 3, np.random.RandomState(0))
    chosen = score(features[rows], weights[0]).argmax(axis=2)
    np.testing.assert_array_equal(chosen, np.repeat(classes[:, None], 3, axis=1))


# -- the solver ------------------------------------------------------------------------


def quadratics(n_problems=5, size=8, seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n_problems, size, size))
    A = root @ root.transpose(0, 2, 1) / size + 0.2 * np.eye(size)
    return A, rng.normal(size=(n_problems, size))


def quadratic(A, b):
    def objective(u, rows):
        Au = np.einsum("kij,kj->ki", A[rows], u)
        return (u * (Au / 2 - b[rows])).sum(axis=1), Au - b[rows]

    return objective


def test_minimise_together_solves_quadratics():
    A, b = quadratics()
    start = 3 * np.random.default_rng(1).normal(size=b.shape)
    u, value, n_iter = minimise_together(
        quadratic(A, b), start, max_iter=500, tol=1e-15
    )
    exact = np.linalg.solve(A, b[..., None])[..., 0]
    np.testing.assert_allclose(u, exact, atol=1e-6)
    np.testing.assert_allclose(value, -(exact * b).sum(axis=1) / 2, atol=1e-10)
    assert n_iter < 200
    for k in range(len(b)):
        alone = minimise_together(
            quadratic(A[[k]], b[[k]]), start[[k]], max_iter=500, tol=1e-15
        )
        np.testing.assert_allclose(alone[0][0], u[k], atol=1e-6)


def test_minimise_together_stops_when_told_to():
    A, b = quadratics()
    start = np.zeros_like(b)
    assert minimise_together(quadratic(A, b), start, max_iter=3, tol=1e-15)[2] == 3
    rough = minimise_together(quadratic(A, b), start, max_iter=500, tol=0.05)
    fine = minimise_together(quadratic(A, b), start, max_iter=500, tol=1e-15)
    assert rough[2] < fine[2]
    np.testing.assert_allclose(rough[1], fine[1], atol=0.5)
    assert (rough[1] >= fine[1] - 1e-12).all()
    assert not start.any()  # what was passed in is left alone


def test_minimise_together_refuses_what_is_not_a_number():
    """The sum of u - log u, which is not a number below zero, is least at one."""
    asked = []

    def objective(u, _):
        outside = (u <= 0).any(axis=1)
        asked.append(outside.any())
        v = np.where(u > 0, u, 1.0)
        value = np.where(outside, np.nan, (v - np.log(v)).sum(axis=1))
        gradient = np.where(outside[:, None], np.nan, 1 - 1 / v)
        return value, gradient

    start = np.array([[0.05, 3.0], [6.0, 0.02], [0.5, 0.01]])
    u, value, _ = minimise_together(objective, start, max_iter=300, tol=1e-14)
    assert any(asked)
    np.testing.assert_allclose(u, 1, atol=1e-5)
    np.testing.assert_allclose(value, 2, atol=1e-9)


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


# -- from candidates to one model ------------------------------------------------------


def simulated(n_pairs, n_classes=2, rates=(1.0, 0.0), seed=0):
    """True class probabilities of pairs, and answers drawn from them."""
    rng = np.random.default_rng(seed)
    if n_classes == 2:
        f = 2.5 * rng.normal(size=(n_pairs, 2)) + 0.4
        logits = np.stack([np.zeros_like(f), f], axis=2)
    else:
        logits = 2.5 * rng.normal(size=(n_pairs, 2, n_classes))
    p = softmax(logits, axis=2)
    y = (rng.random((n_pairs, 2, 1)) > p.cumsum(axis=2)).sum(axis=2)
    chance = np.where(y[:, 0] == y[:, 1], *rates)
    same = (rng.random(n_pairs) < chance).astype(float)
    return p, HeldOut(same, 1 - same), logits


def test_log_likelihood_of_held_out_answers():
    p = np.array([[[0.2, 0.8], [0.4, 0.6]], [[0.9, 0.1], [0.5, 0.5]]])
    held_out = HeldOut(np.array([1.0, 0.25]), np.array([0.0, 0.5]), (0.9, 0.2))
    q = 0.2 + 0.7 * np.array([0.56, 0.5])
    expected = np.log(q[0]) + 0.25 * np.log(q[1]) + 0.5 * np.log(1 - q[1])
    assert held_out.log_likelihood(p) == pytest.approx(expected)
    assert held_out.total == 1.75
    both = held_out.log_likelihood(np.stack([p, p[::-1]]))
    assert both[0] == pytest.approx(expected)
    assert both.shape == (2,)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_slopes_undo_a_factor(n_classes):
    _, held_out, logits = simulated(3000, n_classes)
    scores = logits[..., 1:] if n_classes == 2 else logits
    factors = np.array([0.4, 1.0, 3.0])
    found = slopes(factors[:, None, None, None] * scores, held_out)
    # The slopes are tried in steps of 28 %.
    np.testing.assert_allclose(np.log(found * factors), 0, atol=0.26)


def test_a_slope_without_evidence_is_one():
    nothing = HeldOut(np.full(4, 0.5), np.full(4, 0.5))
    assert slopes(np.zeros((1, 4, 2, 1)), nothing)[0] == pytest.approx(1, rel=0.15)


def test_prior_weights_favour_typical_scales():
    weights = prior_weights([3.0, 6.0, 1.5, 24.0])
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(
        weights / weights[0], np.exp([0, -0.5, -0.5, -4.5]), rtol=1e-12
    )


def candidates(n_pairs, n_noise=4, seed=0):
    p, held_out, _ = simulated(n_pairs, seed=seed)
    noise = np.random.default_rng(seed + 1).normal(size=(n_noise, n_pairs, 2, 1))
    return np.concatenate([probabilities(1.5 * noise), p[None]]), held_out


def test_the_average_finds_the_informative_candidate():
    prior = np.full(5, 0.2)
    share = []
    for n_pairs in (10, 100, 3000):
        p, held_out = candidates(n_pairs)
        weights = average(p, prior, held_out)
        assert weights.sum() == pytest.approx(1)
        assert (weights > 0).all()
        share.append(weights[-1])
    assert share[0] < share[1] < share[2]
    assert share[0] < 0.7
    assert share[2] > 0.9


def test_equal_candidates_keep_their_prior_weights():
    p, held_out, _ = simulated(200)
    prior = prior_weights([1.0, 4.0, 16.0])
    weights = average(np.stack([p] * 3), prior, held_out)
    np.testing.assert_allclose(weights, prior, atol=1e-9)


def test_the_average_maximises_its_objective():
    rng = np.random.default_rng(0)
    p, held_out = candidates(150)
    prior = np.array([0.3, 0.1, 0.2, 0.1, 0.3])

    def objective(v):
        fit = held_out.log_likelihood(np.tensordot(v, p, axes=1))
        return fit - stack._LAMBDA * (v * np.log(v / prior)).sum()

    weights = average(p, prior, held_out, n_iter=5000)
    best = objective(weights)
    assert best > objective(prior) + 1
    near = [weights * np.exp(0.1 * rng.normal(size=5)) for _ in range(50)]
    assert max(objective(v / v.sum()) for v in near) < best + 1e-3
    anywhere = rng.dirichlet(np.ones(5), size=200)
    assert max(objective(v) for v in anywhere) < best
    # As many rounds as are taken by default come close.
    assert objective(average(p, prior, held_out)) > best - 0.01


def test_calibration_of_two_classes():
    p, held_out, logits = simulated(20_000)
    log_odds = (logits[..., 1] - 0.7) / 2
    seen = np.stack([expit(-log_odds), expit(log_odds)], axis=2)
    found = calibrate_average(seen, held_out)
    assert found.slope == pytest.approx(2, rel=0.1)
    np.testing.assert_allclose(found.bias, [-0.35, 0.35], atol=0.06)
    np.testing.assert_allclose(softmax(found(seen), axis=2), p, atol=0.04)


def test_calibration_of_three_classes():
    p, held_out, logits = simulated(20_000, 3)
    bias = np.array([0.5, -0.2, -0.3])
    seen = softmax((logits - bias) / 1.8, axis=2)
    found = calibrate_average(seen, held_out)
    assert found.slope == pytest.approx(1.8, rel=0.1)
    np.testing.assert_allclose(found.bias - found.bias.mean(), bias, atol=0.12)
    np.testing.assert_allclose(softmax(found(seen), axis=2), p, atol=0.06)


def test_calibration_that_is_not_needed():
    p, held_out, _ = simulated(20_000)
    found = calibrate_average(p, held_out)
    assert found.slope == pytest.approx(1, rel=0.08)
    np.testing.assert_allclose(found.bias, 0, atol=0.06)
    certain = Calibration(1.0, np.zeros(2))(np.array([[0.0, 1.0]]))
    np.testing.assert_allclose(certain, [[np.log(1e-6), 0]])


@pytest.mark.parametrize(
    ("rates", "n_classes"),
    [((0.9, 0.2), 2), ((0.8, 0.02), 2), ((0.9, 0.2), 3)],
    ids=str,
)
def test_flip_rates_are_recovered(rates, n_classes):
    p, held_out, _ = simulated(8000, n_classes, rates)
    found, gain = estimate_rates(p, held_out)
    np.testing.assert_allclose(found, rates, atol=0.06)
    assert gain > 20


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_pairs", [200, 2000])
def test_right_answers_gain_nothing_from_flip_rates(n_classes, n_pairs):
    p, held_out, _ = simulated(n_pairs, n_classes)
    _, gain = estimate_rates(p, held_out)
    assert -0.1 < gain < 3


# -- folds -----------------------------------------------------------------------------


def points_of(pairs, chosen):
    return set(pairs.index[chosen].ravel().tolist())


@pytest.mark.parametrize("n_deals", [1, 3])
def test_folds_of_disjoint_pairs(n_deals):
    pairs = Pairs(np.zeros((46, 1)), np.arange(46).reshape(-1, 2))
    folds = deal_folds(pairs, 5, n_deals, np.random.RandomState(0))
    assert folds.honest
    assert folds.n_deals == n_deals
    assert folds.n_first == 23
    assert folds.trained_on.shape == (23, 5 * n_deals)
    for deal in range(n_deals):
        part = slice(23 * deal, 23 * (deal + 1))
        np.testing.assert_array_equal(np.sort(folds.tested[part]), np.arange(23))
        assert set(folds.model[part]) == set(range(5 * deal, 5 * deal + 5))
    # A pair is left out of its own model only, once a deal.
    assert not folds.trained_on[folds.tested, folds.model].any()
    np.testing.assert_array_equal(folds.trained_on.sum(axis=1), 4 * n_deals)
    if n_deals > 1:
        first, second = folds.model[:23], folds.model[23:46] - 5
        assert (first != second).any()


def test_folds_of_pairs_that_share_points_share_none():
    rng = np.random.RandomState(0)
    # Chains of four points, so that pairs share points.
    index = np.concatenate([[[i, i + 1], [i + 1, i + 2], [i + 2, i + 3]]
                            for i in range(0, 120, 4)])  # fmt: skip
    pairs = Pairs(np.zeros((120, 1)), index)
    folds = deal_folds(pairs, 4, 2, rng)
    assert folds.honest
    for model in range(8):
        tested = folds.tested[folds.model == model]
        assert len(tested)
        trained = np.flatnonzero(folds.trained_on[:, model])
        assert not points_of(pairs, tested) & points_of(pairs, trained)


def test_folds_of_one_large_component_leave_out_what_crosses():
    rng = np.random.RandomState(0)
    index = rng.randint(80, size=(100, 2))
    pairs = Pairs(np.zeros((80, 1)), index)
    folds = deal_folds(pairs, 2, 1, rng)
    assert folds.honest
    assert 5 <= folds.n_first < 100
    for model in range(2):
        tested = folds.tested[folds.model == model]
        trained = np.flatnonzero(folds.trained_on[:, model])
        assert not points_of(pairs, tested) & points_of(pairs, trained)


def test_a_star_cannot_be_dealt_out_honestly():
    pairs = Pairs(np.zeros((31, 1)), [[0, k] for k in range(1, 31)])
    folds = deal_folds(pairs, 5, 1, np.random.RandomState(0))
    assert not folds.honest
    np.testing.assert_array_equal(np.sort(folds.tested), np.arange(30))
    np.testing.assert_array_equal(np.bincount(folds.model), [6] * 5)
    assert not folds.trained_on[folds.tested, folds.model].any()


def test_few_pairs_make_few_folds():
    pairs = Pairs(np.zeros((4, 1)), [[0, 1], [2, 3]])
    folds = deal_folds(pairs, 5, 1, np.random.RandomState(0))
    assert folds.trained_on.shape == (2, 2)
    np.testing.assert_array_equal(folds.trained_on.sum(axis=0), [1, 1])


# -- what they rest on -----------------------------------------------------------------


def test_match_classes_is_the_best_of_all_orders():
    rng = np.random.default_rng(0)
    for n_classes in (2, 3, 5):
        agree = rng.random((n_classes, n_classes))
        rows = np.arange(n_classes)
        totals = {
            order: agree[rows, list(order)].sum()
            for order in itertools.permutations(range(n_classes))
        }
        assert tuple(match_classes(agree)) == max(totals, key=totals.get)


@pytest.mark.parametrize("flip_rate", [0.0, 0.1])
def test_certificate_from_counts(flip_rate):
    exact = stats.binomtest(30, 100).proportion_ci(0.9, "exact")
    pair = (np.array([0.3, exact.low, exact.high]) - flip_rate) / (1 - 2 * flip_rate)
    expected = (1 - np.sqrt(1 - 2 * pair)) / 2
    found = certificate_from_counts(30, 100, 0.9, flip_rate, cross_validated=True)
    assert found.pair_error == pytest.approx(pair[0])
    assert found.pair_interval == pytest.approx(tuple(pair[1:]))
    assert found.clustering_error == pytest.approx(expected[0])
    assert found.clustering_interval == pytest.approx(tuple(expected[1:]))
    assert (found.n_pairs, found.confidence) == (100, 0.9)
    assert found.cross_validated
    assert "estimate" in str(found)
    assert "estimate" in found._repr_html_()
    plain = certificate_from_counts(30, 100)
    assert not plain.cross_validated
    assert "estimate" not in str(plain)


def test_more_disagreement_than_chance_is_no_information():
    found = certificate_from_counts(80, 100)
    assert found.clustering_error == 0.5
    assert found.clustering_interval == (0.5, 0.5)
