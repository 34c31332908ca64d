"""`pairlearn datasets`: data to practise with."""

from __future__ import annotations

import shlex
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from pairlearn.cli.exits import end, reporting_errors

if TYPE_CHECKING:
    from pairlearn.cli.practice import Practice
    from pairlearn.datasets.catalogue import DataSet

__all__ = ["datasets"]


def datasets(
    name: Annotated[
        str | None,
        typer.Argument(help="The data set to write.", show_default="lists them all"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Folder to write the tables to.", show_default=False
        ),
    ] = None,
    pairs: Annotated[int, typer.Option(help="How many pairs to write.")] = 1000,
    points: Annotated[
        int | None,
        typer.Option(help="How many points to write.", show_default="all, up to 5000"),
    ] = None,
    wrong: Annotated[
        float, typer.Option(help="Share of the answers that are made wrong.")
    ] = 0.0,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed for the random choice of points and pairs.")
    ] = 0,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace files that are already there."),
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            file_okay=False,
            help="Folder with the data sets. Missing ones are downloaded.",
            show_default="$PAIRLEARN_DATA, then the cache",
        ),
    ] = None,
) -> None:
    """List data sets to practise with, or write one as two tables.

    `pairlearn datasets` lists them. `pairlearn datasets cancer -o practice` writes
    points.csv, pairs.csv with answers "same" or "different", and labels.csv with the
    true classes, to compare with at the end. The first few come with scikit-learn and
    need no download.
    """
    with reporting_errors() as written:
        if name is None:
            if out is not None:
                end("say which data set to write, such as `cancer`", 2)
            _list(data)
            return
        from pairlearn.cli.practice import find, make_practice
        from pairlearn.datasets import DataFileError, DataUnavailableError

        try:
            found = find(name)
            if out is None:
                end(
                    "say which folder to write to, such as "
                    f"`pairlearn datasets {found.name} -o practice`",
                    2,
                )
            _check_folder(out, overwrite)
            tables = make_practice(
                found, pairs, n_points=points, wrong=wrong, seed=seed, data_home=data
            )
        except (DataUnavailableError, DataFileError) as error:
            end(str(error), 1)
        except ValueError as error:
            end(str(error), 2)
        _write(tables, out)
        written.append(out)
        _tell(found, tables, out)


def _list(data: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    from pairlearn.cli.practice import DATA_SETS

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("points", justify="right")
    table.add_column("columns", justify="right")
    table.add_column("two classes")
    table.add_column("source", no_wrap=True)
    table.add_column("download", no_wrap=True)
    for row in DATA_SETS:
        table.add_row(
            row.name,
            f"{row.n_points:,}",
            f"{row.n_features}",
            " / ".join(row.classes),
            row.source,
            "none" if row.is_there(data) else f"{row.megabytes:g} MB",
        )
    Console().print(table)
    typer.echo(
        "To practise: pairlearn datasets cancer -o practice\n"
        "Other data sets are downloaded when you first use them."
    )


def _check_folder(out: Path, overwrite: bool) -> None:
    """Refuse a folder that cannot take the files, before anything is loaded."""
    from pairlearn.cli.practice import FILES

    if out.exists() and not out.is_dir():
        end(f"{out} is a file; --out needs a folder", 1)
    if not out.exists() and not out.parent.is_dir():
        end(f"there is no folder {out.parent} to make {out.name} in", 1)
    there = [file for file in FILES if (out / file).exists()]
    if there and not overwrite:
        end(
            f"{out} already holds {' and '.join(there)}; choose another folder, or "
            "replace them with --overwrite",
            1,
        )


def _write(tables: Practice, out: Path) -> None:
    from pairlearn.system.writing import write_files

    is_new = not out.exists()
    out.mkdir(exist_ok=True)
    try:
        write_files({out / name: text for name, text in tables.files().items()})
    except BaseException:  # an interruption, too
        if is_new:
            out.rmdir()
        raise


def _tell(found: DataSet, tables: Practice, out: Path) -> None:
    n_points, n_columns = tables.points.shape
    some = ""
    if n_points < found.n_points:
        some = f" at random out of {found.n_points:,} (--points takes more)"
    typer.echo(
        f"{out / 'points.csv'}: {n_points:,} points{some}, {n_columns - 1} columns"
    )
    typer.echo(f"{out / 'pairs.csv'}: {len(tables.pairs):,} answers, same or different")
    typer.echo(f"{out / 'labels.csv'}: the true classes, to compare with at the end")
    typer.echo(
        f"The larger class is {tables.majority!r}, {tables.share:.0%} of the points."
    )
    files = [str(out / name) for name in ("points.csv", "pairs.csv")]
    command = ["pairlearn", "fit", *files, "-o", str(out / "model.skops")]
    command += ["--classes", ",".join(found.classes), "--majority", tables.majority]
    command += ["--report", str(out / "page.html")]
    typer.echo(f"Next: {shlex.join(command)}")
