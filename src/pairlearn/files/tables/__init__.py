"""Tables on disk, read alike from CSV, TSV, Parquet, Feather and Arrow files.

`read_answers` reads a table of points and a table of answers as ``pairlearn fit`` does,
`read_points` a table of points alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["AnsweredPairs", "OptionError", "Points", "TableError"]
__all__ += ["read_answers", "read_points"]

# Loaded at first use: the help of the command line should not wait for it.
_HOME = {
    "AnsweredPairs": "answered_pairs",
    "OptionError": "errors",
    "Points": "points",
    "TableError": "errors",
    "read_answers": "answered_pairs",
    "read_points": "points",
}

if TYPE_CHECKING:
    from pairlearn.files.tables.answered_pairs import AnsweredPairs, read_answers
    from pairlearn.files.tables.errors import OptionError, TableError
    from pairlearn.files.tables.points import Points, read_points


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
