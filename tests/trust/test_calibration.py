"""The scale of scores and the rate of wrong answers, both found from pairs."""

import numpy as np
import pytest

from pairlearn.trust.calibration import (
    Scale,
    class_probabilities,
    expected_rate,
    fit_scale,
)


def test_noise_is_told_from_overlap():
    rng = np.random.default_rng(0)
    g = rng.normal(0.5, 4, size=(20_000, 2))
    y = rng.random(g.shape) < 1 / (1 + np.exp(-g))
    t = np.where(y[:, 0] == y[:, 1], 1.0, -1.0)
    t[rng.random(len(t)) < 0.15] *= -1
    scale = fit_scale(3 * g[:, 0], 3 * g[:, 1], t, np.ones(len(t)))
    assert scale.rate == pytest.approx(0.15, abs=0.01)
    assert scale.slope == pytest.approx(1 / 3, rel=0.1)
    known = fit_scale(3 * g[:, 0], 3 * g[:, 1], t, np.ones(len(t)), rate=0.15)
    assert known.rate == 0.15
    assert known.slope == pytest.approx(1 / 3, rel=0.1)


def test_nothing_to_go_by():
    empty = np.empty(0)
    assert fit_scale(empty, empty, empty, empty) == Scale(0.0, 0.0, 0.1)
    assert expected_rate(empty, empty) == pytest.approx(0.1)
    p = class_probabilities(np.array([np.nan, 2.0]), Scale(1.0, 0.0, 0.1))
    np.testing.assert_allclose(p[0], 0.5)
    assert p[1, 1] > 0.8
