"""Vectors that took long to make, kept on disk by what they were made of.

The folder of a method holds files of rows of (key, vector). A key is a hash of the
content that the vector was made of. Files are written whole and never changed, so that
several commands can add to a folder at once; each is named after its own hash, so that
a damaged one is noticed and passed over. They are plain arrays, and nothing in them can
run.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.system.writing import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["VectorCache", "cache_folder", "key_of"]

_KEY_BYTES = 20


def cache_folder() -> Path:
    """Return the folder in which vectors are kept.

    That is `embeddings` in the folder that the environment variable PAIRLEARN_CACHE
    names, or in the user's folder for such things.
    """
    named = os.environ.get("PAIRLEARN_CACHE")
    if named:
        return Path(named) / "embeddings"
    import pooch

    return Path(pooch.os_cache("pairlearn")) / "embeddings"


def key_of(content: bytes) -> bytes:
    """Return the key of some content."""
    return hashlib.sha256(content).digest()[:_KEY_BYTES]


class VectorCache:
    """The vectors that one method has made.

    Parameters
    ----------
    method : str
        What made them, and in which version: other texts have other folders.
    folder : Path or None
        Where the folders of all methods are; None: the user's.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     VectorCache("a", Path(folder)).add([key_of(b"x")], np.ones((1, 2)))
    ...     VectorCache("a", Path(folder)).get(key_of(b"x")).tolist()
    ...     len(VectorCache("b", Path(folder)))
    [1.0, 1.0]
    0
    """

    def __init__(self, method: str, folder: Path | None = None) -> None:
        self._method = method
        mark = hashlib.sha256(method.encode("utf-8", "surrogatepass")).hexdigest()
        self._folder = (folder or cache_folder()) / mark[:32]
        self._rows: dict[bytes, NDArray[np.float32]] = {}
        for path in sorted(self._folder.glob("*.npy")):
            self._take(path)

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, key: bytes) -> NDArray[np.float32] | None:
        """Return the vector of some content, or None."""
        return self._rows.get(key)

    def add(self, keys: Iterable[bytes], vectors: NDArray[Any]) -> None:
        """Keep vectors, on disk at once.

        Parameters
        ----------
        keys : iterable of bytes
            The keys of what they were made of.
        vectors : ndarray of shape (n_vectors, n_numbers)
            The vectors.
        """
        keys = list(keys)
        if not keys:
            return
        rows = np.zeros(len(keys), dtype=_kind(vectors.shape[1]))
        rows["key"] = np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), -1)
        rows["vector"] = vectors
        for key, row in zip(keys, rows["vector"], strict=True):
            self._rows[key] = row
        made = io.BytesIO()
        np.save(made, rows, allow_pickle=False)
        content = made.getvalue()
        self._folder.mkdir(parents=True, exist_ok=True)
        about = self._folder / "about.json"
        if not about.exists():
            with replacing(about) as partial:
                partial.write_text(json.dumps({"method": self._method}), "utf-8")
        with replacing(self._folder / f"{_hash(content)}.npy") as partial:
            partial.write_bytes(content)

    def _take(self, path: Path) -> None:
        try:
            content = path.read_bytes()
            if _hash(content) != path.stem:
                return
            # Mapped, so that what is not asked for takes no memory.
            rows: Any = np.load(path, mmap_mode="r", allow_pickle=False)
            if rows.dtype != _kind(rows.dtype["vector"].shape[0]):
                return
        except (OSError, ValueError, KeyError, IndexError, EOFError):
            # What is damaged or of another kind is made anew.
            return
        for key, row in zip(rows["key"], rows["vector"], strict=True):
            self._rows[key.tobytes()] = row


def _kind(width: int) -> Any:
    return np.dtype([("key", np.uint8, (_KEY_BYTES,)), ("vector", "<f4", (width,))])


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
