"""The answers as a table of pairs: ``python -m pairlearn.label.pairs_file``.

Where the answers are is read from its input: a file, or an address. It is a program of
its own, as the server must not open its file of answers another time: closing it would
take the locks of SQLite away from the whole process.
"""

from __future__ import annotations

import csv
import io
import sys
from typing import TYPE_CHECKING

from pairlearn.data.stored_answers import StoreError, read_stored_answers
from pairlearn.files.tables.cells import looks_like_formula

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["as_text", "pairs_csv"]

_COLUMNS = ["left", "right", "answer", "annotator", "time", "comment", "purpose"]
_COLUMNS += ["round", "why"]


def pairs_csv(answers: str | Path) -> bytes:
    """Return the answers as CSV, which the other commands read.

    Parameters
    ----------
    answers : str or Path
        The file in which `pairlearn label` keeps answers, or the address of a database.

    Returns
    -------
    bytes
        One row per answer. What people have typed is marked as text where a spreadsheet
        would run it as a formula. Ids are written as they are.
    """
    found = read_stored_answers(answers)
    file = io.StringIO(newline="")
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for row in found.rows:
        typed = (row.annotator, row.time, row.comment)
        rows.writerow(
            (
                row.left,
                row.right,
                row.answer,
                *map(as_text, typed),
                row.purpose,
                found.n_looks,
                row.why or "",
            )
        )
    return file.getvalue().encode()


def as_text(typed: str | None) -> str:
    """Return what somebody typed so that no spreadsheet computes it.

    Examples
    --------
    >>> as_text("=1+1"), as_text("fine"), as_text(None)
    ("'=1+1", 'fine', '')
    """
    if not typed:
        return ""
    # Before Python 3.13 a return alone is not put into quotes, and would end the row.
    typed = typed.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{typed}" if looks_like_formula(typed.lstrip()) else typed


if __name__ == "__main__":
    try:
        sys.stdout.buffer.write(pairs_csv(sys.stdin.read()))
    except (OSError, StoreError) as problem:
        sys.exit(str(problem))
