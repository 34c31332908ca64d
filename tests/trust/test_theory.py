import math

import numpy as np
import pytest
from scipy.stats import binomtest

from pairlearn import CIPSClassifier, Pairs, clustering_error, pair_error
from pairlearn.trust import theory
from pairlearn.trust.intervals import clopper_pearson
from pairlearn.trust.metrics import (
    clustering_accuracy_scorer,
    neg_pair_error_scorer,
    pair_accuracy_scorer,
    predict_pairs,
)
from pairlearn.trust.planning import pairs_for_certificate
from pairlearn.trust.prior import prior_from_answers


def test_theorem_1_by_enumeration():
    """The pair error of a finite population is 2 R (1 - R), and back."""
    y = np.array([1, 1, 1, 1, -1, -1, -1, 1, -1, 1])
    h = np.array([1, 1, -1, 1, -1, -1, 1, 1, -1, 1])
    disagree = (h[:, None] * h) != (y[:, None] * y)
    error = np.mean(h != y)
    assert theory.pair_error_from_error(error) == pytest.approx(disagree.mean())
    assert theory.pair_error_from_error(1 - error) == pytest.approx(disagree.mean())
    back = theory.clustering_error_from_pair_error(disagree.mean())
    assert back == pytest.approx(min(error, 1 - error))


def test_theorem_1_is_monotone_and_inverts():
    error = np.linspace(0, 0.5, 51)
    pair = theory.pair_error_from_error(error)
    back = theory.clustering_error_from_pair_error(pair)
    np.testing.assert_allclose(back, error, atol=1e-7)
    assert theory.clustering_error_from_pair_error(0.7) == 0.5


def test_identities_invert():
    for prior in (0.1, 0.4, 0.7):
        q = theory.q_from_error(0.23, prior)
        assert theory.error_from_q(q, prior) == pytest.approx(0.23)
        rate = theory.same_rate_from_prior(prior)
        assert theory.prior_from_same_rate(rate) == pytest.approx(max(prior, 1 - prior))
    assert theory.prior_from_same_rate(0.4) == 0.5


def test_lemma_3_and_its_sample_size():
    assert theory.assignment_error_bound(80, 0.7, 0.2) == pytest.approx(
        math.exp(-40 * 0.4**2 * 0.6**2)
    )
    for prior, error in ((0.6, 0.1), (0.1, 0.3), (0.9, 0.8)):
        m = theory.pairs_for_assignment(prior, error, failure=0.01)
        assert theory.assignment_error_bound(m, prior, error) <= 0.01
        assert theory.assignment_error_bound(m - 1, prior, error) > 0.01


def test_lemma_2_written_out():
    bound = theory.clustering_excess_bound(
        10**6, loss="squared", rademacher=1e-3, score_bound=0.5, delta=0.1,
        approximation=0.01,
    )  # fmt: skip
    inner = 0.01 + 4 * (2 * 1.25) * 1e-3 + math.sqrt(2 * 1.25**4 * math.log(20) / 1e6)
    assert bound == pytest.approx(math.sqrt(math.sqrt(inner) / 2))


@pytest.fixture(scope="module")
def line():
    """Many points on a line, pairs of them, answers, and the least possible error."""
    rng = np.random.default_rng(0)
    n = 100_000
    y = rng.choice([-1, 1], size=n)
    X = np.clip(0.6 * y + 0.5 * rng.normal(size=n), -1, 1)[:, None]
    best = min(clustering_error(y, X[:, 0] > c) for c in np.linspace(-0.5, 0.5, 21))
    return X, y, *Pairs.sample(X, n // 2, y, random_state=0), best


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
def test_lemma_2_holds_on_samples(loss, line):
    """The fit on a known distribution stays below the bound, which is not trivial."""
    X, y, pairs, t, best = line
    clf = CIPSClassifier(loss=loss, fit_intercept=False, alpha=0.1, n_init=1)
    clf.fit(pairs, t)
    norm = float(np.abs(clf.coef_).max())
    bound = theory.clustering_excess_bound(
        len(pairs),
        loss=loss,
        rademacher=theory.linear_rademacher_bound(len(pairs), norm, 1.0),
        score_bound=norm,
    )
    assert clustering_error(y, clf.predict(X)) - best <= bound < 0.5


def test_bounds_shrink_with_pairs_and_theorem_3_is_weaker():
    def lemma_2(m):
        return theory.clustering_excess_bound(
            m, loss="hinge", rademacher=1 / math.sqrt(m), score_bound=1.0
        )

    assert lemma_2(10**8) < lemma_2(10**6)
    assert lemma_2(10) == 0.5
    options = {"loss": "hinge", "rademacher": 1e-4, "score_bound": 1.0}
    theorem_3 = theory.classification_excess_bound(
        10**8, 100, prior=0.7, error=0.1, **options
    )
    assert lemma_2(10**8) < theorem_3 < 1.1 * lemma_2(10**8)
    with pytest.raises(ValueError, match="more than 59 pairs in step 2"):
        theory.classification_excess_bound(
            10**8, 10, prior=0.7, error=0.1, **options
        )  # fmt: skip
    with pytest.raises(ValueError, match="psi-transform"):
        theory.clustering_excess_bound(
            100, loss="linear", rademacher=0.1, score_bound=1.0
        )


def test_rademacher_bound_by_monte_carlo():
    """sup over |w| <= 1 of the mean of sigma f(x) f(x') is an eigenvalue."""
    rng = np.random.default_rng(0)
    m, values = 200, []
    for _ in range(200):
        left, right = (rng.normal(size=(m, 3)) for _ in range(2))
        left /= np.linalg.norm(left, axis=1)[:, None]
        right /= np.linalg.norm(right, axis=1)[:, None]
        M = (left * rng.choice([-1, 1], size=(m, 1))).T @ right / m
        values.append(max(0.0, np.linalg.eigvalsh((M + M.T) / 2)[-1]))
    assert np.mean(values) <= theory.linear_rademacher_bound(m, 1.0, 1.0)


def test_naive_rule_fails_somewhere_for_every_prior():
    for prior in (0.1, 0.4, 0.6, 0.9):
        plus, minus = np.meshgrid(
            np.linspace(0, prior, 40), np.linspace(0, 1 - prior, 40)
        )
        right = theory.naive_assignment_is_right(prior, plus, minus)
        assert 0 < right.mean() < 1
        assert right[0, 0]  # a perfect classifier is always oriented rightly


@pytest.mark.parametrize("call", [
    lambda: theory.assignment_error_bound(10, 0.5, 0.1),
    lambda: theory.pairs_for_assignment(0.5, 0.1),
    lambda: theory.error_from_q(0.3, 0.5),
    lambda: theory.naive_assignment_is_right(0.5, 0.1, 0.1),
])  # fmt: skip
def test_prior_one_half_is_refused(call):
    with pytest.raises(ValueError, match="assign_from_points"):
        call()


def test_impossible_numbers_are_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        theory.pair_error_from_error(1.2)
    with pytest.raises(ValueError, match="strictly between"):
        theory.same_rate_from_prior(0.0)
    with pytest.raises(ValueError, match="equally bad with both signs"):
        theory.pairs_for_assignment(0.7, 0.5)
    with pytest.raises(ValueError, match="missed more often"):
        theory.naive_assignment_is_right(0.6, 0.7, 0.1)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 20), (10, 10), (500, 1000)])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_clopper_pearson_agrees_with_scipy(k, n, confidence):
    expected = binomtest(k, n).proportion_ci(confidence, method="exact")
    np.testing.assert_allclose(clopper_pearson(k, n, confidence), expected, atol=1e-10)


