"""Simulate certificates in all cells, and write the tables."""

from __future__ import annotations

import argparse
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.report import machine, publish, table
from benchmarks.trust.cells import NAMED, OTHERWISE, floor, simulate
from benchmarks.trust.grid import WAYS, grid_cell, grid_keys
from benchmarks.trust.worlds import NOISE, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator


RUNS = 1000
# Runs that a process does at a time.
PART = 50
# Whole fits take a second each; without the safeguard they are run less often by this.
SLOW = 10


def simulate_all(
    sizes: dict[str, int], pool: ProcessPoolExecutor
) -> Iterator[tuple[str, list[Outcome]]]:
    """Run cells in parts, which share the processes evenly; yield each when done."""
    parts = {
        name: [
            pool.submit(simulate, name, min(PART, n - begin), begin)
            for begin in range(0, n, PART)
        ]
        for name, n in sizes.items()
    }
    for name, waiting in parts.items():
        outcomes = [each for part in waiting for each in part.result()]
        print(f"{len(outcomes)} runs: {name}", file=sys.stderr, flush=True)
        yield name, outcomes


def grid_part(n_runs: int, pool: ProcessPoolExecutor) -> str:
    """Run the grid, and lay out the worst cells of each way and kind of noise."""
    keys = grid_keys()
    cells = dict(
        zip(keys, pool.map(grid_cell, keys, [n_runs] * len(keys)), strict=True)
    )
    rows, below = [], []
    for way in WAYS:
        for noise in NOISE:
            mine = {k: c for k, c in cells.items() if k[:2] == (way, noise)}
            worst = min(mine, key=lambda k: mine[k]["held"])
            below += [k for k in mine if mine[k]["held"] < floor(0.95, n_runs)]
            ratios = [c["width"] / c["shortest"] for c in mine.values() if c["given"]]
            known = [ratio for ratio in ratios if math.isfinite(ratio)]
            rows.append(
                [
                    way,
                    noise,
                    f"{np.mean([c['held'] for c in mine.values()]):.1%}",
                    f"{mine[worst]['held']:.1%}",
                    f"error {worst[2]:.1%}, n {worst[3]}, prior {worst[4]}",
                    f"{np.mean([c['given'] for c in mine.values()]):.1%}",
                    f"{np.median(known):.2f}" if known else "",
                ]
            )
    head = [
        "way", "wrong answers", "coverage", "worst", "where", "given", "width",
    ]  # fmt: skip
    told = (
        f"Grid: {len(keys)} cells of {n_runs} runs, promised 95%, floor "
        f"{floor(0.95, n_runs):.1%} (three standard errors). {len(below)} cells are "
        "below it"
        + (f": {below}" if below else "")
        + ". Given: in how many runs there "
        "was a certificate; a refusal (more than two kinds, it seems) claims nothing. "
        "Width: the median over cells of the mean width, divided by that of Blaker's "
        "interval for known symmetric noise, the shortest exact interval known."
    )
    return f"{told}\n\n{table(head, rows)}"


def named_part(n_runs: int, pool: ProcessPoolExecutor) -> str:
    """Run the named cells, and lay them out."""
    rows = []
    # The slow ones first, so that they run beside each other.
    names = sorted(NAMED, key=lambda name: not NAMED[name].slow)
    sizes = dict.fromkeys(names, n_runs)
    for name, outcomes in simulate_all(sizes, pool):
        cell, n = NAMED[name], sizes[name]
        held = float(np.mean([each.held for each in outcomes]))
        widths = [each.width for each in outcomes if math.isfinite(each.width)]
        rows.append(
            [
                str(cell.item),
                name,
                f"{n}",
                f"{100 * cell.promised:g}%",
                f"{held:.1%}" + ("" if held >= floor(cell.promised, n) else " BELOW"),
                f"{np.mean(widths):.3f}" if widths else "",
            ]
        )
    head = ["item", "cell", "runs", "promised", "held", "mean width"]
    sizes = dict.fromkeys(OTHERWISE, n_runs)
    sizes[next(iter(OTHERWISE))] = max(1, n_runs // SLOW)
    others = [
        [name, f"{sizes[name]}", f"{np.mean([each.held for each in outcomes]):.1%}"]
        for name, outcomes in simulate_all(sizes, pool)
    ]
    told = "The same worlds without the safeguard; 95% were promised:"
    return "\n\n".join(
        [table(head, rows), told, table(["cell", "runs", "held"], others)]
    )


def main() -> None:
    """Simulate, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each cell")
    parser.add_argument("--parts", nargs="+", default=["named", "grid"])
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as pool:
        made = {"named": named_part, "grid": grid_part}
        parts = [made[name](options.runs, pool) for name in options.parts]
    if options.runs < RUNS or len(parts) < 2:
        print("\n\n".join(parts))
        return
    about = "`python -m benchmarks.trust`. " + machine("numpy", "scipy", "scikit-learn")
    publish("trust", "Certificates under simulation", [about, *parts])


if __name__ == "__main__":
    main()
