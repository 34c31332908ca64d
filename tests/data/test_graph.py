import numpy as np
import pytest

from pairlearn import CIPSClassifier, Pairs
from pairlearn.data import graph as graphs

EMPTY = np.empty((0, 2), dtype=int)


def pairs_over(n_points, index):
    return Pairs(np.zeros((n_points, 1)), index)


def random_graph(seed, n_points=30, n_pairs=25, wrong=0.0):
    rng = np.random.default_rng(seed)
    index = rng.integers(n_points, size=(n_pairs, 2))
    y = rng.choice([-1, 1], size=n_points)
    t = (y[index[:, 0]] * y[index[:, 1]]).astype(float)
    flip = (rng.random(n_pairs) < wrong) & (index[:, 0] != index[:, 1])
    return pairs_over(n_points, index), np.where(flip, -t, t), y


def reachable(n_points, index):
    """Which points can be reached from which, by repeated squaring."""
    link = np.eye(n_points, dtype=bool)
    link[index[:, 0], index[:, 1]] = link[index[:, 1], index[:, 0]] = True
    for _ in range(10):
        link = link @ link
    return link


@pytest.mark.parametrize("seed", range(10))
def test_components_are_reachability(seed):
    pairs, _, _ = random_graph(seed)
    component = pairs.components()
    same = component[:, None] == component[None, :]
    np.testing.assert_array_equal(same, reachable(30, pairs.index))


@pytest.mark.parametrize("seed", range(10))
def test_closure_of_consistent_answers_is_the_truth_within_components(seed):
    pairs, t, y = random_graph(seed)
    closure = pairs.closure(t)
    every = np.array([(i, j) for i in range(30) for j in range(30)])
    known = reachable(30, pairs.index)[every[:, 0], every[:, 1]]
    expected = np.where(known, y[every[:, 0]] * y[every[:, 1]], 0)
    np.testing.assert_array_equal(closure.answers(every), expected)
    index, answers = closure.pairs()
    upper = every[:, 0] < every[:, 1]
    assert closure.n_answers == len(index) == np.sum(known & upper)
    np.testing.assert_array_equal(answers, y[index[:, 0]] * y[index[:, 1]])
    assert len(np.unique(np.sort(index, axis=1), axis=0)) == len(index)
    assert len(pairs.contradictions(t)) == 0


@pytest.mark.parametrize("seed", range(10))
def test_contradictions_are_closed_walks_with_product_minus_one(seed):
    pairs, t, _ = random_graph(seed, n_points=15, n_pairs=60, wrong=0.1)
    cycles = pairs.contradictions(t)
    assert cycles
    refuted = [cycle[0] for cycle in cycles]
    assert len(set(refuted)) == len(refuted)
    for cycle in cycles:
        assert np.prod(t[cycle]) == -1
        assert len(set(cycle)) == len(cycle)
        here, goal = pairs.index[cycle[0]][::-1]
        for k in cycle[1:]:
            i, j = pairs.index[k]
            assert here in (i, j)
            here = j if here == i else i
        assert here == goal
    # Without the refuted answers nothing is refuted any more.
    rest = np.setdiff1d(np.arange(len(t)), refuted)
    assert len(pairs[rest].contradictions(t[rest])) == 0


def test_contradictory_components_imply_nothing():
    pairs = pairs_over(5, [[0, 1], [1, 2], [2, 0], [3, 4]])
    closure = pairs.closure([1, 1, -1, -1])
    np.testing.assert_array_equal(closure.answers([[0, 1], [3, 4]]), [0, -1])
    assert closure.n_answers == 1


def test_repeated_and_self_pairs():
    pairs = pairs_over(3, [[0, 1], [1, 0], [2, 2]])
    assert [c.tolist() for c in pairs.contradictions([1, -1, 1])] == [[1, 0]]
    assert [c.tolist() for c in pairs.contradictions([1, 1, -1])] == [[2]]


def test_soft_answers_neither_imply_nor_refute():
    pairs = pairs_over(3, [[0, 1], [1, 2], [0, 2]])
    assert len(pairs.contradictions([1, 1, -0.9])) == 0
    closure = pairs.closure([1, 0.5, 0.5])
    np.testing.assert_array_equal(closure.answers([[0, 1], [1, 2]]), [1, 0])


