"""Words that people use in tables, from `words.toml`."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from importlib.resources import files
from typing import Any

__all__ = ["ANSWERS", "CLEAR", "COLUMNS", "plain_word"]


def plain_word(text: str) -> str:
    """Return a word without case, blanks, hyphens and apostrophes.

    Examples
    --------
    >>> plain_word("Must-Link"), plain_word(" Weiß nicht ")
    ('mustlink', 'weissnicht')
    """
    whole = unicodedata.normalize("NFKC", text)
    return re.sub(r"[\s_\-–'’/.]+", "", whole).casefold()


_WORDS = tomllib.loads((files(__package__) / "words.toml").read_text("utf-8"))
_ALL = (_WORDS["answers"], *_WORDS["languages"].values())


def _known(*names: str) -> frozenset[str]:
    """Return the words for these, in all languages."""
    return frozenset(
        plain_word(word)
        for words in _ALL
        for name in names
        for word in words[name].split()
    )


# What people write for an answer, and what they call columns.
ANSWERS: dict[str, frozenset[str]] = {
    "same": _known("same", "yes"),
    "different": _known("different", "no"),
    "unsure": _known("unsure"),
}
# Of these, those that mean the same whatever the question is.
CLEAR = _known("same", "different")
COLUMNS: dict[str, Any] = _WORDS["columns"]
