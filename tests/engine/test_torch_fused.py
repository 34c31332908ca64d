"""The fused kernel, in Triton's interpreter: the same numbers as NumPy in float64."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("triton", reason="needs triton")

# Triton decides at its import whether to interpret, so this runs on its own.
CODE = """
import sys

import numpy as np
import torch

from pairlearn.engine.coefficients import answer_coefficients
from pairlearn.engine.links import BinaryLink, ProductLink
from pairlearn.engine.risks import LikelihoodRisk, ProductRisk
from pairlearn.engine.backends.torch.fused import (
    MOMENT, Launch, form_of, fused_sums, suits
)

kind, n_features = np.dtype(sys.argv[1]), int(sys.argv[2])
tolerance = {"float32": 3e-6, "float64": 1e-12}[kind.name]
risks = [
    ProductRisk("logistic"),
    LikelihoodRisk(BinaryLink()),
    LikelihoodRisk(BinaryLink(), (0.9, 0.2)),
    LikelihoodRisk(BinaryLink(), (1.0, 0.2)),
    LikelihoodRisk(ProductLink(), (0.9, 0.1)),
    None,
]
rng = np.random.default_rng(0)
for n_pairs in (7, 50):
    n_points = 2 * n_pairs + 3
    X = rng.normal(size=(n_points, n_features)).astype(kind)
    index = rng.permutation(n_points)[: 2 * n_pairs].reshape(n_pairs, 2)
    t = rng.uniform(-1, 1, n_pairs)
    t[::3], t[1::3] = 1, -1
    coefficients = answer_coefficients(t, rng.random(n_pairs))
    for size in (1e-3, 10.0):
        w, b = size * rng.normal(size=n_features) / n_features**0.5, 0.3 * size
        left, right = (X @ w + b)[index.T]
        for risk in risks:
            if risk is None:
                same, different = coefficients
                share = (same - different) / 2
                value, r, s, form = 0.0, share * right, share * left, MOMENT
            else:
                value, r, s = risk.value_and_gradient(left, right, *coefficients)
                form = form_of(risk)
            wide = X.astype(float)
            terms = np.concatenate([
                r[:, None] * wide[index[:, 0]], s[:, None] * wide[index[:, 1]]
            ])
            sides = torch.tensor(index.astype(np.int32)).T.contiguous()
            inputs = [torch.tensor(X), *sides]
            inputs += [torch.tensor(part.astype(kind)) for part in coefficients]
            assert suits(inputs[0], n_pairs)
            launch = Launch(4, 4, 64, 3) if n_pairs < 50 else None
            found = fused_sums(*inputs, w, b, form, launch).numpy()
            slope = abs(r).sum() + abs(s).sum()
            allowed = np.append(np.abs(terms).sum(axis=0), [slope, abs(value)])
            # What a score loses by rounding, its exponential loses in proportion;
            # and 1e-15 is what NumPy itself loses by taking 1 from nearly 1.
            allowed = tolerance * max(1, size) * np.linalg.norm(allowed) + 1e-15
            right_sums = np.concatenate([terms.sum(axis=0), [(r + s).sum(), value]])
            off = np.linalg.norm(found - right_sums)
            assert off < allowed, (risk, n_pairs, size, off, allowed)

# Scores far beyond what float32 can square, and a weight of zero.
X = torch.tensor([[1.0], [1e-5], [-1.0], [-1e-30]])
for risk in risks[:2]:
    for answer in (0, 1):
        share = torch.zeros(2, 2)
        share[answer, 0] = 1.0
        sides = torch.tensor([[0, 2], [1, 3]], dtype=torch.int32)
        found = fused_sums(X, *sides, *share, np.array([1e30]), 0.0, form_of(risk))
        assert torch.isfinite(found).all()
assert form_of(ProductRisk("hinge")) is None
assert form_of(ProductRisk("logistic", nonnegative=True)) is None
assert not suits(torch.zeros(4, 4).T[:, ::2], 2)
assert not suits(torch.zeros(4, 2000), 2)
"""


@pytest.mark.parametrize(
    ("dtype", "n_features"),
    [("float32", 1), ("float32", 5), ("float32", 128), ("float64", 130)],
)
def test_value_and_gradient_agree_with_numpy(dtype, n_features):
    result = subprocess.run(
        [sys.executable, "-c", CODE, dtype, str(n_features)],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr


# The interpreter accepts more than the compiler does; the compiler needs no GPU.
COMPILE = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from pairlearn.engine.backends.torch import fused

for kind, rows, width, block, link, noisy in [
    ("fp32", "i32", 128, 8, "product", False),
    ("fp32", "i32", 128, 8, "binary", True),
    ("fp32", "i64", 1, 128, "moment", False),
    ("fp64", "i32", 256, 2, "binary", True),
]:
    numbers, n = {"fp32": 72, "fp64": 128}[kind], f"*{kind}"
    arguments = {
        "X": n, "stride": "i32", "left": f"*{rows}", "right": f"*{rows}", "same": n,
        "different": n, "parameters": n, "partials": "*fp64", "n_pairs": "i32",
        "n_features": "i32",
    }
    constants = {
        "LINK": link, "NOISY": noisy, "BLOCK": block, "WIDTH": width,
        "WHOLE": kind == "fp32", "WIDE": kind == "fp64",
    }
    source = ASTSource(
        fused._pass, arguments | dict.fromkeys(constants, "constexpr"), constants, {}
    )
    options = {"num_warps": 4, "maxnreg": numbers, "enable_fp_fusion": True}
    triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
"""


def test_compiles_for_cuda(tmp_path):
    pytest.importorskip("triton.backends.nvidia", reason="needs Triton for NVIDIA")
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", COMPILE],
        env={**os.environ, "TRITON_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
