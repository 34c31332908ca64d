"""Points of the task on disk, with their labels.

In a file of numpy.save, which is mapped block by block, or in a Zarr array without
compression, which is read chunk by chunk: at a fifth of the speed here, as what a
cluster shares would be.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import zarr

from benchmarks.scale.data import BLOCK, Task, fresh
from benchmarks.scale.measure import THREADS
from pairlearn import Pairs
from pairlearn.data.containers import blocks_of_npy

N_FEATURES = 1000
CHUNK_BYTES = 2**26
KEEP_FREE = 8 * 10**9  # bytes that are left to others


def shape_for(
    n_bytes: float, scratch: str, shrink: int, n_features: int = N_FEATURES
) -> tuple[int, int]:
    """Return how many points to make, in whole chunks, and of how many features."""
    n_features //= shrink
    room = max(0, shutil.disk_usage(scratch).free - KEEP_FREE)
    # Both are smaller in a quick run, and their product by the square.
    chunk = chunk_of(N_FEATURES) if shrink > 1 else chunk_of(n_features)
    chunks = min(n_bytes / shrink**2, room) // (4 * n_features * chunk)
    return chunk * max(4, int(chunks)), n_features


def chunk_of(n_features: int) -> int:
    """Return the points of a chunk, in whole blocks."""
    return BLOCK * max(1, round(CHUNK_BYTES / (4 * n_features * BLOCK)))


def make(folder: str, n_points: int, n_features: int, kind: str = "npy") -> None:
    """Write points and labels, a chunk at a time, as a file ("npy") or a "zarr"."""
    task, y = Task(n_features), np.empty(n_points, np.int8)
    chunk = min(chunk_of(n_features), n_points)
    path, shape = Path(folder, f"points.{kind}"), (n_points, n_features)
    array: Any
    if kind == "npy":
        array = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    else:
        chunks = (chunk, n_features)
        array = zarr.create_array(
            path, shape=shape, chunks=chunks, dtype="float32", compressors=None
        )

    def write(start: int) -> None:
        X = np.empty((chunk, n_features), np.float32)
        for rows in (slice(k, k + BLOCK) for k in range(0, chunk, BLOCK)):
            part = y[start : start + chunk][rows]
            task.fill(X[rows], part, (start + rows.start) // BLOCK)
        array[start : start + chunk] = X

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(write, range(0, n_points, chunk)))
    np.save(Path(folder, "labels.npy"), y)


def pairs_of(folder: str) -> tuple[Pairs, np.ndarray]:
    """Return pairs of neighbours of the points on disk, and their answers."""
    y = np.load(Path(folder, "labels.npy"))
    path = Path(folder, "points.npy")
    if path.exists():
        n_features = np.load(path, mmap_mode="r").shape[1]
        X = blocks_of_npy(path, chunk_of(n_features))
    else:
        X = da.from_zarr(path.with_suffix(".zarr"))
    return Pairs(X, fresh(len(y) // 2)), (y[::2] * y[1::2]).astype(float)
