"""Points that a model has learnt from are known again, and others are not."""

import numpy as np
import pytest

from pairlearn.cli.training_points import (
    find_equal_rows,
    find_known_points,
    make_fingerprints,
)


class TestFingerprints:
    @pytest.mark.parametrize("n_columns", [1, 2, 30, 400])
    @pytest.mark.parametrize("centre", [0.0, 50.0])
    def test_rounded_points_are_known_and_others_are_not(self, n_columns, centre):
        rng = np.random.default_rng(0)
        X = centre + rng.normal(size=(500, n_columns))
        seen = make_fingerprints(X, None)
        for again in (X.astype(np.float32), X.round(6), X * (1 + 1e-12)):
            found = find_known_points(seen, np.asarray(again, float), None)
            assert found.by_features.all()
        new = find_known_points(seen, centre + rng.normal(size=(500, n_columns)), None)
        # On the line of a single column, some lie as close as rounding.
        assert n_columns == 1 or np.mean(new.by_features) < 0.01

    def test_rows_of_zeros_and_ones(self):
        X = np.array([[k >> j & 1 for j in range(12)] for k in range(4096)], float)
        seen = make_fingerprints(X[::2], None)
        assert np.array_equal(
            find_known_points(seen, X, None).by_features, np.arange(4096) % 2 == 0
        )

    def test_numbers_beyond_measure(self):
        X = np.array([[1.0, 0.0], [2.0, 0.0]])
        found = find_known_points(
            make_fingerprints(X, None), np.array([[1e300, -1e300]]), None
        )
        assert not found.by_features.any()

    def test_twins(self):
        X = np.random.default_rng(0).normal(size=(50, 3))
        found = find_equal_rows(np.vstack([X, X[:10]]), np.arange(60), 70)
        assert found.n_equal == 20
        assert not found.repeat
        assert np.array_equal(found.group[50:60], np.arange(10))
        assert np.array_equal(found.group[60:], np.arange(60, 70))
        assert find_equal_rows(np.ones((9, 1)), np.arange(9), 9).repeat
