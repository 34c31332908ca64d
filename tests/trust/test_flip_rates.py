"""How often answers are wrong, without a model."""

import numpy as np
import pytest

from pairlearn import Pairs
from pairlearn.trust.flip_rates import (
    flip_rate,
    flip_rate_from_repeats,
    flip_rate_from_triangles,
    growth_of_majorities,
    majority_rates,
)


def over(index, n_points=None):
    index = np.asarray(index)
    return Pairs(np.zeros((n_points or index.max() + 1, 1)), index)


def test_repeats_are_compared_two_by_two():
    # Five answers about one pair, in either order; one about another; one unsure.
    index = [[0, 1], [1, 0], [0, 1], [0, 1], [1, 0], [2, 3], [0, 1]]
    found = flip_rate_from_repeats(over(index), [1, 1, 1, -1, 1, 1, 0.5])
    assert found.n_compared == 2
    assert found.rate == pytest.approx((1 - np.sqrt(1 - 2 * 0.5)) / 2)
    assert flip_rate_from_repeats(over([[0, 1], [2, 3]]), [1, -1]) is None


def test_triangles_share_no_answer():
    # Two triangles with a side in common: one of them counts.
    index = [[0, 1], [1, 2], [0, 2], [1, 3], [2, 3]]
    found = flip_rate_from_triangles(over(index), [1, 1, 1, 1, 1])
    assert (found.n_compared, found.rate) == (1, 0.0)
    # One or three "different" cannot be.
    for t, odd in [([1, 1, -1], 1), ([-1, -1, -1], 1), ([1, -1, -1], 0)]:
        found = flip_rate_from_triangles(over(index[:3]), t)
        assert (found.rate > 0) == odd
    assert flip_rate_from_triangles(over(index[1:4]), [1, 1, 1]) is None


def test_a_dense_graph_is_packed_with_triangles():
    index = np.stack(np.triu_indices(30, 1), axis=1)
    found = flip_rate_from_triangles(over(index), np.ones(len(index)))
    # All 435 answers would be 145 triangles; a greedy choice gets most of them.
    assert 120 <= found.n_compared <= 145


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.15, 0.3])
def test_rates_are_found(rate):
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 3000)
    corners = np.arange(3000).reshape(-1, 3)
    sides = corners[:, [0, 1, 1, 2, 0, 2]].reshape(-1, 2)
    for estimate, index in [
        (flip_rate_from_triangles, sides),
        (flip_rate_from_repeats, np.concatenate([sides[::2], sides[::2, ::-1]])),
    ]:
        truth = y[index].prod(axis=1)
        t = np.where(rng.random(len(truth)) < rate, -truth, truth)
        found = estimate(over(index), t)
        low, high = found.interval
        assert low <= rate <= high
        assert rate > 0.2 or high - low < 0.12
        assert found.confidence == 0.99


def test_the_narrower_of_both_is_taken():
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 600)
    sides = np.arange(600).reshape(-1, 3)[:, [0, 1, 1, 2, 0, 2]].reshape(-1, 2)
    index = np.concatenate([sides, sides[:20]])
    truth = y[index].prod(axis=1)
    t = np.where(rng.random(len(truth)) < 0.1, -truth, truth)
    found = flip_rate(over(index), t)
    assert found.n_compared == 200
    assert flip_rate(over([[0, 1], [2, 3]]), [1, -1]) is None


def test_many_answers_take_no_time():
    rng = np.random.default_rng(0)
    index = rng.integers(100_000, size=(300_000, 2))
    found = flip_rate(over(index, 100_000), rng.choice([-1.0, 1.0], 300_000))
    assert found.n_compared > 0


def test_rates_that_depend_on_the_pair_stay_below_the_most():
    """A fifth of the pairs are coin flips; repeats show less than their mean rate."""
    rng, inside, above = np.random.default_rng(0), 0, 0
    for _ in range(60):
        rate = np.tile(np.where(rng.random(600) < 0.2, 0.5, 0.01), 2)
        truth = np.tile(rng.choice([-1.0, 1.0], 600), 2)
        t = np.where(rng.random(1200) < rate, -truth, truth)
        index = np.tile(np.arange(1200).reshape(-1, 2), (2, 1))
        found = flip_rate(over(index), t)
        inside += found.interval[1] >= rate.mean()
        above += found.most >= rate.mean()
    assert above == 60
    assert inside < 60
    assert found.confidence == 0.99


def test_repeats_that_were_copied_do_not_overrule_triangles():
    """Each row is there twice: copies agree, but triangles show wrong answers."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 600)
    sides = np.arange(600).reshape(-1, 3)[:, [0, 1, 1, 2, 0, 2]].reshape(-1, 2)
    truth = y[sides].prod(axis=1)
    t = np.where(rng.random(600) < 0.15, -truth, truth)
    found = flip_rate(over(np.tile(sides, (2, 1))), np.tile(t, 2))
    assert found.interval[0] == 0
    assert found.interval[1] > 0.15
    assert found.most > 0.15


def test_majorities():
    """Against the binomial law; and a majority may be wrong more often than one."""
    rate = 0.3
    exact = 3 * rate**2 * (1 - rate) + rate**3
    r1, r0 = majority_rates((1 - rate, rate), np.array([3]))
    assert (1 - r1, r0) == pytest.approx((exact, exact))
    # Of two answers that agree.
    assert majority_rates((0.8, 0.2), np.array([2]))[1] == pytest.approx(0.04 / 0.68)
    assert majority_rates((0.8, 0.1), np.array([1])) == pytest.approx((0.8, 0.1))
    hard = 0.75
    assert growth_of_majorities(np.array([1, 3])) == pytest.approx(
        (3 * hard**2 * (1 - hard) + hard**3) / hard
    )
    assert growth_of_majorities(np.array([10**9])) < 2
