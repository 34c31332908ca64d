"""Import what writes and reads models, without what it would bring along."""

from __future__ import annotations

import sys

__all__ = ["import_skops"]

# Adapters inside scikit-learn that import torch and dask; a command needs neither.
_ADAPTERS = tuple(
    f"sklearn.externals.array_api_compat.{name}" for name in ("torch", "dask", "cupy")
)


def import_skops() -> None:
    """Import skops in a second instead of several.

    skops goes through all packages of scikit-learn to learn its types. Some of them are
    adapters that import torch and dask where these are installed. For that moment they
    are taken for missing, which the search is ready for.
    """
    hidden = [name for name in _ADAPTERS if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        import skops.io
    finally:
        for name in hidden:
            sys.modules.pop(name, None)
    del skops
