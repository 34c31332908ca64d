"""The commands on tables: fit, predict, certify, explain, check.

This file is read for every `--help`, so what takes long to import is imported inside
the commands.
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

from pairlearn.cli import options
from pairlearn.cli.exits import reporting_errors
from pairlearn.files.tables.errors import OptionError, TableError

__all__ = ["certify", "check", "explain", "fit", "predict"]


@options.reads_tables
def fit(
    points: options.PointsFile,
    pairs: options.PairsFiles,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="MODEL", help="Where to write the model (.skops)."
        ),
    ],
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Names of the classes, as many as there are.",
            show_default="A,B,...",
        ),
    ] = None,
    kinds: Annotated[
        str,
        typer.Option(
            metavar="K",
            help="How many classes there are: a number, or auto: two, unless the "
            "answers speak for more.",
        ),
    ] = "auto",
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table of a few points whose class is known: their ids, and a column "
            "class. It names the groups; the model does not learn from it.",
            exists=True,
            dir_okay=False,
            readable=True,
            show_default=False,
        ),
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(
            metavar="OLD.skops",
            help="An older model of the same points: the groups keep the names that "
            "they have there, and it is told where groups have changed.",
            exists=True,
            dir_okay=False,
            readable=True,
            show_default=False,
        ),
    ] = None,
    majority: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of two classes, the one that has more than half of the points. This "
            "decides which group gets which name.",
            show_default="names are given arbitrarily",
        ),
    ] = None,
    noise: Annotated[
        str,
        typer.Option(
            metavar="RATE",
            help="How often answers are wrong: auto (unknown, or measured by answers "
            "that must agree), none (all are right), a rate such as 0.1, a range such "
            "as 0.05-0.15, or two rates such as 0.9,0.2: how often people say 'same' "
            "about pairs that are the same, and about pairs that are different.",
        ),
    ] = "auto",
    holdout: Annotated[
        float,
        typer.Option(
            min=0,
            max=0.5,
            help="Share of the pairs to keep aside for measuring the error. With 0 "
            "the model trains on all pairs, and the error is only an estimate.",
        ),
    ] = 0.2,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help="Also write a web page that explains the result.",
            show_default=False,
        ),
    ] = None,
    unlabeled: Annotated[
        bool | None,
        typer.Option(
            "--unlabeled/--no-unlabeled",
            help="Also use the points that are in no pair, as far as held-out answers "
            "show that it helps. Later answers about these points cannot test the "
            "model. If you say neither: half of them where there is free text, and "
            "none elsewhere.",
            show_default=False,
        ),
    ] = None,
    forget_points: Annotated[
        bool,
        typer.Option(
            "--forget-points",
            help="Store no fingerprints of the points that the model learns from. "
            "pairlearn certify then cannot leave those points out.",
        ),
    ] = False,
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Learn a model from a table of points and answers about pairs of them.

    Answers may be same/different, yes/no, true/false, must-link/cannot-link,
    1/-1 or 1/0, or such words in other languages. The model does not learn
    from unsure answers, but they count in its error: as wrong for the upper
    end of the interval. If a pair was answered several times, the mean of its
    answers counts. Columns may hold numbers, dates, categories, free text or
    paths of images, and cells may be missing. Some pairs are kept aside to
    measure the error of the model, without a single class label. For answers
    to questions of `pairlearn ask`, the audits among them do that: nothing is
    learned from rows whose column purpose says audit.

    Example:

        pairlearn fit points.csv pairs.csv -o model.skops --majority healthy
    """
    with reporting_errors() as written:
        from pairlearn.cli.outputs import check_output, write_model
        from pairlearn.cli.show import (
            Progress,
            show_first,
            show_fit,
            show_notes,
            show_written,
        )

        read = (points, *pairs, *reading["key"])
        read += () if labels is None else (labels,)
        check_output(out, "--out", (".skops",), read)
        read += () if like is None else (like,)
        if report is not None:
            check_output(report, "--report", (".html", ".htm"), read)
            if report.resolve() == out.resolve():
                raise OptionError("--report and --out are the same file")
        n_kinds = options.kinds(kinds)
        names, largest = options.class_names(classes, majority, n_kinds)
        if labels is not None and names is not None:
            raise OptionError(
                "--labels names the classes, so leave out --classes and --majority"
            )
        rate = options.noise_rates(noise)
        with Progress(quiet=quiet) as progress:
            progress.step("starting")
            from pairlearn.cli.describing import counting
            from pairlearn.cli.fit import FitOptions, fit_tables
            from pairlearn.cli.quick_imports import import_skops

            summary, about = fit_tables(
                points,
                pairs,
                reading | {"step": counting(progress.step)},
                FitOptions(
                    names,
                    largest,
                    rate,
                    holdout,
                    seed,
                    suspicious=report is not None,
                    forget=forget_points,
                    before=out,
                    kinds=n_kinds,
                    labels=labels,
                    like=like,
                    unlabeled=unlabeled,
                ),
                progress.step,
            )
            progress.step("writing")
            import_skops()
            write_model(summary, about, out, report)
            written += [out] if report is None else [out, report]
        if quiet:
            show_first(summary, error=True)
            show_notes(summary.notes, error=True)
            return
        show_fit(summary, out)
        if report is not None:
            show_written("Report", report)


