"""Fits on samples that grow end at the minimum of all pairs, in few passes."""

import numpy as np
import pytest
from scipy import sparse

from pairlearn import CIPSClassifier, MCLClassifier, Pairs, SDClassifier
from pairlearn.engine import growing_samples as growing
from pairlearn.engine.backends.numpy.dense import DensePairRiskSum
from pairlearn.engine.backends.numpy.points import NumpyPoints
from pairlearn.engine.coefficients import Coefficients, answer_coefficients
from pairlearn.engine.growing_samples import first_sample, minimise_growing
from pairlearn.engine.objective import PairObjective, PointObjective
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import PointRisk, ProductRisk
from pairlearn.engine.scaling import Scaling
from pairlearn.engine.solvers import minimise_lbfgs, minimise_rounded, rounding, starts


@pytest.fixture(scope="module")
def task():
    """Correlated features, 4,000 points, 2,000 pairs of fresh points."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(4000) < 0.6, 1, -1)
    mix = np.eye(6) + 0.6 * rng.normal(size=(6, 6))
    X = (rng.normal(size=(4000, 6)) + 0.8 * y[:, None]) @ mix + 2.0
    return X, y


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(growing, "FIRST", 128)


def fresh(X, y):
    index = np.arange(X.shape[0]).reshape(-1, 2)
    return Pairs(X, index), np.where(y[::2] == y[1::2], 1.0, -1.0)


def shared(X, y):
    return Pairs.sample(X, 3000, y, reuse=True, random_state=0)


def pair_sum(X, index, t):
    return as_points(X).coupled(index, answer_coefficients(t, np.ones(len(t))))


def unscaled(X, index, t):
    identity = Scaling.identity(X.shape[1], True)
    return scaled(pair_sum(X, index, t), identity)


def scaled(risk_sum, scaling=None):
    """Return the objective in a scaling, by default that of its own points."""
    points, rows = risk_sum.points, risk_sum.used_points()
    scaling = scaling or Scaling.of(points, 1e-3, True, rows)
    return PairObjective(risk_sum, ProductRisk("logistic"), 1e-3, scaling)


@pytest.mark.parametrize(
    ("n", "size", "first"),
    [(8191, 10, 0), (8192, 10, 2048), (10**6, 101, 2048), (10**6, 1001, 20020)],
)
def test_the_first_sample(n, size, first):
    assert first_sample(n, size) == first


@pytest.mark.usefixtures("small_samples")
class TestFit:
    @pytest.mark.parametrize("make", [fresh, shared])
    @pytest.mark.parametrize(
        "model",
        [
            CIPSClassifier(tol=1e-8),
            CIPSClassifier(tol=1e-8, loss="hinge", alpha=0.01),
            MCLClassifier(tol=1e-8),
            SDClassifier(tol=1e-8, solver="lbfgs", loss="logistic"),
        ],
        ids=["cips", "hinge", "mcl", "sd"],
    )
    @pytest.mark.parametrize("kind", ["dense", "sparse"])
    def test_it_ends_where_a_fit_on_all_pairs_ends(
        self, task, make, model, kind, monkeypatch
    ):
        X, y = task
        X = sparse.csr_array(X) if kind == "sparse" else X
        pairs, t = make(X, y)
        model.fit(pairs, t)
        found, samples = model.coef_.copy(), model.history_["samples"]
        used = len(pairs.used_points())
        terms = used if isinstance(model, SDClassifier) else len(pairs)
        assert samples[0] == 20 * 7
        assert samples[-1] == terms
        assert (np.diff(samples[:-1]) == samples[:-2]).all()
        monkeypatch.setattr(growing, "FIRST", 10**6)
        model.fit(pairs, t)
        assert not len(model.history_["samples"])
        rtol = 1e-2 if getattr(model, "loss", "") == "hinge" else 1e-4
        np.testing.assert_allclose(found, model.coef_, rtol, rtol * np.abs(found).max())

    def test_it_needs_few_passes(self, task):
        X, y = task
        grown = CIPSClassifier().fit(*fresh(X, y))
        record = grown.history_
        assert record["passes"] < record["n_evaluations"] / 2
        # The history is that of all pairs.
        assert record["objective"][-1] == grown.objective_
        assert (np.diff(record["objective"]) <= 0).all()
        assert len(record["objective"]) <= 20

    def test_few_pairs_are_taken_at_once(self, task):
        X, y = task
        pairs, t = fresh(X[:800], y[:800])
        record = CIPSClassifier().fit(pairs, t).history_
        assert not len(record["samples"])
        assert record["passes"] == record["n_evaluations"]

    def test_the_same_every_time(self, task):
        X, y = task
        one, other = (CIPSClassifier().fit(*fresh(X, y)).coef_ for _ in range(2))
        np.testing.assert_array_equal(one, other)

    def test_a_warm_start_goes_on_from_the_solution(self, task):
        X, y = task
        model = CIPSClassifier(warm_start=True).fit(*fresh(X, y))
        before = model.coef_.copy()
        record = model.fit(*fresh(X, y)).history_
        assert not len(record["samples"])
        assert record["n_evaluations"] < 5
        np.testing.assert_allclose(model.coef_, before, rtol=1e-3, atol=1e-4)

    def test_order_does_not_matter_much(self, task):
        """Pairs sorted by their answer are sampled at random all the same."""
        X, y = task
        pairs, t = fresh(X, y)
        order = np.argsort(t, kind="stable")
        one = CIPSClassifier(tol=1e-8).fit(pairs, t)
        other = CIPSClassifier(tol=1e-8).fit(pairs[order], t[order])
        np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-4, atol=1e-5)

    def test_flip_rates_are_estimated(self, task):
        X, y = task
        pairs, t = fresh(X, y)
        rng = np.random.default_rng(1)
        t = np.where(rng.random(len(t)) < 0.1, -t, t)
        model = CIPSClassifier(flip_rates="symmetric").fit(pairs, t)
        assert model.flip_rates_[1] == pytest.approx(0.1, abs=0.05)

    def test_no_information_is_said(self, task):
        X, _ = task
        pairs = Pairs(X, np.arange(4000).reshape(-1, 2))
        with pytest.warns(UserWarning, match="outweighs"):
            CIPSClassifier(alpha=100.0).fit(pairs, np.tile([-1, 1], 1000))

    @pytest.mark.parametrize("loss", ["logistic", "hinge"])
    def test_every_evaluation_is_counted(self, task, loss, monkeypatch):
        X, y = task
        calls, real = [], PairObjective.__call__

        def count(self, u):
            calls.append(self.n_terms)
            return real(self, u)

        monkeypatch.setattr(PairObjective, "__call__", count)
        # Second derivatives read the pairs once, too.
        bend = PairObjective.curvature

        def count_bend(self, u):
            calls.append(self.n_terms)
            return bend(self, u)

        monkeypatch.setattr(PairObjective, "curvature", count_bend)
        record = CIPSClassifier(loss=loss).fit(*fresh(X, y)).history_
        assert record["n_evaluations"] == len(calls)
        assert record["passes"] == pytest.approx(sum(calls) / 2000)

    def test_a_smoothed_loss_shares_the_pairs(self, task, monkeypatch):
        X, y = task
        made, real = [], DensePairRiskSum.__init__

        def count(self, points, index, *rest):
            made.append(len(index))
            real(self, points, index, *rest)

        monkeypatch.setattr(DensePairRiskSum, "__init__", count)
        CIPSClassifier(loss="hinge").fit(*fresh(X, y))
        assert made.count(2000) == 1

    def test_weights_do_not_make_it_warn(self, task):
        """A sample may be lighter or heavier than all; warnings are errors here."""
        X, y = task
        pairs, t = fresh(X, y)
        for seed in range(4):
            weight = np.random.default_rng(seed).lognormal(sigma=3, size=len(t))
            CIPSClassifier().fit(pairs, t, sample_weight=weight)

    def test_weight_zero_is_left_out(self, task):
        X, y = task
        pairs, t = fresh(X, y)
        keep = np.arange(len(t)) % 20 == 0
        one = CIPSClassifier().fit(pairs, t, sample_weight=keep.astype(float))
        other = CIPSClassifier().fit(pairs[keep], t[keep])
        np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6, atol=1e-8)

    def test_rates_are_part_of_the_record(self, task):
        X, y = task
        pairs, t = fresh(X, y)
        plain = MCLClassifier().fit(pairs, t).history_
        record = MCLClassifier(flip_rates="symmetric").fit(pairs, t).history_
        assert record["n_evaluations"] > plain["n_evaluations"]
        np.testing.assert_array_equal(record["samples"], plain["samples"])


class TestSample:
    def test_no_more_points_than_a_place_can_hold(self, task, monkeypatch):
        X, y = task
        pairs, t = fresh(sparse.csr_array(X), y)
        monkeypatch.setattr(growing, "FIRST", 128)
        monkeypatch.setattr(NumpyPoints, "most_rows", 60)
        sizes, real = [], NumpyPoints.take

        def take(self, rows):
            sizes.append(len(rows))
            return real(self, rows)

        monkeypatch.setattr(NumpyPoints, "take", take)
        CIPSClassifier().fit(pairs, t)
        assert sizes
        assert max(sizes) <= 60

    @pytest.mark.parametrize(
        "place", [as_points, lambda X: as_points(sparse.csr_array(X))]
    )
    def test_it_is_as_heavy_as_all(self, task, place):
        X, y = task
        pairs, t = shared(X, y)
        whole = unscaled(place(X).X, pairs.index, t)
        u = np.random.default_rng(0).normal(size=whole.size) / 10
        some = whole.sample(1500)
        assert some.n_terms == 1500
        assert some(u)[0] == pytest.approx(whole(u)[0], rel=0.1)
        np.testing.assert_allclose(whole.sample(whole.n_terms)(u)[1], whole(u)[1], 1e-9)

    def test_many_samples_are_right_on_average(self, task, monkeypatch):
        X, y = task
        pairs, t = fresh(X, y)
        whole = unscaled(X, pairs.index, t)
        u = np.full(whole.size, 0.05)
        real, values = np.random.default_rng, []
        for seed in range(200):
            monkeypatch.setattr(np.random, "default_rng", lambda _, s=seed: real(s))
            values.append(whole.sample(100)(u)[0])
        error = np.std(values) / np.sqrt(len(values))
        assert abs(np.mean(values) - whole(u)[0]) < 4 * error

    def test_points_have_samples_too(self, task):
        X, y = task
        classes = Coefficients((y > 0) / len(y), (y < 0) / len(y))
        risk_sum, scaling = as_points(X).weighted(classes), Scaling.identity(6, True)
        whole = PointObjective(risk_sum, PointRisk("logistic"), 1e-3, scaling)
        u = np.full(7, 0.1)
        assert whole.sample(2000)(u)[0] == pytest.approx(whole(u)[0], rel=0.1)

    def test_large_samples_of_rows_are_no_copies(self, task):
        X, y = task
        pairs, t = fresh(X, y)
        whole = unscaled(X, pairs.index, t)
        assert whole.sample(1000).points.X is X
        assert whole.sample(100).points.X.shape == (200, 6)

    def test_the_scaling_is_that_of_points_in_pairs(self, task):
        X, y = task
        pairs, t = fresh(X[:200], y[:200])
        alone = scaled(pair_sum(X[:200], pairs.index, t)).scaling
        among = np.vstack([X[:200], 1e6 * X[200:]])
        found = scaled(pair_sum(among, pairs.index, t)).scaling
        np.testing.assert_array_equal(found.centre, alone.centre)
        np.testing.assert_array_equal(found.scale, alone.scale)


class TestRounding:
    def objective(self, task):
        X, y = task
        pairs, t = fresh(X, y)
        return scaled(pair_sum(X, pairs.index, t))

    def test_it_makes_the_objective_round(self, task):
        J = self.objective(task)
        u = minimise_lbfgs(J, starts(J, 1), max_iter=200, tol=1e-9).u
        T, step = rounding(J, u), 1e-4
        bend = [
            T.T @ (J(u + step * column)[1] - J(u - step * column)[1]) / (2 * step)
            for column in T.T
        ]
        np.testing.assert_allclose(bend, np.eye(J.size), atol=0.02)

    def test_any_coordinates_lead_to_the_minimum(self, task):
        J = self.objective(task)
        start = starts(J, 1)[0]
        plain = minimise_lbfgs(J, [start], max_iter=300, tol=1e-9)
        T = np.random.default_rng(0).normal(size=(J.size, J.size))
        found = minimise_rounded(J, start, T, max_iter=500, tol=1e-7)
        assert found.converged
        assert np.abs(J(found.u)[1]).max() <= 1e-7
        np.testing.assert_allclose(found.u, plain.u, rtol=1e-4, atol=1e-5)
        assert found.history[0] == pytest.approx(J(start)[0])

    def test_it_stops_at_max_iter(self, task):
        J = self.objective(task)
        found = minimise_rounded(
            J, starts(J, 1)[0], np.eye(J.size), max_iter=2, tol=1e-12
        )
        assert not found.converged
        assert len(found.history) == 3

    def test_curvature_saves_iterations(self, task):
        J = self.objective(task)
        start = starts(J, 1)
        plain = minimise_lbfgs(J, start, max_iter=300, tol=1e-8)
        T = rounding(J, plain.u)
        found = minimise_rounded(J, start[0], T, max_iter=300, tol=1e-8)
        assert len(found.history) < len(plain.history)


def test_the_record_counts_what_was_read(task, small_samples):  # noqa: ARG001
    X, y = task
    pairs, t = fresh(X, y)
    risk_sum = pair_sum(X, pairs.index, t)
    solution, objective = minimise_growing(
        risk_sum, scaled, lambda o: starts(o, 2), size=7, max_iter=100, tol=1e-6
    )
    assert np.abs(objective(solution.u)[1]).max() <= 1e-6
    assert solution.samples[-1] == 2000
    least = objective.n_evaluations - 1
    assert least <= solution.passes < solution.n_evaluations
