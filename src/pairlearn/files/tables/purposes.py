"""What the rows of a table of pairs are for: to learn from, or to judge by.

`pairlearn ask` writes two columns beside its questions. `purpose` says whether a pair
was chosen to learn from ("learn"), or drawn at random to judge the model ("audit");
`round` says in which round it was asked. Rows without a mark are the user's own.

Whoever answers should not see them. So they may be in a key, a table of their own, and
the questions then have numbers such as q2-07 in the column `question`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.files.tables.cells import id_of, number_of, shown
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.reading import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pairlearn.data.types import Bools, Ints
    from pairlearn.files.tables.reading import Table

__all__ = ["AUDIT", "LEARN", "PURPOSE", "QUESTION", "ROUND"]
__all__ += ["Key", "Marks", "is_questions", "read_key", "read_marks"]

PURPOSE, ROUND, QUESTION = "purpose", "round", "question"
LEARN, AUDIT = "learn", "audit"
_OURS = re.compile(r"q\d+-\d+")


@dataclass(frozen=True)
class Marks:
    """What rows are for.

    Attributes
    ----------
    marked : bool
        Whether the table says so at all.
    learn, audit : ndarray of bool of shape (n_rows,)
        Rows that were chosen to learn from, and rows to judge by; neither: the user's
        own.
    rounds : ndarray of int of shape (n_rows,)
        In which round each was asked; 0: not known.
    """

    marked: bool
    learn: Bools
    audit: Bools
    rounds: Ints

    @classmethod
    def joined(cls, parts: list[Marks]) -> Marks:
        """Return the marks of several tables."""
        return cls(
            any(part.marked for part in parts),
            np.concatenate([part.learn for part in parts]),
            np.concatenate([part.audit for part in parts]),
            np.concatenate([part.rounds for part in parts]),
        )

    def take(self, rows: Ints) -> Marks:
        """Return the marks of some rows."""
        return Marks(self.marked, self.learn[rows], self.audit[rows], self.rounds[rows])

    @property
    def last_round(self) -> int:
        """The largest round; 0 if there is none."""
        return int(self.rounds.max(initial=0))


@dataclass(frozen=True)
class Key:
    """What the questions of a file are for that does not say so itself.

    Attributes
    ----------
    name : str
        The name of the key.
    purposes : dict
        (purpose, round) by the name of the question and its two points.
    """

    name: str
    purposes: dict[tuple[str, frozenset[str]], tuple[str, int]]


def is_questions(table: Table) -> bool:
    """Tell whether a table is one of questions as `pairlearn ask` writes it."""
    names = table.columns.keys()
    ours = {PURPOSE, QUESTION} & names
    return bool(ours) and {"left", "right", "answer"} <= names


def read_key(path: str | Path, delimiter: str | None = None) -> Key:
    """Read a key: a table with the columns question, left, right, purpose and round.

    Parameters
    ----------
    path : str or Path
        The table.
    delimiter : str, optional
        What divides its cells.

    Returns
    -------
    Key
    """
    table = read_table(path, delimiter=delimiter)
    wanted = (QUESTION, "left", "right", PURPOSE, ROUND)
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        raise TableError(
            f"{table.name} has no column {missing[0]!r}, so it is not a key; a key is "
            "the file that pairlearn ask --blind writes beside the questions"
        )
    question, left, right = (
        [id_of(cell) for cell in table.columns[name]] for name in wanted[:3]
    )
    purposes, rounds = _purposes(table), _rounds(table)
    return Key(
        table.name,
        {
            (question[row], frozenset((left[row], right[row]))): (
                purposes[row],
                rounds[row],
            )
            for row in range(len(table))
        },
    )


def read_marks(
    table: Table, left: list[str], right: list[str], keys: Sequence[Key] = ()
) -> Marks:
    """Read what the rows of a table of pairs are for.

    Parameters
    ----------
    table : Table
        The table.
    left, right : list of str
        The ids of the two points of each row.
    keys : sequence of Key
        What questions are for that do not say so themselves.

    Returns
    -------
    Marks

    Examples
    --------
    >>> from pairlearn.files.tables.cell_columns import Cells
    >>> from pairlearn.files.tables.reading import Table
    >>> purposes, rounds = Cells(["learn", "", "Audit"]), Cells(["1", "", "2"])
    >>> columns = {"purpose": purposes, "round": rounds}
    >>> table = Table("next.csv", columns, np.array([2, 3, 4]))
    >>> found = read_marks(table, list("abc"), list("def"))
    >>> found.audit, found.rounds
    (array([False, False,  True]), array([1, 0, 2]))
    """
    n_rows = len(table)
    purposes, rounds = [""] * n_rows, [0] * n_rows
    marked = _column(table, PURPOSE) is not None
    if marked:
        purposes, rounds = _purposes(table), _rounds(table)
    else:
        named = _column(table, QUESTION)
        questions = [] if named is None else [id_of(c) for c in table.columns[named]]
        if questions and all(_OURS.fullmatch(question) for question in questions):
            marked = True
            purposes, rounds = _by_key(table, questions, left, right, keys)
    said = np.array(purposes, dtype=object)
    return Marks(marked, said == LEARN, said == AUDIT, np.array(rounds, dtype=np.intp))


def _by_key(
    table: Table,
    questions: list[str],
    left: list[str],
    right: list[str],
    keys: Sequence[Key],
) -> tuple[list[str], list[int]]:
    stem = table.name.rpartition(".")[0]
    if not keys:
        raise TableError(
            f"{table.name} was written with --blind, so it does not say which of its "
            "rows are audits; give its key, which was written beside it: --key "
            f"{stem}.key.csv"
        )
    purposes, rounds = [], []
    for row, question in enumerate(questions):
        wanted = question, frozenset((left[row], right[row]))
        found = next((k.purposes[wanted] for k in keys if wanted in k.purposes), None)
        if found is None:
            raise TableError(
                f"{table.place(row)}: question {question}, about {shown(left[row])} "
                f"and {shown(right[row])}, is not in "
                f"{' or '.join(key.name for key in keys)}; give the keys of all files "
                "that were written with --blind, each with --key"
            )
        purposes.append(found[0])
        rounds.append(found[1])
    return purposes, rounds


def _purposes(table: Table) -> list[str]:
    name = _column(table, PURPOSE)
    words = [] if name is None else [id_of(c).casefold() for c in table.columns[name]]
    for row, word in enumerate(words):
        if word not in (LEARN, AUDIT, ""):
            raise TableError(
                f"{table.place(row)}: the purpose {shown(word)} is not understood. It "
                "is learn or audit, as pairlearn ask writes it, and empty for pairs of "
                f"your own; if column {name!r} is about something else, rename it"
            )
    return words


def _rounds(table: Table) -> list[int]:
    name = _column(table, ROUND)
    found = [0] * len(table)
    for row, cell in enumerate(() if name is None else table.columns[name]):
        number = number_of(cell)
        if number is not None and np.isnan(number):
            continue
        if number is None or number < 1 or number % 1:
            raise TableError(
                f"{table.place(row)}: the round {shown(cell)} is not a whole number "
                f"from 1 on, as pairlearn ask writes it in column {name!r}"
            )
        found[row] = int(number)
    return found


def _column(table: Table, wanted: str) -> str | None:
    """Return the column of such a name, capitals or not."""
    same = (name for name in table.columns if name.strip().casefold() == wanted)
    return next(same, None)
