"""PairClassifier and people who err differently."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from pairlearn import (
    PairClassifier,
    Pairs,
    clustering_error,
    load,
    make_pair_pipeline,
    save,
)
from pairlearn.models.auto.likelihood import PairLikelihood
from pairlearn.models.auto.problem import Problem
from tests.conftest import make_quick


def crowd(accuracy, seed=0, n_new=260, n_again=60, n_classes=2):
    """Points, pairs and what people say about them, with second opinions."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 3))
    X_test = rng.normal(size=(400, 3))
    borders = [0.0] if n_classes == 2 else [-0.43, 0.43]
    y, y_test = (np.digitize(x[:, 0], borders) for x in (X, X_test))
    new = Pairs.sample(X, n_new, reuse=True, random_state=seed).index
    again = rng.permutation(n_new)[:n_again]
    who = rng.integers(len(accuracy), size=n_new)
    other = (who[again] + rng.integers(1, len(accuracy), n_again)) % len(accuracy)
    who = np.concatenate([who, other])
    pairs = Pairs(X, np.concatenate([new, new[again]]))
    right = pairs.answers(y)
    t = np.where(rng.random(len(who)) < np.array(accuracy)[who], right, -right)
    return pairs, t, who, X_test, y_test


def small(**options):
    return PairClassifier(n_components=20, random_state=0, **options)


@pytest.fixture(scope="module")
def fitted():
    accuracy = (0.95, 0.85, 0.5, 0.1)
    pairs, t, who, X_test, y_test = crowd(accuracy)
    names = np.array(["ann", "bob", "cy", "dan"], dtype=object)[who]
    with pytest.MonkeyPatch.context() as patch:
        make_quick(patch)
        return small().fit(pairs, t, annotators=names), accuracy, X_test, y_test


def test_everybodys_rates_are_found_and_used(fitted):
    clf, accuracy, X_test, y_test = fitted
    assert [person.name for person in clf.people_] == ["ann", "bob", "cy", "dan"]
    for person, right in zip(clf.people_, accuracy, strict=True):
        assert person.r1_interval[0] - 0.03 <= right <= person.r1_interval[1] + 0.03
        low, high = person.r0_interval
        assert low - 0.03 <= 1 - right <= high + 0.03
    assert clf.people_.named("dan").is_adversary
    assert not clf.people_.named("ann").verdict
    assert clustering_error(y_test, clf.predict(X_test)) < 0.12
    assert clf.flip_rates_ == clf.people_.mean_rates


def test_the_certificate_holds_and_is_cautious(fitted):
    clf, _, X_test, y_test = fitted
    error = clustering_error(y_test, clf.predict(X_test))
    assert clf.certificate_.noise == "unknown"
    assert clf.certificate_.clustering_interval[0] == 0
    assert error <= clf.certificate_.clustering_interval[1]


