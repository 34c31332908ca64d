"""A model remembers the points it was trained on, and `certify` asks it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from pairlearn import (
    CIPSClassifier,
    PairClassifier,
    PairKFold,
    Pairs,
    SLLCClassifier,
    certify,
    load,
    make_pair_pipeline,
    save,
)
from pairlearn.data import row_hashes
from pairlearn.data.checks import check_groups
from pairlearn.data.row_hashes import known_groups, known_rows, remember
from tests.support.estimators import ESTIMATORS


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.6, 1, -1)
    X = rng.normal(size=(400, 3)) + y[:, None]
    return Pairs.sample(X, 200, y, random_state=0)


def test_training_pairs_are_refused(task):
    pairs, t = task
    clf = CIPSClassifier().fit(pairs[:100], t[:100])
    with pytest.raises(ValueError, match="each of the 100 pairs has a point that eq"):
        certify(clf, pairs[:100], t[:100])
    assert certify(clf, pairs[100:], t[100:]).unseen is True


def test_some_training_pairs_make_the_interval_cover_both(task):
    pairs, t = task
    clf = CIPSClassifier().fit(pairs[:100], t[:100])
    fresh = certify(clf, pairs[100:], t[100:])
    with pytest.warns(UserWarning, match="100 of 200 pairs have a point that equals"):
        found = certify(clf, pairs, t)
    assert found.unseen is False
    assert found.n_pairs == 100
    assert found.clustering_interval[0] <= fresh.clustering_interval[0]
    assert found.clustering_interval[1] >= fresh.clustering_interval[1]


def test_pipelines_searches_and_files_remember(task, tmp_path):
    pairs, t = task
    pipeline = make_pair_pipeline(StandardScaler(), CIPSClassifier())
    search = GridSearchCV(pipeline, {"cipsclassifier__alpha": [0.1]}, cv=PairKFold(2))
    for model in (pipeline, search):
        model.fit(pairs[:100], t[:100])
        with pytest.raises(ValueError, match="each of the 100 pairs"):
            certify(model, pairs[:100], t[:100])
    save(pipeline, tmp_path / "m.skops")
    again = load(tmp_path / "m.skops")
    with pytest.raises(ValueError, match="each of the 100 pairs"):
        certify(again, pairs[:100], t[:100])
    assert certify(again, pairs[100:], t[100:]).unseen is True


def test_rows_are_known_again_in_every_form(task):
    pairs = task[0]
    X = np.where(np.abs(pairs.X) < 0.05, 0.0, pairs.X)
    memory = remember(X, np.arange(0, len(X), 2))
    expected = np.arange(len(X)) % 2 == 0
    for same in (X, X.astype(np.float32), sparse.csr_array(X), X * (1 + 1e-12)):
        np.testing.assert_array_equal(known_rows(memory, same), expected)
    other = X.copy()
    other[:, 2] *= 1.001
    assert not known_rows(memory, other[np.abs(other[:, 2]) > 0]).any()
    # Another salt for other points, so that two models have nothing in common.
    again = remember(X, np.arange(0, len(X), 3))
    assert memory["salt"] != again["salt"]
    assert len(np.intersect1d(memory["hashes"], again["hashes"])) == 0


def test_dense_and_sparse_models_know_the_same_points(task):
    pairs, t = task
    clf = CIPSClassifier().fit(pairs[:100], t[:100])
    rows = Pairs(sparse.csr_array(pairs.X), pairs.index)
    with pytest.raises(ValueError, match="each of the 100 pairs"):
        certify(clf, rows[:100], t[:100])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_remembers(task, name):
    pairs, t = task
    clf = clone(ESTIMATORS[name]).fit(pairs[:100], t[:100])
    assert known_rows(clf._training_points, pairs[:100].compact().X).all()
    assert not known_rows(clf._training_points, pairs[100:].compact().X).any()


def test_what_is_not_known_is_not_said(task, monkeypatch):
    pairs, t = task
    monkeypatch.setattr(row_hashes, "MOST_REMEMBERED", 50)
    clf = CIPSClassifier().fit(pairs[:100], t[:100])
    assert certify(clf, pairs[100:], t[100:]).unseen is None
    with pytest.warns(UserWarning, match="remembers only some of the points"):
        found = certify(clf, pairs[:120], t[:120])
    assert found.n_doubtful > 0
    assert found.unseen is None


def test_rows_that_repeat_by_nature_are_left_to_their_numbers():
    """Twelve kinds of rows: that one was seen in training says nothing."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.6, 1, -1)
    X = np.stack([np.where(rng.random(400) < 0.9, y, -y), rng.integers(6, size=400)], 1)
    pairs, t = Pairs.sample(X.astype(float), 200, y, random_state=0)
    clf = CIPSClassifier().fit(pairs[:100], t[:100])
    with pytest.warns(UserWarning, match="rows repeat in these data"):
        found = certify(clf, pairs[100:], t[100:])
    assert found.unseen is None
    assert found.n_pairs == 100


