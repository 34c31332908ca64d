"""`pairlearn export`: a model for programs without pairlearn.

This file is read for every `--help`, so what takes long to import is imported inside.
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

from pairlearn.cli import options  # noqa: TC001 - likewise
from pairlearn.cli.exits import reporting_errors

__all__ = ["export"]

FORMATS = (".onnx", ".skops", ".joblib")


def export(
    model: options.ModelFile,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="Where to write: .onnx for any language, .skops or .joblib for "
            "Python with scikit-learn.",
            show_default=False,
        ),
    ],
    points: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            readable=True,
            help="Table of points on which both models are compared before anything "
            "is written.",
            show_default="points that are made up",
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Write a model for programs in which pairlearn is not installed.

    OUT.onnx runs in ONNX runtimes, which exist for most languages. OUT.skops and
    OUT.joblib are pipelines of scikit-learn, and need scikit-learn alone. Before it is
    written, the new model is compared with the old one; if they differ, nothing is
    written.

    Example:

        pairlearn export model.skops model.onnx
    """
    with reporting_errors() as written:
        from pairlearn.cli.commands import _load
        from pairlearn.cli.outputs import check_output
        from pairlearn.cli.printing import Progress, say, show_notes
        from pairlearn.cli.show import show_written

        inputs = (model,) if points is None else (model, points)
        check_output(out, "OUT", FORMATS, inputs)
        with Progress(quiet=quiet) as progress:
            fitted, about, notes = _load(model, progress)
            progress.step("exporting")
            content, told = _exported(fitted, about, points, out)
            from pairlearn.system.writing import write_files

            write_files({out: content})
            written.append(out)
        show_notes(notes, error=True)
        if not quiet:
            for line in told:
                say(line)
            show_written("Exported model", out)


def _exported(
    model: Any, about: dict[str, Any], points: Path | None, out: Path
) -> tuple[bytes, list[str]]:
    """Return the content of the file, compared with the model, and what to tell."""
    from pairlearn.export import checking, to_sklearn

    pipeline = to_sklearn(model)
    if points is None:
        table = checking.made_up_points(model, pipeline)
    else:
        from pairlearn.cli.predict import points_for_model

        table = points_for_model(model, about, points)
        if about.get("made by"):
            table = checking.typed(model, table)
    if out.suffix.lower() == ".onnx":
        return _onnx(model, pipeline, table, out)
    difference = checking.check_sklearn(model, pipeline, table)
    agrees = _agreement(len(table), difference)
    name = out.name
    if out.suffix.lower() == ".joblib":
        from io import BytesIO

        import joblib

        file = BytesIO()
        joblib.dump(pipeline, file)
        how = (
            f'In Python: joblib.load("{name}").predict_proba(frame). A joblib file can '
            "run any program when it is loaded, so load only those whose author you "
            "trust; .skops has no such danger."
        )
        return file.getvalue(), [agrees, how]
    import zipfile

    import skops.io

    content: bytes = skops.io.dumps(pipeline, compression=zipfile.ZIP_DEFLATED)
    unknown = sorted(skops.io.get_untrusted_types(data=content))
    trusted = f", trusted={unknown}" if unknown else ""
    return content, [
        agrees,
        f'In Python: skops.io.load("{name}"{trusted}).predict_proba(frame).',
    ]


def _onnx(model: Any, pipeline: Any, table: Any, out: Path) -> tuple[bytes, list[str]]:
    from pairlearn.export import checking, to_onnx
    from pairlearn.export.onnx_model import column_kinds

    made = to_onnx(model)
    difference = checking.check_onnx(model, made, pipeline, table)
    kinds = column_kinds(pipeline)
    said = {
        "text": "text",
        "lower": "text in lower case",
        "days": "days since 1970-01-01",
        "number": "float64",
    }
    inputs = [f"  {name}: {said[kind]}, shape (n, 1)" for name, kind in kinds.items()]
    inputs = inputs or [f"  points: float64, shape (n, {pipeline.n_features_in_})"]
    outputs = " and ".join(put.name for put in made.graph.output)
    content: bytes = made.SerializeToString()
    how = (
        f'In Python: onnxruntime.InferenceSession("{out.name}").run(None, inputs) '
        f"returns {outputs}; the inputs are"
    )
    return content, [_agreement(len(table), difference), how, *inputs]


def _agreement(n_points: int, difference: float) -> str:
    return f"Compared on {n_points} points: the largest difference is {difference:.1g}."
