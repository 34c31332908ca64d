"""`pairlearn label export`, `import` and `trail`: copies, and who did what."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from pairlearn.cli.label import proper_option
from pairlearn.cli.printing import Progress, say
from pairlearn.data.databases import called, is_address
from pairlearn.data.stored_answers import damaged
from pairlearn.files.tables.errors import OptionError, TableError
from pairlearn.label.copying import copy_all
from pairlearn.label.pairs_file import as_text
from pairlearn.label.store import read_events
from pairlearn.label.trail import Trail

__all__ = ["copy_answers", "print_trail"]


def copy_answers(kind: str, source: str, target: str, name: str | None) -> None:
    """Copy all that is kept.

    Parameters
    ----------
    kind : {"export", "import"}
        What it is called.
    source, target : str
        From where and to where: files, or addresses of databases.
    name : str or None
        Who does it.
    """
    if kind == "export" and is_address(target):
        raise OptionError(
            "export writes a file; to copy into a database use: pairlearn label import"
        )
    if kind == "import" and is_address(source):
        raise OptionError(
            "import reads a file; to copy out of a database use: pairlearn label export"
        )
    who = proper_option(name, "--name")
    with Progress() as progress:
        progress.step("copying")
        copied = copy_all(kind, source, target, who)
    say(
        f"{copied.n_events:,} events and {copied.n_facts} settings were copied to "
        f"{called(target)}, and read again: they are the same."
    )
    say(f"Checksum (SHA-256): {copied.checksum}")
    if not copied.noted:
        say(
            f"note: {called(source)} is in use or may not be written, so that its "
            "own trail does not tell of this copy; that of the copy does.",
            error=True,
        )


def print_trail(source: str, who: str | None, *, as_csv: bool) -> None:
    """Print who did what.

    Parameters
    ----------
    source : str
        The file, or the address of a database.
    who : str or None
        Only what this person did, or what was done about them.
    as_csv : bool
        As a table, the oldest first; otherwise in sentences, the newest first.
    """
    trail = Trail()
    if not is_address(source) and not Path(source).is_file():
        raise TableError(f"there is no file {source}")
    for event in read_events(source):
        try:
            trail.apply(event)
        except (KeyError, TypeError, ValueError) as problem:
            raise damaged(source, problem) from None
    lines, _ = trail.page(None, len(trail.lines) + 1, who)
    if as_csv:
        rows = csv.writer(sys.stdout, lineterminator="\n")
        rows.writerow(("number", "time", "who", "kind", "about", "what"))
        for line in reversed(lines):
            words = (line.who or "", line.kind, line.about or "", line.text)
            rows.writerow((line.number, line.at, *map(as_text, words)))
        return
    for line in lines:
        say(f"{line.at[:10]} {line.at[11:16]}  {line.text}")
    if not lines:
        say("Nothing is in the trail yet.")
