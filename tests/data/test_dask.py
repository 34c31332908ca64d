"""Points in blocks: the same terms as in memory, in as few passes."""

import threading

import numpy as np
import pytest
from scipy import sparse

from pairlearn import Pairs
from pairlearn.data.containers import is_dask, on_host
from pairlearn.engine.backends.numpy.points import NumpyPoints
from pairlearn.engine.coefficients import Coefficients, answer_coefficients
from pairlearn.engine.links import BinaryLink, ProductLink, SoftmaxLink
from pairlearn.engine.losses import LOSSES
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import EdgeRisk, LikelihoodRisk, PointRisk, ProductRisk

dask = pytest.importorskip("dask", reason="needs dask")


da = pytest.importorskip("dask.array", reason="needs dask")


RATES = [(1.0, 0.0), (0.9, 0.2)]


N_POINTS = 60


PAIR_RISKS = {
    **{name: ProductRisk(name) for name in LOSSES},
    "smoothed": ProductRisk("hinge").smoothed(0.1),
    "clipped": ProductRisk("logistic", nonnegative=True),
    **{f"binary {r}": LikelihoodRisk(BinaryLink(), r) for r in RATES},
    **{f"product {r}": LikelihoodRisk(ProductLink(), r) for r in RATES},
    "links": EdgeRisk(0.5, -1.0, 0.3, np.linspace(-1, 1, 150)),
}


CHUNKS = {
    "one block": (60,),
    "even": (20, 20, 20),
    "uneven": (7, 40, 1, 12),
    "empty": (0, 25, 0, 35, 0),
    "many": (1,) * 60,
}


