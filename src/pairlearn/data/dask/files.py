"""Files of points as dask arrays, opened by whoever reads a block."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np

__all__ = ["npy_blocks"]

# A block's size if the user does not say.
_BYTES = 2**27


def npy_blocks(path: str | Path, n_rows: int | None) -> Any:
    """Return a .npy file as a dask array; see `containers.blocks_of_npy`."""
    path = Path(path).resolve()
    table = np.load(path, mmap_mode="r")
    if table.ndim != 2:
        raise ValueError(
            "points must be a table of shape (n_points, n_features); the file holds "
            f"shape {table.shape}"
        )
    if n_rows is None:
        n_rows = max(1, _BYTES // max(1, table.itemsize * table.shape[1]))
    return da.map_blocks(
        _rows_of_npy, str(path),
        chunks=da.core.normalize_chunks((n_rows, -1), shape=table.shape),
        dtype=table.dtype, meta=np.empty((0, 0), table.dtype),
        name=f"npy-{uuid4().hex}",
    )  # fmt: skip


def _rows_of_npy(path: str, block_info: Any = None) -> Any:
    begin, end = block_info[None]["array-location"][0]
    return np.load(path, mmap_mode="r")[begin:end]
