"""What words mean as answers: those that are known, and those that a user explains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.files.tables.cells import id_of, shown
from pairlearn.files.tables.errors import OptionError, TableError
from pairlearn.files.tables.words import ANSWERS, CLEAR, plain_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["AnswerWords"]

_VALUES = {"same": 1.0, "different": -1.0, "unsure": np.nan}
_OPPOSITE = {"same": "different", "different": "same"}


class AnswerWords:
    """Words to answers: those of `words.toml`, and before them those that a user gives.

    Parameters
    ----------
    same, different, unsure : sequence of str
        Words of the user's own, such as "ja" and "nein".

    Raises
    ------
    OptionError
        If one word is given for two answers, or is none.

    Examples
    --------
    >>> words = AnswerWords(same=["passt"], different=["passt nicht"])
    >>> words.value("Passt"), words.value("passt  nicht"), words.value("ja")
    (1.0, -1.0, 1.0)
    >>> words.value("vielleicht"), words.value("purple") is None
    (nan, True)
    """

    def __init__(
        self,
        same: Sequence[str] = (),
        different: Sequence[str] = (),
        unsure: Sequence[str] = (),
    ) -> None:
        self._given: dict[str, str] = {}
        self._words: dict[str, str] = {}
        given = {"same": same, "different": different, "unsure": unsure}
        for meaning, words in given.items():
            for word in words:
                plain = plain_word(word)
                if not plain:
                    raise OptionError(f"--{meaning} {word!r} is not a word")
                before = self._given.setdefault(plain, meaning)
                if before != meaning:
                    raise OptionError(
                        f"{word!r} is given with --{before} and with --{meaning}; it "
                        "can mean one of them"
                    )
                self._words[plain] = word

    @property
    def given(self) -> bool:
        """Whether the user has said what words mean."""
        return bool(self._given)

    def value(self, text: str) -> float | None:
        """Return 1 for same, -1 for different, NaN for unsure, None if unknown.

        Parameters
        ----------
        text : str
            What stands in a cell.
        """
        word = plain_word(text)
        if word in self._given:
            return _VALUES[self._given[word]]
        if not word.strip("?"):
            return np.nan
        meaning = _known(word)
        return None if meaning is None else _VALUES[meaning]

    def settles(self, text: str) -> bool:
        """Tell whether the user has said what a word means, be it a number."""
        return plain_word(text) in self._given

    def are_clear(self, cells: Iterable[Any]) -> bool:
        """Tell whether cells are answers whatever their column is called.

        So if all are words that are known, and one at least means the same whatever
        was asked: yes would mean different if somebody asked whether two points differ.

        Parameters
        ----------
        cells : iterable
            The cells of a column.
        """
        words = {plain_word(id_of(cell)) for cell in cells}
        known = all(self.value(word) is not None for word in words)
        clear = {word for word in words if word in self._given or _is_clear(word)}
        return known and bool(clear)

    def check(self, texts: Iterable[str]) -> list[str]:
        """Refuse words that contradict what the user says; return what to tell.

        Parameters
        ----------
        texts : iterable of str
            All answers.

        Returns
        -------
        list of str
            Words that the user gives, but that do not occur.
        """
        if not self._given:
            return []
        said: dict[str, str] = {}
        for text in texts:
            said.setdefault(plain_word(text), text)
        turned = [
            word
            for word, meaning in self._given.items()
            if meaning in _OPPOSITE and _known(word) == _OPPOSITE[meaning]
        ]
        for word, text in said.items():
            meaning = _known(word)
            if turned and word not in self._given and meaning in _OPPOSITE:
                option = f"--{self._given[turned[0]]} {self._words[turned[0]]!r}"
                raise TableError(
                    f"{option} turns round what this word means otherwise, and the "
                    f"answer {shown(text)} occurs, too, which usually means {meaning}. "
                    f"Say what it means here: --{_OPPOSITE[meaning]} {shown(text)} or "
                    f"--{meaning} {shown(text)}"
                )
        return [
            f"--{meaning} {self._words[word]!r}: no answer says so"
            for word, meaning in self._given.items()
            if word not in said
        ]


def _known(word: str) -> str | None:
    return next((name for name, words in ANSWERS.items() if word in words), None)


def _is_clear(word: str) -> bool:
    """Tell whether a word is clear; one letter may stand for anything."""
    return word in CLEAR and not (len(word) == 1 and word.isascii())
