"""Methods of points that answer a dask array with a dask array."""

from __future__ import annotations

from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from pairlearn.tables import check_table, is_dask

if TYPE_CHECKING:
    from collections.abc import Callable

    Method = TypeVar("Method", bound=Callable[..., Any])

__all__ = ["by_blocks"]


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
        from pairlearn.blocks.rows import map_rows

        # The model as it is now, whatever becomes of it before the blocks are read.
        model = object.__new__(type(self))
        model.__dict__.update(self.__dict__)
        return map_rows(partial(method, model), check_table(X))

    return of_points  # type: ignore[return-value]
