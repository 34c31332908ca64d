"""Cells of a column that holds a vector of numbers in each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.files.tables.cell_columns import Cells, Read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pairlearn.data.types import Bools, Floats, Ints

__all__ = ["VectorCells"]


class VectorCells(Cells):
    """Cells that are vectors of one length: the rows of an array.

    Parameters
    ----------
    array : ndarray of shape (n_rows, n_numbers)
        The vectors. A row without any number is a missing cell, and what is infinite
        counts as missing, too.

    Examples
    --------
    >>> cells = VectorCells(np.array([[1.0, 2.0], [np.nan, np.nan]]))
    >>> cells[0], cells[1] is None, cells.missing()
    (array([1., 2.]), True, array([False,  True]))
    """

    def __init__(self, array: NDArray[Any]) -> None:
        if not np.isfinite(array).all():
            array = np.where(np.isfinite(array), array, np.nan)
        self.array = array
        self._missing: Bools = np.asarray(np.isnan(array).all(axis=1))

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return VectorCells(self.array[row])
        return None if self._missing[row] else self.array[row]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VectorCells):
            return NotImplemented
        return np.array_equal(self.array, other.array, equal_nan=True)

    __hash__ = None

    @property
    def kinds(self) -> frozenset[type]:
        """The Python types of the cells."""
        return frozenset({np.ndarray})

    def tolist(self) -> list[Any]:
        """Return the cells as a list: a view of each row, or None."""
        rows: list[Any] = list(self.array)
        for row in np.flatnonzero(self._missing).tolist():
            rows[row] = None
        return rows

    def take(self, rows: Ints) -> Cells:
        """Return the cells at some rows."""
        return VectorCells(self.array[rows])

    def missing(self) -> Bools:
        """Tell which cells hold nothing."""
        return self._missing

    def numbers(self, style: str) -> Read:  # noqa: ARG002
        """Return that no cell is a single number."""
        return self._none()

    def days(self, order: str) -> Read:  # noqa: ARG002
        """Return that no cell is a date."""
        return self._none()

    def _none(self) -> Read:
        return Read(np.full(len(self), np.nan), self._missing)

    def all_numbers(self) -> dict[str, Floats]:
        """Return that the cells are no numbers."""
        return {}

    def all_days(self) -> dict[str, Floats]:
        """Return that the cells are no dates."""
        return {}

    def _texts(self) -> Cells:
        width = self.array.shape[1]
        return Cells(["" if gone else f"{width} numbers" for gone in self._missing])

    def categories(self) -> Cells:
        """Return the cells as texts that say how many numbers there are."""
        return self._texts()

    def ids(self) -> Cells:
        """Return the cells as texts; they are no ids."""
        return self._texts()

    def factorize(self) -> tuple[Ints, Cells]:
        """Return each different text once, and which is whose."""
        return self._texts().factorize()

    def lone_groups(self, style: str) -> Any:
        """Return that no cell has a separator."""
        return self._texts().lone_groups(style)

    def have_separator(self) -> bool:
        """Tell that there is no text."""
        return False

    def are_lines(self) -> bool:
        """Tell that they are no lines."""
        return False

    def rows_of(self, texts: Any) -> dict[str, int]:  # noqa: ARG002
        """Return that no cell is a text."""
        return {}

    @classmethod
    def joined(cls, parts: list[VectorCells]) -> VectorCells:
        """Return the cells of several parts as one."""
        return cls(np.concatenate([part.array for part in parts]))
