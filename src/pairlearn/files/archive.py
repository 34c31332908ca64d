"""The file of a model: a zip of a description, a schema and arrays, each checked.

The file is one of skops, with restrictions that make it safe to open before anything
is known about it: member names are numbers, and `pairlearn.json` lists the SHA-256 of
every other member. The same model gives the same bytes.

Nothing small can unfold to something huge. Arrays are stored as they are, and so is
text beyond 1 MB; below, it may be compressed. Each item of the text is read once, and
built once (:mod:`pairlearn.files.building`). So `load` takes at most 64 MB and 60 bytes
for each byte of the file, above what the libraries take, and time in proportion; the
tests measure both for every way to write a file that we know of.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterable

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
# What the header has.
_OF_HEADER = {
    "format": int,
    "kind": str,
    "versions": dict,
    "about": dict,
    "sha256": dict,
}
# A schema takes some ten kB for each estimator in a model; this is for five thousand.
_MOST_TEXT = 50_000_000
# In memory text is up to thirty times as large, so a longer one is not compressed.
_MOST_COMPRESSED = 1_000_000
# Plain values in a list, a dict or an array of objects from which they are written
# together: a vocabulary would else take a hundred bytes for each of its words.
_MANY = 100
# Of an array without items; in others an item is as long as in the file.
_LARGEST_ITEM = 1_000_000
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
    if len(members[SCHEMA]) > _MOST_TEXT:
        raise ModelFileError(
            f"the description of its parts would have {len(members[SCHEMA])} bytes, "
            f"and at most {_MOST_TEXT} are read; keep numbers and text in arrays that "
            "are not of objects"
        )
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
        infos = {info.filename: info for info in source.infolist()}
        for name in (HEADER, SCHEMA):
            if name not in infos:
                raise ModelFileError(
                    f"it was not written by pairlearn.save: it has no {name}"
                )
        if len(infos) < len(source.infolist()):
            raise ModelFileError("it holds two members of one name")
        _check_sizes(source, data)
        for info in infos.values():
            _check_member(info, data)
        # Reading to the end compares each member with its checksum of 32 bits.
        header = _read_header(source.read(HEADER))
        if set(header["sha256"]) != set(infos) - {HEADER}:
            raise ModelFileError(f"its members are not those that its {HEADER} lists")
        members = {name: source.read(name) for name in infos}
    for name, digest in header["sha256"].items():
        if _digest(members[name]) != digest:
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
    if type(number) is not int or number < 1:
        raise ModelFileError(
            f"its format, {repr(number)[:20]}, is not a whole number above 0"
        )
    if number > FORMAT:
        written = str(header["versions"]["pairlearn"])[:20]
        raise ModelFileError(
            f"its format is {str(number)[:20]}, of pairlearn {written}, and this "
            f"version reads formats up to {FORMAT}: pip install --upgrade pairlearn"
        )
    for name, kind in _OF_HEADER.items():
        if not isinstance(header[name], kind):
            raise ModelFileError(f"{name!r} in its {HEADER} is not a {kind.__name__}")
    for name in header:
        if name not in _OF_HEADER:
            raise ModelFileError(
                f"its {HEADER} holds {name[:60]!r}, which does not belong there"
            )
    return dict(header)


def _check_member(info: zipfile.ZipInfo, data: bytes) -> None:
    name = info.filename
    if not _MEMBER.fullmatch(name):
        raise ModelFileError(
            f"it holds {name[:60]!r}, which does not belong to a model"
        )
    if name not in (HEADER, SCHEMA):
        if not _is_stored(info):
            raise ModelFileError(
                f"its array {name} is compressed, but pairlearn.save compresses none"
            )
        return
    if info.file_size > _MOST_TEXT:
        raise ModelFileError(
            f"its {name} claims to have {info.file_size} bytes, and at most "
            f"{_MOST_TEXT} are read"
        )
    if not _is_stored(info) and not _unfolds_well(info, data):
        raise ModelFileError(
            f"its {name} is compressed in a way that pairlearn.save does not use"
        )


def _is_stored(info: zipfile.ZipInfo) -> bool:
    """Tell whether a member is not compressed, and as long as it says."""
    stored = info.compress_type == zipfile.ZIP_STORED
    return stored and info.file_size == info.compress_size


def _unfolds_well(info: zipfile.ZipInfo, data: bytes) -> bool:
    """Tell whether a text has the length it claims, and that is not out of measure."""
    is_deflated = info.compress_type == zipfile.ZIP_DEFLATED
    if not is_deflated or info.file_size > _MOST_COMPRESSED:
        return False
    # Where the content starts: after a header with a name and one more field. zipfile
    # unfolds all that is there before it cuts it to the length claimed.
    lengths = struct.unpack_from("<HH", data, info.header_offset + 26)
    start = info.header_offset + 30 + sum(lengths)
    unfolding = zlib.decompressobj(-zlib.MAX_WBITS)
    packed = memoryview(data)[start : start + info.compress_size]
    content = unfolding.decompress(packed, info.file_size + 1)
    return unfolding.eof and len(content) == info.file_size


def _check_sizes(source: zipfile.ZipFile, data: bytes) -> None:
    """Refuse members that lie on each other, as many can be made of few bytes."""
    if sum(info.compress_size for info in source.infolist()) > len(data):
        raise ModelFileError("its members are larger than the file")


def _check_array(content: bytes) -> None:
    """Refuse an array that holds objects, or is not as long as it says."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    n_items = math.prod(shape)
    n_bytes = n_items * dtype.itemsize
    # Of items without a byte there could be any number, and an item of which there is
    # none could have any size: as soon as there is one, it would be in memory.
    is_endless = dtype.itemsize > _LARGEST_ITEM if n_items == 0 else not dtype.itemsize
    if dtype.hasobject or is_endless or n_bytes != len(content) - stream.tell():
        raise ModelFileError("one of its arrays is not as long as it says")


