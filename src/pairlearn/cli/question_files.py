"""Files of questions: both points of each side by side, and keys of blind ones."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.files.tables.cells import looks_like_formula
from pairlearn.files.tables.purposes import PURPOSE, QUESTION, ROUND
from pairlearn.system.writing import write_files

if TYPE_CHECKING:
    from pathlib import Path

    from pairlearn.cli.questions import Round

__all__ = ["key_of", "write_questions"]


def key_of(out: Path) -> Path:
    """Return where the key of a file of questions is written.

    Examples
    --------
    >>> from pathlib import Path
    >>> key_of(Path("next.csv")).name
    'next.key.csv'
    """
    return out.with_name(f"{out.stem}.key{out.suffix}")


def write_questions(found: Round, out: Path, *, blind: bool = False) -> list[Path]:
    """Write the questions of a round, both points of each side by side.

    Parameters
    ----------
    found : Round
        The questions.
    out : Path
        Where to write them.
    blind : bool
        Whether what they are for is written to a key beside it.

    Returns
    -------
    list of Path
        What was written.
    """
    points, questions = found.points, found.questions
    ids = points.ids
    rows = np.array([(q.left, q.right) for q in questions], dtype=np.intp)
    digits = max(2, len(str(len(questions))))
    names = [f"q{found.number}-{k:0{digits}d}" for k in range(1, len(questions) + 1)]
    sides = [[ids[int(row)] for row in side] for side in rows.T]
    purposes = [[q.purpose for q in questions], [str(found.number)] * len(questions)]
    columns: dict[str, list[str]] = {QUESTION: names} if blind else {}
    columns |= {"left": sides[0], "right": sides[1]}
    for name, cells in points.features_to_show.items():
        for side, some in zip(("left", "right"), rows.T, strict=True):
            columns[f"{side}_{name}"] = [_text(cells[int(row)]) for row in some]
    content = [cell for name in list(columns)[2:] for cell in columns[name]]
    columns["answer"] = [""] * len(questions)
    if not blind:
        columns |= {PURPOSE: purposes[0], ROUND: purposes[1]}
    n_formulas = sum(map(looks_like_formula, content + sides[0] + sides[1]))
    if n_formulas:
        found.notes.append(
            f"{n_formulas} cell(s) begin with =, +, - or @. They are written as they "
            "are; a spreadsheet would run them as formulas, so import them as text"
        )
    # A table that was written where semicolons divide cells is read there, too.
    delimiter = "\t" if out.suffix.lower() == ".tsv" else ","
    if points.table.delimiter == ";" and delimiter == ",":
        delimiter = ";"
    files = {out: _csv(columns, delimiter)}
    if blind:
        key = {QUESTION: names, "left": sides[0], "right": sides[1]}
        key |= {PURPOSE: purposes[0], ROUND: purposes[1]}
        files[key_of(out)] = _csv(key, delimiter)
    write_files(files)
    return list(files)


def _text(cell: Any) -> str:
    return "" if cell is None or cell != cell else str(cell)


def _csv(columns: dict[str, list[str]], delimiter: str) -> bytes:
    file = io.StringIO(newline="")
    rows = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    rows.writerow(columns)
    rows.writerows(zip(*columns.values(), strict=True))
    return file.getvalue().encode()
