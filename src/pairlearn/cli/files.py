"""Output files that cannot be written are refused before any work."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pairlearn.cli.errors import OptionError, TableError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["check_output"]


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
    for other in inputs:
        if path.exists() and other.exists() and path.samefile(other):
            raise OptionError(f"{option} {path} is one of the tables that are read")
    if suffixes and path.suffix.lower() not in suffixes:
        raise OptionError(f"{option} {path} must end in one of {', '.join(suffixes)}")
    if path.is_dir():
        raise OptionError(f"{option} {path} is a folder; name a file")
    if not path.parent.is_dir():
        raise TableError(f"there is no folder {path.parent} to write {path.name} to")
    if not os.access(path.parent, os.W_OK):
        raise TableError(f"the folder {path.parent} cannot be written to")
