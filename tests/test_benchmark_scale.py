"""The benchmark of scale: its task, its fits of exponents, its verdicts."""

import numpy as np
import pytest

from benchmarks.scale.checks import Check
from benchmarks.scale.data import BLOCK, PRIOR, Task, indexed
from benchmarks.scale.measure import exponent


def test_exponent_is_that_of_the_last_factor_16():
    sizes = np.array([1.0, 10.0, 100.0, 200.0, 400.0, 800.0, 1600.0])
    seconds = np.where(sizes < 100, 5.0, 1e-3 * sizes**1.5)
    assert exponent(sizes, seconds) == pytest.approx(1.5)


def test_points_are_the_same_in_any_number_of_blocks():
    task = Task(5)
    X, y = task.points(3 * BLOCK)
    X_last, y_last = task.points(BLOCK, first=2)
    np.testing.assert_array_equal(X[2 * BLOCK :], X_last)
    np.testing.assert_array_equal(y[2 * BLOCK :], y_last)


def test_best_error_is_ten_percent():
    task = Task(8)
    X, y = task.points(50_000)
    covariance = np.cov(X[y > 0].T)
    w = np.linalg.solve(covariance, 2 * task.mean)
    b = np.log(PRIOR / (1 - PRIOR))
    assert np.mean((X @ w + b > 0) != (y > 0)) == pytest.approx(0.1, abs=0.006)


@pytest.mark.parametrize(("n_points", "n_pairs"), [(10, 40), (40, 45), (40, 40)])
def test_index_pairs_use_every_point_and_never_one_twice(n_points, n_pairs):
    index = indexed(n_points, n_pairs)
    assert len(np.unique(index)) == n_points
    assert (index[:, 0] != index[:, 1]).all()


def test_a_check_knows_floors_from_ceilings():
    assert Check("a", 2.0, 1.5, least=True).holds
    assert not Check("a", 2.0, 1.5).holds
    assert not Check("a", float("nan"), 1.5).holds
