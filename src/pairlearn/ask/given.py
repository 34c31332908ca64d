"""What somebody gives to an interview, checked before the first question is asked."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.checks import check_finite_points, check_index
from pairlearn.data.containers import is_dask, is_tensor
from pairlearn.data.pairs import Pairs

if TYPE_CHECKING:
    from pairlearn.data.types import Ints, PointsLike

__all__ = ["as_index", "check_numbers", "is_number", "plain"]


def check_numbers(X: PointsLike) -> PointsLike:
    """Refuse points that are no numbers, before the first question; return them."""
    if is_dask(X) or is_tensor(X):
        return X
    table: Any = X.to_numpy() if hasattr(X, "to_numpy") else X
    if table.dtype.kind not in "biuf":
        try:
            table = table.astype(float)
        except (TypeError, ValueError) as problem:
            raise ValueError(
                f"the points must be numbers ({problem}); turn text into columns of "
                "numbers first, as sklearn.preprocessing.OneHotEncoder does, or use "
                "pairlearn ask, which reads tables with text"
            ) from None
    check_finite_points(table)
    return X


def is_number(value: Any) -> bool:
    """Tell whether a value is a real number."""
    return isinstance(value, numbers.Real)


def plain(value: Any) -> Any:
    """Return a value as JSON can keep it."""
    return value.item() if isinstance(value, np.generic) else value


def as_index(pairs: Any, n_points: int) -> Ints:
    """Return row numbers of pairs."""
    index = pairs.index if isinstance(pairs, Pairs) else pairs
    return check_index(index, n_points)
