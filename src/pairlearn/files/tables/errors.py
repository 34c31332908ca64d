"""What can be wrong: with a table, or with the way a command was called."""

from __future__ import annotations

__all__ = ["OptionError", "TableError"]


class TableError(ValueError):
    """A problem in the data: the command ends with exit code 1."""


class OptionError(ValueError):
    """A wrong option: the command ends with exit code 2."""
