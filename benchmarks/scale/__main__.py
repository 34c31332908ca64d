"""``python -m benchmarks.scale``: measure all parts, or some, and write the table.

What a part has measured goes into ``benchmarks/results/scale.json`` when the part is
done, so that a run can be stopped and others go on: ``--parts growth memory``. The
table and the picture are made of that file; ``--table-only`` measures nothing.
``--quick`` takes sizes 20 times smaller and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from typing import Any

from benchmarks.report import RESULTS, machine, publish, table
from benchmarks.scale import (
    disk,
    evaluations,
    fits,
    growth,
    memory,
    picture,
    rivals,
    workers,
)
from benchmarks.scale.measure import THREADS, pinned, told

PARTS: dict[str, Any] = {
    "bandwidth": evaluations,
    "fits": fits,
    "rivals": rivals,
    "growth": growth,
    "memory": memory,
    "disk": disk,
    "dask": workers,
}
ON_DISK = ("disk", "dask")
RECORD = RESULTS / "scale.json"


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.scale")
    add = parser.add_argument
    add("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="some (all)")
    add("--quick", action="store_true", help="small sizes; write nothing")
    add("--table-only", action="store_true", help="measure nothing; write the table")
    add("--scratch", default=tempfile.gettempdir(), help="folder for points on disk")
    return parser.parse_args(given)


def summary(record: dict[str, Any]) -> list[str]:
    """Return the parts of the page: what must hold, then all figures."""
    measured = {name: part for name, part in PARTS.items() if name in record}
    rows = [
        check.row()
        for name, part in measured.items()
        for check in part.checks(record[name])
    ]
    missing = [name for name in PARTS if name not in measured]
    page = [
        machine("numpy", "scipy", "scikit-learn", "numba", "torch", "dask"),
        (
            f"Every part runs in processes of its own with {THREADS} threads for BLAS, "
            "OpenMP and numba; what is compared is run in turns."
        ),
        table(["what must hold", "figure", "bound", ""], rows),
    ]
    if missing:
        page.append(f"Not measured yet: {', '.join(missing)}.")
    for name, part in measured.items():
        page += part.parts(record[name])
    return page


def main() -> None:
    """Measure, then write."""
    options = arguments()
    os.environ |= pinned()
    # A run that is ended from outside removes its points on disk, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    stored = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    record = {} if options.quick else stored
    shrink = 20 if options.quick else 1
    for name in [] if options.table_only else options.parts:
        told(f"{name}:")
        start = time.perf_counter()
        where = {"scratch": options.scratch} if name in ON_DISK else {}
        record[name] = PARTS[name].measure(shrink, **where)
        told(f"{name}: {time.perf_counter() - start:.0f} s")
        if not options.quick:
            RECORD.write_text(json.dumps(record, indent=1) + "\n")
    if options.quick:
        told("\n\n".join(["Sizes are 20 times smaller than said.", *summary(record)]))
        return
    publish("scale", "Scale", summary(record))
    if "growth" in record:
        (RESULTS / "scale.png").write_bytes(picture.png(record["growth"]))


if __name__ == "__main__":
    main()
