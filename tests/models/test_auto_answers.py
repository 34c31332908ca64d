"""`PairClassifier`: noise, several classes, certificates and candidates."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from pairlearn import PairClassifier, Pairs
from pairlearn.models.auto import Candidate, Candidates, choose
from pairlearn.models.auto.likelihood import CERTAIN
from tests.support.auto_tasks import error_of, groups, make, task

# -- noisy answers ---------------------------------------------------------------------


@pytest.mark.usefixtures("quick")
def test_noise_is_estimated():
    pairs, truth, X, y = task(1500, prior=0.5, distance=2.0)
    rng = np.random.default_rng(0)
    t = np.where(rng.random(1500) < 0.2, -truth, truth)
    clf = make(n_components=20, n_folds=2).fit(pairs, t)
    np.testing.assert_allclose(clf.flip_rates_, (0.8, 0.2), atol=0.08)
    assert all(type(rate) is float for rate in clf.flip_rates_)
    # The rates are a guess: the interval reaches up to what no noise would mean.
    plain = make(noise=None).fit(pairs, t).certificate_
    low, high = clf.certificate_.clustering_interval
    assert low < plain.clustering_interval[0]
    assert high > plain.clustering_error
    plain = make(n_components=20, n_folds=2, noise=None).fit(pairs, t)
    assert error_of(clf, X, y) < error_of(plain, X, y) + 0.01
    assert clf.log_likelihood_ > plain.log_likelihood_
    # Scores are of the classes, not of the answers: they are surer.
    assert (
        np.abs(clf.decision_function(X)).mean()
        > 1.2 * np.abs(plain.decision_function(X)).mean()
    )
    # So is the certificate.
    assert clf.certificate_.clustering_error == pytest.approx(
        error_of(clf, X, y), abs=0.05
    )
    assert plain.certificate_.clustering_error > error_of(plain, X, y) + 0.05
    assert "flip rates r1 = 0." in repr(clf.candidates_)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("n_pairs", [40, 300])
def test_right_answers_are_taken_as_right(n_pairs):
    pairs, t, X, _ = task(n_pairs, n_test=50)
    clf = make().fit(pairs, t)
    assert clf.flip_rates_ == (1.0, 0.0)
    assert "flip rates" not in repr(clf.candidates_)
    plain = make(noise=None).fit(pairs, t)
    np.testing.assert_array_equal(clf.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize("rates", [(0.4, 0.0), (0.6, 0.02), (1.0, 0.5), (0.9, 0.1)])
@pytest.mark.usefixtures("quick")
def test_one_sided_noise_turns_neither_the_sign_nor_the_certificate(rates):
    """Many missing links: most pairs of the same class are called different."""
    pairs, truth, X, y = task(500, prior=0.75, distance=1.5)
    chance = np.random.default_rng(0).random(500)
    t = np.where(chance < np.where(truth > 0, *rates), 1, -1)
    clf = make(noise=rates, majority=1).fit(pairs, t)
    error = np.mean(clf.predict(X) != y)
    assert error < 0.2
    low, high = clf.certificate_.clustering_interval
    assert low <= error <= high
    assert high - low > 0.02


def test_labels_of_points_in_pairs_are_held_out_too():
    """Answers and labels at random: nothing can be known about them."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), rng.choice([-1, 1], 200)
    pairs = Pairs(X, np.arange(200).reshape(-1, 2))
    for points in (X, sparse.csr_array(X)):
        clf = make().fit(pairs, pairs.answers(y), labeled=(points, y))
        assert clf.certificate_.clustering_interval[1] == 0.5
        assert clf.certificate_.clustering_error > 0.3


def test_a_failed_fit_is_no_fit(blob_pairs):
    pairs, t = blob_pairs
    clf = make(noise=np.array([0.9, 0.1]), n_components=5).fit(pairs, t)
    assert clf.flip_rates_ == (0.9, 0.1)
    with pytest.raises(ValueError, match="not one of the classes"):
        clf.fit(pairs, t, labeled=(pairs.X[:2], [7, 8]))
    with pytest.raises(NotFittedError):
        clf.predict(pairs.X)


