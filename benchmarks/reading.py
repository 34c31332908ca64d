"""Reading of tables: `pairlearn check` on CSV files of several kinds.

``python -m benchmarks.reading`` writes ``benchmarks/results/reading.md``; with ``--rows
0.1`` tables have a tenth of their rows, and nothing is written.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.report import machine, publish, table

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS, N_PAIRS, BLOCK = 3, 2000, 1000
COMMAND = "from pairlearn.cli import main; main()"
WORDS = np.array(
    ["river", "stone", "amber", "cloud", "north", "seven", "paper", "light"]
)


class Kind(NamedTuple):
    """A table to read; `columns` makes some rows of each column as text."""

    title: str
    n_rows: int
    n_columns: int
    delimiter: str
    columns: list[Callable[[np.random.Generator, int], list[str]]]


def floats(rng: np.random.Generator, n: int) -> list[str]:
    """Return numbers as most programs write them."""
    return [f"{x:.6g}" for x in rng.normal(size=n).tolist()]


def with_missing(rng: np.random.Generator, n: int) -> list[str]:
    """Return numbers, a tenth of them missing."""
    gone = (rng.uniform(size=n) < 0.1).tolist()
    words = ("", "NA", "n/a", "?")
    return [
        words[k % 4] if missing else x
        for k, (missing, x) in enumerate(zip(gone, floats(rng, n), strict=True))
    ]


def whole(rng: np.random.Generator, n: int) -> list[str]:
    """Return whole numbers."""
    return [str(k) for k in rng.integers(-50, 10_000, n).tolist()]


def categories(rng: np.random.Generator, n: int) -> list[str]:
    """Return one of eight words."""
    words: list[str] = WORDS[rng.integers(0, len(WORDS), n)].tolist()
    return words


def flags(rng: np.random.Generator, n: int) -> list[str]:
    """Return true or false."""
    return [str(k == 1) for k in rng.integers(0, 2, n).tolist()]


def dates(rng: np.random.Generator, n: int) -> list[str]:
    """Return dates of fifty years, day first."""
    days = np.datetime64("1975-01-01") + rng.integers(0, 18_000, n)
    return [f"{day:%d.%m.%Y}" for day in days.tolist()]


def moments(rng: np.random.Generator, n: int) -> list[str]:
    """Return dates with the time of day."""
    seconds = np.datetime64("1990-01-01T00:00:00") + rng.integers(0, 10**9, n)
    return [f"{moment:%Y-%m-%d %H:%M:%S}" for moment in seconds.tolist()]


def commas(rng: np.random.Generator, n: int) -> list[str]:
    """Return numbers with decimal commas."""
    return [x.replace(".", ",") for x in floats(rng, n)]


def groups(rng: np.random.Generator, n: int) -> list[str]:
    """Return numbers with points between thousands and a decimal comma."""
    marks = str.maketrans(",.", ".,")
    return [f"{x:,.2f}".translate(marks) for x in rng.uniform(0, 1e7, n).tolist()]


def thousands(rng: np.random.Generator, n: int) -> list[str]:
    """Return numbers with commas between thousands, in quotes."""
    return [f'"{x:,.2f}"' for x in rng.uniform(0, 1e7, n).tolist()]


def sentences(rng: np.random.Generator, n: int) -> list[str]:
    """Return free text, with a comma, in quotes."""
    drawn = WORDS[rng.integers(0, len(WORDS), (n, 8))].tolist()
    return [f'"{" ".join(words[:4])}, {" ".join(words[4:])}"' for words in drawn]


def with_a_word(rng: np.random.Generator, n: int) -> list[str]:
    """Return numbers that a seldom word makes text of."""
    return [*floats(rng, n - 1), "n.d."]


KINDS = (
    Kind("floats", 100_000, 300, ",", [floats]),
    Kind("floats, long", 5_000_000, 3, ",", [floats]),
    Kind(
        "mixed kinds",
        100_000,
        60,
        ",",
        [floats, whole, categories, with_missing, dates, moments, flags],
    ),
    Kind("decimal commas", 100_000, 60, ";", [commas]),
    Kind("points between thousands", 100_000, 60, ";", [groups]),
    Kind("commas between thousands", 100_000, 60, ",", [thousands]),
    Kind("words among numbers", 100_000, 60, ",", [with_a_word, whole]),
    Kind("free text", 100_000, 60, ",", [whole, sentences, sentences, sentences]),
)


def write(kind: Kind, n_rows: int, folder: Path) -> tuple[Path, Path]:
    """Write a table of points, and one of random pairs of them."""
    rng = np.random.default_rng(0)
    points, pairs = folder / "points.csv", folder / "pairs.csv"
    makers = [kind.columns[k % len(kind.columns)] for k in range(kind.n_columns)]
    names = ["id", *(f"x{k}" for k in range(kind.n_columns))]
    with points.open("w") as file:
        file.write(kind.delimiter.join(names) + "\n")
        for begin in range(0, n_rows, BLOCK):
            n = min(BLOCK, n_rows - begin)
            ids = [f"p{k}" for k in range(begin, begin + n)]
            rows = zip(ids, *(make(rng, n) for make in makers), strict=True)
            file.writelines(kind.delimiter.join(row) + "\n" for row in rows)
    index = rng.integers(0, n_rows, (N_PAIRS, 2)).tolist()
    same = rng.integers(0, 2, N_PAIRS).tolist()
    with pairs.open("w") as file:
        file.write("left,right,answer\n")
        for (i, j), t in zip(index, same, strict=True):
            file.write(f"p{i},p{j},{'same' if t else 'different'}\n")
    return points, pairs


def check(points: Path, pairs: Path) -> tuple[float, float, float]:
    """Return the seconds, the seconds of a processor, and the gigabytes of a check."""
    start = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-c", COMMAND, "check", str(points), str(pairs)],
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"pairlearn check ended with {process.returncode}")
    seconds = time.perf_counter() - start
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1.0, help="share of the rows")
    share = parser.parse_args().rows
    rows = []
    for kind in KINDS:
        n_rows = max(int(share * kind.n_rows), 100)
        with TemporaryDirectory() as folder:
            files = write(kind, n_rows, Path(folder))
            megabytes = files[0].stat().st_size / 1e6
            runs = [check(*files) for _ in range(REPEATS)]
        seconds, processor, memory = (
            statistics.median(x) for x in zip(*runs, strict=True)
        )
        n_cells = n_rows * (kind.n_columns + 1)
        rows.append(
            [
                kind.title,
                f"{n_rows:,} x {kind.n_columns}",
                f"{megabytes:.0f}",
                f"{seconds:.1f}",
                f"{processor:.1f}",
                f"{1e6 * processor / n_cells:.2f}",
                f"{memory:.2f}",
            ]
        )
        print(*rows[-1], sep="  ", flush=True)
    header = ["table", "size", "MB", "seconds", "CPU s", "CPU us a cell", "peak GB"]
    about = (
        f"`pairlearn check` of a CSV file and of {N_PAIRS:,} pairs in a process of its "
        f"own, start included; the median of {REPEATS} runs."
    )
    if share == 1:
        parts = [machine("numpy", "pandas", "pyarrow"), about, table(header, rows)]
        publish("reading", "Reading of tables", parts)


if __name__ == "__main__":
    main()
