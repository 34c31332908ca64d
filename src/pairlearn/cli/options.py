"""Options that several commands share, and what is made of their words.

This file is read for every `--help`, so nothing that takes long is imported here.
"""

from __future__ import annotations

import inspect
import os
import re
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairlearn.data.databases import is_address
from pairlearn.files.tables.errors import OptionError
from pairlearn.files.tables.sheets import split_sheet

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Delimiter",
    "Embed",
    "FirstRow",
    "Id",
    "ModelFile",
    "PairsFiles",
    "PointsFile",
    "Quiet",
    "Seed",
]
__all__ += ["class_names", "kinds", "noise_rates", "reads_tables", "table_file"]

MOST_KINDS = 60


def table_file(metavar: str, what: str, *, folder: bool = False) -> Any:
    """Return the argument for a file that is read, or for a folder of images."""

    def check(given: Any) -> Any:
        for path in given if isinstance(given, list | tuple) else [given]:
            if path is not None:
                _check_there(path, folder=folder)
        return given

    return typer.Argument(
        metavar=metavar, help=what, show_default=False, callback=check
    )


def _check_there(path: Path, *, folder: bool) -> None:
    """Refuse a path at which no table is; a sheet of a workbook may be named."""
    file, _ = split_sheet(path)
    if not file.exists():
        raise typer.BadParameter(f"File {str(path)!r} does not exist.")
    if file.is_dir() and not folder:
        raise typer.BadParameter(f"File {str(path)!r} is a directory.")
    if not os.access(file, os.R_OK):
        raise typer.BadParameter(f"File {str(path)!r} is not readable.")


def _of_tables(what: str, *names: str, **more: Any) -> Any:
    """Return an option on how the tables are to be read."""
    panel = "How to read the tables"
    return typer.Option(*names, help=what, rich_help_panel=panel, **more)


def _column(what: str) -> Any:
    """Return the option that names a column."""
    return _of_tables(
        what, metavar="COLUMN", show_default="found by its name, or by what it holds"
    )


def _word(what: str, example: str) -> Any:
    """Return the option that says what a word means."""
    return _of_tables(
        f"A word that means {what} in the answers, such as {example}. May be given "
        "several times.",
        metavar="WORD",
        show_default="many words, in many languages",
    )


PointsFile = Annotated[
    Path,
    table_file(
        "POINTS",
        "Table of points: a CSV, TSV, Excel, Parquet, Arrow, .npy or .npz file, or a "
        "folder of images.",
        folder=True,
    ),
]


def _answers(said: str) -> Path:
    """Return a file that is there, or an address: no path, but it holds all of it."""
    if is_address(said):
        # A path would lose the third slash, and the database be taken for a host.
        return Path(said.replace(":///", "://@/", 1))
    path = Path(said)
    _check_there(path, folder=False)
    return path


PairsFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="PAIRS",
        help="Table of pairs and answers about them; several may follow.",
        show_default=False,
        parser=_answers,
    ),
]
ModelFile = Annotated[Path, table_file("MODEL", "A model that `fit` wrote.")]
Id = Annotated[str | None, _column("Column of the points that holds their ids.")]
FirstRow = Annotated[
    int | None,
    _of_tables(
        "Points have no ids; the pairs hold row numbers, counted from 0 or 1.",
        min=0,
        max=1,
        show_default=False,
    ),
]
Delimiter = Annotated[
    str | None,
    _of_tables(
        "What divides the cells of text files: one sign, or comma, semicolon, tab, "
        "bar or colon.",
        metavar="SIGN",
        show_default="found by the header and the rows",
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print only warnings, on standard error.")
]
Embed = Annotated[
    str | None,
    _of_tables(
        "What makes numbers of texts or images: timm:NAME, sentence-transformers:NAME, "
        "or module:function, a function of your own. It is stored with the model.",
        metavar="NAME",
        show_default="our own descriptors of images",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0, max=2**32 - 1, help="Seed for random choices; same seed, same result."
    ),
]


def _reading(
    id: Id = None,  # noqa: A002 - the user's word for it
    left: Annotated[
        str | None,
        _column("Column of the table of pairs with the id of the first point."),
    ] = None,
    right: Annotated[
        str | None,
        _column("Column of the table of pairs with the id of the second point."),
    ] = None,
    answer: Annotated[
        str | None, _column("Column of the pairs with the answers.")
    ] = None,
    first_row: FirstRow = None,
    soft: Annotated[
        bool,
        _of_tables(
            "Answers are numbers from -1 (surely different) to 1 (surely the same).",
            "--soft",
        ),
    ] = False,
    skip_unknown: Annotated[
        bool,
        _of_tables(
            "Leave out pairs that name a point which is not in the table of points.",
            "--skip-unknown",
        ),
    ] = False,
    group: Annotated[
        str | None,
        _of_tables(
            "Column of the points that says of whom or what each is a row, if there "
            "are several rows of one patient, customer or device. The model is then "
            "tested on others than it learned from.",
            metavar="COLUMN",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        list[Path] | None,
        _of_tables(
            "Key of questions that `ask --blind` wrote: which of them are audits. May "
            "be given several times.",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            readable=True,
            show_default=False,
        ),
    ] = None,
    delimiter: Delimiter = None,
    same: Annotated[list[str] | None, _word("same", "ja")] = None,
    different: Annotated[list[str] | None, _word("different", "nein")] = None,
    unsure: Annotated[list[str] | None, _word("unsure", "egal")] = None,
    embed: Embed = None,
) -> dict[str, Any]:
    """Return how tables are to be read, as arguments of `read_answers`."""
    reading = dict(locals())
    several = {"key": key, "same": same, "different": different, "unsure": unsure}
    return reading | {name: given or [] for name, given in several.items()}


def reads_tables(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `_reading`, which it gets as one argument."""
    options = inspect.signature(_reading, eval_str=True).parameters
    own = inspect.signature(command, eval_str=True)

    @wraps(command)
    def run(**given: Any) -> None:
        reading = _reading(**{name: given.pop(name) for name in options})
        command(**given, reading=reading)

    kept = [each for name, each in own.parameters.items() if name != "reading"]
    run.__signature__ = own.replace(parameters=[*kept, *options.values()])  # type: ignore[attr-defined]
    return run


def kinds(said: str) -> int | str:
    """Return how many kinds there are, or "auto"."""
    word = said.strip().casefold()
    if word == "auto":
        return word
    if not word.isdecimal() or not 2 <= int(word) <= MOST_KINDS:
        raise OptionError(
            f"--kinds {said!r} must be auto, or a whole number from 2 to {MOST_KINDS}"
        )
    return int(word)


def class_names(
    listed: str | None, majority: str | None, n_kinds: int | str = "auto"
) -> tuple[tuple[str, ...] | None, str | None]:
    """Return the names of the classes, or None, and which of two is the larger.

    Names say how many classes there are, and so does the larger of two.
    """
    if majority is not None and n_kinds not in ("auto", 2):
        raise OptionError(
            f"--majority names one of two classes, but --kinds is {n_kinds}; use "
            "--labels to name them"
        )
    if listed is None:
        if majority is None:
            return None, None
        name = majority.strip()
        if not name:
            raise OptionError("--majority must name a class")
        return (f"not {name}", name), name
    names = [name.strip() for name in listed.split(",")]
    wanted = 2 if majority is not None else n_kinds
    fits = len(names) >= 2 if wanted == "auto" else len(names) == wanted
    if not fits or not all(names) or len(set(names)) < len(names):
        how_many = {"auto": "two or more", 2: "two"}.get(wanted, str(wanted))
        raise OptionError(
            f"--classes {listed!r} must be {how_many} different names with a comma "
            "between them, such as --classes ill,healthy"
        )
    if majority is not None and majority.strip() not in names:
        raise OptionError(
            f"--majority {majority!r} must be one of the classes, {' or '.join(names)}"
        )
    return tuple(names), None if majority is None else majority.strip()


def number_of_kinds(said: str | None) -> int | str | None:
    """Return how many kinds there are at most: a number, "any", or None."""
    if said is None or said.strip().casefold() == "any":
        return said and "any"
    if not said.strip().isdecimal() or int(said) < 2:
        raise OptionError(f"--kinds {said!r} must be any, or a number from 2 on")
    return int(said)


def noise_rates(said: str) -> Any:
    """Return how often answers are wrong: "auto", None, rates, or ranges of them."""
    word = said.strip().casefold()
    if word in ("auto", "none"):
        return None if word == "none" else "auto"
    try:
        parts = [
            [float(end) for end in re.split(r"(?<=[\d.])[-\u2013]", part.strip())]
            for part in word.split(",")
        ]
    except ValueError:
        parts = []
    ends = [(min(part), max(part)) for part in parts if len(part) in (1, 2)]
    if len(ends) == len(parts) == 1 and 0 <= ends[0][0] <= ends[0][1] < 0.5:
        low, high = ends[0]
        if low < high:
            from pairlearn.trust.noise import FlipRateEstimate

            return FlipRateEstimate((low + high) / 2, (low, high))
        return low or None
    if len(ends) == len(parts) == 2:
        same, different = ends
        exact = same[0] == same[1] and different[0] == different[1]
        if different[0] >= 0 and different[1] < same[0] and same[1] <= 1:
            return (same[0], different[0]) if exact else (same, different)
    raise OptionError(
        f"--noise {said!r} must be auto, none, a rate below 0.5, a range such as "
        "0.05-0.15, or two rates such as 0.9,0.2: how often people say 'same' about "
        "pairs that are the same, and about pairs that are different"
    )
