"""A few points whose class is known: a table of ids and classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pairlearn.files.tables.columns import column_named
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.reading import read_table

if TYPE_CHECKING:
    from pathlib import Path

    from pairlearn.data.types import Ints
    from pairlearn.files.tables.points import Points

__all__ = ["read_labels"]

_CLASS = ("class", "label", "kind", "name", "group")


def read_labels(
    path: Path, points: Points, delimiter: str | None = None
) -> tuple[Ints, list[str]]:
    """Read which class some of the points have.

    Parameters
    ----------
    path : Path
        A table with the ids of points, in a column of the same name as in the table of
        points, or else the first, and their classes in another.
    points : Points
        The points.
    delimiter : str, optional
        What divides the cells of the table.

    Returns
    -------
    rows : ndarray
        The row numbers of the labelled points.
    names : list of str
        Their classes.
    """
    table = read_table(path, delimiter=delimiter)
    columns = list(table.columns)
    if len(columns) < 2:
        raise TableError(
            f"{table.name} must have two columns, the ids of some points and their "
            f"classes; it has {len(columns)}"
        )
    wanted = points.id_column if points.id_column in columns else columns[0]
    id_column = column_named(table, wanted, "--labels")
    others = [name for name in columns if name != id_column]
    named = [name for name in others if name.strip().casefold() in _CLASS]
    if len(others) > 1 and len(named) != 1:
        raise TableError(
            f"{table.name} has several columns beside {id_column!r}; call the one "
            "with the classes 'class'"
        )
    classes = table.columns[named[0] if named else others[0]].tolist()
    row_of = points.rows_of({str(name) for name in table.columns[id_column]})
    rows, names = [], []
    for k, (name, known) in enumerate(
        zip(table.columns[id_column].tolist(), classes, strict=True)
    ):
        known = str(known or "").strip()
        if not known:
            continue
        if str(name) not in row_of:
            raise TableError(f"{table.place(k)}: there is no point {name!r}")
        rows.append(row_of[str(name)])
        names.append(known)
    if not rows:
        raise TableError(f"{table.name} holds no class of any point")
    return np.array(rows, dtype=np.intp), names
