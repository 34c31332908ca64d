"""Rows of CSV and TSV files, with their line numbers.

The csv module reads by strict rules. Text that is written so plainly that the rules
leave no choice is read by Arrow, in blocks, which is several times as fast; whatever
else there is in a block, a mistake too, is left to the csv module.
"""

from __future__ import annotations

import codecs
import csv
import re
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from pairlearn.files.tables.cells import shown
from pairlearn.files.tables.delimiters import name_of_delimiter
from pairlearn.files.tables.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from pairlearn.data.types import Bools

__all__ = ["Rows", "is_blank", "read_rows", "records"]

# Bytes that are read at a time; of a table with more than so many columns more, since
# each column of a block takes its time, however few its cells.
_BLOCK = 2**22
_MANY_COLUMNS = 256
_MOST_BLOCKS = 64
_LINE = re.compile(r"[^\r\n]*(\r\n|\r|\n)?")


@dataclass
class Rows:
    """Rows that follow each other.

    Attributes
    ----------
    lines : ndarray of int
        The line that each begins in.
    bare : ndarray of bool
        Which are blank lines, that is, rows without cells.
    cells : list of pyarrow.LargeStringArray
        The cells of each column; empty in blank lines.
    """

    lines: NDArray[np.int64]
    bare: Bools
    cells: list[Any]