def test_points_that_are_there_three_times_widen_the_interval():
    rng = np.random.default_rng(0)
    y = np.repeat(np.where(rng.random(200) < 0.6, 1, -1), 3)
    X = np.repeat(rng.normal(size=(200, 3)), 3, axis=0) + y[:, None]
    pairs, t = Pairs.sample(X, 300, y, random_state=0)
    clf = CIPSClassifier().fit(pairs[:60], t[:60])
    with pytest.warns(UserWarning, match="have a point that equals"):
        found = certify(clf, pairs[60:], t[60:])
    assert found.n_doubtful > 50
    assert found.unseen is False


def test_repeated_points_of_an_array_are_noticed():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(40) < 0.6, 1, -1)
    X = rng.normal(size=(40, 2)) + 2 * y[:, None]
    left = rng.integers(40, size=200)
    index = np.stack([left, (left + rng.integers(1, 40, 200)) % 40], axis=1)
    t = y[index].prod(axis=1)

    class Sign:
        def predict(self, X):
            return np.asarray(X).sum(axis=1) > 0

    with pytest.warns(UserWarning, match="or one of another pair"):
        found = certify(Sign(), X[index], t)
    assert found.n_pairs <= 20
    with pytest.warns(UserWarning, match="pairs share a point with another"):
        numbered = certify(Sign(), Pairs(X, index), t)
    assert numbered.n_pairs <= 20


class TestGroups:
    def world(self, seed=0, n_things=120, n_rows=8):
        rng = np.random.default_rng(seed)
        y = np.where(rng.random(n_things) < 0.5, 1, -1)
        thing = np.repeat(np.arange(n_things), n_rows)
        centres = rng.normal(size=(n_things, 6)) + 0.3 * y[:, None]
        X = centres[thing] + 0.02 * rng.normal(size=(len(thing), 6))
        pairs = Pairs(X, rng.permutation(len(X)).reshape(-1, 2)[:400])
        return pairs, pairs.answers(y[thing]), thing

    def test_folds_share_no_group(self):
        pairs, t, thing = self.world()
        split = PairKFold(3, shuffle=True, random_state=0)
        for train, test in split.split(pairs, t, groups=thing):
            there = set(thing[pairs.index[train]].ravel())
            assert not there & set(thing[pairs.index[test]].ravel())

    def test_certify_counts_a_group_once(self):
        pairs, t, thing = self.world()

        class Sign:
            def predict(self, X):
                return np.asarray(X).sum(axis=1) > 0

        with pytest.warns(UserWarning, match="pairs share a group with another"):
            found = certify(Sign(), pairs, t, groups=thing)
        assert found.n_pairs <= 60
        with pytest.warns(UserWarning, match="pairs share a group with another"):
            same = certify(Sign(), pairs, t, groups=thing[pairs.index])
        assert same == found

    @pytest.mark.usefixtures("quick")
    def test_folds_of_the_default_do_not_learn_groups_by_heart(self):
        """What is learned of a thing shows in its other rows, unless they are apart."""
        pairs, t, thing = self.world(n_things=200, n_rows=6)
        pairs, t = pairs[:150], t[:150]
        blind = PairClassifier(random_state=0).fit(pairs, t)
        aware = PairClassifier(random_state=0).fit(pairs, t, groups=thing)
        assert aware.certificate_.n_pairs < blind.certificate_.n_pairs
        by_pair = PairClassifier(random_state=0)
        by_pair.fit(pairs, t, groups=thing[pairs.index])
        assert by_pair.certificate_ == aware.certificate_

    @pytest.mark.usefixtures("quick")
    def test_models_remember_their_groups(self):
        pairs, t, thing = self.world(n_things=200, n_rows=6)
        clf = PairClassifier(random_state=0).fit(pairs[:60], t[:60], groups=thing)
        with pytest.raises(ValueError, match="trained on points of the groups of all"):
            certify(clf, pairs[:60], t[:60], groups=thing)
        with pytest.warns(UserWarning, match="share a group"):
            found = certify(clf, pairs[60:], t[60:], groups=thing)
        assert found.unseen is True
        old = set(thing[pairs.index[:60]].ravel())
        new = [not old & set(row) for row in thing[pairs.index[60:]].tolist()]
        assert found.n_pairs <= sum(new)
        blind = PairClassifier(random_state=0).fit(pairs[:60], t[:60])
        with (
            pytest.warns(UserWarning, match="does not remember of whom"),
            pytest.warns(UserWarning, match="share a group"),
        ):
            assert certify(blind, pairs[60:], t[60:], groups=thing).unseen is None

    def test_frequent_groups_are_not_left_out_of_the_count(self):
        """A third of all rows are of few things, about which the classifier errs."""
        rng = np.random.default_rng(0)
        held = 0
        for _ in range(30):
            thing = np.where(
                rng.random(800) < 0.3, rng.integers(10, size=800), 10 + np.arange(800)
            )
            y = rng.random(810) < 0.5
            errs = rng.random(810) < np.where(np.arange(810) < 10, 0.4, 0.02)
            says = (y ^ errs)[thing]
            pairs = Pairs(
                np.stack([says, rng.random(800)], 1), np.arange(800).reshape(-1, 2)
            )

            class First:
                def predict(self, X):
                    return X[:, 0]

            with pytest.warns(UserWarning, match="share a group"):
                found = certify(First(), pairs, pairs.answers(y[thing]), groups=thing)
            truth = np.mean(errs[thing])
            low, high = found.clustering_interval
            held += low <= truth <= high
        assert held >= 27

    @pytest.mark.usefixtures("quick")
    def test_whole_numbers_are_one_name_in_every_form(self):
        """Groups come back as floats from a column with gaps; gaps are no group."""
        pairs, t, thing = self.world(n_things=200, n_rows=6)
        gaps = np.where(np.arange(len(thing)) % 5 == 0, np.nan, thing)
        clf = PairClassifier(random_state=0).fit(pairs[:60], t[:60], groups=gaps)
        some = np.flatnonzero(~np.isnan(gaps[pairs.index[:60]]).any(axis=1))
        for names in (thing, thing.astype(float), thing.astype(str)):
            with pytest.raises(ValueError, match="of the groups of all pairs"):
                certify(clf, pairs[some], t[some], groups=names)
        assert not known_groups(clf._training_points, [None, np.nan, pd.NA, ""]).any()
        mixed = np.array([7, 7.0, "7", None, None], dtype=object)
        found = check_groups(mixed, np.array([[0, 1], [1, 2], [3, 4]]), 5)
        assert (found[:, 0] == found[:, 1]).tolist() == [True, True, False]

    @pytest.mark.usefixtures("quick")
    def test_a_model_with_groups_asks_for_them(self):
        pairs, t, thing = self.world(n_things=200, n_rows=6)
        clf = PairClassifier(random_state=0).fit(pairs[:60], t[:60], groups=thing)
        with pytest.warns(UserWarning, match="was trained with groups"):
            assert certify(clf, pairs[60:], t[60:]).unseen is None


