"""Which columns hold free text: several words in each cell, and hardly any cell twice.

Ids, codes, names, dates and names of files differ from row to row, too. So words are
counted, which have letters only and stand between blanks: "AB-12 CD", "photos/cat.png"
and "12.05.2024 10:30" hold next to none. Names of people and streets are a few words,
nearly all with a capital letter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["words_per_cell"]

# Cells that are looked at, and characters of each.
_CELLS, _CHARACTERS = 500, 2000
# Fewer words than this on the mean are names or codes; and fewer than the second, if
# nearly all begin with a capital letter, or numbers stand between them as in dates.
_FEW, _FEW_DOUBTFUL = 3.0, 6.0
_CAPITALS, _WORDS = 0.8, 0.55
# One long cell among many short ones does not make a column of texts.
_MOST = 20
# Letters, with hyphens and apostrophes inside; sentences put signs around words.
_WORD = re.compile(r"[^\w\s]*([^\W\d_]{2,}(?:['’\-][^\W\d_]+)*)[^\w\s]*")
# Languages that are written without blanks between words: two characters for a word.
_NO_BLANKS = re.compile(
    "[\u0e00-\u0e7f\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)


def words_per_cell(cells: Sequence[str]) -> float | None:
    """Return how many words a cell holds on the mean, or None if that is no text.

    Parameters
    ----------
    cells : sequence of str
        Cells that hold something.

    Returns
    -------
    float or None

    Examples
    --------
    >>> words_per_cell(["my order has not arrived", "please cancel my order"])
    4.5
    >>> words_per_cell(["Anna Maria Schmidt", "Jean-Luc de Blois", "Ana Silva Sousa"])
    >>> words_per_cell(["photos/cat on mat.png", "A-17 B", "2024-05-31 10:30"])
    """
    step = max(1, len(cells) // _CELLS)
    counts: list[float] = []
    capped: list[float] = []
    n_words, n_capitals, n_parts = 0.0, 0, 0
    for k in range(0, len(cells), step):
        cell = cells[k][:_CHARACTERS]
        parts = cell.split()
        n_parts += len(parts)
        found = [m[1] for m in map(_WORD.fullmatch, parts) if m is not None]
        unspaced = len(_NO_BLANKS.findall(cell)) / 2
        if unspaced > 1:
            found = [word for word in found if not _NO_BLANKS.search(word)]
        n_words += len(found) + unspaced
        n_capitals += sum(word[0].isupper() for word in found)
        counts.append(len(found) + unspaced)
        capped.append(min(_MOST, counts[-1]))
    if not counts:
        return None
    mean = sum(capped) / len(capped)
    doubtful = n_capitals > _CAPITALS * n_words or n_words < _WORDS * n_parts
    few = _FEW_DOUBTFUL if doubtful else _FEW
    return sum(counts) / len(counts) if mean >= few else None
