"""How functions are compiled: kept on disk where that is possible."""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.core.compiler_lock import global_compiler_lock

from pairlearn.forks import not_while_held

__all__ = ["compiled"]

# Sums may be reordered, which lets the compiler use vector instructions; infinities
# and NaNs keep their meaning, so that a divergence is seen. A division by zero gives
# infinity, as in NumPy; a check would forbid vectors.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz"},
}


def compiled(function: Any) -> Any:
    """Compile a function when it is first called."""
    try:
        return njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:
        # There is no folder to keep the machine code in, so compile it each time.
        return njit(**_OPTIONS)(function)


# A child could not compile if another thread did so while the process forked.
not_while_held(global_compiler_lock)
