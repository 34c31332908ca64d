"""`pairlearn label` and the commands below it.

Without a word that names one of them it is the page: `pairlearn label points.csv`.

This file is read for every `--help`, so what takes long to import is imported inside.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from pairlearn.cli.exits import reporting_errors
from pairlearn.cli.label import label

__all__ = ["label_app"]

_PAGE = "page"


class _PageByDefault(TyperGroup):
    """Commands of which one need not be named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words behind `label`; unless the first names a command, the page."""
        if not args or args[0] not in self.commands:
            args = [_PAGE, *args]
        return super().parse_args(ctx, args)


class _PageContext(typer.Context):
    """What messages about the page call it: `pairlearn label`, without a third word."""

    @property
    def command_path(self) -> str:
        """The words that one types."""
        return self.parent.command_path if self.parent is not None else "label"


class _Page(TyperCommand):
    context_class = _PageContext


label_app = typer.Typer(
    cls=_PageByDefault,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
label_app.command(_PAGE, cls=_Page, hidden=True)(label)

_PLACE = (
    "a file (answers.sqlite), or the address of a database (postgresql+psycopg://...)"
)
Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help=f"What to read: {_PLACE}", show_default=False
    ),
]
Target = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help=f"Where to write, new or empty: {_PLACE}.",
        show_default=False,
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Your name, for the trail of who did what.",
        show_default=False,
    ),
]


@label_app.command("export")
def export(source: Source, target: Target, name: Name = None) -> None:
    """Copy all that is kept from a database, or a file, to a new file.

    Every event goes along with its number and its time, every setting, and the
    secret that links are made from, so that all links go on working where the
    copy is used. The copy is read again at the end and compared. All is copied
    or nothing; people may go on answering meanwhile, and the copy then holds
    what there was when it began.

    Example:

        pairlearn label export postgresql+psycopg://localhost/label copy.sqlite
    """
    _copy("export", source, target, name)


@label_app.command("import")
def import_(source: Source, target: Target, name: Name = None) -> None:
    """Copy all that is kept in a file to a new or empty database, or file.

    It is the way back of pairlearn label export, and does the same.

    Example:

        pairlearn label import copy.sqlite postgresql+psycopg://localhost/label
    """
    _copy("import", source, target, name)


def _copy(kind: str, source: str, target: str, name: str | None) -> None:
    with reporting_errors():
        from pairlearn.cli.label_copying import copy_answers

        copy_answers(kind, source, target, name)


@label_app.command("trail")
def trail(
    source: Source,
    csv: Annotated[
        bool, typer.Option("--csv", help="Print it as a table, the oldest line first.")
    ] = False,
    who: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Only what this person did, or what was done about them.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Tell who did what and when, the newest first: invitations, downloads and so on.

    Answers are not among it: pairs.csv, or the history on the page, shows these.

    Example:

        pairlearn label trail points.answers.sqlite
    """
    with reporting_errors():
        from pairlearn.cli.label_copying import print_trail

        print_trail(source, who, as_csv=csv)
