"""Answers as constraints: the best assignment that keeps them all."""

import itertools

import numpy as np
import pytest

from pairlearn.models.cluster import constraints as constraints_module
from pairlearn.models.cluster.constraints import ManyClusters, StuckError, TwoClusters
from tests.support.clusterings import answers_of, random_answers


def test_two_clusters_are_assigned_exactly():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        index, t = random_answers(rng, 9, 6, 2)
        constraints = TwoClusters(9, index, t, np.arange(6), drop=False)
        n_groups = constraints.group.max() + 1
        cost = rng.normal(size=(n_groups, 2))
        chosen = constraints.assign(cost, None)
        per_point = (
            cost[constraints.group]
            / np.bincount(constraints.group)[constraints.group, None]
        )
        best = min(
            per_point[np.arange(9), labels].sum()
            for labels in map(np.array, itertools.product([0, 1], repeat=9))
            if (answers_of(labels, index) == t).all()
        )
        np.testing.assert_allclose(cost[np.arange(n_groups), chosen].sum(), best)
        labels = chosen[constraints.group]
        np.testing.assert_array_equal(answers_of(labels, index), t)


def test_a_tie_keeps_the_answers():
    constraints = TwoClusters(
        2, np.array([[0, 1]]), np.array([-1.0]), np.arange(1), drop=False
    )
    assert sorted(constraints.assign(np.zeros((2, 2)), None)) == [0, 1]


@pytest.mark.parametrize("n_clusters", [3, 4])
def test_small_components_of_many_clusters_are_assigned_exactly(n_clusters):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        index, t = random_answers(rng, 6, 7, n_clusters)
        constraints = ManyClusters(6, index, t, np.arange(7), drop=False)
        rows = np.arange(constraints.group.max() + 1)
        cost = rng.random((len(rows), n_clusters))
        chosen = constraints.assign(cost, None)
        best = min(
            cost[rows, labels].sum()
            for labels in map(
                np.array, itertools.product(range(n_clusters), repeat=len(rows))
            )
            if (answers_of(labels[constraints.group], index) == t).all()
        )
        np.testing.assert_allclose(cost[rows, chosen].sum(), best)


def hard_colouring():
    """Answers 'different' of 150 points in 3 clusters that are hard to satisfy."""
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=150)
    index = rng.integers(150, size=(900, 2))
    index = index[y[index[:, 0]] != y[index[:, 1]]][:390]
    return index, rng.normal(size=(150, 3))


def test_a_search_that_gets_stuck_is_repaired(monkeypatch):
    index, cost = hard_colouring()
    numbers = np.arange(len(index))
    constraints = ManyClusters(150, index, -np.ones(len(index)), numbers, drop=False)
    monkeypatch.setattr(constraints_module, "MAX_STEPS", 10)
    members = [g for g in range(150) if g in constraints._neighbours]
    assert isinstance(constraints._search(cost[members], members), list)
    labels = constraints.assign(cost, None)
    assert (labels[index[:, 0]] != labels[index[:, 1]]).all()
    # With a valid assignment at hand there is no need for one.
    monkeypatch.setattr(constraints_module, "MAX_MOVES", 0)
    again = constraints.assign(cost, labels)
    assert (again[index[:, 0]] != again[index[:, 1]]).all()
    with pytest.raises(StuckError, match=r"stuck most often at .* pair") as caught:
        constraints.assign(cost, None)
    assert not caught.value.proved
