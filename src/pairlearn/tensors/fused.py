r"""Value and gradient of a pair risk in one pass over the points: a Triton kernel.

For f = w^T x + b, coefficients a_k and b_k of pair k and its risk rho_k,

.. math::

    R = \sum_k \rho_k(f_k, f'_k), \qquad
    \nabla_w R = \sum_k r_k x_k + r'_k x'_k, \qquad
    \partial_b R = \sum_k r_k + r'_k, \qquad
    r_k = \partial\rho_k / \partial f_k .

Each program takes blocks of pairs in turn, loads the two rows of each pair once, and
needs nothing but them for the scores, the risk and the gradient. So X is read once an
evaluation, where separate products read it twice. Sums over the pairs of a program are
in the precision of X, and those of all programs are added in float64.

With numbers of 32 bits the functions below keep their relative precision where a
probability is nearly 0 or 1, as `pairlearn.risks` does.

This module needs Triton; import it only where it is about to be used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from pairlearn.risks import BinaryLink, LikelihoodRisk, ProductLink, ProductRisk

if TYPE_CHECKING:
    from pairlearn._typing import Floats

__all__ = ["MOMENT", "Form", "Launch", "form_of", "fused_sums", "suits"]

# The row of one point has to fit into the registers of one program.
MOST_FEATURES = 1024
# Pair numbers and their strides stay within 32 bits.
MOST_PAIRS = 2**30
# Numbers of one side of a block of pairs that a program holds at a time.
TILE = 2048


class Form(NamedTuple):
    """Which risk a kernel computes: its link, and the flip rates if there are any."""

    link: str
    flip_rates: tuple[float, float] | None = None


# r = (a - b) f' / 2: the product with the moment matrix, a gradient like the others.
MOMENT = Form("moment")
_LINKS = {ProductLink: "product", BinaryLink: "binary"}


def form_of(risk: Any) -> Form | None:
    """Return the form of a risk that the kernel knows, or None."""
    if type(risk) is ProductRisk:
        return Form("product") if risk.compiled == "product" else None
    if type(risk) is not LikelihoodRisk or type(risk.link) not in _LINKS:
        return None
    certain = risk.flip_rates == (1.0, 0.0)
    return Form(_LINKS[type(risk.link)], None if certain else risk.flip_rates)


def suits(X: Tensor, n_pairs: int) -> bool:
    """Tell whether the kernel can read these points."""
    return (
        X.dtype in (torch.float32, torch.float64)
        and X.stride(1) == 1
        and 0 < n_pairs <= MOST_PAIRS
        and 0 < X.shape[1] <= MOST_FEATURES
    )


class Launch(NamedTuple):
    """How the work is cut up.

    Attributes
    ----------
    block : int
        Pairs that a program holds at a time; a power of two.
    n_warps : int
        Warps of a program.
    n_programs : int
        Programs, each of which takes every n_programs-th block.
    """

    block: int
    n_warps: int
    n_programs: int

    @classmethod
    def of(cls, X: Tensor, n_pairs: int) -> Launch:
        """Return what is fast: enough rows on their way to keep the memory busy."""
        width = triton.next_power_of_2(X.shape[1])
        tile = TILE * 4 // X.element_size()
        block = max(1, min(256, tile // width))
        n_processors = 1
        if X.is_cuda:
            device = torch.cuda.get_device_properties(X.device)
            n_processors = device.multi_processor_count
        n_blocks = triton.cdiv(n_pairs, block)
        return cls(block, 4, min(n_blocks, 8 * n_processors))


def fused_sums(
    X: Tensor,
    left: Tensor,
    right: Tensor,
    same: Tensor,
    different: Tensor,
    w: Floats,
    b: float,
    form: Form,
    launch: Launch | None = None,
) -> Tensor:
    """Return the gradients in w and b and the value of a risk.

    Parameters
    ----------
    X : Tensor of shape (n_points, n_features)
        Points.
    left, right : contiguous Tensor of int32 or int64, shape (n_pairs,)
        The rows of both points of each pair.
    same, different : contiguous Tensor of shape (n_pairs,), of the dtype of X
        The coefficients a and b.
    w : ndarray of shape (n_features,)
        Weights.
    b : float
        Intercept.
    form : Form
        Which risk.
    launch : Launch, optional
        How the work is cut up; None: by the shapes.

    Returns
    -------
    Tensor of float64, shape (n_features + 2,)
        The gradient in w, that in b, and the value; on the device of X.
    """
    n_pairs, n_features = len(left), X.shape[1]
    launch = launch or Launch.of(X, n_pairs)
    # All that changes between evaluations travels in one small tensor. It is copied
    # before the call returns, so there is no need to wait for the device.
    parameters = torch.from_numpy(_parameters(w, b, form, X.dtype))
    parameters = parameters.to(X.device, non_blocking=True)
    partials = torch.empty(
        launch.n_programs, n_features + 2, dtype=torch.float64, device=X.device
    )
    _pass[(launch.n_programs,)](
        X,
        X.stride(0),
        left,
        right,
        same,
        different,
        parameters,
        partials,
        n_pairs,
        n_features,
        LINK=form.link,
        NOISY=form.flip_rates is not None,
        BLOCK=launch.block,
        WIDTH=triton.next_power_of_2(n_features),
        num_warps=launch.n_warps,
    )
    return partials.sum(0)


def _parameters(w: Floats, b: float, form: Form, dtype: torch.dtype) -> Any:
    """Return w, b, what b loses by rounding, and the logarithms of the rates."""
    kind = np.float32 if dtype == torch.float32 else np.float64
    rounded = kind(b)
    r1, r0 = form.flip_rates or (1.0, 0.0)
    with np.errstate(divide="ignore"):
        rates = np.log([r1, r0, 1 - r1, 1 - r0])
    return np.concatenate([w, [rounded, b - float(rounded)], rates]).astype(kind)


@triton.jit  # type: ignore[untyped-decorator]
def _log1p(e: tl.tensor, WIDE: tl.constexpr) -> tl.tensor:
    """Return log(1 + e) for e in [0, 1], to its own last digits."""
    if WIDE:
        total = 1.0 + e
        gone = total - 1.0
        # What 1 + e lost by rounding cancels in the quotient.
        exact = tl.log(total) * (e / tl.where(gone > 0, gone, 1.0))
        result = tl.where(gone > 0, exact, e)
    else:
        # The best polynomial of degree 8 for log(1 + e) / e: within 2e-7, and less
        # work than a logarithm.
        p = 0.005253457797052
        p = p * e - 0.029588507392359423
        p = p * e + 0.07836166801674138
        p = p * e - 0.13674769705258935
        p = p * e + 0.1911143108039911
        p = p * e - 0.2484436989240621
        p = p * e + 0.33319271342491086
        p = p * e - 0.4999950151678645
        p = p * e + 0.999999970540657
        result = p * e
    return result


@triton.jit  # type: ignore[untyped-decorator]
def _log_sum(x: tl.tensor, y: tl.tensor, WIDE: tl.constexpr) -> tl.tensor:
    """Return log(exp(x) + exp(y)); one of them may be minus infinity."""
    return tl.maximum(x, y) + _log1p(tl.exp(-tl.abs(x - y)), WIDE)


@triton.jit  # type: ignore[untyped-decorator]
def _rest(y: tl.tensor, e: tl.tensor, WIDE: tl.constexpr) -> tl.tensor:
    """Return 1 - e for e = exp(-y), exact also where y is small."""
    result = 1.0 - e
    if not WIDE:
        series = y * (1.0 - y * (1 / 2 - y * (1 / 6 - y * (1 / 24 - y * (1 / 120)))))
        result = tl.where(y < 0.125, series, result)
    return result


@triton.jit  # type: ignore[untyped-decorator]
def _binary(f: tl.tensor, h: tl.tensor, WIDE: tl.constexpr) -> tl.tensor:
    """Return log P(same), log P(different), and their slopes in both scores.

    P(same) = (1 + t t') / 2 with t = tanh(f / 2) and t' = tanh(h / 2). With
    e = exp(-|f|) and e' = exp(-|h|), for scores of one sign
    P(same) = (1 + e e') / N and P(different) = (e + e') / N, N = (1 + e) (1 + e');
    d log P(same) / df = t' (1 - t^2) / (2 (1 + t t')) = c e / (1 + e e') and
    d log P(different) / df = -c e / (e + e'), c = sign(h) (1 - e') / (1 + e). For
    scores of two signs the fractions change places. Nothing here cancels.
    """
    y_f, y_h = tl.abs(f), tl.abs(h)
    least = tl.minimum(y_f, y_h)
    e_f, e_h, e_gap = tl.exp(-y_f), tl.exp(-y_h), tl.exp(-tl.abs(y_f - y_h))
    alike = (f >= 0) == (h >= 0)
    both = _log1p(e_f, WIDE) + _log1p(e_h, WIDE)
    log_near = _log1p(e_f * e_h, WIDE) - both
    log_far = _log1p(e_gap, WIDE) - least - both
    near = 1.0 / (1.0 + e_f * e_h)
    more = 1.0 / (1.0 + e_gap)
    far_f = tl.where(y_f <= y_h, more, e_gap * more)
    far_h = tl.where(y_f <= y_h, e_gap * more, more)
    c_f = _rest(y_h, e_h, WIDE) / (1.0 + e_f)
    c_h = _rest(y_f, e_f, WIDE) / (1.0 + e_h)
    c_f, c_h = tl.where(h >= 0, c_f, -c_f), tl.where(f >= 0, c_h, -c_h)
    near_f, near_h = c_f * e_f * near, c_h * e_h * near
    far_f, far_h = c_f * far_f, c_h * far_h
    return (
        tl.where(alike, log_near, log_far),
        tl.where(alike, log_far, log_near),
        tl.where(alike, near_f, far_f),
        tl.where(alike, near_h, far_h),
        -tl.where(alike, far_f, near_f),
        -tl.where(alike, far_h, near_h),
    )


@triton.jit  # type: ignore[untyped-decorator]
def _product(f: tl.tensor, h: tl.tensor, WIDE: tl.constexpr) -> tl.tensor:
    """Return log P(same), log P(different), and their slopes in both scores.

    P(same) = s(z) with z = f h and s the sigmoid.
    """
    # A product beyond the range of numbers must not make 0 times infinity.
    z = tl.minimum(tl.maximum(f * h, -1e30), 1e30)
    e = tl.exp(-tl.abs(z))
    rest = _log1p(e, WIDE)
    large = 1.0 / (1.0 + e)
    no = tl.where(z >= 0, e * large, large)
    yes = tl.where(z >= 0, large, e * large)
    log_s, log_d = tl.minimum(z, 0.0) - rest, tl.minimum(-z, 0.0) - rest
    return log_s, log_d, no * h, no * f, -yes * h, -yes * f


@triton.jit  # type: ignore[untyped-decorator]
def _pass(
    X: tl.tensor,
    stride: tl.tensor,
    left: tl.tensor,
    right: tl.tensor,
    same: tl.tensor,
    different: tl.tensor,
    parameters: tl.tensor,
    partials: tl.tensor,
    n_pairs: tl.tensor,
    n_features: tl.tensor,
    LINK: tl.constexpr,
    NOISY: tl.constexpr,
    BLOCK: tl.constexpr,
    WIDTH: tl.constexpr,
) -> None:
    """Write one program's share of the gradients and the value."""
    WIDE: tl.constexpr = X.dtype.element_ty == tl.float64
    number = tl.program_id(0)
    column, offset = tl.arange(0, WIDTH), tl.arange(0, BLOCK)
    inside = column < n_features
    w = tl.load(parameters + column, mask=inside, other=0.0)
    b = tl.load(parameters + n_features)
    b_rest = tl.load(parameters + n_features + 1)
    gradient = tl.zeros((BLOCK, WIDTH), dtype=w.dtype)
    value = tl.zeros((BLOCK,), dtype=tl.float64)
    slope = tl.zeros((BLOCK,), dtype=tl.float64)
    step = tl.num_programs(0) * BLOCK
    first = number * BLOCK + offset
    i = tl.load(left + first, mask=first < n_pairs, other=0)
    j = tl.load(right + first, mask=first < n_pairs, other=0)
    for start in range(number * BLOCK, n_pairs, step):
        pair = start + offset
        here = pair < n_pairs
        mask = here[:, None] & inside[None, :]
        # Rows begin beyond the range of 32 bits.
        x_at = i.to(tl.int64)[:, None] * stride + column[None, :]
        y_at = j.to(tl.int64)[:, None] * stride + column[None, :]
        x = tl.load(X + x_at, mask=mask, other=0.0)
        y = tl.load(X + y_at, mask=mask, other=0.0)
        a = tl.load(same + pair, mask=here, other=0.0)
        c = tl.load(different + pair, mask=here, other=0.0)
        # The next row numbers come while these rows are worked on.
        later = pair + step
        i = tl.load(left + later, mask=later < n_pairs, other=0)
        j = tl.load(right + later, mask=later < n_pairs, other=0)
        f = tl.sum(x * w[None, :], axis=1) + b + b_rest
        h = tl.sum(y * w[None, :], axis=1) + b + b_rest
        if LINK == "moment":
            share = 0.5 * (a - c)
            r, s = share * h, share * f
        else:
            if LINK == "binary":
                log_s, log_d, s_f, s_h, d_f, d_h = _binary(f, h, WIDE)
            else:
                log_s, log_d, s_f, s_h, d_f, d_h = _product(f, h, WIDE)
            if NOISY:
                # How much of either answer is expected to be truly same, or not.
                s_a = tl.load(parameters + n_features + 2) + log_s
                d_a = tl.load(parameters + n_features + 3) + log_d
                s_b = tl.load(parameters + n_features + 4) + log_s
                d_b = tl.load(parameters + n_features + 5) + log_d
                log_s, log_d = _log_sum(s_a, d_a, WIDE), _log_sum(s_b, d_b, WIDE)
                value -= (a * log_s + c * log_d).to(tl.float64)
                truly_s = a * tl.exp(s_a - log_s) + c * tl.exp(s_b - log_d)
                truly_d = a * tl.exp(d_a - log_s) + c * tl.exp(d_b - log_d)
                r = -(truly_s * s_f + truly_d * d_f)
                s = -(truly_s * s_h + truly_d * d_h)
            else:
                value -= (a * log_s + c * log_d).to(tl.float64)
                r, s = -(a * s_f + c * d_f), -(a * s_h + c * d_h)
        gradient += r[:, None] * x + s[:, None] * y
        slope += (r + s).to(tl.float64)
    here = partials + number.to(tl.int64) * (n_features + 2)
    tl.store(here + column, tl.sum(gradient, axis=0).to(tl.float64), mask=inside)
    tl.store(here + n_features, tl.sum(slope, axis=0))
    tl.store(here + n_features + 1, tl.sum(value, axis=0))
