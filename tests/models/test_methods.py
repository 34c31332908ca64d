"""MCL, SD, OVPC and SLLC, noisy answers, and training with unlabelled points."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_digits, make_blobs
from sklearn.preprocessing import StandardScaler

from pairlearn import (
    CIPSClassifier,
    MCLClassifier,
    OVPCClassifier,
    Pairs,
    SDClassifier,
    SLLCClassifier,
    clustering_error,
)


@pytest.fixture(scope="module")
def task(common):
    X, y, X_test, y_test = common
    return *Pairs.sample(X, 999, y, random_state=0), X, y, X_test, y_test


@pytest.mark.parametrize(
    ("make", "floor"),
    [
        (lambda _: CIPSClassifier(), 0.945),
        (lambda _: MCLClassifier(), 0.945),
        (lambda prior: SDClassifier(prior=prior), 0.88),
        (lambda _: OVPCClassifier(), 0.90),
        (lambda _: SLLCClassifier(), 0.90),
    ],
    ids=["cips", "mcl", "sd", "ovpc", "sllc"],
)
def test_common_task(task, make, floor):
    pairs, t, _, y, X_test, y_test = task
    clf = make(y.mean()).fit(pairs, t)
    accuracy = 1 - clustering_error(y_test, clf.predict(X_test))
    assert round(accuracy, 12) >= floor


def test_mcl_on_ten_digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:898], order[898:]
    pairs, t = Pairs.sample(X[train] / 16, 2500, y[train], reuse=True, random_state=0)
    clf = MCLClassifier(n_classes=10, n_init=1, max_iter=30, tol=1e-4, random_state=0)
    with pytest.warns(UserWarning, match="max_iter"):
        clf.fit(pairs, t)
    assert clustering_error(y[test], clf.predict(X[test] / 16)) <= 0.12
    clf.assign_from_points(X[train] / 16, y[train])
    assert np.mean(clf.predict(X[test] / 16) == y[test]) >= 0.88
    proba = clf.predict_proba(X[test] / 16)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(proba.argmax(axis=1), clf.predict(X[test] / 16))


def test_mcl_pairs_of_several_classes():
    X, y = make_blobs(400, centers=3, random_state=0, cluster_std=0.6)
    pairs, t = Pairs.sample(X, 800, y, reuse=True, random_state=0)
    clf = MCLClassifier(n_classes=3, classes=("a", "b", "c"), random_state=0)
    clf.fit(pairs, t)
    same = clf.predict_pairs(pairs)
    np.testing.assert_array_equal(same, pairs.answers(clf.predict(X)))
    assert clf.score(pairs, t) > 0.9
    assert np.mean((clf.pair_score(pairs) > 0) == (same > 0)) > 0.98
    names = np.array(["c", "a", "b"])[y]
    clf.assign_from_points(X[:30], names[:30])
    assert np.mean(clf.predict(X) == names) > 0.9


def test_mcl_with_two_outputs_equals_the_binary_form(blob_pairs):
    """A softmax of two scores has the binary form's optimum at twice the penalty."""
    pairs, t = blob_pairs
    binary = MCLClassifier(alpha=0.01, tol=1e-9).fit(pairs, t)
    p = binary.predict_proba(pairs.X)
    f = pairs.X @ binary.coef_[0] + binary.intercept_[0]
    np.testing.assert_allclose(p[:, 1], 1 / (1 + np.exp(-f)))
    same = p[pairs.left] * p[pairs.right]
    likelihood = np.where(t > 0, same.sum(axis=1), 1 - same.sum(axis=1))
    penalty = 0.01 / 2 * (binary.coef_**2).sum()
    assert binary.objective_ == pytest.approx(-np.log(likelihood).mean() + penalty)


def test_mcl_probabilities_are_calibrated():
    """On data from a logistic model, probabilities agree with frequencies."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    p = 1 / (1 + np.exp(-(X @ [2.0, -1.0, 0.5] + 0.7)))
    y = np.where(rng.random(20_000) < p, 1, -1)
    pairs, t = Pairs.sample(X, 10_000, y, random_state=0)
    clf = MCLClassifier(alpha=0.0).fit(pairs, t).assign_from_points(X[:50], y[:50])
    assert np.abs(clf.predict_proba(X)[:, 1] - p).max() < 0.1


@pytest.mark.parametrize("make", [MCLClassifier, CIPSClassifier])
@pytest.mark.parametrize("rates", ["auto", "symmetric", 0.25, (0.75, 0.25)])
def test_flip_rates(make, rates):
    """A quarter of the answers are flipped; the model is right about it."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(8000) < 0.5, 1, -1)
    X = rng.normal(size=(8000, 3)) + np.outer(y, [1.5, 1.0, 0.0])
    pairs, t = Pairs.sample(X, 4000, y, random_state=0)
    t = np.where(rng.random(4000) < 0.25, -t, t)
    clf = make(flip_rates=rates).fit(pairs, t)
    assert clustering_error(y, clf.predict(X)) < 0.06
    np.testing.assert_allclose(clf.flip_rates_, (0.75, 0.25), atol=0.05)
    plain = make().fit(pairs, t)
    assert np.linalg.norm(plain.coef_) < np.linalg.norm(clf.coef_)


