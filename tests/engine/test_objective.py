import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import check_grad

from pairlearn.engine.backends.compiled import compiled_module
from pairlearn.engine.coefficients import answer_coefficients
from pairlearn.engine.links import BinaryLink
from pairlearn.engine.losses import LOSSES
from pairlearn.engine.objective import PairObjective, PointObjective
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import LikelihoodRisk, PointRisk, ProductRisk
from pairlearn.engine.scaling import Scaling

N_POINTS, N_FEATURES, N_PAIRS = 30, 5, 40


def problem(kind="dense", seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(N_POINTS, N_FEATURES)) + 0.3).astype(dtype)
    X[rng.random(X.shape) < 0.4] = 0
    index = rng.integers(N_POINTS, size=(N_PAIRS, 2))
    t = rng.choice([-1.0, 1.0], size=N_PAIRS)
    weight = rng.uniform(0.2, 3.0, size=N_PAIRS)
    return sparse.csr_array(X) if kind == "sparse" else X, index, t, weight, rng


def objective(X, index, t, weight, loss="logistic", scaling=None, fit_intercept=True):
    points = as_points(X)
    if scaling is None:
        scaling = Scaling.identity(points.n_features, fit_intercept)
    risk_sum = points.coupled(index, answer_coefficients(t, weight))
    return PairObjective(risk_sum, ProductRisk(loss), 0.1, scaling)


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("soft", [True, False])
def test_gradient_agrees_with_finite_differences(
    loss, kind, fit_intercept, weighted, soft
):
    X, index, t, weight, rng = problem(kind)
    weight = weight if weighted else np.ones(N_PAIRS)
    t = rng.uniform(-1, 1, N_PAIRS) if soft else t
    J = objective(X, index, t, weight, loss, fit_intercept=fit_intercept)
    for _ in range(3):
        u = rng.normal(size=J.scaling.size) / 2
        error = check_grad(lambda v: J(v)[0], lambda v: J(v)[1], u, epsilon=1e-7)
        assert error < 2e-5 * (1 + np.linalg.norm(J(u)[1]))


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_value_is_the_formula(loss):
    """The objective written as a loop over pairs, from its definition."""
    X, index, t, weight, rng = problem()
    w, b = rng.normal(size=N_FEATURES), 0.3
    total = 0.0
    for (i, j), answer, v in zip(index, t, weight, strict=True):
        z = (X[i] @ w + b) * (X[j] @ w + b)
        total += v * float(LOSSES[loss].value(z * answer))
    expected = total / weight.sum() + 0.1 / 2 * w @ w
    J = objective(X, index, t, weight, loss)
    assert J(np.append(w, b))[0] == pytest.approx(expected, rel=1e-12)


def test_soft_answer_is_the_expectation_over_hard_ones():
    X, index, _, weight, rng = problem()
    u = rng.normal(size=N_FEATURES + 1)
    same = objective(X, index, np.ones(N_PAIRS), weight)(u)
    different = objective(X, index, -np.ones(N_PAIRS), weight)(u)
    soft = objective(X, index, np.full(N_PAIRS, 0.5), weight)(u)
    assert soft[0] == pytest.approx(0.75 * same[0] + 0.25 * different[0])
    np.testing.assert_allclose(soft[1], 0.75 * same[1] + 0.25 * different[1])


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_invariances(loss):
    X, index, t, weight, rng = problem()
    u = rng.normal(size=N_FEATURES + 1)
    value, gradient = objective(X, index, t, weight, loss)(u)

    swapped = objective(X, index[:, ::-1], t, weight, loss)(u)
    np.testing.assert_allclose(swapped[1], gradient, rtol=1e-12)
    assert swapped[0] == pytest.approx(value, rel=1e-12)

    mirrored = objective(X, index, t, weight, loss)(-u)
    np.testing.assert_allclose(mirrored[1], -gradient, rtol=1e-12)
    assert mirrored[0] == pytest.approx(value, rel=1e-12)

    order = rng.permutation(N_POINTS)
    moved = objective(X[order], np.argsort(order)[index], t, weight, loss)(u)
    np.testing.assert_allclose(moved[1], gradient, rtol=1e-10)

    shuffled = rng.permutation(N_PAIRS)
    again = objective(X, index[shuffled], t[shuffled], weight[shuffled], loss)(u)
    np.testing.assert_allclose(again[1], gradient, rtol=1e-10)


