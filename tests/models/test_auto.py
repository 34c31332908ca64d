"""`PairClassifier`: the best classifier, nothing to choose."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info

from pairlearn import MCLClassifier, Pairs, clustering_error
from pairlearn.models.auto import columns
from tests.support.auto_tasks import error_of, groups, make, task

# -- what it learns from ---------------------------------------------------------------


@pytest.mark.usefixtures("quick")
def test_labels_are_not_used():
    """Other labels with the same answers, and other points without pairs."""
    X, y = groups(300)
    index = np.arange(120).reshape(-1, 2)
    pairs = Pairs(X, index)
    f = make().fit(pairs, pairs.answers(y)).decision_function(X)
    assert clustering_error(y, np.where(f > 0, 1, -1)) < 0.2

    renamed = pairs.answers(np.where(y > 0, "no", "yes"))
    np.testing.assert_array_equal(make().fit(pairs, renamed).decision_function(X), f)
    # Both points of a pair change class: half of the labels differ, no answer does.
    rng = np.random.default_rng(0)
    other = y[:120] * np.repeat(rng.choice([-1, 1], 60), 2)
    assert 0.3 < np.mean(other != y[:120]) < 0.7
    few = Pairs(X[:120], index)
    np.testing.assert_array_equal(
        make().fit(few, few.answers(other)).decision_function(X), f
    )
    # Points without pairs are not looked at, so they cannot help to choose.
    elsewhere = np.vstack([X[:120], np.full((30, 4), np.nan)])
    np.testing.assert_array_equal(
        make().fit(Pairs(elsewhere, index), pairs.answers(y)).decision_function(X), f
    )


@pytest.mark.usefixtures("quick")
def test_other_answers_make_another_model():
    X, y = groups(300)
    pairs = Pairs(X, np.arange(120).reshape(-1, 2))
    t = pairs.answers(y)
    f = make().fit(pairs, t).decision_function(X)
    t[:30] *= -1
    assert np.abs(make().fit(pairs, t).decision_function(X) - f).max() > 0.1


@pytest.mark.usefixtures("quick")
def test_the_same_seed_gives_the_same_model():
    pairs, t, X, _ = task(60, n_test=50)
    np.random.seed(3)  # noqa: NPY002 - the global state must not change
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    blas = threadpool_info()
    f = make().fit(pairs, t).decision_function(X)
    again = make().fit(pairs, t).decision_function(X)
    threads = make(n_jobs=2).fit(pairs, t).decision_function(X)
    np.testing.assert_array_equal(again, f)
    np.testing.assert_allclose(threads, f, atol=1e-8)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert threadpool_info() == blas
    generator = make(random_state=np.random.RandomState(0)).fit(pairs, t)
    np.testing.assert_array_equal(generator.decision_function(X), f)
    other = make(random_state=1).fit(pairs, t).decision_function(X)
    assert np.abs(other - f).max() > 1e-6


# -- how good it is --------------------------------------------------------------------


def rings(n, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1, -1)
    radius = np.where(y > 0, 1.0, 3.0) + 0.3 * rng.normal(size=n)
    angle = rng.uniform(0, 2 * np.pi, n)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y


def test_rings():
    X, y = rings(1200)
    pairs, t = Pairs.sample(X[:200], 100, y[:200], random_state=0)
    assert error_of(make().fit(pairs, t), X[200:], y[200:]) < 0.1
    assert error_of(MCLClassifier().fit(pairs, t), X[200:], y[200:]) > 0.3


def test_a_line_is_found_about_as_well_as_by_a_linear_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1400, 5))
    y = np.where(X @ [2, -1, 1, 0, 0] + 0.3 > 0, 1, -1)
    pairs, t = Pairs.sample(X[:400], 200, y[:400], random_state=0)
    clf = make().fit(pairs, t)
    error = error_of(clf, X[400:], y[400:])
    linear = error_of(MCLClassifier().fit(pairs, t), X[400:], y[400:])
    assert error < linear + 0.02
    assert error < 0.08
    assert clf.candidates_[0].kernel != "constant"


def test_answers_at_random():
    """Nothing can be learned, and the model knows it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    pairs = Pairs(X, np.arange(400).reshape(-1, 2))
    t = rng.choice([-1, 1], 200)
    clf = make().fit(pairs, t)
    # If every answer is right, which nobody knows.
    low, high = clf.certificate_.bolder_interval
    assert low > 0.25
    assert high == clf.certificate_.clustering_interval[1] == 0.5
    (constant,) = [row for row in clf.candidates_ if row.kernel == "constant"]
    assert constant.weight > 2 / len(clf.candidates_)
    assert clf.log_likelihood_ == pytest.approx(-np.log(2), abs=0.03)
    p = clf.predict_proba(rng.normal(size=(500, 5)))[:, 1]
    # P(same) of two new points, which the answers put at one half.
    assert np.mean(p**2 + (1 - p) ** 2) < 0.6


