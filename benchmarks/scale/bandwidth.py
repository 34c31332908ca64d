"""How fast this machine reads memory; the one module that does not import pairlearn."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from benchmarks.scale.measure import THREADS

if TYPE_CHECKING:
    from collections.abc import Callable


@njit(nogil=True, fastmath=True)
def _sum(x: np.ndarray) -> float:
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return total


_sum(np.zeros(1))


def readers(X: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Return ways to read all of a float64 array, on all threads."""
    pool = ThreadPoolExecutor(THREADS)
    shares = np.array_split(X.reshape(-1), THREADS)
    return {
        "read, numba": lambda: list(pool.map(_sum, shares)),
        "read, NumPy": lambda: list(pool.map(np.sum, shares)),
    }


def evaluate(*, fast: bool, **arguments: Any) -> dict[str, float]:
    """Time evaluations, with numba or as if it were not installed."""
    if not fast:
        # The reader above is compiled; from here on, an import of numba fails.
        sys.modules["numba"] = None  # type: ignore[assignment]
    from benchmarks.scale.evaluations import times

    return times(**arguments)