def test_one_sided_noise_is_estimated():
    """Only "different" answers are unreliable, as random couples of a graph are."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(12_000) < 0.5, 1, -1)
    X = rng.normal(size=(12_000, 2)) + 2 * y[:, None]
    pairs, truth = Pairs.sample(X, 6000, y, random_state=0)
    t = np.where((truth > 0) & (rng.random(6000) < 0.4), -1, truth)
    clf = MCLClassifier(flip_rates="auto").fit(pairs, t)
    np.testing.assert_allclose(clf.flip_rates_, (0.6, 0.0), atol=0.05)


@pytest.mark.parametrize("gammas", [(0, 1, 0), (0, 0, 1), (0.4, 0.3, 0.3)], ids=str)
@pytest.mark.parametrize("make", [CIPSClassifier, SDClassifier])
def test_training_with_unlabelled_points(task, make, gammas):
    pairs, t, X, y, X_test, y_test = task
    keep = {1: t > 0, 2: t < 0}.get(int(np.argmax(np.array(gammas) == 1)), t != 0)
    clf = make(gammas=gammas, prior=float(y.mean()), random_state=0)
    clf.fit(pairs[keep], t[keep], unlabeled=X)
    assert clustering_error(y_test, clf.predict(X_test)) < 0.16


def test_a_risk_without_a_bottom_is_noticed():
    """The unbiased estimate falls without end here; clipped, the default, it stops."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    pairs, t = Pairs.sample(X, 2000, y, reuse=True, random_state=0)
    same = t > 0
    clf = CIPSClassifier(gammas=(0, 1, 0), prior=0.63, alpha=0.01, random_state=0)
    assert clf.fit(pairs[same], t[same], unlabeled=X).score(pairs, t) > 0.9
    with pytest.raises(FloatingPointError, match="nonnegative"):
        clf.set_params(nonnegative=False).fit(pairs[same], t[same], unlabeled=X)


def test_unlabelled_points_are_asked_for():
    pairs, t = np.random.default_rng(0).normal(size=(6, 2, 2)), [1, 1, 1, -1, -1, -1]
    with pytest.raises(ValueError, match="unlabeled=X_u"):
        CIPSClassifier(gammas=(0, 1, 0)).fit(pairs, t)
    with pytest.raises(ValueError, match="with gammas"):
        CIPSClassifier().fit(pairs, t, unlabeled=pairs[:, 0])
    with pytest.raises(ValueError, match="'different', and there are none"):
        CIPSClassifier(gammas=(0, 0, 1), prior=0.7).fit(
            pairs[:3], t[:3], unlabeled=pairs[:, 0]
        )
    with pytest.raises(ValueError, match="prior="):
        CIPSClassifier(gammas=(0, 1, 0)).fit(pairs[:3], t[:3], unlabeled=pairs[:, 0])
    with pytest.raises(ValueError, match="sum to 1"):
        CIPSClassifier(gammas=(1, 1, 1)).fit(pairs, t, unlabeled=pairs[:, 0])


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sd_closed_form_is_the_iterative_optimum(blob_pairs, kind, fit_intercept):
    pairs, t = blob_pairs
    if kind == "sparse":
        pairs = Pairs(sparse.csr_array(pairs.X), pairs.index)
    options = {"prior": 0.7, "loss": "squared", "fit_intercept": fit_intercept}
    closed = SDClassifier(**options, solver="closed").fit(pairs, t)
    iterative = SDClassifier(**options, solver="lbfgs", tol=1e-10).fit(pairs, t)
    assert closed.objective_ == pytest.approx(iterative.objective_, abs=1e-9)
    np.testing.assert_allclose(closed.coef_, iterative.coef_, atol=1e-6)


