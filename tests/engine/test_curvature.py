"""Second derivatives of objectives agree with differences of their gradients."""

import numpy as np
import pytest
from scipy import sparse

from pairlearn.engine import curvature
from pairlearn.engine.coefficients import (
    Coefficients,
    answer_coefficients,
    pair_coefficients,
)
from pairlearn.engine.links import BinaryLink, ProductLink
from pairlearn.engine.losses import LOSSES
from pairlearn.engine.objective import PairObjective, PointObjective
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import LikelihoodRisk, PointRisk, ProductRisk
from pairlearn.engine.scaling import Scaling
from pairlearn.engine.solvers import rounding

SMOOTH = [name for name in LOSSES if ProductRisk(name).smooth]
RISKS = {
    **{name: ProductRisk(name) for name in SMOOTH},
    "binary": LikelihoodRisk(BinaryLink()),
    "flipped": LikelihoodRisk(ProductLink(), (0.9, 0.2)),
}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) + 0.5
INDEX = RNG.integers(60, size=(90, 2))
T = np.where(RNG.random(90) < 0.5, 1.0, -1.0)
KINDS = {
    "dense": (X, 1e-6),
    "float32": (X.astype(np.float32), 2e-4),
    "sparse": (sparse.csr_array(np.where(np.abs(X) > 0.4, X, 0.0)), 1e-6),
}


def by_differences(objective, u, step=1e-5):
    unit = np.eye(len(u))
    return np.array(
        [
            (objective(u + step * e)[1] - objective(u - step * e)[1]) / (2 * step)
            for e in unit
        ]
    )


def pair_objective(points, risk, coefficients=None, intercept=True):
    points = as_points(points)
    scaling = Scaling.of(points, 0.01, intercept)
    coefficients = coefficients or answer_coefficients(T, np.linspace(1, 2, 90))
    return PairObjective(points.coupled(INDEX, coefficients), risk, 0.01, scaling)


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch):
    monkeypatch.setattr(curvature, "BLOCK", 16)
    monkeypatch.setattr(curvature, "TENSOR_BLOCK", 32)


@pytest.mark.parametrize("name", RISKS)
@pytest.mark.parametrize("intercept", [True, False])
def test_pair_risks(name, intercept):
    objective = pair_objective(X, RISKS[name], intercept=intercept)
    u = 0.3 * RNG.normal(size=objective.size)
    found = objective.curvature(u)
    scale = np.abs(found).max()
    np.testing.assert_allclose(found, by_differences(objective, u), atol=1e-6 * scale)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_points_in_memory(kind):
    points, atol = KINDS[kind]
    objective = pair_objective(points, RISKS["logistic"])
    exact = pair_objective(
        points.astype(float) if kind == "float32" else points, RISKS["logistic"]
    )
    u = RNG.normal(size=objective.size)
    found = objective.curvature(u)
    right = by_differences(exact, u)
    np.testing.assert_allclose(found, right, atol=atol * np.abs(right).max())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_tensors(dtype):
    torch = pytest.importorskip("torch", reason="the extra `torch` is not installed")
    points = X.astype(dtype)
    found, right = (
        pair_objective(table, RISKS["logistic"]).curvature(np.arange(5) / 5)
        for table in (torch.from_numpy(points), points)
    )
    assert pair_objective(torch.from_numpy(points), RISKS["logistic"]).knows_curvature
    rtol = 1e-9 if dtype == "float64" else 1e-4
    np.testing.assert_allclose(found, right, atol=rtol * np.abs(right).max())


def test_points_in_blocks_do_not_know_it():
    da = pytest.importorskip("dask.array", reason="the extra `dask` is not installed")
    points = da.from_array(X, chunks=(20, -1))
    assert not pair_objective(points, RISKS["logistic"]).knows_curvature


def test_answers_in_one_byte():
    u = RNG.normal(size=5)
    found = [
        pair_objective(X, RISKS["logistic"], make(T, np.ones(90))).curvature(u)
        for make in (pair_coefficients, answer_coefficients)
    ]
    np.testing.assert_allclose(*found, rtol=1e-12)


def test_risks_of_points():
    points = as_points(X)
    risk_sum = points.weighted(Coefficients(*RNG.random((2, 60)) / 60))
    scaling = Scaling.of(points, 0.01, True)
    objective = PointObjective(risk_sum, PointRisk("logistic"), 0.01, scaling)
    u = RNG.normal(size=5)
    found = objective.curvature(u)
    np.testing.assert_allclose(
        found, by_differences(objective, u), atol=1e-6 * np.abs(found).max()
    )


def test_it_counts_as_an_evaluation():
    objective = pair_objective(X, RISKS["logistic"])
    objective.curvature(np.ones(5))
    assert objective.n_evaluations == 1


@pytest.mark.parametrize(
    "risk", [ProductRisk("hinge"), ProductRisk("logistic", nonnegative=True)]
)
def test_where_it_is_not_known(risk):
    assert not pair_objective(X, risk).knows_curvature


def test_what_is_round_is_round():
    """T^T H T is the identity where H bends upwards."""
    objective = pair_objective(X, RISKS["logistic"])
    u = RNG.normal(size=5)
    H, T_ = objective.curvature(u), rounding(objective, u)
    values = np.linalg.eigvalsh(T_.T @ H @ T_)
    np.testing.assert_allclose(np.abs(values)[np.linalg.eigvalsh(H) > 1e-3], 1.0, 1e-6)
