"""A fit on more points than memory holds."""

from __future__ import annotations

import tempfile
from typing import Any

import dask
import dask.array as da
import numpy as np

from benchmarks.report import table
from benchmarks.scale import store
from benchmarks.scale.checks import Check
from benchmarks.scale.data import Task, answered, fresh
from benchmarks.scale.measure import (
    THREADS,
    in_child,
    resident,
    seconds_of,
    told,
)
from pairlearn import CIPSClassifier, clustering_error

N_BYTES, CEILING = 40e9, 2e9
IN_MEMORY, N_TEST = 250_000, 100_000  # points


def test_error(clf: CIPSClassifier) -> float:
    """Return the error on points that are nowhere on disk."""
    X, y = Task(clf.n_features_in_).test_points(N_TEST, np.float32)
    return float(clustering_error(y, clf.predict(X)))


def fit(folder: str) -> dict[str, Any]:
    """Fit on the points on disk; the peak is that of the whole process."""
    with dask.config.set(scheduler="threads", num_workers=THREADS):
        pairs, t = store.pairs_of(folder)
        read = seconds_of(lambda: da.sum(pairs.X).compute())
        clf = CIPSClassifier()
        seconds = seconds_of(lambda: clf.fit(pairs, t))
    peak = resident("VmHWM")
    evaluations = clf.history_.get("n_evaluations")
    return {
        "points": pairs.n_points,
        "features": pairs.n_features,
        "bytes": pairs.X.nbytes,
        "read": read,
        "seconds": seconds,
        "peak": peak,
        "evaluations": evaluations,
        "passes": clf.history_.get("passes", evaluations),
        "error": test_error(clf),
    }


def fit_in_memory(n_points: int, n_features: int) -> dict[str, float]:
    """Fit on the first points alone, in memory."""
    X, y = Task(n_features).points(n_points, np.float32)
    clf = CIPSClassifier()
    problem = answered(X, y, fresh(n_points // 2))
    seconds = seconds_of(lambda: clf.fit(*problem))
    return {"points": n_points, "seconds": seconds, "error": test_error(clf)}


def measure(shrink: int, scratch: str) -> dict[str, Any]:
    """Write the points, fit, and remove them."""
    n_points, n_features = store.shape_for(N_BYTES, scratch, shrink)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        told(f"  writing {4 * n_features * n_points / 1e9:.1f} GB")
        in_child("store:make", folder=folder, n_points=n_points, n_features=n_features)
        told("  fitting on them")
        disk = in_child("disk:fit", folder=folder)
    told(f"  {disk['seconds']:.0f} s, peak {disk['peak'] / 1e9:.2f} GB")
    memory = in_child(
        "disk:fit_in_memory", n_points=IN_MEMORY // shrink, n_features=n_features
    )
    return {"disk": disk, "memory": memory}


def checks(record: dict[str, Any]) -> list[Check]:
    """Compare with what must hold."""
    disk = record["disk"]
    what = f"peak memory of a fit on {disk['bytes'] / 1e9:.0f} GB on disk, GB"
    return [Check(what, disk["peak"] / 1e9, CEILING / 1e9)]


def parts(record: dict[str, Any]) -> list[str]:
    """Lay out both fits."""
    disk, memory = record["disk"], record["memory"]
    rows = [
        ["a fit on disk, s", f"{disk['seconds']:.0f}"],
        ["evaluations", str(disk["evaluations"])],
        ["passes over the points", f"{disk['passes']:.1f}"],
        ["s a pass", f"{disk['seconds'] / disk['passes']:.1f}"],
        ["s to read and sum the points by dask", f"{disk['read']:.1f}"],
        ["peak resident memory, GB", f"{disk['peak'] / 1e9:.2f}"],
        ["test error", f"{disk['error']:.2%}"],
        [f"that of {memory['points']:,} points in memory", f"{memory['error']:.2%}"],
    ]  # fmt: skip
    about = (
        f"## Points on disk\n\n{disk['points']:,} points of {disk['features']:,} "
        f"float32 features, {disk['bytes'] / 1e9:.1f} GB, in a file of numpy.save that "
        f"is mapped in blocks of {store.chunk_of(disk['features']):,} points; "
        "`CIPSClassifier().fit(Pairs(dask_array, index), t)` on "
        f"{disk['points'] // 2:,} pairs of neighbours, {THREADS} threads. "
        "The peak is that of the whole process, imports included."
    )
    return [about, table(["", "figure"], rows)]
