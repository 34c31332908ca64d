"""Points of the task on disk: a Zarr array without compression, and its labels."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dask.array as da
import numpy as np
import zarr

from benchmarks.scale.data import BLOCK, Task, fresh
from benchmarks.scale.measure import THREADS
from pairlearn import Pairs

N_FEATURES = 1000
CHUNK = 4 * BLOCK
KEEP_FREE = 8 * 10**9  # bytes that are left to others


def shape_for(
    n_bytes: float, scratch: str, shrink: int, n_features: int = N_FEATURES
) -> tuple[int, int]:
    """Return how many points to make, in whole chunks, and of how many features."""
    n_features //= shrink
    room = max(0, shutil.disk_usage(scratch).free - KEEP_FREE)
    # Both are smaller in a quick run, and their product by the square.
    chunks = min(n_bytes / shrink**2, room) // (4 * n_features * CHUNK)
    return CHUNK * max(4, int(chunks)), n_features


def make(folder: str, n_points: int, n_features: int) -> None:
    """Write points and labels, a chunk at a time."""
    task, y = Task(n_features), np.empty(n_points, np.int8)
    array = zarr.create_array(
        Path(folder, "points.zarr"),
        shape=(n_points, n_features),
        chunks=(CHUNK, n_features),
        dtype="float32",
        compressors=None,
    )

    def write(start: int) -> None:
        X = np.empty((CHUNK, n_features), np.float32)
        for rows in (slice(k, k + BLOCK) for k in range(0, CHUNK, BLOCK)):
            part = y[start : start + CHUNK][rows]
            task.fill(X[rows], part, (start + rows.start) // BLOCK)
        array[start : start + CHUNK] = X

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(write, range(0, n_points, CHUNK)))
    np.save(Path(folder, "labels.npy"), y)


def pairs_of(folder: str) -> tuple[Pairs, np.ndarray]:
    """Return pairs of neighbours of the points on disk, and their answers."""
    X, y = (
        da.from_zarr(Path(folder, "points.zarr")),
        np.load(Path(folder, "labels.npy")),
    )
    return Pairs(X, fresh(len(y) // 2)), (y[::2] * y[1::2]).astype(float)
