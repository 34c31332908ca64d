"""Output files: refused before any work if they cannot be written, or all written."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

from pairlearn.files.tables.errors import OptionError, TableError
from pairlearn.system.writing import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from pairlearn.cli.summary import FitSummary

__all__ = ["check_output", "digest_of", "write_model"]


def check_output(
    path: Path,
    option: str,
    suffixes: tuple[str, ...] = (),
    inputs: tuple[Path, ...] = (),
) -> None:
    """Refuse, before any work, an output file that cannot be written.

    Parameters
    ----------
    path : Path
        Where the file is to be.
    option : str
        The option that said so.
    suffixes : tuple of str
        How its name may end; empty: anyhow.
    inputs : tuple of Path
        Files that must not be overwritten.
    """
    for other in inputs:
        if path.exists() and other.exists() and path.samefile(other):
            raise OptionError(f"{option} {path} is one of the files that are read")
    if suffixes and path.suffix.lower() not in suffixes:
        endings = " or ".join(filter(None, (", ".join(suffixes[:-1]), suffixes[-1])))
        raise OptionError(f"{option} {path} must end in {endings}")
    if path.is_dir():
        raise OptionError(f"{option} {path} is a folder; name a file")
    if not path.parent.is_dir():
        raise TableError(f"there is no folder {path.parent} to write {path.name} to")
    if not os.access(path.parent, os.W_OK):
        raise TableError(f"the folder {path.parent} cannot be written to")


def write_model(
    summary: FitSummary, about: dict[str, Any], out: Path, report: Path | None = None
) -> None:
    """Write a model, and the page about it if there is to be one: both, or neither.

    Two files cannot be replaced in one step. So the page says to which model file it
    belongs, in case the power fails between the two steps.

    Parameters
    ----------
    summary : FitSummary
        What was found. Its `digest` is set.
    about : dict
        What is stored beside the model.
    out, report : Path
        Where to write the model and the page.
    """
    from pairlearn import save

    with replacing(out) as model:
        save(summary.model, model, about=about)
        summary.digest = digest_of(model)
        if report is not None:
            from pairlearn.cli.page import write_page

            write_page(report, summary)


def digest_of(path: Path) -> str:
    """Return the SHA-256 digest of a file, as sha256sum prints it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
