"""The learner for few answers about many points."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import pairlearn
from pairlearn import Pairs
from pairlearn.models.pool.classifier import PoolClassifier, learn
from pairlearn.models.pool.neighbours import Pool


def clumps(n_classes, rng, n_each=40):
    angle = 2 * np.pi * np.arange(n_classes) / n_classes
    middle = 5 * np.c_[np.cos(angle), np.sin(angle)]
    y = np.repeat(np.arange(n_classes), n_each)
    return middle[y] + rng.normal(size=(len(y), 2)), y


def star(y, points, hubs, rng, flip=0.0):
    index = np.array([(i, h) for i in points for h in hubs if i != h])
    t = np.where(y[index[:, 0]] == y[index[:, 1]], 1.0, -1.0)
    t[rng.random(len(t)) < flip] *= -1
    return index, t


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("known", [True, False])
def test_few_answers_are_enough_for_clumps(n_classes, known):
    rng = np.random.default_rng(n_classes)
    X, y = clumps(n_classes, rng)
    hubs = np.arange(n_classes) * 40
    index, t = star(y, [*hubs, *hubs + 1], hubs, rng)
    asked = n_classes if known else None
    found = learn(Pool(X), index, t, n_classes=asked, noise=None)
    assert adjusted_rand_score(y, found.probability.argmax(axis=1)) > 0.95
    new, y_new = clumps(n_classes, rng)
    assert adjusted_rand_score(y_new, found.model.predict(new)) > 0.95
    p = found.model.predict_proba(new)
    assert p.shape == (len(new), n_classes)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    own = found.model.predict_proba(X)
    np.testing.assert_allclose(own, found.probability, atol=1e-5)


def test_wrong_answers_are_found_by_neighbours():
    rng = np.random.default_rng(0)
    X, y = clumps(3, rng)
    index, t = star(y, np.arange(0, 120, 4), [0, 40, 80], rng)
    wrong = np.array([10, 31, 52])
    t[wrong] *= -1
    found = learn(Pool(X), index, t, n_classes=3, noise="auto")
    assert set(np.argsort(found.beliefs.suspicion)[-3:]) == set(wrong)
    assert 0.005 < found.model.noise_ < 0.15
    assert adjusted_rand_score(y, found.model.predict(X)) > 0.95


def test_one_kind_of_answer_will_do():
    rng = np.random.default_rng(0)
    X, _ = clumps(2, rng)
    for answer in (1.0, -1.0):
        found = learn(Pool(X), [(0, 1)], [answer], n_classes=2)
        assert np.isfinite(found.probability).all()


def test_saved_and_loaded_it_says_the_same(tmp_path):
    rng = np.random.default_rng(0)
    X, y = clumps(3, rng)
    index, t = star(y, np.arange(0, 120, 10), [0, 40, 80], rng)
    model = learn(Pool(X), index, t, n_classes=3, random_state=0).model
    pairlearn.save(model, tmp_path / "model.pairlearn")
    again = pairlearn.load(tmp_path / "model.pairlearn")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_the_same_seed_gives_the_same_model():
    rng = np.random.default_rng(0)
    X, y = clumps(3, rng)
    index, t = star(y, np.arange(0, 120, 10), [0, 40, 80], rng, flip=0.1)
    fits = [
        PoolClassifier(n_classes=3, random_state=7)
        .fit(Pairs(X, index), t, unlabeled=X)
        .predict_proba(X)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*fits)


def test_fit_names_classes_by_points_and_draws_of_many():
    rng = np.random.default_rng(0)
    X, y = clumps(3, rng)
    index, t = star(y, np.arange(0, 120, 10), [0, 40, 80], rng)
    names = ("a", "b", "c")
    model = PoolClassifier(n_classes=3, classes=names, max_points=60, random_state=0)
    model.fit(Pairs(X, index), t, unlabeled=X)
    model.assign_from_points(X[::20], np.array(names)[y[::20]])
    assert np.mean(model.predict(X) == np.array(names)[y]) > 0.95


def test_weights_of_zero_leave_pairs_out():
    rng = np.random.default_rng(0)
    X, y = clumps(2, rng)
    index, t = star(y, np.arange(0, 80, 8), [0, 40], rng)
    weight = np.ones(len(t))
    weight[::3] = 0
    kept = weight > 0
    t_wrong = np.where(kept, t, -t)
    fits = [
        PoolClassifier(random_state=0).fit(Pairs(X, index[kept]), t[kept]),
        PoolClassifier(random_state=0).fit(Pairs(X, index), t_wrong, weight),
    ]
    np.testing.assert_allclose(*(fit.predict_proba(X) for fit in fits), atol=1e-8)


def test_points_that_are_all_the_same_say_nothing():
    X = np.ones((20, 3))
    found = learn(Pool(X), [(0, 1), (1, 2)], [1, -1], n_classes=2)
    assert np.ptp(found.probability, axis=0).max() < 1e-9


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_classes": 1}, "n_classes"),
        ({"noise": 0.7}, "noise"),
        ({"max_points": 0}, "max_points"),
    ],
)
def test_wrong_parameters_are_refused(wrong, message):
    X = np.random.default_rng(0).normal(size=(6, 2))
    with pytest.raises(ValueError, match=message):
        PoolClassifier(**wrong).fit(Pairs(X, [(0, 1), (2, 3)]), [1, -1])


def test_straight_models_have_smaller_weights_where_answers_are_wrong():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    pairs = Pairs(X, [(0, k) for k in range(1, 20)])
    scales = {}
    for noise in (None, 0.03, 0.09):
        model = PoolClassifier(noise=noise, random_state=0)
        model.fit(pairs, pairs.answers(y), unlabeled=X)
        for member in model._ensemble.members:
            name = member.feature_map.kernel.name
            scales.setdefault(name, []).append(float(member.scales[0]))
    # Two views of each noise; bent models are as they were.
    assert scales["linear"] == pytest.approx([8, 8, 4, 4, 2, 2])
    assert set(scales["rbf"]) == {16.0}