@pytest.mark.usefixtures("quick")
def test_given_noise_is_used():
    pairs, t, X, _ = task(100)
    spread = []
    for noise, rates in [
        (None, (1.0, 0.0)),
        ((1, 0), (1.0, 0.0)),
        ((0.9, 0.05), (0.9, 0.05)),
        (0.2, (0.8, 0.2)),
    ]:
        clf = make(noise=noise).fit(pairs, t)
        assert clf.flip_rates_ == pytest.approx(rates)
        spread.append(np.abs(clf.decision_function(X)).mean())
        truly_same = np.clip((np.mean(t > 0) - rates[1]) / (rates[0] - rates[1]), 0, 1)
        wrong = truly_same * (1 - rates[0]) + (1 - truly_same) * rates[1]
        assert clf.certificate_.flip_rate == pytest.approx(wrong)
    assert spread[0] == spread[1]
    assert spread[1] < spread[2] < spread[3]
    assert CERTAIN == (1 - 1e-4, 1e-4)


@pytest.mark.parametrize(
    "noise", ["often", "symmetric", 0.5, -0.1, (0.2, 0.4), (1,), (None, 0.1), (2, 0)]
)
def test_bad_noise(noise, blob_pairs):
    with pytest.raises(ValueError, match="noise"):
        make(noise=noise).fit(*blob_pairs)


# -- several classes -------------------------------------------------------------------


@pytest.mark.usefixtures("quick")
def test_three_classes():
    X, y = make_blobs(500, centers=3, random_state=0, cluster_std=0.7)
    pairs, t = Pairs.sample(X[:300], 150, y[:300], random_state=0)
    names = np.array(["a", "b", "c"])[y]
    clf = make(n_classes=3, classes=("a", "b", "c")).fit(pairs, t)
    assert error_of(clf, X[300:], names[300:]) < 0.12
    p = clf.predict_proba(X)
    assert p.shape == (500, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(clf.classes_[p.argmax(axis=1)], clf.predict(X))
    np.testing.assert_allclose(np.exp(clf.decision_function(X)), p)
    assert clf.certificate_ is None
    assert clf.assignment_ is None
    same = clf.predict_pairs(pairs)
    np.testing.assert_array_equal(same, pairs.answers(clf.predict(X[:300])))
    assert clf.score(pairs, t) > 0.85
    q = (p[pairs.left] * p[pairs.right]).sum(axis=1)
    np.testing.assert_allclose(clf.pair_score(pairs), np.log(q / (1 - q)), atol=1e-6)
    for order in ([0, 1, 2], [2, 0, 1]):
        truth = np.array(["a", "b", "c"])[order][y]
        clf.assign_from_points(X[:30], truth[:30])
        assert np.mean(clf.predict(X) == truth) > 0.88
        assert clf.assignment_.n_points == 30
    with pytest.raises(ValueError, match="assign_from_points"):
        clf.assign_from_pairs(pairs, t, majority="a")


@pytest.mark.usefixtures("quick")
def test_three_classes_named_by_labels():
    X, y = make_blobs(500, centers=3, random_state=0, cluster_std=0.7)
    pairs, t = Pairs.sample(X[:200], 100, y[:200], random_state=0)
    order = np.array([2, 0, 1])
    clf = make(n_classes=3).fit(pairs, t, labeled=(X[300:312], order[y[300:312]]))
    assert np.mean(clf.predict(X[312:]) == order[y[312:]]) > 0.88


# -- what it reports -------------------------------------------------------------------


@pytest.mark.usefixtures("quick")
def test_the_certificate_is_close_to_the_error():
    claimed, true, covered = [], [], 0
    for seed in range(8):
        pairs, t, X, y = task(120, seed, n_test=3000)
        clf = make().fit(pairs, t)
        claimed.append(clf.certificate_.clustering_error)
        true.append(error_of(clf, X, y))
        low, high = clf.certificate_.clustering_interval
        covered += low <= true[-1] <= high
    assert np.mean(claimed) == pytest.approx(np.mean(true), abs=0.025)
    assert covered >= 7
    assert clf.certificate_.cross_validated
    assert clf.certificate_.n_pairs == 120
    assert "estimate" in str(clf.certificate_)


@pytest.mark.usefixtures("quick")
def test_the_certificate_counts_pairs_that_share_no_point():
    X, y = groups(200)
    pairs, t = Pairs.sample(X[:100], 150, y[:100], reuse=True, random_state=0)
    clf = make(likelihood="pair").fit(pairs, t)
    assert 5 <= clf.certificate_.n_pairs <= 50


@pytest.mark.usefixtures("quick")
def test_the_certificate_counts_points_that_answers_join():
    X, y = groups(200)
    pairs, t = Pairs.sample(X[:100], 150, y[:100], reuse=True, random_state=0)
    found = make().fit(pairs, t).certificate_
    # All but a few of the points are in one large component.
    assert 60 <= found.n_points <= 100
    assert found.n_pairs == 0
    assert f"{found.n_points} points" in str(found)


def test_candidates():
    pairs, t, _, _ = task(40)
    table = make(n_folds=2).fit(pairs, t).candidates_
    n_kernels = sum(len(kernels) for kernels in choose.KERNELS.values())
    assert len(table) == n_kernels * len(choose.SCALES) + 1
    weights = [row.weight for row in table]
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) == pytest.approx(1)
    (constant,) = [row for row in table if row.scale is None]
    assert (constant.columns, constant.kernel) == ("", "constant")
    assert {row.scale for row in table if row.scale} == set(choose.SCALES)
    assert {row.columns for row in table} == {"", "standard", "power"}
    assert all(0 <= row.pair_error <= 1 and row.log_likelihood < 0 for row in table)
    # The constant model gives all answers the same probability.
    share = np.mean(t > 0)
    best = max(share, 0.5)
    expected = share * np.log(best) + (1 - share) * np.log(1 - best)
    assert constant.log_likelihood == pytest.approx(expected, abs=1e-3)
    assert constant.pair_error == pytest.approx(1 - share)
    frame = pd.DataFrame(table.to_dict())
    assert frame.shape == (len(table), 6)
    np.testing.assert_allclose(frame["weight"], weights)
    lines = repr(table).splitlines()
    assert len(lines) == len(table) + 2
    assert lines[0].split() == [
        "columns", "kernel", "scale", "log-likelihood", "pair", "error", "weight",
    ]  # fmt: skip
    assert f"{weights[0]:.1%}" in lines[1]
    assert "40 pairs within folds that share no point" in lines[-1]
    assert table._repr_html_().count("<tr>") == len(table) + 1
    assert table[:2] == [table[0], table[1]]