@pytest.mark.parametrize("bend", [np.exp, lambda x: x**3], ids=["exp", "cube"])
def test_heavy_tails_hardly_matter(bend):
    pairs, t, X, y = task(100)
    bent = Pairs(bend(2 * pairs.X), pairs.index)
    plain = error_of(make().fit(pairs, t), X, y)
    assert plain < 0.14
    assert error_of(make().fit(bent, t), bend(2 * X), y) < plain + 0.03


@pytest.mark.usefixtures("quick")
def test_units_do_not_matter():
    pairs, t, X, _ = task(60, n_test=50)
    factor, shift = np.array([1e-12, 1e6, 3.0, 0.1]), np.array([0.0, 5, -7, 0])
    a = make().fit(pairs, t)
    b = make().fit(Pairs(pairs.X * factor + shift, pairs.index), t)
    np.testing.assert_allclose(
        b.decision_function(X * factor + shift), a.decision_function(X), atol=1e-5
    )


@pytest.mark.usefixtures("quick")
def test_sparse_and_float32_points():
    pairs, t, X, _ = task(60, n_test=50)
    table, X = np.where(pairs.X > 0, pairs.X, 0), np.where(X > 0, X, 0)
    f = make().fit(Pairs(table, pairs.index), t).decision_function(X)
    thin = make().fit(Pairs(sparse.csr_array(table), pairs.index), t)
    np.testing.assert_allclose(thin.decision_function(X), f, atol=1e-8)
    np.testing.assert_allclose(
        thin.decision_function(sparse.csr_array(X)), f, atol=1e-8
    )
    short = make().fit(Pairs(table.astype(np.float32), pairs.index), t)
    np.testing.assert_allclose(
        short.predict_proba(X.astype(np.float32))[:, 1], 1 / (1 + np.exp(-f)), atol=1e-3
    )


@pytest.mark.usefixtures("quick")
def test_a_sparse_table_that_stays_sparse(monkeypatch):
    monkeypatch.setattr(columns, "DENSE_ENTRIES", 1000)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(1200) < 0.5, 1, -1)
    words = rng.random((1200, 60)) < 0.05
    words[:, :10] |= (rng.random((1200, 10)) < 0.5) & (y[:, None] > 0)
    X = sparse.csr_array(words.astype(float))
    pairs, t = Pairs.sample(X[:400], 200, y[:400], random_state=0)
    clf = make(n_components=50).fit(pairs, t)
    assert clf._ensemble.members[0].view.stays_sparse
    assert error_of(clf, X[400:], y[400:]) < 0.1
    np.testing.assert_allclose(
        clf.decision_function(X[:5].toarray()), clf.decision_function(X[:5]), atol=1e-9
    )


# -- weights and soft answers ----------------------------------------------------------


@pytest.mark.usefixtures("quick")
def test_pairs_of_weight_zero_do_not_matter():
    pairs, t, X, _ = task(60, n_test=50)
    weight = np.random.default_rng(0).choice([0.0, 1.0, 1.5], 60)
    used = weight > 0
    f = make().fit(pairs[used], t[used], weight[used]).decision_function(X)
    all_pairs = make().fit(pairs, np.where(used, t, -t), sample_weight=weight)
    np.testing.assert_allclose(all_pairs.decision_function(X), f, atol=1e-9)
    equal = make().fit(pairs[used], t[used]).decision_function(X)
    assert np.abs(equal - f).max() > 1e-3


@pytest.mark.usefixtures("quick")
def test_weights_are_relative():
    pairs, t, X_test, _ = task(60)
    weight = np.random.default_rng(0).uniform(0.5, 2, 60)
    f = make().fit(pairs, t, sample_weight=weight).decision_function(X_test)
    for factor in (1e-3, 50.0):
        clf = make().fit(pairs, t, sample_weight=factor * weight)
        np.testing.assert_allclose(clf.decision_function(X_test), f, atol=1e-6)
    plain = make().fit(pairs, t).decision_function(X_test)
    assert np.abs(f - plain).max() > 0.01


@pytest.mark.usefixtures("quick")
def test_forms_of_answers():
    pairs, t, X, _ = task(60, n_test=50)
    f = make().fit(pairs, t.astype(int)).decision_function(X)
    for same in (t.astype(float), t > 0, list(t)):
        np.testing.assert_array_equal(make().fit(pairs, same).decision_function(X), f)
    np.testing.assert_array_equal(
        make().fit(np.asarray(pairs), t).decision_function(X), f
    )


@pytest.mark.usefixtures("quick")
def test_soft_answers():
    """An answer of zero takes no side, and is unsure for the certificate."""
    pairs, t, X, y = task(150)
    soft = t.astype(float)
    soft[100:] = 0.0
    clf = make().fit(pairs, soft)
    assert (clf.certificate_.n_pairs, clf.certificate_.n_unsure) == (150, 50)
    assert error_of(clf, X, y) < 0.17
    # It says that the answer is open, so the model becomes less sure.
    without = make().fit(pairs[:100], t[:100])
    sure = [
        np.abs(model.predict_proba(X)[:, 1] - 0.5).mean() for model in (clf, without)
    ]
    assert sure[0] < sure[1] - 0.02


