"""The first evaluation of a fresh process, in which nothing has imported numba."""

from __future__ import annotations

import sys
import time

import numpy as np

from pairlearn.engine.coefficients import pair_coefficients
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import ProductRisk


def call() -> dict[str, float]:
    """Time the first evaluation, import of numba included, and the second."""
    if "numba" in sys.modules:
        raise RuntimeError("numba is imported already: the first call would look short")
    rng = np.random.default_rng(0)
    # Few points are left to NumPy.
    X, t = rng.normal(size=(6000, 100)), np.where(rng.random(3000) < 0.5, 1.0, -1.0)
    coefficients = pair_coefficients(t, np.ones(3000))
    seconds = {}
    for name in ("first", "second"):
        start = time.perf_counter()
        index = np.arange(6000).reshape(3000, 2)
        risk_sum = as_points(X).coupled(index, coefficients)
        risk_sum.value_and_gradient(ProductRisk("logistic"), np.ones(100), 0.0)
        seconds[name] = time.perf_counter() - start
    if "pairlearn.engine.backends.numba" not in sys.modules:
        raise RuntimeError("no compiled loop was used: there is no first call to time")
    return seconds
