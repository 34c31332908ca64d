"""Tables that are dask arrays: checked, selected and stacked without being read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from scipy import sparse

from pairlearn.data.dask.memory_maps import release_pages

if TYPE_CHECKING:
    from pairlearn.data.types import Ints

__all__ = ["couple_rows", "known_chunks", "selection", "stack", "table_of", "take"]


def known_chunks(X: Any) -> Any:
    """Return a dask array or frame as an array that knows its shape.

    Lengths that are unknown, as those of files in Parquet, are found by reading the
    data once. The user's object stays as it is.
    """
    if hasattr(X, "to_dask_array"):
        return X.to_dask_array(lengths=True)
    if np.isnan(np.sum([sum(sizes) for sizes in X.chunks])):
        # It is the copy that learns its sizes.
        X = X.copy().compute_chunk_sizes()
    return X


def table_of(X: Any) -> Any:
    """Return a dask array of shape (n_points, n_features), each point in one block."""
    X = known_chunks(X)
    if not isinstance(X._meta, np.ndarray) and not sparse.issparse(X._meta):
        raise TypeError(
            "the blocks of a dask array of points must be NumPy arrays or SciPy sparse "
            f"matrices; got {type(X._meta).__name__}. Convert them first, for example "
            "X.map_blocks(numpy.asarray)"
        )
    if X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return X


def selection(X: Any) -> tuple[Any, Ints | None]:
    """Return the array that `take` took rows from, and those rows; None for all."""
    source: tuple[Any, Ints | None] = getattr(X, "_taken", (X, None))
    return source


def take(X: Any, rows: Ints) -> Any:
    """Return some rows of a dask array, as a dask array.

    Ascending rows stay in their blocks, and blocks without any are not read. The array
    remembers where it comes from, so that a solver can send the rows to the workers
    once, not with each task.
    """
    rows = np.asarray(rows)
    if rows.dtype == bool:
        rows = np.flatnonzero(rows)
    if np.any(np.diff(rows) <= 0) or np.any(rows < 0):
        return X[rows]
    ends = np.cumsum(X.chunks[0])
    bounds = np.searchsorted(rows, [0, *ends])
    counts = np.diff(bounds)
    kept = np.flatnonzero(counts)
    if not len(kept):
        return X[:0]
    begins = np.repeat(ends - np.array(X.chunks[0]), counts)
    local = da.from_array(rows - begins, chunks=(tuple(counts[kept].tolist()),))
    taken = da.blockwise(
        _take, "ij", X.blocks[kept.tolist()], "ij", local, "i",
        dtype=X.dtype, meta=X._meta, align_arrays=False,
        adjust_chunks={"i": tuple(counts[kept].tolist())},
    )  # fmt: skip
    source, numbers = selection(X)
    taken._taken = source, rows if numbers is None else numbers[rows]
    return taken


def _take(block: Any, rows: Ints) -> Any:
    some = block[rows]
    release_pages(block)
    return some


def stack(left: Any, right: Any) -> Any:
    """Return the rows of two tables, at least one a dask array, one below the other."""
    return da.concatenate([_lazy(left, right), _lazy(right, left)])


def couple_rows(left: Any, right: Any) -> Any:
    """Return an array of shape (n_pairs, 2, n_features) of two tables' rows."""
    return da.stack([left, right.rechunk(left.chunks)], axis=1).rechunk({1: -1})


def _lazy(table: Any, other: Any) -> Any:
    if isinstance(table, da.Array):
        return table
    rows = max(other.chunks[0])
    if sparse.issparse(table):
        return da.from_array(table, chunks=(rows, -1), asarray=False)
    return da.from_array(np.asarray(table), chunks=(rows, -1))
