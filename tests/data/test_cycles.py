"""Contradictory cycles: those that following all paths finds, and no others."""

import numpy as np
import pytest

from pairlearn.data.cycles import in_contradictory_cycle


def brute_force_cycles(n_points, index, t, bad):
    """Pairs on a simple cycle with a bad list of answers, by following all paths."""
    found = np.zeros(len(t), dtype=bool)

    def follow(path, visited, last, first):
        for k, (i, j) in enumerate(index):
            if k in path or i == j or last not in (i, j):
                continue
            end = j if last == i else i
            if end == first:
                if bad(t[[*path, k]]):
                    found[[*path, k]] = True
            elif end not in visited:
                follow([*path, k], visited | {end}, end, first)

    for start in range(n_points):
        follow([], {start}, start, start)
    return found


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_contradictory_cycles_by_brute_force(seed, n_classes):
    rng = np.random.default_rng(seed)
    n_points = 7
    index = rng.integers(n_points, size=(9, 2))
    t = rng.choice([-1.0, 1.0, 1.0, 1.0], size=9)
    t[index[:, 0] == index[:, 1]] = 1.0

    def bad(answers):
        return np.prod(answers) < 0 if n_classes == 2 else np.sum(answers < 0) == 1

    expected = brute_force_cycles(n_points, index.tolist(), t, bad)
    got = in_contradictory_cycle(n_points, index, t, n_classes)
    np.testing.assert_array_equal(got, expected)


def test_soft_answers_are_in_no_cycle():
    index = np.array([[0, 1], [1, 2], [0, 2]])
    assert not in_contradictory_cycle(3, index, np.array([1, 1, -0.9])).any()


def test_long_cycles_are_no_trouble():
    n = 30_000
    index = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)
    t = np.ones(n)
    assert not in_contradictory_cycle(n, index, t).any()
    t[17] = -1
    assert in_contradictory_cycle(n, index, t).all()
