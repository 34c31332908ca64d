"""Pairs as a pandas frame, in the words of their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Ints

__all__ = ["frame_of_pairs", "named_points", "need_pandas"]


def need_pandas(instead: str) -> Any:
    """Return pandas, or say that it is missing.

    Parameters
    ----------
    instead : str
        What there is without it.
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            f"a frame needs pandas: pip install 'pairlearn[cli]'; {instead}"
        ) from None
    return pd


def named_points(rows: Ints, ids: ArrayLike | None, n_points: int | None) -> Any:
    """Return the ids of points by their row numbers; without ids the numbers.

    Parameters
    ----------
    rows : ndarray of int
        Row numbers.
    ids : array-like or None
        One for each point.
    n_points : int or None
        How many points there are, if that is known.
    """
    if ids is None:
        return rows
    names = np.asarray(ids)
    least = int(rows.max(initial=-1)) + 1 if n_points is None else n_points
    few = len(names) < least if n_points is None else len(names) != least
    if names.ndim != 1 or few:
        raise ValueError(
            f"ids must be a list of one id per point, {least} in all; got an array of "
            f"shape {names.shape}"
        )
    return names[rows]


def frame_of_pairs(
    X: Any, index: Ints, t: Any = None, ids: ArrayLike | None = None
) -> Any:
    """Return pairs as a frame; see `pairlearn.Pairs.to_frame`."""
    pd = need_pandas("the attribute index holds the row numbers without it")
    if ids is None and isinstance(X, pd.DataFrame):
        ids = X.index
    left, right = (named_points(side, ids, X.shape[0]) for side in index.T)
    frame = pd.DataFrame({"left": left, "right": right})
    if t is not None:
        frame["answer"] = t
    return frame
