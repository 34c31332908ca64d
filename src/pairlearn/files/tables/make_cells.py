"""Cells of a column in the form in which most can be asked of them fast."""

from __future__ import annotations

from typing import Any

from pairlearn.files.tables.cell_columns import Cells
from pairlearn.files.tables.vector_cells import VectorCells

__all__ = ["cells_in", "cells_of", "join", "to_arrow"]


def cells_of(values: list[Any]) -> Cells:
    """Return cells in the form in which most can be asked of them fast."""
    kinds = set(map(type, values))
    if str in kinds and kinds <= {str, type(None)}:
        try:
            from pairlearn.files.tables.text_cells import TextCells

            return TextCells.of(values)
        except ImportError:  # a model is used in Python, without pyarrow
            pass
        except UnicodeEncodeError:  # half of a surrogate pair, which no file holds
            pass
    return Cells(values)


def cells_in(column: Any) -> Cells:
    """Return the cells of a column of a frame; Arrow's text is not copied."""
    if str(column.dtype) == "large_string[pyarrow]":
        raw = column.array.__arrow_array__().combine_chunks()
        if not raw.null_count:
            from pairlearn.files.tables.text_cells import TextCells

            return TextCells(raw)
    return cells_of(column.tolist())


def to_arrow(cells: Any) -> Any:
    """Return cells of text as Arrow has them; None if they are not, or one is None."""
    raw = getattr(cells, "raw", None)
    return None if raw is None or raw.null_count else raw


def join(parts: list[Cells]) -> Cells:
    """Return the cells of some parts of a column as one."""
    parts = [part for part in parts if len(part)]
    if len(parts) == 1:
        return parts[0]
    vectors = [part for part in parts if isinstance(part, VectorCells)]
    if vectors and len(vectors) == len(parts):
        return VectorCells.joined(vectors)
    from pairlearn.files.tables.text_cells import TextCells

    if parts and all(isinstance(part, TextCells) for part in parts):
        return TextCells.joined(parts)
    return cells_of([cell for part in parts for cell in part.tolist()])
