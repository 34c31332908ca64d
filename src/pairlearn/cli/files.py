"""Output files: written under another name, and moved into place when complete."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pairlearn.cli.errors import OptionError, TableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["check_output", "replacing"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a name to write to, and move the file into place if all went well.

    If anything goes wrong, or the command is interrupted, an old file stays as it was
    and no new one appears.

    Parameters
    ----------
    path : Path
        Where the file is to be.

    Yields
    ------
    Path
        Where to write it: a name in the same folder, with the same ending.
    """
    # Short, since a long name and some more would be too long.
    partial = path.with_name(f".partial-{secrets.token_hex(6)}{path.suffix[:20]}")
    try:
        yield partial
        if path.exists():
            # The new file is as open to others as the old one was.
            partial.chmod(path.stat().st_mode & 0o777)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def check_output(
    path: Path,
    option: str,
    suffixes: tuple[str, ...] = (),
    inputs: tuple[Path, ...] = (),
) -> None:
    """Refuse, before any work, an output file that cannot be written.

    Parameters
    ----------
    path : Path
        Where the file is to be.
    option : str
        The option that said so.
    suffixes : tuple of str
        How its name may end; empty: anyhow.
    inputs : tuple of Path
        Files that must not be overwritten.
    """
    if suffixes and path.suffix.lower() not in suffixes:
        raise OptionError(f"{option} {path} must end in one of {', '.join(suffixes)}")
    if path.is_dir():
        raise OptionError(f"{option} {path} is a folder; name a file")
    if not path.parent.is_dir():
        raise TableError(f"there is no folder {path.parent} to write {path.name} to")
    if not os.access(path.parent, os.W_OK):
        raise TableError(f"the folder {path.parent} cannot be written to")
    for other in inputs:
        if path.exists() and other.exists() and path.samefile(other):
            raise OptionError(f"{option} {path} is one of the tables that are read")
