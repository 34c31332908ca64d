"""Files that are written as a whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import secrets
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["NO_ROOM", "replacing", "write_files"]

# The disk is full, a share of it is used up, or the file would be larger than allowed.
NO_ROOM = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)

# A name says on which machine and by which process the file is written.
_PARTIAL = re.compile(r"\.partial-([0-9a-f]{12})-(\d{1,9})-[0-9a-f]{12}(\.[^/]*)?")
# Nobody is still writing a file that has not changed for so many seconds.
_STALE = 86_400


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a name to write to, and move the file into place if all went well.

    If anything goes wrong, or the program is interrupted, an old file stays as it was
    and no new one appears. What a program left in the folder that had no time to clean
    up, since it was killed or the power failed, is removed.

    Parameters
    ----------
    path : Path
        Where the file is to be. A link stays a link: what it points to is replaced.

    Yields
    ------
    Path
        Where to write it: a name in the same folder, with the same ending.

    Raises
    ------
    OSError
        The file cannot be written; its attribute `filename` is `path`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "numbers.txt")
    ...     with replacing(path) as partial:
    ...         _ = partial.write_text("1 2 3")
    ...     path.read_text()
    '1 2 3'
    """
    target = Path(os.path.realpath(path))
    _remove_stale(target.parent)
    # Short, since a long name and some more would be too long. Not one of tempfile's,
    # which nobody else may read.
    name = f".partial-{_machine()}-{os.getpid()}-{secrets.token_hex(6)}"
    partial = target.with_name(name + target.suffix[:20])
    try:
        yield partial
        with partial.open("rb+") as file:
            # On the disk before it has its name: a machine may lose power.
            os.fsync(file.fileno())
        if target.exists():
            # The new file is as open to others as the old one was.
            partial.chmod(target.stat().st_mode & 0o777)
        partial.replace(target)
    except OSError as error:
        # A write does not say to which file, and nobody knows the other name.
        mine = error.filename is None and error.errno in NO_ROOM
        if mine or os.fspath(error.filename or "") == os.fspath(partial):
            error.filename, error.filename2 = os.fspath(path), None
        raise
    finally:
        partial.unlink(missing_ok=True)


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write several files; whatever goes wrong while that is done, none is changed.

    Parameters
    ----------
    contents : dict of bytes
        What to write, by its path.

    Raises
    ------
    OSError
        A file cannot be written.
    """
    with ExitStack() as stack:
        for path, content in contents.items():
            if path.is_dir():
                raise IsADirectoryError(f"{path} is a folder, not a file")
            if not path.parent.is_dir():
                raise FileNotFoundError(
                    f"there is no folder {path.parent} to write {path.name} to"
                )
            partial = stack.enter_context(replacing(path))
            try:
                with partial.open("xb") as file:
                    file.write(content)
                    file.flush()
                    # All of them, before one is moved: a disk may only now be full.
                    os.fsync(file.fileno())
            except OSError as error:
                # Here, since the error passes the other files' `replacing` first.
                if error.errno and error.filename in (None, os.fspath(partial)):
                    error.filename = os.fspath(path)
                raise


def _remove_stale(folder: Path) -> None:
    """Remove files that were left half-written by programs that are gone.

    A process of this machine is asked for; of others, and where that cannot be asked
    harmlessly, nothing is known, so their files are left alone for a day.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            named = _PARTIAL.fullmatch(entry.name)
            if named is None:
                continue
            # One that cannot be looked at or removed is somebody else's concern.
            with suppress(OSError):
                left = entry.stat(follow_symlinks=False)
                gone = named[1] == _machine() and not _is_running(int(named[2]))
                if gone or time.time() - left.st_mtime > _STALE:
                    Path(entry.path).unlink()


def _is_running(process: int) -> bool:
    """Tell whether a process of this machine may be running."""
    if os.name != "posix":
        return True  # os.kill would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # another user's
    return True


@cache
def _machine() -> str:
    """Return a name of this machine, under which process numbers mean the same.

    Machines that share a folder may have one host name, and containers have processes
    of their own.
    """
    names = [platform.node()]
    with suppress(OSError):
        names.append(Path("/etc/machine-id").read_text("ascii", "replace").strip())
    with suppress(OSError):
        names.append(str(Path("/proc/self/ns/pid").readlink()))
    return hashlib.blake2b(" ".join(names).encode(), digest_size=6).hexdigest()
