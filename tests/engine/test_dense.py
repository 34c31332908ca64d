"""Dense points read once: the same numbers as two plain products, on any path."""

import sys

import numpy as np
import pytest
from scipy.special import expit
from threadpoolctl import threadpool_limits

from pairlearn.engine.backends.compiled import compiled_module
from pairlearn.engine.backends.numpy import dense, risk_sums
from pairlearn.engine.backends.numpy.dense import DensePairRiskSum
from pairlearn.engine.backends.numpy.points import NumpyPoints
from pairlearn.engine.backends.numpy.risk_sums import NumpyPairRiskSum
from pairlearn.engine.coefficients import (
    Coefficients,
    answer_coefficients,
    pair_coefficients,
)
from pairlearn.engine.links import BinaryLink, ProductLink
from pairlearn.engine.losses import LOSSES
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import LikelihoodRisk, ProductRisk

RISKS = {
    **{name: ProductRisk(name) for name in LOSSES},
    "clipped": ProductRisk("logistic", nonnegative=True),
    "binary": LikelihoodRisk(BinaryLink()),
    "flipped": LikelihoodRisk(ProductLink(), (0.9, 0.2)),
}
# Two points a pair, few points in many pairs, and many that are in none.
PLACES = {"fresh": (600, 300), "shared": (90, 700), "some": (2000, 150)}


@pytest.fixture(params=["compiled", "numpy"])
def path(request, monkeypatch):
    """Blocks of a few pairs, with and without numba."""
    monkeypatch.setattr(dense, "FEW", 1)
    monkeypatch.setattr(dense, "PART_BYTES", 20_000)
    monkeypatch.setattr(dense, "NUMPY_BYTES", 20_000)
    monkeypatch.setattr("pairlearn.engine.backends.numpy.points.FEW", 1)
    monkeypatch.setattr(risk_sums, "BLOCK", 16)
    if request.param == "compiled":
        pytest.importorskip("numba", reason="the extra `fast` is not installed")
        yield request.param
        return
    monkeypatch.setitem(sys.modules, "numba", None)
    for name in [
        name
        for name in sys.modules
        if name.startswith("pairlearn.engine.backends.numba")
    ]:
        monkeypatch.delitem(sys.modules, name)
    compiled_module.cache_clear()
    yield request.param
    compiled_module.cache_clear()


def problem(place="fresh", dtype=np.float64, scale=1.0):
    n_points, n_pairs = PLACES[place]
    rng = np.random.default_rng(0)
    X = (scale * (rng.normal(size=(n_points, 7)) + 0.3)).astype(dtype)
    if place == "shared":
        index = rng.integers(n_points, size=(n_pairs, 2))
    else:
        index = rng.permutation(n_points)[: 2 * n_pairs].reshape(n_pairs, 2)
    t = rng.uniform(-1, 1, n_pairs)
    t[::3], t[1::3] = 1, -1
    pairs = index, answer_coefficients(t, rng.random(n_pairs))
    return X, pairs, rng.normal(size=7)


def by_definition(risk, X, index, coefficients, w, b):
    """The risk, X^T r and the sum of r, with nothing clever."""
    f = X.astype(float) @ w + b
    left, right = index.T
    value, d_left, d_right = risk.value_and_gradient(f[left], f[right], *coefficients)
    r = np.zeros(len(X))
    np.add.at(r, left, d_left)
    np.add.at(r, right, d_right)
    return value, X.astype(float).T @ r, r.sum()


def assert_close(found, right, rtol=1e-10):
    for a, b in zip(found, right, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * 10)