def predict(
    model: options.ModelFile,
    points: options.PointsFile,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="Where to write classes and probabilities (.csv, .tsv or .parquet).",
        ),
    ],
    id: options.Id = None,  # noqa: A002 - the user's word for it
    delimiter: options.Delimiter = None,
    embed: options.Embed = None,
    quiet: options.Quiet = False,
) -> None:
    """Predict the class of each point of a table, with probabilities.

    The table needs the columns that the model was trained with, in any
    order; other columns are ignored. It is read in parts, so it may be larger
    than memory. A model made with --embed needs the option again only if it
    names a function of your own, or something that must be downloaded.

    OUT has one row per point: its id, its class, and the probability of each
    class. Ids are written as they are, even if they begin with = or @, which a
    spreadsheet would read as a formula.

    Example:

        pairlearn predict model.skops points.csv -o predictions.csv
    """
    with reporting_errors() as written:
        from pairlearn.cli.outputs import check_output
        from pairlearn.cli.show import Progress, show_notes, show_predicted

        check_output(out, "--out", (".csv", ".tsv", ".parquet"), (model, points))
        with Progress(quiet=quiet) as progress:
            fitted, about, notes = _load(model, progress)
            from pairlearn.cli.predict import predict_table

            found = predict_table(
                fitted,
                about,
                points,
                out,
                id=id,
                step=progress.points,
                delimiter=delimiter,
                embed=embed,
            )
            written.append(out)
        found.notes = notes + found.notes
        if quiet:
            show_notes(found.notes, error=True)
        else:
            show_predicted(found, out)


