"""Image files, opened with a look at what could be wrong with them.

Only a few formats are read, and by their first bytes as well as by their names. How
large an image is stands in its first bytes, too: one that would not fit into memory is
refused before it is unpacked.
"""

from __future__ import annotations

import io
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from pairlearn.files.media import Folder, kind_of_name
from pairlearn.files.tables.cells import shown
from pairlearn.files.tables.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ENDINGS", "ImageError", "is_readable_name", "opened", "read_image"]

# By ending, the format that is read.
ENDINGS = {
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".gif": "GIF",
    ".webp": "WEBP",
    ".bmp": "BMP",
}
# Pixels of the largest image that is unpacked: 16,000 x 5,000, or 240 MB in colour.
MOST_PIXELS = 80_000_000
# No side of an image is longer; JPEG has room for no more either.
LONGEST_SIDE = 65_500


class ImageError(TableError):
    """An image that cannot be read, with its name and the way out."""


def is_readable_name(name: str) -> bool:
    """Tell whether a name ends like an image that can be learned from.

    Examples
    --------
    >>> is_readable_name("scans/7.PNG"), is_readable_name("7.svg")
    (True, False)
    """
    return kind_of_name(name) == "image" and _ending(name) in ENDINGS


def _ending(name: str) -> str:
    return name[name.rfind(".") :].lower()


@contextmanager
def opened(folder: Folder, name: str) -> Iterator[BinaryIO]:
    """Open the file of an image below a folder.

    Parameters
    ----------
    folder : Folder
        The folder below which it must be.
    name : str
        Its path, as a cell says it.

    Yields
    ------
    file
        Open for reading, and looked at.

    Raises
    ------
    ImageError
        If there is no such image.
    """
    name = name.strip()
    if not is_readable_name(name):
        raise ImageError(
            f"{shown(name)} is no image that can be read; images end in "
            f"{', '.join(ENDINGS)}"
        )
    found = folder.open(name)
    if found is None:
        raise ImageError(f"{shown(name)} cannot be read: {_why_not(folder, name)}")
    with found.file as file:
        content = file.read()
    yield io.BytesIO(content)


def _why_not(folder: Folder, name: str) -> str:
    if folder.has(name):
        return (
            f"it is no {ENDINGS[_ending(name)]} file, as its name says, or it is empty "
            "or larger than 64 MB. Correct it, or take it out"
        )
    return (
        f"there is no such file below the folder {folder.name}. Files elsewhere, and "
        "links that lead elsewhere, are not opened: copy it there, or take it out"
    )


def read_image(file: BinaryIO, name: str, side: int) -> Any:
    """Read an image, in colour or in shades of grey.

    Parameters
    ----------
    file : file
        Open for reading.
    name : str
        Its name, for messages.
    side : int
        The least length of a side that is needed: a large JPEG file is unpacked to a
        smaller size at once, which is much faster.

    Returns
    -------
    PIL.Image.Image
        Of mode "RGB" or "L", turned as the camera was held; what is transparent is
        white. ``image.info["size"]`` is its size as it is stored.

    Raises
    ------
    ImageError
        If it is damaged, cut off, or too large.
    """
    from PIL import Image, ImageOps

    kind = ENDINGS[_ending(name.strip())]
    try:
        with warnings.catch_warnings():
            # Also what a decoder finds odd. What Pillow calls a bomb is refused below.
            warnings.simplefilter("ignore")
            with Image.open(file, formats=(kind,)) as image:
                size = image.size
                _check_size(size, name)
                image.draft("RGB", (2 * side, 2 * side))
                image.load()
                turned = ImageOps.exif_transpose(image)
                plain = _in_plain_colours(turned)
                # Turned by a quarter, it is as wide as it was high.
                lies = plain.size[::-1] == image.size and plain.size != image.size
                plain.info["size"] = size[::-1] if lies else size
                return plain
    except ImageError:
        raise
    except Image.DecompressionBombError:
        raise _too_large(name, "more than 170 million pixels") from None
    except Exception as problem:
        first = str(problem).strip().partition("\n")[0][:120].rstrip(".")
        raise ImageError(
            f"{shown(name)} cannot be read as {kind}: it is damaged or cut off "
            f"({first or type(problem).__name__}). Get it again, or take it out"
        ) from None


def _check_size(size: tuple[int, int], name: str) -> None:
    width, height = size
    if min(size) < 1 or max(size) > LONGEST_SIDE or width * height > MOST_PIXELS:
        raise _too_large(name, f"{width:,} x {height:,} pixels")


def _too_large(name: str, size: str) -> ImageError:
    return ImageError(
        f"{shown(name)} says that it has {size}; images of up to "
        f"{MOST_PIXELS // 10**6} million pixels are read, and no side longer than "
        f"{LONGEST_SIDE:,}. Make it smaller, or take it out"
    )


def _in_plain_colours(image: Any) -> Any:
    """Return an image of mode "RGB" or "L"."""
    import numpy as np
    from PIL import Image

    if image.mode in ("L", "RGB"):
        return image
    if image.mode == "1":
        return image.convert("L")
    if image.mode.startswith(("I", "F")):
        # Shades of 16 bits; Pillow would cut them off at 255.
        values = np.asarray(image, dtype=np.float64)
        scale = 65535 if image.mode.startswith("I") else max(1.0, values.max())
        return Image.fromarray(np.uint8(np.clip(values / scale, 0, 1) * 255))
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        below = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(below, image).convert("RGB")
    return image.convert("RGB")
