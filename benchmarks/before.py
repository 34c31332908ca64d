"""Is this version as fast as another one? Both are run in turns, in one session.

``python -m benchmarks.before OTHER/src`` times what users do, by the public interface
alone: small and large fits, sparse points, SGD, the default classifier, the import and
the help text. Times are medians of alternating runs, each in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks.report import machine, publish, table

HERE = Path(__file__).parents[1] / "src"

BEGIN = """
import time
from statistics import median
import numpy as np
from scipy import sparse
from pairlearn import CIPSClassifier, PairClassifier, Pairs

def made(n_points, n_features, n_pairs, dtype=float):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n_points) < 0.6, 1, -1)
    X = rng.normal(size=(n_points, n_features)) + 0.15 * y[:, None]
    pairs = Pairs(X.astype(dtype), rng.integers(n_points, size=(n_pairs, 2)))
    return pairs, pairs.answers(y)

def timed(function, repeats):
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    print(median(times))
"""

CASES = {
    "fit, 200 pairs of 400 points x 20": """
pairs, t = made(400, 20, 200)
timed(lambda: CIPSClassifier(random_state=0).fit(pairs, t), 50)""",
    "fit, 20,000 pairs of 40,000 points x 20": """
pairs, t = made(40_000, 20, 20_000)
timed(lambda: CIPSClassifier(random_state=0).fit(pairs, t), 7)""",
    "fit, 500,000 pairs of 100,000 points x 100": """
pairs, t = made(100_000, 100, 500_000)
timed(lambda: CIPSClassifier(random_state=0).fit(pairs, t), 3)""",
    "an evaluation of these, in float32": """
pairs, t = made(100_000, 100, 500_000, np.float32)
clf = CIPSClassifier(random_state=0)
def per_pass():
    start = time.perf_counter()
    clf.fit(pairs, t)
    return (time.perf_counter() - start) / clf.history_["passes"]
per_pass()
print(median(per_pass() for _ in range(3)))""",
    "fit, 20,000 pairs of sparse points x 2,000": """
rng = np.random.default_rng(0)
X = sparse.random_array((20_000, 2000), density=0.01, format="csr", rng=rng)
y = np.where(X @ rng.normal(size=2000) > 0, 1, -1)
pairs = Pairs(X, rng.integers(20_000, size=(20_000, 2)))
t = pairs.answers(y)
timed(lambda: CIPSClassifier(random_state=0).fit(pairs, t), 3)""",
    "ten epochs of SGD, 20,000 pairs": """
pairs, t = made(40_000, 20, 20_000)
clf = CIPSClassifier(solver="sgd", max_iter=10, n_init=1, random_state=0)
timed(lambda: clf.fit(pairs, t), 5)""",
    "PairClassifier, 300 pairs of 600 points x 10": """
pairs, t = made(600, 10, 300)
timed(lambda: PairClassifier(random_state=0).fit(pairs, t), 1)""",
}
ALONE = {
    "import pairlearn": """
import time
start = time.perf_counter()
import pairlearn
print(time.perf_counter() - start)""",
    "pairlearn --help": """
import contextlib, io, sys, time
start = time.perf_counter()
from pairlearn.cli import main
sys.argv = ["pairlearn", "--help"]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
print(time.perf_counter() - start)""",
}


def seconds(source: Path, code: str) -> float:
    """Return what a script prints that runs with one version of the package."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, "-c", code],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def main() -> None:
    """Time both versions in turns, print the table and store it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path, help="the folder src of the other version")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    codes = {name: BEGIN + code for name, code in CASES.items()} | ALONE
    rows = []
    for name, code in codes.items():
        times: dict[Path, list[float]] = {options.before: [], HERE: []}
        for _ in range(options.repeats):
            for source, found in times.items():
                found.append(seconds(source.resolve(), code))
        before, now = (median(found) for found in times.values())
        rows.append([name, f"{before:.4f}", f"{now:.4f}", f"{now / before:.2f}"])
        print(*rows[-1], sep="  ", flush=True)
    text = table(["what", "before, s", "now, s", "ratio"], rows)
    about = machine("numpy", "scipy", "scikit-learn", "numba")
    publish("before", "Before and now: both versions in turns, medians", [about, text])


if __name__ == "__main__":
    main()
