"""Points on a GPU: the fused kernel against plain torch, and a fit against the CPU.

``python -m benchmarks.gpu`` on a machine with a CUDA device writes
``benchmarks/results/gpu.md``; ``--out FOLDER`` writes it elsewhere, ``--sweep`` prints
how the kernel does with its work cut up in other ways, and ``--profile`` where the time
of a fit goes.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import platform
import pstats
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import torch
import triton

from benchmarks.report import RESULTS, publish, table
from pairlearn import CIPSClassifier, Pairs
from pairlearn.engine.backends.torch.fused import Launch, form_of, fused_sums
from pairlearn.engine.backends.torch.risks import tensor_risk
from pairlearn.engine.coefficients import answer_coefficients
from pairlearn.engine.links import BinaryLink
from pairlearn.engine.objective import PairObjective
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import LikelihoodRisk, ProductRisk
from pairlearn.engine.scaling import Scaling

if TYPE_CHECKING:
    from collections.abc import Callable

RISKS = {
    "product (CIPS)": ProductRisk("logistic"),
    "likelihood (MCL)": LikelihoodRisk(BinaryLink()),
}


class Problem:
    """Gaussian points with a planted direction; a tenth of the answers are wrong."""

    def __init__(self, n_pairs: int, n_features: int, device: str, order: str) -> None:
        generator = torch.Generator(device).manual_seed(0)
        rng = np.random.default_rng(0)
        n_points = 2 * n_pairs
        direction = rng.normal(size=n_features)
        self.direction = direction / np.linalg.norm(direction)
        self.X = torch.randn(n_points, n_features, generator=generator, device=device)
        y = np.where(rng.random(n_points) < 0.6, 1.0, -1.0)
        along = torch.tensor(self.direction, dtype=torch.float32, device=device)
        shift = torch.tensor(y, dtype=torch.float32, device=device)
        for rows in range(0, n_points, 2**20):
            part = slice(rows, rows + 2**20)
            self.X[part] += shift[part, None] * along
        numbers = np.arange(n_points)
        if order == "shuffled":
            numbers = rng.permutation(n_points)
        self.index = numbers.reshape(n_pairs, 2)
        wrong = np.where(rng.random(n_pairs) < 0.1, -1.0, 1.0)
        self.t = wrong * y[self.index[:, 0]] * y[self.index[:, 1]]
        self.coefficients = answer_coefficients(self.t, np.ones(n_pairs))
        # Somewhere between no model and a good one.
        self.w = self.direction + 0.5 * rng.normal(size=n_features) / n_features**0.5
        self.b = -0.2

    @property
    def n_bytes(self) -> int:
        """Bytes of the points."""
        return self.X.numel() * self.X.element_size()

    def risk_sum(self, *, plain: bool = False) -> Any:
        """Return the pairs as the objective holds them."""
        risk_sum: Any = as_points(self.X).coupled(self.index, self.coefficients)
        if plain:
            risk_sum.__dict__["_kernel"] = None
        return risk_sum

    def inputs(self) -> tuple[torch.Tensor, ...]:
        """Return what the kernel reads."""
        risk_sum = self.risk_sum()
        return self.X, *risk_sum._sides, *risk_sum._narrow_coefficients


def synchronise(device: str) -> None:
    """Wait for the device."""
    if device == "cuda":
        torch.cuda.synchronize()


def device_seconds(function: Callable[[], Any], device: str, repeats: int) -> float:
    """Return the median time that the device takes, by its own clock."""
    for _ in range(min(5, repeats)):
        function()
    if device != "cuda":
        return wall_seconds(function, device, repeats)
    marks = [
        [torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(repeats)
    ]
    for begin, end in marks:
        begin.record()
        function()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(a.elapsed_time(b) for a, b in marks) / 1e3


def wall_seconds(function: Callable[[], Any], device: str, repeats: int) -> float:
    """Return the median time until the result is there."""
    times = []
    for _ in range(repeats + 1):
        synchronise(device)
        start = time.perf_counter()
        function()
        synchronise(device)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def copy_bandwidth(n_bytes: int, device: str, repeats: int) -> float:
    """Return bytes read and written a second by a copy of so many bytes."""
    source = torch.ones(n_bytes // 4, device=device)
    target = torch.empty_like(source)
    return 2 * n_bytes / device_seconds(lambda: target.copy_(source), device, repeats)


def reference(problem: Problem, risk: Any) -> np.ndarray:
    """Return gradients and value in float64, computed in blocks on the device."""
    device, risk_of = problem.X.device, tensor_risk(risk)
    w = torch.tensor(problem.w, device=device)
    total = torch.zeros(len(w) + 2, dtype=torch.float64, device=device)
    for start in range(0, len(problem.index), 2**17):
        part = slice(start, start + 2**17)
        rows = torch.tensor(problem.index[part], device=device)
        left, right = (problem.X[rows[:, side]].double() for side in (0, 1))
        scores = [(x @ w + problem.b).requires_grad_() for x in (left, right)]
        shares = problem.coefficients[part]
        value = risk_of(*scores, *(torch.tensor(s, device=device) for s in shares))
        r, s = torch.autograd.grad(value, scores)
        total[:-2] += left.T @ r + right.T @ s
        total[-2] += r.sum() + s.sum()
        total[-1] += value.detach()
    return total.cpu().numpy()


def errors(found: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """Return the relative errors of the value and of the gradient."""
    off = np.linalg.norm(found[:-1] - right[:-1]) / np.linalg.norm(right[:-1])
    return abs(found[-1] / right[-1] - 1), float(off)


def gathered(value: float, d_w: np.ndarray, d_b: np.ndarray) -> np.ndarray:
    """Return gradients and value in one array."""
    return np.concatenate([d_w, [float(d_b), value]])


def evaluations(
    problem: Problem, order: str, device: str, bandwidth: float, repeats: int
) -> list[list[str]]:
    """Return a row for each risk and way to compute it."""
    rows = []
    for name, risk in RISKS.items():
        truth, inputs = reference(problem, risk), problem.inputs()
        for way in ("fused", "plain torch"):
            risk_sum = problem.risk_sum(plain=way == "plain torch")

            def whole(risk_sum: Any = risk_sum, risk: Any = risk) -> Any:
                return risk_sum.value_and_gradient(risk, problem.w, problem.b)

            def kernel(inputs: Any = inputs, risk: Any = risk) -> Any:
                return fused_sums(*inputs, problem.w, problem.b, form_of(risk))

            found = gathered(*whole())
            scaling = Scaling.identity(len(problem.w), fit_intercept=True)
            objective = PairObjective(risk_sum, risk, 1e-4, scaling)
            u = np.append(problem.w, problem.b)
            wall = wall_seconds(lambda o=objective, u=u: o(u), device, repeats)
            seconds = device_seconds(
                kernel if way == "fused" else whole, device, repeats
            )
            rate = problem.n_bytes / seconds
            off = errors(found, truth)
            rows.append(
                [name, order, way, f"{1e3 * seconds:.3f}", f"{1e3 * wall:.3f}",
                 f"{rate / 1e9:.0f}", f"{rate / bandwidth:.1%}",
                 f"{off[0]:.1e}", f"{off[1]:.1e}"]
            )  # fmt: skip
    return rows


def sweep(problem: Problem, device: str, bandwidth: float, repeats: int) -> str:
    """Return how fast the kernel is for other ways to cut up its work."""
    inputs, n_pairs = problem.inputs(), len(problem.index)
    usual = Launch.of(problem.X, n_pairs)
    launches = [
        Launch.filling(problem.X, n_pairs, block, n_warps, n_registers)
        for block in (4, 8, 16)
        for n_warps in (4, 8)
        for n_registers in (56, 64, 72, 96, 128)
    ]
    rows = []
    for name, risk in RISKS.items():
        for launch in launches:

            def kernel(risk: Any = risk, launch: Launch = launch) -> Any:
                form = form_of(risk)
                return fused_sums(*inputs, problem.w, problem.b, form, launch)

            rate = problem.n_bytes / device_seconds(kernel, device, repeats)
            rows.append((rate, name, launch))
    rows.sort(reverse=True)
    header = ["risk", "block", "warps", "registers", "programs", "GB/s", "of copy", ""]
    return table(
        header,
        [
            [name, *map(str, launch), f"{rate / 1e9:.0f}", f"{rate / bandwidth:.1%}",
             "*" if launch == usual else ""]
            for rate, name, launch in rows
        ],
    )  # fmt: skip


def small_case(device: str) -> str:
    """Compare with NumPy in float64 on a small problem."""
    problem = Problem(20_000, 128, device, "shuffled")
    X = problem.X.cpu().numpy().astype(float)
    risk_sum = as_points(X).coupled(problem.index, problem.coefficients)
    rows = []
    for name, risk in RISKS.items():
        truth = gathered(*risk_sum.value_and_gradient(risk, problem.w, problem.b))
        for way in ("fused", "plain torch"):
            mine = problem.risk_sum(plain=way == "plain torch")
            found = gathered(*mine.value_and_gradient(risk, problem.w, problem.b))
            off = errors(found, truth)
            rows.append([name, way, f"{off[0]:.1e}", f"{off[1]:.1e}"])
    return table(["risk", "way", "error of value", "error of gradient"], rows)


def timed_fit(X: Any, problem: Problem, device: str) -> tuple[float, CIPSClassifier]:
    """Fit once; return the time and the model."""
    pairs = Pairs(X, problem.index)
    clf = CIPSClassifier(n_init=1, max_iter=200)
    synchronise(device)
    start = time.perf_counter()
    clf.fit(pairs, problem.t)
    synchronise(device)
    return time.perf_counter() - start, clf


def median_fit(X: Any, problem: Problem, device: str) -> tuple[float, CIPSClassifier]:
    """Fit four times, the first to compile; return the middle one of the others."""
    runs = [timed_fit(X, problem, device) for _ in range(4)][1:]
    return sorted(runs, key=lambda run: run[0])[1]


def fits(n_pairs: int, n_features: int, device: str, *, profile: bool) -> list[str]:
    """Compare a whole fit on the device with the same fit on the CPU."""
    problem = Problem(n_pairs, n_features, device, "shuffled")
    seconds, model = median_fit(problem.X, problem, device)
    if profile:
        with cProfile.Profile() as profiler:
            timed_fit(problem.X, problem, device)
        pstats.Stats(profiler).sort_stats("cumulative").print_stats(45)
    cpu_seconds, cpu_model = median_fit(problem.X.cpu().numpy(), problem, device)
    w, v = model.coef_[0], cpu_model.coef_[0]
    cosine = w @ v / np.linalg.norm(w) / np.linalg.norm(v)
    to_plan = problem.direction @ w / np.linalg.norm(w)
    rows = [
        [where, f"{time_:.2f}", str(m.history_["n_evaluations"]), str(m.n_iter_),
         f"{m.objective_:.9f}"]
        for where, time_, m in (
            (device, seconds, model), ("CPU", cpu_seconds, cpu_model)
        )
    ]  # fmt: skip
    header = ["where", "seconds", "evaluations", "iterations", "objective"]
    what = (
        f"A whole fit of `CIPSClassifier(n_init=1, max_iter=200)`, {n_pairs:,} pairs "
        f"of {n_features} features, float32, the same data, medians of 3; on the CPU "
        f"all {os.cpu_count()} cores and numba:"
    )
    verdict = (
        f"{cpu_seconds / seconds:.1f} times faster. Cosine between the two weight "
        f"vectors {cosine:.8f}, to the planted direction {abs(to_plan):.5f}."
    )
    return [what, table(header, rows), verdict]


def about(device: str) -> str:
    """Describe the device and the versions."""
    name = torch.cuda.get_device_name(0) if device == "cuda" else platform.processor()
    return (
        f"{name}; Python {platform.python_version()}, torch {torch.__version__}, "
        f"triton {triton.__version__}, numpy {np.__version__}, numba "
        f"{numba.__version__}; {os.cpu_count()} cores"
    )


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=4_000_000)
    parser.add_argument("--fit-pairs", type=int, default=4_000_000)
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--no-fit", action="store_true")
    arguments = parser.parse_args()
    device, repeats = arguments.device, arguments.repeats
    size = arguments.pairs * 2 * arguments.features * 4
    bandwidth = copy_bandwidth(size, device, repeats)
    print(f"copy: {bandwidth / 1e9:.0f} GB/s", flush=True)
    rows = []
    for order in ("in order", "shuffled"):
        problem = Problem(arguments.pairs, arguments.features, device, order)
        if arguments.sweep:
            print(order, sweep(problem, device, bandwidth, 12), sep="\n\n", flush=True)
        rows += evaluations(problem, order, device, bandwidth, repeats)
        del problem
    header = [
        "risk", "rows", "way", "device, ms", "wall, ms", "GB/s", "of copy",
        "error of value", "error of gradient",
    ]  # fmt: skip
    how = (
        f"A copy of {size / 1e9:.1f} GB reads and writes {bandwidth / 1e9:.0f} GB/s. "
        f"Value and gradient of {arguments.pairs:,} pairs of {arguments.features} "
        f"float32 features, each point in one pair; medians of {repeats}. Bytes are "
        "those of the points alone, once. Wall time is that of an objective, with "
        "Python and transfers. Errors are relative to float64. Rows are taken in the "
        "order in which they lie, or in random order, as `Pairs.sample` does."
    )
    parts = [
        about(device),
        how,
        table(header, rows),
        "20,000 pairs against NumPy in float64:",
        small_case(device),
    ]
    print(*parts, sep="\n\n", flush=True)
    if not arguments.no_fit:
        torch.cuda.empty_cache()
        parts += fits(
            arguments.fit_pairs, arguments.features, device, profile=arguments.profile
        )
    publish("gpu", "Points on a GPU", parts, arguments.out)


if __name__ == "__main__":
    main()
