"""The excess error of a linear classifier, in closed form."""

import numpy as np
import pytest

from pairlearn.reproduce.rates import MEAN, PRIOR, error, excess_error


def test_the_excess_error_agrees_with_simulation():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400_000) < PRIOR, 1, -1)
    X = rng.normal(size=(len(y), len(MEAN))) + y[:, None] * MEAN
    w, b = np.array([1.0, -0.5, 0.2, 0.0, 0.3]), 0.4
    simulated = np.mean(np.where(X @ w + b > 0, 1, -1) != y)
    assert error(w, b) == pytest.approx(simulated, abs=0.003)
    assert excess_error(w, b) == pytest.approx(excess_error(-3 * w, -3 * b))
    assert excess_error(w, b) > 0.1
