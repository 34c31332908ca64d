"""New points that look unlike those of the fit, and dates that tell nothing.

``python -m benchmarks.first_contact`` writes ``benchmarks/results/first_contact.md`` in
a minute; ``--runs 50 --tables 2`` tries less and writes nothing.

For the first table, points at the fit and new ones are drawn from the same distribution
(false alarms), or one column of the new ones is shifted (power), and the test of
`pairlearn.cli.looks` is made. For the second, points of two kinds have two numbers and
a date that tells nothing, or is on average some months later for one kind, with a
standard deviation of 100 days; answers are about disjoint random pairs, all right.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks.report import machine, publish, table
from pairlearn.cli.dates import leave_out_idle_dates
from pairlearn.cli.looks import NewPoints, looks_of
from pairlearn.files.tables.answered_pairs import AnsweredPairs
from pairlearn.files.tables.make_cells import cells_of
from pairlearn.files.tables.points import read_points
from pairlearn.files.tables.reading import Table

RUNS, TABLES = 200, 5
# Columns of the points at the fit, how many points there are, and how many new ones.
WORLDS = ((5, 100, 50), (5, 400, 200), (20, 400, 200))
SHIFTS = (0.5, 1.0)
PAIRS, MONTHS = (60, 170), (0.0, 6.0)


def draw(rng: np.random.Generator, n_columns: int, n: int, shift: float = 0.0) -> Table:
    """Draw points: numbers of several shapes, categories, and gaps in every fifth."""
    columns: dict[str, list[Any]] = {}
    for k in range(n_columns):
        values: Any = rng.normal(size=n) + (shift if k == 0 else 0.0)
        if k % 5 == 1:
            values = rng.exponential(size=n)
        elif k % 5 == 2:
            values = rng.integers(4, size=n).astype(float)
        elif k % 5 == 3:
            values = rng.choice(
                ["red", "blue", "green", "grey"], n, p=[0.5, 0.3, 0.1, 0.1]
            )
        elif k % 5 == 4:
            values = np.where(rng.random(n) < 0.2, np.nan, values)
        columns[f"c{k}"] = [None if x != x else x for x in values.tolist()]
    cells = {name: cells_of(values) for name, values in columns.items()}
    return Table("points", cells, np.arange(1, n + 1), text=False)


def alarm(rng: np.random.Generator, world: tuple[int, int, int], shift: float) -> bool:
    """Tell whether new points are called unlike those of the fit."""
    n_columns, n, m = world
    looks = looks_of(read_points(draw(rng, n_columns, n), first_row=1))
    new = NewPoints(None, {"looks": looks})
    for _ in new.watch(iter([draw(rng, n_columns, m, shift)])):
        pass
    return bool(new.notes())


def stays(rng: np.random.Generator, n_pairs: int, months: float) -> bool:
    """Tell whether a column of dates stays."""
    n = 2 * n_pairs
    y = rng.random(n) < 0.5
    x = rng.normal(size=(n, 2)) + 0.9 * y[:, None]
    days = (rng.normal(scale=100, size=n) + 30 * months * y).astype(int)
    dates = np.datetime64("2024-01-01") + days.astype("timedelta64[D]")
    columns = {"a": x[:, 0].tolist(), "b": x[:, 1].tolist(), "day": dates.tolist()}
    cells = {name: cells_of(values) for name, values in columns.items()}
    found = Table("points", cells, np.arange(1, n + 1), text=False)
    points = read_points(found, first_row=1)
    index = rng.permutation(n).reshape(-1, 2)
    t = np.where(y[index[:, 0]] == y[index[:, 1]], 1.0, -1.0)
    answered = AnsweredPairs(points, index, t, [[k] for k in range(n_pairs)])
    return not leave_out_idle_dates(answered, np.arange(n_pairs), 2, 0)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--tables", type=int, default=TABLES)
    wanted = parser.parse_args()
    rng = np.random.default_rng(0)
    rows = []
    for world in WORLDS:
        shares = [
            np.mean([alarm(rng, world, shift) for _ in range(wanted.runs)])
            for shift in (0.0, *SHIFTS)
        ]
        names = [f"{size:,}" for size in world]
        rows.append([*names, f"{shares[0]:.1%}", *(f"{x:.0%}" for x in shares[1:])])
    head = ["columns", "points at the fit", "new points", "false alarms"]
    unlike = table([*head, *(f"one column + {s:g} sd" for s in SHIFTS)], rows)
    rows = [
        [
            f"{n_pairs}",
            *(
                f"{np.mean([stays(rng, n_pairs, m) for _ in range(wanted.tables)]):.0%}"
                for m in MONTHS
            ),
        ]
        for n_pairs in PAIRS
    ]
    dates = table(
        ["pairs", "tells nothing", *(f"{m:g} months apart" for m in MONTHS[1:])], rows
    )
    parts = [
        machine("numpy", "scipy", "scikit-learn"),
        "## Do new points look unlike those of the fit?",
        f"Share of {wanted.runs:,} simulated tables of which `predict` says so.",
        unlike,
        "## Does a column of dates stay?",
        f"Share of {wanted.tables} simulated tables in which it does.",
        dates,
    ]
    if (wanted.runs, wanted.tables) == (RUNS, TABLES):
        publish("first_contact", "First contact", parts)
    else:
        print("\n\n".join(parts))


if __name__ == "__main__":
    main()
