"""Clusterings from pairs: constraints hold, steps are exact, answers are used."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from pairlearn import (
    ConstrainedKMeans,
    ConstrainedSpectralClustering,
    Pairs,
    clustering_error,
    make_pair_pipeline,
)
from pairlearn.models.cluster.constraints import ManyClusters
from pairlearn.models.cluster.kmeans import _Problem
from tests.support.clusterings import answers_of, random_answers

BOTH = [ConstrainedKMeans, ConstrainedSpectralClustering]


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
@pytest.mark.filterwarnings("ignore:the .* pairs for class assignment do not show")
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
