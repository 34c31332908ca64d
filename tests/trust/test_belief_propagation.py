"""Beliefs about pairs: exact where they can be, near where they cannot."""

import itertools

import numpy as np
import pytest

from pairlearn.trust.belief_propagation import cavity, wrong


def brute_force(p, index, t, rate):
    """P(same) of each pair given all other answers, by the definition."""
    n_points, n_classes = p.shape
    share = (1 + t) / 2
    q = []
    for k in range(len(t)):
        total = np.zeros(2)
        for y in itertools.product(range(n_classes), repeat=n_points):
            likely = np.prod([p[i, c] for i, c in enumerate(y)])
            for j, (a, b) in enumerate(index):
                if j != k:
                    s = share[j] if y[a] == y[b] else 1 - share[j]
                    likely *= (1 - rate) * s + rate * (1 - s)
            a, b = index[k]
            total[int(y[a] == y[b])] += likely
        q.append(total[1] / total.sum())
    return np.array(q)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "index",
    [
        [[0, 1], [2, 3]],
        [[0, 1], [1, 2], [2, 3], [1, 4]],
        [[0, 1], [1, 2], [2, 0], [3, 4]],
        [[0, 1], [0, 1], [1, 2], [2, 3], [3, 0], [4, 0]],
    ],
    ids=["alone", "tree", "triangle", "double"],
)
def test_beliefs_are_exact(index, n_classes):
    rng = np.random.default_rng(len(index))
    p = rng.dirichlet(np.ones(n_classes), size=5)
    t = rng.choice([-1.0, 1.0, 0.4], size=len(index))
    expected = brute_force(p, np.array(index), t, 0.15)
    np.testing.assert_allclose(cavity(p, np.array(index), t, 0.15), expected, atol=1e-6)


def test_beliefs_on_a_large_graph_come_near_the_sum(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=10)
    index = np.array([(i, j) for i in range(10) for j in range(i) if (i + j) % 3])
    t = np.where(y[index[:, 0]] == y[index[:, 1]], 1.0, -1.0)
    t[4] *= -1
    p = np.stack([0.7 - 0.4 * y, 0.3 + 0.4 * y], axis=1)
    exact = wrong(cavity(p, index, t, 0.1), t, 0.1)
    monkeypatch.setattr("pairlearn.engine.components.likelihood.MAX_STATES", 1)
    near = wrong(cavity(p, index, t, 0.1), t, 0.1)
    assert np.argmax(exact) == np.argmax(near) == 4
    np.testing.assert_allclose(near, exact, atol=0.02)
    # Without any word of a classifier one class is fixed, and the rest follows.
    flat = wrong(cavity(np.full((10, 2), 0.5), index, t, 0.1), t, 0.1)
    np.testing.assert_allclose(flat, exact, atol=0.05)


def test_triangle_of_a_blind_classifier():
    e = 0.1
    index, flat = np.array([[0, 1], [1, 2], [0, 2]]), np.full((3, 2), 0.5)
    path = (1 - e) ** 2 + e**2  # two answers in a row are both right, or both wrong
    for t, same in (([1, 1, 1], path), ([1, 1, -1], path), ([1, -1, 1], 1 - path)):
        q = cavity(flat, index, np.array(t, dtype=float), e)
        assert q[2] == pytest.approx(same)
    # One or three wrong, given that an odd number of them is.
    one, three = e * (1 - e) ** 2, e**3
    expected = (one + three) / (3 * one + three)
    t = np.array([1.0, 1.0, -1.0])
    assert wrong(cavity(flat, index, t, e), t, e) == pytest.approx(expected)
    # A triangle that agrees makes its answers better than they were.
    t = np.ones(3)
    assert np.all(wrong(cavity(flat, index, t, e), t, e) < e / 4)


def test_bayes_rule_against_a_simulation():
    rng = np.random.default_rng(0)
    q = rng.choice([0.1, 0.6, 0.95], size=200_000)
    truth = np.where(rng.random(len(q)) < q, 1.0, -1.0)
    slip = rng.random(len(q)) < 0.2
    t = np.where(slip, -truth, truth)
    suspicion = wrong(q, t, 0.2)
    for value in (0.1, 0.6, 0.95):
        for answer in (-1, 1):
            part = (q == value) & (t == answer)
            assert suspicion[part].mean() == pytest.approx(slip[part].mean(), abs=0.015)
