"""The report: every table and figure beside the paper's, from the result store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pairlearn.reproduce.report import (
    class_assignment,
    figures,
    markdown,
    methods,
    naive,
    page,
    prior,
    pubmed,
    sample_size,
    settings,
    summary,
    tabular,
)
from pairlearn.reproduce.report.blocks import Notes, Section, Text
from pairlearn.reproduce.report.paper import EXPERIMENTS
from pairlearn.reproduce.store import Store, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

__all__ = ["build", "write_report"]

TITLE = "The paper, reproduced"

_BUILDERS: dict[str, Callable[[pd.DataFrame], Section]] = {
    "table-tabular": tabular.build,
    "table-pubmed": pubmed.build,
    "fig-sample-size": sample_size.build,
    "fig-prior": prior.build,
    "fig-assignment": class_assignment.build,
    "fig-naive-assignment": naive.build,
    "table-methods": methods.build,
}


def write_report(folder: str | Path) -> list[Path]:
    """Write report.html, report.md and figures/ beside the store of a folder.

    The same store gives the same bytes. An experiment without trials is named, with
    the command that runs it; cells without trials are shown as such. Text in
    folder/notes.md becomes a section of its own.

    Parameters
    ----------
    folder : path
        The folder given to `pairlearn reproduce --out`.

    Returns
    -------
    list of Path
        The files written: page, Markdown, then the figures.

    Raises
    ------
    StoreError
        There is no store, or nothing in it, or the report cannot be written.
    """
    folder = Path(folder)
    sections = build(folder)
    drawings = {
        picture.name: figures.render(picture)
        for section in sections
        for picture in section.pictures
    }
    svgs = {name: svg for name, (svg, _) in drawings.items()}
    outputs: dict[Path, bytes] = {
        folder / "report.html": page.render(TITLE, sections, svgs).encode(),
        folder / "report.md": markdown.render(TITLE, sections).encode(),
    }
    for name, (svg, png) in drawings.items():
        outputs[folder / "figures" / f"{name}.svg"] = svg.encode()
        outputs[folder / "figures" / f"{name}.png"] = png
    try:
        for path, content in outputs.items():
            path.parent.mkdir(exist_ok=True)
            _write(path, content)
    except OSError as error:
        raise StoreError(
            f"cannot write the report to {folder}: {error.strerror}. Copy the store to "
            "a folder that can be written to"
        ) from error
    return list(outputs)


def build(folder: str | Path) -> list[Section]:
    """Return the sections of the report of a folder, summary first."""
    folder = Path(folder)
    with Store(folder) as store:
        everything = {name: store.frame(name) for name in EXPERIMENTS}
        keys, runs = store.keys(), store.runs()
    frames, left_out = settings.choose(everything, keys)
    if not any(len(frame) for frame in frames.values()):
        raise StoreError(
            f"there are no finished trials in {folder}: `pairlearn reproduce all "
            f"--quick --out {folder}` puts some there"
        )
    sections = []
    for name, frame in frames.items():
        section = _BUILDERS[name](frame)
        if not len(frame):
            section.blocks.insert(0, Text(f"**Not run yet:** {summary.command(name)}"))
        sections.append(section)
    notes = folder / "notes.md"
    if notes.is_file():
        text = markdown.demote(notes.read_text("utf-8"))
        sections.append(Section("differences", "What differs, and why", [Notes(text)]))
    sections.append(settings.build(frames, keys, runs, left_out))
    return [summary.build(frames, sections), *sections]


def _write(path: Path, content: bytes) -> None:
    partial = path.with_name(f".partial-{path.name}")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
