"""Several classes, and how many there are."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_moons

from pairlearn import PairClassifier, Pairs
from pairlearn.models.auto.groups import Regression, SoftmaxObjective, find_groups
from pairlearn.models.auto.kinds import Kinds, KindsTried, _smallest
from pairlearn.models.auto.likelihood import PairLikelihood
from pairlearn.models.auto.path import PathObjective
from pairlearn.trust.assignment import match_classes
from tests.support.model_files import round_trip


def auto(**parameters):
    return PairClassifier(n_classes="auto", random_state=0, **parameters)


def accuracy(y, predicted, n):
    table = [[np.sum((y == a) & (predicted == b)) for b in range(n)] for a in range(n)]
    return np.array(table)[np.arange(n), match_classes(table)].sum() / len(y)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    pairs, t = Pairs.sample(X, 300, y, reuse=True, random_state=0)
    return X, y, pairs, t, auto(n_components=40).fit(pairs, t)


def test_three_kinds_of_wine_are_found(wine):
    X, y, _, _, clf = wine
    assert clf.n_classes_ == 3
    assert clf.classes_.tolist() == [0, 1, 2]
    assert accuracy(y, clf.predict(X), 3) > 0.96
    assert clf.predict_proba(X[:5]).shape == (5, 3)
    assert clf.certificate_ is None
    counts = np.bincount(clf.predict(X))
    assert np.all(np.diff(counts) <= 0)


def test_the_table_says_why(wine):
    kinds = wine[-1].kinds_
    assert kinds.chosen == 3
    assert [row.n_classes for row in kinds if row.chosen] == [3]
    assert "answers are 'different'" in kinds.reason
    assert "3" in repr(kinds)
    assert "chosen" in repr(kinds)
    assert kinds.to_dict()[0]["n_classes"] == kinds[0].n_classes


def test_what_was_found_is_saved(wine, tmp_path):
    X, *_, clf = wine
    again = round_trip(clf, tmp_path)
    assert again.n_classes_ == 3
    assert repr(again.kinds_) == repr(clf.kinds_)
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))


def test_names_from_a_few_points(wine):
    X, y, pairs, t, _ = wine
    clf = auto(n_components=40).fit(pairs, t)
    clf.assign_from_points(X[::20], y[::20])
    assert np.mean(clf.predict(X) == y) > 0.96
    with pytest.raises(ValueError, match="assign_from_points"):
        clf.assign_from_pairs(pairs, t, majority=1)


def test_the_order_of_points_in_pairs_does_not_matter(wine):
    X, _, pairs, t, clf = wine
    turned = Pairs(X, pairs.index[:, ::-1])
    other = auto(n_components=40).fit(turned, t)
    assert other.n_classes_ == 3
    assert np.mean(other.predict(X) == clf.predict(X)) > 0.98


def test_a_bar_shows_the_candidates(wine, capsys):
    _, _, pairs, t, _ = wine
    settings = {"n_components": 10, "n_folds": 2, "random_state": 0}
    PairClassifier(n_classes=3, progress=True, **settings).fit(pairs, t)
    shown = capsys.readouterr().err
    assert "PairClassifier [####################] 8/8" in shown


def test_three_kinds_of_iris_are_found_despite_wrong_answers():
    X, y = load_iris(return_X_y=True)
    pairs, t = Pairs.sample(X, 400, y, reuse=True, random_state=1)
    t = np.where(np.random.RandomState(0).random_sample(400) < 0.05, -t, t)
    clf = auto(n_components=40).fit(pairs, t)
    assert clf.n_classes_ == 3
    assert accuracy(y, clf.predict(X), 3) > 0.95


@pytest.mark.parametrize(("name", "wrong"), [("cancer", 0.05), ("moons", 0.0)])
def test_two_kinds_give_the_model_of_two(name, wrong):
    X, y = (
        load_breast_cancer(return_X_y=True)
        if name == "cancer"
        else make_moons(500, noise=0.15, random_state=0)
    )
    pairs, t = Pairs.sample(X, 200, y, reuse=True, random_state=0)
    t = np.where(np.random.RandomState(0).random_sample(200) < wrong, -t, t)
    settings = {"n_components": 30, "n_folds": 3, "random_state": 0}
    two = PairClassifier(n_classes=2, **settings).fit(pairs, t)
    found = PairClassifier(n_classes="auto", **settings).fit(pairs, t)
    assert found.n_classes_ == 2
    assert np.array_equal(found.decision_function(X), two.decision_function(X))
    assert found.classes_.tolist() == [-1, 1]
    assert two.kinds_ is None
    assert found.kinds_.chosen == 2
    assert found.flip_rates_ == two.flip_rates_


class TestParameters:
    def test_clone_keeps_auto(self):
        clf = clone(auto())
        assert clf.get_params()["n_classes"] == "auto"
        assert clf.set_params(n_classes=4).n_classes == 4

    def test_classes_say_how_many(self, wine):
        X, _, pairs, t, _ = wine
        clf = auto(classes=("a", "b", "c"), n_components=10, n_folds=2).fit(pairs, t)
        assert clf.n_classes_ == 3
        assert clf.kinds_ is None
        assert set(clf.predict(X)) <= {"a", "b", "c"}

    def test_majority_is_for_two(self, wine):
        _, _, pairs, t, _ = wine
        with pytest.warns(UserWarning, match="speak for 3 classes"):
            auto(majority=1, n_components=10, n_folds=2).fit(pairs, t)
        with pytest.raises(ValueError, match="assign_from_points"):
            auto(majority="a", classes=("a", "b", "c")).fit(pairs, t)

    def test_labelled_points_need_a_number(self, wine):
        X, y, pairs, t, _ = wine
        with pytest.raises(ValueError, match="their number must be known"):
            auto().fit(pairs, t, labeled=(X[:3], y[:3]))

    def test_no_other_word(self, wine):
        _, _, pairs, t, _ = wine
        with pytest.raises(ValueError, match="n_classes"):
            PairClassifier(n_classes="many").fit(pairs, t)

    def test_another_fit_may_find_another_number(self, wine):
        X, y, pairs, t, _ = wine
        clf = auto(n_components=10, n_folds=2).fit(pairs, t)
        clf.fit(pairs, pairs.answers(y > 0))
        assert clf.n_classes_ == 2
        assert clf.decision_function(X).ndim == 1


def answers_about(n_classes, n_pairs=60, n_points=40, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_points)
    centres = 3 * rng.normal(size=(n_classes, 5))
    Z = (centres[y] + 0.3 * rng.normal(size=(n_points, 5))).astype(np.float32)
    Z /= np.sqrt((Z**2).sum(axis=1).mean())
    index = rng.integers(n_points, size=(n_pairs, 2))
    index = index[index[:, 0] != index[:, 1]]
    same = (y[index[:, 0]] == y[index[:, 1]]).astype(float)[:, None]
    same = np.repeat(same, 2, axis=1)
    return Z, y, PairLikelihood(index, same, 1 - same, n_points, (0.95, 0.05))


def test_single_precision_changes_little():
    Z, _, likelihood = answers_about(3)
    models = np.arange(2)
    exact = PathObjective(Z.astype(float), likelihood, 3, 4.0, models)
    rounded = SoftmaxObjective(Z, likelihood, 3, 4.0, models)
    u = np.random.default_rng(1).normal(size=(2, 18))
    (a, b), (c, d) = exact(u, models), rounded(u, models)
    np.testing.assert_allclose(a, c, rtol=1e-5)
    np.testing.assert_allclose(b, d, atol=1e-4)
    for k in (0, 1):
        only = np.array([k])
        error = check_grad(
            lambda v, k=only: exact(v[None], k)[0][0],
            lambda v, k=only: exact(v[None], k)[1][0],
            u[k],
        )
        assert error < 1e-4


def test_large_scores_do_not_overflow():
    _, _, likelihood = answers_about(3)
    scores = np.random.default_rng(0).normal(size=(40, 2, 3)) * 500
    for dtype in (float, np.float32):
        risk, slope = likelihood(scores.astype(dtype), np.arange(2))
        assert np.isfinite(risk).all()
        assert np.isfinite(slope).all()


def test_groups_are_merged_to_the_classes():
    Z, y, likelihood = answers_about(4, n_pairs=300, n_points=100)
    values = {}
    for n, w, value in find_groups(Z, likelihood, 7, 2, np.random.RandomState(0)):
        assert w.shape == (2, n, 6)
        values[n] = value[0]
        if n == 4:
            group = (Z @ w[0, :, :-1].T + w[0, :, -1]).argmax(axis=1)
            assert accuracy(y, group, 4) > 0.95
    assert list(values) == [7, 6, 5, 4, 3, 2]
    assert values[3] - values[4] > 10 > 5 > values[4] - values[7]


def test_a_regression_gives_back_groups():
    Z, y, _ = answers_about(3)
    p = np.eye(3, dtype=np.float32)[y][:, None]
    w = Regression(Z)(p)
    group = (Z @ w[0, :, :-1].T + w[0, :, -1]).argmax(axis=1)
    assert np.mean(group == y) > 0.95


def test_the_smallest_number_that_is_good_enough_is_chosen():
    # J and the mean log-likelihood of held-out answers; 100 answers, mu = 4.
    tried = {2: (90.0, -0.9), 3: (30.0, -0.3), 4: (29.0, -0.1), 5: (20.0, -0.4)}
    assert _smallest(tried, 4.0, 100.0) == 3
    del tried[3]
    assert _smallest(tried, 4.0, 100.0) == 4
    assert _smallest({2: (10.0, -0.5), 3: (9.0, -0.5)}, 4.0, 100.0) == 2


def test_a_table_of_two_kinds_alone():
    kinds = Kinds([KindsTried(2, None, -0.25, True)], "no answers speak against it")
    assert len(kinds) == 1
    assert kinds.chosen == 2
    assert repr(kinds).splitlines()[1].split() == ["2", "-0.2500", "chosen"]
