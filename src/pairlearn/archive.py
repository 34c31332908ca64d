"""The file of a model: a zip of a description, a schema and arrays, each checked.

The file is one of skops, with three restrictions that make it safe to open before
anything is known about it: arrays are stored as they are, so that nothing small can
unfold to something huge; member names are numbers; and `pairlearn.json` lists the
SHA-256 of every other member. The same model gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import zipfile
from typing import Any

import numpy as np
from scipy import sparse

__all__ = [
    "FORMAT",
    "HEADER",
    "SCHEMA",
    "ModelFileError",
    "check_sparse",
    "pack",
    "unpack",
]

# Raised when older versions of this package could not read the file.
FORMAT = 1
HEADER, SCHEMA = "pairlearn.json", "schema.json"
# A schema takes some ten kB for each estimator in a model; this is for ten thousand.
_MOST_TEXT = 100_000_000
# What scikit-learn keeps.
_SPARSE = ("coo", "csc", "csr")
_MEMBER = re.compile(r"pairlearn\.json|schema\.json|\d{1,9}\.np[yz]")


class ModelFileError(ValueError):
    """A file that is no model, is damaged, or asks for what a model has no need of."""


def pack(skops_file: bytes, header: dict[str, Any]) -> bytes:
    """Return a model file with the content of a file of skops, and a header.

    Parameters
    ----------
    skops_file : bytes
        What `skops.io.dumps` returns.
    header : dict
        What to write into `pairlearn.json`, beside the format and the checksums.

    Returns
    -------
    bytes
    """
    with zipfile.ZipFile(io.BytesIO(skops_file)) as source:
        schema = json.loads(source.read(SCHEMA))
        names: dict[str, str] = {}
        schema = _renumbered(schema, names, {})
        members = {
            new: _stored(source.read(old)) if new.endswith("z") else source.read(old)
            for old, new in names.items()
        }
    members[SCHEMA] = _text(schema)
    digests = {name: _digest(content) for name, content in members.items()}
    members = {
        HEADER: _text({"format": FORMAT, **header, "sha256": digests}),
        **members,
    }
    return _zipped(members)


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the header and all members of a model file, after checking each.

    Parameters
    ----------
    data : bytes
        Content of the file.

    Returns
    -------
    header : dict
    members : dict of bytes

    Raises
    ------
    ModelFileError
        If anything is not as `pack` writes it.
    """
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise ModelFileError(
            "it is empty" if not data else "it is damaged, or of another kind"
        )
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        infos = source.infolist()
        names = [info.filename for info in infos]
        if HEADER not in names or SCHEMA not in names:
            raise ModelFileError(
                "it was not written by pairlearn.save: it has no "
                + (HEADER if HEADER not in names else SCHEMA)
            )
        for info in infos:
            _check_member(info, len(data))
        if len(set(names)) < len(names):
            raise ModelFileError("it holds two members of one name")
        # Reading to the end compares each member with its checksum of 32 bits.
        members = {name: source.read(name) for name in names}
    header = _read_header(members[HEADER])
    digests = {
        name: _digest(content) for name, content in members.items() if name != HEADER
    }
    if header["sha256"] != digests:
        raise ModelFileError("it is damaged: a checksum is wrong")
    for name, content in members.items():
        if name.endswith(".npy"):
            _check_array(content)
        elif name.endswith(".npz"):
            _check_arrays(content)
    return header, members


def check_sparse(table: Any) -> None:
    """Refuse a sparse array whose numbers of rows or columns lie outside of it.

    SciPy reads and writes memory by these numbers and checks only some of them, so
    this comes before any method of the array is called.

    Parameters
    ----------
    table : sparse array or matrix
        As it was built.
    """
    if table.format not in _SPARSE:
        raise ModelFileError(f"it holds a sparse array of format {table.format}")
    fits = _fits_coordinates if table.format == "coo" else _fits_compressed
    if not fits(table):
        raise ModelFileError(
            "one of its sparse arrays has numbers of rows or columns outside of it"
        )


def _fits_coordinates(table: Any) -> bool:
    return len(table.coords) == len(table.shape) and all(
        len(index) == len(table.data) and _within(index, size)
        for index, size in zip(table.coords, table.shape, strict=True)
    )


