"""`pairlearn predict`: classes and probabilities of points, in parts."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pairlearn.cli.describing import ForModel
from pairlearn.cli.looks import NewPoints
from pairlearn.cli.predictions_file import opened
from pairlearn.files.tables.cell_columns import Cells
from pairlearn.files.tables.cells import looks_like_formula, shown
from pairlearn.files.tables.columns import (
    check_numbering,
    column_named,
    find_id,
    ids_in,
)
from pairlearn.files.tables.encoder import CellError
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.reading import CHUNK_ROWS, frame_of, read_chunks, read_table
from pairlearn.models.auto.fused import MANY_POINTS
from pairlearn.system.in_order import in_order
from pairlearn.system.writing import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pairlearn.data.types import Floats, Ints
    from pairlearn.files.tables.reading import Table

__all__ = ["Predicted", "points_for_model", "predict_table"]

# Of fewer points it is no wonder that all are in one group.
_FEW = 20
# With no more columns than this a table is narrow.
_NARROW = 64
# Kinds of columns whose cells are short.
_SHORT = {"numbers", "dates", "categories", "left out"}
_FORMULA = re.compile(r"(?:^|\n)[=+\-@\t\r]")


@dataclass
class Predicted:
    """What was predicted.

    Attributes
    ----------
    n_points : int
        How many points.
    counts : dict
        How many in each class.
    new : dict
        By column, categories that the model has not seen, with how many points.
    notes : list of str
        What to tell.
    """

    n_points: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    new: dict[str, dict[str, int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class _Scored(NamedTuple):
    """A part of a table that has been predicted.

    Attributes
    ----------
    notes : list of str
        What to tell of how it was read.
    ids : list of str
        The ids of the points.
    winners : ndarray of int
        The number of each point's class.
    probabilities : ndarray of shape (n_points, n_classes)
        Of each class.
    new : list of tuple
        (column, category, count) of categories that the model has not seen.
    n_formulas : int
        How many ids a spreadsheet would run.
    """

    notes: list[str]
    ids: list[str]
    winners: Ints
    probabilities: Floats
    new: list[tuple[str, str, int]]
    n_formulas: int


def predict_table(
    model: Any,
    about: dict[str, Any],
    points: Path,
    out: Path,
    *,
    id: str | None = None,  # noqa: A002 - the user's word for it
    delimiter: str | None = None,
    embed: str | None = None,
    chunk: int | None = None,
    step: Callable[[int], None] = lambda _: None,
) -> Predicted:
    """Predict the points of a table, and write classes and probabilities.

    The table is read, predicted and written in parts, so that memory does not grow
    with it.

    Parameters
    ----------
    model : Pipeline
        A model, as `pairlearn fit` makes it.
    about : dict
        What was stored beside it.
    points, out : Path
        The table, and where to write: .csv, .tsv or .parquet.
    id : str, optional
        The column of the ids; None: as it was when the model was made, or by name.
    delimiter : str, optional
        What divides the cells of a text file; None: it is found.
    embed : str, optional
        The name of an embedding that the user gave.
    chunk : int, optional
        Rows of a part; None: so many that memory stays small.
    step : callable
        Told how many points are done.

    Returns
    -------
    Predicted
    """
    found = Predicted()
    # The first part is empty: it tells the columns before anything is written.
    if not hasattr(model, "predict_proba"):
        raise TableError(
            "the model has no probabilities, so it was not made by pairlearn fit; use "
            "its method predict in Python"
        )
    classes = [str(name) for name in model.classes_]
    found.counts = dict.fromkeys(classes, 0)
    wanted = wanted_columns(model, about)
    known = _categories(model)
    for_model = ForModel(about, embed)
    parts: Iterator[Table] = map(
        for_model,
        read_chunks(points, chunk or _rows_of_part(about, wanted), delimiter=delimiter),
    )
    first = next(parts)
    new = NewPoints(model, about)
    parts = new.watch(parts)
    found.notes += first.notes
    column = _id_column(first, id, about, found, wanted)
    check_columns(first, wanted)
    begin = about.get("first row")
    begin = 1 if begin is None else int(begin)
    if column is None:
        found.notes.append(
            f"{points.name} has no id column; its rows are numbered from {begin}"
        )
    name = _name_of_ids(column, classes)
    n_formulas = 0

    def score(numbered: tuple[Table, int]) -> _Scored:
        part, number = numbered
        ids = _ids(part, column, number)
        winners, probabilities = _predict(model, part, wanted)
        new = _new_categories(part, known)
        return _Scored(part.notes, ids, winners, probabilities, new, _formulas(ids))

    with replacing(out) as partial, opened(partial, name, classes) as write:
        for part in in_order(score, _numbered(parts, begin, found)):
            write(part.ids, part.winners, part.probabilities)
            found.notes += part.notes
            _count_new(part.new, found)
            n_formulas += part.n_formulas
            times = np.bincount(part.winners, minlength=len(classes)).tolist()
            for label, count in zip(classes, times, strict=True):
                found.counts[label] += count
            found.n_points += len(part.ids)
            step(found.n_points)
        if not found.n_points:
            raise TableError(f"{points.name} has a header but no rows")
    _tell(found)
    found.notes += new.notes() + _notes_on_empty_groups(found)
    if out.suffix.lower() != ".parquet":
        found.notes += _notes_on_formulas(n_formulas, name, classes)
    return found


def _numbered(
    parts: Iterator[Table], begin: int, found: Predicted
) -> Iterator[tuple[Table, int]]:
    """Yield the parts that hold points, each with the number of its first row."""
    for part in parts:
        if len(part):
            yield part, begin
        else:
            found.notes += part.notes
        begin += len(part)


def _rows_of_part(about: dict[str, Any], wanted: list[str]) -> int:
    """Return how many rows to take at a time.

    Of a few numbers each, as many as compiled loops are loaded for; texts and wide
    tables would fill the memory.
    """
    kinds = {kind for _, kind, *_ in about.get("columns") or ()}
    narrow = len(wanted) <= _NARROW and not kinds - _SHORT
    return max(CHUNK_ROWS, MANY_POINTS) if narrow else CHUNK_ROWS


def wanted_columns(model: Any, about: dict[str, Any]) -> list[str]:
    """Return the columns that a model needs."""
    if about.get("columns"):
        return [name for name, kind, *_ in about["columns"] if kind != "left out"]
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise TableError(
            "the model does not know the names of its columns, so they cannot be found "
            "in a table; it was not made by pairlearn fit, nor from a data frame"
        )
    return [str(name) for name in names]


def check_columns(table: Table, wanted: list[str]) -> None:
    """Refuse a table without the columns that a model needs."""
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        some = ", ".join(shown(name) for name in missing[:8])
        more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        raise TableError(
            f"{table.name} lacks {len(missing)} column(s) that the model needs: "
            f"{some}{more}. Its columns are "
            f"{', '.join(shown(name) for name in list(table.columns)[:12])}"
        )


def frame_for_model(table: Table, wanted: list[str]) -> Any:
    """Return the columns that a model needs as a frame of cells, if all are there."""
    check_columns(table, wanted)
    return frame_of({name: table.columns[name] for name in wanted}, len(table))


@contextmanager
def placing_errors(table: Table) -> Iterator[None]:
    """Say in which row of a table a cell is that a model cannot read."""
    try:
        yield
    except CellError as error:
        raise TableError(f"{table.place(error.row)}: {error}") from None


def _predict(model: Any, part: Table, wanted: list[str]) -> tuple[Ints, Floats]:
    check_columns(part, wanted)
    cells = {name: part.columns[name] for name in wanted}
    with placing_errors(part):
        probabilities = model.predict_proba(frame_of(cells, len(part), arrow=True))
    # As `predict` does, without scoring the points again: of classes that are as
    # likely, the first.
    return probabilities.argmax(axis=1), probabilities


def _id_column(
    table: Table,
    option: str | None,
    about: dict[str, Any],
    found: Predicted,
    wanted: list[str],
) -> str | None:
    if option is not None:
        return column_named(table, option, "--id")
    if about.get("id") in table.columns:
        return str(about["id"])
    if about.get("made by") and about.get("id") is None:
        return None
    rest = {name: Cells(["1"]) for name in table.columns if name not in wanted}
    # One row stands for all, since not all are read yet.
    stub = type(table)(table.name, rest, np.ones(1, dtype=np.int64), table.text)
    column = find_id(stub, None, None, None).column if rest else None
    if column is not None and about.get("id") is not None:
        found.notes.append(
            f"the ids are taken from column {column!r}; there is no column "
            f"{about['id']!r}"
        )
    return column


def _ids(part: Table, column: str | None, begin: int) -> list[str]:
    if column is None:
        check_numbering(part)
        return [str(k) for k in range(begin, begin + len(part))]
    return ids_in(part, column).tolist()


def _name_of_ids(column: str | None, classes: list[str]) -> str:
    taken = {"class", *(f"probability_{name}" for name in classes)}
    return "id" if column is None or column in taken else column


def _categories(model: Any) -> dict[str, set[str]]:
    """Return the categories that a model knows, by column."""
    try:
        encoder = model[0].transformer_.named_transformers_["categories"]
        names = encoder[0].feature_names_in_
        return {
            str(name): set(known)
            for name, known in zip(names, encoder[-1].categories_, strict=True)
        }
    except (AttributeError, KeyError, TypeError, IndexError):
        return {}


def _new_categories(
    part: Table, known: dict[str, set[str]]
) -> list[tuple[str, str, int]]:
    """Return the categories that a model does not know, as they first occur."""
    new = []
    for name, categories in known.items():
        codes, texts = part.columns[name].categories().factorize()
        counts = np.bincount(codes, minlength=len(texts)).tolist()
        for text, count in zip(texts.tolist(), counts, strict=True):
            if text not in categories:
                new.append((name, text, count))
    return new


def _count_new(new: list[tuple[str, str, int]], found: Predicted) -> None:
    for name, text, count in new:
        counts = found.new.setdefault(name, {})
        # A column of ever new texts must not fill the memory.
        text = text if text in counts or len(counts) < 1000 else "(others)"
        counts[text] = counts.get(text, 0) + count


def _formulas(ids: list[str]) -> int:
    """Return how many ids a spreadsheet would run as formulas."""
    # Most tables have none, which is seen at once.
    if _FORMULA.search("\n".join(ids)) is None:
        return 0
    return sum(map(looks_like_formula, ids))


def _tell(found: Predicted) -> None:
    for name, counts in found.new.items():
        some = ", ".join(
            shown(text) if text else "an empty cell" for text in list(counts)[:3]
        )
        found.notes.append(
            f"column {name!r}: {sum(counts.values())} point(s) have a category that "
            f"the model has never seen ({some}); it is treated as a rare category"
        )


def _notes_on_empty_groups(found: Predicted) -> list[str]:
    """Return a sentence if no point is in one of the groups."""
    empty = [name for name, count in found.counts.items() if not count]
    if not empty or found.n_points < _FEW:
        return []
    note = (
        f"no point is in the group {' nor in '.join(map(shown, empty))}: the points "
        "may be of one kind, or unlike those that the model was made with; check a few"
    )
    return [note]


def _notes_on_formulas(n_ids: int, name: str, classes: list[str]) -> list[str]:
    """Return what to tell of cells that a spreadsheet would run."""
    cells = [f"{n_ids} id(s)"] if n_ids else []
    cells += [f"the class {shown(c)}" for c in classes if looks_like_formula(c)]
    if looks_like_formula(name):
        cells.append(f"the column name {shown(name)}")
    if not cells:
        return []
    note = (
        f"{' and '.join(cells)} begin with =, +, - or @. They are written as they are; "
        "a spreadsheet would run them as formulas, so import such columns as text"
    )
    return [note]


def points_for_model(
    model: Any,
    about: dict[str, Any],
    path: Path,
    delimiter: str | None = None,
    embed: str | None = None,
) -> Any:
    """Return a table of points as a frame with the columns that a model needs."""
    table = ForModel(about, embed)(read_table(path, delimiter=delimiter))
    frame = frame_for_model(table, wanted_columns(model, about))
    with placing_errors(table):
        model.predict(frame.iloc[:1])
        if about.get("made by"):
            model[0].transform(frame)
    return frame
