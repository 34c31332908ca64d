"""Ids of points, which are text, whatever a table makes of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

__all__ = ["id_of"]


def id_of(cell: Any) -> str:
    """Return an id as text: whole numbers without a point, text without outer space.

    "007" and 7 are different ids; 7 of a Parquet file and "7" of a CSV file are one.

    Examples
    --------
    >>> id_of(" 007 "), id_of(7), id_of(7.0), id_of(None)
    ('007', '7', '7', '')
    """
    if isinstance(cell, str):
        return cell.strip()
    if cell is None or type(cell).__name__ == "NAType" or cell != cell:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    # Not by //, which fails for whole numbers of more digits than are computed with.
    if isinstance(cell, Decimal) and cell.is_finite() and cell == round(cell):
        return str(int(cell))
    return str(cell)
