"""Vectors of a column that are made when they are needed, and once.

The page on which people answer tells what a column is without looking into every
image; a model needs the vectors.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.files.media import Folder
from pairlearn.files.tables.cells import is_missing
from pairlearn.files.tables.vector_cells import VectorCells

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Any

    from numpy.typing import NDArray

    from pairlearn.files.tables.encoders.embedding import Embedding

__all__ = ["Deferred", "vectors_of"]


def _nobody(done: int, of: int) -> None:
    """Tell nobody how far it is."""


class Deferred:
    """The vectors of a column, made when they are asked for.

    Parameters
    ----------
    kind : {"vector", "image", "embedded images", "embedded texts"}
        What the cells are: vectors already, images that are described, or images or
        texts that are embedded.
    cells : sequence
        The cells.
    name : str
        The name of the embedding, which the user gave.
    folder : Path or None
        Where images are.
    step : callable or None
        Told how many of how many are done.
    """

    def __init__(
        self,
        kind: str,
        cells: Sequence[Any],
        name: str = "",
        folder: Path | None = None,
        step: Callable[[int, int], None] | None = None,
    ) -> None:
        self._args = (kind, cells, name, folder, step)

    @cached_property
    def cells(self) -> VectorCells:
        """The vectors."""
        # Here, so that who reads a table only to show it does not load scikit-learn.
        from pairlearn.files.tables.encoders.embedding import Embedding

        kind, cells, name, folder, step = self._args
        embedding = Embedding(name) if name else None
        return vectors_of(kind, cells, embedding, folder, step=step)


def vectors_of(
    kind: str,
    cells: Sequence[Any],
    embedding: Embedding | None = None,
    folder: Path | None = None,
    *,
    step: Callable[[int, int], None] | None = None,
) -> VectorCells:
    """Return the cells of a column as vectors.

    Parameters
    ----------
    kind, cells, folder, step
        As for `Deferred`.
    embedding : Embedding or None
        What makes vectors of what is embedded.

    Returns
    -------
    VectorCells
    """
    if isinstance(cells, VectorCells):
        return cells
    texts = [None if is_missing(cell) else str(cell) for cell in cells]
    step = step or _nobody
    below = None if kind == "embedded texts" else Folder(folder)
    if embedding is not None:
        return VectorCells(embedding(texts, below, step))
    return VectorCells(_described(texts, below or Folder(), step))


def _described(
    names: Sequence[str | None], folder: Folder, step: Callable[[int, int], None]
) -> NDArray[np.float32]:
    """Return the descriptors of images, which are read one at a time."""
    from pairlearn.files.tables.encoders.images import describe_file, feature_names

    made = np.full((len(names), len(feature_names())), np.nan, dtype=np.float32)
    for row, name in enumerate(names):
        if name is not None:
            made[row] = describe_file(folder, name)
        if row % 50 == 49:
            step(row + 1, len(names))
    return made