def problem(kind="mixed", chunks=CHUNKS["uneven"], n_pairs=150):
    """Return points, pairs and coefficients; pairs inside blocks, crossing, or both."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_POINTS, 4)) + 0.5
    block = np.repeat(np.arange(len(chunks)), chunks)
    index = rng.integers(N_POINTS, size=(50 * n_pairs, 2))
    inside = block[index[:, 0]] == block[index[:, 1]]
    if kind != "mixed":
        index = index[inside == (kind == "inside")]
    index = index[:n_pairs]
    t = rng.uniform(-1, 1, len(index))
    t[::3], t[1::3] = 1, -1
    return X, index, answer_coefficients(t, rng.random(len(index)))


def both_risk_sums(kind="mixed", chunks=CHUNKS["uneven"], dtype="float64"):
    X, *pairs = problem(kind, chunks)
    X = X.astype(dtype)
    table = da.from_array(X, chunks=(chunks, -1))
    return as_points(X).coupled(*pairs), as_points(table).coupled(*pairs)


def assert_all_close(found, right, rtol=1e-10):
    for a, b in zip(found, right, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


W, B = np.array([0.7, -0.2, 0.1, 1.1]), np.array(0.3)


class TestPoints:
    @pytest.mark.parametrize("columns", [(), (3,)])
    @pytest.mark.parametrize("kind", ["float64", "float32", "int16", "sparse"])
    @pytest.mark.parametrize("chunks", CHUNKS)
    def test_products(self, chunks, kind, columns):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(N_POINTS, 4)) * 3
        X = X.astype("float64" if kind == "sparse" else kind)
        table = da.from_array(X, chunks=(CHUNKS[chunks], 3))
        table = table.rechunk({1: -1})
        if kind == "sparse":
            table = table.map_blocks(sparse.csr_array)
        right = as_points(X if kind in ("float64", "float32") else X.astype(float))
        mine = as_points(table)
        w, b = rng.normal(size=(4, *columns)), rng.normal(size=columns)
        r = rng.normal(size=(N_POINTS, *columns))
        rows = np.array([3, 3, 49, 0])
        rtol = 1e-5 if kind == "float32" else 1e-12
        assert isinstance(mine.take(rows), NumpyPoints)
        assert_all_close(
            [mine.scores(w, b), mine.pullback(r), mine.take(rows).scores(w, b)],
            [right.scores(w, b), right.pullback(r), right.take(rows).scores(w, b)],
            rtol,
        )
        assert_all_close(mine.mean_and_variance(), right.mean_and_variance(), rtol)
        own = mine.own_scores(w, b)
        assert is_dask(own)
        assert own.shape == (N_POINTS, *columns)
        np.testing.assert_allclose(own.compute(), right.scores(w, b), rtol)
        assert (mine.n_points, mine.n_features) == (N_POINTS, 4)

    def test_many_blocks_are_added_as_a_tree(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(1000, 2))
        points = as_points(da.from_array(X, chunks=(3, -1)))
        np.testing.assert_allclose(points.pullback(np.ones(1000)), X.sum(axis=0))

    def test_threads_do_not_change_the_digits(self):
        X, *pairs = problem()
        table = da.from_array(X, chunks=(7, -1))
        found = []
        for scheduler in ("threads", "threads", "synchronous"):
            with dask.config.set(scheduler=scheduler):
                risk_sum = as_points(table).coupled(*pairs)
                found.append(risk_sum.value_and_gradient(ProductRisk("logistic"), W, B))
        for other in found[1:]:
            for a, b in zip(found[0], other, strict=True):
                np.testing.assert_array_equal(a, b)

    def test_blas_gets_its_threads_back(self):
        from threadpoolctl import threadpool_info, threadpool_limits

        with threadpool_limits(2, user_api="blas"):
            as_points(da.ones((8, 2), chunks=(2, 2))).scores(np.ones(2))
            blas = [m for m in threadpool_info() if m["user_api"] == "blas"]
            assert {module["num_threads"] for module in blas} == {2}


class TestTerms:
    @pytest.mark.parametrize("kind", ["inside", "crossing", "mixed"])
    @pytest.mark.parametrize("name", PAIR_RISKS)
    def test_pair_risks(self, name, kind):
        right, mine = both_risk_sums(kind)
        risk = PAIR_RISKS[name]
        assert_all_close(
            mine.value_and_gradient(risk, W, B), right.value_and_gradient(risk, W, B)
        )
        assert mine.value_along(risk, W, B)(0.7) == pytest.approx(
            right.value_along(risk, W, B)(0.7), rel=1e-10, abs=1e-10
        )
        if isinstance(risk, LikelihoodRisk):
            assert_all_close(
                mine.rate_gradient(risk, W, B), right.rate_gradient(risk, W, B)
            )

    @pytest.mark.parametrize("name", ["logistic", "clipped", "binary (0.9, 0.2)"])
    @pytest.mark.parametrize("chunks", CHUNKS)
    def test_any_blocks(self, chunks, name):
        right, mine = both_risk_sums(chunks=CHUNKS[chunks])
        risk = PAIR_RISKS[name]
        assert_all_close(
            mine.value_and_gradient(risk, W, B), right.value_and_gradient(risk, W, B)
        )
        assert_all_close(mine.moment(W, B), right.moment(W, B))

    @pytest.mark.parametrize("kind", ["inside", "crossing", "mixed"])
    @pytest.mark.parametrize("rates", RATES)
    def test_several_outputs(self, rates, kind):
        right, mine = both_risk_sums(kind)
        rng = np.random.default_rng(1)
        w, b = rng.normal(size=(4, 3)), rng.normal(size=3)
        risk = LikelihoodRisk(SoftmaxLink(), rates)
        assert_all_close(
            mine.value_and_gradient(risk, w, b), right.value_and_gradient(risk, w, b)
        )
        assert_all_close(mine.moment(w, b), right.moment(w, b))
        assert_all_close(
            mine.rate_gradient(risk, w, b), right.rate_gradient(risk, w, b)
        )

    def test_narrow_points(self):
        right, mine = both_risk_sums(dtype="float32")
        risk = PAIR_RISKS["logistic"]
        assert_all_close(
            mine.value_and_gradient(risk, W, B),
            right.value_and_gradient(risk, W, B),
            1e-5,
        )
        assert_all_close(mine.moment(W, B), right.moment(W, B), 1e-5)

    @pytest.mark.parametrize("loss", LOSSES)
    @pytest.mark.parametrize("nonnegative", [True, False])
    def test_point_risks(self, loss, nonnegative):
        X, *_ = problem()
        both = np.random.default_rng(2).normal(size=(2, N_POINTS)) / N_POINTS
        coefficients = Coefficients(*both)
        table = da.from_array(X, chunks=(CHUNKS["uneven"], -1))
        mine, right = (as_points(one).weighted(coefficients) for one in (table, X))
        risk = PointRisk(loss, nonnegative=nonnegative)
        assert_all_close(
            mine.value_and_gradient(risk, W, B), right.value_and_gradient(risk, W, B)
        )
        assert mine.value_along(risk, W, B)(0.7) == pytest.approx(
            right.value_along(risk, W, B)(0.7), rel=1e-10, abs=1e-10
        )

    def test_a_risk_that_says_nothing_is_not_split(self):
        class Whole:
            """The square of a sum: no sum of squares."""

            def value_and_gradient(self, left, right, same, different):
                total = float((left * right) @ (same - different))
                slope = 2 * total * (same - different)
                return total**2, slope * right, slope * left

        right, mine = both_risk_sums()
        assert_all_close(
            mine.value_and_gradient(Whole(), W, B),
            right.value_and_gradient(Whole(), W, B),
        )


class Counter:
    """A function of blocks that counts how often it is called on points."""

    def __init__(self):
        self.n_calls = 0
        self.lock = threading.Lock()

    def __call__(self, block):
        with self.lock:
            self.n_calls += len(block) > 0
        return block

    def of(self, work):
        self.n_calls = 0
        work()
        return self.n_calls


@pytest.mark.parametrize(
    ("kind", "name", "n_passes"),
    [
        ("inside", "logistic", 1),
        ("inside", "binary (0.9, 0.2)", 1),
        ("crossing", "logistic", 2),
        ("mixed", "logistic", 2),
        ("inside", "clipped", 2),
    ],
)
def test_passes_over_the_points(kind, name, n_passes):
    chunks = CHUNKS["even"]
    X, *pairs = problem(kind, chunks)
    counter, risk = Counter(), PAIR_RISKS[name]
    table = da.from_array(X, chunks=(chunks, -1)).map_blocks(
        counter, dtype=X.dtype, meta=X[:0]
    )
    points = as_points(table)
    risk_sum = points.coupled(*pairs)
    n = counter.of(lambda: risk_sum.value_and_gradient(risk, W, B))
    assert n == n_passes * len(chunks)
    assert counter.of(lambda: risk_sum.value_along(risk, W, B)) == len(chunks)
    assert counter.of(points.mean_and_variance) == len(chunks)
    least = 1 if kind == "inside" else 2
    assert counter.of(lambda: risk_sum.moment(W, B)) == least * len(chunks)


def test_blocks_without_pairs_are_not_read():
    counter = Counter()
    X = np.arange(40.0)[:, None] % 7
    table = da.from_array(X, chunks=(10, 1)).map_blocks(
        counter, dtype=float, meta=X[:0]
    )
    index = np.array([[1, 5], [12, 19], [5, 8], [3, 8]])
    pairs = Pairs(table, index).compact()
    np.testing.assert_array_equal(on_host(pairs.X), X[Pairs(X, index).used_points()])
    assert counter.n_calls == 2
    answers = Coefficients(np.ones(4), np.zeros(4))
    risk_sum = as_points(pairs.X).coupled(pairs.index, answers)
    assert counter.of(lambda: risk_sum.value_and_gradient(
        ProductRisk("logistic"), np.ones(1), 0.0)) == 2  # fmt: skip
