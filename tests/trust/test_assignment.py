import math
import warnings

import numpy as np
import pytest
from scipy.stats import binomtest

from pairlearn import CIPSClassifier, MCLClassifier, Pairs
from pairlearn.models.base import split_for_assignment
from pairlearn.trust.assignment import (
    assign_from_pairs,
    assign_from_points,
    majority_sign,
    naive_assignment,
)
from pairlearn.trust.metrics import q_statistic
from pairlearn.trust.theory import (
    assignment_error_bound,
    naive_assignment_is_right,
    pairs_for_assignment,
    q_from_error,
)


def noisy_scores(n, prior, error, rng):
    """Labels with this prior, and scores that are wrong at this rate."""
    y = np.where(rng.random(n) < prior, 1, -1)
    wrong = rng.random(n) < error
    return y, np.where(wrong, -y, y).astype(float)


@pytest.mark.parametrize("prior", [0.2, 0.7])
@pytest.mark.parametrize("error", [0.1, 0.8])
def test_q_follows_its_identity(prior, error):
    """Q = (2p - 1) R + 1 - p, by Monte Carlo."""
    m = 200_000
    y, f = noisy_scores(2 * m, prior, error, np.random.default_rng(0))
    q = q_statistic(y[:m] * y[m:], f[:m], f[m:])
    assert q == pytest.approx(float(q_from_error(error, prior)), abs=3 / np.sqrt(m))


@pytest.mark.parametrize("prior", [0.3, 0.8])
@pytest.mark.parametrize("error", [0.15, 0.85])
def test_sign_from_pairs_is_the_better_one_within_lemma_3(prior, error):
    rng, m, trials = np.random.default_rng(1), 40, 2000
    majority = 1 if prior > 0.5 else -1
    best = 1 if error < 0.5 else -1
    n_wrong = 0
    for _ in range(trials):
        y, f = noisy_scores(2 * m, prior, error, rng)
        with np.errstate(all="ignore"), pytest.MonkeyPatch.context() as patch:
            patch.setattr("pairlearn.trust.assignment._WEAK", 1.0)
            result = assign_from_pairs(f[:m], f[m:], y[:m] * y[m:], majority=majority)
        n_wrong += result.sign != best
    bound = assignment_error_bound(m, prior, error)
    assert n_wrong / trials <= bound + 3 * math.sqrt(bound * (1 - bound) / trials)
    assert n_wrong / trials < 0.1


def test_record_of_an_assignment():
    f, g = [1, 2, 1, 2, 1, 1], [1, 1, 3, 1, 1, -1]
    result = assign_from_pairs(f, g, [1, 1, 1, 1, 1, -1], majority=1)
    assert result.sign == 1
    assert result.method == "pairs"
    assert result.q == pytest.approx(1 / 12)
    assert result.n_pairs == 6
    assert result.bound == pytest.approx(math.exp(-2 * 6 * (5 / 12) ** 2))
    assert result.p_value == pytest.approx(2 / 32)


def test_p_value_is_a_sign_test():
    """Votes of pairs put into one class, against a fair coin."""
    f = np.array([1.0] * 30 + [-1.0] * 10 + [1.0] * 5)
    g = np.array([1.0] * 30 + [-1.0] * 10 + [-1.0] * 5)
    t = np.where(np.arange(45) < 40, 1, -1)
    result = assign_from_pairs(f, g, t, majority=1)
    assert result.p_value == pytest.approx(binomtest(30, 40).pvalue)
    assert result.sign == 1


@pytest.mark.filterwarnings("ignore:the .* pairs for class assignment do not show")
@pytest.mark.parametrize("rates", [None, 0.2, (0.7, 0.0), (1.0, 0.3), (0.4, 0.0)])
def test_p_values_are_valid_where_neither_sign_is_better(rates):
    """Prior 1/2, or an error of 1/2: P(p < a) is at most a."""
    rng, trials = np.random.default_rng(0), 1500
    r1, r0 = (1.0, 0.0) if rates is None else (0.8, 0.2) if rates == 0.2 else rates
    for prior, error in ((0.5, 0.1), (0.8, 0.5)):
        small = 0
        for _ in range(trials):
            y, f = noisy_scores(120, prior, error, rng)
            same = y[:60] == y[60:]
            t = np.where(rng.random(60) < np.where(same, r1, r0), 1, -1)
            found = assign_from_pairs(f[:60], f[60:], t, majority=1, flip_rates=rates)
            small += found.p_value < 0.1
        assert small / trials <= 0.1 + 3 * math.sqrt(0.09 / trials)


