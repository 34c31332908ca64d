"""Clusterings from pairs: constraints hold, steps are exact, answers are used."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from pairlearn import (
    ConstrainedKMeans,
    ConstrainedSpectralClustering,
    Pairs,
    clustering_error,
    make_pair_pipeline,
)
from pairlearn.models.cluster import constraints as constraints_module
from pairlearn.models.cluster.constraints import ManyClusters, StuckError, TwoClusters
from pairlearn.models.cluster.kmeans import _Problem
from pairlearn.models.cluster.spectral import _adjust, _neighbour_graph, _solve

BOTH = [ConstrainedKMeans, ConstrainedSpectralClustering]


def random_answers(rng, n_points, n_pairs, n_clusters):
    """Random pairs with answers that some clustering, unrelated to X, satisfies."""
    y = rng.integers(n_clusters, size=n_points)
    first = rng.integers(n_points, size=n_pairs)
    second = (first + rng.integers(1, n_points, size=n_pairs)) % n_points
    index = np.stack([first, second], axis=1)
    return index, np.where(y[first] == y[second], 1.0, -1.0)


def answers_of(labels, index):
    return np.where(labels[index[:, 0]] == labels[index[:, 1]], 1.0, -1.0)


def same_clustering(a, b):
    return clustering_error(a, b) == 0


@pytest.mark.parametrize("n_clusters", [2, 5])
def test_no_answer_is_violated_on_200_random_consistent_sets(n_clusters):
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n_points = int(rng.integers(8, 30))
        n_pairs = int(rng.integers(3, 4 * n_points))
        index, t = random_answers(rng, n_points, n_pairs, n_clusters)
        X = np.vstack([rng.normal(size=(n_points, 2)), rng.normal(size=(5, 2))])
        model = ConstrainedKMeans(n_clusters=n_clusters, n_init=2, random_state=seed)
        labels = model.fit_predict(X, index, t)
        np.testing.assert_array_equal(answers_of(labels, index), t)
        assert not len(model.dropped_)


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_a_chain_of_100_000_points(n_clusters):
    rng = np.random.default_rng(0)
    n_points = 100_000
    X = rng.normal(size=(n_points + 1, 3))
    index = np.stack([np.arange(n_points), np.arange(1, n_points + 1)], axis=1)
    t = np.ones(n_points)
    t[-1] = -1
    model = ConstrainedKMeans(n_clusters=n_clusters, random_state=0)
    model.fit(Pairs(X, index), t, unlabeled=rng.normal(size=(20, 3)))
    assert len(set(model.labels_[:n_points])) == 1
    assert model.labels_[n_points] != model.labels_[0]


def test_a_chain_of_both_kinds_of_answers_has_one_clustering():
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], 100_000)
    index = np.stack([np.arange(99_999), np.arange(1, 100_000)], axis=1)
    pairs = Pairs(rng.normal(size=(100_000, 2)), index)
    model = ConstrainedKMeans(random_state=0).fit(pairs, pairs.answers(y))
    assert same_clustering(model.labels_, y)


def test_an_odd_cycle_is_named():
    pairs = Pairs(np.arange(8.0)[:, None], [[6, 7], [0, 1], [4, 5], [1, 2], [2, 0]])
    t = [-1, 1, 1, 1, -1]
    # The zero weight leaves out pair 0; the numbers stay those of the user.
    weight = [0, 1, 1, 1, 1]
    with pytest.raises(ValueError, match="contradict") as caught:
        ConstrainedKMeans().fit(pairs, t, sample_weight=weight)
    named = {
        int(word.strip(",")) for word in str(caught.value).split() if word[0] in "134"
    }
    assert named == {1, 3, 4}


def test_a_cycle_of_three_differences_is_odd_for_two_clusters_only():
    X = np.array([[0.0], [5.0], [10.0], [11.0]])
    pairs, t = Pairs(X, [[0, 1], [1, 2], [2, 0], [2, 3]]), [-1, -1, -1, 1]
    with pytest.raises(ValueError, match=r"'different', but pair.*imply 'same'"):
        ConstrainedKMeans().fit(pairs, t)
    labels = ConstrainedKMeans(n_clusters=3, random_state=0).fit(pairs, t).labels_
    np.testing.assert_array_equal(labels, [0, 1, 2, 2])


def test_a_difference_within_a_group_is_named():
    X = np.arange(6.0)[:, None]
    pairs = Pairs(X, [[4, 5], [0, 1], [1, 2], [2, 3], [3, 0]])
    with pytest.raises(
        ValueError, match=r"pair 4 says 'different', but .*1, 2, 3 imply"
    ):
        ConstrainedKMeans(n_clusters=3).fit(pairs, [-1, 1, 1, 1, -1])


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_refuted_answers_can_be_dropped(n_clusters):
    X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]])
    index = np.array([[0, 1], [1, 2], [2, 0], [2, 3], [3, 4]])
    t = np.array([1, 1, -1, -1, -1 if n_clusters == 3 else 1])
    model = ConstrainedKMeans(
        n_clusters=n_clusters, on_contradiction="drop", random_state=0
    )
    model.fit(Pairs(X, index), t)
    assert len(model.dropped_) == 1
    kept = np.setdiff1d(np.arange(5), model.dropped_)
    np.testing.assert_array_equal(answers_of(model.labels_, index[kept]), t[kept])


def test_two_clusters_are_assigned_exactly():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        index, t = random_answers(rng, 9, 6, 2)
        constraints = TwoClusters(9, index, t, np.arange(6), drop=False)
        n_groups = constraints.group.max() + 1
        cost = rng.normal(size=(n_groups, 2))
        chosen = constraints.assign(cost, None)
        per_point = (
            cost[constraints.group]
            / np.bincount(constraints.group)[constraints.group, None]
        )
        best = min(
            per_point[np.arange(9), labels].sum()
            for labels in map(np.array, itertools.product([0, 1], repeat=9))
            if (answers_of(labels, index) == t).all()
        )
        np.testing.assert_allclose(cost[np.arange(n_groups), chosen].sum(), best)
        labels = chosen[constraints.group]
        np.testing.assert_array_equal(answers_of(labels, index), t)


def test_a_tie_keeps_the_answers():
    constraints = TwoClusters(
        2, np.array([[0, 1]]), np.array([-1.0]), np.arange(1), drop=False
    )
    assert sorted(constraints.assign(np.zeros((2, 2)), None)) == [0, 1]


@pytest.mark.parametrize("n_clusters", [3, 4])
def test_small_components_of_many_clusters_are_assigned_exactly(n_clusters):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        index, t = random_answers(rng, 6, 7, n_clusters)
        constraints = ManyClusters(6, index, t, np.arange(7), drop=False)
        rows = np.arange(constraints.group.max() + 1)
        cost = rng.random((len(rows), n_clusters))
        chosen = constraints.assign(cost, None)
        best = min(
            cost[rows, labels].sum()
            for labels in map(
                np.array, itertools.product(range(n_clusters), repeat=len(rows))
            )
            if (answers_of(labels[constraints.group], index) == t).all()
        )
        np.testing.assert_allclose(cost[rows, chosen].sum(), best)


def test_an_impossible_set_of_answers_is_named():
    # Four points that all differ, among many harmless answers.
    rng = np.random.default_rng(0)
    harmless = np.stack([np.arange(4, 63), np.arange(5, 64)], axis=1)
    clique = np.array(list(itertools.combinations(range(4), 2)))
    index = np.vstack([harmless, clique, [[3, 4]]])
    pairs = Pairs(rng.normal(size=(64, 2)), index)
    model = ConstrainedKMeans(n_clusters=3, random_state=0)
    with pytest.raises(ValueError, match="no assignment to n_clusters=3") as caught:
        model.fit(pairs, -np.ones(len(index)))
    assert "59, 60, 61, 62, 63, 64 cannot all be" in str(caught.value)
    assert not hasattr(model, "labels_")
    assert (
        ConstrainedKMeans(n_clusters=4).fit(pairs, -np.ones(len(index))).labels_.any()
    )


def hard_colouring():
    """Answers 'different' of 150 points in 3 clusters that are hard to satisfy."""
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=150)
    index = rng.integers(150, size=(900, 2))
    index = index[y[index[:, 0]] != y[index[:, 1]]][:390]
    return index, rng.normal(size=(150, 3))


def test_a_search_that_gets_stuck_is_repaired(monkeypatch):
    index, cost = hard_colouring()
    numbers = np.arange(len(index))
    constraints = ManyClusters(150, index, -np.ones(len(index)), numbers, drop=False)
    monkeypatch.setattr(constraints_module, "MAX_STEPS", 10)
    members = [g for g in range(150) if g in constraints._neighbours]
    assert isinstance(constraints._search(cost[members], members), list)
    labels = constraints.assign(cost, None)
    assert (labels[index[:, 0]] != labels[index[:, 1]]).all()
    # With a valid assignment at hand there is no need for one.
    monkeypatch.setattr(constraints_module, "MAX_MOVES", 0)
    again = constraints.assign(cost, labels)
    assert (again[index[:, 0]] != again[index[:, 1]]).all()
    with pytest.raises(StuckError, match=r"stuck most often at .* pair") as caught:
        constraints.assign(cost, None)
    assert not caught.value.proved


@pytest.mark.parametrize("n_clusters", [2, 5])
def test_the_inertia_never_increases(n_clusters):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        index, t = random_answers(rng, 60, 50, n_clusters)
        model = ConstrainedKMeans(n_clusters=n_clusters, n_init=1, random_state=seed)
        labels = model.fit_predict(X := rng.normal(size=(60, 3)), index, t)
        history = model.history_["inertia"]
        assert np.all(np.diff(history) <= 1e-9 * history[0])
        assert model.n_iter_ == len(history) - 1
        spent = np.sum(
            (X - model.cluster_centers_[np.searchsorted(model.classes_, labels)]) ** 2
        )
        np.testing.assert_allclose(model.inertia_, spent)


@pytest.mark.parametrize("n_clusters", [2, 4])
def test_agrees_with_k_means_where_the_answers_do(n_clusters):
    X, _ = make_blobs(200, centers=n_clusters, random_state=3)
    reference = KMeans(n_clusters, n_init=10, tol=0, random_state=0).fit(X)
    pairs, t = Pairs.sample(X, 60, reference.labels_, random_state=0)
    model = ConstrainedKMeans(n_clusters=n_clusters, tol=0, random_state=0)
    assert same_clustering(model.fit_predict(X, pairs, t), reference.labels_)
    np.testing.assert_allclose(model.inertia_, reference.inertia_)


@pytest.mark.parametrize("n_clusters", [2, 4])
def test_points_without_answers_are_where_predict_puts_them(n_clusters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    index, t = random_answers(rng, 80, 60, n_clusters)
    model = ConstrainedKMeans(n_clusters=n_clusters, random_state=0)
    labels = model.fit_predict(X, index, t)
    free = np.setdiff1d(np.arange(200), index)
    np.testing.assert_array_equal(model.predict(X)[free], labels[free])
    nearest = ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[nearest])


def test_the_score_is_the_difference_of_squared_distances(blobs, blob_pairs):
    X, _ = blobs
    model = ConstrainedKMeans(random_state=0).fit(*blob_pairs)
    squares = ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    np.testing.assert_allclose(
        model.decision_function(X), squares[:, 0] - squares[:, 1]
    )


def test_far_from_the_origin_nothing_changes(blobs, blob_pairs):
    X, _ = blobs
    pairs, t = blob_pairs
    near = ConstrainedKMeans(random_state=0).fit(pairs, t)
    far = ConstrainedKMeans(random_state=0).fit(Pairs(X + 1e7, pairs.index), t)
    np.testing.assert_array_equal(near.labels_, far.labels_)
    np.testing.assert_array_equal(near.predict(X), far.predict(X + 1e7))
    np.testing.assert_allclose(near.inertia_, far.inertia_, rtol=1e-6)


def test_soft_answers_do_not_constrain(blob_pairs):
    pairs, t = blob_pairs
    some = np.arange(len(t)) % 3 == 0
    softened = np.where(some, 0.4 * t, t)
    model = ConstrainedKMeans(random_state=0).fit(pairs, softened)
    left_out = ConstrainedKMeans(random_state=0).fit(
        pairs[~some], t[~some], unlabeled=pairs.X[np.unique(pairs.index[some])]
    )
    np.testing.assert_allclose(model.inertia_, left_out.inertia_)
    with pytest.raises(ValueError, match="no answer is certain"):
        ConstrainedKMeans().fit(pairs, 0.5 * t)


@pytest.mark.parametrize("kind", BOTH)
def test_weights(kind, blob_pairs):
    pairs, t = blob_pairs
    used = np.arange(len(t)) % 4 > 0
    model = kind(random_state=0)
    some = clone(model).fit(pairs, t, sample_weight=used)
    same = clone(model).fit(pairs[used], t[used])
    np.testing.assert_array_equal(some.labels_, same.labels_)
    np.testing.assert_array_equal(some.rows_, np.unique(pairs.index[used]))
    twice = np.concatenate([np.arange(len(t)), np.flatnonzero(used)])
    weighted = clone(model).fit(pairs, t, sample_weight=1.0 + used)
    repeated = clone(model).fit(pairs[twice], t[twice])
    np.testing.assert_array_equal(weighted.labels_, repeated.labels_)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("n_clusters", [2, 3])
def test_order_of_points_and_of_members_does_not_matter(kind, n_clusters):
    X, y = make_blobs(
        150, centers=[[0, 0], [6, 0], [0, 7]][:n_clusters], random_state=0
    )
    pairs, t = Pairs.sample(X, 40, y, random_state=0)
    model = kind(n_clusters=n_clusters, random_state=0)
    labels = clone(model).fit_predict(X, pairs, t)
    swapped = clone(model).fit_predict(X, pairs.index[:, ::-1], t)
    np.testing.assert_array_equal(labels, swapped)
    order = np.random.default_rng(0).permutation(150)
    moved = clone(model).fit_predict(X[order], np.argsort(order)[pairs.index], t)
    # The clusters are named by their place, so not even the names change.
    np.testing.assert_array_equal(labels[order], moved)


@pytest.mark.parametrize("kind", BOTH)
def test_same_seed_same_result(kind, blob_pairs):
    a, b = (kind(random_state=3, majority=1).fit(*blob_pairs) for _ in range(2))
    np.testing.assert_array_equal(a.labels_, b.labels_)
    assert a.assignment_ == b.assignment_


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("n_clusters", [2, 3])
def test_sparse_points(kind, n_clusters, blobs, blob_pairs):
    X, _ = blobs
    pairs, t = blob_pairs
    model = kind(n_clusters=n_clusters, random_state=0)
    dense = clone(model).fit(pairs, t, unlabeled=X[:20])
    table = sparse.csr_array(X)
    thin = clone(model).fit(Pairs(table, pairs.index), t, unlabeled=table[:20])
    assert clustering_error(dense.labels_, thin.labels_) < 0.02
    np.testing.assert_array_equal(thin.predict(table), thin.predict(X))


@pytest.mark.parametrize("kind", BOTH)
def test_an_array_of_pairs_is_the_same_as_pairs(kind, blob_pairs):
    pairs, t = blob_pairs
    a = kind(random_state=0).fit(pairs, t)
    b = kind(random_state=0).fit(np.asarray(pairs), t)
    assert a.score(pairs, t) == pytest.approx(b.score(pairs, t), abs=0.02)


@pytest.mark.parametrize("kind", BOTH)
def test_class_assignment(kind, blobs, blob_pairs):
    X, y = blobs
    pairs, t = blob_pairs
    names = np.array(["ham", "spam"])
    for majority, share in ((1, 0.7), (-1, 0.3)):
        model = kind(classes=("ham", "spam"), majority=majority, random_state=0)
        model.fit(pairs, t)
        assert model.assignment_.n_pairs == 24
        predicted = model.predict(X)
        assert abs(np.mean(predicted == "spam") - share) < 0.15
        labels = names[(y * majority > 0).astype(int)]
        assert np.mean(predicted == labels) > 0.75
        fitted = np.asarray(pairs.X)[model.rows_]
        assert np.mean(model.predict(fitted) == model.labels_) > 0.75
        model.assign_from_points(X, names[(y < 0).astype(int)])
        turned = np.asarray(model.predict(X) == "spam")
        assert np.mean(turned == (y < 0)) > 0.75


@pytest.mark.parametrize("kind", BOTH)
def test_more_than_two_clusters_have_no_score(kind):
    X, y = make_blobs(120, centers=4, cluster_std=0.5, random_state=0)
    pairs, t = Pairs.sample(X, 50, y, random_state=0)
    model = kind(n_clusters=4, random_state=0).fit(pairs, t)
    assert set(model.predict(X)) == {0, 1, 2, 3}
    assert model.score(pairs, t) > 0.95
    assert clustering_error(y, model.predict(X)) < 0.1
    for call in (
        lambda: model.decision_function(X),
        lambda: model.pair_score(pairs),
        lambda: model.assign_from_pairs(pairs, t, majority=1),
        lambda: model.assign_from_points(X, y),
    ):
        with pytest.raises(ValueError, match="n_clusters=4 there is no score"):
            call()
    with pytest.raises(ValueError, match="majority names one of two"):
        kind(n_clusters=4, majority=1).fit(pairs, t)


@pytest.mark.parametrize("kind", BOTH)
def test_fit_predict_is_fit_with_unlabeled_points(kind, blobs):
    X, y = blobs
    index = np.arange(100).reshape(50, 2)
    t = np.where(y[index[:, 0]] == y[index[:, 1]], 1.0, -1.0)
    model = kind(random_state=0)
    labels = clone(model).fit_predict(X, index, t)
    np.testing.assert_array_equal(
        labels, clone(model).fit_predict(X, Pairs(X, index), t)
    )
    fitted = clone(model).fit(Pairs(X, index), t, unlabeled=X[100:])
    np.testing.assert_array_equal(labels, fitted.labels_)
    with pytest.raises(ValueError, match="refer to 200 points, but X holds 300"):
        model.fit_predict(X, Pairs(X[:200], index), t)
    with pytest.raises(ValueError, match=r"pair 49 is \(98, 99\)"):
        model.fit_predict(X[:99], index, t)


@pytest.mark.parametrize("kind", BOTH)
def test_one_kind_of_answers_is_enough_with_unlabeled_points(kind, blobs, blob_pairs):
    X, _ = blobs
    pairs, t = blob_pairs
    for answer in (-1, 1):
        model = kind(random_state=0)
        model.fit(pairs[t == answer], t[t == answer], unlabeled=X[:50])
        assert len(set(model.labels_)) == 2
        assert len(model.labels_) == 2 * np.sum(t == answer) + 50


def test_too_few_groups():
    X = np.arange(6.0)[:, None]
    index = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]
    with pytest.raises(ValueError, match=r"into 2 group\(s\)"):
        ConstrainedKMeans(n_clusters=3).fit(Pairs(X, index), [1, 1, -1, 1, 1])
    for kind in BOTH:
        with pytest.raises(ValueError, match="n_clusters=9, but there are 6 points"):
            kind(n_clusters=9).fit(Pairs(X, index), [1, 1, -1, 1, 1])


def test_an_empty_cluster_moves_to_the_worst_group():
    X = np.array([[0.0], [1.0], [2.0], [50.0], [52.0]])
    constraints = ManyClusters(
        5, np.array([[3, 4]]), np.array([1.0]), np.arange(1), drop=False
    )
    problem = _Problem.of(X, constraints)
    clusters = np.zeros(4, dtype=int)
    start = np.zeros((2, 1)) - problem.shift
    centres = problem._centres(clusters, start) + problem.shift
    np.testing.assert_allclose(centres, [[X.mean()], [51.0]])


def test_no_convergence_says_so(blobs):
    X, _ = blobs
    index, t = np.array([[0, 1]]), np.array([1])
    model = ConstrainedKMeans(max_iter=1, n_init=1, tol=0, random_state=0)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model.fit_predict(X, index, t)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ConstrainedKMeans(n_clusters=1), "n_clusters must be a whole number"),
        (ConstrainedKMeans(n_init=0), "n_init"),
        (ConstrainedKMeans(max_iter=1.5), "max_iter"),
        (ConstrainedKMeans(tol=-1), "tol"),
        (ConstrainedKMeans(on_contradiction="ask"), "'raise', 'drop'"),
        (ConstrainedKMeans(majority=0), "prior 1/2"),
        (ConstrainedKMeans(classes=(1, 1)), "2 classes"),
        (ConstrainedSpectralClustering(n_neighbors=0), "n_neighbors"),
        (ConstrainedSpectralClustering(propagation=1.0), "below 1"),
        (ConstrainedSpectralClustering(propagation=-0.1), "at least 0"),
    ],
)
def test_parameters(model, message, blob_pairs):
    with pytest.raises(ValueError, match=message):
        model.fit(*blob_pairs)


@pytest.mark.parametrize("kind", BOTH)
def test_in_a_pipeline(kind, blobs, blob_pairs):
    X, y = blobs
    pipe = make_pair_pipeline(StandardScaler(), kind(random_state=0)).fit(*blob_pairs)
    assert clustering_error(y, pipe.predict(X)) < 0.25


def test_spectral_on_the_common_task(common):
    X, y, X_test, y_test = common
    pairs, t = Pairs.sample(X, 999, y, random_state=0)
    model = ConstrainedSpectralClustering(random_state=0)
    model.fit(pairs, t, unlabeled=X_test)
    joined = model.labels_[-len(X_test) :]
    assert clustering_error(y_test, joined) <= 0.10
    # A fitted point keeps its label.
    np.testing.assert_array_equal(model.predict(X_test), joined)


def test_spectral_follows_shapes_that_k_means_cannot():
    X, y = make_moons(600, noise=0.1, random_state=0)
    pairs, t = Pairs.sample(X, 60, y, random_state=0)
    model = ConstrainedSpectralClustering(majority=None, random_state=0)
    assert clustering_error(y, model.fit_predict(X, pairs, t)) < 0.02
    fresh, y_fresh = make_moons(300, noise=0.1, random_state=1)
    assert clustering_error(y_fresh, model.predict(fresh)) < 0.02
    scores = model.decision_function(fresh)
    assert np.abs(scores).max() <= 1 + 1e-12


def test_answers_decide_where_the_graph_does_not():
    # Four groups at the corners of a square; only the answers say which two belong.
    X, corner = make_blobs(
        400, centers=[[0, 0], [9, 9], [0, 9], [9, 0]], random_state=0
    )
    for y in (corner // 2, corner % 2):
        pairs, t = Pairs.sample(X, 80, y, random_state=0)
        model = ConstrainedSpectralClustering(random_state=0)
        assert clustering_error(y, model.fit_predict(X, pairs, t)) < 0.02


def test_an_island_of_outliers_is_not_a_cluster():
    rng = np.random.default_rng(0)
    X, y = make_blobs(300, centers=[[0, 0], [6, 0]], random_state=0)
    X = np.vstack([X, rng.normal(size=(7, 2)) * 0.01 + [0, 500]])
    pairs, t = Pairs.sample(X[:300], 40, y, random_state=0)
    model = ConstrainedSpectralClustering(random_state=0)
    labels = model.fit_predict(X, pairs.index, t)
    assert clustering_error(y, labels[:300]) < 0.05


def test_many_equal_points(blobs):
    X, y = blobs
    table = np.repeat(np.round(X[:40]), 8, axis=0)
    pairs, t = Pairs.sample(table, 60, np.repeat(y[:40], 8), random_state=0)
    model = ConstrainedSpectralClustering(random_state=0)
    assert len(set(model.fit_predict(table, pairs, t))) == 2
    assert np.isfinite(model.affinity_matrix_.data).all()
    assert np.isfinite(model.decision_function(table)).all()


@pytest.mark.parametrize("propagation", [0.0, 0.5, 0.95])
def test_propagation_is_the_formula(propagation, blobs):
    X, y = blobs
    n = 60
    pairs, t = Pairs.sample(X[:n], 15, y[:n], random_state=0)
    nearest = ConstrainedSpectralClustering(random_state=0)
    nearest.fit_predict(X[:n], pairs, t)
    W = _neighbour_graph(nearest._neighbours)
    Z = sparse.coo_array((t, pairs.index.T), shape=(n, n))
    adjusted = _adjust(W, Z, propagation).toarray()

    dense = W.toarray()
    root = 1 / np.sqrt(dense.sum(axis=1))
    inverse = np.linalg.inv(np.eye(n) - propagation * dense * np.outer(root, root))
    F = inverse @ (Z + Z.T).toarray() @ inverse
    F = np.clip(F / np.abs(F[pairs.left, pairs.right]).mean(), -1, 1)
    expected = np.where(F >= 0, 1 - (1 - F) * (1 - dense), (1 + F) * dense)
    used = adjusted != 0
    np.testing.assert_allclose(adjusted[used], expected[used], atol=1e-5)
    assert used[dense > 0].all()
    assert used[pairs.left[t > 0], pairs.right[t > 0]].all()
    np.testing.assert_array_equal(adjusted, adjusted.T)


def test_the_graph_is_the_formula(blobs):
    X, _ = blobs
    model = ConstrainedSpectralClustering(n_neighbors=4, random_state=0)
    model.fit_predict(X[:30], [[0, 1], [2, 3]], [1, -1])
    W = _neighbour_graph(model._neighbours).toarray()
    distance = np.linalg.norm(X[:30, None] - X[:30], axis=2)
    scale = np.sort(distance, axis=1)[:, 4]
    linked = distance <= np.maximum(scale[:, None], scale)
    np.fill_diagonal(linked, False)
    expected = np.where(linked, np.exp(-(distance**2) / np.outer(scale, scale)), 0)
    np.testing.assert_allclose(W, expected, atol=1e-12)


@pytest.mark.parametrize("a", [0.0, 0.3, 0.9, 0.99])
def test_solve(a):
    rng = np.random.default_rng(0)
    W = np.abs(rng.normal(size=(20, 20)))
    W += W.T
    S = W / np.sqrt(np.outer(W.sum(axis=1), W.sum(axis=1)))
    b = rng.normal(size=(20, 3))
    expected = np.linalg.solve(np.eye(20) - a * S, b)
    np.testing.assert_allclose(
        _solve(S, a, b), expected, atol=1e-4 * abs(expected).max()
    )
