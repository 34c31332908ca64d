"""A folder of images, read as a table: a row for each, known by its file name."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pairlearn.files.media import Folder
from pairlearn.files.tables.encoders.image_files import ENDINGS, is_readable_name
from pairlearn.files.tables.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = ["images_in", "rows_by_other_names"]

# More files than this are no folder of photos, but somebody's whole disk.
MOST_FILES = 5_000_000


def images_in(path: Path) -> tuple[list[str], list[str]]:
    """Return the images below a folder, by their paths, and what to tell.

    Parameters
    ----------
    path : Path
        The folder.

    Returns
    -------
    names : list of str
        The path of each image below it, with slashes, in the order of the alphabet.
    notes : list of str
        What was left out.

    Raises
    ------
    TableError
        If there is none.
    """
    folder, names, outside, n_others, n_seen = Folder(path), [], [], 0, 0
    for root, below, files in os.walk(path):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for file in sorted(files):
            n_seen += 1
            if n_seen > MOST_FILES:
                raise TableError(
                    f"{path.name} holds more than {MOST_FILES:,} files; name the "
                    "folder of the images alone"
                )
            name = Path(root, file).relative_to(path).as_posix()
            if file.startswith(".") or not is_readable_name(file):
                n_others += not file.startswith(".")
            elif not name.isprintable() or not folder.has(name):
                outside.append(name)
            else:
                names.append(name)
    if not names:
        raise TableError(
            f"{path.name} is a folder without an image that can be read "
            f"({', '.join(ENDINGS)}); give a folder of images, or a table such as CSV"
        )
    notes = []
    if n_others:
        notes.append(f"{path.name}: {n_others} file(s) that are no images are ignored")
    if outside:
        notes.append(
            f"{path.name}: {len(outside)} image(s) are left out, since they are links "
            f"that lead out of the folder, or have odd names, the first {outside[0]!a}"
        )
    return sorted(names), notes


def rows_by_other_names(
    names: Iterable[str], wanted: Collection[str]
) -> dict[str, int]:
    """Return the rows of images that are called by other names than their paths.

    Parameters
    ----------
    names : iterable of str
        The paths of the images.
    wanted : collection of str
        Names: paths without an ending, or with backslashes, or file names alone. They
        are found where they can mean one image only.

    Returns
    -------
    dict
        The row of each name that was found.

    Examples
    --------
    >>> rows_by_other_names(["a/1.png", "a/2.png", "b/2.png"], ["a/1", "1.png", "2"])
    {'a/1': 0, '1.png': 0}
    """
    meant: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        path = PurePosixPath(name)
        stem = str(path.with_suffix(""))
        for other in {name, stem, path.name, path.stem}:
            meant.setdefault(other, []).append(row)
    found = {}
    for name in wanted:
        rows = meant.get(name.replace("\\", "/").removeprefix("./"), ())
        if len(rows) == 1:
            found[name] = rows[0]
    return found
