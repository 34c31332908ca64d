"""Blocks that are views of a memory map give their pages back after use."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

__all__ = ["release_pages"]


def release_pages(block: Any) -> None:
    """Tell the system that a block of a memory map is not needed for now.

    The pages of a map stay resident once they were read, so that a pass over a large
    file would fill the memory. They are read again when they are needed again. Nothing
    happens to other arrays, nor to a copy-on-write map, which would lose changes.

    Parameters
    ----------
    block : array
        Any block; it stays valid.
    """
    here = block
    while isinstance(here, np.ndarray) and not isinstance(here, np.memmap):
        here = here.base
    if not isinstance(here, np.memmap) or here.mode == "c":
        return
    pages: Any = getattr(here, "_mmap", None)
    advice = getattr(mmap, "MADV_DONTNEED", None)
    if pages is None or advice is None or not block.size:
        return
    first = np.frombuffer(pages, np.uint8).__array_interface__["data"][0]
    low, high = _bounds(block)
    start = (low - first) // mmap.PAGESIZE * mmap.PAGESIZE
    pages.madvise(advice, start, min(high - first, len(pages)) - start)


def _bounds(block: Any) -> tuple[int, int]:
    """Return the addresses of the first byte of an array and of that after its last."""
    low = high = block.__array_interface__["data"][0]
    for step, n in zip(block.strides, block.shape, strict=True):
        low, high = low + min(step * (n - 1), 0), high + max(step * (n - 1), 0)
    return low, high + block.itemsize
