"""What is chosen on held-out answers: averages, slopes, flip rates and folds."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, softmax

from pairlearn import Pairs
from pairlearn.models.auto import stack
from pairlearn.models.auto.folds import deal_folds
from pairlearn.models.auto.stack import (
    Calibration,
    HeldOut,
    average,
    calibrate_average,
    estimate_rates,
    prior_weights,
    slopes,
)
from pairlearn.trust.assignment import match_classes
from pairlearn.trust.certificate import certificate_from_counts
from pairlearn.trust.probabilities import probabilities

# -- from candidates to one model ------------------------------------------------------


def simulated(n_pairs, n_classes=2, rates=(1.0, 0.0), seed=0):
    """True class probabilities of pairs, and answers drawn from them."""
    rng = np.random.default_rng(seed)
    if n_classes == 2:
        f = 2.5 * rng.normal(size=(n_pairs, 2)) + 0.4
        logits = np.stack([np.zeros_like(f), f], axis=2)
    else:
        logits = 2.5 * rng.normal(size=(n_pairs, 2, n_classes))
    p = softmax(logits, axis=2)
    y = (rng.random((n_pairs, 2, 1)) > p.cumsum(axis=2)).sum(axis=2)
    chance = np.where(y[:, 0] == y[:, 1], *rates)
    same = (rng.random(n_pairs) < chance).astype(float)
    return p, HeldOut(same, 1 - same), logits


def test_log_likelihood_of_held_out_answers():
    p = np.array([[[0.2, 0.8], [0.4, 0.6]], [[0.9, 0.1], [0.5, 0.5]]])
    held_out = HeldOut(np.array([1.0, 0.25]), np.array([0.0, 0.5]), (0.9, 0.2))
    q = 0.2 + 0.7 * np.array([0.56, 0.5])
    expected = np.log(q[0]) + 0.25 * np.log(q[1]) + 0.5 * np.log(1 - q[1])
    assert held_out.log_likelihood(p) == pytest.approx(expected)
    assert held_out.total == 1.75
    both = held_out.log_likelihood(np.stack([p, p[::-1]]))
    assert both[0] == pytest.approx(expected)
    assert both.shape == (2,)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_slopes_undo_a_factor(n_classes):
    _, held_out, logits = simulated(3000, n_classes)
    scores = logits[..., 1:] if n_classes == 2 else logits
    factors = np.array([0.4, 1.0, 3.0])
    found = slopes(factors[:, None, None, None] * scores, held_out)
    # The slopes are tried in steps of 28 %.
    np.testing.assert_allclose(np.log(found * factors), 0, atol=0.26)


def test_a_slope_without_evidence_is_one():
    nothing = HeldOut(np.full(4, 0.5), np.full(4, 0.5))
    assert slopes(np.zeros((1, 4, 2, 1)), nothing)[0] == pytest.approx(1, rel=0.15)


def test_prior_weights_favour_typical_scales():
    weights = prior_weights([3.0, 6.0, 1.5, 24.0])
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(
        weights / weights[0], np.exp([0, -0.5, -0.5, -4.5]), rtol=1e-12
    )


def candidates(n_pairs, n_noise=4, seed=0):
    p, held_out, _ = simulated(n_pairs, seed=seed)
    noise = np.random.default_rng(seed + 1).normal(size=(n_noise, n_pairs, 2, 1))
    return np.concatenate([probabilities(1.5 * noise), p[None]]), held_out


def test_the_average_finds_the_informative_candidate():
    prior = np.full(5, 0.2)
    share = []
    for n_pairs in (10, 100, 3000):
        p, held_out = candidates(n_pairs)
        weights = average(p, prior, held_out)
        assert weights.sum() == pytest.approx(1)
        assert (weights > 0).all()
        share.append(weights[-1])
    assert share[0] < share[1] < share[2]
    assert share[0] < 0.7
    assert share[2] > 0.9


def test_equal_candidates_keep_their_prior_weights():
    p, held_out, _ = simulated(200)
    prior = prior_weights([1.0, 4.0, 16.0])
    weights = average(np.stack([p] * 3), prior, held_out)
    np.testing.assert_allclose(weights, prior, atol=1e-9)


def test_the_average_maximises_its_objective():
    rng = np.random.default_rng(0)
    p, held_out = candidates(150)
    prior = np.array([0.3, 0.1, 0.2, 0.1, 0.3])

    def objective(v):
        fit = held_out.log_likelihood(np.tensordot(v, p, axes=1))
        return fit - stack._LAMBDA * (v * np.log(v / prior)).sum()

    weights = average(p, prior, held_out, n_iter=5000)
    best = objective(weights)
    assert best > objective(prior) + 1
    near = [weights * np.exp(0.1 * rng.normal(size=5)) for _ in range(50)]
    assert max(objective(v / v.sum()) for v in near) < best + 1e-3
    anywhere = rng.dirichlet(np.ones(5), size=200)
    assert max(objective(v) for v in anywhere) < best
    # As many rounds as are taken by default come close.
    assert objective(average(p, prior, held_out)) > best - 0.01


def test_calibration_of_two_classes():
    p, held_out, logits = simulated(20_000)
    log_odds = (logits[..., 1] - 0.7) / 2
    seen = np.stack([expit(-log_odds), expit(log_odds)], axis=2)
    found = calibrate_average(seen, held_out)
    assert found.slope == pytest.approx(2, rel=0.1)
    np.testing.assert_allclose(found.bias, [-0.35, 0.35], atol=0.06)
    np.testing.assert_allclose(softmax(found(seen), axis=2), p, atol=0.04)


def test_calibration_of_three_classes():
    p, held_out, logits = simulated(20_000, 3)
    bias = np.array([0.5, -0.2, -0.3])
    seen = softmax((logits - bias) / 1.8, axis=2)
    found = calibrate_average(seen, held_out)
    assert found.slope == pytest.approx(1.8, rel=0.1)
    np.testing.assert_allclose(found.bias - found.bias.mean(), bias, atol=0.12)
    np.testing.assert_allclose(softmax(found(seen), axis=2), p, atol=0.06)


def test_calibration_that_is_not_needed():
    p, held_out, _ = simulated(20_000)
    found = calibrate_average(p, held_out)
    assert found.slope == pytest.approx(1, rel=0.08)
    np.testing.assert_allclose(found.bias, 0, atol=0.06)
    certain = Calibration(1.0, np.zeros(2))(np.array([[0.0, 1.0]]))
    np.testing.assert_allclose(certain, [[np.log(1e-6), 0]])


@pytest.mark.parametrize(
    ("rates", "n_classes"),
    [((0.9, 0.2), 2), ((0.8, 0.02), 2), ((0.9, 0.2), 3)],
    ids=str,
)
def test_flip_rates_are_recovered(rates, n_classes):
    p, held_out, _ = simulated(8000, n_classes, rates)
    found, gain = estimate_rates(p, held_out)
    np.testing.assert_allclose(found, rates, atol=0.06)
    assert gain > 20


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_pairs", [200, 2000])
def test_right_answers_gain_nothing_from_flip_rates(n_classes, n_pairs):
    p, held_out, _ = simulated(n_pairs, n_classes)
    _, gain = estimate_rates(p, held_out)
    assert -0.1 < gain < 3


# -- folds -----------------------------------------------------------------------------


def points_of(pairs, chosen):
    return set(pairs.index[chosen].ravel().tolist())


@pytest.mark.parametrize("n_deals", [1, 3])
def test_folds_of_disjoint_pairs(n_deals):
    pairs = Pairs(np.zeros((46, 1)), np.arange(46).reshape(-1, 2))
    folds = deal_folds(pairs, 5, n_deals, np.random.RandomState(0))
    assert folds.honest
    assert folds.n_deals == n_deals
    assert folds.n_first == 23
    assert folds.trained_on.shape == (23, 5 * n_deals)
    for deal in range(n_deals):
        part = slice(23 * deal, 23 * (deal + 1))
        np.testing.assert_array_equal(np.sort(folds.tested[part]), np.arange(23))
        assert set(folds.model[part]) == set(range(5 * deal, 5 * deal + 5))
    # A pair is left out of its own model only, once a deal.
    assert not folds.trained_on[folds.tested, folds.model].any()
    np.testing.assert_array_equal(folds.trained_on.sum(axis=1), 4 * n_deals)
    if n_deals > 1:
        first, second = folds.model[:23], folds.model[23:46] - 5
        assert (first != second).any()


def test_folds_of_pairs_that_share_points_share_none():
    rng = np.random.RandomState(0)
    # Chains of four points, so that pairs share points.
    index = np.concatenate([[[i, i + 1], [i + 1, i + 2], [i + 2, i + 3]]
                            for i in range(0, 120, 4)])  # fmt: skip
    pairs = Pairs(np.zeros((120, 1)), index)
    folds = deal_folds(pairs, 4, 2, rng)
    assert folds.honest
    for model in range(8):
        tested = folds.tested[folds.model == model]
        assert len(tested)
        trained = np.flatnonzero(folds.trained_on[:, model])
        assert not points_of(pairs, tested) & points_of(pairs, trained)


def test_folds_of_one_large_component_leave_out_what_crosses():
    rng = np.random.RandomState(0)
    index = rng.randint(80, size=(100, 2))
    pairs = Pairs(np.zeros((80, 1)), index)
    folds = deal_folds(pairs, 2, 1, rng)
    assert folds.honest
    assert 5 <= folds.n_first < 100
    for model in range(2):
        tested = folds.tested[folds.model == model]
        trained = np.flatnonzero(folds.trained_on[:, model])
        assert not points_of(pairs, tested) & points_of(pairs, trained)


def test_a_star_cannot_be_dealt_out_honestly():
    pairs = Pairs(np.zeros((31, 1)), [[0, k] for k in range(1, 31)])
    folds = deal_folds(pairs, 5, 1, np.random.RandomState(0))
    assert not folds.honest
    np.testing.assert_array_equal(np.sort(folds.tested), np.arange(30))
    np.testing.assert_array_equal(np.bincount(folds.model), [6] * 5)
    assert not folds.trained_on[folds.tested, folds.model].any()


def test_few_pairs_make_few_folds():
    pairs = Pairs(np.zeros((4, 1)), [[0, 1], [2, 3]])
    folds = deal_folds(pairs, 5, 1, np.random.RandomState(0))
    assert folds.trained_on.shape == (2, 2)
    np.testing.assert_array_equal(folds.trained_on.sum(axis=0), [1, 1])


# -- what they rest on -----------------------------------------------------------------


def test_match_classes_is_the_best_of_all_orders():
    rng = np.random.default_rng(0)
    for n_classes in (2, 3, 5):
        agree = rng.random((n_classes, n_classes))
        rows = np.arange(n_classes)
        totals = {
            order: agree[rows, list(order)].sum()
            for order in itertools.permutations(range(n_classes))
        }
        assert tuple(match_classes(agree)) == max(totals, key=totals.get)


@pytest.mark.parametrize("flip_rate", [0.0, 0.1])
def test_certificate_from_counts(flip_rate):
    exact = stats.binomtest(30, 100).proportion_ci(0.9, "exact")
    pair = (np.array([0.3, exact.low, exact.high]) - flip_rate) / (1 - 2 * flip_rate)
    expected = (1 - np.sqrt(1 - 2 * pair)) / 2
    found = certificate_from_counts(30, 100, 0.9, flip_rate, cross_validated=True)
    assert found.pair_error == pytest.approx(pair[0])
    assert found.pair_interval == pytest.approx(tuple(pair[1:]))
    assert found.clustering_error == pytest.approx(expected[0])
    assert found.clustering_interval == pytest.approx(tuple(expected[1:]))
    assert (found.n_pairs, found.confidence) == (100, 0.9)
    assert found.cross_validated
    assert "estimate" in str(found)
    assert "estimate" in found._repr_html_()
    plain = certificate_from_counts(30, 100)
    assert not plain.cross_validated
    assert "estimate" not in str(plain)


def test_more_disagreement_than_chance_is_no_information():
    found = certificate_from_counts(80, 100)
    assert found.clustering_error == 0.5
    assert found.clustering_interval == (0.5, 0.5)
