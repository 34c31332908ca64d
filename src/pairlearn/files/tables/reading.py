"""Tables on disk, read alike.

CSV, TSV, Excel, Parquet, Feather, Arrow, arrays of NumPy, folders of images, and
answers that were stored.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.databases import called, is_address
from pairlearn.files.tables.cell_columns import Cells
from pairlearn.files.tables.checksum import check_checksum
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.make_cells import cells_of, join, to_arrow
from pairlearn.files.tables.sheets import EXCEL_SUFFIXES, split_sheet
from pairlearn.files.tables.text_file import open_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Table", "TableError", "frame_of", "read_chunks", "read_table"]

TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
ARROW_SUFFIXES = (".parquet", ".feather", ".arrow", ".ipc")
ARRAY_SUFFIXES = (".npy", ".npz")
# What `pairlearn label` writes.
STORE_SUFFIXES = (".sqlite", ".sqlite3", ".db")
# Rows that are in memory at a time when a table is read in parts.
CHUNK_ROWS = 10_000


@dataclass
class Table:
    """A table, or a part of one: cells by column, and where each row stands.

    Attributes
    ----------
    name : str
        Name of the file.
    columns : dict
        The cells of each column: text, or what Arrow makes of its types.
    lines : ndarray of int
        For a text file, the line of each row; else the number of the row, from 1; of
        answers that `pairlearn label` stored, the number of the question.
    text : bool
        Whether it is a text file, so that `lines` are lines.
    delimiter : str
        What divides the cells of a text file; else empty.
    gap : int
        Line of the first blank row that was left out and that others follow; 0: none.
    notes : list of str
        What to tell about how it was read.
    unit : str
        What `lines` count; "image" for a folder of images.
    folder : Path or None
        Where files are that cells name: the folder of the table, or of the images.
    """

    name: str
    columns: dict[str, Cells]
    lines: NDArray[np.int64]
    text: bool = True
    delimiter: str = ""
    gap: int = 0
    notes: list[str] = field(default_factory=list)
    unit: str = "row"
    folder: Path | None = None

    def __post_init__(self) -> None:
        if self.text:
            self.unit = "line"

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def decimal_comma(self) -> bool:
        """Whether a comma in a number is likelier a decimal one than not.

        So where semicolons divide the cells.
        """
        return self.delimiter == ";"

    def place(self, row: int) -> str:
        """Return where a row stands, for a message."""
        return f"{self.name}, {self.unit} {self.lines[row]}"


def read_chunks(
    path: str | Path, n_rows: int = CHUNK_ROWS, *, delimiter: str | None = None
) -> Iterator[Table]:
    """Read a table in parts of so many rows; the first may be empty.

    Parameters
    ----------
    path : str or Path
        A file that ends in .csv, .tsv, .tab, .txt, .xlsx, .parquet, .feather, .arrow,
        .ipc, .npy or .npz, or a folder of images, or the file of answers that
        `pairlearn label` writes: .sqlite, .sqlite3 or .db; or the address of its
        database, such as postgresql+psycopg://user@host/name. A sheet of a workbook
        that is not the first is named as in book.xlsx:sheet.
    n_rows : int
        The most rows of a part.
    delimiter : str, optional
        What divides the cells of a text file whose header holds it. None: it is found.

    Yields
    ------
    Table
        At least one, so that the columns are known.

    Raises
    ------
    TableError
        If it is not such a table, with what is wrong, where, and the way out.
    """
    if is_address(path):
        yield _read_store(path)
        return
    path = Path(path)
    for part in _parts_of(path, n_rows, delimiter):
        part.folder = path if path.is_dir() else path.parent
        yield part


def _parts_of(path: Path, n_rows: int, delimiter: str | None) -> Iterator[Table]:
    if path.is_dir():
        yield from _read_folder(path, n_rows)
        return
    path, sheet = split_sheet(path)
    suffix = path.suffix.lower()
    check_checksum(path)
    if suffix in TEXT_SUFFIXES:
        yield from _read_text(path, n_rows, delimiter)
    elif suffix in ARROW_SUFFIXES:
        yield from _read_arrow(path, n_rows)
    elif suffix in ARRAY_SUFFIXES:
        yield from _read_arrays(path, n_rows)
    elif suffix in EXCEL_SUFFIXES:
        yield from _read_excel(path, sheet, n_rows)
    elif suffix in STORE_SUFFIXES:
        yield _read_store(path)
    else:
        known = TEXT_SUFFIXES + ARROW_SUFFIXES + ARRAY_SUFFIXES + EXCEL_SUFFIXES
        raise TableError(
            f"{path.name} ends in {suffix or 'nothing'}; tables are read from "
            f"{', '.join(known)} files and from folders of images, and "
            f"answers from {', '.join(STORE_SUFFIXES)} files of pairlearn label"
        )


def _read_folder(path: Path, n_rows: int) -> Iterator[Table]:
    from pairlearn.files.tables.image_folder import images_in

    names, notes = images_in(path)
    label = path.resolve().name or str(path)
    for begin in range(0, len(names), n_rows) if names else ():
        cells = cells_of(names[begin : begin + n_rows])
        columns = {"id": cells, "image": cells}
        if not begin:
            empty = {name: Cells([]) for name in columns}
            yield Table(label, empty, _numbers(0), False, notes=notes, unit="image")
        lines = _numbers(len(cells), begin + 1)
        yield Table(label, columns, lines, text=False, unit="image")


def _read_arrays(path: Path, n_rows: int) -> Iterator[Table]:
    from pairlearn.files.tables import array_file
    from pairlearn.files.tables.vector_cells import VectorCells

    if path.suffix.lower() == ".npz":
        arrays, notes = array_file.arrays_in(path)
        columns: dict[str, Cells] = {
            name: cells_of(cells) if isinstance(cells, list) else VectorCells(cells)
            for name, cells in arrays.items()
        }
        empty = {name: cells[:0] for name, cells in columns.items()}
        yield Table(path.name, empty, _numbers(0), text=False, notes=notes)
        count = len(next(iter(columns.values())))
        yield Table(path.name, columns, _numbers(count), text=False)
        return
    n_read = 0
    empty = {array_file.COLUMN: Cells([])}
    for part in array_file.array_parts(path, n_rows):
        if not n_read:
            yield Table(path.name, empty, _numbers(0), text=False)
        lines = _numbers(len(part), n_read + 1)
        cells: dict[str, Cells] = {array_file.COLUMN: VectorCells(part)}
        yield Table(path.name, cells, lines, text=False)
        n_read += len(part)
    if not n_read:
        raise TableError(f"{path.name} is an array without rows")


def _read_excel(path: Path, sheet: str | None, n_rows: int) -> Iterator[Table]:
    from pairlearn.files.tables.excel_file import excel_rows

    for names, columns, lines, notes in excel_rows(path, sheet, n_rows):
        cells = dict(zip(names, map(cells_of, columns), strict=True))
        numbers = np.array(lines, dtype=np.int64)
        yield Table(path.name, cells, numbers, text=False, notes=notes)


def _read_text(
    path: Path, n_rows: int, delimiter: str | None = None
) -> Iterator[Table]:
    from pairlearn.files.tables.kept_rows import Counts, in_parts, keep_rows
    from pairlearn.files.tables.text_cells import TextCells

    file = open_text(path, delimiter)
    names, counts = file.columns, Counts()
    first = Table(path.name, {name: Cells([]) for name in names}, _numbers(0))
    first.delimiter, first.notes = file.delimiter, list(file.notes)
    yield first
    kept = keep_rows(file.rows(), len(names), counts)
    for rows in in_parts(kept, n_rows, len(names)):
        notes = []
        if len(rows) < n_rows:  # the last
            if counts.n_blank:
                notes.append(
                    f"{path.name}: {counts.n_blank} row(s) of empty cells were left out"
                )
            if counts.n_empty:
                notes.append(
                    f"{path.name}: {counts.n_empty} empty line(s) count as missing "
                    "cells"
                )
            if not (len(rows) or notes):
                return
        yield Table(
            path.name,
            dict(zip(names, map(TextCells, rows.cells), strict=True)),
            rows.lines,
            delimiter=file.delimiter,
            gap=next(iter(rows.gaps[rows.gaps > 0].tolist()), 0),
            notes=notes,
        )


def _read_arrow(path: Path, n_rows: int) -> Iterator[Table]:
    from pairlearn.files.tables.arrow_file import arrow_batches

    n_read = 0
    for names, columns in arrow_batches(path, n_rows):
        count = len(columns[0])
        cells = [c if isinstance(c, Cells) else cells_of(c) for c in columns]
        lines = _numbers(count, n_read + 1)
        yield Table(path.name, dict(zip(names, cells, strict=True)), lines, text=False)
        n_read += count


def _read_store(path: str | Path) -> Table:
    from pairlearn.data.stored_answers import StoreError, read_stored_answers

    try:
        found = read_stored_answers(path)
    except StoreError as problem:
        raise TableError(str(problem)) from None
    answers = found.rows
    if not answers:
        raise TableError(
            f"{called(path)} holds no answer yet; answer some questions on the page of "
            "pairlearn label first"
        )
    names = ("left", "right", "answer", "purpose", "annotator", "time", "comment")
    columns: dict[str, list[Any]] = {
        name: [getattr(answer, name) for answer in answers] for name in (*names, "why")
    }
    # Whoever answers sees the errors of the models that are made meanwhile.
    columns["round"] = [found.n_looks] * len(answers)
    cells = {name: cells_of(values) for name, values in columns.items()}
    lines = np.array([answer.question for answer in answers], dtype=np.int64)
    return Table(called(path), cells, lines, text=False, unit="question")


def _numbers(count: int, first: int = 1) -> NDArray[np.int64]:
    return np.arange(first, first + count, dtype=np.int64)


def read_table(path: str | Path, *, delimiter: str | None = None) -> Table:
    """Read a whole table.

    Parameters
    ----------
    path, delimiter
        As for :func:`read_chunks`.

    Returns
    -------
    Table
    """
    text = Path(path).suffix.lower() in TEXT_SUFFIXES
    n_rows = sys.maxsize if text else CHUNK_ROWS
    parts = list(read_chunks(path, n_rows, delimiter=delimiter))
    whole = parts[0]
    whole.columns = {
        name: join([part.columns.pop(name) for part in parts])
        for name in list(whole.columns)
    }
    whole.lines = np.concatenate([part.lines for part in parts])
    whole.gap = next((part.gap for part in parts if part.gap), 0)
    whole.notes = [note for part in parts for note in part.notes]
    if not len(whole):
        raise TableError(f"{whole.name} has a header but no rows")
    return whole


def frame_of(
    columns: Mapping[str, Sequence[Any]], n_rows: int, *, arrow: bool = False
) -> Any:
    """Return cells as a pandas frame that leaves them as they are.

    With `arrow`, columns of text stay where they are, as Arrow's type large_string, if
    no cell is None. An encoder reads them there; to others they are text as well.
    """
    import pandas as pd

    def series(cells: Sequence[Any]) -> Any:
        found = to_arrow(cells) if arrow else None
        if found is None:
            return pd.Series(list(cells), dtype=object)
        return pd.Series(pd.arrays.ArrowExtensionArray(found))

    return pd.DataFrame(
        {name: series(cells) for name, cells in columns.items()}, index=range(n_rows)
    )
