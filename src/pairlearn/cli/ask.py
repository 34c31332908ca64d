"""The command `ask`.

This file is read for every `--help`, so what takes long to import is imported inside.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pairlearn.cli import options
from pairlearn.cli.exits import reporting_errors
from pairlearn.files.tables.errors import OptionError, TableError

if TYPE_CHECKING:
    from pairlearn.cli.simulating import CurveRow

__all__ = ["ask"]


def _of_simulation(what: str, *names: str, **more: Any) -> Any:
    panel = "To see what it would be like"
    return typer.Option(*names, help=what, rich_help_panel=panel, **more)


@options.reads_tables
def ask(
    points: options.PointsFile,
    pairs: Annotated[
        list[Path] | None,
        options.table_file(
            "PAIRS",
            "Tables with the answers so far: your own, and earlier questions with "
            "their answers. None for the first questions.",
        ),
    ] = None,
    n: Annotated[
        int, typer.Option("-n", min=1, metavar="N", help="How many questions.")
    ] = 20,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="NEXT",
            help="Where to write the questions (.csv or .tsv).",
            show_default=False,
        ),
    ] = None,
    audits: Annotated[
        float,
        typer.Option(
            min=0,
            max=0.9,
            metavar="SHARE",
            help="Share of questions that are audits: random pairs that nothing is "
            "learned from, so that they can tell the error of the model.",
        ),
    ] = 0.2,
    kinds: Annotated[
        str,
        typer.Option(
            metavar="K|auto",
            help="How many kinds of points there are: a number, or auto.",
        ),
    ] = "2",
    noise: Annotated[
        str,
        typer.Option(metavar="RATE", help="How often answers are wrong, as for fit."),
    ] = "auto",
    strategy: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How questions are chosen: mixed, random, explore, uncertain or "
            "informative.",
        ),
    ] = "mixed",
    goal: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            max=0.5,
            metavar="ERROR",
            help="Also forecast about how many more answers this error takes, such as "
            "0.05.",
            show_default=False,
        ),
    ] = None,
    blind: Annotated[
        bool,
        typer.Option(
            "--blind",
            help="Do not write into NEXT which questions are audits, but into a key "
            "beside it (NEXT.key.csv); later commands read it with --key.",
        ),
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace a file that is already there."),
    ] = False,
    simulate: Annotated[
        Path | None,
        _of_simulation(
            "Table with the class of every point: their ids, and a column class. It "
            "answers the questions, and the learning curve is printed; -o writes it.",
            metavar="LABELS",
            exists=True,
            dir_okay=False,
            readable=True,
            show_default=False,
        ),
    ] = None,
    rounds: Annotated[
        int, _of_simulation("How many rounds of N questions.", min=1)
    ] = 10,
    against_random: Annotated[
        bool,
        _of_simulation(
            "Also learn from as many random pairs, to compare with.", "--against-random"
        ),
    ] = False,
    wrong: Annotated[
        float,
        _of_simulation(
            "Share of the answers to make wrong.", min=0, max=0.49, metavar="SHARE"
        ),
    ] = 0.0,
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Choose the pairs to ask about next.

    NEXT has one row per question: the ids of two points, what the table says
    about both, side by side, and an empty column for the answer. Write same,
    different, or ? if unsure. Then give NEXT to this command for more
    questions, together with all answers before, or to pairlearn fit.

    Questions are chosen so that few answers teach much. About a fifth of them
    are audits: random pairs, which tell how good the model is. Whoever answers
    should not know which ones they are: hide the columns purpose and round,
    or use --blind.

    Use the same --seed in all rounds; it decides which points are put aside
    for audits.

    Example:

        pairlearn ask points.csv -n 20 -o round1.csv

        pairlearn ask points.csv round1.csv -n 20 -o round2.csv

        pairlearn fit points.csv round1.csv round2.csv -o model.skops
    """
    with reporting_errors() as written:
        given = tuple(pairs or ())
        if audits >= 1:
            raise OptionError("--audits must be below 1")
        wanted = {
            "n": n,
            "seed": seed,
            "audits": audits,
            "kinds": options.kinds(kinds),
            "noise": options.noise_rates(noise),
            "strategy": strategy,
            "goal": goal,
        }
        if simulate is not None:
            if given or blind:
                what = "tables of pairs" if given else "--blind"
                raise OptionError(f"--simulate answers by itself; leave out {what}")
            _check(out, (points, simulate), overwrite=overwrite)
            more = {"rounds": rounds, "wrong": wrong, "against_random": against_random}
            _simulate(points, simulate, reading, wanted, more, out, quiet, written)
            return
        if out is None:
            raise OptionError("say where to write the questions, such as -o next.csv")
        _check(out, (points, *given, *reading["key"]), overwrite=overwrite, blind=blind)
        from pairlearn.cli.show import Progress, show_notes

        with Progress(quiet=quiet) as progress:
            progress.step("starting")
            from pairlearn.cli.describing import counting
            from pairlearn.cli.question_files import write_questions
            from pairlearn.cli.questions import AskOptions, ask_tables

            reading["step"] = counting(progress.step)
            found = ask_tables(
                points, given, reading, AskOptions(**wanted), progress.step
            )
            written += write_questions(found, out, blind=blind)
        if quiet:
            show_notes(found.notes, error=True)
            return
        from pairlearn.cli.show_questions import show_round

        kept = _options_to_keep(reading, wanted, noise, blind=blind)
        if found.points.id_column is None and "--first-row" not in kept:
            kept += ["--first-row", str(found.points.first_row)]
        keys = [*map(str, reading["key"]), *map(str, written[1:])]
        files = [str(points), *map(str, given), str(out)]
        again = ["ask", *files, "-n", str(n), "-o", str(_following(out)), *kept]
        fit = [
            "fit",
            *files,
            "-o",
            "model.skops",
            *_without(kept, "--audits", "--blind"),
        ]
        fit = _without(fit, "--strategy")
        with_keys = [word for key in keys for word in ("--key", key)]
        commands = [shlex.join(["pairlearn", *c, *with_keys]) for c in (again, fit)]
        show_round(found, written, commands)


