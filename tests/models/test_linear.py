import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pairlearn import CIPSClassifier, Pairs, clustering_error
from pairlearn.engine.losses import LOSSES
from pairlearn.engine.solvers import DENSE_FEATURES
from tests.support.random_problems import random_problem

CURVED = [name for name in sorted(LOSSES) if LOSSES[name].bounded_below]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", CURVED)
@pytest.mark.parametrize("seed", range(5))
def test_lbfgs_is_no_worse_than_sgd_for_any_loss(loss, seed):
    pairs, t = random_problem(seed)
    rate = 0.01 if LOSSES[loss].lipschitz() == 1 else 0.001
    sgd = CIPSClassifier(
        loss=loss, solver="sgd", n_init=20, learning_rate=rate, random_state=seed
    ).fit(pairs, t)
    lbfgs = CIPSClassifier(loss=loss, solver="lbfgs").fit(pairs, t)
    assert lbfgs.objective_ <= sgd.objective_ + 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_lbfgs_is_no_worse_than_the_best_of_twenty_sgd_runs(seed):
    pairs, t = random_problem(seed)
    sgd = CIPSClassifier(solver="sgd", n_init=20, random_state=seed).fit(pairs, t)
    lbfgs = CIPSClassifier(solver="lbfgs").fit(pairs, t)
    assert lbfgs.objective_ <= sgd.objective_ + 1e-9


def test_common_task(common):
    X, y, X_test, y_test = common
    pairs, t = Pairs.sample(X, 999, y, random_state=0)
    clf = CIPSClassifier().fit(pairs, t)
    accuracy = 1 - clustering_error(y_test, clf.predict(X_test))
    assert round(accuracy, 12) >= 0.945


@pytest.mark.parametrize("loss", CURVED)
def test_every_loss_finds_the_boundary_and_a_stationary_point(loss, common):
    X, y, X_test, y_test = common
    pairs, t = Pairs.sample(X, 999, y, random_state=0)
    clf = CIPSClassifier(loss=loss, alpha=1e-3).fit(pairs, t)
    assert clustering_error(y_test, clf.predict(X_test)) <= 0.08
    rng = np.random.default_rng(0)
    w = np.append(clf.coef_[0], clf.intercept_)
    for _ in range(20):
        v = w + 1e-3 * rng.normal(size=21)
        assert value_of(loss, 1e-3, pairs, t, v) >= clf.objective_ - 1e-6


def value_of(loss, alpha, pairs, t, v):
    f = pairs.X @ v[:-1] + v[-1]
    margin = f[pairs.left] * f[pairs.right] * t
    return LOSSES[loss].value(margin).mean() + alpha / 2 * v[:-1] @ v[:-1]


@pytest.mark.parametrize("n_features", [7, DENSE_FEATURES + 10])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_eigen_equals_a_dense_eigendecomposition(n_features, fit_intercept, kind):
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], size=400)
    X = rng.normal(size=(400, n_features)) + 0.5 * np.outer(
        y, rng.normal(size=n_features)
    )
    pairs, t = Pairs.sample(X, 200, y, random_state=0)
    weight = rng.uniform(0.5, 2, 200)
    Z = np.column_stack([X, np.ones(400)]) if fit_intercept else X
    left, right = Z[pairs.left], Z[pairs.right]
    M = (left * (t * weight)[:, None]).T @ right
    values, vectors = np.linalg.eigh((M + M.T) / (2 * weight.sum()))
    given = Pairs(sparse.csr_array(X), pairs.index) if kind == "sparse" else pairs
    clf = CIPSClassifier(
        loss="unhinged", solver="eigen", fit_intercept=fit_intercept, random_state=0
    ).fit(given, t, sample_weight=weight)
    w = np.append(clf.coef_[0], clf.intercept_)[: Z.shape[1]]
    assert abs(w @ vectors[:, -1]) == pytest.approx(1, abs=1e-9)
    assert np.linalg.norm(w) == pytest.approx(1)
    assert clf.objective_ == pytest.approx(1 - values[-1], rel=1e-9)


def test_linear_loss_has_the_unhinged_solution(blob_pairs):
    linear, unhinged = (
        CIPSClassifier(loss=loss).fit(*blob_pairs) for loss in ("linear", "unhinged")
    )
    np.testing.assert_allclose(linear.coef_, unhinged.coef_)
    assert linear.objective_ == pytest.approx(unhinged.objective_ - 1)


@pytest.mark.parametrize("solver", ["lbfgs", "sgd"])
def test_sparse_equals_dense(solver, blob_pairs):
    pairs, t = blob_pairs
    dense, sparse_ = (
        CIPSClassifier(solver=solver, max_iter=20, random_state=0).fit(Pairs(X, i), t)
        for X, i in [(pairs.X, pairs.index), (sparse.csr_array(pairs.X), pairs.index)]
    )
    np.testing.assert_allclose(sparse_.coef_, dense.coef_, rtol=1e-6)
    np.testing.assert_allclose(
        sparse_.decision_function(sparse.csr_array(pairs.X)),
        dense.decision_function(pairs.X),
        rtol=1e-6,
    )


