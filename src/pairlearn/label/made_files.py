"""Files to take along: model, predictions, report, pairs.

There is one way to make a model, `pairlearn fit`, and it is taken here, too: as another
process, of low priority, one at a time. What is made is kept until new answers come.
"""

from __future__ import annotations

import asyncio
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from pairlearn.label.values import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

__all__ = ["MadeFiles", "fit_options"]

_NAMES = {
    "model": "model.skops",
    "predictions": "predictions.csv",
    "report": "report.html",
}
# Seconds for a program to end by itself.
_PATIENCE = 2.0
_LONGEST_MESSAGE = 600


@dataclass
class _Made:
    """What has become of a file: how far it is, and of which answers it is made."""

    state: str = "none"
    message: str | None = None
    mark: int | None = None


def fit_options(settings: Mapping[str, Any], first_row: int | None) -> list[str]:
    """Return the options of `pairlearn fit` that go with those of an interview.

    Parameters
    ----------
    settings : dict
        The settings of the interview.
    first_row : int or None
        The number of the first row, if points are known by row numbers.

    Returns
    -------
    list of str

    Examples
    --------
    >>> fit_options({"id": None, "kinds": 2, "noise": "auto", "seed": 0}, None)
    []
    >>> fit_options({"id": "key", "kinds": 3, "noise": [0.9, 0.2], "seed": 5}, None)
    ['--id', 'key', '--kinds', '3', '--noise', '0.9,0.2', '--seed', '5']
    """
    words = []
    if settings.get("id") is not None:
        words += ["--id", str(settings["id"])]
    if first_row is not None:
        words += ["--first-row", str(first_row)]
    if settings.get("delimiter") is not None:
        words += ["--delimiter", str(settings["delimiter"])]
    if settings.get("kinds", 2) not in (2, "auto"):
        words += ["--kinds", str(settings["kinds"])]
    noise = settings.get("noise", "auto")
    if noise is None:
        words += ["--noise", "none"]
    elif noise != "auto":
        rates = noise if isinstance(noise, list | tuple) else [noise]
        words += ["--noise", ",".join(f"{rate:g}" for rate in rates)]
    if settings.get("embed") is not None:
        words += ["--embed", str(settings["embed"])]
    if settings.get("seed", 0):
        words += ["--seed", str(settings["seed"])]
    return words