@pytest.mark.parametrize("rates", [(0.4, 0.0), (1.0, 0.6), (0.7, 0.3)])
@pytest.mark.filterwarnings("ignore:the .* pairs for class assignment do not show")
def test_wrong_answers_do_not_swap_the_classes(rates):
    """Where "same" is often missed, raw votes speak for the wrong side."""
    rng, trials = np.random.default_rng(0), 300
    wrong = {"raw": 0, "corrected": 0}
    for _ in range(trials):
        y, f = noisy_scores(400, 0.7, 0.1, rng)
        same = y[:200] == y[200:]
        t = np.where(rng.random(200) < np.where(same, *rates), 1, -1)
        for name, known in (("raw", None), ("corrected", rates)):
            pairs = f[:200], f[200:], t
            found = assign_from_pairs(*pairs, majority=1, flip_rates=known)
            wrong[name] += found.sign != 1
    assert wrong["corrected"] / trials < 0.05
    if rates == (0.4, 0.0):
        assert wrong["raw"] / trials > 0.8


@pytest.mark.filterwarnings("ignore:the .* pairs for class assignment do not show")
@pytest.mark.parametrize("make", [CIPSClassifier, MCLClassifier])
def test_classifiers_with_flip_rates_keep_their_names(make):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(2400) < 0.75, 1, -1)
    X = rng.normal(size=(2400, 2)) + 1.2 * y[:, None]
    pairs, truth = Pairs.sample(X, 1200, y, random_state=0)
    t = np.where((truth > 0) & (rng.random(1200) < 0.6), -1, truth)
    clf = make(majority=1, flip_rates=(0.4, 0.0), random_state=0).fit(pairs, t)
    assert np.mean(clf.predict(X) == y) > 0.85
    # Settled anew, by the method: with the rates of the training, or with others.
    clf.assign_from_pairs(pairs, t, majority=1)
    assert np.mean(clf.predict(X) == y) > 0.85
    clf.assign_from_pairs(pairs, t, majority=1, flip_rates=None)
    assert np.mean(clf.predict(X) == y) < 0.15