def test_prior_from_answers():
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.2
    estimate = prior_from_answers(np.where(y[:2000] == y[2000:], 1, -1))
    assert estimate.majority_prior == pytest.approx(0.8, abs=0.03)
    low, high = estimate.interval
    assert low < estimate.majority_prior < high
    assert prior_from_answers([-1, -1, 1]).majority_prior == 0.5
    covered = 0
    for _ in range(500):
        y = rng.random(200) < 0.3
        low, high = prior_from_answers(y[:100] == y[100:]).interval
        covered += low <= 0.7 <= high
    assert covered / 500 >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 500)


@pytest.mark.parametrize(("error", "width"), [(0.1, 0.05), (0.02, 0.02), (0.3, 0.1)])
def test_pairs_for_certificate_is_about_the_smallest(error, width):
    def width_at(n):
        k = round(n * theory.pair_error_from_error(error))
        low, high = theory.clustering_error_from_pair_error(clopper_pearson(k, n))
        return high - low

    n = pairs_for_certificate(error, width, probability=0.5)
    assert width_at(int(1.05 * n)) <= width
    assert width_at(int(0.95 * n)) > width
    # As narrow as this in nine of ten cases, not in every other one.
    rng = np.random.default_rng(0)
    n = pairs_for_certificate(error, width)
    counts = rng.binomial(n, theory.pair_error_from_error(error), 2000)
    widths = [
        np.ptp(theory.clustering_error_from_pair_error(clopper_pearson(int(k), n)))
        for k in counts
    ]
    assert np.mean(np.array(widths) <= width) >= 0.9 - 3 * math.sqrt(0.09 / 2000)


def test_pair_error_with_weights_and_soft_answers():
    assert pair_error([1, -1], [1, 1], sample_weight=[3, 1]) == 0.25
    assert pair_error([0.5], [1]) == 0.25
    assert pair_error([1, -1], [0.0, -0.3]) == 0.5  # sign(0) = -1


def test_clustering_error_matches_names():
    y = [0, 0, 1, 1, 2, 2]
    assert clustering_error(y, ["c", "c", "a", "a", "b", "b"]) == 0
    assert clustering_error(y, [5, 5, 5, 5, 6, 6]) == pytest.approx(1 / 3)
    rng = np.random.default_rng(0)
    y, h = rng.choice([-1, 1], size=(2, 101))
    error = np.mean(y != h)
    assert clustering_error(y, h) == pytest.approx(min(error, 1 - error))
    weight = rng.random(101)
    error = np.average(y != h, weights=weight)
    assert clustering_error(y, h, sample_weight=weight) == pytest.approx(
        min(error, 1 - error)
    )
    with pytest.raises(ValueError, match="one entry per point"):
        clustering_error([1, 2], [1])
    for empty in (lambda: clustering_error([], []), lambda: pair_error([], [])):
        with pytest.raises(ValueError, match="at least one"):
            empty()
    with pytest.raises(ValueError, match="5 hits in 3 trials"):
        clopper_pearson(5, 3)


def test_scorers_agree_with_the_estimator(blobs, blob_pairs):
    X, y = blobs
    pairs, t = blob_pairs
    clf = CIPSClassifier().fit(pairs, t)
    assert pair_accuracy_scorer(clf, pairs, t) == pytest.approx(clf.score(pairs, t))
    assert neg_pair_error_scorer(clf, pairs, t) == pytest.approx(
        clf.score(pairs, t) - 1
    )
    np.testing.assert_array_equal(predict_pairs(clf, pairs), clf.predict_pairs(pairs))
    assert clustering_accuracy_scorer(clf, X, y) == 1 - clustering_error(
        y, clf.predict(X)
    )
