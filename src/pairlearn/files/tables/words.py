"""Words that people use in tables, from `words.toml`."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

__all__ = ["ANSWERS", "COLUMNS"]

_WORDS = tomllib.loads((files(__package__) / "words.toml").read_text("utf-8"))
# What people write for an answer, and what they call columns.
ANSWERS: dict[str, frozenset[str]] = {
    name: frozenset(words.split()) for name, words in _WORDS["answers"].items()
}
COLUMNS: dict[str, Any] = _WORDS["columns"]
