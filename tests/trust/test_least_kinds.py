"""How many kinds there are at least, if the answers are right."""

import numpy as np
import pytest

from pairlearn import Pairs
from pairlearn.trust.least_kinds import least_kinds


def sampled(n_kinds, n_pairs, seed, n_points=400):
    rng = np.random.default_rng(seed)
    kind = rng.integers(n_kinds, size=n_points)
    X = np.zeros((n_points, 1))
    pairs, t = Pairs.sample(X, n_pairs, kind, reuse=True, random_state=seed)
    return pairs, t, kind


@pytest.mark.parametrize("n_kinds", [2, 3, 5, 10])
def test_points_are_never_of_more_kinds_than_there_are(n_kinds):
    for seed in range(20):
        pairs, t, kind = sampled(n_kinds, 300, seed)
        found = least_kinds(pairs, t)
        assert 1 <= found.by_points <= n_kinds
        # The points named are of as many kinds.
        assert len(np.unique(kind[found.points])) == found.by_points


@pytest.mark.parametrize(("n_kinds", "confidence"), [(3, 0.8), (5, 0.8), (3, 0.99)])
def test_the_share_holds_as_often_as_it_says(n_kinds, confidence):
    """Kinds of one size are the hardest case, which the number is made for."""
    wrong, n, risk = 0, 300, 1 - confidence
    for seed in range(n):
        pairs, t, _ = sampled(n_kinds, 200, seed)
        wrong += least_kinds(pairs, t, confidence=confidence).by_share > n_kinds
    assert wrong / n <= risk + 3 * np.sqrt(risk * (1 - risk) / n)


def test_points_that_answers_join_count_as_one():
    # 0 = 1, 2 = 3, 4 = 5; each of these differs from the others by one answer.
    index = [[0, 1], [2, 3], [4, 5], [0, 2], [3, 4], [1, 5]]
    t = np.array([1.0, 1, 1, -1, -1, -1])
    found = least_kinds(Pairs(np.zeros((6, 1)), index), t)
    assert found.by_points == 3
    assert found.in_words().startswith("at least 3 if every answer is right, since 3")


def test_answers_that_say_nothing():
    pairs = Pairs(np.zeros((3, 1)), [[0, 1], [1, 2], [0, 0]])
    assert least_kinds(pairs, np.array([0.5, 0.0, -1.0])).most == 1
    assert least_kinds(pairs, np.array([1.0, 1.0, 1.0])).most == 1
    # An answer that contradicts itself names no kind.
    pairs = Pairs(np.zeros((3, 1)), [[0, 1], [1, 2], [0, 2]])
    assert least_kinds(pairs, np.array([1.0, 1.0, -1.0])).by_points <= 1
