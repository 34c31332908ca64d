"""Files that cells name: images and sound, from below the folder of the points only.

What a cell names is opened so that nothing can be put in its place between looking and
opening: the path is resolved first, and then each of its parts is opened without
following links. Only what is an image or sound by its name *and* by its first bytes is
given out.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import BinaryIO

__all__ = ["AUDIO", "IMAGES", "Folder", "OpenFile", "kind_of_name"]

# By ending: the type, and what the first bytes look like.
IMAGES = {
    ".png": ("image/png", rb"\x89PNG\r\n\x1a\n"),
    ".jpg": ("image/jpeg", rb"\xff\xd8\xff"),
    ".jpeg": ("image/jpeg", rb"\xff\xd8\xff"),
    ".gif": ("image/gif", rb"GIF8[79]a"),
    ".webp": ("image/webp", rb"RIFF....WEBP"),
    ".bmp": ("image/bmp", rb"BM"),
    ".avif": ("image/avif", rb"....ftypavi[fs]"),
    # It may hold scripts. The page shows it as an image, which runs none, and whoever
    # opens it by itself gets it with a policy that forbids them.
    ".svg": (
        "image/svg+xml",
        rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml\s|!--|!DOCTYPE svg|svg[\s>])",
    ),
}
AUDIO = {
    ".wav": ("audio/wav", rb"RIFF....WAVE"),
    ".mp3": ("audio/mpeg", rb"ID3|\xff[\xe2-\xff]"),
    ".ogg": ("audio/ogg", rb"OggS"),
    ".oga": ("audio/ogg", rb"OggS"),
    ".opus": ("audio/ogg", rb"OggS"),
    ".flac": ("audio/flac", rb"fLaC"),
    ".m4a": ("audio/mp4", rb"....ftyp"),
    ".weba": ("audio/webm", rb"\x1a\x45\xdf\xa3"),
}
_TYPES = IMAGES | AUDIO
_HEAD = 2048
_LARGEST = {"image": 64 * 2**20, "audio": 2**30}
_LONGEST_PATH = 1000
# A named pipe must not hold us up until somebody writes into it.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_STEPWISE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


@dataclass
class OpenFile:
    """A file that may be given out.

    Attributes
    ----------
    file : file
        Open for reading.
    type : str
        Its media type.
    size : int
        Its size in bytes.
    """

    file: BinaryIO
    type: str
    size: int


def kind_of_name(name: str) -> str | None:
    """Return "image" or "audio" if a name ends like one, else None.

    Examples
    --------
    >>> kind_of_name("scans/7.PNG"), kind_of_name("a.mp3"), kind_of_name("b.txt")
    ('image', 'audio', None)
    """
    place = name.rfind(".")
    ending = name[place:].lower() if place >= 0 else ""
    if ending in IMAGES:
        return "image"
    return "audio" if ending in AUDIO else None


class Folder:
    """The folder below which files may be given out.

    Parameters
    ----------
    path : Path or None
        The folder; None: the current one.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._root = Path(os.path.realpath(path or Path()))

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self._root.name

    def has(self, name: str) -> bool:
        """Tell whether a cell names a file below the folder."""
        inside = self._inside(name)
        return inside is not None and (self._root / inside).is_file()

    def open(self, name: str) -> OpenFile | None:
        """Open the file that a cell names.

        Parameters
        ----------
        name : str
            The cell.

        Returns
        -------
        OpenFile or None
            None if it is not there, leads elsewhere, or is neither image nor sound.
        """
        kind = kind_of_name(name)
        inside = self._inside(name)
        if kind is None or inside is None or not inside.parts:
            return None
        try:
            number = self._open(inside)
        except (OSError, ValueError):
            return None
        file = os.fdopen(number, "rb", buffering=0)
        found = os.fstat(number)
        type_, begins = _TYPES[name[name.rfind(".") :].lower()]
        if stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST[kind]:
            head = file.read(_HEAD)
            if re.match(begins, head, re.DOTALL):
                file.seek(0)
                return OpenFile(file, type_, found.st_size)
        file.close()
        return None

    def _inside(self, name: str) -> Path | None:
        """Return where a cell leads, below the folder and without links, or None."""
        name = name.strip()
        if not name or len(name) > _LONGEST_PATH or not name.isprintable():
            return None
        for path in (PurePosixPath(name), PureWindowsPath(name)):
            if path.anchor or ".." in path.parts:
                return None
        if "\\" in name and os.name != "nt":
            name = name.replace("\\", "/")  # the table was made on Windows
        try:
            real = Path(os.path.realpath(self._root / name))
        except (OSError, ValueError):
            return None
        return real.relative_to(self._root) if real.is_relative_to(self._root) else None

    def _open(self, inside: Path) -> int:
        """Open a file below the folder; no part of the path may be a link by now."""
        if not _STEPWISE:
            number = os.open(self._root / inside, _FLAGS)
            real = Path(os.path.realpath(self._root / inside))
            if real != self._root / inside or not os.path.samestat(
                os.fstat(number), real.stat()
            ):
                os.close(number)
                raise OSError("it was exchanged")
            return number
        at = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in inside.parts[:-1]:
                step = os.open(part, _FLAGS | os.O_DIRECTORY, dir_fd=at)
                os.close(at)
                at = step
            return os.open(inside.parts[-1], _FLAGS, dir_fd=at)
        finally:
            os.close(at)
