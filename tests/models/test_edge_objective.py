"""The objective of links: its value is the definition, its gradient exact."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import check_grad

from pairlearn.engine.coefficients import answer_coefficients
from pairlearn.engine.links import BinaryLink
from pairlearn.engine.objective import PairObjective
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import LikelihoodRisk
from pairlearn.engine.scaling import Scaling
from pairlearn.models.linear.links import EdgeObjective
from tests.support.link_worlds import draw_couples


def parts(seed=0, *, soft=True):
    """Return points, pairs, answers, weights and similarities of no special kind."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 4)) * [1, 5, 0.2, 1] + [0, 3, 0, -1]
    X[rng.random(X.shape) < 0.3] = 0
    index = draw_couples(12, 30, rng)
    t = rng.uniform(-1, 1, 30) if soft else rng.choice([-1.0, 1.0], 30)
    return X, index, t, rng.uniform(0, 3, 30), rng.normal(size=30)


def objective_of(X, index, t, weight, similarity, *, alpha=0.2, fit_intercept=True):
    points = as_points(X)
    risk = LikelihoodRisk(BinaryLink())
    scaling = Scaling.of(points, alpha, fit_intercept)
    risk_sum = points.coupled(index, answer_coefficients(t, weight))
    return EdgeObjective(PairObjective(risk_sum, risk, alpha, scaling), similarity)


def by_definition(X, index, t, weight, similarity, w, b, g, h, c, alpha):
    """The docstring, one pair after the other."""
    total = alpha / 2 * w @ w
    for (i, j), answer, share, s in zip(
        index, t, weight / weight.sum(), similarity, strict=True
    ):
        p, q = 1 / (1 + np.exp(-(X[[i, j]] @ w + b)))
        same = p * q + (1 - p) * (1 - q)
        odds = np.exp(c * s) * (np.exp(g) * same + np.exp(h) * (1 - same))
        link = odds / (1 + odds)
        total -= share * (1 + answer) / 2 * np.log(link)
        total -= share * (1 - answer) / 2 * np.log(1 - link)
    return total


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("soft", [True, False])
def test_the_gradient_is_that_of_finite_differences(fit_intercept, kind, soft):
    X, index, t, weight, similarity = parts(soft=soft)
    objective = objective_of(
        kind(X), index, t, weight, similarity, fit_intercept=fit_intercept
    )
    rng = np.random.default_rng(1)
    for size in (0.0, 0.5, 3.0):
        v = size * rng.normal(size=4 + fit_intercept + 3)
        gradient = objective(v)[1]
        assert gradient.shape == v.shape
        apart = check_grad(lambda v: objective(v)[0], lambda v: objective(v)[1], v)
        assert apart < 1e-6 * (1 + np.linalg.norm(gradient))
        # Every entry counts, those of g, h and c as well.
        assert size == 0 or np.all(np.abs(gradient) > 1e-6)
    assert objective.n_evaluations >= 30


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_the_value_is_that_of_the_definition(fit_intercept, kind):
    X, *rest = parts()
    objective = objective_of(kind(X), *rest, fit_intercept=fit_intercept)
    for seed in range(3):
        v = np.random.default_rng(seed).normal(size=4 + fit_intercept + 3)
        w, b = objective.objective.weights(v[:-3])
        expected = by_definition(X, *rest, w, b, *v[-3:], alpha=0.2)
        assert objective(v)[0] == pytest.approx(expected, rel=1e-10)


def test_large_scores_overflow_nowhere():
    objective = objective_of(*parts())
    value, gradient = objective(np.full(8, 1e4))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
