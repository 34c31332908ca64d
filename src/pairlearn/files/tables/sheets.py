"""How a sheet of a workbook is named: book.xlsx:sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["EXCEL_SUFFIXES", "split_sheet"]

EXCEL_SUFFIXES = (".xlsx", ".xlsm")


def split_sheet(path: Path) -> tuple[Path, str | None]:
    """Return the file of a table, and the sheet of a workbook if one is named.

    Examples
    --------
    >>> from pathlib import Path
    >>> path, sheet = split_sheet(Path("book.xlsx:pairs"))
    >>> path.name, sheet
    ('book.xlsx', 'pairs')
    """
    if not path.exists():
        for suffix in EXCEL_SUFFIXES:
            before, mark, sheet = path.name.rpartition(f"{suffix}:")
            if mark and sheet:
                return path.with_name(before + suffix), sheet
    return path, None
