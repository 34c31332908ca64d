"""Fetch data files from their public homes."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pairlearn.datasets.parsers import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pairlearn.datasets.files import Source

__all__ = ["DownloadError", "fetch", "temporary_folder"]

_RETRIES = 3
_SECONDS = 30


class DownloadError(Exception):
    """A file could not be fetched; the message says why."""


@contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """Make a folder within `folder`, and remove it with all that is left in it.

    A file is moved from there to its place when it is complete and checked. Within
    the same folder, so that moving is renaming, which cannot stop half-way.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Of a program that was killed more than a day ago.
        for left in folder.glob(".download-*"):
            if time.time() - left.stat().st_mtime > 86400:
                shutil.rmtree(left, ignore_errors=True)
        temporary = Path(tempfile.mkdtemp(prefix=".download-", dir=folder))
    except OSError as error:
        raise DownloadError(
            f"the folder {folder} cannot be written to ({error}); pass another one as "
            "data_home="
        ) from error
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def fetch(source: Source, folder: Path, *, verify: bool) -> Path:
    """Download a file to its place in `folder`; return its path.

    Parameters
    ----------
    source : Source
        What to fetch.
    folder : Path
        Where to.
    verify : bool
        Compare the bytes with their checksum, if that is known.

    Returns
    -------
    Path
    """
    try:
        import pooch
    except ImportError:
        raise DownloadError(
            "downloading needs pooch, which is not installed: "
            "pip install 'pairlearn[cli]'"
        ) from None

    suffix = Path(source.member or source.url).suffix
    path = folder / (source.name + (suffix if suffix in SUFFIXES else ""))
    name = f"{source.name}.zip" if source.member else str(path.relative_to(folder))
    home = pooch.create(
        path=folder,
        base_url="",
        registry={name: source.sha256 if verify else None},
        urls={name: source.url},
        retry_if_failed=_RETRIES,
    )
    try:
        with _progress(source.name) as bar:
            downloader = pooch.HTTPDownloader(
                progressbar=bar,
                chunk_size=1 << 16,
                timeout=_SECONDS,
                hooks={"response": _close_if_refused},
            )
            fetched = Path(home.fetch(name, downloader=downloader))
        if source.member:
            _extract(fetched, source.member, path)
    # pooch says ValueError for a wrong checksum; the errors of requests are OSErrors.
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise DownloadError(f"{source.url} could not be fetched ({error})") from error
    return path


def _close_if_refused(response: Any, **_: Any) -> None:
    # pooch would leave the connection open.
    if not response.ok:
        response.close()


def _extract(archive: Path, member: str, path: Path) -> None:
    with zipfile.ZipFile(archive) as content:
        # Some archives have their files in a folder, some have not.
        inside = [name for name in content.namelist() if Path(name).name == member]
        if not inside:
            raise ValueError(f"{member!r} is not in it, but {content.namelist()}")
        path.write_bytes(content.read(inside[0]))


class _Bar:
    """What pooch asks of a progress bar, as one of rich's."""

    def __init__(self, display: Any, label: str) -> None:
        self._display = display
        self._task = display.add_task(label, total=None)

    @property
    def total(self) -> int | None:
        return self._display.tasks[self._task].total  # type: ignore[no-any-return]

    @total.setter
    def total(self, value: int) -> None:
        # Set at the start of each attempt. A server that does not know says 0.
        self._display.reset(self._task, total=value or None)

    def update(self, n_bytes: int) -> None:
        self._display.advance(self._task, n_bytes)

    def reset(self) -> None:
        self._display.reset(self._task)

    def close(self) -> None:
        """Nothing to do: the display closes itself."""


@contextmanager
def _progress(label: str) -> Iterator[_Bar | bool]:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn
    except ImportError:
        yield False
        return
    if not sys.stderr.isatty():
        yield False
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True)) as display:
        yield _Bar(display, label)