class MadeFiles:
    """Make files when they are asked for.

    Parameters
    ----------
    points : Path
        The table of points.
    answers : Path or str
        The file of answers, or the address of their database.
    options : sequence of str
        Options of `pairlearn fit`.
    id_column : str, optional
        The column of the ids.
    known : callable
        Returns a number that changes when answers or names of groups do, and these
        names: dicts of a name and the ids of its members.
    """

    def __init__(
        self,
        points: Path,
        answers: Path | str,
        options: Sequence[str] = (),
        *,
        id_column: str | None = None,
        known: Callable[[], Awaitable[tuple[int, list[dict[str, Any]]]]],
    ) -> None:
        self._points = points.absolute()
        self._answers = (
            answers.absolute() if isinstance(answers, Path) else str(answers)
        )
        self._options, self._id_column = list(options), id_column
        self._known = known
        self._made = {what: _Made() for what in _NAMES}
        self._wanted: list[str] = []
        self._work: asyncio.Task[None] | None = None
        self._folder: Path | None = None

    def states(self) -> dict[str, dict[str, str]]:
        """Return how far each file is."""
        return {what: self._state(what) for what in _NAMES}

    def _state(self, what: str) -> dict[str, str]:
        made = self._made[what]
        told = {"state": made.state}
        if made.message is not None:
            told["message"] = made.message
        if made.state == "ready":
            told["url"] = f"/files/{_NAMES[what]}"
        return told

    async def make(self, what: str) -> dict[str, str]:
        """Begin to make a file, unless it is there, or being made.

        Parameters
        ----------
        what : {"model", "predictions", "report"}
            Which.

        Returns
        -------
        dict
            How far it is.
        """
        made = self._made[what]
        if made.state != "working":
            mark, _ = await self._known()
            if made.state != "ready" or made.mark != mark:
                self._made[what] = _Made("working", None, made.mark)
                self._wanted.append(what)
        if self._wanted and (self._work is None or self._work.done()):
            self._work = asyncio.create_task(self._make_wanted())
        return self._state(what)

    async def content(self, name: str) -> bytes | None:
        """Return what is in a file that has been made, or None."""
        what = next(what for what, known in _NAMES.items() if known == name)
        if self._folder is None or self._made[what].mark is None:
            return None
        with suppress(FileNotFoundError):
            return await to_thread.run_sync((self._folder / name).read_bytes)
        return None

    async def pairs_csv(self) -> bytes:
        """Return all answers as a table of pairs."""
        words = ["pairlearn.label.pairs_file"]
        return await self._read_by(words, stdout=subprocess.PIPE)

    async def _read_by(self, words: list[str], **options: Any) -> bytes:
        """Run a program that reads the answers; return what it prints.

        It is told where they are as its input: an address may hold a password, and
        everybody on the machine sees arguments.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            *words,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            **options,
        )
        try:
            out, problem = await process.communicate(str(self._answers).encode())
        except BaseException:
            await _end(process)
            raise
        if process.returncode:
            raise Refused(_sentence(problem), 503)
        return out or b""

    async def _answers_file(self, folder: Path) -> Path:
        """Return a file with the answers; those of a database are copied into one."""
        if isinstance(self._answers, Path):
            return self._answers
        path = folder / "answers.sqlite"
        await to_thread.run_sync(lambda: path.unlink(missing_ok=True))
        await self._read_by(["pairlearn.label.copied", str(path)])
        return path

    async def close(self) -> None:
        """Stop what is being made, and remove what was."""
        if self._work is not None:
            self._work.cancel()
            with suppress(asyncio.CancelledError):
                await self._work
        if self._folder is not None:
            await to_thread.run_sync(
                lambda: shutil.rmtree(self._folder or "", ignore_errors=True)
            )
            self._folder = None

    async def _make_wanted(self) -> None:
        while self._wanted:
            what = self._wanted.pop(0)
            try:
                mark, names = await self._known()
                done = await self._make_model(mark, names)
                if what == "predictions":
                    await self._predict()
            except Refused as problem:
                self._made[what] = _Made("failed", str(problem), self._made[what].mark)
            except Exception as problem:
                self._made[what] = _Made(
                    "failed", f"it could not be made: {problem}", self._made[what].mark
                )
                raise
            else:
                for each in (*done, what):
                    self._made[each] = _Made("ready", None, mark)
                self._wanted = [each for each in self._wanted if each not in done]

    async def _make_model(
        self, mark: int, names: list[dict[str, Any]]
    ) -> tuple[str, ...]:
        """Make model and report, unless they are those of these answers."""
        if self._made["model"].mark == mark and self._made["report"].mark == mark:
            return ()
        if self._folder is None:
            self._folder = Path(await to_thread.run_sync(tempfile.mkdtemp))
        names = [group for group in names if group.get("name")]
        answers = await self._answers_file(self._folder)
        words = ["fit", str(self._points), str(answers), *self._options]
        if names:
            labels = self._folder / "labels.csv"
            await to_thread.run_sync(self._write_labels, labels, names)
            words += ["--labels", str(labels)]
        words += ["--out", str(self._folder / _NAMES["model"])]
        words += ["--report", str(self._folder / _NAMES["report"])]
        await self._run(words)
        return "model", "report"

    def _write_labels(self, path: Path, names: list[dict[str, Any]]) -> None:
        """Write which points are called what, as `fit` names groups by."""
        column = self._id_column or "id"
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow((column, "class" if column != "class" else "label"))
            for group in names:
                rows.writerows((member, group["name"]) for member in group["members"])

    async def _predict(self) -> None:
        folder = self._folder or Path()
        words = ["predict", str(folder / _NAMES["model"]), str(self._points)]
        words += ["--out", str(folder / _NAMES["predictions"])]
        for option in ("--delimiter", "--embed"):
            if option not in self._options:
                continue
            place = self._options.index(option)
            words += self._options[place : place + 2]
        await self._run(words)

    async def _run(self, words: list[str]) -> None:
        """Run a command of ours, and refuse with its sentence if it fails."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "pairlearn",
            *words,
            "--quiet",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=_environment(),
            # A signal to the terminal is for the server, which then ends this.
            start_new_session=os.name == "posix",
        )
        # People who answer come first.
        if os.name == "posix":
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, process.pid, 10)
        try:
            _, problem = await process.communicate()
        except BaseException:
            await _end(process)
            raise
        if process.returncode:
            raise Refused(_sentence(problem), 503)


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), _PATIENCE)
        except TimeoutError:
            process.kill()
            await process.wait()


def _environment() -> dict[str, str]:
    return os.environ | {"NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}


def _sentence(printed: bytes) -> str:
    """Return the last thing that a command said, without the notes before it."""
    lines = printed.decode("utf-8", "replace").split("\n")
    said = [line.strip() for line in lines if line.strip()]
    last = said[-1] if said else "it ended without saying why"
    return last[:_LONGEST_MESSAGE]
