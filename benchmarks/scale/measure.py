"""Clocks, peaks of memory, and child processes with pinned threads.

Everything is measured in child processes, so that no part inherits memory, threads or
compiled code from another. Linux only: the peak is what the kernel records.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROOT = Path(__file__).parents[2]
THREADS = os.cpu_count() or 1
# Seconds of calls before one that is timed in turns.
WARM_UP = 0.2
_CODE = "from benchmarks.scale.measure import answer; answer()"


class ChildError(RuntimeError):
    """A child process failed, or took too long."""


def pinned(threads: int = THREADS) -> dict[str, str]:
    """Return an environment in which every library uses so many threads."""
    libraries = ("OMP", "OPENBLAS", "MKL", "NUMBA")
    pins = {f"{name}_NUM_THREADS": str(threads) for name in libraries}
    return dict(os.environ) | pins


def in_child(
    function: str,
    /,
    *,
    environment: Mapping[str, str] | None = None,
    timeout: float | None = None,
    **arguments: Any,
) -> Any:
    """Call "module:function" of this package in a process of its own.

    Arguments and result go as JSON.
    """
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "result.json")
        call = json.dumps([function, arguments, str(target)])
        try:
            done = subprocess.run(  # noqa: S603 - our own code
                [sys.executable, "-c", _CODE, call],
                cwd=ROOT,
                env=pinned() | dict(environment or {}),
                stderr=subprocess.PIPE,
                text=True,
                timeout=timeout,
            )
        except subprocess.TimeoutExpired:
            raise ChildError(f"timed out after {timeout:.0f} s") from None
        if done.returncode:
            reason = (
                done.stderr.strip() or f"exit code {done.returncode}"
            ).splitlines()
            raise ChildError(f"{function}: {reason[-1]}")
        return json.loads(target.read_text())


def answer() -> None:
    """Do what `in_child` asks: the other side of it."""
    function, arguments, target = json.loads(sys.argv[1])
    module, name = function.split(":")
    result = getattr(import_module(f"benchmarks.scale.{module}"), name)(**arguments)
    Path(target).write_text(json.dumps(result, default=float))


def seconds_of(function: Callable[[], Any]) -> float:
    """Time one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def in_turns(
    functions: Mapping[str, Callable[[], Any]], repeats: int
) -> dict[str, float]:
    """Return the median time of each; in turns, so that a busy spell meets them all."""
    for function in functions.values():
        function()
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            # Threads of BLAS go on waiting, at full speed, for a tenth of a second
            # after a call: the first calls of a turn do not count.
            begin = time.perf_counter()
            while time.perf_counter() < begin + WARM_UP:
                function()
            times[name].append(seconds_of(function))
    return {name: median(found) for name, found in times.items()}


def resident(mark: str = "VmRSS") -> int:
    """Return the resident bytes of this process, or with "VmHWM" their peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == mark:
            return 1024 * int(value.split()[0])
    raise OSError(f"/proc/self/status has no {mark}")


class Peak:
    """How far the resident memory rises above where it stands now."""

    def __init__(self) -> None:
        # Freed memory that the C library keeps would hide the first megabytes.
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        self.start = resident()

    def rise(self) -> int:
        """Return the bytes between the start and the highest mark since."""
        return resident("VmHWM") - self.start


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return p of the least squares fit value = c size^p, over the last factor 16."""
    size, value = np.asarray(sizes, float), np.asarray(values, float)
    top = size >= size.max() / 16.01
    slope, _ = np.polyfit(np.log(size[top]), np.log(value[top]), 1)
    return float(slope)


def told(text: str) -> None:
    """Print progress at once."""
    print(text, flush=True)
