"""Results that are lists: printed as a table, or turned into a frame of pandas."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Listing", "in_columns"]

T = TypeVar("T")


@dataclass(frozen=True)
class Listing(Generic[T]):
    """A list of results.

    It is iterated over and counted as a tuple is, printed as a table, and turned into a
    frame of pandas by `to_frame`.

    Attributes
    ----------
    rows : tuple
        The results.
    """

    rows: tuple[T, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[T]:
        return iter(self.rows)

    @overload
    def __getitem__(self, number: int) -> T: ...

    @overload
    def __getitem__(self, number: slice) -> tuple[T, ...]: ...

    def __getitem__(self, number: int | slice) -> T | tuple[T, ...]:
        return self.rows[number]

    def to_frame(self) -> Any:
        """Return the results as a frame of pandas, one per row."""
        import pandas as pd

        made = self._records()
        return pd.DataFrame(made[1], columns=made[0])

    def _records(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the names of the columns, and the rows."""
        raise NotImplementedError


def in_columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of text: the first column to the left, the others to the right.

    Examples
    --------
    >>> print(in_columns(["person", "same"], [["ann", "12"], ["bob", "7"]]))
    person  same
    ann       12
    bob        7
    """
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    made = []
    for line in lines:
        cells = [
            cell + " " * (width - _width(cell))
            if number == 0
            else " " * (width - _width(cell)) + cell
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        made.append("  ".join(cells).rstrip())
    return "\n".join(made)


def _width(text: str) -> int:
    """Return how many places a text takes in a terminal."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    marks = sum(unicodedata.combining(letter) > 0 for letter in text)
    return len(text) + wide - marks
