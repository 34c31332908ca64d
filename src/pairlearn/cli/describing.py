"""Images and texts of a table as the vectors that a model was made from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pairlearn.files.tables.encoders.deferred import vectors_of
from pairlearn.files.tables.encoders.embedding import Embedding
from pairlearn.files.tables.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.files.tables.cell_columns import Cells
    from pairlearn.files.tables.reading import Table

__all__ = ["ForModel", "counting"]

_WIDTH = 24


def counting(step: Callable[[str], None]) -> Callable[[int, int], None]:
    """Return what shows a bar for how many of how many are done.

    Parameters
    ----------
    step : callable
        Shows a line.

    Returns
    -------
    callable

    Examples
    --------
    >>> counting(print)(500, 2000)
    looking at images or texts ██████░░░░░░░░░░░░░░░░░░ 500 of 2,000
    """

    def show(done: int, of: int) -> None:
        full = _WIDTH * done // max(of, 1)
        bar = "█" * full + "░" * (_WIDTH - full)
        step(f"looking at images or texts {bar} {done:,} of {of:,}")

    return show


class ForModel:
    """Tables as a model reads them: vectors in place of images and embedded texts.

    Parameters
    ----------
    about : dict
        What was stored beside the model: what its columns are. Somebody else may have
        made it, so that it gets no function called and nothing downloaded.
    embed : str or None
        The name of an embedding that the user gave.
    step : callable or None
        Told how many of how many are done.
    """

    def __init__(
        self,
        about: dict[str, Any],
        embed: str | None = None,
        step: Callable[[int, int], None] | None = None,
    ) -> None:
        self._columns = {
            str(name): (str(kind), str(form))
            for name, kind, form, *_ in about.get("columns") or ()
            if str(kind) == "image" or str(kind).startswith("embedded ")
        }
        self._step, self._made = step, dict[str, Embedding]()
        names = {form for kind, form in self._columns.values() if kind != "image"}
        if embed is not None and embed not in names:
            made = ", ".join(sorted(names)) or "none"
            raise OptionError(
                f"--embed {embed} is not what the model was made with ({made})"
            )
        self._embed = embed

    def __call__(self, table: Table) -> Table:
        """Return a table with vectors in place of images and embedded texts."""
        columns: dict[str, Cells] = {
            name: self._vectors(name, cells, table)
            if name in self._columns and len(cells)
            else cells
            for name, cells in table.columns.items()
        }
        return replace(table, columns=columns)

    def _vectors(self, name: str, cells: Cells, table: Table) -> Cells:
        kind, form = self._columns[name]
        if kind != "image" and form not in self._made:
            self._made[form] = Embedding(form, named_by_user=form == self._embed)
        made = self._made.get(form)
        return vectors_of(kind, cells, made, table.folder, step=self._step)
