"""Moments at which this process does not fork.

A fork copies the thread that asks for it alone. A lock that another thread holds at
this moment stays locked in the child for ever. So what is done under a lock that a fit
needs, in this package or beneath it, is done `with unforked`: a fork waits until it is
over. Such a piece of work must be short and wait for no other thread.
"""

from __future__ import annotations

import os
import sys
from threading import RLock
from typing import Any

__all__ = ["not_while_held", "unforked"]

unforked = RLock()

# In the order in which a fork takes them.
_locks: list[Any] = [unforked]


def not_while_held(lock: Any) -> None:
    """Let forks wait also for a lock of somebody else, from now on.

    Parameters
    ----------
    lock : object
        With `acquire` and `release`. Who holds it must not ask for `unforked`.
    """
    _locks.append(lock)


def _before() -> None:
    for lock in _locks:
        lock.acquire()


def _after() -> None:
    for lock in reversed(_locks):
        lock.release()


def _after_in_child() -> None:
    _after()
    # Before SciPy 1.17 one lock is held while eigenvectors are computed, which takes
    # too long for a fork to wait.
    arpack = sys.modules.get("scipy.sparse.linalg._eigen.arpack.arpack")
    lock: Any = getattr(arpack, "_ARPACK_LOCK", None)
    if lock is not None:
        arpack._ARPACK_LOCK = type(lock)("ARPACK is not re-entrant")  # type: ignore[union-attr]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=_after, after_in_child=_after_in_child
    )