@pytest.mark.usefixtures("path")
class TestValueAndGradient:
    @pytest.mark.parametrize("place", PLACES)
    @pytest.mark.parametrize("name", RISKS)
    def test_it_is_the_definition(self, name, place):
        X, pairs, w = problem(place)
        found = as_points(X).coupled(*pairs).value_and_gradient(RISKS[name], w, 0.2)
        assert_close(found, by_definition(RISKS[name], X, *pairs, w, 0.2))

    @pytest.mark.parametrize("place", PLACES)
    def test_float32_is_summed_in_float64(self, place, path):
        X, pairs, w = problem(place, np.float32)
        right = by_definition(RISKS["logistic"], X, *pairs, w, 0.2)
        points = as_points(X)
        found = points.coupled(*pairs).value_and_gradient(RISKS["logistic"], w, 0.2)
        # Compiled loops widen each number; BLAS multiplies in the type of X.
        assert_close(found, right, 1e-12 if path == "compiled" else 1e-6)
        assert points.X is X

    @pytest.mark.parametrize("place", PLACES)
    @pytest.mark.parametrize("name", ["logistic", "hinge"])
    def test_small_row_numbers_give_the_same(self, name, place):
        X, (index, coefficients), w = problem(place)
        found = [
            as_points(X).coupled(index.astype(dtype), coefficients)
            .value_and_gradient(RISKS[name], w, 0.2)
            for dtype in (np.int32, np.int64)
        ]  # fmt: skip
        assert_close(found[0], found[1], 0.0)

    def test_pairs_that_are_not_in_one_piece(self):
        X, (index, coefficients), w = problem("shared")
        parts = coefficients[::2]
        turned = np.asfortranarray(index)[::2], Coefficients(*parts)
        plain = index[::2].copy(), Coefficients(*(part.copy() for part in parts))
        found = [
            as_points(X).coupled(*pairs).value_and_gradient(RISKS["logistic"], w, 0.2)
            for pairs in (turned, plain)
        ]
        assert_close(found[0], found[1], 1e-14)

    @pytest.mark.parametrize("n_pairs", [1, 2, 31, 32, 33, 64, 65])
    def test_blocks_that_are_not_full(self, n_pairs):
        X, (index, coefficients), w = problem()
        pairs = index[:n_pairs], Coefficients(*coefficients[:n_pairs])
        for risk in (RISKS["logistic"], RISKS["binary"]):
            found = as_points(X).coupled(*pairs).value_and_gradient(risk, w, 0.2)
            assert_close(found, by_definition(risk, X, *pairs, w, 0.2))

    def test_neighbours_are_not_copied(self, path):
        X, (_, coefficients), w = problem()
        pairs = np.arange(600).reshape(300, 2), coefficients
        found = (
            as_points(X).coupled(*pairs).value_and_gradient(RISKS["logistic"], w, 0.2)
        )
        assert_close(found, by_definition(RISKS["logistic"], X, *pairs, w, 0.2))
        if path == "numpy":
            assert np.shares_memory(dense._rows(X, np.arange(5, 25)), X)

    @pytest.mark.parametrize("scale", [1e-3, 30.0, 1e3])
    @pytest.mark.parametrize("place", ["fresh", "shared"])
    def test_large_and_small_scores(self, scale, place):
        X, pairs, w = problem(place, scale=scale)
        found = (
            as_points(X).coupled(*pairs).value_and_gradient(RISKS["logistic"], w, 0.2)
        )
        assert_close(found, by_definition(RISKS["logistic"], X, *pairs, w, 0.2), 1e-9)

    @pytest.mark.parametrize("place", PLACES)
    @pytest.mark.parametrize("weight", [1.0, 3.0])
    def test_sure_answers_of_one_weight(self, place, weight, monkeypatch):
        """Then one byte says all of a pair, and one logarithm serves for many."""
        # Parts of more pairs than a product of factors takes, and some left over.
        monkeypatch.setattr(dense, "NUMPY_BYTES", 10**6)
        X, (index, *_), w = problem(place)
        t = np.where(np.random.default_rng(1).random(len(index)) < 0.4, 1.0, -1.0)
        weights = np.full(len(index), weight)
        found = [
            as_points(X).coupled(index, make(t, weights))
            .value_and_gradient(RISKS["logistic"], w, 0.2)
            for make in (pair_coefficients, answer_coefficients)
        ]  # fmt: skip
        # Not by a risk of ours: a fault in it would be on both sides.
        f, g = (X @ w + 0.2)[index].T
        r = np.zeros(len(X))
        slope = -t * expit(-t * f * g) / len(t)
        np.add.at(r, index, slope[:, None] * np.stack([g, f], axis=1))
        right = np.logaddexp(0, -t * f * g).mean(), X.T @ r, r.sum()
        for one in found:
            assert_close(one, right, 1e-12)

    @pytest.mark.parametrize("place", ["fresh", "shared"])
    def test_scores_beyond_the_range_of_numbers(self, place):
        X, pairs, w = problem(place)
        # f f' overflows; where it has the right sign, it costs nothing all the same.
        t = (X @ w)[pairs[0]].prod(axis=1) > 0
        pairs = pairs[0], Coefficients(t / len(t), ~t / len(t))
        with np.errstate(over="ignore", invalid="ignore"):
            found = (
                as_points(X)
                .coupled(*pairs)
                .value_and_gradient(RISKS["logistic"], 1e170 * w, 0.0)
            )
            right = by_definition(RISKS["logistic"], X, *pairs, 1e170 * w, 0.0)
        assert found[0] == right[0] == 0.0
        np.testing.assert_array_equal(found[1], right[1])

    @pytest.mark.parametrize("place", PLACES)
    @pytest.mark.parametrize("name", ["logistic", "binary", "hinge"])
    def test_any_number_of_threads_gives_the_same_sum(self, name, place):
        X, pairs, w = problem(place)
        found = []
        for n in (1, 2, 5):
            with threadpool_limits(n, user_api="blas"):
                points = as_points(X).coupled(*pairs)
                found.append(points.risk_of(RISKS[name], (X @ w).round(9)))
        for value, r in found[1:]:
            assert value == found[0][0]
            np.testing.assert_array_equal(r, found[0][1])

    def test_points_in_no_pair_are_not_looked_at(self):
        X, pairs, w = problem("some")
        unused = np.setdiff1d(np.arange(len(X)), pairs[0])
        right = (
            as_points(X).coupled(*pairs).value_and_gradient(RISKS["logistic"], w, 0.2)
        )
        X[unused] = np.nan
        found = (
            as_points(X).coupled(*pairs).value_and_gradient(RISKS["logistic"], w, 0.2)
        )
        assert_close(found, right, 0.0)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pullback(dtype):
    X, _, _ = problem(dtype=dtype)
    r = np.random.default_rng(1).normal(size=len(X))
    rtol = 1e-12 if dtype == np.float64 else 1e-5
    for columns in (r, np.stack([r, r**2], axis=1)):
        found = as_points(X).pullback(columns)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, X.astype(float).T @ columns, rtol, 1e-5)