def test_sd_prior():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(4000) < 0.2, 1, -1)
    X = rng.normal(size=(4000, 2)) + 1.5 * y[:, None]
    pairs, t = Pairs.sample(X, 2000, y, random_state=0)
    clf = SDClassifier(majority=-1).fit(pairs, t)
    assert clf.prior_ == pytest.approx(0.2, abs=0.03)
    assert np.mean(clf.predict(X) == y) > 0.93
    with pytest.raises(ValueError, match="assign_from_points"):
        SDClassifier(prior=0.5).fit(pairs, t)
    with pytest.raises(ValueError, match="prior at 1/2"):
        SDClassifier().fit(pairs[:4], [1, -1, 1, -1])
    with pytest.raises(ValueError, match="not classification-calibrated"):
        SDClassifier(loss="linear", prior=0.2).fit(pairs, t)


def test_ovpc_solves_its_ridge_regression(blob_pairs):
    """Against the normal equations written out for all products of features."""
    pairs, t = blob_pairs
    weight = np.random.default_rng(0).uniform(0.5, 2, len(t))
    clf = OVPCClassifier(alpha=0.1).fit(pairs, t, sample_weight=weight)
    Z = np.column_stack([pairs.X, np.ones(len(pairs.X))])
    left, right = Z[pairs.left], Z[pairs.right]
    products = np.einsum("ka,kb->kab", left, right)
    products = ((products + products.transpose(0, 2, 1)) / 2).reshape(len(t), -1)
    share = weight / weight.sum()
    gram = products.T @ (share[:, None] * products) + 0.1 * np.eye(25)
    B = np.linalg.solve(gram, products.T @ (share * t)).reshape(5, 5)
    np.testing.assert_allclose(clf.matrix_, B, atol=1e-7)
    values, vectors = np.linalg.eigh(B)
    b = np.append(clf.coef_[0], clf.intercept_)
    np.testing.assert_allclose(np.abs(b), np.sqrt(values[-1]) * np.abs(vectors[:, -1]),
                               atol=1e-6)  # fmt: skip


def test_sllc_reaches_the_optimum_of_its_objective(blob_pairs):
    pairs, t = blob_pairs
    clf = SLLCClassifier(beta=0.05, fit_intercept=False).fit(pairs, t)
    left, right = pairs.X[pairs.left], pairs.X[pairs.right]

    def objective(flat):
        K = np.einsum("ka,ab,kb->k", left, flat.reshape(4, 4), right)
        return np.maximum(0, 1 - t * K).mean() + 0.05 * flat @ flat

    assert objective(clf.matrix_.ravel()) == pytest.approx(clf.objective_)
    found = minimize(objective, clf.matrix_.ravel(), method="Powell").fun
    assert clf.objective_ <= found + 1e-4
    # With fewer pairs than entries of A, other coordinates find the same optimum.
    few = SLLCClassifier(beta=0.05, fit_intercept=False).fit(pairs[:14], t[:14])
    left, right, t = left[:14], right[:14], t[:14]
    found = minimize(objective, few.matrix_.ravel(), method="Powell").fun
    assert few.objective_ <= found + 1e-4
    assert objective(few.matrix_.ravel()) == pytest.approx(few.objective_, abs=1e-6)


def test_sllc_with_labels_names_the_classes(task):
    pairs, t, X, y, X_test, y_test = task
    clf = SLLCClassifier(classes=(0, 1), random_state=0)
    clf.fit(pairs, t, labeled=(X[:60], y[:60]))
    assert np.mean(clf.predict(X_test) == y_test) > 0.88
    with pytest.raises(ValueError, match="both classes"):
        clf.fit(pairs, t, labeled=(X[:5], np.ones(5)))


