"""The commands, one function each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pairlearn

__all__ = ["app"]

app = typer.Typer(
    help="Learn a classifier of points from answers about pairs: same, or different?",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pairlearn {pairlearn.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """Learn a classifier of points from answers about pairs: same, or different?"""  # noqa: D400 - a question


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where to write the figure (PNG, SVG).")
    ] = Path("pairlearn-demo.png"),
    seed: Annotated[int, typer.Option(help="Which pairs are drawn.")] = 0,
) -> None:
    """Train, orient and certify a classifier from pairs, without a class label.

    Uses the breast cancer data that ships inside scikit-learn. The labels serve to
    answer "same or different?" for random pairs, and at the end to check the result.
    """
    from pairlearn.cli.demo import FORMATS, draw, run, show

    if out.suffix not in FORMATS:
        typer.echo(f"{out} must end in one of {', '.join(FORMATS)}", err=True)
        raise typer.Exit(2)
    if not out.parent.is_dir():
        typer.echo(f"there is no folder {out.parent} to write {out.name} to", err=True)
        raise typer.Exit(1)
    result = run(seed)
    show(result)
    try:
        draw(result, out)
    except OSError as error:
        typer.echo(f"cannot write the figure {out}: {error}", err=True)
        raise typer.Exit(1) from None
    typer.echo(f"Figure: {out}")