def test_no_pairs():
    pairs = pairs_over(3, EMPTY)
    np.testing.assert_array_equal(pairs.components(), [0, 1, 2])
    assert pairs.closure([]).n_answers == 0
    assert pairs.closure([]).pairs()[0].shape == (0, 2)
    assert len(pairs.contradictions([])) == 0


def test_chain_of_a_million_pairs():
    n = 1_000_000
    rng = np.random.default_rng(0)
    chain = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
    t = rng.choice([-1.0, 1.0], size=n)
    pairs = pairs_over(n + 1, chain)
    assert pairs.components().max() == 0
    closure = pairs.closure(t)
    np.testing.assert_array_equal(
        closure.answers([[0, n], [10, n - 10]]), [np.prod(t), np.prod(t[10 : n - 10])]
    )
    assert closure.n_answers == n * (n + 1) // 2
    with pytest.raises(ValueError, match="limit"):
        closure.pairs()
    ring = pairs_over(n + 1, np.vstack([chain, [n, 0]]))
    [cycle] = ring.contradictions(np.append(t, -np.prod(t)))
    assert len(cycle) == n + 1


def test_many_contradictions_with_long_cycles():
    """Cycles that all run through one root: listed at once they would be quadratic."""
    n = 200_000
    rng = np.random.default_rng(0)
    steps = [np.stack([np.arange(n - k), np.arange(k, n)], axis=1) for k in (1, 2)]
    index = np.concatenate(steps)
    t = np.where(rng.random(len(index)) < 0.1, -1.0, 1.0)
    pairs = pairs_over(n, index)
    found = pairs.contradictions(t)
    assert len(found) == len(found.refuted) > 1000
    for cycle in found[:2]:
        assert np.prod(t[cycle]) == -1
    rest = np.setdiff1d(np.arange(len(t)), found.refuted)
    assert len(pairs[rest].contradictions(t[rest])) == 0


def test_closure_refuses_points_that_are_not_there():
    closure = pairs_over(3, [[0, 1]]).closure([1])
    for index in ([[0, 3]], [[-1, 0]], [[0.5, 1]]):
        with pytest.raises(ValueError, match=r"pair 0|integers"):
            closure.answers(index)


class TestFewBytes:
    @pytest.mark.parametrize("n_pairs", [0, 1, 5, 6, 7])
    def test_pairs_of_a_mask(self, n_pairs, monkeypatch):
        monkeypatch.setattr(graphs, "_MANY", 3)
        rng = np.random.default_rng(0)
        index = rng.integers(9, size=(n_pairs, 2))
        mask = rng.random(n_pairs) < 0.5
        for dtype in (None, np.int32):
            found = graphs.chosen(index, mask, dtype)
            np.testing.assert_array_equal(found, index[mask])
            assert found.dtype == (dtype or index.dtype)

    @pytest.mark.parametrize("n_mask", [0, 3, 5, 6, 10])
    def test_a_mask_of_other_pairs_is_refused(self, n_mask, monkeypatch):
        monkeypatch.setattr(graphs, "_MANY", 3)
        pairs = pairs_over(5, [[0, 1]] * 4)
        with pytest.raises(IndexError, match=f"4 pairs, but a mask of {n_mask}"):
            pairs[np.ones(n_mask, dtype=bool)]

    def test_row_numbers_become_small_where_they_can(self):
        index = np.array([[0, 1], [2, 3]])
        assert graphs.narrow(index, 2**31).dtype == np.int32
        assert graphs.narrow(index, 2**31 + 1).dtype == np.int64
        turned = graphs.narrow(index.T, 4)
        assert turned.flags.c_contiguous
        np.testing.assert_array_equal(turned, index.T)

    def test_users_keep_their_row_numbers(self):
        rng = np.random.default_rng(0)
        y = (rng.random(600) < 0.8).astype(int)
        X = rng.normal(size=(600, 2)) + 2 * y[:, None]
        pairs, t = Pairs.sample(X, 300, y, random_state=0)
        before = pairs.index.copy()
        CIPSClassifier(majority=1, random_state=0).fit(pairs, t)
        assert pairs.index.dtype == np.intp
        np.testing.assert_array_equal(pairs.index, before)
