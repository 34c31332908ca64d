"""The learning curve and its forecast."""

import numpy as np
import pytest

from pairlearn.ask import LearningCurve, Version


def curve(ns, errors):
    pairs = enumerate(zip(ns, errors, strict=True), 1)
    return LearningCurve([Version(k, n, e) for k, (n, e) in pairs])


def test_an_exact_power_law_is_continued():
    ns = np.array([20, 30, 45, 70, 100])
    found = curve(ns, 3.0 * ns**-0.7).advice(3.0 * 400**-0.7)
    assert found.n_more == 300
    low, high = found.n_more_range
    assert low < 300 < high


def test_the_range_holds_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    ns = np.array([20, 30, 45, 70, 100])
    held = 0
    for _ in range(300):
        errors = 2.0 * ns**-0.6 * np.exp(0.15 * rng.normal(size=5))
        found = curve(ns, errors).advice(2.0 * 200**-0.6)
        if found.n_more_range is None:
            continue
        low, high = found.n_more_range
        held += low <= 100 and (high is None or high >= 100)
    assert 0.7 <= held / 300 <= 0.97


def test_what_cannot_be_said_is_not_said():
    assert curve([20, 40], [0.2, 0.1]).advice(0.05).n_more is None
    assert "needs 3 versions" in str(curve([20, 40], [0.2, 0.1]).advice(0.05))
    rising = curve([20, 40, 80], [0.1, 0.2, 0.3]).advice(0.05)
    assert rising.n_more is None
    assert "does not fall" in str(rising)
    done = curve([20, 40, 80], [0.1, 0.05, 0.02]).advice(0.05)
    assert done.n_more == 0
    assert "expects to have reached an error of 5.0%" in str(done)
    with pytest.raises(ValueError, match="error must lie strictly between 0 and 1"):
        curve([20], [0.1]).advice(0)


def test_slices_are_curves():
    whole = curve([20, 40, 80], [0.1, 0.05, 0.02])
    assert isinstance(whole[1:], LearningCurve)
    assert whole[-1].n_answers == 80
