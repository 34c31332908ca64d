"""Speed of use: `predict_proba`, the command line's `predict`, and a large `fit`.

``python -m benchmarks.scoring`` takes a few minutes and writes
``benchmarks/results/scoring.md``. Points are scored on one core, where ratios within
the run tell more than seconds; the rest may use all cores. ``--small`` tries everything
with little data, and writes nothing.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from scipy.special import expit, softmax
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.report import machine, publish, table
from pairlearn import PairClassifier, Pairs
from pairlearn.engine.backends.numpy import distances
from pairlearn.reproduce.sample import draw_table
from pairlearn.reproduce.tabular import DATASETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REPEATS, N_COLUMNS, N_MAPS, N_VECTORS = 5, 20, 5, 660


def make(n_points: int, seed: int = 0) -> tuple[Any, Any]:
    """Return points of two classes with a curved boundary, and heavy tails."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_points, N_COLUMNS))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * np.sin(3 * X[:, 3]) > 0, 1, -1)
    X[:, :4] = np.sinh(X[:, :4])
    return X, y


def pairs_of(X: Any, y: Any, n_pairs: int, seed: int = 0) -> tuple[Pairs, Any]:
    """Return random pairs of the points, and answers, of which 3 % are wrong."""
    rng = np.random.default_rng(seed)
    index = rng.integers(0, len(X), (n_pairs, 2))
    index = index[index[:, 0] != index[:, 1]]
    t = y[index[:, 0]] * y[index[:, 1]]
    return Pairs(X, index), np.where(rng.random(len(t)) < 0.03, -t, t)


def features(feature_map: Any, X: Any) -> Any:
    """Return the features of points, with scikit-learn's kernels."""
    kernels = {"rbf": rbf_kernel, "laplacian": laplacian_kernel}
    kernel = kernels.get(feature_map.kernel.name)
    if kernel is not None:
        X = kernel(X, feature_map.landmarks, gamma=feature_map.gamma)
    return X @ feature_map.turn - feature_map.centre


def former(clf: PairClassifier, X: Any) -> Any:
    """Return the probabilities by the formula as it stands, one map after another."""
    ensemble = clf._ensemble
    out = []
    for begin in range(0, len(X), 4096):
        part = X[begin : begin + 4096]
        mean = np.tile(ensemble.constant_share * ensemble.constant, (len(part), 1))
        for member in ensemble.members:
            z = features(member.feature_map, member.view.transform(part))
            w = member.weights * member.slopes[:, None, None]
            f = np.einsum("nz,moz->nmo", z, w[..., :-1], optimize=True) + w[..., -1]
            both = np.concatenate([expit(-f), expit(f)], axis=2)
            p = both if f.shape[2] == 1 else softmax(f, axis=2)
            mean += np.tensordot(p, member.shares, (1, 0))
        out.append(softmax(ensemble.calibration(mean)[:, clf._order], axis=1))
    return np.concatenate(out)


@contextmanager
def one_core() -> Iterator[None]:
    """Stay on one core, with one thread of BLAS."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        with threadpool_limits(1):
            yield
    finally:
        os.sched_setaffinity(0, before)


def rates(ways: dict[str, Callable[[], Any]], n_rows: int) -> dict[str, list[float]]:
    """Return rows per second of the clock and of the processor, by turns."""
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(REPEATS):
        for name, way in ways.items():
            wall, cpu = time.perf_counter(), time.process_time()
            way()
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            seconds[name].append((wall, cpu))
    return {
        name: [n_rows / statistics.median(clock) for clock in zip(*runs, strict=True)]
        for name, runs in seconds.items()
    }


def scoring(n_rows: int) -> list[str]:
    """Measure `predict_proba` on one core."""
    X, y = make(4000 + n_rows)
    clf = PairClassifier(random_state=0).fit(*pairs_of(X[:4000], y[:4000], 2000))
    # As many maps of 300 landmarks as the figures are about.
    members = [m for m in clf._ensemble.members if m.feature_map.landmarks is not None]
    clf._ensemble = replace(clf._ensemble, members=members[:N_MAPS])
    svc = SVC(gamma="scale").fit(X[:N_VECTORS], y[:N_VECTORS])
    n_train = N_VECTORS * N_VECTORS // max(1, len(svc.support_))
    svc = SVC(gamma="scale").fit(X[:n_train], y[:n_train])
    points = X[4000:]

    def without_numba() -> Any:
        with patch.object(distances, "compiled_module", lambda: None):
            return clf.predict_proba(points)

    ways = {
        "`predict_proba`": lambda: clf.predict_proba(points),
        "`predict_proba` without numba": without_numba,
        "one map after another, as before": lambda: former(clf, points),
        f"`SVC.predict`, {len(svc.support_)} vectors": lambda: svc.predict(points),
    }
    with one_core():
        difference = np.abs(clf.predict_proba(points) - former(clf, points)).max()
        found = rates(ways, n_rows)
    base = found["one map after another, as before"][1]
    rows = [
        [name, f"{wall:,.0f}", f"{cpu:,.0f}", f"{cpu / base:.1f}"]
        for name, (wall, cpu) in found.items()
    ]
    about = (
        f"{n_rows:,} rows of {N_COLUMNS} columns, {len(members[:N_MAPS])} maps of "
        f"{members[0].feature_map.n_components} landmarks with "
        f"{sum(len(m.shares) for m in members[:N_MAPS])} models, one core; medians of "
        f"{REPEATS} runs by turns. The largest difference of a probability from what "
        f"it was before: {difference:.0e}."
    )
    head = ["way", "rows per second", "rows per CPU second", "against before"]
    return ["## Probabilities", about, table(head, rows)]


def differences(n_pairs: int, names: list[str]) -> list[str]:
    """Compare probabilities on the paper's tables, also badly scaled ones."""
    rows = []
    for name in names:
        sample = draw_table(name, n_pairs, 0, n_test=5000)
        factors = np.geomspace(1e-6, 1e6, sample.X.shape[1])
        cells = [name]
        for factor in (1.0, factors):
            X, new = sample.X * factor, sample.X_test * factor
            pairs = Pairs(X, np.arange(len(X)).reshape(-1, 2))
            clf = PairClassifier(random_state=0).fit(pairs, pairs.answers(sample.y))
            gap = np.abs(clf.predict_proba(new) - former(clf, new)).max()
            cells.append(f"{gap:.0e}")
        rows.append(cells)
    about = (
        f"The largest difference of a probability from what it was before, on the "
        f"paper's tables, with {n_pairs} pairs: columns that are standardised, and the "
        "same columns times 1e-6 to 1e6."
    )
    head = ["table", "standardised", "badly scaled"]
    return ["## Differences", about, table(head, rows)]


