"""A table of points: their ids, and features ready to learn from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pairlearn.files.tables.column_kinds import describe_columns, frame_of_values
from pairlearn.files.tables.columns import column_named, find_id, ids_in
from pairlearn.files.tables.errors import OptionError, TableError
from pairlearn.files.tables.image_folder import rows_by_other_names
from pairlearn.files.tables.reading import Table, read_table
from pairlearn.files.tables.vector_cells import VectorCells

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
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
    embed : str or None
        The name of an embedding of texts or images.
    step : callable or None
        Told how many of how many images or texts are done.
    """

    table: Table
    ids: Cells
    id_column: str | None
    first_row: int | None = None
    notes: list[str] = field(default_factory=list)
    group_column: str | None = None
    embed: str | None = None
    step: Callable[[int, int], None] | None = None

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

    @property
    def features_to_show(self) -> dict[str, Cells]:
        """The same without vectors of numbers, by which nobody can tell anything."""
        return {
            name: cells
            for name, cells in self.features.items()
            if not isinstance(cells, VectorCells)
        }

    @cached_property
    def columns(self) -> list[Column]:
        """What each of these columns is: numbers, text, images, or left out."""
        return describe_columns(self.features, self.table, self.embed, self.step)

    def rows_of(self, names: Collection[str]) -> dict[str, int]:
        """Return the rows of some points by their ids, as far as there are any.

        In a folder of images they may also be called by their file names without the
        ending, or without the folders, where these can mean one image only.
        """
        found = self.ids.rows_of(names)
        if self.table.unit == "image":
            others = set(names) - set(found)
            found |= rows_by_other_names(self.ids, others) if others else {}
        return found

    @cached_property
    def frame(self) -> Any:
        """The columns to learn from as a pandas frame.

        Numbers, and dates as days since 1970, are floats; then there are categories,
        and free text as it is; images and the like are vectors.
        """
        return frame_of_values(self.columns)

    @cached_property
    def whole_frame(self) -> Any:
        """The frame, with columns that were left out after they had been looked at."""
        return self.frame

    def leave_out(self, reasons: Mapping[str, str]) -> None:
        """Leave columns out of what is learned from.

        Parameters
        ----------
        reasons : dict
            Why, by the name of the column.
        """
        self.whole_frame  # noqa: B018 - kept as it is now
        self.columns = [
            replace(column, kind="left out", form="", how=reasons[column.name])
            if column.name in reasons
            else column
            for column in self.columns
        ]
        self.__dict__.pop("frame", None)

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
    delimiter: str | None = None,
    embed: str | None = None,
    step: Callable[[int, int], None] | None = None,
) -> Points:
    r"""Read a table of points as ``pairlearn fit`` does.

    Messages name the options of the command line; the arguments here have the same
    names.

    Parameters
    ----------
    source : str, Path or Table
        The table: a file that ends in .csv, .tsv, .tab, .txt, .xlsx, .parquet,
        .feather, .arrow, .ipc, .npy or .npz, or a folder of images.
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
    delimiter : str, optional
        What divides the cells of a text file. None: it is found.
    embed : str, optional
        What makes vectors of texts or images: ``timm:NAME``,
        ``sentence-transformers:NAME``, or ``module:function``.
    step : callable, optional
        Told how many of how many images or texts are done.

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
    if isinstance(source, Table):
        table = source
    else:
        table = read_table(source, delimiter=delimiter)
    if table.unit == "question":
        raise TableError(
            f"{table.name} holds answers, and a table of points is needed here; points "
            "come first, and then answers: pairlearn fit points.csv answers.sqlite"
        )
    if group is not None:
        group = column_named(table, group, "--group")
    points = Points(
        table,
        *find_id(table, id, _as_files(table, wanted), first_row),
        group_column=group,
        embed=embed,
        step=step,
    )
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


def _as_files(table: Table, wanted: Collection[str] | None) -> Collection[str] | None:
    """Return wanted ids; None for a folder, whose ids are file names in any case."""
    return None if table.unit == "image" else wanted
