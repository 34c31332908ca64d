"""Sums of absolute differences between points and landmarks.

Points lie side by side, one column each, so that the compiler turns the innermost loop
into vector instructions. Four coordinates are taken at a time: the sums are then read
and written a quarter as often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairlearn.engine.backends.numba.compiling import compiled

if TYPE_CHECKING:
    from pairlearn.data.types import Floats

__all__ = ["city_block"]


@compiled
def city_block(landmarks: Floats, points: Floats, factor: float, out: Floats) -> None:
    """Set out[j, i] to factor times the sum of |points[:, i] - landmarks[j]|.

    The number of coordinates is a multiple of four.
    """
    n_coordinates, n_points = points.shape
    for j in range(len(landmarks)):
        for i in range(n_points):
            out[j, i] = 0.0
        for c in range(0, n_coordinates, 4):
            z0, z1 = landmarks[j, c], landmarks[j, c + 1]
            z2, z3 = landmarks[j, c + 2], landmarks[j, c + 3]
            for i in range(n_points):
                first = abs(points[c, i] - z0) + abs(points[c + 1, i] - z1)
                second = abs(points[c + 2, i] - z2) + abs(points[c + 3, i] - z3)
                out[j, i] += factor * (first + second)
