r"""Images to numbers, without a network and without a download.

An image is described by its size, its colours, a small picture of it in grey, and by
its gradients: which way the brightness changes, and where.

For the gradients (histograms of oriented gradients) the image is brought to 32 x 32
pixels of brightness b. At each pixel g = (b_x, b_y) are central differences, m = |g|,
and a is the angle of g, on a circle of 8 bins; m is divided between the two bins next
to a. Sums of m over cells of c x c pixels are histograms h. The descriptor is
sqrt(h) / (|sqrt(h)| + e) over all cells: the root keeps one strong edge from deciding,
and the length the contrast. This is done with cells of 4 and of 8 pixels. What models
make of it is in benchmarks/results/images.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.files.media import Folder
from pairlearn.files.tables.cell_error import CellError
from pairlearn.files.tables.encoders.image_files import ImageError, opened, read_image
from pairlearn.files.tables.encoders.vectors import VectorColumn

if TYPE_CHECKING:
    from pairlearn.data.types import Floats

__all__ = ["ImageColumn", "describe_image", "feature_names"]

SIDE = 32
_BINS = 8
_CELLS = (4, 8)
_THUMBNAIL = 8
_COLOUR_GRID = 4
_SHADES = 8
# Of the length of all gradients: contrast below this is noise.
_EPSILON = 1e-3


def describe_image(image: Any) -> Floats:
    """Return the descriptor of an image.

    Parameters
    ----------
    image : PIL.Image.Image
        Of any mode; its size is `image.info["size"]` where that is set.

    Returns
    -------
    ndarray of shape (n_numbers,)

    Examples
    --------
    >>> from PIL import Image
    >>> black = describe_image(Image.new("L", (28, 28)))
    >>> len(black) == len(feature_names()), bool(np.isfinite(black).all())
    (True, True)
    """
    from PIL import Image

    size = image.info.get("size", image.size)
    small = image.convert("RGB") if image.mode not in ("L", "RGB") else image
    small = small.resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    values = np.asarray(small, dtype=np.float64) / 255
    grey = values if values.ndim == 2 else values @ (0.299, 0.587, 0.114)
    parts = [
        np.log(size),
        _shades(grey),
        _colours(values),
        _means(grey[..., None], SIDE // _THUMBNAIL).ravel(),
        *(_gradients(grey, cell) for cell in _CELLS),
    ]
    return np.concatenate(parts).astype(np.float32)


def feature_names() -> list[str]:
    """Return what each number of a descriptor is."""
    names = ["log of width", "log of height"]
    names += [f"shade {k}" for k in range(_SHADES)]
    places = [(r, c) for r in range(_COLOUR_GRID) for c in range(_COLOUR_GRID)]
    names += [
        f"{what} at {r},{c}" for r, c in places for what in ("blueness", "redness")
    ]
    thumbnail = range(_THUMBNAIL)
    names += [f"brightness at {r},{c}" for r in thumbnail for c in thumbnail]
    for cell in _CELLS:
        cells = range(SIDE // cell)
        names += [
            f"gradient {k} at {r},{c} of {len(cells)}"
            for r in cells
            for c in cells
            for k in range(_BINS)
        ]
    return names


def _shades(grey: Floats) -> Floats:
    """Return the share of pixels of each shade."""
    shade = np.minimum((grey * _SHADES).astype(int), _SHADES - 1)
    counts = np.bincount(shade.ravel(), minlength=_SHADES)
    return np.asarray(counts / grey.size)


def _colours(values: Floats) -> Floats:
    """Return how far blue and red are from grey, on a grid; 0 for shades of grey."""
    if values.ndim == 2:
        return np.zeros(2 * _COLOUR_GRID**2)
    grey = values @ (0.299, 0.587, 0.114)
    away = values[..., [2, 0]] - grey[..., None]
    # A picture in grey, stored in colour, is the same as one stored in grey.
    away[np.abs(away) < 1e-9] = 0
    return _means(away, SIDE // _COLOUR_GRID).ravel()


def _means(values: Floats, cell: int) -> Floats:
    """Return means over cells of a square."""
    n = len(values) // cell
    parts = values.reshape(n, cell, n, cell, -1)
    return np.asarray(parts.mean(axis=(1, 3)))


def _gradients(grey: Floats, cell: int) -> Floats:
    """Return the gradients in cells; see the head of this file."""
    padded = np.pad(grey, 1, mode="edge")
    across = padded[1:-1, 2:] - padded[1:-1, :-2]
    down = padded[2:, 1:-1] - padded[:-2, 1:-1]
    length = np.hypot(across, down)
    place = np.arctan2(down, across) % (2 * np.pi) / (2 * np.pi) * _BINS
    low = np.floor(place)
    part = place - low
    first = low.astype(int) % _BINS
    in_bins = np.zeros((*grey.shape, _BINS))
    rows, columns = np.indices(grey.shape)
    in_bins[rows, columns, first] = length * (1 - part)
    in_bins[rows, columns, (first + 1) % _BINS] += length * part
    roots = np.sqrt(_means(in_bins, cell)) * cell
    return np.asarray(roots / (np.linalg.norm(roots) + _EPSILON)).ravel()


class ImageColumn(VectorColumn):
    """Turn a column of images into columns of numbers.

    A cell is the path of an image file, or a descriptor that `describe_image` made of
    it, or an image of Pillow, or None. Paths are looked for below the current folder;
    the tables of the command line hold descriptors, which are made once.

    Examples
    --------
    >>> import pandas as pd
    >>> from PIL import Image
    >>> images = [Image.new("L", (9, 9)), Image.linear_gradient("L")]
    >>> encoder = ImageColumn().fit(pd.DataFrame({"photo": images}))
    >>> encoder.get_feature_names_out()[:2].tolist()
    ['photo: log of width', 'photo: log of height']
    """

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns of numbers.

        Parameters
        ----------
        input_features : ignored
            For the interface of scikit-learn.

        Returns
        -------
        ndarray of str
        """
        found = super().get_feature_names_out(input_features)
        names = feature_names()
        if len(names) == self.n_numbers_:
            column = self.feature_names_in_[0]
            found[: len(names)] = [f"{column}: {name}" for name in names]
        return found

    def _width_of_others(self, cells: list[Any]) -> int:  # noqa: ARG002
        return len(feature_names())

    def _made_of(self, name: str, row: int, cell: Any) -> Floats | None:
        if hasattr(cell, "convert"):
            return describe_image(cell)
        if not isinstance(cell, str):
            raise CellError(name, row, cell, "images")
        return describe_file(Folder(), cell)


def describe_file(folder: Folder, name: str) -> Floats:
    """Return the descriptor of an image file below a folder.

    Parameters
    ----------
    folder : Folder
        The folder.
    name : str
        The path, as a cell says it.

    Returns
    -------
    ndarray of shape (n_numbers,)
    """
    with opened(folder, name) as file:
        image = read_image(file, name, SIDE)
        try:
            return describe_image(image)
        except MemoryError:
            raise ImageError(f"{name} is too large for the memory here") from None
