"""The commands, one function each."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

import pairlearn
from pairlearn.cli import commands
from pairlearn.cli.ask import ask
from pairlearn.cli.datasets import datasets
from pairlearn.cli.exits import code_of, end, reporting_errors
from pairlearn.cli.export import export
from pairlearn.cli.label_group import label_app
from pairlearn.cli.plan import plan

if TYPE_CHECKING:
    from pairlearn.reproduce.experiment import Options

__all__ = ["app"]

INTRODUCTION = """
Train a classifier from answers about pairs: same kind, or different?

You have a table of points, each with an id, and a table of answers about
some pairs of them. Nobody needs to say what the two kinds are, or which
point is of which kind.

\b
    points.csv              pairs.csv
    id,size,colour          left,right,answer
    p1,3.5,red              p1,p2,same
    p2,3.1,red              p1,p3,different
    p3,1.2,blue             p2,p3,different
    ...                     ...

Three commands give you the class of every point, and how often it is wrong:

\b
    pairlearn check points.csv pairs.csv
    pairlearn fit points.csv pairs.csv -o model.skops
    pairlearn predict model.skops points.csv -o predictions.csv

No answers yet, or too few? Answer on a page in the browser, or in a
spreadsheet; both ask about the pairs that teach most:

\b
    pairlearn label points.csv
    pairlearn ask points.csv -n 20 -o next.csv

Every command has a help text, such as: pairlearn fit --help
"""
TABLES = "From answers to predictions"
BEFORE = "Before you begin"
PAPER = "The paper and its method"


class _InOrder(TyperGroup):
    """Commands in the order in which one needs them, groups of commands among them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return their names."""
        names = [name for name in super().list_commands(ctx) if name != "label"]
        return [*names[: names.index("ask")], "label", *names[names.index("ask") :]]


app = typer.Typer(
    cls=_InOrder,
    help=INTRODUCTION,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command_before in (datasets, plan, commands.check):
    app.command(rich_help_panel=BEFORE)(_command_before)
app.add_typer(
    label_app,
    name="label",
    short_help="Answer questions on a page in the browser, one key per answer.",
    rich_help_panel=TABLES,
)
for _command_on_tables in (
    ask,
    commands.fit,
    commands.predict,
    commands.certify,
    commands.explain,
    export,
):
    app.command(rich_help_panel=TABLES)(_command_on_tables)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pairlearn {pairlearn.__version__}")
        raise typer.Exit


@app.callback(help=INTRODUCTION)
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
    """Options that stand before a command."""


@app.command(rich_help_panel=PAPER)
def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where to write the figure (PNG, SVG).")
    ] = Path("pairlearn-demo.png"),
    seed: Annotated[int, typer.Option(help="Seed for the random choice of pairs.")] = 0,
) -> None:
    """Show the whole task on an example: train from pairs, name classes, certify.

    It uses the breast cancer data that come with scikit-learn. The labels are used
    only to answer "same or different?" for random pairs, and to check the result at
    the end.
    """
    with reporting_errors() as written:
        from pairlearn.cli.demo import FORMATS, draw, run, show
        from pairlearn.cli.outputs import check_output
        from pairlearn.cli.show import show_written

        check_output(out, "--out", FORMATS)
        result = run(seed)
        show(result)
        draw(result, out)
        written.append(out)
        show_written("Figure", out)


def _check_jobs(jobs: int) -> int:
    if jobs < -1 or jobs == 0:
        raise typer.BadParameter("must be 1 or more, or -1 for one per core")
    return jobs


@app.command(rich_help_panel=PAPER)
def reproduce(
    experiments: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...",
            help="What to compute: all, table-tabular, table-pubmed, table-methods, "
            "fig-sample-size, fig-prior, fig-assignment or fig-naive-assignment.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for results and report.")
    ] = Path("reproduction"),
    quick: Annotated[
        bool,
        typer.Option(help="Make the smallest run that shows the trend: a few minutes."),
    ] = False,
    trials: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many trials to run for each number.",
            show_default="as many as in the paper",
        ),
    ] = None,
    datasets: Annotated[
        str | None,
        typer.Option(
            help="The data sets to use, with commas between them.", show_default="all"
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="The methods to use, with commas between them.", show_default="all"
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            "-j",
            callback=_check_jobs,
            help="How many trials run at the same time; -1 means one per core.",
        ),
    ] = -1,
    data: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            help="Folder with the data sets. Missing ones are downloaded.",
            show_default="$PAIRLEARN_DATA, then the cache",
        ),
    ] = None,
) -> None:
    """Compute the paper's tables and figures, and compare with the printed numbers.

    Every finished trial is stored at once. If a run was stopped, give the same command
    again and it continues. At the end a report is written to the same folder:
    report.html, report.md and the figures.
    """
    with reporting_errors() as written:
        from pairlearn.cli.reproduce import Display
        from pairlearn.reproduce.experiment import Options
        from pairlearn.reproduce.runner import MissingDataError, plan, reproduce

        try:
            options = Options(trials, _names(datasets), _names(methods), quick)
            if not plan(experiments, options):
                raise ValueError("no experiment has these data sets and these methods")
        except ValueError as error:
            end(str(error), 2)
        display, problem = Display(), None
        try:
            with display:
                failed = reproduce(
                    experiments,
                    out,
                    options,
                    n_jobs=jobs,
                    data_home=data,
                    command=_command(experiments, options, jobs),
                    on_damaged=display.damaged,
                    on_start=display.start,
                    on_done=display.finished,
                )
            problem = f"{len(failed)} trials failed; see above" if failed else None
        except MissingDataError as error:
            problem = str(error)  # all that needs other data was run
        except KeyboardInterrupt as stop:
            end(f"stopped. {display.resume()}", code_of(stop))
        except BrokenExecutor:
            end(
                "a worker process was killed, perhaps because memory ran out; a lower "
                f"--jobs needs less memory. {display.resume()}",
                1,
            )
        if display.stored or display.there:
            _report(out, written)
        if problem is not None:
            end(problem, 1)


@app.command(rich_help_panel=PAPER)
def report(
    folder: Annotated[
        Path, typer.Argument(help="The folder given to `reproduce --out`.")
    ],
) -> None:
    """Write the report of a reproduction: report.html, report.md and figures."""
    with reporting_errors() as written:
        _report(folder, written)


def _report(folder: Path, written: list[Path]) -> None:
    from pairlearn.cli.show import show_written
    from pairlearn.reproduce.report import write_report

    written += write_report(folder)
    page = next(path for path in written if path.suffix == ".html")
    written[:] = [page]  # the others lie beside it
    show_written("Report", page)


def _command(experiments: list[str], options: Options, jobs: int) -> str:
    """Return the command to record: without folders, which are nobody's business."""
    words = ["pairlearn reproduce", *experiments]
    words += ["--quick"] if options.quick else []
    words += [f"--trials {options.trials}"] if options.trials else []
    for name in ("datasets", "methods"):
        some = getattr(options, name)
        words += [f'--{name} "{",".join(some)}"'] if some else []
    return " ".join([*words, f"--jobs {jobs}"])


def _names(listed: str | None) -> tuple[str, ...] | None:
    """Return the names in a list with commas."""
    if listed is None:
        return None
    names = tuple(name.strip() for name in listed.split(",") if name.strip())
    if not names:
        raise ValueError("a list of names is empty; leave the option out to use all")
    return names
