"""The first evaluation of a fresh process, in which nothing has imported numba."""

from __future__ import annotations

import sys
import time

import numpy as np

from pairlearn.points import as_points
from pairlearn.risks import ProductRisk, answer_coefficients


def call() -> dict[str, float]:
    """Time the first evaluation, import of numba included, and the second."""
    if "numba" in sys.modules:
        raise RuntimeError("numba is imported already: the first call would look short")
    rng = np.random.default_rng(0)
    X, t = rng.normal(size=(200, 100)), np.where(rng.random(100) < 0.5, 1.0, -1.0)
    shares = answer_coefficients(t, np.ones(100))
    seconds = {}
    for name in ("first", "second"):
        start = time.perf_counter()
        terms = as_points(X).coupled(np.arange(200).reshape(100, 2), *shares)
        terms.value_and_gradient(ProductRisk("logistic"), np.ones(100), 0.0)
        seconds[name] = time.perf_counter() - start
    return seconds
