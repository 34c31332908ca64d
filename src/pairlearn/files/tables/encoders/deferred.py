"""Vectors of a column that are made when they are needed, and once.

The page on which people answer tells what a column is without looking into every
image; a model needs the vectors.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.files.tables.encoders.embedding import embed
from pairlearn.files.tables.encoders.images import describe_file, feature_names
from pairlearn.files.media import Folder
from pairlearn.files.tables.cells import is_missing, shown
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.vector_cells import VectorCells

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Any

    from pairlearn.data.types import Floats

__all__ = ["Deferred", "vectors_of"]


def _nobody(done: int, of: int) -> None:
    """Tell nobody how far it is."""


class Deferred:
    """The vectors of a column, made when they are asked for.

    Parameters
    ----------
    kind : {"vector", "image", "embedded"}
        What the cells are to be: vectors already, images that are described, or texts
        or images that are embedded.
    cells : sequence
        The cells.
    form : str
        The name of the embedding.
    folder : Path or None
        Where images are; None: the cells are texts.
    step : callable
        Told how many of how many are done.
    """

    def __init__(
        self,
        kind: str,
        cells: Sequence[Any],
        form: str = "",
        folder: Path | None = None,
        step: Callable[[int, int], None] | None = None,
    ) -> None:
        self._args = (kind, cells, form, folder, step)

    @cached_property
    def cells(self) -> VectorCells:
        """The vectors."""
        kind, cells, form, folder, step = self._args
        return vectors_of(kind, cells, form, folder, step=step)


def vectors_of(
    kind: str,
    cells: Sequence[Any],
    form: str = "",
    folder: Path | None = None,
    *,
    named_by_user: bool = True,
    step: Callable[[int, int], None] | None = None,
) -> VectorCells:
    """Return the cells of a column as vectors.

    Parameters
    ----------
    kind, cells, form, folder, step
        As for `Deferred`.
    named_by_user : bool
        Whether the user gave the name of the embedding now, and not a model file.

    Returns
    -------
    VectorCells
    """
    if isinstance(cells, VectorCells):
        return cells
    if kind == "vector":
        raise TableError(f"a vector of numbers is needed, and not {shown(cells[0])}")
    texts = [None if is_missing(cell) else str(cell) for cell in cells]
    root = None if folder is None else Folder(folder)
    step = step or _nobody
    if kind == "image":
        return VectorCells(_described(texts, root or Folder(), step))
    return VectorCells(
        embed(texts, form, folder=root, named_by_user=named_by_user, step=step)
    )


def _described(
    names: Sequence[str | None], folder: Folder, step: Callable[[int, int], None]
) -> Floats:
    """Return the descriptors of images, which are read one at a time."""
    made = np.full((len(names), len(feature_names())), np.nan, dtype=np.float32)
    for row, name in enumerate(names):
        if name is not None:
            made[row] = describe_file(folder, name)
        if row % 50 == 49:
            step(row + 1, len(names))
    return made
