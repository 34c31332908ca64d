"""Two workers against one, and a worker that dies in the middle of a fit."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from contextlib import ExitStack
from statistics import median
from typing import Any

import dask
import numpy as np
from distributed import Client, LocalCluster

from benchmarks.report import table
from benchmarks.scale import store
from benchmarks.scale.checks import Check
from benchmarks.scale.measure import in_child, seconds_of, told
from pairlearn import CIPSClassifier

N_BYTES, N_FEATURES, REPEATS = 1.5e9, 200, 3


def start(stack: ExitStack, n_workers: int, folder: str) -> Client:
    """Start a cluster of processes with a thread each."""
    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=folder,
    )
    stack.enter_context(cluster)
    client = stack.enter_context(Client(cluster, set_as_default=False))
    client.wait_for_workers(n_workers)
    return client


def fit(client: Client, folder: str) -> CIPSClassifier:
    """Fit on a cluster, from the store on."""
    with dask.config.set(scheduler=client):
        return CIPSClassifier().fit(*store.pairs_of(folder))


def kill_one(client: Client, delay: float, log: dict[str, Any]) -> threading.Thread:
    """Kill a worker after some seconds, without a word."""
    worker = next(iter(client.run(os.getpid).values()))

    def kill() -> None:
        time.sleep(delay)
        os.kill(worker, signal.SIGKILL)
        log["killed at"] = time.perf_counter()

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def rounds(folder: str, repeats: int) -> dict[str, Any]:
    """Fit on one worker and on two in turns; then on two, of which one dies."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    with ExitStack() as stack:
        clients = {n: start(stack, n, folder) for n in seconds}
        # The first round fills the page cache and imports what is needed.
        coefficients = [fit(client, folder).coef_ for client in clients.values()]
        for k in range(repeats):
            for n, client in clients.items():
                seconds[n].append(seconds_of(lambda client=client: fit(client, folder)))
            told(f"  round {k + 1}: 1 worker {seconds[1][-1]:.1f} s, "
                 f"2 workers {seconds[2][-1]:.1f} s")  # fmt: skip
        log: dict[str, Any] = {}
        thread = kill_one(clients[2], 0.5 * median(seconds[2]), log)
        disturbed = fit(clients[2], folder).coef_
        end = time.perf_counter()
        thread.join()
    if log["killed at"] >= end:
        raise RuntimeError("the fit was over before the worker died")
    return {
        "seconds": {str(n): found for n, found in seconds.items()},
        "one and two": np.abs(coefficients[0] - coefficients[1]).max(),
        "difference": np.abs(disturbed - coefficients[1]).max(),
        "largest": np.abs(disturbed).max(),
        "left": end - log["killed at"],
    }


def measure(shrink: int, scratch: str) -> dict[str, Any]:
    """Write the points, fit, and remove them."""
    n_points, n_features = store.shape_for(N_BYTES, scratch, shrink, N_FEATURES)
    repeats = REPEATS if shrink == 1 else 1
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        in_child(
            "store:make", folder=folder, n_points=n_points, n_features=n_features,
            kind="zarr",
        )  # fmt: skip
        found: dict[str, Any] = in_child(
            "workers:rounds", folder=folder, repeats=repeats
        )
    return found | {"bytes": 4 * n_features * n_points}


def ratio(record: dict[str, Any]) -> float:
    """Return how many times faster two workers are: the median over the rounds."""
    return float(np.median(np.divide(record["seconds"]["1"], record["seconds"]["2"])))


def checks(record: dict[str, Any]) -> list[Check]:
    """Compare with what must hold."""
    return [
        Check("two workers, times faster than one", ratio(record), 1.6, least=True),
        Check(
            "coefficients after a worker died, largest difference",
            record["difference"], 1e-8, form="{:.1e}",
        ),
    ]  # fmt: skip


def parts(record: dict[str, Any]) -> list[str]:
    """Lay out both clusters."""
    rows = [
        [n, f"{median(found):.2f}", ", ".join(f"{s:.2f}" for s in found)]
        for n, found in record["seconds"].items()
    ]
    about = (
        f"## Workers\n\nWhole fits on {record['bytes'] / 1e9:.1f} GB of float32 "
        f"points of {N_FEATURES} features in an uncompressed Zarr array, in the page "
        "cache; local dask workers are processes with one thread each, fitted in turns."
    )
    died = (
        f"A worker of two was killed (SIGKILL) {record['left']:.1f} s before the end "
        f"of a fit: the coefficients, up to {record['largest']:.2g}, differ by at most "
        f"{record['difference']:.1e} from an undisturbed fit. One worker and two "
        f"differ by {record['one and two']:.1e}."
    )
    return [about, table(["workers", "median s", "all s"], rows), died]