def test_lemma_3_with_wrong_answers():
    rng, m, trials, prior, error, flips = (
        np.random.default_rng(1),
        40,
        2000,
        0.8,
        0.2,
        0.2,
    )
    n_wrong = 0
    for _ in range(trials):
        y, f = noisy_scores(2 * m, prior, error, rng)
        t = y[:m] * y[m:] * np.where(rng.random(m) < flips, -1, 1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pairlearn.trust.assignment._WEAK", 1.0)
            found = assign_from_pairs(f[:m], f[m:], t, majority=1, flip_rates=flips)
        n_wrong += found.sign < 0
    bound = assignment_error_bound(m, prior, error, flips)
    assert bound == pytest.approx(assignment_error_bound(m, 0.5 + 0.3 * 0.6, error))
    assert n_wrong / trials <= bound
    n_pairs = pairs_for_assignment(prior, error, 0.05, flips)
    assert assignment_error_bound(n_pairs, prior, error, flips) <= 0.05
    assert assignment_error_bound(n_pairs - 1, prior, error, flips) > 0.05


def test_swapped_assignments_are_rarely_silent():
    """Near prior 1/2 signs are often wrong: then there is a warning, mostly."""
    rng = np.random.default_rng(0)
    silent = 0
    for _ in range(400):
        y, f = noisy_scores(80, 0.56, 0.1, rng)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = assign_from_pairs(f[:40], f[40:], y[:40] * y[40:], majority=1)
        silent += result.sign < 0 and not caught
    assert silent / 400 < 0.05


def test_majority_by_name():
    assert majority_sign("b", ("a", "b")) == majority_sign(1) == 1
    assert majority_sign("a", ("a", "b")) == majority_sign(-1) == -1
    # A name comes before a sign.
    assert majority_sign(1, (1, 2)) == majority_sign(1, (1, -1)) == -1
    assert majority_sign(-1, ("a", "b")) == -1
    with pytest.raises(ValueError, match="name of the class"):
        majority_sign("c", ("a", "b"))


def test_a_tie_follows_the_paper():
    """At Q = 1/2: s = -sign(2p - 1)."""
    for majority in (-1, 1):
        with pytest.warns(UserWarning, match="may be swapped"):
            result = assign_from_pairs([1], [-1], [1], majority=majority)
        assert result.sign == -majority


def test_weights_count_as_pairs():
    left, right = np.ones(7), np.array([1.0, -1, 1, 1, 1, 1, 1])
    t = np.array([1, -1, 1, 1, 1, 1, -1])
    plain = assign_from_pairs(left[:6], right[:6], t[:6], majority=1)
    thrice = assign_from_pairs(
        left[:6], right[:6], t[:6], majority=1, sample_weight=[3] * 6
    )
    # A pair of weight zero is as good as absent.
    weight = [1, 1, 1, 1, 1, 1, 0]
    ignored = assign_from_pairs(left, right, t, majority=1, sample_weight=weight)
    for other in (thrice, ignored):
        assert other.sign == plain.sign
        assert other.q == pytest.approx(plain.q)
        assert other.bound == pytest.approx(plain.bound)
        assert other.p_value == pytest.approx(plain.p_value)


@pytest.mark.filterwarnings("ignore:the .* pairs for class assignment do not show")
def test_votes_of_different_sizes_are_no_sign_test():
    """Many small votes for a side, and few large ones against: neither is better."""
    rng, small = np.random.default_rng(0), 0
    for _ in range(200):
        t = np.where(rng.random(100) < 0.9, 0.1, -0.9)
        small += (
            assign_from_pairs(np.ones(100), np.ones(100), t, majority=1).p_value < 0.1
        )
    assert small / 200 < 0.15
    weight, t = np.where(np.arange(60) < 50, 1, 9), np.where(np.arange(60) < 50, 1, -1)
    ones = np.ones(60)
    found = assign_from_pairs(ones, ones, t, majority=1, sample_weight=weight)
    assert found.sign == -1
    assert found.p_value > 0.01


def test_sign_from_points():
    right, wrong = assign_from_points([1, -1], [1, -1]), assign_from_points([1], [-1])
    assert (right.sign, right.error, right.n_points) == (1, 0.0, 2)
    assert (wrong.sign, wrong.error) == (-1, 1.0)
    assert right.bound == pytest.approx(math.exp(-1))


@pytest.mark.parametrize(
    ("prior", "plus", "minus"), [(0.6, 0.3, 0.1), (0.6, 0.1, 0.1), (0.3, 0.05, 0.35)]
)
def test_naive_rule_is_right_exactly_where_appendix_b_says(prior, plus, minus):
    """A population of one million points with the given rates of misses."""
    n = 1_000_000
    counts = np.round(n * np.array([plus, prior - plus, minus, 1 - prior - minus]))
    y = np.repeat([1, 1, -1, -1], counts.astype(int))
    f = np.repeat([-1.0, 1.0, 1.0, -1.0], counts.astype(int))
    best = 1 if np.mean(f != y) < 0.5 else -1
    naive = naive_assignment(f, majority=1 if prior > 0.5 else -1)
    assert (naive.sign == best) == bool(naive_assignment_is_right(prior, plus, minus))
    assert naive.bound is None
    # Pairs find the right sign where the naive rule fails.
    order = np.random.default_rng(0).permutation(n)
    left, right = order[: n // 2], order[n // 2 :]
    majority = 1 if prior > 0.5 else -1
    result = assign_from_pairs(f[left], f[right], y[left] * y[right], majority=majority)
    assert result.sign == best


@pytest.mark.parametrize("majority", [1, -1])
def test_fit_with_majority_names_the_classes(majority, blobs):
    X, y = blobs  # the positive class is the majority
    y = y * majority
    pairs, t = Pairs.sample(X, 150, y, random_state=0)
    clf = CIPSClassifier(majority=majority, random_state=0).fit(pairs, t)
    assert np.mean(clf.predict(X) == y) > 0.85
    assert clf.assignment_.n_pairs == 30
    # Step 2 saw pairs that step 1 did not: the rest alone gives the same boundary.
    rng = np.random.RandomState(0)
    train, kept = split_for_assignment(
        pairs, t, np.ones(150), majority=majority, assignment_size=0.2, rng=rng
    )
    assert not train[kept].any()
    assert train.sum() + len(kept) == 150
    alone = CIPSClassifier(random_state=0).fit(pairs[train], t[train])
    np.testing.assert_allclose(np.abs(alone.coef_), np.abs(clf.coef_), rtol=1e-6)


def test_assignment_after_fit(blobs):
    X, y = blobs
    pairs, t = Pairs.sample(X, 150, y, random_state=0)
    clf = CIPSClassifier(classes=("minor", "major")).fit(pairs[:100], t[:100])
    assert clf.assignment_ is None
    clf.assign_from_pairs(pairs[100:], t[100:], majority=1)
    by_pairs = clf.coef_.copy()
    assert np.mean(clf.predict(X) == np.where(y > 0, "major", "minor")) > 0.85
    clf._flip()
    clf.assign_from_points(X[:20], np.where(y[:20] > 0, "major", "minor"))
    np.testing.assert_array_equal(clf.coef_, by_pairs)
    assert clf.assignment_.method == "points"
    clf.assign_from_points(X[:20], np.where(y[:20] > 0, "major", "minor"))
    assert clf.assignment_.sign == 1
    with pytest.raises(ValueError, match=r"label 1 is not one of.*'minor'"):
        clf.assign_from_points(X[:2], [1, -1])


@pytest.mark.parametrize("size", [0.2, 30])
def test_assignment_size_is_a_share_or_a_number(size, blobs):
    X, y = blobs
    pairs, t = Pairs.sample(X, 150, y, random_state=0)
    clf = CIPSClassifier(majority=1, assignment_size=size, random_state=0)
    assert clf.fit(pairs, t).assignment_.n_pairs == 30


@pytest.mark.parametrize("size", [0, 0.0, 1.0, 149, -1])
def test_wrong_assignment_size(size, blobs):
    X, y = blobs
    pairs, t = Pairs.sample(X, 150, y, random_state=0)
    with pytest.raises(ValueError, match="assignment_size"):
        CIPSClassifier(majority=1, assignment_size=size).fit(pairs, t)


def test_training_keeps_both_kinds_and_weightless_pairs():
    t = np.array([1.0] * 9 + [-1.0])
    weight = np.where(np.arange(10) < 3, 0.0, 1.0)
    pairs = Pairs.sample(np.zeros((20, 1)), 10, random_state=0)
    for seed in range(20):
        rng = np.random.RandomState(seed)
        train, kept = split_for_assignment(
            pairs, t, weight, majority=1, assignment_size=0.3, rng=rng
        )
        assert len(kept) == 3
        assert train[9]
        assert (weight[kept] > 0).all()


def test_pairs_that_share_points_do_not_count_twice():
    """400 pairs of 40 points at prior 1/2 hold 20 independent votes, not 400."""
    rng = np.random.default_rng(0)
    sure = 0
    for seed in range(40):
        y = rng.permutation(np.repeat([-1, 1], 20))
        X = (y * (rng.random(40) < 0.9) + 0.01 * rng.normal(size=40))[:, None]
        pairs, t = Pairs.sample(X, 400, y, reuse=True, random_state=seed)
        clf = CIPSClassifier().fit(pairs, t)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.assign_from_pairs(pairs, t, majority=1)
        sure += clf.assignment_.p_value < 0.01
    assert sure <= 4


def test_named_features_with_majority_do_not_warn(blobs):
    pd = pytest.importorskip("pandas")
    X, y = blobs
    frame = pd.DataFrame(X, columns=list("abcd"))
    pairs, t = Pairs.sample(frame, 150, y, random_state=0)
    clf = CIPSClassifier(majority=1, random_state=0).fit(pairs, t)
    assert np.mean(clf.predict(frame) == y) > 0.85


def test_pairs_that_share_no_point_are_kept_for_assignment():
    pairs = Pairs.sample(np.zeros((300, 1)), 400, reuse=True, random_state=0)
    t = np.where(np.arange(400) % 2, 1.0, -1.0)
    _, kept = split_for_assignment(
        pairs,
        t,
        np.ones(400),
        majority=1,
        assignment_size=100,
        rng=np.random.RandomState(0),
    )
    assert len(kept) == 100
    assert pairs[kept].is_disjoint()


@pytest.mark.parametrize("shared", [False, True])
def test_pairs_for_assignment_are_not_trained_on(shared):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.8, 1, -1)
    X = rng.normal(size=(400, 3)) + y[:, None]
    index = (
        rng.integers(400, size=(900, 2)) if shared else np.arange(400).reshape(-1, 2)
    )
    pairs = Pairs(X, index)
    t = pairs.answers(y)
    train, kept = split_for_assignment(
        pairs, t, np.ones(len(t)), majority=1, assignment_size=0.3,
        rng=np.random.RandomState(0),
    )  # fmt: skip
    assert train.sum() + len(kept) == len(t)
    assert not train[kept].any()
    assigned = CIPSClassifier(majority=1, assignment_size=0.3, random_state=0)
    assigned.fit(pairs, t)
    alone = CIPSClassifier(random_state=0).fit(pairs[train], t[train])
    np.testing.assert_allclose(np.abs(assigned.coef_), np.abs(alone.coef_), rtol=1e-6)
    other = CIPSClassifier(random_state=0).fit(pairs, t)
    assert np.abs(np.abs(other.coef_) - np.abs(alone.coef_)).max() > 1e-4


@pytest.mark.parametrize(("n_used", "copied"), [(100, True), (400, False)])
def test_points_in_no_pair_are_copied_away_where_they_are_most(n_used, copied):
    X = np.random.default_rng(0).normal(size=(1000, 3))
    pairs = Pairs(X, np.arange(n_used).reshape(-1, 2))
    used = CIPSClassifier()._compact_for_training(pairs)
    assert (used is not pairs) == copied
    assert len(used.X) == (n_used if copied else 1000)


def test_votes_that_happen_to_be_alike_are_no_sign_test():
    """All answers "same", where "different" is missed: votes of one size by chance."""
    n, rates = 10, (1.0, 0.3)
    found = assign_from_pairs(
        np.ones(n), np.ones(n), np.ones(n), majority=1, flip_rates=rates
    )
    # One group for all points of two equal kinds: neither sign is better, and each
    # answer is "same" with probability 0.5 + 0.5 * 0.3.
    assert found.p_value >= 0.65**n