@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "eigen"])
def test_index_form_equals_three_dimensional_form(solver, blob_pairs):
    pairs, t = blob_pairs
    loss = "unhinged" if solver == "eigen" else "logistic"
    a, b = (
        CIPSClassifier(loss=loss, solver=solver, max_iter=20, random_state=0).fit(p, t)
        for p in (pairs, np.asarray(pairs))
    )
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-6)


def test_weight_two_is_a_pair_twice(blob_pairs):
    pairs, t = blob_pairs
    weight = np.random.default_rng(0).integers(0, 4, len(t))
    copies = np.repeat(np.arange(len(t)), weight)
    weighted = CIPSClassifier(tol=1e-9).fit(pairs, t, sample_weight=weight)
    repeated = CIPSClassifier(tol=1e-9).fit(pairs[copies], t[copies])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-4)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)


def test_scaling_and_shifting_features_does_not_hurt(blob_pairs):
    pairs, t = blob_pairs
    scale, shift = np.array([1e-3, 1.0, 1e3, 1.0]), np.array([5.0, 1e4, -1e5, 0.0])
    moved = Pairs(pairs.X * scale + shift, pairs.index)
    plain = CIPSClassifier(alpha=0.0).fit(pairs, t)
    same = CIPSClassifier(alpha=0.0).fit(moved, t)
    assert same.objective_ == pytest.approx(plain.objective_, abs=1e-6)
    np.testing.assert_allclose(same.coef_ * scale, plain.coef_, rtol=1e-2, atol=1e-3)


def test_soft_answers_and_bool(blob_pairs):
    pairs, t = blob_pairs
    hard = CIPSClassifier().fit(pairs, t)
    boolean = CIPSClassifier().fit(pairs, t > 0)
    np.testing.assert_array_equal(hard.coef_, boolean.coef_)
    both = Pairs(pairs.X, np.concatenate([pairs.index, pairs.index]))
    split = CIPSClassifier(tol=1e-9).fit(
        both,
        np.concatenate([t, -t]),
        sample_weight=np.concatenate([np.full(len(t), 0.9), np.full(len(t), 0.1)]),
    )
    soft = CIPSClassifier(tol=1e-9).fit(pairs, 0.8 * t)
    np.testing.assert_allclose(soft.coef_, split.coef_, rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["lbfgs", "sgd"])
def test_same_seed_same_result_and_no_global_state(solver, blob_pairs):
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - must stay untouched
    fits = [
        CIPSClassifier(solver=solver, max_iter=5, n_init=3, random_state=3)
        .fit(*blob_pairs)
        .coef_
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*fits)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_history_falls_to_the_objective(blob_pairs):
    clf = CIPSClassifier().fit(*blob_pairs)
    path = clf.history_["objective"]
    assert path[-1] == pytest.approx(clf.objective_)
    assert (np.diff(path) <= 1e-12).all()
    hinge = CIPSClassifier(loss="hinge").fit(*blob_pairs)
    assert hinge.history_["objective"][-1] == pytest.approx(hinge.objective_)
    assert len(path) == clf.n_iter_ + 1
    assert clf.history_["n_evaluations"] >= clf.n_iter_
    sgd = CIPSClassifier(solver="sgd", max_iter=30, n_init=1, random_state=0)
    path = sgd.fit(*blob_pairs).history_["objective"]
    assert len(path) == 31
    # The last epoch's mean over its batches, and the objective after it.
    assert path[-1] == pytest.approx(sgd.objective_, rel=0.01)
    assert sgd.objective_ < path[0]


def test_warm_start_goes_on_where_it_stopped(blob_pairs):
    clf = CIPSClassifier(warm_start=True).fit(*blob_pairs)
    first = clf.objective_
    clf.fit(*blob_pairs)
    assert clf.history_["objective"][0] == pytest.approx(first, rel=1e-9)
    assert clf.n_iter_ <= 3
    sgd = CIPSClassifier(
        solver="sgd", warm_start=True, max_iter=5, n_init=1, random_state=0
    )
    path = [sgd.fit(*blob_pairs).objective_ for _ in range(4)]
    assert path == sorted(path, reverse=True)


def test_warm_start_leaves_a_flat_place(blob_pairs):
    """A previous solution at w = 0 is stationary: going on from there would stay."""
    pairs, t = blob_pairs
    clf = CIPSClassifier(alpha=100.0, fit_intercept=False, warm_start=True)
    with pytest.warns(UserWarning, match="penalty outweighs"):
        clf.fit(pairs, t)
    clf.set_params(alpha=1e-4).fit(pairs, t)
    cold = CIPSClassifier(alpha=1e-4, fit_intercept=False).fit(pairs, t)
    assert clf.objective_ == pytest.approx(cold.objective_, abs=1e-8)


def test_weights_count_by_themselves_in_a_stream(blob_pairs):
    pairs, t = blob_pairs
    start = CIPSClassifier().partial_fit(pairs, t)
    steps = []
    for weight, rate in ((2.0, 0.01), (1.0, 0.02)):
        clf = clone(start).set_params(learning_rate=rate, alpha=0.0)
        clf.partial_fit(pairs[:5], t[:5])
        clf.coef_, clf.intercept_ = start.coef_, start.intercept_
        clf.partial_fit(pairs[:20], t[:20], sample_weight=np.full(20, weight))
        steps.append(clf.coef_)
    np.testing.assert_allclose(*steps)


