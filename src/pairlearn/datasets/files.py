"""Find the files of a data set, fetch those that are missing, check what they hold."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pairlearn.datasets.download import DownloadError, fetch, temporary_folder
from pairlearn.datasets.parsers import SUFFIXES, DataFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "DataUnavailableError",
    "Part",
    "Source",
    "cache_folder",
    "fingerprint",
    "is_there",
    "load_part",
]


class DataUnavailableError(FileNotFoundError):
    """A data file is neither in the data folder nor to be had from its home."""


@dataclass(frozen=True)
class Source:
    """One file: its place in a data folder and its public home.

    Parameters
    ----------
    name : str
        The path in a data folder, such as "adult/a9a". The file may lie there as it
        is, or compressed with one of the usual suffixes after its name.
    url : str
        Where it can be had.
    member : str, optional
        Its name within the zip archive at `url`.
    sha256 : str, optional
        The checksum of the bytes at `url`. None: not known to us, so that the
        fingerprint of the content alone decides.
    """

    name: str
    url: str
    member: str | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Part:
    """Files that are read together, and what they should hold.

    Parameters
    ----------
    sources : tuple of Source
        The files.
    parse : callable
        Takes the paths of the files; returns arrays and matrices.
    fingerprint : str or None
        The checksum of what `parse` returns; None: not known to us.
    """

    sources: tuple[Source, ...]
    parse: Callable[[list[Path]], tuple[Any, ...]]
    fingerprint: str | None


def load_part(
    part: Part,
    *,
    data_home: str | os.PathLike[str] | None = None,
    verify: bool = True,
    download: bool = True,
) -> tuple[Any, ...]:
    """Return what the files of a part hold, fetching them if need be.

    Parameters
    ----------
    part : Part
        What to load.
    data_home : path, optional
        The folder to look in, and to download to. None: look in the folder that the
        environment variable PAIRLEARN_DATA names, then in the user's cache, and
        download to the latter.
    verify : bool, default=True
        Compare the content with its checksum.
    download : bool, default=True
        Fetch missing files.

    Returns
    -------
    tuple of arrays and matrices
    """
    folders = _folders(data_home)
    found = {source: _find(source, folders) for source in part.sources}
    missing = [source for source, path in found.items() if path is None]
    if not missing:
        return _read(part, [path for path in found.values() if path], verify=verify)
    target = folders[-1]
    if not download:
        raise _unavailable(missing, target, "download=False says not to fetch them")
    try:
        with temporary_folder(target) as folder:
            for source in missing:
                found[source] = fetch(source, folder, verify=verify)
            paths = [path for path in found.values() if path]
            content = _read(part, paths, verify=verify)
            for path in paths:
                if path.is_relative_to(folder):
                    place = target / path.relative_to(folder)
                    place.parent.mkdir(parents=True, exist_ok=True)
                    path.replace(place)
    except DataFileError as error:
        why = f"what was fetched is not what was expected ({error.reason})"
        raise _unavailable(missing, target, why) from error
    except (DownloadError, OSError) as error:
        raise _unavailable(missing, target, error) from error
    return content


def is_there(part: Part, data_home: str | os.PathLike[str] | None) -> bool:
    """Return whether all files of a part are in the folders to look in."""
    folders = _folders(data_home)
    return all(_find(source, folders) for source in part.sources)


def cache_folder() -> Path:
    """Return the folder for downloads: the operating system's cache for this user."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "pairlearn"


def fingerprint(arrays: Iterable[Any]) -> str:
    """Return the SHA-256 of the shapes and values of arrays and CSR matrices.

    Two files that hold the same rows in the same order have the same fingerprint,
    however they are compressed, their lines end, or their numbers are written. What
    the public homes offer and what people keep on their disks differs in just that.

    Parameters
    ----------
    arrays : iterable of ndarray, CSR matrix, or list of str
        The content of a file.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for array in arrays:
        if sparse.issparse(array):
            pieces = [np.array(array.shape), array.indptr, array.indices, array.data]
        else:
            pieces = [np.asarray(array)]
        for piece in pieces:
            if piece.dtype.kind in "US":
                values = "\n".join(piece.tolist()).encode()
            elif piece.dtype.kind == "f":
                # Adding 0 turns -0.0 into 0.0, which is the same number.
                values = (piece + 0.0).astype("<f8").tobytes()
            elif piece.dtype == np.uint8:
                values = piece.tobytes()
            else:
                values = piece.astype("<i8").tobytes()
            digest.update(f"{piece.shape}".encode())
            digest.update(values)
    return digest.hexdigest()


def _folders(data_home: str | os.PathLike[str] | None) -> list[Path]:
    if data_home is not None:
        return [Path(data_home).expanduser()]
    named = os.environ.get("PAIRLEARN_DATA")
    return ([Path(named).expanduser()] if named else []) + [cache_folder()]


def _find(source: Source, folders: list[Path]) -> Path | None:
    for folder in folders:
        for suffix in SUFFIXES:
            path = folder / (source.name + suffix)
            if path.is_file():
                return path
    return None


def _read(part: Part, paths: list[Path], *, verify: bool) -> tuple[Any, ...]:
    content = part.parse(paths)
    if verify and part.fingerprint and fingerprint(content) != part.fingerprint:
        names = " and ".join(str(path) for path in paths)
        raise DataFileError(
            f"{names} can be read, but the checksum of the content is wrong: these are "
            "not the expected rows. Delete the file and load again to fetch the data "
            "again; or, to use another version of them anyway, pass verify=False",
            reason="the checksum of the content is wrong; verify=False ignores that",
        )
    return content


def _unavailable(
    missing: list[Source], folder: Path, why: object
) -> DataUnavailableError:
    lines = []
    for source in missing:
        inside = f", the file {source.member!r} in it," if source.member else ""
        lines.append(f"  {source.url}{inside}\n    as {folder / source.name}")
    return DataUnavailableError(
        f"data files are missing: {why}. To put them in place yourself, get\n"
        + "\n".join(lines)
        + "\n(with the suffix .gz, .bz2, .xz or .Z if compressed). If you have them "
        "in another folder of this layout, pass it as data_home= (--data on the "
        "command line) or set the environment variable PAIRLEARN_DATA to it"
        + _remark_on_the_environment()
    )


def _remark_on_the_environment() -> str:
    named = os.environ.get("PAIRLEARN_DATA")
    if not named or Path(named).expanduser().is_dir():
        return ""
    return f"; it now names {named}, where there is no folder"