def read_rows(
    path: Path, encoding: str, delimiter: str, names: list[str], skip: int
) -> Iterator[Rows]:
    """Read the rows below the header.

    Parameters
    ----------
    path : Path
        The file.
    encoding, delimiter : str
        How it is written.
    names : list of str
        The names in the header. If the last is empty, its column is left out.
    skip : int
        Rows before the header.

    Yields
    ------
    Rows

    Raises
    ------
    TableError
        Where a row is not what the header says, after the rows before it.
    """
    table = _Table(path.name, delimiter, names)
    with path.open("rb") as file:
        n_blocks = min(max(len(names) // _MANY_COLUMNS, 1), _MOST_BLOCKS)
        text = _Text(file, encoding, n_blocks * _BLOCK)
        before = records(text.lines(), delimiter, path.name)
        for _ in range(skip + 1):
            next(before, None)
        while block := text.block():
            cells = table.plain(block)
            if cells is None:
                yield from table.careful(text, len(block))
                continue
            n_rows = len(cells[0])
            lines = np.arange(text.line, text.line + n_rows)
            yield Rows(lines, np.zeros(n_rows, dtype=bool), cells)
            text.pass_over(len(block), n_rows)


class _Text:
    """The text of a file, which is read as it is asked for.

    Attributes
    ----------
    used : int
        How many characters have been given out as lines, or passed over.
    line : int
        The number of the line that comes next.
    """

    def __init__(self, file: IO[bytes], encoding: str, block: int) -> None:
        self._file, self._block = file, block
        self._decode = codecs.getincrementaldecoder(encoding)().decode
        self._part, self._begin = "", 0  # text in memory, and what is not used of it
        self._whole = False  # whether the end of the file is in memory
        self.used, self.line = 0, 1

    def _more(self) -> None:
        # Twice as much each time, lest a very long line be searched over and over.
        data = self._file.read(max(self._block, len(self._part) - self._begin))
        self._whole = not data
        self._part = self._part[self._begin :] + self._decode(data, self._whole)
        self._begin = 0

    def pass_over(self, length: int, n_lines: int) -> None:
        """Count text as used."""
        self._begin += length
        self.used += length
        self.line += n_lines

    def block(self) -> str:
        """Return some text up to the end of a line; empty at the end of the file."""
        while True:
            part, begin = self._part, self._begin
            # A return at the very end may belong to a line feed that follows.
            end = max(part.rfind("\n", begin), part.rfind("\r", begin, -1)) + 1
            if end or self._whole:
                return part[begin : end or None]
            self._more()

    def lines(self) -> Iterator[str]:
        """Yield the lines, each with its end: a line feed, a return, or both."""
        while True:
            found = _LINE.match(self._part, self._begin)
            line = found[0] if found else ""
            if (
                not line.endswith("\n")
                and self._begin + len(line) == len(self._part)
                and not self._whole
            ):
                # Perhaps the line goes on, or a line feed comes after a return.
                self._more()
                continue
            if not line:
                return
            self.pass_over(len(line), 1)
            yield line


@dataclass
class _Table:
    """What is known about a table before its rows are read."""

    name: str
    delimiter: str
    names: list[str]

    @property
    def dropped(self) -> bool:
        """Whether the last column has no name, and nothing in it."""
        return self.names[-1] == ""

    def plain(self, block: str) -> list[Any] | None:
        """Return the cells by column, if there is but one way to read the block."""
        import pyarrow as pa
        import pyarrow.compute as pc

        from pairlearn.files.tables.text_cells import are_blank

        if (
            block.startswith(("\n", "\r", "\ufeff"))
            or "\n\n" in block
            or "\n\r\n" in block
            or block.count("\r") != block.count("\r\n")
        ):
            return None
        data = block.encode()
        quoted = b'"' in data
        if quoted and not _quotes_are_plain(data, ord(self.delimiter)):
            return None
        try:
            cells = _split(data, self.delimiter, len(self.names))
        except pa.ArrowInvalid:
            return None
        if not quoted and (
            block.startswith(" ") or f"{self.delimiter} " in block or "\n " in block
        ):
            cells = [pc.utf8_ltrim(column, " ") for column in cells]
        longest = csv.field_size_limit()
        if len(block) > longest and any(
            pc.max(pc.binary_length(column)).as_py() > longest for column in cells
        ):
            return None
        if self.dropped and not are_blank(cells.pop()).all():
            return None
        return cells

    def careful(self, text: _Text, length: int) -> Iterator[Rows]:
        """Read so many characters, up to the end of a row, by the strict rules."""
        end = text.used + length
        lines: list[int] = []
        rows: list[list[str]] = []
        mistake = None
        try:
            for line, cells in records(
                text.lines(), self.delimiter, self.name, blank=True, first=text.line
            ):
                rows.append(self._checked(line, cells))
                lines.append(line)
                if text.used >= end:
                    break
        except TableError as error:
            mistake = error
        if rows:
            yield self._as_rows(lines, rows)
        if mistake is not None:
            raise mistake

    def _checked(self, line: int, cells: list[str]) -> list[str]:
        """Return the cells of a row, none if it is blank; refuse a wrong number."""
        width = len(self.names)
        if is_blank(cells) and (width > 1 or not cells):
            return []
        if len(cells) != width:
            raise TableError(
                f"{self.name}, line {line}: {_cells(len(cells))}, but the header "
                f"names {width}. A cell that holds {name_of_delimiter(self.delimiter)} "
                "or a line break must stand in double quotes; if another sign divides "
                "the cells, give it with --delimiter"
            )
        if self.dropped:
            if cells[-1].strip():
                raise TableError(
                    f"{self.name}, line {line}: the last column has no name, but "
                    f"holds {shown(cells[-1])}; name it in the header"
                )
            del cells[-1]
        return cells

    def _as_rows(self, lines: list[int], rows: list[list[str]]) -> Rows:
        import pyarrow as pa

        bare = np.array([not row for row in rows])
        empty = [""] * (len(self.names) - self.dropped)
        columns = zip(*(row or empty for row in rows), strict=True)
        cells = [pa.array(column, type=pa.large_string()) for column in columns]
        return Rows(np.array(lines), bare, cells)


def _quotes_are_plain(data: bytes, delimiter: int) -> bool:
    """Tell whether quotes stand round whole cells only, or twice inside of them.

    Nor may there be a line break in quotes, or a blank before them.
    """
    text = np.frombuffer(data, dtype=np.uint8)
    is_quote = text == ord('"')
    places = np.flatnonzero(is_quote)
    if len(places) % 2:
        return False
    line_feed, quote = ord("\n"), ord('"')
    opening, closing = places[::2], places[1::2]
    before = text[opening - 1]
    before[opening == 0] = line_feed
    after = text[np.minimum(closing + 1, len(text) - 1)]
    after[closing == len(text) - 1] = line_feed
    if not np.isin(before, (delimiter, line_feed, quote)).all():
        return False
    if not np.isin(after, (delimiter, line_feed, ord("\r"), quote)).all():
        return False
    inside = np.logical_xor.accumulate(is_quote)
    if np.any(inside & ((text == line_feed) | (text == ord("\r")))):
        return False
    # Blanks at the beginning of a cell do not count, unless they are in quotes.
    begins = (text == delimiter) | (text == line_feed)
    blank = begins[:-1] & ~inside[:-1] & (text[1:] == ord(" "))
    return not blank.any() and text[0] != ord(" ")


def _split(data: bytes, delimiter: str, n_columns: int) -> list[Any]:
    """Return the cells of each column of plain text."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    names = [str(k) for k in range(n_columns)]
    table = arrow_csv.read_csv(
        pa.py_buffer(data),
        read_options=arrow_csv.ReadOptions(
            column_names=names, block_size=len(data) + 1, use_threads=False
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=delimiter, ignore_empty_lines=False
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.large_string()),
            check_utf8=False,
            strings_can_be_null=False,
        ),
    )
    # One chunk, as a rule: then nothing is copied.
    return [
        column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
        for column in table.columns
    ]


def records(
    lines: Iterable[str],
    delimiter: str,
    name: str,
    *,
    blank: bool = False,
    first: int = 1,
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows, blank ones on demand, with the line that each begins in."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
    while True:
        line = first + reader.line_num
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise TableError(_csv_mistake(str(error), name, line)) from None
        if blank or not is_blank(cells):
            yield line, cells


def is_blank(cells: list[str]) -> bool:
    """Tell whether a row is a blank line."""
    return not cells or (len(cells) == 1 and not cells[0].strip())


def _csv_mistake(error: str, name: str, line: int) -> str:
    """Return in a user's words what the csv module says."""
    if "field larger" in error:
        return (
            f"{name}, line {line}: a cell is longer than {csv.field_size_limit():,} "
            "characters. Is a closing double quote missing? If the cell is intended, "
            "leave its column out or save the table as Parquet"
        )
    if "end of data" in error:
        return (
            f"{name}, line {line}: a double quote opens in this row and does not close "
            "before the end of the file; close it, or write it twice if it is part of "
            "the text"
        )
    if "expected after" in error:
        return (
            f"{name}, line {line}: a double quote closes in the middle of a cell; a "
            'double quote inside a quoted cell is written twice: ""'
        )
    return f"{name}, line {line}: {error}"


def _cells(number: int) -> str:
    return "1 cell" if number == 1 else f"{number} cells"
