"""Tables on disk: CSV, TSV, Parquet, Feather and Arrow, read alike."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.files.tables.cell_columns import Cells
from pairlearn.files.tables.checksum import check_checksum
from pairlearn.files.tables.columns import find_answer, find_id, find_sides, ids_in
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.make_cells import cells_of, join
from pairlearn.files.tables.text_file import open_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = [
    "AskedPairs",
    "Points",
    "Table",
    "TableError",
    "frame_of",
    "read_chunks",
    "read_pairs",
    "read_points",
    "read_table",
]

TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
ARROW_SUFFIXES = (".parquet", ".feather", ".arrow", ".ipc")
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
        For a text file, the line of each row; else the number of the row, from 1.
    text : bool
        Whether it is a text file, so that `lines` are lines.
    delimiter : str
        What divides the cells of a text file; else empty.
    gap : int
        Line of the first blank row that was left out and that others follow; 0: none.
    notes : list of str
        What to tell about how it was read.
    """

    name: str
    columns: dict[str, Cells]
    lines: NDArray[np.int64]
    text: bool = True
    delimiter: str = ""
    gap: int = 0
    notes: list[str] = field(default_factory=list)

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
        return f"{self.name}, {'line' if self.text else 'row'} {self.lines[row]}"


def read_chunks(path: str | Path, n_rows: int = CHUNK_ROWS) -> Iterator[Table]:
    """Read a table in parts of so many rows; the first may be empty.

    Parameters
    ----------
    path : str or Path
        A file that ends in .csv, .tsv, .tab, .txt, .parquet, .feather, .arrow or .ipc.
    n_rows : int
        The most rows of a part.

    Yields
    ------
    Table
        At least one, so that the columns are known.

    Raises
    ------
    TableError
        If it is not such a table, with what is wrong, where, and the way out.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if path.is_dir():
        raise TableError(f"{path.name} is a folder; a table is needed, such as CSV")
    check_checksum(path)
    if suffix in TEXT_SUFFIXES:
        yield from _read_text(path, n_rows)
    elif suffix in ARROW_SUFFIXES:
        yield from _read_arrow(path, n_rows)
    else:
        raise TableError(
            f"{path.name} ends in {suffix or 'nothing'}; tables are read from "
            f"{', '.join(TEXT_SUFFIXES + ARROW_SUFFIXES)} files"
        )


def _read_text(path: Path, n_rows: int) -> Iterator[Table]:
    from pairlearn.files.tables.kept_rows import Counts, in_parts, keep_rows
    from pairlearn.files.tables.text_cells import TextCells

    file = open_text(path)
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

    seen = 0
    for names, columns in arrow_batches(path, n_rows):
        count = len(columns[0])
        cells = map(cells_of, columns)
        lines = _numbers(count, seen + 1)
        yield Table(path.name, dict(zip(names, cells, strict=True)), lines, text=False)
        seen += count


def _numbers(count: int, first: int = 1) -> NDArray[np.int64]:
    return np.arange(first, first + count, dtype=np.int64)


def read_table(path: str | Path) -> Table:
    """Read a whole table.

    Parameters
    ----------
    path : str or Path
        As for :func:`read_chunks`.

    Returns
    -------
    Table
    """
    text = Path(path).suffix.lower() in TEXT_SUFFIXES
    parts = list(read_chunks(path, sys.maxsize if text else CHUNK_ROWS))
    whole = parts[0]
    whole.columns = {
        name: join([part.columns.pop(name) for part in parts])
        for name in list(whole.columns)
    }
    whole.lines = np.concatenate([part.lines for part in parts])
    whole.gap = next((part.gap for part in parts if part.gap), 0)
    whole.notes = [note for part in parts for note in part.notes]
    if not len(whole):
        raise TableError(f"{Path(path).name} has a header but no rows")
    return whole


@dataclass
class Points:
    """The points of a table.

    Attributes
    ----------
    table : Table
        As it was read.
    ids : Cells
        The id of each point, as text.
    id_column : str or None
        The column of the ids; None: the points are known by their row numbers.
    first_row : int or None
        The number of the first row, 0 or 1, if points are known by row numbers.
    notes : list of str
        What to tell.
    """

    table: Table
    ids: Cells
    id_column: str | None
    first_row: int | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def features(self) -> dict[str, Cells]:
        """The cells of each column but the ids."""
        return {
            name: cells
            for name, cells in self.table.columns.items()
            if name != self.id_column
        }

    @property
    def frame(self) -> Any:
        """The columns but the ids as a pandas frame of cells."""
        return frame_of(self.features, len(self.ids))

    def __len__(self) -> int:
        return len(self.ids)


@dataclass
class AskedPairs:
    """The pairs of a table: ids as text, answers as they stand there.

    Attributes
    ----------
    table : Table
        As it was read.
    left, right : list of str
        The ids of the two points of each pair.
    words : list
        The answer cells; empty if the table has no answers and needs none.
    names : tuple
        The names of the columns of left, right and answer.
    """

    table: Table
    left: list[str]
    right: list[str]
    words: list[Any]
    names: tuple[str, str, str | None]

    def __len__(self) -> int:
        return len(self.left)


def read_points(
    path: str | Path,
    id: str | None = None,  # noqa: A002 - the user's word for it
    *,
    wanted: Collection[str] | None = None,
    first_row: int | None = None,
) -> Points:
    """Read a table of points.

    Parameters
    ----------
    path : str or Path
        The table.
    id : str, optional
        The column of the ids. None: it is found by its name (id, point_id, key, name
        and the like), or by what it holds, or the points are known by row numbers.
    wanted : collection of str, optional
        Ids that occur in pairs, to find the column by.
    first_row : {0, 1}, optional
        The number of the first row, where points are known by row numbers.

    Returns
    -------
    Points
    """
    return as_points(read_table(path), id, wanted=wanted, first_row=first_row)


def as_points(
    table: Table,
    id: str | None = None,  # noqa: A002
    *,
    wanted: Collection[str] | None = None,
    first_row: int | None = None,
) -> Points:
    """Return the points of a table; see `read_points`."""
    found = find_id(table, id, wanted, first_row)
    points = Points(table, found.ids, found.column, found.first_row, found.notes)
    if not points.features:
        raise TableError(
            f"{table.name} has no column besides the ids; points need features to "
            "learn from"
        )
    return points


def read_pairs(
    path: str | Path,
    left: str | None = None,
    right: str | None = None,
    answer: str | None = None,
    *,
    ids: Collection[str] | None = None,
    need_answers: bool = True,
) -> AskedPairs:
    """Read a table of pairs.

    Parameters
    ----------
    path : str or Path
        The table.
    left, right, answer : str, optional
        The columns. None: they are found by their names (left and right, a and b, id1
        and id2 and the like; answer, same, label, verdict and the like); the ids also
        by what they hold.
    ids : collection of str, optional
        Ids of the points, to find columns by.
    need_answers : bool
        Whether a table without answers is refused.

    Returns
    -------
    AskedPairs
    """
    return as_asked(
        read_table(path), left, right, answer, ids=ids, need_answers=need_answers
    )


def as_asked(
    table: Table,
    left: str | None = None,
    right: str | None = None,
    answer: str | None = None,
    *,
    ids: Collection[str] | None = None,
    need_answers: bool = True,
) -> AskedPairs:
    """Return the pairs of a table; see `read_pairs`."""
    sides = find_sides(table, left, right, answer, ids)
    words = find_answer(table, answer, sides, needed=need_answers)
    asked = [ids_in(table, name).tolist() for name in sides]
    for name, cells in zip(sides, asked, strict=True):
        empty = [row for row, cell in enumerate(cells) if not cell]
        if empty:
            raise TableError(
                f"{table.place(empty[0])}: no id in column {name!r} ({len(empty)} such "
                "row(s)); a pair needs two ids"
            )
    answers = [] if words is None else table.columns[words].tolist()
    return AskedPairs(table, asked[0], asked[1], answers, (*sides, words))


def frame_of(columns: Mapping[str, Sequence[Any]], n_rows: int) -> Any:
    """Return cells as a pandas frame that leaves them as they are."""
    import pandas as pd

    return pd.DataFrame(
        {name: pd.Series(list(cells), dtype=object) for name, cells in columns.items()},
        index=range(n_rows),
    )
