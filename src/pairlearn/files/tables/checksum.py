"""Checksums of tables; one beside a table shows what its format cannot: another byte.

In CSV and Arrow, and in most Parquet files, another number is as good as the right one.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.image_folder import images_in
from pairlearn.files.tables.sheets import split_sheet

__all__ = ["check_checksum", "digest_of_table"]

# What sha256sum writes: the digest, a space, a space or an asterisk, the name.
_LINE = re.compile(r"\\?([0-9a-f]{64})(?:[ \t]+\*?(.*))?", re.IGNORECASE)


def check_checksum(path: Path) -> None:
    r"""Refuse a table that is not the one of which the checksum beside it was made.

    Parameters
    ----------
    path : Path
        The table. Its checksum is looked for under the same name with ``.sha256``
        behind it; without one there is nothing to check.

    Raises
    ------
    TableError
        If they do not fit.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder, "points.csv")
    ...     _ = table.write_text("id,x\np1,3\n")
    ...     digest = hashlib.sha256(table.read_bytes()).hexdigest()
    ...     _ = Path(folder, "points.csv.sha256").write_text(f"{digest}  points.csv")
    ...     check_checksum(table)
    ...     _ = table.write_text("id,x\np1,7\n")
    ...     check_checksum(table)
    Traceback (most recent call last):
    ...
    pairlearn.files.tables.errors.TableError: points.csv does not match ...
    """
    beside = path.with_name(f"{path.name}.sha256")
    if not beside.is_file() or not path.is_file():
        return
    lines = beside.read_text(encoding="utf-8", errors="replace").splitlines()
    found = [match for line in lines if (match := _LINE.fullmatch(line.strip()))]
    digests = {
        match[1].lower()
        for match in found
        if not match[2] or Path(match[2]).name == path.name
    }
    if not digests:
        raise TableError(
            f"{beside.name} holds no SHA-256 checksum of {path.name}; write it with "
            f"'sha256sum {path.name} > {beside.name}', or delete it"
        )
    if _digest(path) not in digests:
        raise TableError(
            f"{path.name} does not match the checksum in {beside.name}: it is damaged "
            "or was changed. Get it again; if the change is intended, write a new "
            f"checksum or delete {beside.name}"
        )


def digest_of_table(path: Path) -> str:
    r"""Return what tells whether a table of points is still the same.

    Parameters
    ----------
    path : Path
        A file; a workbook, with or without the name of a sheet; or a folder of images,
        which is the same while the names and sizes of its images are.

    Returns
    -------
    str
        A SHA-256 digest.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "p1.png").write_bytes(b"one")
    ...     before = digest_of_table(Path(folder))
    ...     _ = Path(folder, "notes.txt").write_text("of no account")
    ...     same = digest_of_table(Path(folder)) == before
    ...     _ = Path(folder, "p2.png").write_bytes(b"two")
    ...     same, digest_of_table(Path(folder)) == before
    (True, False)
    """
    if not path.is_dir():
        return _digest(split_sheet(path)[0])
    names, _ = images_in(path)
    lines = (f"{name}\0{(path / name).stat().st_size}\0" for name in names)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
