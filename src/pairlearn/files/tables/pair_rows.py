"""The rows of one or several tables of pairs, before anything is made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.files.tables.answer_column import find_answer
from pairlearn.files.tables.columns import find_sides, ids_in
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.people_columns import PeopleColumns, read_people
from pairlearn.files.tables.purposes import Marks, is_questions, read_marks
from pairlearn.files.tables.reading import Table, read_table

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from pairlearn.data.types import Ints
    from pairlearn.files.tables.answer_words import AnswerWords
    from pairlearn.files.tables.purposes import Key

__all__ = ["Line", "PairRows", "join_rows", "read_pairs"]

# Where a row stands: its line, or, of several files, the line and the file.
Line = int | str


@dataclass
class PairRows:
    """The rows of tables of pairs: ids as text, answers as they stand there.

    Attributes
    ----------
    tables : list of Table
        As they were read.
    left, right : list of str
        The ids of the two points of each pair.
    words : list
        The answer cells; empty if the table has no answers and needs none.
    names : tuple
        The names of the columns of left, right and answer, in the first table.
    marks : Marks
        What each row is for.
    where : ndarray of shape (n_rows, 2)
        The number of the table of each row, and its row there.
    people : PeopleColumns
        Who gave each answer, and when.
    """

    tables: list[Table]
    left: list[str]
    right: list[str]
    words: list[Any]
    names: tuple[str, str, str | None]
    marks: Marks
    where: Ints
    people: PeopleColumns

    def __len__(self) -> int:
        return len(self.left)

    @property
    def name(self) -> str:
        """The names of the tables."""
        return " and ".join(table.name for table in self.tables)

    @property
    def parts(self) -> Ints:
        """The number of the batch of each row: of one file, and of one round."""
        keys = np.stack([self.where[:, 0], self.marks.rounds], axis=1)
        return np.unique(keys, axis=0, return_inverse=True)[1].ravel()

    def place(self, row: int) -> str:
        """Return where a row stands, for a message."""
        number, there = self.where[row].tolist()
        table: Table = self.tables[number]
        return table.place(there)

    def line(self, row: int) -> Line:
        """Return the line of a row, with the name of its file if there are several."""
        table, there = self.where[row].tolist()
        line = int(self.tables[table].lines[there])
        return line if len(self.tables) == 1 else f"{line} of {self.tables[table].name}"


def read_pairs(
    source: str | Path | Table,
    left: str | None = None,
    right: str | None = None,
    answer: str | None = None,
    *,
    ids: Collection[str] | None = None,
    need_answers: bool = True,
    keys: Sequence[Key] = (),
    known: AnswerWords | None = None,
) -> PairRows:
    """Read a table of pairs.

    Parameters
    ----------
    source : str, Path or Table
        The table.
    left, right, answer : str, optional
        The columns. None: they are found by their names (left and right, a and b, id1
        and id2 and the like; answer, same, label, verdict and the like), or by what
        they hold.
    ids : collection of str, optional
        Ids of the points, to find columns by.
    need_answers : bool
        Whether a table without answers is refused.
    keys : sequence of Key
        What questions are for that do not say so themselves.
    known : AnswerWords, optional
        What words mean as answers, to find the column by.

    Returns
    -------
    PairRows
    """
    table = source if isinstance(source, Table) else read_table(source)
    if is_questions(table):
        # Its columns have their own names, whatever those of other tables are.
        left = right = answer = None
    sides = find_sides(table, left, right, answer, ids)
    words = find_answer(table, answer, sides, needed=need_answers, known=known)
    named = [ids_in(table, name).tolist() for name in sides]
    for name, cells in zip(sides, named, strict=True):
        empty = [row for row, cell in enumerate(cells) if not cell]
        if empty:
            raise TableError(
                f"{table.place(empty[0])}: no id in column {name!r} ({len(empty)} such "
                "row(s)); a pair needs two ids"
            )
    answers = [] if words is None else table.columns[words].tolist()
    marks = read_marks(table, named[0], named[1], keys)
    where = np.stack([np.zeros(len(table), np.intp), np.arange(len(table))], axis=1)
    columns = (*sides, words)
    people = read_people(table, [name for name in columns if name is not None])
    rows = PairRows([table], named[0], named[1], answers, columns, marks, where, people)
    return join_rows([rows]) if marks.rounds.any() else rows


def join_rows(parts: list[PairRows]) -> PairRows:
    """Return the rows of several tables as one, in the order of their rounds.

    Rows without a round come first, as they stand; a round may be in several tables,
    and the tables in any order.
    """
    rounds = np.concatenate([part.marks.rounds for part in parts])
    order = np.argsort(rounds, kind="stable")
    where = np.concatenate(
        [part.where + np.array([number, 0]) for number, part in enumerate(parts)]
    )
    left = [name for part in parts for name in part.left]
    right = [name for part in parts for name in part.right]
    words = [word for part in parts for word in part.words]
    return PairRows(
        [part.tables[0] for part in parts],
        [left[row] for row in order],
        [right[row] for row in order],
        [words[row] for row in order] if words else [],
        parts[0].names,
        Marks.joined([part.marks for part in parts]).take(order),
        where[order],
        PeopleColumns.joined(
            [part.people for part in parts], list(map(len, parts))
        ).take(order),
    )
