"""Arrays of NumPy on disk: .npy and .npz files, read without running anything in them.

An array of objects is a pickle, which can run any code when it is read; it is refused.
The header says how large the array is, and is compared with the file before any memory
is taken.
"""

from __future__ import annotations

import math
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from pairlearn.files.tables.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["COLUMN", "ID_COLUMN", "array_parts", "arrays_in"]

# What the column of vectors in a file with one array is called, and that of ids.
COLUMN, ID_COLUMN = "vector", "id"
# Names of an array of ids.
_IDS = ("id", "ids", "name", "names", "key", "keys", "filenames", "files")
# Unpacked, the arrays of an .npz file may be so many times larger than it, or so large.
_MOST_UNPACKED, _MOST_BYTES = 200, 2**28
_LONGEST_HEADER = 10_000
_READ = {(1, 0): "read_array_header_1_0", (2, 0): "read_array_header_2_0"}


class _Header(NamedTuple):
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    size: int  # of the header, in bytes


def array_parts(path: Path, n_rows: int) -> Iterator[Any]:
    """Yield the rows of the array in a .npy file, so many at a time.

    Parameters
    ----------
    path : Path
        The file.
    n_rows : int
        The most rows of a part.

    Yields
    ------
    ndarray of shape (n_rows, n_numbers)
    """
    with path.open("rb") as file:
        header = _header(file, path.name, path.stat().st_size)
        _check_points(header, path.name)
        n_points, width = header.shape
        if header.fortran:
            whole = np.fromfile(file, header.dtype, n_points * width)
            whole = _whole(whole, n_points * width, path.name)
            whole = whole.reshape((width, n_points)).T
            for begin in range(0, n_points, n_rows):
                yield _floats(whole[begin : begin + n_rows])
            return
        for begin in range(0, n_points, n_rows):
            count = min(n_rows, n_points - begin) * width
            part = _whole(np.fromfile(file, header.dtype, count), count, path.name)
            yield _floats(part.reshape(-1, width))


def arrays_in(path: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the arrays of points in an .npz file, the ids, and what to tell.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    columns : dict
        By name, arrays of vectors; and ids as a list of text, if there is an array of
        them.
    notes : list of str
        What was left out.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            _check_unpacked(archive, path)
            found = {
                info.filename.removesuffix(".npy"): _member(archive, info, path.name)
                for info in archive.infolist()
            }
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise TableError(
            f"{path.name} cannot be read as .npz: {str(error)[:120]}. It may be "
            "damaged, or in another format"
        ) from None
    points = {name: array for name, array in found.items() if array.ndim == 2}
    points = {n: a for n, a in points.items() if a.dtype.kind in "iufb" and a.size}
    if not points:
        shapes = ", ".join(f"{n} {a.dtype} {a.shape}" for n, a in found.items())
        raise TableError(
            f"{path.name} holds no array of points, with a row of numbers for each; it "
            f"holds {shapes[:300] or 'nothing'}"
        )
    lengths = {len(array) for array in points.values()}
    if len(lengths) > 1:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in points.items())
        raise TableError(
            f"{path.name} holds arrays of different lengths ({shapes[:300]}); which "
            "are the points? Save the array of the points alone, with its ids"
        )
    columns: dict[str, Any] = {}
    ids = [name for name in found if name.casefold() in _IDS]
    n_points = next(iter(lengths))
    wrong = [n for n in ids if found[n].shape != (n_points,)]
    if wrong and len(wrong) == len(ids):
        raise TableError(
            f"{path.name}: the array {wrong[0]!a} has the shape {found[wrong[0]].shape}"
            f", and there are {n_points} points; ids are one text for each point"
        )
    ids = [n for n in ids if n not in wrong]
    if len(ids) == 1 and found[ids[0]].dtype.kind in "iuUS":
        cells = found[ids[0]]
        texts = cells.astype("U") if cells.dtype.kind == "S" else cells
        columns[ID_COLUMN] = [str(cell) for cell in texts.tolist()]
    names = {n: COLUMN if n == "arr_0" and len(points) == 1 else n for n in points}
    for name, array in points.items():
        columns[names[name]] = _floats(array)
    others = [name for name in found if name not in points and name not in ids[:1]]
    notes = []
    if others:
        some = ", ".join(map(repr, others[:5])) + ", ..." * (len(others) > 5)
        notes.append(
            f"{path.name}: nothing is learned from {some}; arrays of points have a row "
            "of numbers for each point, and ids are an array 'id' of texts"
        )
    return columns, notes


def _check_unpacked(archive: zipfile.ZipFile, path: Path) -> None:
    total = sum(info.file_size for info in archive.infolist())
    if total > max(_MOST_BYTES, _MOST_UNPACKED * path.stat().st_size):
        raise TableError(
            f"{path.name} would unpack to {total / 2**30:,.1f} GiB, more than "
            f"{_MOST_UNPACKED} times its size; save the array as .npy"
        )


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> Any:
    place = f"{name}, array {info.filename.removesuffix('.npy')!a}"
    with archive.open(info) as file:
        header = _header(file, place, info.file_size)  # type: ignore[arg-type]
        n_bytes = math.prod(header.shape) * header.dtype.itemsize
        content = file.read(n_bytes)
    if len(content) != n_bytes:
        raise TableError(f"{place} is cut off; get the file again")
    array = np.frombuffer(content, header.dtype)
    return array.reshape(header.shape, order="F" if header.fortran else "C")


def _header(file: BinaryIO, name: str, size: int) -> _Header:
    """Read the header of an array, and compare it with the size of the file."""
    from numpy.lib import format as npy

    counted = _Counted(file)
    try:
        version = npy.read_magic(counted)
        read = getattr(npy, _READ[version])
        shape, fortran, dtype = read(counted, max_header_size=_LONGEST_HEADER)
    except Exception:
        raise TableError(
            f"{name} is no array of NumPy, or damaged; write it with numpy.save"
        ) from None
    if dtype.hasobject:
        raise TableError(
            f"{name} holds Python objects, which could run code when they are read, so "
            "it is not read; save an array of numbers, or of text for ids"
        )
    if counted.n_read + math.prod(shape) * dtype.itemsize != size:
        raise TableError(
            f"{name} is damaged or cut off: its header says {shape} of {dtype}, and "
            "that does not fit its size"
        )
    return _Header(shape, dtype, bool(fortran), counted.n_read)


class _Counted:
    """A file of which is counted how much was read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.n_read = file, 0

    def read(self, size: int = -1, /) -> bytes:
        content = self._file.read(size)
        self.n_read += len(content)
        return content


def _check_points(header: _Header, name: str) -> None:
    if len(header.shape) != 2 or header.dtype.kind not in "iufb" or not header.shape[1]:
        raise TableError(
            f"{name} holds an array of shape {header.shape} of {header.dtype}; points "
            "are an array with one row of numbers for each point"
        )


def _whole(array: Any, count: int, name: str) -> Any:
    if len(array) != count:
        raise TableError(f"{name} is cut off; get the file again")
    return array


def _floats(array: Any) -> Any:
    """Return numbers as float32 where nothing is lost, and else as float64."""
    small = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    small = small or array.dtype.kind == "b" or array.dtype.itemsize <= 2
    return np.ascontiguousarray(array, dtype=np.float32 if small else np.float64)
