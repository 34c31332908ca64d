"""A lock that one process has at a time, and that ends with the process."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FileLock"]


class FileLock:
    """A file that stands for something one process alone may use.

    The operating system gives the lock up when the process ends, however it ends.

    Parameters
    ----------
    path : Path
        The file of the lock; it is made if it is missing, and stays.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     one, other = (FileLock(Path(folder, "lock")) for _ in range(2))
    ...     print(one.take(), other.take())
    ...     one.give_back()
    ...     print(other.take())
    ...     other.give_back()
    True False
    True
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Take the lock, or return False: somebody else has it."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(descriptor)
        except OSError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def give_back(self) -> None:
        """Give the lock back, if it was taken."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
