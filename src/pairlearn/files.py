"""Files that are written as a whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["replacing", "write_files"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a name to write to, and move the file into place if all went well.

    If anything goes wrong, or the program is interrupted, an old file stays as it was
    and no new one appears.

    Parameters
    ----------
    path : Path
        Where the file is to be. A link stays a link: what it points to is replaced.

    Yields
    ------
    Path
        Where to write it: a name in the same folder, with the same ending.

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
    # Short, since a long name and some more would be too long. Not one of tempfile's,
    # which nobody else may read.
    partial = target.with_name(f".partial-{secrets.token_hex(6)}{target.suffix[:20]}")
    try:
        yield partial
        if target.exists():
            # The new file is as open to others as the old one was.
            partial.chmod(target.stat().st_mode & 0o777)
        partial.replace(target)
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
            with stack.enter_context(replacing(path)).open("xb") as file:
                file.write(content)
                file.flush()
                # On the disk before it has its name: a machine may lose power.
                os.fsync(file.fileno())