class TestRounded:
    def digits(self, X, n):
        return np.array([[float(f"{x:.{n}g}") for x in row] for row in X])

    def test_rows_that_come_back_with_six_digits_are_known(self, task):
        pairs, t = task
        X = pairs.X * [1e-3, 1.0, 1e6]
        pairs = Pairs(X, pairs.index)
        clf = CIPSClassifier().fit(pairs[:100], t[:100])
        for again in (self.digits(X, 6), sparse.csr_array(self.digits(X, 6))):
            with pytest.raises(ValueError, match="each of the 100 pairs"):
                certify(clf, Pairs(again, pairs.index[:100]), t[:100])
            assert certify(clf, Pairs(again, pairs.index[100:]), t[100:]).unseen is True

    @pytest.mark.parametrize("n_columns", [1, 2, 10])
    def test_no_false_alarms(self, n_columns):
        rng = np.random.default_rng(0)
        # Of many more numbers in one column some are equal.
        n = 20_000 if n_columns > 1 else 1000
        memory = remember(rng.normal(size=(n, n_columns)), np.arange(n))
        assert not known_rows(memory, rng.normal(size=(n, n_columns))).any()

    def test_rows_too_close_to_be_told_apart_are_compared_exactly(self):
        """Seconds since 1970 within a day."""
        X = 1.7e9 + 128.0 * np.arange(600)[:, None]
        memory = remember(X, np.arange(0, 600, 2))
        np.testing.assert_array_equal(known_rows(memory, X), np.arange(600) % 2 == 0)

    def test_forgotten_points_are_forgotten(self, task):
        X = task[0].X
        memory = row_hashes.forget(remember(X, np.arange(len(X))), X[:50])
        assert not known_rows(memory, self.digits(X[:50], 6)).any()
        assert known_rows(memory, self.digits(X[50:], 6)).all()


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("make", [PairClassifier, SLLCClassifier])
def test_labelled_points_are_training_points(task, make):
    pairs, t = task
    rows = pairs.index[100:].ravel()
    y = np.where(pairs.X[rows].sum(axis=1) > 0, 1, -1)
    clf = make(random_state=0).fit(pairs[:100], t[:100], labeled=(pairs.X[rows], y))
    with pytest.raises(ValueError, match="each of the 100 pairs"):
        certify(clf, pairs[100:], t[100:])
