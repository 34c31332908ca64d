"""The report: every table and figure beside the paper's, from the result store."""

from __future__ import annotations

from contextlib import contextmanager
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
from pairlearn.reproduce.report.progress import failed_seeds
from pairlearn.reproduce.store import Store, StoreError
from pairlearn.system.writing import write_files

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["build", "write_report"]

TITLE = "The paper, reproduced"

_SECTIONS = (tabular, pubmed, sample_size, prior, class_assignment, naive, methods)
_BUILDERS = {module.NAME: module.build for module in _SECTIONS}


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
    drawings: dict[str, tuple[str, bytes]] = {}
    for section in sections:
        with _fit_to_be_shown(section.name, folder):
            drawings |= {p.name: figures.render(p) for p in section.pictures}
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
            write_files({path: content})
    except OSError as error:
        raise StoreError(
            f"cannot write the report to {folder}: {error.filename or folder}: "
            f"{error.strerror or error}. Make room, or copy the store to a folder that "
            "can be written to"
        ) from error
    return list(outputs)


def build(folder: str | Path) -> list[Section]:
    """Return the sections of the report of a folder, summary first."""
    folder = Path(folder)
    with Store(folder) as store, store.unchanging():
        store.check()
        stored = {name: store.frame(name, with_json=True) for name in EXPERIMENTS}
        keys, runs, failures = store.keys(), store.runs(), store.failures()
    frames, left_out = settings.choose(stored)
    if not any(len(frame) for frame in frames.values()):
        failed = f" ({len(failures):,} failed)" if len(failures) else ""
        raise StoreError(
            f"there are no finished trials in {folder}{failed}: `pairlearn reproduce "
            f"all --quick --out {folder}` puts some there"
        )
    sections = []
    for name, frame in frames.items():
        lost = failed_seeds(failures, name)
        with _fit_to_be_shown(name, folder):
            section = _BUILDERS[name](frame, lost)
        n_failed = sum(len(seeds) for seeds in lost.values())
        if n_failed:
            text = f"**Failed:** {n_failed:,} trials, which are in no number here."
            section.blocks.insert(0, Text(text))
        if not len(frame):
            section.blocks.insert(0, Text(f"**Not run yet:** {summary.command(name)}"))
        sections.append(section)
    notes = folder / "notes.md"
    if notes.is_file():
        text = markdown.demote(_read_notes(notes))
        sections.append(Section("differences", "What differs, and why", [Notes(text)]))
    sections.append(settings.build(stored, frames, keys, runs, failures, left_out))
    return [summary.build(stored, sections), *sections]


@contextmanager
def _fit_to_be_shown(name: str, folder: Path) -> Iterator[None]:
    """Tell of trials that are whole, but not what this version writes."""
    try:
        yield
    except Exception as error:
        raise StoreError(
            f"the trials of {name} in {folder} cannot be shown ({error!r}): they are "
            "of another version of pairlearn, or were altered. Make the report with "
            "that version, or move the store away to begin afresh"
        ) from error


def _read_notes(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise StoreError(
            f"{path} is not UTF-8 text (byte {error.start}: {error.reason}). Save it "
            "as UTF-8, or move it away to make the report without it"
        ) from error
