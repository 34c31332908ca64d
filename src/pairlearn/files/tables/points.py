"""A table of points: their ids, and features ready to learn from."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pairlearn.files.tables.column_kinds import describe_columns, frame_of_values
from pairlearn.files.tables.columns import column_named, find_id, ids_in
from pairlearn.files.tables.errors import OptionError, TableError
from pairlearn.files.tables.reading import Table, read_table

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from sklearn.compose import ColumnTransformer

    from pairlearn.data.types import Ints
    from pairlearn.files.tables.cell_columns import Cells
    from pairlearn.files.tables.column_kinds import Column

__all__ = ["Points", "read_points"]


@dataclass
class Points:
    """The points of a table.

    Attributes
    ----------
    table : Table
        As it was read.
    ids : sequence of str
        The id of each point, as text.
    id_column : str or None
        The column of the ids; None: the points are known by their row numbers.
    first_row : int or None
        The number of the first row, 0 or 1, if points are known by row numbers.
    notes : list of str
        Sentences about how the ids were found.
    group_column : str or None
        The column that tells of whom or what each point is a row; it is no feature.
    """

    table: Table
    ids: Cells
    id_column: str | None
    first_row: int | None = None
    notes: list[str] = field(default_factory=list)
    group_column: str | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def groups(self) -> Ints:
        """The number of the group of each point; without groups, each is its own."""
        import numpy as np

        if self.group_column is None:
            return np.arange(len(self))
        names = self.group_names
        # An empty cell tells nothing, so that such points are not one.
        empty = np.flatnonzero([not name for name in names])
        number = np.unique(np.array(names), return_inverse=True)[1]
        number[empty] = len(names) + np.arange(len(empty))
        return np.unique(number, return_inverse=True)[1]

    @property
    def group_names(self) -> list[str]:
        """The name of the group of each point, or "" where there is none."""
        if self.group_column is None:
            return [""] * len(self)
        from pairlearn.data.checks import whole_name

        return [whole_name(name) for name in ids_in(self.table, self.group_column)]

    @property
    def features(self) -> dict[str, Cells]:
        """The cells of each column but the ids, as they stand in the table."""
        return {
            name: cells
            for name, cells in self.table.columns.items()
            if name not in (self.id_column, self.group_column)
        }

    @cached_property
    def columns(self) -> list[Column]:
        """What each column is: numbers, dates, categories, text, or left out."""
        return describe_columns(self.features, self.table)

    @cached_property
    def frame(self) -> Any:
        """The columns to learn from as a pandas frame.

        Numbers, and dates as days since 1970, are floats; then there are categories,
        and free text as it is.
        """
        return frame_of_values(self.columns)

    def make_encoder(
        self, parts: Collection[str] = ("words", "characters")
    ) -> ColumnTransformer:
        """Return a transformer of such a frame to numbers without gaps, not yet fitted.

        Parameters
        ----------
        parts : collection of str
            By what texts are described: "words", "characters" or both. None of them: by
            a few numbers each, so that the table is full.

        Returns
        -------
        sklearn.compose.ColumnTransformer
            To put in front of a classifier. It reads the cells of other tables in the
            same way, as text or as numbers.
        """
        from pairlearn.files.tables.encoder import make_encoder

        return make_encoder(self.columns, parts)


def read_points(
    source: str | Path | Table,
    id: str | None = None,  # noqa: A002 - the user's word for it
    *,
    wanted: Collection[str] | None = None,
    first_row: int | None = None,
    group: str | None = None,
) -> Points:
    r"""Read a table of points as ``pairlearn fit`` does.

    Messages name the options of the command line; the arguments here have the same
    names.

    Parameters
    ----------
    source : str, Path or Table
        The table: a file that ends in .csv, .tsv, .tab, .txt, .parquet, .feather,
        .arrow or .ipc.
    id : str, optional
        The column of the ids. None: it is found by its name (id, point_id, key, name
        and the like), or by what it holds, or the points are known by row numbers.
    wanted : collection of str, optional
        Ids that occur in pairs, to find the column by.
    first_row : {0, 1}, optional
        The number of the first row, where points are known by row numbers.
    group : str, optional
        The column that tells of whom or what each point is a row, where there are
        several rows of one patient, customer or device.

    Returns
    -------
    Points

    Raises
    ------
    TableError
        If it is no table of points, with what is wrong, where, and the way out.

    See Also
    --------
    read_answers : Read answers about pairs of the points, too.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pairlearn.files.tables import read_points
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "points.csv"
    ...     _ = path.write_text("id,size,colour\np1,3.5,red\np2,n/a,blue\np3,1,red\n")
    ...     points = read_points(path)
    >>> list(points.ids)
    ['p1', 'p2', 'p3']
    >>> points.frame
       size colour
    0   3.5    red
    1   NaN   blue
    2   1.0    red
    >>> points.make_encoder().fit_transform(points.frame).shape
    (3, 3)
    """
    table = source if isinstance(source, Table) else read_table(source)
    if table.unit == "question":
        raise TableError(
            f"{table.name} holds answers, and a table of points is needed here; points "
            "come first, and then answers: pairlearn fit points.csv answers.sqlite"
        )
    if group is not None:
        group = column_named(table, group, "--group")
    points = Points(table, *find_id(table, id, wanted, first_row), group_column=group)
    if group is not None and group == points.id_column:
        raise OptionError(
            f"--group {group!r} is the column of the ids, of which each occurs once; "
            "name the column that several rows of one thing have in common"
        )
    if not points.features:
        taken = points.id_column
        which = f", which column {taken!r} holds" if taken is not None else ""
        raise TableError(
            f"{table.name} has no column besides the ids{which}; points need columns "
            "to learn from"
        )
    return points
