"""The record of the trials: a file with one JSON line a trial.

A trial is written as soon as it is done, so a run that is killed goes on where it was.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.report import RESULTS

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

PATH = RESULTS / "accuracy.jsonl"


@dataclass(frozen=True)
class Key:
    """What makes two trials the same one; kind is "trial" or "time"."""

    kind: str
    method: str
    dataset: str
    m: int
    seed: int

    def __str__(self) -> str:
        return f"{self.method}, {self.dataset}, {self.m} pairs, seed {self.seed}"


Results = dict[str, Any]


def read(path: Path = PATH) -> dict[Key, Results]:
    """Return the trials in the file; the last one counts if a trial is there twice."""
    found = {}
    for line in _whole_lines(path):
        row = json.loads(line)
        key = Key(*(row.pop(name) for name in Key.__dataclass_fields__))
        found[key] = row
    return found


def add(key: Key, results: Results, path: Path = PATH) -> None:
    """Append a trial."""
    # One write of one line, to a file that is opened anew: nothing waits in a buffer,
    # and `forget` may have put another file in its place.
    with path.open("a", encoding="utf-8") as file:
        file.write(_line(key, results))


def repair(path: Path = PATH) -> None:
    """Make the file if there is none; cut off a last line that is half written."""
    path.parent.mkdir(exist_ok=True)
    path.touch()
    whole = "".join(_whole_lines(path)).encode()
    if len(whole) < path.stat().st_size:
        with path.open("r+b") as file:
            file.truncate(len(whole))


def forget(keys: Collection[Key], path: Path = PATH) -> None:
    """Take some trials out of the file."""
    kept = {key: row for key, row in read(path).items() if key not in keys}
    draft = path.with_suffix(".draft")
    draft.write_text("".join(_line(*item) for item in kept.items()), encoding="utf-8")
    draft.replace(path)


def _line(key: Key, results: Results) -> str:
    return json.dumps(vars(key) | results) + "\n"


def _whole_lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    lines = path.read_bytes().splitlines(keepends=True)
    return [line.decode() for line in lines if line.endswith(b"\n")]
