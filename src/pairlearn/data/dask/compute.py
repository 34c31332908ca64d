"""Dask collections computed: by the active cluster, or by threads here."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import dask
from dask.base import get_scheduler
from scipy import sparse

from pairlearn.system.threads import single_blas

__all__ = ["active_client", "compute", "in_memory"]


def compute(collection: Any) -> Any:
    """Return a dask collection's result: by the active cluster, or by threads here.

    Threads here take a block each, so BLAS must not start more of its own.
    """
    with single_blas() if active_client() is None else nullcontext():
        return dask.compute(collection)[0]


def in_memory(X: Any) -> Any:
    """Return a dask array or frame in memory; blocks that are sparse make a matrix."""
    if sparse.issparse(getattr(X, "_meta", None)):
        # Not every version of dask joins every kind of sparse matrix.
        parts = compute(X.to_delayed().ravel().tolist())
        return sparse.vstack(parts, format="csr")
    return compute(X)


def active_client() -> Any:
    """Return the client of the cluster that dask would compute on, if there is one."""
    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "persist") else None