def test_weight_two_is_a_pair_twice():
    X, index, t, _, rng = problem()
    u = rng.normal(size=N_FEATURES + 1)
    weight = rng.integers(1, 4, N_PAIRS)
    weighted = objective(X, index, t, weight.astype(float))(u)
    copies = np.repeat(np.arange(N_PAIRS), weight)
    repeated = objective(X, index[copies], t[copies], np.ones(len(copies)))(u)
    assert weighted[0] == pytest.approx(repeated[0], rel=1e-12)
    np.testing.assert_allclose(weighted[1], repeated[1], rtol=1e-10)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_scaling_changes_coordinates_only(fit_intercept):
    X, index, t, weight, rng = problem()
    X = X * [1, 10, 0.1, 5, 1] + [0, 100, 0, -3, 0]
    scaling = Scaling.of(as_points(X), 0.1, fit_intercept)
    u = rng.normal(size=scaling.size)
    w, b = scaling.weights(u)
    scaled = objective(X, index, t, weight, scaling=scaling)
    plain = objective(X, index, t, weight, fit_intercept=fit_intercept)
    v = np.append(w, b) if fit_intercept else w
    assert scaled(u)[0] == pytest.approx(plain(v)[0], rel=1e-9)
    np.testing.assert_allclose(scaling.coordinates(w, float(b)), u, rtol=1e-9)
    assert check_grad(lambda a: scaled(a)[0], lambda a: scaled(a)[1], u) < 1e-4


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("scaled", [True, False])
def test_moment_is_the_matrix_of_the_definition(kind, scaled):
    X, index, t, weight, _ = problem(kind)
    points = as_points(X)
    scaling = Scaling.identity(N_FEATURES, True)
    if scaled:
        scaling = Scaling.of(points, 0.1, True)
    table = X.toarray() if kind == "sparse" else X
    Z = np.column_stack([(table - scaling.centre) / scaling.scale, np.ones(N_POINTS)])
    M = np.zeros((N_FEATURES + 1, N_FEATURES + 1))
    for (i, j), answer, v in zip(index, t, weight, strict=True):
        M += v * answer * (np.outer(Z[i], Z[j]) + np.outer(Z[j], Z[i]))
    M /= 2 * weight.sum()
    J = objective(X, index, t, weight, scaling=scaling)
    np.testing.assert_allclose(J.moment(np.eye(N_FEATURES + 1)), M, atol=1e-12)
    np.testing.assert_allclose(J.moment(M[0]), M @ M[0], atol=1e-12)