def test_float32_sums_of_many_points_keep_their_digits():
    X = np.ones((3_000_000, 1), np.float32)
    r = np.full(len(X), 1.1)
    assert as_points(X).pullback(r)[0] == pytest.approx(1.1 * len(X), rel=1e-6)


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (np.zeros((6, 3)), DensePairRiskSum),
        (np.zeros((6, 3), np.float32)[::2], NumpyPairRiskSum),
        (np.zeros((3, 6)).T, NumpyPairRiskSum),
    ],
    ids=["rows", "steps", "columns"],
)
def test_rows_in_one_piece_are_read_once(X, kind):
    pairs = np.array([[0, 1]]), Coefficients(np.ones(1), np.zeros(1))
    assert type(NumpyPoints(X).coupled(*pairs)) is kind


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_moment_of_a_vector_is_a_column_of_that_of_a_matrix(dtype):
    X, pairs, w = problem("shared", dtype)
    risk_sum = as_points(X).coupled(*pairs)
    d_w, d_b = risk_sum.moment(w, 0.3)
    many_w, many_b = risk_sum.moment(np.stack([w, 2 * w], axis=1), np.array([0.3, 0.6]))
    rtol = 1e-10 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(many_w[:, 0], d_w, rtol, 1e-6)
    np.testing.assert_allclose(many_w[:, 1], 2 * d_w, rtol, 1e-6)
    np.testing.assert_allclose(many_b, [d_b, 2 * d_b], rtol, 1e-6)


@pytest.mark.parametrize(
    "answer",
    [
        (np.empty(0, bool), 0.0, np.ones(1), np.zeros(1)),
        (np.array([True]), 1.0, None, None),
    ],
    ids=["any", "equal"],
)
def test_the_compiled_logistic_function(answer):
    pytest.importorskip("numba", reason="the extra `fast` is not installed")
    from pairlearn.engine.backends.numba import workspace
    from pairlearn.engine.backends.numba.products import product_risk

    # With one score 1, z is the other one; with a = 1 and b = 0 the risk is phi(z).
    near = np.linspace(-50, 50, 2001)
    z = np.concatenate([near, [1e-300, 1e-17, 690.0, 800.0, 1e300, -1e300]])
    found = []
    for one in z:
        f, g = workspace(1)
        f[0], g[0] = one, 1.0
        value = product_risk(*answer, 0, 1, f, g)
        found.append((value, g[0], f[0]))
    value, by_one, slope = np.array(found).T
    right = np.logaddexp(0, -z), -expit(-z)
    # 1 + e keeps the digits of e only so far.
    atol = 0 if answer[2] is not None else 2.3e-16
    np.testing.assert_allclose(value[:2001], right[0][:2001], rtol=3e-15, atol=atol)
    np.testing.assert_allclose(slope[:2001], right[1][:2001], rtol=3e-15)
    np.testing.assert_allclose(value, right[0], rtol=1e-13, atol=atol or 1e-300)
    np.testing.assert_allclose(slope, right[1], rtol=1e-13, atol=1e-300)
    np.testing.assert_array_equal(by_one, slope * z)


def test_the_compiled_exponential():
    pytest.importorskip("numba", reason="the extra `fast` is not installed")
    from pairlearn.engine.backends.numba import exponentials

    near = np.append(np.linspace(-60, 0, 2003), -1e-300)
    far = np.array([-690.0, -800.0, -1e300, -np.inf, np.nan])
    found = np.stack([near, near])
    exponentials(found)
    np.testing.assert_allclose(found[0], np.exp(near), rtol=1e-14)
    np.testing.assert_array_equal(found[1], found[0])
    found = far[None].copy()
    exponentials(found)
    np.testing.assert_allclose(found[0], np.exp(far), rtol=1e-12, atol=1e-303)
