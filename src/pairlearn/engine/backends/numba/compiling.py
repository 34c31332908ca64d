"""How functions are compiled: kept on disk where that is possible.

What is on the disk saves time and is never needed. Numba reads its files as they are,
so that a damaged one ends the program, and a changed byte of machine code may do
anything. Here each file ends with a digest of the rest, and whatever is wrong with one,
or with the folder, the function is compiled again. The digest finds accidents; who may
write to the folder can run code of their own, as with every compiled file of Python.
"""

from __future__ import annotations

import hashlib
import io
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numba import njit
from numba.core import caching, sigutils
from numba.core.compiler_lock import global_compiler_lock

from pairlearn.system.forks import not_while_held

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["compiled"]

# They have no types.
_caching: Any = caching
_sigutils: Any = sigutils

# Sums may be reordered, which lets the compiler use vector instructions; infinities
# and NaNs keep their meaning, so that a divergence is seen. A division by zero gives
# infinity, as in NumPy; a check would forbid vectors.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz"},
}


def compiled(function: Any) -> Any:
    """Compile a function when it is first called."""
    dispatcher = njit(**_OPTIONS)(function)
    # There may be no folder to keep the machine code in, or another version of numba.
    with suppress(Exception):
        dispatcher._cache = _Cache(function)
    return dispatcher


class _Files(_caching.IndexDataCacheFile):
    """The files of a function, each with a digest at its end.

    Pickle does not look at what follows an object.
    """

    def _load_index(self) -> Any:
        return super()._load_index() if _is_whole(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)
        if not _is_whole(path):
            raise OSError("the file is damaged")  # which is taken for a missing one
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(content.getvalue() + _digest(content.getvalue()))


class _Cache(_caching.FunctionCache):
    """Numba's cache of a function, without whatever may go wrong there."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = _Files(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=self._impl.locator.get_source_stamp(),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
        except Exception:
            return None
        # Two processes that begin at once may give two functions one file.
        given, _ = _sigutils.normalize_signature(sig)
        return None if found is None or found.signature.args != given else found

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(Exception):
            super().save_overload(sig, data)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _is_whole(path: str) -> bool:
    """Tell whether a file is there and ends with the digest of the rest."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    size = len(_digest(b""))
    return content[-size:] == _digest(content[:-size])


# A child could not compile if another thread did so while the process forked.
not_while_held(global_compiler_lock)
