"""Files of checkpoints: what torch writes, behind its checksum.

torch reads a file with flipped bits for another network without a word, and its reader
has been the way in for forged files. So nothing reaches it that differs by a bit from
what was written.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import torch

from pairlearn.system.writing import replacing

if TYPE_CHECKING:
    from io import BufferedReader
    from pathlib import Path
    from typing import BinaryIO

__all__ = ["read_checkpoint", "write_checkpoint"]

# First this, then the SHA-256 of all that follows it.
MAGIC = b"pairlearn checkpoint 1\n"
# With earlier versions a forged file can run code, in spite of weights_only=True:
# CVE-2025-32434 before 2.6, CVE-2026-24747 before 2.10.
SAFE = "2.10"


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write a state, whole or not at all.

    Parameters
    ----------
    path : Path
        The file.
    state : dict
        Tensors, numbers, strings, and lists and dicts of them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "checkpoint.pt")
    ...     write_checkpoint(path, {"weights": torch.ones(2)})
    ...     read_checkpoint(path)
    {'weights': tensor([1., 1.])}
    """
    with replacing(path) as partial, partial.open("xb") as file:
        file.write(MAGIC + bytes(hashlib.sha256().digest_size))
        hashed = _Hashed(file)
        torch.save(state, hashed)  # type: ignore[arg-type]
        file.seek(len(MAGIC))
        file.write(hashed.digest.digest())
        file.flush()
        # On the disk before it has its name: a machine may lose power.
        os.fsync(file.fileno())


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Return the state that was written; refuse a file that is not what was written.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        The file is damaged, or not a checkpoint.
    RuntimeError
        This torch is too old to read files safely.
    """
    # Compared as a version, not as a string.
    if torch.__version__ < SAFE:
        raise RuntimeError(
            f"{path} is not read, since a forged checkpoint can run code in this torch "
            f"{torch.__version__}; get torch {SAFE} or later (pip install "
            f"'torch>={SAFE}'), or delete the file to begin anew"
        )
    with path.open("rb") as file:
        wrong = _what_is_wrong(file)
        if wrong:
            raise ValueError(
                f"{path} is damaged, or not a checkpoint of this version: {wrong}; "
                "delete it, or give another folder"
            )
        try:
            state = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:
            raise ValueError(
                f"{path} is damaged, or not a checkpoint of ours, although its "
                "checksum is right; delete it, or give another folder"
            ) from error
    if not isinstance(state, dict):
        raise ValueError(
            f"{path} holds no state of a training; delete it, or give another folder"
        )
    return state


def _what_is_wrong(file: BufferedReader) -> str:
    """Say what is wrong with a file, if anything; leave it where torch begins."""
    if file.read(len(MAGIC)) != MAGIC:
        return "it does not begin as one"
    expected = file.read(hashlib.sha256().digest_size)
    begin = file.tell()
    if hashlib.file_digest(file, "sha256").digest() != expected:
        return "its checksum does not agree with its content"
    file.seek(begin)
    return ""


class _Hashed:
    """A file that can be written to, and takes the checksum on the way."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.digest = hashlib.sha256()

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return self.file.write(data)

    def flush(self) -> None:
        self.file.flush()