def _check_arrays(content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as source:
        _check_sizes(source, content)
        for info in source.infolist():
            if not _is_stored(info):
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
    if is_node:
        node = _folded(node)
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


def _folded(node: dict[str, Any]) -> dict[str, Any]:
    """Return a node with plain values as one of all of them, if they are many."""
    name = f"{node['__loader__']} {node['__module__']}.{node['__class__']}"
    if len(node.get("content") or ()) < _MANY:
        return node
    if name == "DictNode builtins.dict":
        texts = [kind["__class__"] == "str" for kind in node["key_types"]["content"]]
        values = _plain(node["content"].values())
        if values is None or not all(texts):
            return node
        return _plain_node(dict(zip(node["content"], values, strict=True)), node)
    if name == "ListNode builtins.list":
        values = _plain(node["content"])
        return node if values is None else _plain_node(values, node)
    if name == "NdArrayNode numpy.ndarray":
        values = _plain(node["content"])
        return node if values is None else {**node, "content": _plain_node(values, {})}
    return node


def _plain(nodes: Iterable[Any]) -> list[Any] | None:
    """Return the values of nodes if each is a number, a text, or one of three words."""
    if all(node["__loader__"] == "JsonNode" for node in nodes):
        return [json.loads(node["content"]) for node in nodes]
    return None


def _plain_node(value: Any, source: dict[str, Any]) -> dict[str, Any]:
    number = {"__id__": source["__id__"]} if "__id__" in source else {}
    return {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": json.dumps(value, separators=(",", ":"), ensure_ascii=False),
        "is_json": True,
        **number,
    }


def _text(value: Any) -> bytes:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    # Half of a letter, which a text in Python may hold, is read again as such.
    return text.encode(errors="surrogatepass")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name, content in members.items():
            # A date of its own would make two files of one model differ.
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o644 << 16
            if name.endswith(".json") and len(content) <= _MOST_COMPRESSED:
                info.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(info, content)
    return buffer.getvalue()


def _stored(content: bytes) -> bytes:
    """Return the zip of a sparse array without compression."""
    with zipfile.ZipFile(io.BytesIO(content)) as source:
        return _zipped({name: source.read(name) for name in source.namelist()})
