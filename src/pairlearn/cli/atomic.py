"""Write files as a whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["write_files"]


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write files under temporary names beside their places, then move all there.

    Whatever goes wrong while they are written leaves the places as they were.

    Parameters
    ----------
    contents : dict of bytes
        What to write, by its path.

    Raises
    ------
    OSError
        A file cannot be written.
    """
    # Not one of tempfile's, which nobody else may read.
    partial = {
        path: path.with_name(f".partial-{uuid4().hex}-{path.name}"[:200])
        for path in contents
    }
    try:
        for path, content in contents.items():
            if path.is_dir():
                raise IsADirectoryError(f"{path} is a folder, not a file")
            if not path.parent.is_dir():
                raise FileNotFoundError(
                    f"there is no folder {path.parent} to write {path.name} to"
                )
            partial[path].write_bytes(content)
        for path, written in partial.items():
            written.replace(path)
    finally:
        for written in partial.values():
            Path(written).unlink(missing_ok=True)
