"""Torch computes what NumPy computes: products, risks, gradients, moments."""

import numpy as np
import pytest

from pairlearn.engine.coefficients import Coefficients, answer_coefficients
from pairlearn.engine.links import BinaryLink, ProductLink, SoftmaxLink
from pairlearn.engine.losses import LOSSES
from pairlearn.engine.noisy_objective import NoisyObjective
from pairlearn.engine.objective import PairObjective, PointObjective
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import LikelihoodRisk, PointRisk, ProductRisk
from pairlearn.engine.scaling import Scaling
from tests.support.tensors import OwnLoss, every_device

torch = pytest.importorskip("torch", reason="needs torch")

RATES = [(1.0, 0.0), (0.9, 0.2), (1.0, 0.3), (0.8, 0.0)]
PAIR_RISKS = {
    **{name: ProductRisk(name) for name in LOSSES},
    "smoothed": ProductRisk("hinge").smoothed(0.1),
    "clipped": ProductRisk("logistic", nonnegative=True),
    "own": ProductRisk(OwnLoss()),
    **{f"binary {r}": LikelihoodRisk(BinaryLink(), r) for r in RATES},
    **{f"product {r}": LikelihoodRisk(ProductLink(), r) for r in RATES},
}


def problem(n_points, n_pairs, n_features=4):
    """Return points, pairs and coefficients; points in a pair at most once or often."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_points, n_features)) + 0.5
    if 2 * n_pairs <= n_points:
        index = rng.permutation(n_points)[: 2 * n_pairs].reshape(n_pairs, 2)
    else:
        index = rng.integers(n_points, size=(n_pairs, 2))
    t = rng.uniform(-1, 1, n_pairs)
    t[::3], t[1::3] = 1, -1
    return X, index, answer_coefficients(t, rng.random(n_pairs))


def both_risk_sums(device, n_points=60, n_pairs=200, dtype="float64"):
    X, *pairs = problem(n_points, n_pairs)
    tensor = torch.tensor(X.astype(dtype), device=device)
    return (
        as_points(X.astype(dtype)).coupled(*pairs),
        as_points(tensor).coupled(*pairs),
    )


def assert_all_close(found, right, rtol=1e-9):
    for a, b in zip(found, right, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


class TestPoints:
    @every_device
    @pytest.mark.parametrize("columns", [(), (3,)])
    @pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-12), ("float32", 1e-5)])
    def test_products(self, device, columns, dtype, rtol):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(50, 4)).astype(dtype)
        mine, right = as_points(torch.tensor(X, device=device)), as_points(X)
        w, b = rng.normal(size=(4, *columns)), rng.normal(size=columns)
        r = rng.normal(size=(50, *columns))
        rows = np.array([3, 3, 49, 0])
        assert_all_close(
            [mine.scores(w, b), mine.pullback(r), mine.take(rows).scores(w, b)],
            [right.scores(w, b), right.pullback(r), right.take(rows).scores(w, b)],
            rtol,
        )
        assert_all_close(mine.mean_and_variance(), right.mean_and_variance(), rtol)
        own = mine.own_scores(w, b)
        assert own.device == mine.X.device
        assert own.dtype == mine.X.dtype
        assert (mine.n_points, mine.n_features) == (50, 4)
        np.testing.assert_allclose(own.cpu(), right.own_scores(w, b), rtol=1e-4)

    @every_device
    def test_sums_of_many_points_keep_their_digits(self, device):
        rng = np.random.default_rng(0)
        X = (rng.normal(size=(200_000, 3)) + 10).astype("float32")
        r = rng.normal(size=200_000)
        points = as_points(torch.tensor(X, device=device))
        right = X.T.astype(float) @ r
        scale = np.abs(X.T.astype(float)) @ np.abs(r)
        assert np.max(np.abs(points.pullback(r) - right) / scale) < 1e-8
        mean, variance = points.mean_and_variance()
        np.testing.assert_allclose(mean, X.mean(axis=0, dtype=float), rtol=1e-12)
        np.testing.assert_allclose(variance, X.var(axis=0, dtype=float), rtol=1e-9)


class TestTerms:
    @every_device
    @pytest.mark.parametrize("fresh", [True, False])
    @pytest.mark.parametrize("name", PAIR_RISKS)
    def test_pair_risks(self, name, fresh, device):
        shape = (500, 230) if fresh else (60, 200)
        right, mine = both_risk_sums(device, *shape)
        risk, w, b = PAIR_RISKS[name], np.array([0.7, -0.2, 0.1, 1.1]), np.array(0.3)
        assert_all_close(
            mine.value_and_gradient(risk, w, b), right.value_and_gradient(risk, w, b)
        )
        assert mine.value_along(risk, w, b)(0.7) == pytest.approx(
            right.value_along(risk, w, b)(0.7), rel=1e-10
        )
        if isinstance(risk, LikelihoodRisk):
            np.testing.assert_allclose(
                mine.rate_gradient(risk, w, b), right.rate_gradient(risk, w, b)
            )

    @every_device
    @pytest.mark.parametrize("rates", RATES)
    def test_several_outputs(self, rates, device):
        right, mine = both_risk_sums(device)
        rng = np.random.default_rng(1)
        w, b = rng.normal(size=(4, 3)), rng.normal(size=3)
        risk = LikelihoodRisk(SoftmaxLink(), rates)
        assert_all_close(
            mine.value_and_gradient(risk, w, b), right.value_and_gradient(risk, w, b)
        )
        assert_all_close(mine.moment(w, b), right.moment(w, b))
        np.testing.assert_allclose(
            mine.rate_gradient(risk, w, b), right.rate_gradient(risk, w, b)
        )

    @every_device
    @pytest.mark.parametrize("fresh", [True, False])
    @pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-10), ("float32", 1e-5)])
    def test_moment_and_narrow_points(self, dtype, rtol, fresh, device):
        shape = (5000, 2400) if fresh else (60, 200)
        right, mine = both_risk_sums(device, *shape, dtype=dtype)
        w, b = np.array([0.7, -0.2, 0.1, 1.1]), np.array(0.3)
        assert_all_close(mine.moment(w, b), right.moment(w, b), rtol)
        for name in ("logistic", "binary (1.0, 0.0)"):
            risk = PAIR_RISKS[name]
            assert_all_close(
                mine.value_and_gradient(risk, w, b),
                right.value_and_gradient(risk, w, b),
                rtol,
            )

    @every_device
    @pytest.mark.parametrize("loss", [*LOSSES, OwnLoss()])
    @pytest.mark.parametrize("nonnegative", [True, False])
    def test_point_risks(self, loss, nonnegative, device):
        X, *_ = problem(60, 200)
        rng = np.random.default_rng(2)
        coefficients = Coefficients(*rng.normal(size=(2, 60)) / 60)
        mine, right = (
            as_points(table).weighted(coefficients)
            for table in (torch.tensor(X, device=device), X)
        )
        risk = PointRisk(loss, nonnegative=nonnegative)
        w, b = np.array([0.7, -0.2, 0.1, 1.1]), np.array(0.3)
        assert_all_close(
            mine.value_and_gradient(risk, w, b), right.value_and_gradient(risk, w, b)
        )
        assert mine.value_along(risk, w, b)(0.7) == pytest.approx(
            right.value_along(risk, w, b)(0.7), rel=1e-10, abs=1e-12
        )

    @every_device
    @pytest.mark.parametrize("fresh", [True, False])
    def test_gradients_by_finite_differences(self, fresh, device):
        X, *pairs = problem(*((500, 230) if fresh else (60, 200)))
        points = as_points(torch.tensor(X, device=device))
        scaling = Scaling.of(points, 0.1, fit_intercept=True)
        couples = points.coupled(*pairs)
        single = points.weighted(
            Coefficients(np.full(len(X), 0.01), np.full(len(X), 0.02))
        )
        plain = PairObjective(couples, LikelihoodRisk(BinaryLink()), 0.1, scaling)
        objectives = [
            PairObjective(couples, ProductRisk("logistic"), 0.1, scaling),
            PairObjective(couples, LikelihoodRisk(SoftmaxLink()), 0.1, scaling, 3),
            PointObjective(single, PointRisk("logistic"), 0.1, scaling),
            NoisyObjective(plain, symmetric=False),
        ]
        for objective in objectives:
            size = getattr(objective, "size", scaling.size + 2)
            u = np.random.default_rng(3).normal(size=size)
            _, gradient = objective(u)
            steps = 1e-6 * np.eye(size)
            by_steps = [(objective(u + h)[0] - objective(u - h)[0]) / 2e-6
                        for h in steps]  # fmt: skip
            np.testing.assert_allclose(gradient, by_steps, rtol=1e-5, atol=1e-8)


def test_few_rows_are_fetched_from_a_device():
    """A pass over all points takes it less time than to fetch many of them."""
    far = torch.empty(10, 3, device="meta")
    assert as_points(torch.empty(10, 3)).most_rows > 10**9
    assert as_points(far).most_rows == 2**16
    # A first sample of twenty pairs a feature must fit into it.
    assert as_points(torch.empty(10, 5000, device="meta")).most_rows == 200_000