def test_a_long_table_is_cut():
    rows = [
        Candidate("power", f"rbf {k}", 1.0, -0.5, 0.1, weight)
        for k, weight in enumerate([0.75, 0.25, *[0.0] * 12])
    ]
    lines = repr(Candidates(rows, "a note")).splitlines()
    assert lines[3:] == ["and 12 without weight", "a note"]
    assert len(Candidates(rows)) == 14
    assert len(repr(Candidates(rows[:5])).splitlines()) == 6


def test_more_classes_than_said_are_suspected():
    """Six groups, taken for two: most pairs of one class seem to differ."""
    X, y = make_blobs(800, centers=6, random_state=0, cluster_std=0.5)
    pairs, t = Pairs.sample(X, 400, y, random_state=0)
    with (
        pytest.warns(UserWarning, match="more than n_classes=2"),
        pytest.warns(UserWarning, match="seem to be more than two kinds"),
    ):
        clf = PairClassifier(random_state=0).fit(pairs, t)
    assert clf.certificate_ is None


@pytest.mark.usefixtures("quick")
def test_pairs_that_all_share_a_point():
    X, y = groups(61)
    pairs = Pairs(X, [[0, k] for k in range(1, 61)])
    clf = make(likelihood="pair").fit(pairs, pairs.answers(y))
    assert "share points: the figures are optimistic" in repr(clf.candidates_)
    assert clf.certificate_ is None
    assert error_of(clf, X, y) < 0.2
    # Seen together, the answers tell the side of each point relative to the others.
    clf = make().fit(pairs, pairs.answers(y))
    assert "61 points within folds that share no point" in repr(clf.candidates_)
    assert clf.certificate_.n_points == 61
    assert error_of(clf, X, y) < 0.2


@pytest.mark.usefixtures("quick")
def test_soft_answers_are_unsure_in_the_certificate():
    """Hard pairs have them: left out, they would make the error look small."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.6, 1, -1)
    X = rng.normal(size=(400, 2)) + y[:, None]
    pairs, t = Pairs.sample(X, 200, y, random_state=0)
    hard = np.abs(X.sum(axis=1))[pairs.index].min(axis=1) < 0.5
    told = np.where(hard, 0.2 * t, t)
    found = PairClassifier(random_state=0).fit(pairs, told).certificate_
    assert found.n_pairs == 200
    assert found.n_unsure == hard.sum()
