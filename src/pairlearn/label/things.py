"""The points as the page shows them: ids, cells, and what kind each column is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pairlearn.files.media import Folder, kind_of_name
from pairlearn.files.tables.cells import id_of
from pairlearn.label.web.replies import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pairlearn.files.media import OpenFile
    from pairlearn.files.tables.column_kinds import Column
    from pairlearn.files.tables.points import Points

__all__ = ["LONGEST_CELL", "Shown", "Things"]

LONGEST_CELL = 2000
_KINDS = {"numbers": "number", "dates": "date", "categories": "category"}
# A column is text to read, rather than a name, if cells are longer, or have lines.
_LONG = 80
# Cells of a column that are looked at, and the share that must agree.
_SOME, _MOST = 60, 0.8
_LINK = re.compile(
    r"https?://[^\s\x00-\x20<>\"\\^`{|}\x7f-\xa0]{1,2000}", re.IGNORECASE
)
# Bytes of cells that are kept ready to be sent.
_KEPT = 32 * 2**20


class Shown(NamedTuple):
    """A column as the page shows it.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "category", "date", "text", "image", "audio", "link"}
        What it holds.
    range : tuple of float or None
        Of numbers, between which almost all lie.
    unlearned : bool or None
        True if it is shown only, and the model does not see it.
    """

    name: str
    kind: str
    range: tuple[float, float] | None = None
    unlearned: bool | None = None


class Things:
    """The points of a table, ready for the page.

    Parameters
    ----------
    points : Points
        The table.
    path : Path
        Its file; images and sound are looked for below its folder.

    Attributes
    ----------
    columns : list of Shown
        The columns but the ids, as they stand in the table.
    """

    def __init__(self, points: Points, path: Path) -> None:
        self.name = path.name
        self.id_column = points.id_column
        self.ids: Sequence[str] = points.ids.tolist()
        self._folder = Folder(path if path.is_dir() else path.parent)
        features = points.features_to_show
        self._cells = list(features.values())
        about = {column.name: column for column in points.columns}
        self.columns = [
            Shown(
                name,
                self._kind(about[name].kind, cells),
                _range(about[name]),
                about[name].kind == "left out" or None,
            )
            for name, cells in features.items()
        ]
        self._ready: dict[int, bytes] = {}
        self._size = 0

    def __len__(self) -> int:
        return len(self.ids)

    def _kind(self, known: str, cells: Sequence[Any]) -> str:
        if known in ("numbers", "dates"):
            return _KINDS[known]
        some: list[str] = []
        for row in range(len(cells)):
            text = _text(cells[row])
            if text is not None:
                some.append(text)
            if len(some) == _SOME:
                break
        if not some:
            return "category"
        enough = _MOST * len(some)
        if sum(map(_is_link, some)) >= enough:
            return "link"
        for kind in ("image", "audio"):
            named = [text for text in some if kind_of_name(text.strip()) == kind]
            # Files may be missing, but a column of words that end so is no column of
            # files.
            if len(named) >= enough and any(map(self._folder.has, named)):
                return kind
        if known == "text":
            return "text"
        if any(len(text) > _LONG or "\n" in text for text in some):
            return "text"
        return "category"

    def json(self, row: int) -> bytes:
        """Return a point as JSON; those that were asked for are kept ready."""
        found = self._ready.get(row)
        if found is None:
            found = to_json(
                {
                    "row": row,
                    "id": self.ids[row],
                    "cells": [self._cell(row, k) for k in range(len(self.columns))],
                }
            )
            self._ready[row] = found
            self._size += len(found)
            while self._size > _KEPT and len(self._ready) > 1:
                oldest = next(iter(self._ready))
                self._size -= len(self._ready.pop(oldest))
        return found

    def question_json(self, number: int, left: int, right: int) -> bytes:
        """Return a question about two points as JSON."""
        return b'{"question":%d,"left":%b,"right":%b}' % (
            number,
            self.json(left),
            self.json(right),
        )

    def _cell(self, row: int, column: int) -> Any:
        text = _text(self._cells[column][row])
        if text is None:
            return None
        kind = self.columns[column].kind
        if len(text) > LONGEST_CELL:
            return {"text": text[:LONGEST_CELL], "cut": True}
        if kind in ("image", "audio") and kind_of_name(text.strip()) == kind:
            return {"media": kind, "url": f"/media/{row}/{column}", "text": text}
        # Also among other texts: what begins like a link and is nothing else.
        if kind in ("link", "category", "text") and _is_link(text):
            return {"media": "link", "url": text.strip(), "text": text}
        return text

    def whole(self, row: int, column: int) -> str | None:
        """Return the whole text of a cell; None if there is no such cell, or none."""
        if not (0 <= row < len(self) and 0 <= column < len(self.columns)):
            return None
        return _text(self._cells[column][row])

    def words(self, row: int) -> str:
        """Return the text of a point, to search in."""
        texts = (_text(cells[row]) for cells in self._cells)
        cut = (text[:LONGEST_CELL] for text in texts if text is not None)
        return "\n".join((self.ids[row], *cut))

    def open(self, row: int, column: int) -> OpenFile | None:
        """Open the file that a cell of an image or sound names; None if there is none.

        It looks at the disk: not for the thread that answers requests.
        """
        name = self.whole(row, column)
        if name is None or self.columns[column].kind not in ("image", "audio"):
            return None
        return self._folder.open(name.strip())


def _range(column: Column) -> tuple[float, float] | None:
    if column.kind != "numbers" or not isinstance(column.values, np.ndarray):
        return None
    low, high = np.nanquantile(column.values, (0.01, 0.99))
    return float(low), float(high)


def _text(cell: Any) -> str | None:
    """Return what a cell shows, or None if it is empty."""
    text = cell if isinstance(cell, str) else id_of(cell)
    return text if text.strip() else None


def _is_link(text: str) -> bool:
    return _LINK.fullmatch(text.strip()) is not None
