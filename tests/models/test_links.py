"""LinkClassifier: its optimum, what is of no matter to it, and its classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from pairlearn import LinkClassifier, MCLClassifier, Pairs, clustering_error
from pairlearn.datasets import link_pairs
from pairlearn.models.base import Answered
from pairlearn.models.linear import links
from tests.support.link_worlds import draw_couples, same_links, tight, world

# -- the optimum -----------------------------------------------------------------------


@pytest.mark.parametrize("similarity", [None, "cosine"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_optimum_is_that_of_an_independent_minimisation(similarity, fit_intercept):
    X, _, pairs, t = world(1, m=300, n=200)
    rng = np.random.default_rng(0)
    t = t * rng.uniform(0.5, 1, len(t))
    weight = rng.uniform(0, 2, len(t))
    clf = tight(similarity=similarity, fit_intercept=fit_intercept)
    clf.fit(pairs, t, sample_weight=weight)
    left, right = X[pairs.left], X[pairs.right]
    s = np.zeros(len(t))
    if similarity:
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        s = np.sum(unit[pairs.left] * unit[pairs.right], axis=1)

    def loss(v):
        w, b, (g, h, c) = v[:3], v[3] * fit_intercept, v[4:]
        p, q = expit(left @ w + b), expit(right @ w + b)
        same = p * q + (1 - p) * (1 - q)
        odds = np.exp(c * s) * (np.exp(g) * same + np.exp(h) * (1 - same))
        each = (1 + t) / 2 * np.log(odds) - np.log1p(odds)
        return 0.0015 * w @ w - weight @ each / weight.sum()

    runs = [
        minimize(loss, [*start, *np.full(4, -0.1)], tol=1e-10, method="L-BFGS-B")
        for start in (np.eye(3)[0], -np.eye(3)[0], rng.normal(size=3))
    ]
    best = min(runs, key=lambda run: run.fun)
    assert clf.objective_ == pytest.approx(best.fun, abs=1e-6)
    found = np.append(clf.coef_[0], clf.intercept_)
    sign = np.sign(found[0] * best.x[0])
    expected = best.x[:4] * [1, 1, 1, fit_intercept] * sign
    assert_allclose(found, expected, atol=5e-3)
    assert clf.history_["objective"][-1] <= clf.history_["objective"][0]
    if not fit_intercept:
        assert clf.intercept_ == 0


def test_alpha_that_is_given_is_used(link_task):
    _, _, pairs, t = link_task
    weak, strong = (tight(alpha=a).fit(pairs, t) for a in (0.002, 0.02))
    assert (weak.alpha_, strong.alpha_) == (0.002, 0.02)
    assert np.linalg.norm(weak.coef_) > 1.2 * np.linalg.norm(strong.coef_)
    assert_allclose(tight(alpha=np.float32(0.5)).fit(pairs, t).alpha_, 0.5)


# -- invariances -----------------------------------------------------------------------


@pytest.mark.parametrize("similarity", [None, "cosine"])
def test_the_order_of_members_pairs_and_points_is_of_no_matter(link_task, similarity):
    X, _, pairs, t = link_task
    rng = np.random.default_rng(0)
    first = tight(similarity=similarity).fit(pairs, t)
    turned = np.where(rng.random((len(t), 1)) < 0.5, pairs.index, pairs.index[:, ::-1])
    same_links(first, tight(similarity=similarity).fit(Pairs(X, turned), t))
    order = rng.permutation(len(t))
    same_links(first, tight(similarity=similarity).fit(pairs[order], t[order]))
    places = rng.permutation(len(X))
    moved = Pairs(X[places], np.argsort(places)[pairs.index])
    same_links(first, tight(similarity=similarity).fit(moved, t))


def test_dense_and_sparse_points_give_the_same(link_task):
    X, _, pairs, t = link_task
    X = np.where(np.abs(X) < 0.5, 0, X)
    dense = tight().fit(Pairs(X, pairs.index), t)
    for kind in (sparse.csr_matrix, sparse.csr_array):
        other = tight().fit(Pairs(kind(X), pairs.index), t)
        same_links(dense, other)
        assert_array_equal(other.predict(kind(X)), dense.predict(X))


def test_bool_answers_are_links_and_couples(link_task):
    _, _, pairs, t = link_task
    same_links(tight().fit(pairs, t), tight().fit(pairs, t > 0), tol=1e-12)


@pytest.mark.usefixtures("short_grid")
@pytest.mark.parametrize(("scale", "similarity"), [(1e-3, "cosine"), (30.0, None)])
def test_the_unit_of_the_features_is_of_no_matter(link_task, scale, similarity):
    X, _, pairs, t = link_task
    settings = {"similarity": similarity, "random_state": 0, "tol": 1e-7}
    first = LinkClassifier(**settings).fit(pairs, t)
    other = LinkClassifier(**settings).fit(Pairs(scale * X, pairs.index), t)
    assert other.alpha_ == pytest.approx(scale**2 * first.alpha_)
    assert_allclose(
        other.decision_function(scale * X), first.decision_function(X), atol=1e-3
    )
    assert np.mean(other.predict(scale * X) != first.predict(X)) < 0.01


@pytest.mark.usefixtures("short_grid")
def test_an_offset_is_of_no_matter_without_a_similarity(link_task):
    X, _, pairs, t = link_task
    offset = np.array([50.0, -8.0, 3.0])
    settings = {"similarity": None, "random_state": 0, "tol": 1e-7}
    first = LinkClassifier(**settings).fit(pairs, t)
    other = LinkClassifier(**settings).fit(Pairs(X + offset, pairs.index), t)
    assert other.alpha_ == pytest.approx(first.alpha_)
    assert_allclose(
        other.decision_function(X + offset), first.decision_function(X), atol=1e-3
    )


def test_twice_as_many_couples_halve_the_odds_and_leave_the_boundary():
    X, _, pairs, t = world(0, m=3000, n=2000, n_couples=6000)
    settings = {"alpha": 1e-4, "similarity": None}
    twice = LinkClassifier(**settings).fit(pairs, t)
    once = LinkClassifier(**settings).fit(pairs[:6000], t[:6000])
    assert np.divide(once.link_odds_, twice.link_odds_)[0] == pytest.approx(2, rel=0.1)
    assert np.subtract(once.link_odds_, np.multiply(2, twice.link_odds_))[
        1
    ] == pytest.approx(0, abs=0.1)
    assert np.mean(once.predict(X) != twice.predict(X)) < 0.02


# -- data of the model -----------------------------------------------------------------


@pytest.mark.parametrize(("prior", "rates"), [(0.5, (0.5, 0.1)), (0.25, (0.4, 0.12))])
def test_estimates_are_near_the_truth(prior, rates):
    """The odds are P(link | same) / P(link), and likewise for different."""
    X, y, pairs, t = world(3, prior, 12_000, n=6000, rates=rates)
    clf = LinkClassifier(alpha=1e-5, similarity=None).fit(pairs, t)
    same = np.mean(y > 0) ** 2 + np.mean(y < 0) ** 2
    odds = np.array(rates) / (rates[0] * same + rates[1] * (1 - same))
    assert_allclose(clf.link_odds_, odds, atol=0.12)
    assert clf.similarity_weight_ == 0
    # The log-odds of the class are 2 x_1 + log(prior / (1 - prior)).
    sign = np.sign(clf.coef_[0, 0])
    assert_allclose(sign * clf.coef_[0], [2, 0, 0], atol=0.3)
    offset = np.log(prior / (1 - prior))
    assert sign * clf.intercept_[0] == pytest.approx(offset, abs=0.3)
    labels = LogisticRegression().fit(X, y)
    error = clustering_error(y, clf.predict(X))
    assert error < np.mean(labels.predict(X) != y) + 0.01


def test_unbalanced_classes_need_couples_to_be_couples():
    """At a prior of 0.15, 3000 links: 9.8 % here, 13.9 % by MCL, 9.6 % with labels."""
    errors = []
    for seed in range(2):
        X, y, pairs, t = world(seed, 0.15, 3000, n=3000, d=5)
        models = (
            LinkClassifier(alpha=0.01, similarity=None).fit(pairs, t),
            MCLClassifier(likelihood="pair", random_state=0).fit(pairs, t),
            LogisticRegression().fit(X, y),
        )
        errors.append([clustering_error(y, model.predict(X)) for model in models])
    links, plain, labels = np.mean(errors, axis=0)
    assert links < labels + 0.01
    assert links < plain - 0.025


def test_the_default_is_about_as_good_as_labels():
    X, y, pairs, t = world(0, 0.35, 3000, n=3000)
    clf = LinkClassifier(similarity=None, random_state=0).fit(pairs, t)
    labels = LogisticRegression().fit(X, y)
    error = clustering_error(y, clf.predict(X))
    assert error < np.mean(labels.predict(X) != y) + 0.03


def alike(seed, c, n=1500, m=3000):
    """Draw links that favour a class, and also points that are alike otherwise.

    Each point is about one of two topics, whatever its class.
    """
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.35, 1, -1)
    X = rng.normal(size=(n, 6)) + 1.2 * np.outer(y, np.eye(6)[0])
    X[np.arange(n), 1 + rng.integers(2, size=n)] += 3
    couples = draw_couples(n, 60 * m, rng)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    s = np.sum(unit[couples[:, 0]] * unit[couples[:, 1]], axis=1)
    same = y[couples[:, 0]] == y[couples[:, 1]]
    p = np.exp(c * (s - s.mean()) / s.std()) * np.where(same, 0.5, 0.1)
    links = couples[rng.random(len(couples)) < p / p.max()][:m]
    index = np.concatenate([links, draw_couples(n, m, rng)])
    return X, y, Pairs(X, index), np.repeat([1.0, -1.0], [len(links), m])


def test_similarity_keeps_the_boundary_away_from_topics():
    """Links follow topics that cut across the classes: without it, half are wrong."""
    for seed in range(2):
        X, y, pairs, t = alike(seed, c=1.0)
        clf = LinkClassifier(alpha=1e-3, similarity="cosine").fit(pairs, t)
        blind = LinkClassifier(alpha=1e-3).fit(pairs, t)
        error = clustering_error(y, clf.predict(X))
        assert error < 0.14
        assert clustering_error(y, blind.predict(X)) > error + 0.2
        assert clf.similarity_weight_ == pytest.approx(1, abs=0.25)


def test_similarity_that_links_do_not_follow_gets_no_weight():
    X, y, pairs, t = alike(0, c=0.0)
    clf = LinkClassifier(alpha=1e-3, similarity="cosine").fit(pairs, t)
    assert clf.similarity_weight_ == pytest.approx(0, abs=0.1)
    assert clustering_error(y, clf.predict(X)) < 0.14


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_similarity_is_the_cosine(kind, dtype, monkeypatch):
    monkeypatch.setattr("pairlearn.models.linear.links.CHUNK", 7)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 3)).astype(dtype)
    X[:2] = 0
    index = draw_couples(10, 40, rng)
    clf = LinkClassifier(similarity="cosine")
    found = clf._similarities(Pairs(kind(X), index), np.ones(40))
    cosine = np.zeros(40)
    for k, (i, j) in enumerate(index):
        if min(i, j) > 1:
            x, z = X[i].astype(float), X[j].astype(float)
            cosine[k] = x @ z / np.sqrt((x @ x) * (z @ z))
    assert np.sum(cosine == 0) > 5
    assert_allclose(found, (cosine - cosine.mean()) / cosine.std(), atol=1e-5)
    assert not LinkClassifier()._similarities(Pairs(X, index), np.ones(40)).any()


def test_points_that_are_all_zero_are_no_problem(link_task):
    X, _, pairs, t = link_task
    X = X.copy()
    X[:30] = 0
    clf = LinkClassifier(alpha=0.01, similarity="cosine")
    assert np.isfinite(clf.fit(Pairs(X, pairs.index), t).coef_).all()
    nothing = LinkClassifier(alpha=0.01, similarity="cosine")
    with pytest.warns(UserWarning, match="the points are all alike"):
        nothing.fit(Pairs(0 * X, pairs.index), t)
    assert not nothing.coef_.any()
    assert nothing.similarity_weight_ == 0


# -- the contract ----------------------------------------------------------------------


def test_the_majority_settles_the_classes():
    X, y, pairs, t = world(0, 0.25, 3000, n=3000)
    for majority in (-1, "many"):
        classes = ("many", "few") if majority == "many" else None
        clf = LinkClassifier(
            alpha=0.01, majority=majority, classes=classes, random_state=0
        ).fit(pairs, t)
        names = np.where(y > 0, *(("few", "many") if classes else (1, -1)))
        assert np.mean(clf.predict(X) == names) > 0.8
        assert clf.assignment_.method == "pairs"
    other = LinkClassifier(alpha=0.01, majority=1, random_state=0).fit(pairs, t)
    assert np.mean(other.predict(X) == -y) > 0.8


def test_classes_from_points_and_from_other_pairs():
    X, y, pairs, t = world(0, 0.25, 4000, n=4000)
    rest = np.arange(len(t)) % 2 == 0
    clf = LinkClassifier(alpha=0.01).fit(pairs[~rest], t[~rest])
    assert clf.assignment_ is None
    for sign in (1, -1):
        clf.assign_from_points(X[:50], sign * y[:50])
        assert np.mean(clf.predict(X) == sign * y) > 0.8
        assert clf.assignment_.method == "points"
        clf.assign_from_pairs(pairs[rest], t[rest], majority=sign)
        assert np.mean(clf.predict(X) == -sign * y) > 0.8
        assert clf.assignment_.method == "pairs"


def test_the_sign_does_not_depend_on_the_start(link_task, monkeypatch):
    _, _, pairs, t = link_task
    first = tight().fit(pairs, t)
    assert first.coef_[0, np.argmax(np.abs(first.coef_))] > 0
    starts = links.starts
    monkeypatch.setattr(links, "starts", lambda *given: [-u for u in starts(*given)])
    same_links(first, tight().fit(pairs, t))


def test_probabilities_are_those_of_the_scores(link_task):
    X, y, pairs, t = link_task
    clf = LinkClassifier(alpha=1e-3).fit(pairs, t).assign_from_points(X[:50], y[:50])
    p = clf.predict_proba(X)
    assert p.shape == (len(X), 2)
    assert_allclose(p.sum(axis=1), 1)
    assert_allclose(p[:, 1], expit(X @ clf.coef_[0] + clf.intercept_[0]))
    assert_array_equal(clf.classes_[p.argmax(axis=1)], clf.predict(X))
    assert np.mean(p[y > 0, 1]) > np.mean(p[y < 0, 1]) + 0.3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": "x"}, "alpha.*'x'"),
        ({"alpha": -1}, "alpha must be a number, 0 or above; got -1"),
        ({"alpha": np.nan}, "alpha must be"),
        ({"alpha": None}, "alpha must be"),
        ({"similarity": "dot"}, "similarity.*'dot'"),
        ({"max_iter": 0}, "max_iter must be a whole number, 1 or above; got 0"),
        ({"tol": 0}, "tol must be a number above 0"),
        ({"majority": "a"}, "'a'"),
    ],
)
def test_bad_parameters_are_refused_before_fitting(
    settings, message, link_task, monkeypatch
):
    _, _, pairs, t = link_task
    fail = pytest.fail
    monkeypatch.setattr(
        LinkClassifier, "_solve", lambda *_: fail("it began to fit first")
    )
    clf = LinkClassifier(**settings)
    with pytest.raises(ValueError, match=message):
        clf.fit(pairs, t)
    assert not hasattr(clf, "classes_")


def test_too_few_iterations_are_said(link_task):
    _, _, pairs, t = link_task
    with pytest.warns(UserWarning, match="max_iter=2 iterations"):
        clf = LinkClassifier(alpha=1e-3, max_iter=2).fit(pairs, t)
    assert clf.n_iter_ == 2


def test_from_a_graph_to_classes():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(800) < 0.3, "rare", "common")
    X = rng.normal(size=(800, 6)) + 2.5 * np.outer(y == "rare", np.eye(6)[2])
    couples = draw_couples(800, 12_000, rng)
    same = y[couples[:, 0]] == y[couples[:, 1]]
    links = couples[rng.random(12_000) < np.where(same, 0.3, 0.03)]
    train = np.arange(800) < 600
    pairs, t = link_pairs(sparse.csr_matrix(X), links, nodes=train, random_state=0)
    clf = LinkClassifier(classes=("common", "rare"), random_state=0).fit(pairs, t)
    clf.assign_from_points(X[:20], y[:20])
    assert pairs.index.max() < 600
    assert np.mean(clf.predict(X[~train]) == y[~train]) > 0.85
    assert clf.link_odds_[0] > 1 > clf.link_odds_[1]


# -- weights of pairs, and cases with nothing to go by --------------------------------


def test_weights_that_vanished_under_a_strong_penalty_come_back():
    """With balanced classes, weights of zero are stationary at every strength."""
    X, y, pairs, t = world(0, 0.5, 1000)
    clf = LinkClassifier(similarity=None, random_state=0).fit(pairs, t)
    error = clustering_error(y, clf.predict(X))
    assert error < np.mean(LogisticRegression().fit(X, y).predict(X) != y) + 0.02
    given, none = Answered(pairs, t, np.ones(len(t))), np.zeros(len(t))
    lengths = [
        np.linalg.norm(solution.u[:3])
        for solution, _ in clf._solve(given, none, [5.0, 0.01, 0.001])
    ]
    assert lengths[0] < 0.01 < 0.5 < lengths[1] < lengths[2]


@pytest.mark.usefixtures("short_grid")
@pytest.mark.parametrize(
    ("alpha", "similarity"), [("auto", "cosine"), (0.003, None), (0.003, "cosine")]
)
def test_a_weight_of_two_is_a_pair_twice(link_task, alpha, similarity):
    _, _, pairs, t = link_task
    weight = np.where(np.arange(len(t)) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(len(t)), weight.astype(int))
    settings = {"alpha": alpha, "similarity": similarity}
    weighed = tight(**settings).fit(pairs, t, sample_weight=weight)
    repeated = tight(**settings).fit(pairs[twice], t[twice])
    assert weighed.alpha_ == repeated.alpha_
    same_links(weighed, repeated)
    # All weights times a constant are the same weights.
    same_links(weighed, tight(**settings).fit(pairs, t, sample_weight=7 * weight))
    plain = tight(**settings).fit(pairs, t)
    assert np.abs(plain.coef_ - weighed.coef_).max() > 1e-3


@pytest.mark.usefixtures("short_grid")
@pytest.mark.parametrize(
    ("alpha", "similarity"), [("auto", "cosine"), (0.003, None), (0.003, "cosine")]
)
def test_a_weight_of_zero_is_no_pair(link_task, alpha, similarity):
    X, _, pairs, t = link_task
    settings = {"alpha": alpha, "similarity": similarity}
    rng = np.random.default_rng(0)
    # Points of their own, far away, with answers that would spoil everything.
    points = np.concatenate([X, rng.normal(scale=50, size=(100, 3))])
    index = np.concatenate([pairs.index, 300 + draw_couples(100, 200, rng)])
    answers = np.append(t, rng.choice([-1.0, 1.0], 200))
    weight = np.repeat([1.0, 0.0], [len(t), 200])
    order = rng.permutation(len(answers))
    keep = order[weight[order] > 0]
    without = tight(**settings).fit(pairs[keep], t[keep])
    given = Pairs(points, index)[order]
    other = tight(**settings).fit(given, answers[order], sample_weight=weight[order])
    assert other.alpha_ == without.alpha_
    same_links(without, other, tol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_points_on_a_ray_have_no_similarity_to_tell(link_task, dtype):
    _, _, pairs, t = link_task
    length = np.random.default_rng(0).uniform(1, 2, size=len(pairs.X))
    ray = Pairs(np.outer(length, [0.1, 0.7, 1.3]).astype(dtype), pairs.index)
    clf = LinkClassifier(similarity="cosine")
    assert not clf._similarities(ray, np.ones(len(t))).any()
