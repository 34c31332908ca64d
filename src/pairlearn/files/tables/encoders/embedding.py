"""Texts or images to vectors by a name, each made once and then kept on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.files.tables.cell_error import CellError
from pairlearn.files.tables.encoders.cache import VectorCache, key_of
from pairlearn.files.tables.encoders.embedders import load_embedder
from pairlearn.files.tables.encoders.image_files import opened, read_image
from pairlearn.files.tables.encoders.vectors import VectorColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from pairlearn.data.types import Floats
    from pairlearn.files.media import Folder
    from pairlearn.files.tables.encoders.embedders import Embedder

__all__ = ["EmbeddedColumn", "Embedding"]

# Vectors that may be lost if the power fails, or the command is stopped by force.
_AT_RISK = 256
# Networks look at images of up to so many pixels in a row.
_SIDE = 512


class EmbeddedColumn(VectorColumn):
    """Turn a column of vectors that an embedding made into columns of numbers.

    It knows the name of the embedding and does not call it, so that a model file never
    runs a network or a function: the vectors are made when a table is read.

    Parameters
    ----------
    embed : str
        The name, as after --embed.
    """

    def __init__(self, embed: str = "") -> None:
        self.embed = embed

    def _made_of(self, name: str, row: int, cell: Any) -> Floats | None:
        raise CellError(
            name,
            row,
            cell,
            f"vectors that {self.embed} made",
            f". Read the table with read_points(path, embed={self.embed!r}), and "
            "predict its frame",
        )


class Embedding:
    """An embedding that is loaded, and the vectors that it has made before.

    Parameters
    ----------
    name : str
        Its name, as after --embed.
    named_by_user : bool
        Whether the user gave the name now, and not a model file.
    """

    def __init__(self, name: str, *, named_by_user: bool = True) -> None:
        self._embedder = load_embedder(name, named_by_user=named_by_user)
        self._kept: dict[str, VectorCache] = {}

    def __call__(
        self,
        cells: Sequence[str | None],
        folder: Folder | None = None,
        step: Callable[[int, int], None] = lambda *_: None,
    ) -> NDArray[np.float32]:
        """Return vectors of texts, or of images.

        Parameters
        ----------
        cells : sequence of str or None
            Texts, or paths of images; None where there is nothing.
        folder : Folder or None
            Where images are; None: the cells are texts.
        step : callable
            Told how many of how many are done.

        Returns
        -------
        ndarray of float32, of shape (n_cells, n_numbers)
            NaN where there is nothing.
        """
        kept = self._cache("texts" if folder is None else "images")
        keys = [None if cell is None else _key(cell, folder) for cell in cells]
        first: dict[bytes, str] = {}
        for key, cell in zip(keys, cells, strict=True):
            if key is not None and cell is not None and kept.get(key) is None:
                first.setdefault(key, cell)
        _make(self._embedder, first, folder, kept, step)
        known = [None if key is None else kept.get(key) for key in keys]
        width = next((len(row) for row in known if row is not None), 0)
        made = np.full((len(keys), width), np.nan, dtype=np.float32)
        for row, vector in enumerate(known):
            if vector is not None:
                made[row] = vector
        return made

    def _cache(self, what: str) -> VectorCache:
        if what not in self._kept:
            made_by = f"{self._embedder.name} {self._embedder.version} {what}"
            self._kept[what] = VectorCache(made_by)
        return self._kept[what]


def _make(
    embedder: Embedder,
    wanted: dict[bytes, str],
    folder: Folder | None,
    kept: VectorCache,
    step: Callable[[int, int], None],
) -> None:
    """Make the vectors that are not there yet, and keep them as they come."""
    keys, done = list(wanted), 0
    held: list[tuple[list[bytes], NDArray[np.float32]]] = []
    try:
        for begin in range(0, len(keys), embedder.batch):
            some = keys[begin : begin + embedder.batch]
            held.append((some, embedder([_item(wanted[key], folder) for key in some])))
            done += len(some)
            step(done, len(keys))
            if sum(len(part) for part, _ in held) >= _AT_RISK:
                _keep(kept, held)
    finally:
        # Also when somebody stops it: the next time it goes on from here.
        _keep(kept, held)


def _keep(
    kept: VectorCache, held: list[tuple[list[bytes], NDArray[np.float32]]]
) -> None:
    if held:
        keys = [key for part, _ in held for key in part]
        kept.add(keys, np.concatenate([vectors for _, vectors in held]))
        held.clear()


def _key(cell: str, folder: Folder | None) -> bytes:
    """Return the key of a text, or of the content of an image file."""
    if folder is None:
        return key_of(cell.encode("utf-8", "surrogatepass"))
    with opened(folder, cell) as file:
        return key_of(file.read())


def _item(cell: str, folder: Folder | None) -> Any:
    if folder is None:
        return cell
    with opened(folder, cell) as file:
        return read_image(file, cell, _SIDE)
