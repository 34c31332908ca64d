"""The fused kernel, in Triton's interpreter: the same numbers as NumPy in float64."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("triton", reason="needs triton")

# Triton decides at its import whether to interpret, so this runs on its own; once for
# all tests, since it takes longer to begin than to compare.
CODE = """
import json
import sys
import traceback

import numpy as np
import torch

from pairlearn.engine.coefficients import answer_coefficients
from pairlearn.engine.links import BinaryLink, ProductLink
from pairlearn.engine.risks import LikelihoodRisk, ProductRisk
from pairlearn.engine.backends.torch.fused import (
    MOMENT, Launch, form_of, fused_sums, suits
)

risks = [
    ProductRisk("logistic"),
    LikelihoodRisk(BinaryLink()),
    LikelihoodRisk(BinaryLink(), (0.9, 0.2)),
    LikelihoodRisk(BinaryLink(), (1.0, 0.2)),
    LikelihoodRisk(ProductLink(), (0.9, 0.1)),
    None,
]

def compare(kind, n_features):
    tolerance = {"float32": 3e-6, "float64": 1e-12}[kind.name]
    rng = np.random.default_rng(0)
    for n_pairs in (7, 23):
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
                launch = Launch(4, 4, 64, 3) if n_pairs < 20 else None
                found = fused_sums(*inputs, w, b, form, launch).numpy()
                slope = abs(r).sum() + abs(s).sum()
                allowed = np.append(np.abs(terms).sum(axis=0), [slope, abs(value)])
                # What a score loses by rounding, its exponential loses in proportion;
                # and 1e-15 is what NumPy itself loses by taking 1 from nearly 1.
                allowed = tolerance * max(1, size) * np.linalg.norm(allowed) + 1e-15
                right_sums = np.concatenate([terms.sum(axis=0), [(r + s).sum(), value]])
                off = np.linalg.norm(found - right_sums)
                assert off < allowed, (risk, n_pairs, size, off, allowed)

def look_at_extremes():
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

for line in sys.stdin:
    dtype, n_features = line.split()
    said = ""
    try:
        compare(np.dtype(dtype), int(n_features))
        look_at_extremes()
    except Exception:
        said = traceback.format_exc()
    print(json.dumps(said), flush=True)
"""


@pytest.fixture(scope="module")
def interpreter():
    with subprocess.Popen(
        [sys.executable, "-c", CODE],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process


@pytest.mark.parametrize(
    ("dtype", "n_features"),
    [("float32", 1), ("float32", 5), ("float32", 128), ("float64", 130)],
)
def test_value_and_gradient_agree_with_numpy(dtype, n_features, interpreter):
    print(dtype, n_features, file=interpreter.stdin, flush=True)
    said = interpreter.stdout.readline()
    assert said, "the process that interprets is gone"
    assert not json.loads(said), json.loads(said)


@pytest.mark.parametrize(
    ("kind", "rows", "width", "block", "link", "noisy"),
    [
        ("fp32", "i32", 128, 8, "product", False),
        ("fp32", "i32", 128, 8, "binary", True),
        ("fp32", "i64", 1, 128, "moment", False),
        ("fp64", "i32", 256, 2, "binary", True),
    ],
)
def test_compiles_for_cuda(
    kind, rows, width, block, link, noisy, tmp_path, monkeypatch
):
    """The interpreter accepts more than the compiler does; that needs no GPU."""
    pytest.importorskip("triton.backends.nvidia", reason="needs Triton for NVIDIA")
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from pairlearn.engine.backends.torch import fused

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    numbers, n = {"fp32": 72, "fp64": 128}[kind], f"*{kind}"
    arguments = {
        "X": n, "stride": "i32", "left": f"*{rows}", "right": f"*{rows}", "same": n,
        "different": n, "parameters": n, "partials": "*fp64", "n_pairs": "i32",
        "n_features": "i32",
    }  # fmt: skip
    constants = {
        "LINK": link, "NOISY": noisy, "BLOCK": block, "WIDTH": width,
        "WHOLE": kind == "fp32", "WIDE": kind == "fp64",
    }  # fmt: skip
    source = ASTSource(
        fused._pass, arguments | dict.fromkeys(constants, "constexpr"), constants, {}
    )
    options = {"num_warps": 4, "maxnreg": numbers, "enable_fp_fusion": True}
    triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    assert list(tmp_path.rglob("*.cubin"))
