"""The cells of a column, all at once.

What a cell is, `cells` says. Here the same is asked of all cells of a column; for text
there is a faster way to the same answers, `text_cells`. `make_cells` chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from pairlearn.files.tables.cells import (
    DATE_ORDERS,
    NUMBER_STYLES,
    days_of,
    id_of,
    is_lone_group,
    is_missing,
    number_of,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from pairlearn.data.types import Bools, Floats, Ints

__all__ = ["Cells", "Read"]

# Cells that are looked at one by one before all are: most columns that are no numbers,
# or no dates, show it here.
HEAD = 10
_NUMBERS = frozenset((int, float, type(None)))
_MARKS = {True: 1, False: 0, None: -1}


class Read(NamedTuple):
    """Cells as numbers or days.

    Attributes
    ----------
    values : ndarray of float
        NaN where a cell is missing, infinite, or none.
    fits : ndarray of bool
        Where a cell is a number or a date, or missing.
    """

    values: Floats
    fits: Bools


class Cells(Sequence[Any]):
    """The cells of a column: text, or what Arrow makes of its types.

    It is a sequence, equal to a list of the same cells.

    Parameters
    ----------
    values : list
        The cells.

    Examples
    --------
    >>> cells = Cells(["1,5", "n/a", "x"])
    >>> cells.missing()
    array([False,  True, False])
    >>> cells.numbers("comma")
    Read(values=array([1.5, nan, nan]), fits=array([ True,  True, False]))
    """

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, row: int) -> Any: ...

    @overload
    def __getitem__(self, row: slice) -> Cells: ...

    def __getitem__(self, row: int | slice) -> Any:
        if isinstance(row, slice):
            return Cells(self._values[row])
        return self._values[row]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return self.tolist() == list(other)

    __hash__ = None  # type: ignore[assignment] # since it equals lists

    def __repr__(self) -> str:
        more = ", ..." if len(self) > 3 else ""
        return f"<{len(self)} cells: {', '.join(map(repr, self[:3]))}{more}>"

    @cached_property
    def kinds(self) -> frozenset[type]:
        """The Python types of the cells."""
        return frozenset(map(type, self._values))

    def tolist(self) -> list[Any]:
        """Return the cells as a list."""
        return self._values

    def take(self, rows: Ints) -> Cells:
        """Return the cells at some rows."""
        values = self._values
        return Cells([values[row] for row in rows.tolist()])

    def missing(self) -> Bools:
        """Tell which cells hold nothing."""
        if self._floats is not None:
            return np.isnan(self._floats)
        return np.array([is_missing(cell) for cell in self._values], dtype=bool)

    def numbers(self, style: str) -> Read:
        """Return the cells as numbers."""
        if self._floats is not None:
            values = np.where(np.isfinite(self._floats), self._floats, np.nan)
            return Read(values, np.ones(len(values), dtype=bool))
        return _read([number_of(cell, style) for cell in self._values])

    def days(self, order: str) -> Read:
        """Return the cells as days since 1970."""
        return _read([days_of(cell, order) for cell in self._values])

    def all_numbers(self) -> dict[str, Floats]:
        """Return the cells as numbers, by each way of writing that all of them fit."""
        found: dict[str, Floats] = {}
        for style in NUMBER_STYLES:
            like = self._written_like(style)
            if like != style:
                if like in found:
                    found[style] = found[like]
            elif all(number_of(cell, style) is not None for cell in self[:HEAD]):
                _add_if_all_fit(found, style, self.numbers(style))
        return found

    def all_days(self) -> dict[str, Floats]:
        """Return the cells as days, by each order of dates that all of them fit."""
        found: dict[str, Floats] = {}
        for order in DATE_ORDERS:
            if all(days_of(cell, order) is not None for cell in self[:HEAD]):
                _add_if_all_fit(found, order, self.days(order))
        return found

    def categories(self) -> Cells:
        """Return the cells as categories: text, empty where they are missing."""
        return Cells([text_of(cell) for cell in self._values])

    def ids(self) -> Cells:
        """Return the cells as ids: text, empty where they are missing."""
        return Cells([id_of(cell) for cell in self._values])

    def factorize(self) -> tuple[Ints, Cells]:
        """Return each different cell once, as they first occur, and which is whose."""
        number: dict[tuple[type, str], int] = {}
        # Not by the cells themselves: 1, 1.0 and True are equal.
        keys = [(type(cell), str(cell)) for cell in self._values]
        codes = np.array([number.setdefault(key, len(number)) for key in keys], np.intp)
        first = np.unique(codes, return_index=True)[1]
        return codes, self.take(first)

    def lone_groups(self, style: str) -> NDArray[np.int8]:
        """Return 1, 0 or -1 where `is_lone_group` says true, false or nothing."""
        marks = [_MARKS[is_lone_group(cell, style)] for cell in self._values]
        return np.array(marks, dtype=np.int8)

    def have_separator(self) -> bool:
        """Tell whether there is a point or a comma in any text."""
        return any(
            "," in cell or "." in cell for cell in self._values if isinstance(cell, str)
        )

    def are_lines(self) -> bool:
        """Tell whether no text is empty, and none holds a line break."""
        return all(
            cell and "\n" not in cell and "\r" not in cell for cell in self._values
        )

    def rows_of(self, texts: Collection[str]) -> dict[str, int]:
        """Return where each of some texts stands last, if it does."""
        wanted = set(texts)
        return {cell: row for row, cell in enumerate(self._values) if cell in wanted}

    def _written_like(self, style: str) -> str:
        """Return a way of writing in which these cells are the same numbers."""
        return style if str in self.kinds else NUMBER_STYLES[0]

    @cached_property
    def _floats(self) -> Floats | None:
        """The cells as floats, if they are numbers, or None, and not text."""
        if not self.kinds <= _NUMBERS:
            return None
        try:
            return np.array(self._values, dtype=np.float64)
        except OverflowError:
            return None


def _add_if_all_fit(found: dict[str, Floats], form: str, read: Read) -> None:
    if read.fits.all():
        found[form] = read.values


def _read(found: list[float | None]) -> Read:
    fits = np.array([value is not None for value in found], dtype=bool)
    return Read(np.array(found, dtype=float), fits)
