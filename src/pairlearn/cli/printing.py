"""Lines and tables on the terminal, and what is being done meanwhile.

It is kept apart from what the commands print about models, which takes long to import.
"""

from __future__ import annotations

from typing import Any, Self

from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

__all__ = ["Progress", "say", "show_error", "show_notes", "table"]


class Progress:
    """A line on standard error that says what is being done, on a terminal only."""

    def __init__(self, *, quiet: bool = False) -> None:
        console = Console(stderr=True)
        wanted = console.is_terminal and not quiet
        self._status = Status("starting", console=console) if wanted else None

    def __enter__(self) -> Self:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def step(self, doing: str) -> None:
        """Say what is being done now."""
        if self._status is not None:
            self._status.update(Text(_printable(doing)))

    def points(self, done: int) -> None:
        """Say how many points are done."""
        self.step(f"{done:,} points predicted")


def _printable(text: str) -> str:
    """Return text without characters that would steer the terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def say(text: str, *, error: bool = False, style: str = "") -> None:
    """Print a line."""
    # What users' tables hold is no markup, whatever brackets and colons are in it.
    console = Console(stderr=error, soft_wrap=True)
    console.print(Text(_printable(text), style=style))


def table(rows: list[tuple[str, str]], *titles: str) -> None:
    """Print rows of a name and what is told about it."""
    made = Table(box=None, pad_edge=False, show_header=bool(titles))
    made.add_column(titles[0] if titles else "", no_wrap=False)
    made.add_column(titles[1] if titles else "", overflow="fold")
    for left, right in rows:
        made.add_row(Text(_printable(left)), Text(_printable(right)))
    Console().print(made)


def show_notes(notes: list[str], *, error: bool = False) -> None:
    """Print what is to be told about the data, one line each."""
    for note in notes:
        say(f"  • {note}" if not error else f"note: {note}", error=error)


def show_error(message: Any) -> None:
    """Print what went wrong."""
    say(str(message), error=True)
