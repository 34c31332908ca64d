"""Whether answers speak against two kinds."""

import numpy as np
import pytest

from pairlearn import Pairs
from pairlearn.trust.more_kinds import two_kinds_evidence


def drawn(sizes, n_pairs, seed=0, wrong=0.0, n_points=300):
    """Random pairs of kinds of these shares, with some answers wrong."""
    rng = np.random.RandomState(seed)
    y = rng.choice(len(sizes), size=n_points, p=sizes)
    pairs, t = Pairs.sample(
        np.zeros((n_points, 1)), n_pairs, y, reuse=True, random_state=seed + 1000
    )
    return pairs, np.where(rng.random_sample(n_pairs) < wrong, -t, t)


@pytest.mark.parametrize("wrong", [0.0, 0.1])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_two_kinds_are_seldom_refuted(share, wrong):
    found = [
        two_kinds_evidence(*drawn((share, 1 - share), 300, seed, wrong))
        for seed in range(60)
    ]
    assert sum(one.doubtful for one in found) <= 6
    assert not any(one.refuted for one in found)


@pytest.mark.parametrize("wrong", [0.0, 0.05])
def test_three_kinds_are_refuted_by_the_share_of_same(wrong):
    for seed in range(10):
        found = two_kinds_evidence(*drawn((0.34, 0.33, 0.33), 400, seed, wrong))
        assert found.refuted
        assert found.share_p_value < 1e-3
        assert "are 'different', but random pairs of two kinds" in found.in_words()


def test_triangles_speak_for_three_kinds_where_the_share_does_not():
    """One large kind: more than half of the pairs are the same."""
    pairs, t = drawn((0.72, 0.14, 0.14), 1500, n_points=80)
    found = two_kinds_evidence(pairs, t)
    assert found.share_p_value > 0.5
    assert found.n_one == 0
    assert found.n_three >= 5
    assert found.doubtful
    assert "all three answers are 'different'" in found.in_words()


def test_wrong_answers_alone_do_not_make_triangles_speak():
    for seed in range(20):
        pairs, t = drawn((0.6, 0.4), 1500, seed, wrong=0.15, n_points=80)
        found = two_kinds_evidence(pairs, t)
        assert found.n_one > found.n_three
        assert found.cycle_p_value > 0.05


def test_triangles_are_counted_by_their_answers():
    index = [[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5], [6, 7], [7, 8], [6, 8]]
    pairs = Pairs(np.zeros((9, 1)), index)
    found = two_kinds_evidence(pairs, [-1, -1, -1, 1, 1, -1, 1, -1, -1])
    assert (found.n_one, found.n_three) == (1, 1)
    assert (found.n_same, found.n_pairs) == (3, 9)


def test_answers_that_are_known_to_be_missed_are_expected():
    """If only half of the same pairs are answered so, a quarter of all is enough."""
    pairs, t = drawn((0.34, 0.33, 0.33), 400)
    assert two_kinds_evidence(pairs, t).refuted
    assert two_kinds_evidence(pairs, t, (0.5, 0.0)).share_p_value > 0.5
    assert two_kinds_evidence(pairs, t, (0.9, 0.1)).refuted


def test_uncertain_answers_and_a_point_with_itself_are_left_out():
    pairs = Pairs(np.zeros((4, 1)), [[0, 1], [2, 3], [1, 1], [0, 2]])
    found = two_kinds_evidence(pairs, [1, 0.5, 1, -1])
    assert found.n_pairs == 2
    assert not found.doubtful
    assert found.in_words() == "no answers speak against two kinds"
