"""The prose of the report, from `words.toml`, with the numbers filled in."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["say"]


def say(*place: str, **values: Any) -> str:
    """Return a text.

    Parameters
    ----------
    *place : str
        Where it stands: the section, then the key.
    **values
        What to put in place of the names in braces.

    Returns
    -------
    str

    Examples
    --------
    >>> say("fig-sample-size", "not_in_paper", ours="PairNet")
    'PairNet is not in the paper.'
    """
    found: Any = _words()
    for key in place:
        found = found.get(key) or _words()[key]
    return " ".join(str(found).split()).format(**values)


@cache
def _words() -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "words.toml").read_text("utf-8"))
