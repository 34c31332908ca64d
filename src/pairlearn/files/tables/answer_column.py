"""Which column of a table of pairs holds the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairlearn.files.tables.answer_words import AnswerWords
from pairlearn.files.tables.cells import id_of
from pairlearn.files.tables.columns import ANSWER_NAMES, column_named, plain_name
from pairlearn.files.tables.errors import OptionError, TableError
from pairlearn.files.tables.overlap import either
from pairlearn.files.tables.words import COLUMNS

if TYPE_CHECKING:
    from pairlearn.files.tables.reading import Table

__all__ = ["find_answer"]

_OPPOSITE = COLUMNS["opposite"].split()


def find_answer(
    table: Table,
    option: str | None,
    sides: tuple[str, str],
    *,
    needed: bool,
    known: AnswerWords | None = None,
) -> str | None:
    """Find the column of the answers in a table of pairs.

    Parameters
    ----------
    table : Table
        The pairs.
    option : str or None
        The name that the user gives.
    sides : tuple of str
        The columns of the ids.
    needed : bool
        Whether a table without answers is refused.
    known : AnswerWords, optional
        What words mean.

    Returns
    -------
    str or None
        By option, by name, or by what it holds; None if there is none, nor needed.
    """
    known = AnswerWords() if known is None else known
    if option is not None:
        if option in sides:
            raise OptionError(f"--answer {option!r} is a column of ids")
        name = column_named(table, option, "--answer")
        return _refuse_opposite(table, name, known)
    rest = [name for name in table.columns if name not in sides]
    found = [name for name in rest if plain_name(name) in ANSWER_NAMES]
    if not found:
        found = [name for name in rest if known.are_clear(table.columns[name])]
    if len(found) == 1:
        return found[0]
    if not needed and not found:
        return None
    if not rest:
        raise TableError(
            f"{table.name} has no column of answers besides {sides[0]!r} and "
            f"{sides[1]!r}; add one with same or different in each row"
        )
    raise TableError(
        f"{table.name}: the answers may be in {either(found or rest)}; say which with "
        f"--answer, such as --answer {(found or rest)[0]!r}"
    )


def _refuse_opposite(table: Table, name: str, known: AnswerWords) -> str:
    """Refuse yes and no to the question whether two points are different."""
    cells = [cell for cell in table.columns[name] if cell is not None]
    said = {id_of(cell).casefold() for cell in cells}
    clear = any(word in one for one in said for word in ("same", "diff", "link"))
    if plain_name(name) in _OPPOSITE and not (clear or known.are_clear(cells)):
        raise TableError(
            f"{table.name}: column {name!r} seems to ask whether two points are "
            "different, so yes would mean different there; write same or different in "
            "its cells, or say what they mean: --different yes --same no"
        )
    return name