@options.reads_tables
def certify(
    model: options.ModelFile,
    points: options.PointsFile,
    pairs: options.PairsFiles,
    confidence: Annotated[
        float,
        typer.Option(
            help="The probability that the interval contains the true error.",
            metavar="SHARE",
        ),
    ] = 0.95,
    noise: Annotated[
        str,
        typer.Option(
            metavar="RATE",
            help="How often these answers are wrong, as for fit.",
        ),
    ] = "auto",
    anytime: Annotated[
        bool,
        typer.Option(
            "--anytime",
            help="The interval holds however often you look while answers come in, "
            "also if you stop when you like what you see. The rows must be in the "
            "order in which they were answered. The interval is wider.",
        ),
    ] = False,
    kinds: Annotated[
        str | None,
        typer.Option(
            metavar="K|any",
            help="How many kinds of points there are at most: a number, or any. By "
            "default two for a model with two groups, and any number for others.",
            show_default=False,
        ),
    ] = None,
    within_groups: Annotated[
        bool,
        typer.Option(
            "--within-groups",
            help="The pairs were drawn at random within the groups that the model "
            "predicts, not from all points. The shares of the groups are counted in "
            "the table of points.",
        ),
    ] = False,
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Measure the error of a model with answers that it has not seen.

    The pairs must be drawn at random. Pairs with points that the model has
    learned from are left out, and of pairs that share a point one is counted.
    These give the error and an interval around it, without a single class
    label. For more than two kinds it also shows, group by group, where the
    errors are. If there is a column purpose, as `pairlearn ask` writes it,
    only audits are counted: the other pairs were chosen, and are not random.

    Example:

        pairlearn certify model.skops points.csv fresh-pairs.csv
    """
    with reporting_errors():
        from pairlearn.cli.show import Progress, show_certified, show_notes

        if not 0 < confidence < 1:
            raise OptionError("--confidence must lie between 0 and 1, such as 0.95")
        rate = options.noise_rates(noise)
        with Progress(quiet=quiet) as progress:
            fitted, about, notes = _load(model, progress)
            from pairlearn.cli.certify import certify_tables
            from pairlearn.cli.describing import counting

            reading["step"] = counting(progress.step)
            if reading["id"] is None and about.get("id") is not None:
                reading["id"] = _if_column(points, about["id"], reading)
            elif reading["id"] is None and reading["first_row"] is None:
                reading["first_row"] = about.get("first row")
            if reading["group"] is None and about.get("group") is not None:
                reading["group"] = _if_column(points, about["group"], reading)
            progress.step("counting disagreements")
            found = certify_tables(
                fitted,
                about,
                points,
                pairs,
                reading,
                confidence=confidence,
                noise=rate,
                anytime=anytime,
                kinds=options.number_of_kinds(kinds),
                within_groups=within_groups,
                seed=seed,
            )
        found.notes = notes + found.notes
        if quiet:
            show_notes(found.notes, error=True)
        else:
            show_certified(found)


def explain(
    model: options.ModelFile,
    points: Annotated[
        Path | None,
        options.table_file(
            "[POINTS]",
            "Points to measure the importance with; by default, as fit measured it.",
            folder=True,
        ),
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="How many columns to list.")] = 30,
    embed: options.Embed = None,
    seed: options.Seed = 0,
    delimiter: options.Delimiter = None,
) -> None:
    """List the columns that matter most to a model.

    The importance of a column is the share of points that change class when
    its values are shuffled among the points. If two columns say much the
    same, each can replace the other, and both look less important. Of texts,
    the words are told that set each group apart. A linear model also shows
    its weights.

    Example:

        pairlearn explain model.skops
    """
    with reporting_errors():
        from pairlearn.cli.outputs import digest_of
        from pairlearn.cli.show import (
            Progress,
            show_digest,
            show_importance,
            show_notes,
            show_words,
        )

        with Progress() as progress:
            fitted, about, notes = _load(model, progress)
            from pairlearn.cli.explain import (
                changes_of_side,
                stored_words,
                text_columns,
                weights_of,
                words_of_groups,
            )

            weights, shares = weights_of(fitted), None
            words = stored_words(about)
            if points is not None:
                from pairlearn.cli.predict import points_for_model

                progress.step("shuffling columns")
                frame = points_for_model(fitted, about, points, delimiter, embed)
                shares = changes_of_side(fitted, frame, seed)
                words = words_of_groups(fitted, frame, text_columns(about), seed)
            elif about.get("importance"):
                shares = [(str(name), float(x)) for name, x in about["importance"]]
        show_notes(notes, error=True)
        if shares is None and weights is None:
            raise TableError(
                f"{model.name} does not say which columns matter; give a table of "
                f"points to find out: pairlearn explain {model.name} POINTS (up to 400 "
                "columns)"
            )
        if shares is not None:
            what = "Share of points that change class when a column is shuffled:"
            show_importance(shares, what, share=True, most=most)
        if weights is not None:
            positive = str(fitted.classes_[-1])
            what = f"Weights; a positive weight speaks for class {positive}:"
            show_importance(weights, what, share=False, most=most)
        show_words(words)
        show_digest(digest_of(model))


@options.reads_tables
def check(
    points: options.PointsFile,
    pairs: options.PairsFiles,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="End with exit code 1 if answers contradict each other."
        ),
    ] = False,
    most: Annotated[
        int,
        typer.Option(
            min=0, help="How many contradictions to show, and how many disagreements."
        ),
    ] = 5,
    suspicious: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Also write all answers with the ids of their points, those that are "
            "likeliest wrong first.",
            show_default=False,
        ),
    ] = None,
    seed: options.Seed = 0,
    *,
    reading: dict[str, Any],
) -> None:
    """Check the tables: contradictory, redundant and missing answers, and columns.

    Answers imply others: if a and b are different, and b and c are different,
    then a and c are the same, since there are two classes. So some answers
    follow from others, and some contradict each other. If a column says who
    answered (annotator, who, worker, user), it also tells how far people
    agree, and which pairs they should settle. Nothing is written, unless
    --suspicious names a file for the answers that may be wrong.

    Example:

        pairlearn check points.csv pairs.csv
    """
    with reporting_errors() as written:
        from pairlearn.cli.outputs import check_output
        from pairlearn.cli.show import Progress, show_checked, show_suspicious

        if suspicious is not None:
            read = (points, *pairs, *reading["key"])
            check_output(suspicious, "--suspicious", (".csv", ".tsv"), read)
        with Progress() as progress:
            progress.step("reading the tables")
            from pairlearn.cli.check import check_tables
            from pairlearn.cli.describing import counting

            reading["step"] = counting(progress.step)
            found = check_tables(
                points, pairs, reading, most=most, suspicious=suspicious, seed=seed
            )
            written += [] if suspicious is None else [suspicious]
        show_checked(found)
        if suspicious is not None:
            show_suspicious(found.n_doubtful or 0, len(found.answered), suspicious)
    if strict and (found.n_contradictions or found.answered.n_disagreeing):
        typer.echo(
            f"--strict: {found.n_contradictions:,} contradictions between pairs, "
            f"{found.answered.n_disagreeing:,} pairs whose own answers disagree",
            err=True,
        )
        raise typer.Exit(1)


def _load(path: Path, progress: Any) -> tuple[Any, dict[str, Any], list[str]]:
    """Return a model, what is stored beside it, and what to tell about it."""
    progress.step("loading the model")
    from pairlearn.cli.quick_imports import import_skops

    import_skops()
    from pairlearn import load
    from pairlearn.cli.judging import warnings_as_notes
    from pairlearn.files.saving import describe

    notes: list[str] = []
    with warnings_as_notes(notes):
        model = load(path)
    about = describe(path)["about"]
    return model, about if isinstance(about, dict) else {}, notes


def _if_column(path: Path, name: str, reading: dict[str, Any]) -> str | None:
    """Return the name of the id column if the table has it."""
    from pairlearn.files.tables.reading import read_chunks

    first = next(iter(read_chunks(path, delimiter=reading["delimiter"])))
    return name if name in first.columns else None