# -- names of classes ------------------------------------------------------------------


@pytest.mark.usefixtures("quick")
def test_the_order_within_pairs_does_not_matter():
    """Not for the sign, either, which a constant column must not decide."""
    for seed in range(4):
        pairs, t, X, _ = task(60, seed, n_test=50)
        table = np.column_stack([pairs.X, np.ones(120)])
        X = np.column_stack([X, np.ones(50)])
        swap = np.random.default_rng(seed).random(60) < 0.5
        index = np.where(swap[:, None], pairs.index[:, ::-1], pairs.index)
        a = make().fit(Pairs(table, pairs.index), t)
        b = make().fit(Pairs(table, index), t)
        np.testing.assert_allclose(
            a.decision_function(X), b.decision_function(X), atol=1e-5
        )


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("majority", [1, -1])
def test_the_majority_settles_the_sign(majority):
    pairs, t, X, y = task(150)
    clf = make(majority=majority).fit(pairs, t)
    right = np.mean(clf.predict(X) == y)
    assert right > 0.82 if majority == 1 else right < 0.18
    assert clf.assignment_.method == "pairs"
    assert clf.assignment_.n_pairs == 150
    assert clf.assignment_.q == pytest.approx(0.5, abs=0.45)
    assert clf.assignment_.p_value < 0.01
    assert make().fit(pairs, t).assignment_ is None


@pytest.mark.usefixtures("quick")
def test_names_of_classes():
    pairs, t, X, y = task(150)
    a = make(majority=1).fit(pairs, t)
    b = make(majority="most", classes=("few", "most")).fit(pairs, t)
    c = make(majority="most", classes=("most", "few")).fit(pairs, t)
    np.testing.assert_array_equal(b.predict(X) == "most", a.predict(X) == 1)
    np.testing.assert_array_equal(c.predict(X), b.predict(X))
    np.testing.assert_allclose(c.decision_function(X), -b.decision_function(X))
    np.testing.assert_allclose(c.predict_proba(X), b.predict_proba(X)[:, ::-1])
    assert c.classes_.tolist() == ["most", "few"]
    assert np.mean(b.predict(X) == np.where(y > 0, "most", "few")) > 0.82


@pytest.mark.usefixtures("quick")
def test_classes_are_assigned_afterwards():
    pairs, t, X, y = task(150)
    clf = make().fit(pairs, t)
    for sign in (1, -1):
        clf.assign_from_points(X[:30], sign * y[:30])
        assert np.mean(clf.predict(X) == sign * y) > 0.82
        assert clf.assignment_.method == "points"
    fresh, t_fresh, _, _ = task(200, seed=1)
    clf.assign_from_pairs(fresh, t_fresh, majority=1)
    assert np.mean(clf.predict(X) == y) > 0.82
    assert clf.assignment_.method == "pairs"
    np.testing.assert_array_equal(
        clf.predict_pairs(fresh), fresh.answers(clf.predict(fresh.X))
    )
    assert clf.score(fresh, t_fresh) > 0.7
    assert (np.sign(clf.pair_score(fresh)) == clf.predict_pairs(fresh)).all()


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("classes", [(-1, 1), ("n", "p")], ids=str)
def test_labelled_points_settle_the_names(classes):
    pairs, t, X, y = task(100)
    names = np.array(classes)[(y > 0).astype(int)]
    for order in (classes, classes[::-1]):
        clf = make(classes=order).fit(pairs, t, labeled=(X[:10], names[:10]))
        assert np.mean(clf.predict(X) == names) > 0.82
        assert clf.assignment_.method == "points"
        assert clf.assignment_.n_points == 10
    frame = pd.DataFrame(X[:10])
    again = make(classes=order).fit(pairs, t, labeled=(frame.to_numpy(), names[:10]))
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))


@pytest.mark.usefixtures("quick")
def test_labelled_points_help_when_pairs_are_few():
    alone, helped = [], []
    for seed in range(6):
        pairs, t, X, y = task(20, seed)
        labeled = X[:20], y[:20]
        alone.append(error_of(make().fit(pairs, t), X[20:], y[20:]))
        clf = make().fit(pairs, t, labeled=labeled)
        helped.append(np.mean(clf.predict(X[20:]) != y[20:]))
    assert np.mean(helped) < np.mean(alone) - 0.02
    assert np.mean(helped) < 0.2


@pytest.mark.parametrize(
    ("labeled", "message"),
    [
        ((np.zeros((2, 4)), [1, 7]), "label 7 is not one of"),
        ((np.zeros((2, 4)), [1]), "2 points, but labels of shape"),
        ((np.zeros((2, 3)), [1, -1]), "3 features.*expecting 4"),
        (np.zeros((3, 4)), "labeled must be"),
        ("labels", "labeled must be"),
        ((np.full((2, 4), np.nan), [1, -1]), "NaN"),
    ],
)
def test_bad_labels(labeled, message, blob_pairs):
    with pytest.raises(ValueError, match=message):
        make().fit(*blob_pairs, labeled=labeled)