def test_a_failed_refit_changes_nothing(blob_pairs):
    pairs, t = blob_pairs
    clf = CIPSClassifier().fit(pairs, t)
    for bad in (np.zeros((4, 2, 7)), np.full((4, 2, 4), np.nan)):
        with pytest.raises(ValueError, match=r"kinds|NaN"):
            clf.fit(bad, [1, 1, 1, -1] if np.isnan(bad).any() else np.ones(4))
    assert clf.predict(pairs.X).shape == (300,)


def test_answers_that_cancel_out_in_many_features():
    X = np.zeros((40, DENSE_FEATURES + 50))
    t = np.where(np.arange(20) % 2, 1, -1)
    clf = CIPSClassifier()
    with pytest.warns(UserWarning, match="penalty outweighs"):
        clf.fit(Pairs(X, np.arange(40).reshape(20, 2)), t)
    assert np.isfinite(clf.coef_).all()


def test_partial_fit_learns_from_a_stream_and_keeps_its_sign(common):
    X, y, X_test, y_test = common
    pairs, t = Pairs.sample(X, 1000, y, random_state=0)
    clf = CIPSClassifier(learning_rate=0.2)
    clf.partial_fit(pairs[:100], t[:100])
    clf.assign_from_points(X[:50], np.where(y[:50], 1, -1))
    start = clf.score(pairs, t)
    names = set(vars(clf))
    for _ in range(10):
        for k in range(100, 1000, 100):
            clf.partial_fit(pairs[k : k + 100], t[k : k + 100])
    assert set(vars(clf)) == names
    assert clf.score(pairs, t) > start
    assert np.mean((clf.predict(X_test) > 0) == y_test) > 0.93
    # One kind of answer is enough for a step.
    clf.partial_fit(pairs[t > 0][:5], t[t > 0][:5])
    with pytest.raises(ValueError, match="features"):
        clf.partial_fit(np.zeros((3, 2, 4)), [1, 1, -1])


def test_predictions_agree_with_each_other(blob_pairs):
    pairs, t = blob_pairs
    clf = CIPSClassifier().fit(pairs, t)
    f = clf.decision_function(pairs.X)
    np.testing.assert_allclose(f, pairs.X @ clf.coef_[0] + clf.intercept_[0])
    np.testing.assert_array_equal(clf.predict(pairs.X), np.where(f > 0, 1, -1))
    np.testing.assert_allclose(clf.pair_score(pairs), f[pairs.left] * f[pairs.right])
    same = clf.predict_pairs(pairs)
    np.testing.assert_array_equal(same, np.sign(clf.pair_score(pairs)))
    assert clf.score(pairs, t) == pytest.approx(np.mean(same == t))


def test_score_of_zero_counts_as_the_first_class():
    pairs = Pairs(np.array([[1.0], [-1.0], [2.0], [-2.0]]), [[0, 2], [1, 3], [0, 1]])
    clf = CIPSClassifier(fit_intercept=False, classes=("no", "yes"))
    clf.fit(pairs, [1, 1, -1])
    assert clf.predict([[0.0], [1.0]]).tolist() == ["no", "yes"]
    assert clf.predict_pairs(np.zeros((1, 2, 1))).tolist() == [1]


def test_feature_names_are_kept_and_checked(blob_pairs):
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    pairs, t = blob_pairs
    plain = CIPSClassifier().fit(pairs, t)
    for frame in (
        pd.DataFrame(pairs.X, columns=list("abcd")),
        pl.DataFrame(pairs.X, schema=list("abcd"), orient="row"),
    ):
        clf = CIPSClassifier().fit(Pairs(frame, pairs.index), t)
        assert clf.feature_names_in_.tolist() == list("abcd")
        np.testing.assert_allclose(clf.coef_, plain.coef_)
        np.testing.assert_array_equal(clf.predict(frame), plain.predict(pairs.X))
        with pytest.raises(ValueError, match="feature names"):
            clf.predict(frame[list("badc")])


def test_unconverged_fit_warns_with_advice(blob_pairs):
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        CIPSClassifier(max_iter=2).fit(*blob_pairs)


def test_a_penalty_that_outweighs_the_answers_warns(blob_pairs):
    pairs, t = blob_pairs
    t = np.where(np.arange(len(t)) % 2, 1, -1)
    clf = CIPSClassifier(alpha=10.0, fit_intercept=False)
    with pytest.warns(UserWarning, match="penalty outweighs"):
        clf.fit(pairs, t)
    assert np.isfinite(clf.coef_).all()
    assert clf.objective_ <= np.log(2) + 1e-6


def test_clone_and_params():
    clf = CIPSClassifier(alpha=0.5, classes=("a", "b"))
    assert clone(clf).get_params() == clf.get_params()
    assert clf.set_params(alpha=1.0).alpha == 1.0
    with pytest.raises(TypeError, match="positional"):
        CIPSClassifier("hinge")
