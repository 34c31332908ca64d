"""Paths of penalties, and many small problems minimised together."""

import itertools

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from pairlearn.engine.solvers import minimise_together
from pairlearn.models.auto import path
from pairlearn.models.auto.kernels import FeatureMap, Kernel
from pairlearn.models.auto.likelihood import Labels, PairLikelihood
from pairlearn.models.auto.path import PathObjective, follow, refine, score
from tests.support.auto_tasks import risk_by_loops

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


def test_the_path_ends_in_minima():
    """No scale's solution is improved by another solver that begins there."""
    features, likelihood = path_task()
    scales = (1.0, 4.0)
    weights, n_iter = follow(features, likelihood, scales, max_iter=3000, tol=1e-11)
    assert weights.shape == (2, 3, 1, features.shape[1] + 1)
    assert 2 < n_iter < 6000
    for s, k in itertools.product(range(2), range(3)):
        J = PathObjective(features, likelihood, 1, scales[s], np.array([k]))
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
    together, _ = follow(features, likelihood, (1.0, 4.0, 8.0), **options)
    for k in range(3):
        only = column(likelihood, k)
        alone, _ = follow(features, only, (1.0, 4.0, 8.0), **options)
        np.testing.assert_allclose(together[:, k], alone[:, 0], atol=1e-4)


def test_more_starts_are_never_worse(monkeypatch):
    """Random answers to many features have many local minima."""
    scales = (8.0, 16.0)
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
            weights, _ = follow(features, likelihood, scales, max_iter=1000, tol=1e-9)
            for scale, w in zip(scales, weights, strict=True):
                J = PathObjective(features, likelihood, 1, scale, only)
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
    features, likelihood = path_task()
    rows, classes, weight = likelihood.labels
    for turned in (classes, 1 - classes):
        likelihood.labels = Labels(rows, turned, 20 * weight)
        weights, _ = follow(features, likelihood, (4.0,))
        chosen = score(features[rows], weights[0])[..., 0] > 0
        np.testing.assert_array_equal(chosen, np.repeat(turned[:, None] == 1, 3, 1))


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


def test_minimise_together_can_end_each_problem_by_itself():
    rng = np.random.default_rng(0)
    A = np.array([np.diag(np.geomspace(1, top, 5)) for top in (2.0, 1e3)])
    b, start = rng.normal(size=(2, 5)), rng.normal(size=(2, 5))
    options = {"max_iter": 500, "tol": 1e-3}
    together, values, n_iter = minimise_together(
        quadratic(A, b), start, alone=True, **options
    )
    single = [
        minimise_together(quadratic(A[k : k + 1], b[k : k + 1]), s[None], **options)
        for k, s in enumerate(start)
    ]
    assert single[0][2] < single[1][2] == n_iter
    for k, (u, value, _) in enumerate(single):
        np.testing.assert_allclose(together[k], u[0], rtol=1e-12)
        np.testing.assert_allclose(values[k], value[0], rtol=1e-12)


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
