"""The command `label`.

This file is read for every `--help`, so what takes long to import is imported inside.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

from pairlearn.cli import options
from pairlearn.cli.exits import reporting_errors
from pairlearn.files.tables.delimiters import delimiter_named
from pairlearn.files.tables.errors import OptionError, TableError

__all__ = ["label", "proper_option"]


def _of_server(what: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=what, rich_help_panel="The server", **more)


def label(
    points: options.PointsFile,
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.sqlite",
            help="Where answers are kept. If it is there, it is continued.",
            show_default="beside POINTS, as POINTS.answers.sqlite",
            dir_okay=False,
        ),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A PostgreSQL database for the answers instead of a file, such as "
            "postgresql+psycopg://user@host/name. Several of these commands may share "
            "it. A password may stand in PGPASSWORD, or in ~/.pgpass.",
            envvar="PAIRLEARN_DATABASE",
            show_envvar=False,
            show_default="a file",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Your name, under which your answers are kept.",
            show_default="the page asks for it",
        ),
    ] = None,
    invite: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Print a link for somebody else, too. May be given several times.",
            show_default=False,
        ),
    ] = None,
    audits: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=0.9,
            metavar="SHARE",
            help="Share of questions that are audits: random pairs that nothing is "
            "learned from, so that they can tell the error of the model.",
            show_default="0.2",
        ),
    ] = None,
    kinds: Annotated[
        str | None,
        typer.Option(
            metavar="K|auto",
            help="How many kinds of points there are: a number, or auto.",
            show_default="2",
        ),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="How often answers are wrong, as for fit.",
            show_default="auto",
        ),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How questions are chosen: mixed, random, explore, uncertain or "
            "informative.",
            show_default="mixed",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**32 - 1,
            help="Seed for random choices; same seed, same result.",
            show_default="0",
        ),
    ] = None,
    port: Annotated[
        int,
        _of_server(
            "The port to listen at; 0 takes that of last time, or any that is free.",
            min=0,
            max=65535,
        ),
    ] = 0,
    host: Annotated[
        str,
        _of_server(
            "The address to listen at. With another one than 127.0.0.1 other machines "
            "can reach the page, and the traffic is not encrypted.",
            metavar="ADDRESS",
        ),
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        _of_server(
            "A name under which browsers reach the page, such as label.example.org. "
            "May be given several times.",
            metavar="NAME",
            show_default=False,
        ),
    ] = None,
    behind_proxy: Annotated[
        bool,
        _of_server(
            "A proxy stands before the server, and tells by X-Forwarded-Proto whether "
            "the browser's connection is encrypted.",
            "--behind-proxy",
        ),
    ] = False,
    new_links: Annotated[
        bool,
        _of_server(
            "Make all links from before invalid, also yours, and print new ones.",
            "--new-links",
        ),
    ] = False,
    no_browser: Annotated[
        bool, _of_server("Do not open the page in a browser.", "--no-browser")
    ] = False,
    id: options.Id = None,  # noqa: A002 - the user's word for it
    first_row: options.FirstRow = None,
    delimiter: options.Delimiter = None,
    embed: options.Embed = None,
) -> None:
    """Answer questions on a page in the browser, one key per answer.

    It shows two points side by side: are they of the same kind, or different?
    Questions are chosen so that few answers teach much; meanwhile the model
    learns, and tells how good it is. Everything is kept in one file, answer by
    answer, or in a database that a team shares (--database). Stop with Ctrl+C,
    and go on later with the same command.

    Nothing leaves this machine. Others can take part if you invite them by
    name and listen at an address that they can reach (--host).

    Example:

        pairlearn label points.csv

        pairlearn fit points.csv points.answers.sqlite -o model.skops

    Further commands, each with a help text: pairlearn label trail tells who
    did what; pairlearn label export and pairlearn label import copy all that
    is kept from one place to another. (A table of points of such a name is
    given as ./export.)
    """
    with reporting_errors():
        _need_extra()
        given: dict[str, Any] = {"id": id, "first_row": first_row, "seed": seed}
        given |= {"audits": audits, "strategy": strategy, "embed": embed}
        given["delimiter"] = delimiter_named(delimiter)
        if kinds is not None:
            given["kinds"] = options.kinds(kinds)
        given = {option: value for option, value in given.items() if value is not None}
        if noise is not None:
            given["noise"] = _rates(options.noise_rates(noise))
        where = _where(points, answers, database)
        from pairlearn.cli.labelling import Wanted, label_points

        invited = [proper_option(each, "--invite") for each in invite or ()]
        label_points(
            Wanted(
                points=points,
                answers=where,
                given=given,
                name=proper_option(name, "--name"),
                invite=tuple(each for each in invited if each is not None),
                host=host,
                port=port,
                allow_host=tuple(allow_host or ()),
                behind_proxy=behind_proxy,
                browser=not no_browser,
                new_links=new_links,
            )
        )


def _where(points: Path, answers: Path | None, database: str | None) -> Path | str:
    """Return where answers are kept."""
    if database is not None and answers is not None:
        raise OptionError(
            "--answers and --database exclude each other: answers are kept in a file, "
            "or in a database"
        )
    if database is not None:
        from pairlearn.data.databases import is_address, make_engine

        if not is_address(database):
            raise OptionError(
                "--database is an address such as postgresql+psycopg://user@host/name; "
                "a file is named with --answers"
            )
        make_engine(database).dispose()  # refuses what is no address, or not installed
        return database
    if answers is None:
        points = points.resolve() if points.is_dir() else points
        answers = points.with_name(f"{points.stem}.answers.sqlite")
    if answers.suffix.lower() != ".sqlite":
        raise OptionError(f"--answers {answers} must end in .sqlite")
    if not answers.parent.is_dir():
        raise TableError(f"there is no folder {answers.parent} for {answers.name}")
    return answers


def _need_extra() -> None:
    needed = ("starlette", "uvicorn", "sqlalchemy", "alembic")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise TableError(
            f"the page needs {' and '.join(missing)}, which is not installed: "
            "pip install 'pairlearn[label]'"
        )


def proper_option(said: str | None, option: str) -> str | None:
    """Return a name as it is kept; refuse what is none."""
    if said is None:
        return None
    from pairlearn.label.web.tickets import LONGEST_NAME, proper_name

    name = proper_name(said)
    if name is None:
        raise OptionError(
            f"{option} {said!a} must be a name of 1 to {LONGEST_NAME} characters"
        )
    return name


def _rates(noise: Any) -> Any:
    """Return how often answers are wrong, for learning; of ranges the middle."""
    if noise in ("auto", None):
        return noise
    if isinstance(noise, float):
        return noise
    if isinstance(noise, tuple):
        middles = [sum(rate) / 2 if isinstance(rate, tuple) else rate for rate in noise]
        return [float(rate) for rate in middles]
    return float(noise.rate)
