"""Functions and methods of points that answer a dask array with a dask array."""

from __future__ import annotations

from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from pairlearn.data.checks import check_finite_points
from pairlearn.data.containers import check_table, is_dask
from pairlearn.data.dask.memory_maps import release_pages

if TYPE_CHECKING:
    from collections.abc import Callable

    Method = TypeVar("Method", bound=Callable[..., Any])

__all__ = ["by_blocks", "map_rows"]


def by_blocks(method: Method) -> Method:
    """Make a method ``method(self, X)`` map over the blocks of a dask array.

    Each block is an ordinary array to the method; nothing is computed until it is asked
    for. Anything else than a dask array goes to the method as it is.
    """

    @wraps(method)
    def of_points(self: Any, X: Any) -> Any:
        # Pairs in place of points are the method's to refuse.
        if not is_dask(X) or X.ndim == 3:
            return method(self, X)
        check_is_fitted(self)
        # The model as it is now, whatever becomes of it before the blocks are read.
        model = object.__new__(type(self))
        model.__dict__.update(self.__dict__)
        return map_rows(partial(method, model), check_table(X))

    return of_points  # type: ignore[return-value]


def map_rows(function: Callable[[Any], Any], X: Any) -> Any:
    """Return function(X) as a dask array, computed block by block when asked for.

    Parameters
    ----------
    function : callable
        From a table of points to an array with a row for each.
    X : dask array of shape (n_points, n_features)
        Points.

    Returns
    -------
    dask array of shape (n_points, ...)

    Examples
    --------
    >>> import dask.array as da
    >>> from pairlearn.data.blockwise import map_rows
    >>> map_rows(lambda X: X.sum(axis=1), da.ones((4, 3), chunks=(2, 3))).compute()
    array([3., 3., 3., 3.])
    """
    # What a single point gives says all about the result but its length; without any
    # point it says what is wrong with that.
    shape = (min(1, X.shape[0]), X.shape[1])
    is_sparse = sparse.issparse(X._meta)
    one = (sparse.csr_array if is_sparse else np.zeros)(shape, dtype=X.dtype)
    empty = _plain(function(one))[:0]
    # Blocks keep two dimensions: to drop one, some versions of dask join blocks, which
    # they cannot do if these are sparse.
    wide = empty if empty.ndim == 2 else empty[:, None]
    # A name of its own: the function may be a model, which is not to be hashed.
    name = getattr(getattr(function, "func", function), "__name__", "rows")
    rows = X.map_blocks(
        _of_block, function, wide, dtype=wide.dtype, meta=wide,
        chunks=(X.chunks[0], (wide.shape[1],)), name=f"{name}-{uuid4().hex}",
    )  # fmt: skip
    return rows if empty.ndim == 2 else rows[:, 0]


def _of_block(
    block: Any, function: Callable[[Any], Any], empty: Any, block_info: Any = None
) -> Any:
    if not block.shape[0]:
        return empty
    try:
        rows = _plain(function(block))
    except ValueError:
        # The same complaint by the number of the row in the whole table.
        begin, end = block_info[0]["array-location"][0]
        if block.dtype.kind == "f":
            check_finite_points(block, np.arange(begin, end))
        raise
    finally:
        release_pages(block)
    return rows if rows.ndim == 2 else rows[:, None]


def _plain(result: Any) -> Any:
    """Return a frame as an array, and anything else as it is."""
    return np.asarray(result) if hasattr(result, "columns") else result