def _check(
    out: Path | None, inputs: tuple[Path, ...], *, overwrite: bool, blind: bool = False
) -> None:
    """Refuse, before any work, to write where nothing may be written."""
    if out is None:
        return
    from pairlearn.cli.outputs import check_output

    files = [out]
    if blind:
        files.append(out.with_name(f"{out.stem}.key{out.suffix}"))
    for path in files:
        check_output(path, "--out", (".csv", ".tsv"), inputs)
        if path.exists() and not overwrite:
            raise TableError(
                f"{path} is already there, and may hold answers; choose another name, "
                "or replace it with --overwrite"
            )


def _simulate(
    points: Path,
    labels: Path,
    reading: dict[str, Any],
    wanted: dict[str, Any],
    more: dict[str, Any],
    out: Path | None,
    quiet: bool,
    written: list[Path],
) -> None:
    from pairlearn.cli.show import Progress, show_written
    from pairlearn.cli.show_questions import show_curve_row, show_curve_title

    rows: list[CurveRow] = []
    doing: list[Progress] = []
    try:
        with Progress(quiet=quiet) as progress:
            progress.step("starting")
            from pairlearn.cli.questions import AskOptions
            from pairlearn.cli.simulating import simulate, write_curve
        found = simulate(
            points,
            labels,
            reading,
            AskOptions(**wanted),
            **more,
            step=lambda text: doing[-1].step(text),
        )
        while True:
            # The line that tells what is being done makes way for what is printed.
            with Progress(quiet=quiet) as progress:
                doing.append(progress)
                row = next(found, None)
            if row is None:
                break
            if not rows and not quiet:
                show_curve_title(more["against_random"])
            rows.append(row)
            if not quiet:
                show_curve_row(row, more["against_random"])
    finally:
        # Also if it is interrupted: what is known by then is worth keeping.
        if out is not None and rows:
            write_curve(rows, out)
            written.append(out)
    if not rows:
        raise TableError(f"{points.name} has no two points that could be asked about")
    if len(rows) < more["rounds"] and not quiet:
        typer.echo("Then all points were in questions, and none was left.")
    if out is not None and not quiet:
        show_written("Curve", out)


def _options_to_keep(
    reading: dict[str, Any], wanted: dict[str, Any], noise: str, *, blind: bool
) -> list[str]:
    """Return the options that the next commands need as well."""
    kept = []
    for name in ("id", "left", "right", "answer", "first_row", "embed"):
        if reading[name] is not None:
            kept += [f"--{name.replace('_', '-')}", str(reading[name])]
    kept += ["--skip-unknown"] if reading["skip_unknown"] else []
    for name, usual in (("audits", 0.2), ("strategy", "mixed"), ("seed", 0)):
        if wanted[name] != usual:
            kept += [f"--{name}", f"{wanted[name]}"]
    if wanted["kinds"] != 2:
        kept += ["--kinds", str(wanted["kinds"])]
    if noise != "auto":
        kept += ["--noise", noise]
    return kept + ["--blind"] * blind


def _without(words: list[str], *names: str) -> list[str]:
    """Return a command without some options, and their values."""
    kept, skip = [], False
    for word in words:
        if not skip and word not in names:
            kept.append(word)
        skip = word in names and word != "--blind"
    return kept


def _following(out: Path) -> Path:
    """Return a name for the questions of the next round.

    Examples
    --------
    >>> from pathlib import Path
    >>> _following(Path("next.csv")).name, _following(Path("round9.csv")).name
    ('next2.csv', 'round10.csv')
    >>> _following(Path("round01.csv")).name
    'round02.csv'
    """
    stem, number = re.fullmatch(r"(.*?)(\d*)", out.stem, re.DOTALL).groups()  # type: ignore[union-attr]
    following = str(int(number or 1) + 1).zfill(len(number))
    return out.with_name(f"{stem}{following}{out.suffix}")
