"""Read the formats in which the data sets are kept, compressed or not."""

from __future__ import annotations

import bz2
import collections
import gzip
import io
import lzma
import pickle
import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = [
    "DataFileError",
    "SUFFIXES",
    "read_arff",
    "read_bytes",
    "read_csv",
    "read_idx",
    "read_images",
    "read_libsvm",
    "read_npz",
    "read_pickle",
]

SUFFIXES = ("", ".gz", ".bz2", ".xz", ".Z")


class DataFileError(ValueError):
    """A data file is damaged, or is not the one that was expected.

    Attributes
    ----------
    reason : str
        What is wrong with it, without the advice that the message gives.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason or message


def damaged(path: Path, why: object) -> DataFileError:
    """Return the error for a file that cannot be read."""
    return DataFileError(
        f"{path} is damaged or is not the file it should be ({why}). Delete it and "
        "load again: it is then fetched anew, or you are told where to get it",
        reason=f"{path.name}: {why}",
    )


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, plain or compressed with gz, bz2, xz or compress.

    What counts is how the file begins, not what its name says.
    """
    content = path.read_bytes()
    for magic, decompress in _OPENERS.items():
        if content.startswith(magic):
            try:
                return decompress(content)
            except (OSError, EOFError, ValueError, IndexError, zlib.error,
                    lzma.LZMAError) as error:  # fmt: skip
                raise damaged(path, error) from error
    return content


def _unlzw(content: bytes) -> bytes:
    """Undo Unix's compress, the format .Z, for which Python has no module.

    Each code stands for a string: first one of the 256 single bytes, then each string
    that was seen, lengthened by the byte that followed it. Codes are 9 bits wide and
    widen as the table fills; code 256 empties the table.
    """
    max_width, can_clear = content[2] & 31, bool(content[2] & 128)
    fresh = [bytes([value]) for value in range(256)] + [b""] * can_clear
    table, width, previous = fresh.copy(), 9, b""
    out = bytearray()
    group = position = 24  # in bits; the header has three bytes
    while position + width <= 8 * len(content):
        byte, shift = divmod(position, 8)
        window = int.from_bytes(content[byte : byte + 4], "little")
        code = window >> shift & ((1 << width) - 1)
        position += width
        clear = can_clear and code == 256
        if clear:
            table, previous = fresh.copy(), b""
        elif code > len(table) or (code == len(table) and not previous):
            raise ValueError(f"code {code} has no meaning")
        else:
            entry = table[code] if code < len(table) else previous + previous[:1]
            out += entry
            if previous and len(table) < 1 << max_width:
                table.append(previous + entry[:1])
            previous = entry
        if clear or (len(table) == 1 << width and width < max_width):
            # Codes come in groups of eight; a group that is cut short is filled up.
            position += -(position - group) % (8 * width)
            group = position
            width = 9 if clear else width + 1
    return bytes(out)


# What a compressed file begins with.
_OPENERS: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ\x00": lzma.decompress,
    b"\x1f\x9d": _unlzw,
}


def read_libsvm(path: Path, n_features: int) -> tuple[Any, NDArray[Any]]:
    """Return points, as a CSR matrix, and labels from LIBSVM text."""
    from sklearn.datasets import load_svmlight_file

    content = read_bytes(path)
    try:
        X, y = load_svmlight_file(
            io.BytesIO(content), n_features=n_features, zero_based=False
        )
    except ValueError as error:
        raise damaged(path, error) from error
    # Some copies write zeros out, others leave them out.
    X.eliminate_zeros()
    X.sort_indices()
    return X, y


