"""Time of `pairlearn fit` by its steps, on 200,000 points and 20,000 answers.

``python -m benchmarks.fitting --before OTHER/src`` compares this checkout with another
one, whose package lies in ``OTHER/src``, run alternately; it writes
``benchmarks/results/fitting.md``. With ``--points 5000`` tables are smaller, and
nothing is written, nor without a checkout to compare with.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.reading import categories, dates, floats, whole, with_missing
from benchmarks.report import machine, publish, table

if TYPE_CHECKING:
    from collections.abc import Iterator

REPEATS, N_POINTS, N_COLUMNS = 3, 200_000, 20
KINDS = (floats, with_missing, whole, categories, dates)
HERE = Path(__file__).parents[1] / "src"
# Runs the command, and prints when each of its steps began, on two clocks.
COMMAND = """
import json, sys, time
clocks = lambda: (time.perf_counter(), time.process_time())
steps = [("start", *clocks())]
from pairlearn.cli import main, show
show.Progress.step = lambda _, doing: steps.append((doing, *clocks()))
try:
    main()
finally:
    print(json.dumps([*steps, ("end", *clocks())]), file=sys.stderr)
"""
# What each step is called here; they begin with these words.
STEPS = {
    "start": "import",
    "reading": "read the tables, keep pairs aside",
    "learning": "learn (`model.fit`)",
    "testing": "certify, importance, fingerprints",
    "writing": "write the model",
}


def write(folder: Path, n_points: int, n_pairs: int) -> list[str]:
    """Write a table of points of several kinds, and one of answers about pairs."""
    rng = np.random.default_rng(0)
    y = rng.random(n_points) < 0.6
    columns = [KINDS[k % len(KINDS)](rng, n_points) for k in range(N_COLUMNS)]
    for k in (0, 5, 10):  # these bear on the question
        columns[k] = [f"{x:.6g}" for x in (rng.normal(size=n_points) + y).tolist()]
    points, pairs = folder / "points.csv", folder / "pairs.csv"
    with points.open("w") as file:
        file.write(",".join(["id", *(f"x{k}" for k in range(N_COLUMNS))]) + "\n")
        rows = enumerate(zip(*columns, strict=True))
        file.writelines(f"p{i},{','.join(row)}\n" for i, row in rows)
    index = rng.integers(0, n_points, (n_pairs, 2))
    same = (y[index[:, 0]] == y[index[:, 1]]) ^ (rng.random(n_pairs) < 0.03)
    with pairs.open("w") as file:
        file.write("left,right,answer\n")
        for (i, j), t in zip(index.tolist(), same.tolist(), strict=True):
            file.write(f"p{i},p{j},{'same' if t else 'different'}\n")
    return [str(points), str(pairs)]


def fit(source: Path, tables: list[str], model: Path) -> Iterator[tuple[str, ...]]:
    """Yield the steps of one run, each with its seconds and those of a processor."""
    process = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", COMMAND, "fit", *tables, "-o", str(model)],
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    steps = json.loads(process.stderr.splitlines()[-1])
    name = "start"
    for before, after in pairwise(steps):
        name = next((s for s in STEPS if before[0].startswith(s)), name)
        yield name, after[1] - before[1], after[2] - before[2]
    yield "all", steps[-1][1] - steps[0][1], steps[-1][2] - steps[0][2]


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="src folder of another checkout")
    parser.add_argument("--points", type=int, default=N_POINTS)
    options = parser.parse_args()
    n_pairs = options.points // 10
    sides = {"before": options.before, "now": HERE} if options.before else {"now": HERE}
    runs: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    models: dict[str, bytes] = {}
    with TemporaryDirectory() as folder:
        tables = write(Path(folder), options.points, n_pairs)
        for run in range(REPEATS):
            for side, source in sides.items():
                model = Path(folder, "model.skops")
                totals: dict[tuple[str, str, int], float] = defaultdict(float)
                for step, *clocks in fit(source, tables, model):
                    for clock, seconds in enumerate(clocks):
                        totals[side, step, clock] += float(seconds)
                for key, seconds in totals.items():
                    runs[key].append(seconds)
                models[side] = model.read_bytes()
                print(run, side, f"{totals[side, 'all', 0]:.1f} s", flush=True)
    rows = [
        [
            title,
            *(
                f"{statistics.median(runs[side, step, clock]):.2f}"
                for clock in (0, 1)
                for side in sides
            ),
        ]
        for step, title in {**STEPS, "all": "all"}.items()
    ]
    header = [
        "step",
        *(f"{clock}, {s}" for clock in ("seconds", "CPU s") for s in sides),
    ]
    print(table(header, rows))
    same = len(set(models.values())) == 1
    about = (
        f"`pairlearn fit` of a CSV file of {options.points:,} points with {N_COLUMNS} "
        f"columns (numbers, some missing, whole numbers, categories, dates) and "
        f"{n_pairs:,} answers, in a process of its own; the median of {REPEATS} "
        "alternating runs. Where other work runs beside, CPU seconds tell more."
    )
    if options.before:
        about += f" The model files are {'' if same else 'not '}the same to the byte."
    if options.points == N_POINTS and options.before:
        parts = [machine("numpy", "pandas", "pyarrow", "scikit-learn"), about]
        publish("fitting", "Steps of pairlearn fit", [*parts, table(header, rows)])


if __name__ == "__main__":
    main()
