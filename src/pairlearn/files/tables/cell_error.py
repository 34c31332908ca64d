"""A cell that a model cannot read."""

from __future__ import annotations

from typing import Any

from pairlearn.files.tables.cells import shown

__all__ = ["CellError"]


class CellError(ValueError):
    """A cell that is not what its column held when the model was made.

    Attributes
    ----------
    column : str
        The column.
    row : int
        The row, from 0.
    """

    def __init__(
        self, column: str, row: int, cell: Any, expected: str, advice: str = ""
    ) -> None:
        super().__init__(
            f"column {column!r} holds {shown(cell)}, but held {expected} when the "
            f"model was made{advice}"
        )
        self.column, self.row = column, row
