"""Distances between points and landmarks, and their exponentials, compiled or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pairlearn.engine.backends.compiled import compiled_module

if TYPE_CHECKING:
    from pairlearn.data.types import Floats

__all__ = ["COMPILED", "block_size", "city_block", "exponentials", "padded"]

# With fewer points it does not pay to load numba, in time or in memory.
COMPILED = 30_000
# The number of coordinates must be a multiple of this one: the others are zeros.
_COORDINATES = 4
# Points whose distances stay in the cache, and the most coordinates of them.
_BLOCK, _MOST_COORDINATES = 256, 2**14


def block_size(width: int) -> int:
    """Return how many points of so many coordinates to take at a time."""
    return max(16, min(_BLOCK, _MOST_COORDINATES // max(1, width)))


def padded(rows: Floats) -> Floats:
    """Return points, one per row, with zeros behind, as `city_block` needs them.

    Examples
    --------
    >>> import numpy as np
    >>> padded(np.ones((1, 2)))
    array([[1., 1., 0., 0.]])
    """
    width = -(-rows.shape[1] // _COORDINATES) * _COORDINATES
    wide = np.zeros((len(rows), width))
    wide[:, : rows.shape[1]] = rows
    return wide


def city_block(
    landmarks: Floats, points: Floats, factor: float, out: Floats, *, compiled: bool
) -> None:
    """Set out[j, i] to factor times the sum of |points[:, i] - landmarks[j]|.

    Parameters
    ----------
    landmarks : ndarray of shape (n_landmarks, n_coordinates)
        Landmarks, one per row.
    points : ndarray of shape (n_coordinates, n_points)
        Points, one per column.
    factor : float
        What the distances are multiplied by.
    out : ndarray of shape (n_landmarks, n_points)
        Where they are written to. All arrays are contiguous.
    compiled : bool
        Whether there is enough to do for compiled loops, where numba is installed.

    Examples
    --------
    >>> import numpy as np
    >>> Z, X = np.zeros((1, 4)), np.array([[1.0, -3.0], [2.0, 0.0], [0, 0], [0, 0]])
    >>> out = np.empty((1, 2))
    >>> city_block(Z, X, 2.0, out, compiled=False)
    >>> out
    array([[6., 6.]])
    """
    shape = len(landmarks), points.shape[1]
    # Compiled loops would read on beyond the end.
    if (
        landmarks.shape[1] != len(points)
        or len(points) % _COORDINATES
        or out.shape != shape
    ):
        raise ValueError(
            f"landmarks have {landmarks.shape[1]} coordinates, points {len(points)}"
        )
    loops = compiled_module() if compiled else None
    if loops is not None:
        loops.city_block(landmarks, points, factor, out)
        return
    out[:] = 0.0
    difference = np.empty_like(out)
    for c in range(len(points)):
        np.subtract(points[c], landmarks[:, c, None], out=difference)
        np.abs(difference, out=difference)
        out += difference
    out *= factor


def exponentials(values: Floats, *, compiled: bool) -> None:
    """Replace values, none of them positive, by their exponentials.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        The values.
    compiled : bool
        Whether there is enough to do for compiled loops, where numba is installed.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[0.0, -1.0]])
    >>> exponentials(values, compiled=False)
    >>> values.round(3)
    array([[1.   , 0.368]])
    """
    loops = compiled_module() if compiled else None
    if loops is not None:
        loops.exponentials(values)
    else:
        np.exp(values, out=values)