def run(*arguments: str) -> tuple[float, float, float]:
    """Run the command line; return seconds, those of the processor, and peak MiB."""
    wall = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "pairlearn", *arguments], stdout=subprocess.DEVNULL
    )
    # What the system says of the whole process counts ours, which it was forked from.
    peak, ended = 0.0, 0
    while not ended:
        peak = peak_of(process.pid) or peak
        time.sleep(0.02)
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
    wall = time.perf_counter() - wall
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"pairlearn {arguments[0]} failed")
    return wall, used.ru_utime + used.ru_stime, peak


def peak_of(number: int) -> float:
    """Return the most MiB that a process has had so far."""
    try:
        lines = Path(f"/proc/{number}/status").read_text().splitlines()
    except OSError:
        return 0.0
    found = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(found[0]) / 1024 if found else 0.0


def write(path: Path, X: Any) -> None:
    """Write points as CSV, with ids and six digits."""
    head = ",".join(["id", *(f"x{k}" for k in range(N_COLUMNS))])
    pattern = "p%d," + ",".join(["%.6g"] * N_COLUMNS) + "\n"
    with path.open("w") as file:
        file.write(head + "\n")
        file.writelines(pattern % (i, *row) for i, row in enumerate(X.tolist()))


def command_line(n_rows: int) -> list[str]:
    """Measure `pairlearn predict`, with its peak of memory."""
    rows = []
    with TemporaryDirectory() as folder:
        points, answers, model, out = (
            Path(folder, name) for name in ("p.csv", "a.csv", "m.skops", "out.csv")
        )
        X, y = make(10_000)
        write(points, X)
        pairs, t = pairs_of(X, y, 2000)
        lines = [
            f"p{i},p{j},{'same' if same > 0 else 'different'}\n"
            for (i, j), same in zip(pairs.index.tolist(), t.tolist(), strict=True)
        ]
        answers.write_text("left,right,answer\n" + "".join(lines))
        run("fit", str(points), str(answers), "-o", str(model))
        for n in (n_rows // 10, n_rows):
            write(points, make(n, 1)[0])
            wall, cpu, peak = run("predict", str(model), str(points), "-o", str(out))
            rows.append([f"{n:,}", f"{wall:.1f}", f"{cpu:.1f}", f"{peak:,.0f}"])
    about = (
        f"`pairlearn predict` of a CSV file with ids and {N_COLUMNS} columns of "
        "numbers, in a process of its own, with the time to start it."
    )
    head = ["rows", "seconds", "CPU seconds", "peak of memory (MiB)"]
    return ["## Command line", about, table(head, rows)]


def fitting(n_points: int) -> list[str]:
    """Measure `fit` of many points and pairs."""
    X, y = make(n_points)
    pairs, t = pairs_of(X, y, n_points // 10)
    wall, cpu = time.perf_counter(), time.process_time()
    clf = PairClassifier(random_state=0).fit(pairs, t)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    wrong = np.mean(clf.predict(X) != y)
    error = min(wrong, 1 - wrong)
    about = (
        f"`PairClassifier().fit`: {n_points:,} points of {N_COLUMNS} columns, "
        f"{len(t):,} pairs, 3 % of the answers wrong."
    )
    row = [f"{wall:.1f}", f"{cpu:.1f}", f"{error:.1%}"]
    head = ["seconds", "CPU seconds", "clustering error"]
    return ["## Fit", about, table(head, [row])]


def others() -> str:
    """Say how busy the machine was with other work."""
    load = os.getloadavg()[0]
    return (
        f"{load:.1f} other processes were running when it began, on average over a "
        "minute: figures of a machine that is not idle are too low, by seconds and, "
        "since cores share their memory, by seconds of the processor, too."
    )


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="little data")
    small = parser.parse_args().small
    share = 50 if small else 1
    names = list(DATASETS)[: 1 if small else None]
    parts = [machine("numpy", "scikit-learn", "numba", "pyarrow"), others()]
    print("\n\n".join(parts), flush=True)
    steps = [
        lambda: scoring(40_000 // share),
        lambda: fitting(200_000 // share),
        lambda: command_line(1_000_000 // share),
        lambda: differences(100, names),
    ]
    for step in steps:
        parts += (found := step())
        print("\n\n".join(found), flush=True)
    if not small:
        publish("scoring", "Speed of use", parts)


if __name__ == "__main__":
    main()
