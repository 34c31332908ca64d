"""Which columns of a table hold vectors, images, or texts that are to be embedded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.files.media import Folder
from pairlearn.files.tables.cells import is_missing
from pairlearn.files.tables.encoders.deferred import Deferred
from pairlearn.files.tables.encoders.embedders import what_it_takes
from pairlearn.files.tables.encoders.image_files import is_readable_name
from pairlearn.files.tables.errors import OptionError
from pairlearn.files.tables.vector_cells import VectorCells

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pairlearn.files.tables.cell_columns import Cells
    from pairlearn.files.tables.reading import Table

__all__ = ["describe_vectors", "is_text_to_read", "names_images"]

# Cells of a column that are looked at, and the share that must agree.
_SOME, _MOST = 60, 0.8
# A column is text to read, rather than names, if some cells have so many words.
_WORDS = 3


def describe_vectors(
    features: Mapping[str, Cells],
    table: Table,
    embed: str | None,
    step: Callable[[int, int], None] | None,
) -> dict[str, tuple[Any, ...]]:
    """Find the columns of vectors, of images, and of what is to be embedded.

    Parameters
    ----------
    features : dict of Cells
        The columns but the ids.
    table : Table
        The table that they are from.
    embed : str or None
        The name of an embedding.
    step : callable or None
        Told how far it is, when the vectors are made.

    Returns
    -------
    dict
        By column, what `Column` is to be made with after its name.

    Raises
    ------
    OptionError
        If there is nothing for the embedding.
    """
    found: dict[str, tuple[Any, ...]] = {}
    takes = None if embed is None else what_it_takes(embed)
    folder = Folder(table.folder) if table.folder is not None else None
    images, texts = [], []
    for name, cells in features.items():
        if isinstance(cells, VectorCells):
            found[name] = _vector_column(name, cells)
        elif folder is not None and names_images(cells, folder):
            images.append(name)
        elif embed is not None and is_text_to_read(cells):
            texts.append(name)
    if not texts and takes in ("texts", "either"):
        # Short ones, such as names of products, if there are no others.
        texts = [
            name
            for name, cells in features.items()
            if name not in found and name not in images and is_text_to_read(cells, 1)
        ]
    embedded = images if takes == "images" or (takes == "either" and images) else []
    if takes == "texts" or (takes == "either" and not images):
        embedded = texts
    if embed is not None and not embedded:
        what = {"images": "column of images", "texts": "column of texts"}
        raise OptionError(
            f"--embed {embed}: {table.name} has no "
            f"{what.get(str(takes), 'column of images or texts')}"
        )
    for name in images:
        if name not in embedded:
            gaps = _gaps(features[name])
            how = f"images, described by size, colours and gradients{gaps}"
            values = Deferred("image", features[name], "", table.folder, step)
            found[name] = ("image", "", how, "", 0.0, values)
    for name in embedded if embed is not None else ():
        what_cells = "images" if name in images else "texts"
        how = f"{what_cells}, embedded by {embed}{_gaps(features[name])}"
        kind = f"embedded {what_cells}"
        values = Deferred(kind, features[name], embed or "", table.folder, step)
        found[name] = (kind, embed, how, "", 0.0, values)
    return found


def _vector_column(name: str, cells: VectorCells) -> tuple[Any, ...]:
    if cells.missing().all():
        why = "no cell holds anything"
        return "left out", "", why, f"column {name!r} left out: {why}"
    rows = cells.array[~cells.missing()]
    if np.all((rows == rows[0]) | (np.isnan(rows) & np.isnan(rows[0]))):
        why = "every vector is the same"
        return "left out", "", why, f"column {name!r} left out: {why}"
    how = f"vectors of {cells.array.shape[1]:,} numbers{_gaps(cells)}"
    return "vector", "", how, "", 0.0, Deferred("vector", cells)


def _gaps(cells: Cells) -> str:
    n_missing = int(np.sum(cells.missing()))
    return f"; {n_missing} missing" if n_missing else ""


def _some(cells: Cells) -> list[str]:
    """Return the first cells that hold text."""
    found: list[str] = []
    for row in range(len(cells)):
        cell = cells[row]
        if not is_missing(cell):
            if not isinstance(cell, str):
                return []
            found.append(cell)
        if len(found) == _SOME:
            break
    return found


def names_images(cells: Cells, folder: Folder) -> bool:
    """Tell whether the cells of a column name images below a folder.

    Parameters
    ----------
    cells : Cells
        The cells.
    folder : Folder
        The folder.

    Returns
    -------
    bool
    """
    some = _some(cells)
    named = [text for text in some if is_readable_name(text.strip())]
    # Files may be missing, but a column of words that end so is no column of files.
    return bool(named) and len(named) >= _MOST * len(some) and _any(named, folder)


def _any(names: Sequence[str], folder: Folder) -> bool:
    return any(folder.has(name) for name in names)


def is_text_to_read(cells: Cells, words: int = _WORDS) -> bool:
    """Tell whether the cells of a column are texts, and not names of categories.

    Parameters
    ----------
    cells : Cells
        The cells.
    words : int
        How many words most of them must have.

    Returns
    -------
    bool
    """
    some = _some(cells)
    if not some or len(set(some)) <= len(some) / 2:
        return False
    if sum(len(text.split()) >= words for text in some) <= len(some) / 2:
        return False
    return not cells.all_numbers() and not cells.all_days()
