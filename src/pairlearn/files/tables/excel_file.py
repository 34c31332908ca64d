"""Excel workbooks: one sheet is a table, and formulas count with their values.

A workbook is a zip file of XML. What it would unpack to is looked at first, links to
other workbooks are not followed, and nothing in it is run.
"""

from __future__ import annotations

import warnings
import zipfile
import zlib
from contextlib import closing
from typing import TYPE_CHECKING, Any

from pairlearn.files.tables.cells import is_missing, shown
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.text_file import check_unique

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["excel_rows"]

# A large workbook, and how far XML may be packed.
# How spreadsheets pack.
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_MOST_BYTES, _MOST_UNPACKED, _PACKED_WELL = 2**31, 2**27, 60
_HEAD = 2000
# What stands in a cell whose formula has no value, without a mark behind it.
_ERRORS = ("#N/A", "#DIV/0", "#NAME", "#NULL", "#NUM", "#REF", "#VALUE", "#SPILL")
# Excel itself has room for no more.
_MOST_COLUMNS = 16_384


def excel_rows(
    path: Path, sheet: str | None, n_rows: int
) -> Iterator[tuple[list[str], list[list[Any]], list[int], list[str]]]:
    """Yield the names of the columns and cells of a sheet, part by part.

    Parameters
    ----------
    path : Path
        The workbook.
    sheet : str or None
        The sheet; None: the first.
    n_rows : int
        The most rows of a part.

    Yields
    ------
    names : list of str
        The columns: the first row that is not empty.
    columns : list of list
        The cells of each column; the first part has none.
    lines : list of int
        The number of each row in the sheet.
    notes : list of str
        What to tell.
    """
    _check_unpacked(path)
    from openpyxl import load_workbook

    try:
        with warnings.catch_warnings():
            # Styles and extensions that openpyxl does not know do not matter here.
            warnings.simplefilter("ignore")
            options = {"read_only": True, "data_only": True, "keep_links": False}
            # Rows that are not read to the end would keep the file open.
            with (
                path.open("rb") as file,
                closing(load_workbook(file, **options)) as book,
            ):
                yield from _rows(book, path, sheet, n_rows)
    except (TableError, GeneratorExit, PermissionError):
        raise
    except Exception as problem:
        first = str(problem).strip().partition("\n")[0][:120].rstrip(".")
        raise TableError(
            f"{path.name} cannot be read as an Excel workbook: it is damaged, or of "
            f"another kind ({first or type(problem).__name__})"
        ) from None


def _check_unpacked(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(info.file_size for info in archive.infolist())
            if any(info.compress_type not in _PACKED for info in archive.infolist()):
                raise zipfile.BadZipFile
            defines = any(
                b"<!DOCTYPE" in archive.open(info).read(_HEAD)
                for info in archive.infolist()
                if info.filename.endswith((".xml", ".rels"))
            )
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError):
        raise TableError(
            f"{path.name} is no .xlsx workbook, or it is damaged; workbooks with a "
            "password, and those of Excel before 2007, must be saved as .xlsx first"
        ) from None
    if defines:
        # Definitions that use each other grow without end, and no workbook has any.
        raise TableError(f"{path.name} is no workbook that a spreadsheet has written")
    packed = max(path.stat().st_size, 1)
    if total > _MOST_BYTES or total > max(_MOST_UNPACKED, _PACKED_WELL * packed):
        raise TableError(
            f"{path.name} would unpack to {total / 2**20:,.0f} MiB; save a table of "
            "that size as CSV or Parquet"
        )


def _rows(book: Any, path: Path, sheet: str | None, n_rows: int) -> Iterator[Any]:
    names = [each.title for each in book.worksheets]
    if not names:
        raise TableError(f"{path.name} holds no sheet with cells")
    if sheet is not None and sheet not in names:
        raise TableError(
            f"{path.name} has no sheet {shown(sheet)}; it has "
            f"{', '.join(map(shown, names[:12]))}"
        )
    page = book.worksheets[0 if sheet is None else names.index(sheet)]
    # Programs write wrong ones, and a wrong one may be as large as a sheet can be.
    page.reset_dimensions()
    notes = []
    if len(names) > 1 and sheet is None:
        others = ", ".join(map(shown, names[1:6])) + ", ..." * (len(names) > 6)
        notes.append(
            f"{path.name}: the first sheet is read, {shown(names[0])}, and not "
            f"{others}; for another one write {path.name}:{names[1]}"
        )
    rows = enumerate(page.iter_rows(values_only=True), 1)
    header: list[str] = []
    for _, row in rows:
        if any(not is_missing(cell) for cell in row):
            header = _names(row, path.name)
            break
    if not header:
        raise TableError(f"{path.name} is empty: there is no cell in {page.title!r}")
    yield header, [[] for _ in header], [], notes
    width, part, lines = len(header), [], []
    for number, row in rows:
        cells = [_cell(cell) for cell in row]
        if all(cell is None for cell in cells):
            continue
        if any(cell is not None for cell in cells[width:]):
            raise TableError(
                f"{path.name}, row {number}: there are cells to the right of the "
                f"{width} columns that have a name; name them, or delete them"
            )
        part.append(cells[:width] + [None] * (width - len(cells)))
        lines.append(number)
        if len(part) == n_rows:
            yield (
                header,
                [list(column) for column in zip(*part, strict=True)],
                lines,
                [],
            )
            part, lines = [], []
    if part:
        yield header, [list(column) for column in zip(*part, strict=True)], lines, []


def _names(row: tuple[Any, ...], table: str) -> list[str]:
    cells = ["" if is_missing(cell) else str(cell).strip() for cell in row]
    while cells and not cells[-1]:
        cells.pop()
    if len(cells) > _MOST_COLUMNS:
        raise TableError(f"{table} has more than {_MOST_COLUMNS:,} columns")
    if "" in cells:
        raise TableError(
            f"{table}: column {cells.index('') + 1} has no name; the first row that is "
            "not empty must name the columns"
        )
    check_unique(cells, table)
    return cells


def _cell(cell: Any) -> Any:
    """Return a cell as the tables have it; errors such as #N/A are missing."""
    from datetime import datetime, time, timedelta

    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return None
    if isinstance(cell, str) and cell.startswith("#") and cell.rstrip("!?") in _ERRORS:
        return None
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date()
    if isinstance(cell, time | timedelta):
        return str(cell)
    return cell