def _fits_compressed(table: Any) -> bool:
    n_rows, n_columns = table.shape if len(table.shape) == 2 else (1, *table.shape)
    if table.format == "csc":
        n_rows, n_columns = n_columns, n_rows
    starts, indices = table.indptr, table.indices
    if len(starts) != n_rows + 1 or not _within(starts, len(indices) + 1):
        return False
    rising = bool(starts[0] == 0 and np.all(starts[1:] >= starts[:-1]))
    return rising and len(indices) == len(table.data) and _within(indices, n_columns)


def _within(index: Any, size: int) -> bool:
    if index.ndim != 1 or index.dtype.kind not in "iu":
        return False
    return not len(index) or bool(index.min() >= 0 and index.max() < size)


def _read_header(content: bytes) -> dict[str, Any]:
    header = json.loads(content)
    number = header["format"]
    if not isinstance(number, int) or number < 1:
        raise ModelFileError(f"its format, {number!r}, is not a number above 0")
    if number > FORMAT:
        written = header["versions"]["pairlearn"]
        raise ModelFileError(
            f"its format is {number}, of pairlearn {written}, and this version reads "
            f"formats up to {FORMAT}: pip install --upgrade pairlearn"
        )
    for name, kind in (("kind", str), ("versions", dict), ("about", dict)):
        if not isinstance(header[name], kind):
            raise ModelFileError(f"{name!r} in its {HEADER} is not a {kind.__name__}")
    return dict(header)


def _check_member(info: zipfile.ZipInfo, size: int) -> None:
    name = info.filename
    if not _MEMBER.fullmatch(name):
        raise ModelFileError(f"it holds {name[:60]!r}, which is no part of a model")
    stored = info.compress_type == zipfile.ZIP_STORED
    if name in (HEADER, SCHEMA):
        if info.file_size > _MOST_TEXT:
            raise ModelFileError(f"its {name} claims to have {info.file_size} bytes")
    elif not stored or info.file_size != info.compress_size or info.file_size > size:
        raise ModelFileError(f"its array {name} is compressed, which models are not")


def _check_array(content: bytes) -> None:
    """Refuse an array that holds objects, or is not as long as it says."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    n_bytes = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or n_bytes != len(content) - stream.tell():
        raise ModelFileError("one of its arrays is not as long as it says")


def _check_arrays(content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as source:
        for info in source.infolist():
            if (
                info.compress_type != zipfile.ZIP_STORED
                or info.file_size != info.compress_size
            ):
                raise ModelFileError("one of its sparse arrays is compressed")
            _check_array(source.read(info))
    # Here, and not only in the model: a part of it may use an array as it is built.
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        kind = arrays["format"].item()
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    if kind not in _SPARSE:
        raise ModelFileError(f"it holds a sparse array of format {kind[:20]!r}")
    check_sparse(sparse.load_npz(io.BytesIO(content)))


def _renumbered(node: Any, names: dict[str, str], done: dict[int, Any]) -> Any:
    """Return the schema with short names, in place of addresses in memory.

    skops names what occurs twice by the same id; here it has the same content too.
    """
    if isinstance(node, list):
        return [_renumbered(item, names, done) for item in node]
    if not isinstance(node, dict):
        return node
    is_node = isinstance(node.get("__loader__"), str)
    if is_node and node.get("__id__") in done:
        return done[node["__id__"]]
    new = {key: _renumbered(item, names, done) for key, item in node.items()}
    if is_node:
        if isinstance(node.get("file"), str):
            suffix = node["file"][-4:]
            new["file"] = names.setdefault(node["file"], f"{len(names)}{suffix}")
        if "__id__" in node:
            done[node["__id__"]] = new
            # Not zero, which skops takes for no number at all.
            new["__id__"] = len(done)
    return new


def _text(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name, content in members.items():
            # A date of its own would make two files of one model differ.
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o644 << 16
            if name.endswith(".json"):
                info.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(info, content)
    return buffer.getvalue()


def _stored(content: bytes) -> bytes:
    """Return the zip of a sparse array without compression."""
    with zipfile.ZipFile(io.BytesIO(content)) as source:
        return _zipped({name: source.read(name) for name in source.namelist()})
