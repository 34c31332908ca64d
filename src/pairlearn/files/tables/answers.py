"""Words to answers: what people write when they mean same, different, or unsure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.files.tables.answer_words import AnswerWords
from pairlearn.files.tables.cells import id_of, shown
from pairlearn.files.tables.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.data.types import Bools, Floats, Ints

__all__ = ["ParsedAnswers", "parse_answers"]

_ACCEPTED = (
    "same/different, yes/no, true/false, must-link/cannot-link, match/no match, "
    "1/-1 or 1/0, or such words in other languages (ja/nein, oui/non, "
    "gleich/verschieden ...); rows with unsure, unknown, skip, ? or an empty cell are "
    "left out"
)


@dataclass(frozen=True)
class ParsedAnswers:
    """Answers as numbers.

    Attributes
    ----------
    t : ndarray of float
        The answers; NaN where it is unsure.
    sure : ndarray of bool
        Where there is an answer.
    asked : ndarray of bool
        Which questions were put to somebody.
    notes : list of str
        What to tell.
    """

    t: Floats
    sure: Bools
    asked: Bools
    notes: list[str]


def parse_answers(
    words: list[Any],
    *,
    soft: bool = False,
    place: Callable[[int], str] = "row {}".format,
    parts: Ints | None = None,
    known: AnswerWords | None = None,
    waiting: Bools | None = None,
) -> ParsedAnswers:
    """Turn answers as people write them into numbers.

    Numbers: 1 is the same and -1 is different. 0 is different where the number 1 occurs
    and -1 does not; beside -1 it is unsure; beside words alone it is refused. With
    `soft`, numbers from -1 (surely different) to 1 (surely the same).

    Parameters
    ----------
    words : list
        The answers: text, numbers or bools.
    soft : bool, default=False
        Whether numbers between -1 and 1 are answers.
    place : callable
        Says where an answer stands, given its number.
    parts : ndarray of int, optional
        The number of the batch that each is in; in each, what has no answer at the end
        has not been asked yet. None: all are one batch.
    known : AnswerWords, optional
        What words mean. None: those that everybody knows.
    waiting : ndarray of bool, optional
        Which wait for an answer, so that nobody has called them unsure.

    Returns
    -------
    ParsedAnswers

    Raises
    ------
    TableError
        If a word is not understood, with its place and the words that are.

    Examples
    --------
    >>> parse_answers(["Same", "must-link", "no", "?", "-1"]).t
    array([ 1.,  1., -1., nan, -1.])
    >>> parse_answers([1, 0, 0]).t
    array([ 1., -1., -1.])
    """
    known = AnswerWords() if known is None else known
    t = np.full(len(words), np.nan)
    zeros = []
    # Numbers that occur as such: the word "no" says nothing about what 0 means.
    figures: set[float] = set()
    value_of: dict[Any, float] = {}
    for row, cell in enumerate(words):
        key = (type(cell), cell)
        if key not in value_of:
            value_of[key], is_number = _value(cell, known, place, row)
            if is_number:
                figures.add(value_of[key])
        t[row] = value_of[key]
        if t[row] == 0:
            zeros.append(row)
    notes = known.check(id_of(cell) for _, cell in value_of)
    numbers = t[~np.isnan(t)]
    if soft:
        outside = np.flatnonzero(np.abs(t) > 1)
        if len(outside):
            raise TableError(
                f"{place(int(outside[0]))}: the answer {shown(words[outside[0]])} is "
                "not between -1 (surely different) and 1 (surely the same)"
            )
        if len(numbers) and numbers.min() >= 0 and np.any(numbers % 1):
            notes.append(
                "no answer is below 0; are they probabilities? With --soft, -1 means "
                "surely different and 0 means that nothing is known. Turn a "
                "probability p into the answer 2 p - 1"
            )
    else:
        odd = np.flatnonzero(~np.isnan(t) & ~np.isin(t, (-1, 0, 1)))
        if len(odd):
            raise TableError(
                f"{place(int(odd[0]))}: the answer {shown(words[odd[0]])} is a number "
                "other than 1, -1 or 0. If answers are numbers from -1 (surely "
                "different) to 1 (surely the same), add --soft"
            )
        t = _settle_zeros(t, zeros, figures, place, notes)
    sure = ~np.isnan(t)
    asked = _asked(words, np.zeros(len(words), np.intp) if parts is None else parts)
    if not asked.all():
        notes.append(f"{int(np.sum(~asked))} row(s) at the end have no answer yet")
    told = asked & ~sure if waiting is None else asked & ~sure & ~waiting
    unsure = Counter(shown(id_of(words[row])) for row in np.flatnonzero(told))
    if unsure:
        which = ", ".join(
            f"{count} × {'an empty cell' if word == repr('') else word}"
            for word, count in unsure.most_common(3)
        )
        notes.append(f"{sum(unsure.values())} unsure answer(s) ({which})")
    return ParsedAnswers(t, sure, asked, notes)


def _asked(words: list[Any], parts: Ints) -> Bools:
    """Tell which questions were put to somebody: all up to the last with an answer.

    An empty cell among answers is a question that somebody could not, or did not want
    to answer, and such questions are hard; at the end nobody has got to them yet.
    """
    last: dict[int, int] = {}
    for row, (word, part) in enumerate(zip(words, parts.tolist(), strict=True)):
        if id_of(word):
            last[part] = row
    rows = enumerate(parts.tolist())
    return np.array([row <= last.get(part, -1) for row, part in rows], dtype=bool)


def _settle_zeros(
    t: Floats,
    zeros: list[int],
    figures: set[float],
    place: Callable[[int], str],
    notes: list[str],
) -> Floats:
    if not zeros:
        return t
    t = t.copy()
    if -1 in figures:
        t[zeros] = np.nan
        notes.append("0 is read as unsure, because -1 (different) occurs too")
    elif 1 in figures:
        t[zeros] = -1
        notes.append("0 is read as different, and 1 as the same")
    else:
        raise TableError(
            f"{place(zeros[0])}: the answer 0 occurs without the numbers 1 or -1, so "
            "it may mean different or unsure; write the answers as words: "
            f"{_ACCEPTED}"
        )
    return t


def _value(
    cell: Any, known: AnswerWords, place: Callable[[int], str], row: int
) -> tuple[float, bool]:
    """Return 1 for same, -1 for different, NaN for unsure, a number as it is.

    Also whether it is written as a number.
    """
    text = id_of(cell)
    if isinstance(cell, bool) and not known.settles(text):
        return (1.0 if cell else -1.0), False
    value = known.value(text)
    if value is not None:
        return value, False
    try:
        number = float(text.replace("−", "-").replace(",", "."))
    except ValueError:
        number = np.inf
    if not np.isfinite(number) or "_" in text:
        raise TableError(
            f"{place(row)}: the answer {shown(text)} is not understood. If it means "
            f"same, add --same {shown(text)}; if different, --different {shown(text)}; "
            f"if unsure, --unsure {shown(text)}. Answers are {_ACCEPTED}"
        )
    return number, True