def test_along_and_batches_agree_with_the_whole():
    X, index, t, weight, rng = problem()
    J = objective(X, index, t, weight)
    u = rng.normal(size=N_FEATURES + 1)
    assert J.value_along(u)(1.7) == pytest.approx(J(1.7 * u)[0], rel=1e-12)
    # Batches are unbiased: those of a partition average to the whole.
    order = rng.permutation(N_PAIRS)
    batches = [J.evaluate(u, *batch) for batch in J.batches(order, N_PAIRS // 4)]
    assert len(batches) == 4
    assert np.mean([value for value, _ in batches]) == pytest.approx(J(u)[0])
    np.testing.assert_allclose(np.mean([g for _, g in batches], axis=0), J(u)[1])


@pytest.mark.parametrize("name", ["risk_sum", "risk", "alpha", "scaling", "n_outputs"])
def test_an_objective_does_not_change(name):
    X, index, t, weight, rng = problem()
    J = objective(X, index, t, weight)
    with pytest.raises(FrozenInstanceError):
        setattr(J, name, None)
    u = rng.normal(size=J.size)
    before = J(u)
    # Another risk in its place leaves no trace.
    J.value_and_gradient(ProductRisk("hinge"), u)
    np.testing.assert_array_equal(J(u)[1], before[1])
    assert J.n_evaluations == 2


def test_float32_points_are_not_copied_to_float64():
    X, index, t, weight, rng = problem(dtype=np.float32)
    u = rng.normal(size=N_FEATURES + 1)
    J = objective(X, index, t, weight)
    assert J.points.X is X
    double = objective(X.astype(float), index, t, weight)(u)
    assert J(u)[0] == pytest.approx(double[0], rel=1e-5)
    np.testing.assert_allclose(J(u)[1], double[1], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("n", [3, 2**17])
def test_products_do_not_warn_of_what_is_not_a_number(n):
    """As BLAS may report it where all numbers are finite."""
    points = as_points(np.full((n, 2), np.inf))
    assert np.isnan(points.scores(np.array([1.0, -1.0]))).all()
    assert np.isnan(points.pullback(np.zeros((n, 2)))).all()


def test_mean_and_variance():
    X = problem()[0]
    for table in (X, sparse.csr_array(X), X.astype(np.float32)):
        mean, variance = as_points(table).mean_and_variance()
        np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-5)
        np.testing.assert_allclose(variance, X.var(axis=0), rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "risk",
    [
        ProductRisk("logistic"),
        LikelihoodRisk(BinaryLink()),
        PointRisk("logistic"),
    ],
    ids=["product", "likelihood", "points"],
)
def test_the_compiled_epoch_takes_the_steps_of_numpy(
    risk, fit_intercept, dtype, monkeypatch
):
    pytest.importorskip("numba", reason="the compiled epochs are in the extra `fast`")
    X, index, t, weight, rng = problem(dtype=dtype)
    scaling = Scaling.identity(N_FEATURES, fit_intercept)
    if isinstance(risk, ProductRisk | LikelihoodRisk):
        risk_sum = as_points(X).coupled(index, answer_coefficients(t, weight))
        J = PairObjective(risk_sum, risk, 0.1, scaling)
    else:
        # A soft label counts for both classes, as in the risk of SD.
        classes = answer_coefficients(rng.uniform(-1, 1, N_POINTS), np.ones(N_POINTS))
        J = PointObjective(as_points(X).weighted(classes), risk, 0.1, scaling)
    assert J._compiled_epoch() is not None
    start = rng.normal(size=J.size)
    order = rng.permutation(J.n_terms)
    u, value = J.epoch(start, order, 7, 0.1)
    monkeypatch.setattr(type(J), "_compiled_epoch", lambda _: None)
    expected, value_expected = J.epoch(start, order, 7, 0.1)
    digits = {"rtol": 1e-10} if dtype == np.float64 else {"rtol": 1e-4, "atol": 1e-6}
    np.testing.assert_allclose(u, expected, **digits)
    assert value == pytest.approx(value_expected, rel=digits["rtol"])
    assert not np.array_equal(u, start)


@pytest.fixture
def no_numba(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    for name in [
        name
        for name in sys.modules
        if name.startswith("pairlearn.engine.backends.numba")
    ]:
        monkeypatch.delitem(sys.modules, name)
    compiled_module.cache_clear()
    yield
    compiled_module.cache_clear()


def test_without_numba_sgd_takes_the_same_steps(request):
    X, index, t, weight, rng = problem()
    J = objective(X, index, t, weight)
    start, order = rng.normal(size=J.size), rng.permutation(N_PAIRS)
    compiled = J.epoch(start, order, 7, 0.1)[0]
    request.getfixturevalue("no_numba")
    assert J._compiled_epoch() is None
    np.testing.assert_allclose(J.epoch(start, order, 7, 0.1)[0], compiled, rtol=1e-10)


@pytest.mark.usefixtures("no_numba")
def test_without_numba_it_is_looked_for_once(monkeypatch):
    looks = []

    def look(name):
        looks.append(name)
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("pairlearn.engine.backends.compiled.import_module", look)
    X, index, t, weight, rng = problem()
    J = objective(X, index, t, weight)
    for _ in range(3):
        J.epoch(rng.normal(size=J.size), np.arange(N_PAIRS), 7, 0.1)
    assert looks == ["pairlearn.engine.backends.numba"]


def test_without_a_place_for_machine_code_it_is_compiled_all_the_same(monkeypatch):
    """As in a container with a read-only file system."""
    numba = pytest.importorskip("numba", reason="the extra `fast` is not installed")

    def njit(*, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return numba.njit(**options)

    from pairlearn.engine.backends.numba import compiling as fast

    monkeypatch.setattr(fast, "njit", njit)
    assert fast.compiled(lambda z: 2 * z)(21) == 42
