"""What is known about wrong answers, and what the intervals make of it."""

from itertools import product

import numpy as np
import pytest

from pairlearn.trust.certificate import (
    certificate_from_answers,
    certificate_from_counts,
    covering,
)
from pairlearn.trust.intervals import clopper_pearson
from pairlearn.trust.noise import Counts, FlipRateEstimate, Noise, as_noise
from pairlearn.trust.prior import prior_from_answers


def population(rng):
    """Exact probabilities in a world with two kinds and some classifier."""
    p, hit, miss = rng.random(3)
    error = p * (1 - hit) + (1 - p) * miss
    share = p * hit + (1 - p) * miss
    return 2 * error * (1 - error), share**2 + (1 - share) ** 2


def disagreement(pair_error, says_same, r1, r0):
    return r0 + (1 - r1 - r0) * says_same + (r1 - r0) * pair_error


def exactly(share, n=10**9):
    """Counts from which an interval is a point, nearly."""
    return round(share * n), n


def ends_of(noise, d, s, told=0.5):
    n = 10**9
    counts = Counts(n, round(d * n), round(s * n), round(told * n))
    return noise.pair_error(counts, 0.95, clopper_pearson)


def test_known_rates_invert_the_disagreement():
    rng = np.random.default_rng(0)
    for _ in range(200):
        pair_error, says = population(rng)
        r0, r1 = np.sort(rng.random(2))
        if r1 - r0 < 0.1:
            continue
        found = ends_of(
            as_noise((r1, r0)), disagreement(pair_error, says, r1, r0), says
        )
        np.testing.assert_allclose(found, pair_error, atol=2e-3)


def test_unknown_rates_below_one_half_never_hide_more_than_is_said():
    rng = np.random.default_rng(0)
    for _ in range(500):
        pair_error, says = population(rng)
        r1, r0 = 0.5 + rng.random() / 2, rng.random() / 2
        d = disagreement(pair_error, says, r1, r0)
        _, low, high = ends_of(Noise("unknown"), d, says)
        assert low == 0.0
        assert pair_error <= high + 1e-4
        # Where the classifier is not lopsided, wrong answers only add to the error.
        if d < 1 - says:
            assert high == pytest.approx(d, abs=1e-3)


def test_any_wrong_answers_whatever_the_pairs():
    """E and W as dependent as they can be."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        both, only_error, only_wrong, _ = rng.dirichlet([0.3, 1, 1, 3])
        e = both + only_wrong
        if e >= 0.5:
            continue
        _, low, high = ends_of(as_noise(e, cautious=True), only_error + only_wrong, 0.5)
        assert low - 1e-4 <= both + only_error <= high + 1e-4


def test_ranges_are_the_union_of_their_rates():
    rng = np.random.default_rng(0)
    for cautious in (False, True):
        r1, r0 = (0.75, 0.95), (0.05, 0.2)
        counts = Counts(300, 80, 190, 170)
        found = as_noise((r1, r0), cautious=cautious)
        low, high = found.pair_error(counts, 0.95, clopper_pearson)[1:]
        some = [(rng.uniform(*r1), rng.uniform(*r0)) for _ in range(200)]
        ends = np.array(
            [
                as_noise(rates, cautious=cautious).pair_error(
                    counts, 0.95, clopper_pearson
                )[1:]
                for rates in [*some, *product(r1, r0)]
                if abs(1 - rates[0] - rates[1]) > 1e-3
            ]
        )
        assert low <= ends[:, 0].min() + 1e-12
        assert high >= ends[:, 1].max() - 1e-12


def test_an_estimate_takes_its_part_of_the_risk():
    counts = Counts(300, 60, 190, 170)
    known = as_noise(FlipRateEstimate(0.1, (0.05, 0.15)))
    unsure = as_noise(FlipRateEstimate(0.1, (0.05, 0.15), 100, 0.99))
    a, b = (n.pair_error(counts, 0.95, clopper_pearson) for n in (known, unsure))
    assert b[1] < a[1] < a[2] < b[2]
    c = known.pair_error(counts, 0.96, clopper_pearson)
    np.testing.assert_allclose(b, c)
    with pytest.raises(ValueError, match="known with 99% confidence are not enough"):
        unsure.pair_error(counts, 0.995, clopper_pearson)


def test_symmetric_rates_are_clopper_pearson():
    says = np.ones(200)
    t = np.where(np.arange(200) < 50, -1.0, 1.0)
    found = certificate_from_answers(says, t, 0.1)
    low, high = clopper_pearson(50, 200)
    expected = (np.array([low, high]) - 0.1) / 0.8
    np.testing.assert_allclose(found.pair_interval, expected)
    assert found.noise == "known"


def test_unsure_answers_count_both_ways():
    says = np.ones(100)
    t = np.where(np.arange(100) < 10, -1.0, 1.0)
    t[10:30] = 0.0
    found = certificate_from_answers(says, t)
    assert (found.n_pairs, found.n_unsure) == (100, 20)
    assert found.pair_interval == (
        clopper_pearson(10, 100)[0],
        clopper_pearson(30, 100)[1],
    )
    assert found.pair_error == pytest.approx(0.2)
    assert "20 of them unsure" in str(found)


def test_cautious_intervals_say_what_bolder_ones_would_be():
    says, t = np.ones(200), np.where(np.arange(200) < 30, -1.0, 1.0)
    plain, known = (
        certificate_from_answers(says, t),
        certificate_from_answers(says, t, 0.1),
    )
    cautious = certificate_from_answers(says, t, 0.1, cautious=True)
    unknown = certificate_from_answers(says, t, "unknown")
    assert cautious.bolder_interval == known.clustering_interval
    assert unknown.bolder_interval == plain.clustering_interval
    assert plain.bolder_interval is known.bolder_interval is None
    both = covering(cautious, unknown)
    highs = [each.clustering_interval[1] for each in (cautious, unknown)]
    assert both.clustering_interval == (0.0, max(highs))


@pytest.mark.parametrize(
    ("rate", "interval"), [(0.1, (0.2, 0.3)), (0.1, (-0.1, 0.2)), (0.4, (0.1, 0.6))]
)
def test_wrong_estimates(rate, interval):
    with pytest.raises(ValueError, match="must lie in its interval"):
        FlipRateEstimate(rate, interval)


@pytest.mark.parametrize(
    "rates", ["x", (1,), ((0.2, 0.9), (0.1, 0.3)), 0.5, (0.4, 0.6)]
)
def test_wrong_rates(rates):
    with pytest.raises(ValueError, match="unknown flip_rates"):
        as_noise(rates)


def test_two_rates_need_to_know_what_the_classifier_says():
    with pytest.raises(ValueError, match="a single rate here"):
        certificate_from_counts(40, 400, flip_rate=(0.9, 0.2))


def test_nothing_is_known_of_hard_pairs_without_rates():
    with pytest.raises(ValueError, match="without rates nothing can be said"):
        as_noise("auto", cautious=True)


def test_unsure_answers_and_the_prior():
    """Unsure at random: the interval covers whatever they may be."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(100):
        y = rng.random((500, 2)) < 0.9
        t = np.where(y[:, 0] == y[:, 1], 1.0, -1.0)
        t[rng.random(500) < 0.2] = 0.0
        low, high = prior_from_answers(t).interval
        held += low <= 0.9 <= high
    assert held >= 95
    with pytest.raises(ValueError, match="wrong at unknown rates"):
        prior_from_answers([1] * 58 + [-1] * 42, flip_rates="auto")