def test_a_model_with_people_is_saved(fitted, tmp_path):
    clf = fitted[0]
    save(clf, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert again.people_ == clf.people_
    assert repr(again.people_) == repr(clf.people_)


@pytest.mark.usefixtures("quick")
def test_without_annotators_nothing_is_known_of_people(blob_pairs):
    assert small().fit(*blob_pairs).people_ is None


@pytest.mark.usefixtures("quick")
def test_the_order_of_answers_and_of_points_in_a_pair_does_not_count():
    pairs, t, who, X_test, _ = crowd((0.9, 0.8), n_new=60, n_again=20)
    one = small().fit(pairs, t, annotators=who)
    turned = Pairs(
        pairs.X,
        np.where(np.arange(80)[:, None] < 60, pairs.index, pairs.index[:, ::-1]),
    )
    other = small().fit(turned, t, annotators=who)
    np.testing.assert_allclose(
        one.predict_proba(X_test), other.predict_proba(X_test), atol=1e-6
    )


def test_noise_that_is_given_contradicts_annotators(blob_pairs):
    with pytest.raises(ValueError, match="leave one of both out"):
        small(noise=0.1).fit(*blob_pairs, annotators=["ann"] * 120)


@pytest.mark.usefixtures("quick")
def test_where_nobody_counts_there_is_no_certificate(monkeypatch):
    everybody = property(lambda coins: np.ones(len(coins.r1), dtype=bool))
    monkeypatch.setattr("pairlearn.people.coins.Coins.at_chance", everybody)
    pairs, t, who, X_test, y_test = crowd((0.95, 0.9), n_new=100, n_again=20)
    # Both classes are as large.
    with pytest.warns(UserWarning, match="do not show clearly which class is which"):
        clf = small(majority=1).fit(pairs, t, annotators=who)
    assert clf.certificate_ is None
    assert all(person.is_spammer for person in clf.people_)
    assert clustering_error(y_test, clf.predict(X_test)) < 0.2


def test_one_name_per_answer(blob_pairs):
    with pytest.raises(ValueError, match="one name per answer"):
        small().fit(*blob_pairs, annotators=["ann"])


@pytest.mark.usefixtures("quick")
def test_in_a_pipeline():
    pairs, t, who, _, _ = crowd((0.9, 0.8), n_new=60, n_again=20)
    model = make_pair_pipeline(StandardScaler(), small())
    model.fit(pairs, t, pairclassifier__annotators=who)
    assert len(model[-1].people_) == 2


@pytest.mark.usefixtures("quick")
def test_weights_groups_majority_and_labels_beside_annotators():
    pairs, t, who, X_test, y_test = crowd((0.95, 0.9), n_new=80, n_again=20)
    groups = np.arange(400) // 2
    clf = small(majority=+1, classes=(0, 1)).fit(
        pairs,
        t,
        sample_weight=np.where(np.arange(100) < 90, 1.0, 0.0),
        groups=groups,
        labeled=(X_test[:10], y_test[:10]),
        annotators=who,
    )
    assert np.mean(clf.predict(X_test) == y_test) > 0.8


@pytest.mark.usefixtures("quick")
def test_three_classes():
    pairs, t, who, X_test, y_test = crowd(
        (0.95, 0.9, 0.5), n_new=260, n_again=60, n_classes=3
    )
    clf = small(n_classes=3).fit(pairs, t, annotators=who)
    assert clf.people_[0].tells > clf.people_[2].tells
    assert clustering_error(y_test, clf.predict(X_test)) < 0.35


@pytest.mark.usefixtures("quick")
def test_the_number_of_classes_is_found_with_people():
    pairs, t, who, _, _ = crowd((0.95, 0.9, 0.1))
    clf = small(n_classes="auto").fit(pairs, t, annotators=who)
    assert clf.n_classes_ == 2
    assert clf.people_[2].is_adversary


@pytest.mark.usefixtures("quick")
def test_more_pairs_than_models_are_chosen_on(monkeypatch):
    monkeypatch.setattr("pairlearn.models.auto.classifier.CHOICE_PAIRS", 80)
    pairs, t, who, X_test, y_test = crowd((0.95, 0.9, 0.1))
    clf = small().fit(pairs, t, annotators=who)
    assert sum(person.n_answers for person in clf.people_) == len(t)
    assert clf.people_[2].is_adversary
    assert clustering_error(y_test, clf.predict(X_test)) < 0.15


def test_rates_of_each_pair_are_those_of_one_likelihood():
    """With the same rate everywhere, a rate per pair is the rate of all."""
    rng = np.random.default_rng(0)
    index = rng.permutation(20).reshape(10, 2)
    same = rng.integers(2, size=10).astype(float)
    X = rng.normal(size=(20, 2))
    everything = np.ones((10, 1), dtype=bool)
    hidden = np.zeros((20, 1), dtype=bool)
    for joint, n_classes in ((False, 2), (True, 2), (False, 3)):
        if joint:
            index = np.concatenate([index[:5], index[:5, ::-1] // 2 + 7])
        plain = Problem(X, index, same, 1 - same, None, n_classes, joint)
        each = Problem(
            X, index, same, 1 - same, None, n_classes, joint, np.full(10, 0.2)
        )
        scores = rng.normal(size=(20, 1) if n_classes == 2 else (20, 1, n_classes))
        expected = plain.likelihood((0.8, 0.2), everything, hidden)
        found = each.likelihood((1 - 1e-4, 1e-4), everything, hidden)
        assert isinstance(found, PairLikelihood) or joint
        for one, other in zip(
            expected(scores, np.array([0])), found(scores, np.array([0])), strict=True
        ):
            np.testing.assert_allclose(one, other)


def test_the_share_of_same_pairs_by_answers_of_different_worth():
    rng = np.random.default_rng(0)
    n = 200_000
    wrong = rng.uniform(0, 0.45, n)
    truth = rng.random(n) < 0.7
    said = (truth != (rng.random(n) < wrong)).astype(float)
    index = np.zeros((n, 2), dtype=int)
    problem = Problem(np.zeros((1, 1)), index, said, 1 - said, None, 2, False, wrong)
    np.testing.assert_allclose(problem.share_same, 0.7, atol=0.01)
