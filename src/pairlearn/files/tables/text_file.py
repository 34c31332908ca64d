"""CSV and TSV files: encoding, delimiter, header, rows with their line numbers.

A table that is not what it seems must not be read as something else, so the rules are
strict: every row has as many cells as the header, quotes close, names are unique, and
the delimiter is the one for which that is so.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, TYPE_CHECKING

from pairlearn.files.tables.cells import number_of, shown
from pairlearn.files.tables.delimiters import (
    DELIMITERS,
    delimiter_named,
    name_of_delimiter,
)
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.text_rows import read_rows, records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pairlearn.files.tables.text_rows import Rows

__all__ = ["TextFile", "open_text"]

_BOMS = (  # the longer ones first: UTF-32 begins like UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OTHER_FORMATS = (
    (b"PK\x03\x04", "a zip or Excel file", "save it as CSV first"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file", "save it as CSV first"),
    (b"PAR1", "a Parquet file", "rename it to .parquet"),
    (b"ARROW1", "an Arrow file", "rename it to .arrow"),
    (b"\x1f\x8b", "a gzip file", "unpack it first"),
    (b"%PDF", "a PDF file", "a table is needed, such as CSV"),
)
_BLOCK = 2**20
# Rows that are looked at to find the delimiter.
_SAMPLE = 200
UNNAMED = "(unnamed)"


@dataclass(frozen=True)
class TextFile:
    """A text table that has been looked at: how to read it, and its column names."""

    path: Path
    encoding: str
    delimiter: str
    names: list[str]
    skip: int  # rows before the header: 1 for Excel's "sep=;"
    notes: list[str] = field(default_factory=list)

    def rows(self) -> Iterator[Rows]:
        """Yield the rows below the header, in blocks."""
        return read_rows(
            self.path, self.encoding, self.delimiter, self.names, self.skip
        )

    @property
    def columns(self) -> list[str]:
        """The names of the columns that are read."""
        return self.names[:-1] if self.names[-1] == "" else self.names


def open_text(path: Path, delimiter: str | None = None) -> TextFile:
    """Find out how a CSV or TSV file is to be read.

    Parameters
    ----------
    path : Path
        The file.
    delimiter : str, optional
        What divides its cells, or its name, such as "tab"; it is found if nothing is
        said, or if the header does not hold it.

    Returns
    -------
    TextFile

    Raises
    ------
    TableError
        If it is no such table, with what is wrong and where.
    """
    wanted = delimiter_named(delimiter)
    encoding, notes = _encoding(path)
    with path.open(encoding=encoding, newline="") as file:
        first = file.readline(_BLOCK)
        if len(first) >= _BLOCK:
            raise TableError(
                f"{path.name}, line 1: the header is longer than a million characters; "
                "is this a table with a header line?"
            )
        said = re.fullmatch(r"\s*\"?sep=([,;|\t])\"?\s*", first, re.IGNORECASE)
        file.seek(0)
        if said:
            found = said[1]
        elif wanted is not None and wanted in first:
            found = wanted
        else:
            found = _delimiter(file, path)
        if wanted not in (None, found):
            notes.append(
                f"{path.name}: {name_of_delimiter(found)} divides its cells, and not "
                f"{name_of_delimiter(str(wanted))}, which its header does not hold"
            )
        file.seek(0)
        skip = 1 if said else 0
        rows = islice(records(file, found, path.name), skip, None)
        _, header = next(rows, (1, []))
    names = _names(header, path)
    return TextFile(path, encoding, found, names, skip, notes)


def _encoding(path: Path) -> tuple[str, list[str]]:
    """Return the encoding, and a note where it is a guess."""
    name = path.name
    with path.open("rb") as file:
        head = file.read(_BLOCK)
        if not head.strip():
            raise TableError(f"{name} is empty; a table with a header line is needed")
        for magic, what, way_out in _OTHER_FORMATS:
            if head.startswith(magic):
                raise TableError(f"{name} is {what}, not a text table; {way_out}")
        for bom, encoding in _BOMS:
            if head.startswith(bom):
                return _check(path, encoding), []
        decoder = codecs.getincrementaldecoder("utf-8")()
        utf8, block, n_read = True, head, 0
        while True:
            zero = block.find(b"\0")
            if zero >= 0:
                raise TableError(
                    f"{name} holds a NUL byte, at byte {n_read + zero}: it is not a "
                    "text table, or damaged, or in UTF-16 without its byte order mark; "
                    "save it as CSV in UTF-8"
                )
            if utf8:
                try:
                    decoder.decode(block, final=not block)
                except UnicodeDecodeError:
                    utf8 = False
            if not block:
                break
            n_read += len(block)
            block = file.read(_BLOCK)
    if utf8:
        return "utf-8", []
    if any(byte < 32 and byte not in b"\t\n\r\f\x1a" for byte in head):
        raise TableError(
            f"{name} is not a text table: it holds control characters, and bytes that "
            "are not UTF-8; save the table as CSV in UTF-8"
        )
    note = (
        f"{name} is not UTF-8; it was read as Windows-1252 (Latin-1). If letters with "
        "accents look wrong, save it as UTF-8"
    )
    try:
        return _check(path, "cp1252"), [note]
    except TableError:
        return "latin-1", [note]


def _check(path: Path, encoding: str) -> str:
    """Return the encoding if the whole file is in it."""
    try:
        with path.open(encoding=encoding, newline="") as file:
            while block := file.read(_BLOCK):
                if "\0" in block:
                    raise TableError(
                        f"{path.name} holds a NUL character: it is damaged, or not a "
                        "text table; save it as CSV in UTF-8"
                    )
    except UnicodeError:
        raise TableError(
            f"{path.name} begins like {encoding.removesuffix('-sig').upper()}, but it "
            "is not; it may be damaged or cut off; save it as CSV in UTF-8"
        ) from None
    return encoding


def _delimiter(file: IO[str], path: Path) -> str:
    """Return the delimiter: the one that cuts the header and all rows alike."""
    fits: dict[str, bool] = {}
    header_only: dict[str, int] = {}
    for delimiter in DELIMITERS:
        file.seek(0)
        try:
            sample = [r for _, r in islice(records(file, delimiter, ""), _SAMPLE)]
        except TableError:
            # What is wrong with a row is told when it is read.
            file.seek(0)
            sample = [_header(file.readline(), delimiter), []]
        width = len(sample[0]) if sample else 0
        if width > 1:
            header_only[delimiter] = width
            if all(len(row) == width for row in sample):
                # A delimiter from inside quoted cells cuts them apart.
                fits[delimiter] = any('"' in cell for row in sample for cell in row)
    preferred = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
    if preferred == "\t" and "\t" in (fits or header_only):
        return "\t"
    found = [d for d in fits if not fits[d]] or list(fits)
    if len(found) > 1:
        visible = [d for d in found if d != "\t"]
        raise TableError(
            f"{path.name}: the delimiter may be "
            f"{' or '.join(DELIMITERS[d] for d in found)}: the header and all rows can "
            "be split at either. Say which it is, such as --delimiter "
            f"'{visible[-1]}'; or put names that hold a delimiter in double quotes"
        )
    if found:
        return found[0]
    # Whichever it is, there will be an error at the row that it does not fit.
    return max(header_only, key=header_only.__getitem__, default=preferred)


def _header(line: str, delimiter: str) -> list[str]:
    """Return the cells of a header, as far as they can be told."""
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return []


def _names(header: list[str], path: Path) -> list[str]:
    """Return the names of the columns; refuse a header that is none."""
    names = [name.strip() for name in header]
    if not any(names):
        raise TableError(f"{path.name}: the header line names no column")
    numbers = [number_of(name) for name in names]
    if None not in numbers and any(number == number for number in numbers):
        raise TableError(
            f"{path.name}: the first line holds numbers, not column names; a header "
            f"line is needed, such as {'id,' if len(names) > 1 else ''}x,..."
        )
    # A table that was saved with its row names has them in a first column without one.
    if not names[0]:
        names[0] = UNNAMED
    empty = [k for k, name in enumerate(names[:-1], start=1) if not name]
    if empty:
        raise TableError(
            f"{path.name}: column {empty[0]} has no name; name it in the header line"
        )
    check_unique(names, path.name)
    return names


def check_unique(names: list[str], table: str) -> None:
    """Refuse columns that share a name."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise TableError(
            f"{table}: {len(twice)} column name(s) occur more than once, first "
            f"{shown(twice[0])}; columns are known by their names, so rename one"
        )