@pytest.mark.parametrize("make", [OVPCClassifier, SLLCClassifier])
def test_three_hundred_sparse_features(make):
    """The size of w8a: no d^2 x d^2 matrix, and done in seconds."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(2000) < 0.5, 1, -1)
    dense = rng.random((2000, 300)) < 0.02
    dense[:, :10] |= (rng.random((2000, 10)) < 0.5) & (y[:, None] > 0)
    pairs, t = Pairs.sample(
        sparse.csr_array(dense.astype(float)), 1000, y, random_state=0
    )
    clf = make().fit(pairs, t)
    assert clf.matrix_.shape == (301, 301)
    assert clustering_error(y, clf.predict(pairs.X)) < 0.1


@pytest.mark.parametrize(
    ("clf", "message"),
    [
        (MCLClassifier(n_classes=1), "2 or above"),
        (MCLClassifier(n_classes=3, majority=1), "assign_from_points"),
        (MCLClassifier(n_classes=3, classes=("a", "b")), "3 classes"),
        (MCLClassifier(flip_rates=(0.2, 0.4)), "flip_rates"),
        (MCLClassifier(flip_rates="often"), "'auto', 'symmetric'"),
        (MCLClassifier(flip_rates="auto", solver="sgd"), "lbfgs"),
        (CIPSClassifier(flip_rates=0.1, loss="hinge"), "loss='logistic'"),
        (SDClassifier(prior=0.7, loss="hinge", solver="closed"), "loss='squared'"),
        (SDClassifier(prior=1.2), "strictly between"),
        (SLLCClassifier(gamma=0), "gamma"),
        (OVPCClassifier(alpha=-1), "alpha"),
        (SLLCClassifier(beta=-1), "beta"),
        (SDClassifier(prior=0.7, majority=-1), "contradicts"),
        (MCLClassifier(flip_rates=(1,)), "flip_rates"),
        (MCLClassifier(flip_rates=(None, 0.1)), "flip_rates"),
        (CIPSClassifier(gammas="abc"), "sum to 1"),
        (CIPSClassifier(gammas=(np.nan, 0, 1)), "sum to 1"),
    ],
)
def test_wrong_parameters(clf, message, blob_pairs):
    with pytest.raises(ValueError, match=message):
        clf.fit(*blob_pairs)


def test_an_sd_risk_without_a_bottom_is_noticed(blob_pairs):
    with pytest.raises(FloatingPointError, match="double_hinge"):
        SDClassifier(prior=0.6, loss="exponential").fit(*blob_pairs)


def test_a_deep_minimum_of_a_convex_risk_is_no_fall_without_end():
    """Few pairs and a prior near 1/2: the penalty alone holds the weights."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.45, 1, -1)
    X = rng.normal(size=(200, 60)) + 0.5 * y[:, None]
    pairs, t = Pairs.sample(X, 100, y, random_state=0)
    clf = SDClassifier(prior=0.45, loss="logistic", solver="lbfgs").fit(pairs, t)
    assert clf.objective_ < -1e3
    assert clustering_error(y, clf.predict(X)) < 0.2


def test_different_answers_alone_cannot_name_the_classes(blobs, blob_pairs):
    pairs, t = blob_pairs
    apart = t < 0
    clf = CIPSClassifier(gammas=(0, 0, 1), prior=0.7, majority=1, random_state=0)
    with pytest.raises(ValueError, match="needs answers 'same'"):
        clf.fit(pairs[apart], t[apart], unlabeled=blobs[0])


def test_mcl_of_points_that_are_all_alike():
    clf = MCLClassifier(n_classes=3, random_state=0)
    clf.fit(np.ones((20, 2, 2)), [1] * 10 + [-1] * 10)
    proba = clf.predict_proba(np.ones((1, 2)))[0]
    assert (proba**2).sum() == pytest.approx(0.5, abs=0.01)  # P(same), as answered
    with pytest.raises(ValueError, match="there are 3 points"):
        MCLClassifier(n_classes=5).fit(Pairs(np.eye(3), [[0, 1], [1, 2]]), [1, -1])


def test_mcl_assignment_of_several_classes_checks_its_labels():
    X, y = make_blobs(200, centers=3, random_state=0, cluster_std=0.6)
    pairs, t = Pairs.sample(X, 400, y, reuse=True, random_state=0)
    clf = MCLClassifier(n_classes=3, random_state=0).fit(pairs, t)
    with pytest.raises(ValueError, match="label 'a' is not one of"):
        clf.assign_from_points(X[:2], ["a", "b"])
    with pytest.raises(ValueError, match="2 points, but labels of shape"):
        clf.assign_from_points(X[:2], [0])
    with pytest.raises(ValueError, match="assign_from_points"):
        clf.assign_from_pairs(pairs, t, majority=1)
    assert clf.assign_from_points(X, y).assignment_.n_points == 200


@pytest.mark.parametrize("make", [OVPCClassifier, SLLCClassifier])
def test_features_far_from_zero_are_noticed(make, blob_pairs):
    pairs, t = blob_pairs
    with pytest.warns(UserWarning, match="on one side"):
        make().fit(Pairs(pairs.X + 1000, pairs.index), t)


@pytest.mark.parametrize("make", [OVPCClassifier, SLLCClassifier])
def test_too_few_iterations_warn(make, blob_pairs):
    with pytest.warns(UserWarning, match="raise max_iter"):
        make(max_iter=1).fit(*blob_pairs)
