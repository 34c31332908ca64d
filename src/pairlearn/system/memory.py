"""Memory that is not needed any more, given back to the operating system."""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import cache
from typing import Any

__all__ = ["give_back_memory", "share_memory_of_threads"]

# Of mallopt(3): the most arenas, each of which keeps what its threads have freed.
_ARENA_MAX = -8


@cache
def _libc() -> Any:
    """Return the C library if it is glibc, which keeps freed memory; else None."""
    try:
        library = ctypes.CDLL(ctypes.util.find_library("c"))
    except (OSError, TypeError):
        return None
    has_both = hasattr(library, "malloc_trim") and hasattr(library, "mallopt")
    return library if has_both else None


def give_back_memory() -> None:
    """Give freed memory back; without glibc nothing is to be done.

    Examples
    --------
    >>> give_back_memory()
    """
    library = _libc()
    if library is not None:
        library.malloc_trim(0)


def share_memory_of_threads() -> None:
    """Let threads take what others have freed, before new memory is taken.

    Examples
    --------
    >>> share_memory_of_threads()
    """
    library = _libc()
    if library is not None:
        library.mallopt(_ARENA_MAX, 1)