def read_csv(path: Path, n_features: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return points and labels from a CSV file with the class in the last column.

    Lines that begin with "@" are skipped: KEEL puts such a header on top. Labels are
    numbers where they can be, and else text.
    """
    rows = _split_rows(path, _text(path).splitlines(), n_features + 1)
    return _numbers(path, [row[:-1] for row in rows]), _labels(rows)


def read_arff(path: Path) -> tuple[NDArray[Any], NDArray[Any], list[str]]:
    """Return points, labels and the features' names from a dense ARFF file.

    The last attribute is the class. Enough of ARFF for the files in use: one row a
    line, no quoting, no missing values, nominal values that are numbers.
    """
    names: list[str] = []
    lines = iter(_text(path).splitlines())
    for line in lines:
        words = line.split()
        if words and words[0].lower() == "@attribute":
            if len(words) < 3:
                raise damaged(path, f"an attribute without a name or type: {line!r}")
            names.append(words[1].strip("'\""))
        elif words and words[0].lower() == "@data":
            break
    else:
        raise damaged(path, "no line says @data")
    rows = _split_rows(path, list(lines), len(names))
    return _numbers(path, [row[:-1] for row in rows]), _labels(rows), names[:-1]


def read_idx(path: Path, n_dims: int) -> NDArray[np.uint8]:
    """Return the array of bytes in an idx file, the format of MNIST."""
    content = read_bytes(path)
    head = 4 + 4 * n_dims
    if content[:4] != bytes([0, 0, 8, n_dims]) or len(content) < head:
        raise damaged(path, f"no idx file of bytes in {n_dims} dimension(s)")
    shape = struct.unpack(f">{n_dims}I", content[4:head])
    size = int(np.prod(shape, dtype=object))
    if len(content) != head + size:
        raise damaged(
            path, f"{size} bytes are announced, {len(content) - head} are there"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=head).reshape(shape)


def read_images(images: Path, labels: Path) -> tuple[Any, ...]:
    """Return points and classes from the idx files of images of 28 x 28 pixels."""
    X, y = read_idx(images, 3), read_idx(labels, 1)
    if X.shape[1:] != (28, 28) or len(X) != len(y):
        raise DataFileError(
            f"{images} and {labels} do not belong together: images of shape "
            f"{X.shape}, {len(y)} labels. Delete both and load again"
        )
    return X.reshape(len(X), 784), y


def read_npz(path: Path, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """Return the named arrays of an npz file, without running any pickle."""
    import zipfile

    content = read_bytes(path)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in names}
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error,
            AttributeError, TypeError) as error:  # fmt: skip
        raise damaged(path, error) from error


def read_pickle(path: Path) -> Any:
    """Return what a Python 2 pickle of arrays, CSR matrices and dicts of lists holds.

    A matrix comes as a `PickledMatrix`.

    A pickle may name any function and have it called. This reader knows the few names
    that such data need, and refuses a file that names another before anything is
    called.
    """
    content = read_bytes(path)
    try:
        return _DataUnpickler(io.BytesIO(content), encoding="latin1").load()
    except _RefusedName as error:
        raise DataFileError(
            f"{path} was not read: it is a pickle that calls for {error}, which no "
            "data file needs and which could run any program. Delete it and load again",
            reason=f"{path.name}: a pickle that calls for {error}",
        ) from None
    # A damaged pickle can make NumPy and SciPy complain in any of these ways.
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError,
            IndexError, KeyError, MemoryError, OverflowError) as error:  # fmt: skip
        raise damaged(path, error) from error


class _RefusedName(Exception):  # noqa: N818 - never leaves this file
    pass


def _new_array(kind: Any, shape: Any, dtype: Any) -> NDArray[Any]:
    # What NumPy's own pickles call; its home in NumPy has moved over the years.
    if kind is not np.ndarray:
        raise _RefusedName(repr(kind))
    return np.ndarray.__new__(np.ndarray, shape, dtype)


class PickledMatrix:
    """A CSR matrix as a pickle has it: its parts, under the names SciPy gave them.

    The parts are what counts: SciPy's own class has changed over the years, and a
    pickle could change the class itself for the rest of the program.
    """

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    _shape: tuple[int, int]

    def tocsr(self) -> Any:
        """Return the matrix."""
        parts = (self.data, self.indices, self.indptr)
        return sparse.csr_matrix(parts, shape=self._shape)


class _DataUnpickler(pickle.Unpickler):
    known: Mapping[tuple[str, str], Any] = {
        ("numpy.core.multiarray", "_reconstruct"): _new_array,
        ("numpy._core.multiarray", "_reconstruct"): _new_array,
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): np.dtype,
        ("scipy.sparse.csr", "csr_matrix"): PickledMatrix,
        ("scipy.sparse._csr", "csr_matrix"): PickledMatrix,
        ("collections", "defaultdict"): collections.defaultdict,
        ("builtins", "list"): list,
        ("__builtin__", "list"): list,
    }

    def find_class(self, module: str, name: str) -> Any:
        try:
            return self.known[module, name]
        except KeyError:
            raise _RefusedName(f"{module}.{name}") from None


def _text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise damaged(path, error) from error


def _split_rows(path: Path, lines: list[str], n_columns: int) -> list[list[str]]:
    rows = [line.split(",") for line in lines if line.strip() and line[0] not in "@%"]
    if not rows:
        raise damaged(path, "it has no rows")
    for number, row in enumerate(rows, 1):
        if len(row) != n_columns:
            raise damaged(
                path, f"row {number} has {len(row)} values instead of {n_columns}"
            )
    return rows


def _numbers(path: Path, rows: list[list[str]]) -> NDArray[np.float64]:
    try:
        return np.array(rows, dtype=object).astype(float)
    except ValueError as error:
        raise damaged(path, error) from error


def _labels(rows: list[list[str]]) -> NDArray[Any]:
    labels = np.array([row[-1].strip() for row in rows])
    try:
        return labels.astype(float)
    except ValueError:
        return labels
