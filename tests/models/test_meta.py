"""Any classifier as the model: PairMetaClassifier."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pairlearn import (
    CIPSClassifier,
    MCLClassifier,
    PairMetaClassifier,
    Pairs,
    clustering_error,
    make_pair_pipeline,
)
from pairlearn.models.meta import _likelihood, _responsibilities

DATA = Path(os.environ.get("PAIRLEARN_DATA") or "missing")


def test_responsibilities_are_posteriors():
    """Against enumerating the classes of both points."""
    p = np.array([0.9, 0.3, 0.6])
    pairs = Pairs(np.zeros((3, 1)), [[0, 1], [1, 2]])
    t, weight = np.array([1.0, -1.0]), np.array([2.0, 1.0])
    positive, negative = np.zeros(3), np.zeros(3)
    for (i, j), answer, v in zip(pairs.index, t, weight, strict=True):
        joint = {
            (a, b): (p[i] if a else 1 - p[i]) * (p[j] if b else 1 - p[j])
            for a in (0, 1) for b in (0, 1) if (a == b) == (answer > 0)
        }  # fmt: skip
        total = sum(joint.values())
        for (a, b), probability in joint.items():
            for point, positive_class in ((i, a), (j, b)):
                side = positive if positive_class else negative
                side[point] += v * probability / total
    found = _responsibilities(pairs, t, weight, p)
    np.testing.assert_allclose(found[0], positive)
    np.testing.assert_allclose(found[1], negative)
    expected = (2 * np.log(0.9 * 0.3 + 0.1 * 0.7) + np.log(0.3 * 0.4 + 0.7 * 0.6)) / 3
    assert _likelihood(pairs, t, weight, p) == pytest.approx(expected)


def test_em_with_an_exact_m_step_raises_the_likelihood():
    """One feature with three values: the M step is a table, and EM is monotone."""
    rng = np.random.default_rng(0)
    x = rng.integers(3, size=600)
    y = rng.random(600) < np.array([0.1, 0.5, 0.9])[x]
    pairs, t = Pairs.sample(x[:, None].astype(float), 300, y, random_state=0)
    weight, table = np.ones(300), np.array([0.3, 0.5, 0.6])
    path = []
    for _ in range(30):
        path.append(_likelihood(pairs, t, weight, table[x]))
        positive, negative = _responsibilities(pairs, t, weight, table[x])
        table = np.array(
            [positive[x == v].sum() / (positive + negative)[x == v].sum()
             for v in range(3)]
        )  # fmt: skip
    assert (np.diff(path) >= -1e-12).all()
    assert path[-1] > path[0] + 0.01


@pytest.mark.parametrize("name", ["banana", "phoneme"])
def test_beats_the_linear_model_on_real_data(name):
    if not (DATA / name).is_dir():
        pytest.skip("set PAIRLEARN_DATA to the folder with the data files")
    table = np.loadtxt(DATA / name / f"{name}.dat", delimiter=",")
    order = np.random.RandomState(0).permutation(len(table))
    X, y = table[order, :-1], table[order, -1]
    X = StandardScaler().fit(X[:2000]).transform(X)
    pairs, t = Pairs.sample(X[:2000], 1000, y[:2000], random_state=0)
    # Few bins: with weights, the search for their bounds would take most of the time.
    boosting = HistGradientBoostingClassifier(
        max_iter=10, learning_rate=0.3, max_bins=32, random_state=0
    )
    clf = PairMetaClassifier(boosting, cv=2, random_state=0).fit(pairs, t)
    linear = MCLClassifier(alpha=0.01).fit(pairs, t)
    test = slice(2000, 3000)
    ours, theirs = (
        clustering_error(y[test], model.predict(X[test])) for model in (clf, linear)
    )
    assert ours < theirs - 0.03
    assert clf.history_["likelihood"].max() > clf.history_["likelihood"][0] + 0.01


def test_interface(blobs):
    X, y = blobs
    pairs, t = Pairs.sample(X, 150, y, random_state=0)
    clf = PairMetaClassifier(
        GaussianNB(), majority="big", classes=("small", "big"), random_state=0
    ).fit(pairs, t)
    names = np.where(y > 0, "big", "small")
    assert np.mean(clf.predict(X) == names) > 0.85
    proba = clf.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(proba[:, 1] > 0.5, clf.predict(X) == "big")
    assert clf.score(pairs, t) > 0.75
    before = clf.predict(X)
    clf._flip()
    clf.assign_from_points(X[:30], names[:30])
    np.testing.assert_array_equal(clf.predict(X), before)


def test_same_seed_same_result(blob_pairs):
    fits = [
        PairMetaClassifier(
            RandomForestClassifier(10, random_state=0), max_iter=2, random_state=0
        ).fit(*blob_pairs)
        for _ in range(2)
    ]
    X = blob_pairs[0].X
    np.testing.assert_array_equal(*(f.decision_function(X) for f in fits))


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        (KNeighborsClassifier(), {}, "sample_weight"),
        (SVC(), {}, "predict_proba"),
        (GaussianNB, {}, "an instance, GaussianNB"),
        (GaussianNB(), {"cv": 2.5}, "cv"),
        (GaussianNB(), {"max_iter": 0}, "max_iter"),
        (GaussianNB(), {"initial": CIPSClassifier()}, "initial"),
    ],
)
def test_unsuitable_parameters(estimator, options, message, blob_pairs):
    with pytest.raises(ValueError, match=message):
        PairMetaClassifier(estimator, **options).fit(*blob_pairs)


def test_a_pipeline_may_give_the_start(blob_pairs):
    start = make_pair_pipeline(StandardScaler(), MCLClassifier())
    clf = PairMetaClassifier(GaussianNB(), initial=start, random_state=0)
    assert clf.fit(*blob_pairs).score(*blob_pairs) > 0.75
