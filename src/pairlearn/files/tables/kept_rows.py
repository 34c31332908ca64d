"""Rows of a text file that count, in parts of a given number.

Spreadsheets leave rows of delimiters alone below a table, and blank lines; these are
left out. In a table of one column a blank line is a missing cell, unless nothing
follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from pairlearn.files.tables.text_cells import are_blank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pairlearn.data.types import Bools
    from pairlearn.files.tables.text_rows import Rows

__all__ = ["Counts", "KeptRows", "in_parts", "keep_rows"]


@dataclass
class Counts:
    """What was found: rows of empty cells, and empty lines in a single column."""

    n_blank: int = 0
    n_empty: int = 0


@dataclass
class KeptRows:
    """Rows that count.

    Attributes
    ----------
    lines : ndarray of int
        The line that each begins in.
    gaps : ndarray of int
        Where rows were left out right before a row, the line of the first; else 0.
    cells : list of pyarrow.LargeStringArray
        The cells of each column.
    """

    lines: NDArray[np.int64]
    gaps: NDArray[np.int64]
    cells: list[Any]

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, rows: slice) -> KeptRows:
        cells = [column[rows] for column in self.cells]
        return KeptRows(self.lines[rows], self.gaps[rows], cells)


def keep_rows(
    blocks: Iterator[Rows], n_columns: int, counts: Counts
) -> Iterator[KeptRows]:
    """Yield the rows that count, and count those that are worth a note."""
    yield from (
        _of_several(blocks, counts) if n_columns > 1 else _of_one(blocks, counts)
    )


def _of_several(blocks: Iterator[Rows], counts: Counts) -> Iterator[KeptRows]:
    waiting = 0  # the first of the rows left out that nothing has followed yet
    for block in blocks:
        blank = _all_blank(block.cells)
        counts.n_blank += int(np.sum(blank & ~block.bare))
        kept = np.flatnonzero(~blank)
        # Of the rows left out before each row, the first; after the last, too.
        begin = np.concatenate(([0], kept + 1))
        left_out = begin < np.concatenate((kept, [len(blank)]))
        lines = np.append(block.lines, 0)
        first = np.where(left_out, lines[begin], 0)
        first[0] = waiting or first[0]
        waiting = int(first[-1])
        if not len(kept):
            continue
        cells = block.cells
        if len(kept) < len(blank):
            cells = [column.take(kept) for column in cells]
        yield KeptRows(block.lines[kept], first[:-1], cells)


def _of_one(blocks: Iterator[Rows], counts: Counts) -> Iterator[KeptRows]:
    waiting: list[int] = []  # blank lines that nothing has followed yet
    for block in blocks:
        end = int(np.max(np.flatnonzero(~block.bare), initial=-1)) + 1
        rest = block.lines[end:].tolist()
        if not end:
            waiting += rest
            continue
        lines = np.concatenate((np.array(waiting, dtype=np.int64), block.lines[:end]))
        column = block.cells[0][:end]
        if waiting:
            column = pa.concat_arrays(
                [pa.array([""] * len(waiting), type=column.type), column]
            )
        waiting = rest
        counts.n_empty += int(np.sum(are_blank(column)))
        yield KeptRows(lines, np.zeros(len(lines), dtype=np.int64), [column])


def _all_blank(cells: list[Any]) -> Bools:
    """Tell which rows hold nothing but blanks."""
    blank = are_blank(cells[0])
    for column in cells[1:]:
        if not blank.any():
            break
        blank &= are_blank(column)
    return blank


def in_parts(
    blocks: Iterator[KeptRows], n_rows: int, n_columns: int
) -> Iterator[KeptRows]:
    """Yield parts of so many rows, and a last one, which may be empty, of fewer."""
    held: list[KeptRows] = []
    for block in blocks:
        held.append(block)
        if sum(map(len, held)) < n_rows:
            continue
        rows = _joined(held, n_columns)
        end = len(rows) - len(rows) % n_rows
        for begin in range(0, end, n_rows):
            yield rows[begin : begin + n_rows]
        held = [rows[end:]]
    yield _joined(held, n_columns)


def _joined(held: list[KeptRows], n_columns: int) -> KeptRows:
    """Return blocks as one; their cells are let go of, column by column."""
    if len(held) == 1:
        return held[0]
    columns = []
    for k in range(n_columns):
        parts = [block.cells[k] for block in held]
        columns.append(pa.concat_arrays(parts or [pa.array([], pa.large_string())]))
        for block in held:
            block.cells[k] = None
    numbers = np.zeros(0, dtype=np.int64)
    return KeptRows(
        np.concatenate([numbers, *(block.lines for block in held)]),
        np.concatenate([numbers, *(block.gaps for block in held)]),
        columns,
    )
