"""The loops that numba compiles, where numba is installed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from pairlearn.system.forks import unforked

__all__ = ["compiled_module"]


@cache
def compiled_module() -> Any:
    """Return the compiled functions, or None without numba.

    They are looked for once, since a failure takes time.
    """
    try:
        # A child could not import what another thread was importing.
        with unforked:
            return import_module("pairlearn.engine.backends.numba")
    except Exception:
        # Missing, or broken by the versions around it: it must not be in the way.
        return None
