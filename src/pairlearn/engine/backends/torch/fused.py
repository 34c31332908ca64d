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
probability is nearly 0 or 1, as `pairlearn.engine.risks` does.

This module needs Triton; import it only where it is about to be used.
"""

# Triton reads the source of its functions and accepts no annotations but its own.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from pairlearn.engine.links import BinaryLink, ProductLink
from pairlearn.engine.risks import LikelihoodRisk, ProductRisk

if TYPE_CHECKING:
    from pairlearn.data.types import Floats

__all__ = ["MOMENT", "Form", "Launch", "form_of", "fused_sums", "suits"]

# The row of one point has to fit into the registers of one program.
MOST_FEATURES = 1024
# Pair numbers and their strides stay within 32 bits.
MOST_PAIRS = 2**30
# Numbers (of 32 bits) of one side of a block of pairs that a program holds at a time.
TILE = 1024
MOST_BLOCK = 128
# Registers of a processor of any CUDA device since 2014.
REGISTERS = 65536


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
    n_registers : int
        Registers that a thread may use.
    n_programs : int
        Programs, each of which takes every n_programs-th block.
    """

    block: int
    n_warps: int
    n_registers: int
    n_programs: int

    @classmethod
    def of(cls, X: Tensor, n_pairs: int) -> Launch:
        """Return what is fast: many rows on their way, to keep the memory busy."""
        width = triton.next_power_of_2(X.shape[1])
        tile = TILE * 4 // X.element_size()
        block = max(1, min(MOST_BLOCK, tile // width))
        n_registers = 72 if X.dtype == torch.float32 else 128
        return cls.filling(X, n_pairs, block, 4, n_registers)

    @classmethod
    def filling(
        cls, X: Tensor, n_pairs: int, block: int, n_warps: int, n_registers: int
    ) -> Launch:
        """Return as many programs as the device's registers hold at the same time.

        One more would begin when the others end, and double the time.
        """
        n_processors = 1
        if X.is_cuda:
            device = torch.cuda.get_device_properties(X.device)
            n_processors = device.multi_processor_count
        # A processor has at most 64 warps.
        at_once = min(REGISTERS // (n_registers * 32 * n_warps), 64 // n_warps)
        n_programs = min(n_processors * at_once, triton.cdiv(n_pairs, block))
        return cls(block, n_warps, n_registers, n_programs)


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
    width = triton.next_power_of_2(n_features)
    launch = launch or Launch.of(X, n_pairs)
    # All that changes between evaluations travels in one small tensor. It is copied
    # before the call returns, so there is no need to wait for the device.
    parameters = torch.from_numpy(_parameters(w, b, form, X.dtype))
    parameters = parameters.to(X.device, non_blocking=True)
    partials = torch.empty(
        launch.n_programs, n_features + 2, dtype=torch.float64, device=X.device
    )
    # Triton launches on the current device, which need not be that of X.
    with torch.cuda.device(X.device if X.is_cuda else -1):
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
            WIDTH=width,
            WHOLE=width == n_features,
            WIDE=X.dtype == torch.float64,
            num_warps=launch.n_warps,
            maxnreg=launch.n_registers,
            enable_fp_fusion=True,
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


@triton.jit
def _log_rest(q, WIDE: tl.constexpr):
    """Return log(1 - q) for q in [0, 1/2], to its own last digits."""
    if WIDE:
        rest = 1.0 - q
        taken = 1.0 - rest
        # What 1 - q lost by rounding cancels in the quotient.
        exact = tl.log(rest) * (q / tl.where(taken > 0, taken, 1.0))
        result = tl.where(taken > 0, exact, -q)
    else:
        # A polynomial for -log(1 - q) / q: within 2e-7, and less work than a logarithm.
        p = 1.4425228769091574
        p = p * q - 1.698665815974325
        p = p * q + 1.2600104441363655
        p = p * q - 0.2045397457988084
        p = p * q + 0.26985013346040887
        p = p * q + 0.24277445286057722
        p = p * q + 0.3337025589657556
        p = p * q + 0.49999280541857233
        p = p * q + 1.0000000229175907
        result = -p * q
    return result


@triton.jit
def _log_sum(x, y, WIDE: tl.constexpr):
    """Return log(exp(x) + exp(y)); one of them may be minus infinity."""
    e = tl.exp(-tl.abs(x - y))
    return tl.maximum(x, y) - _log_rest(e / (1.0 + e), WIDE)


@triton.jit
def _rest(y, e, WIDE: tl.constexpr):
    """Return 1 - e for e = exp(-y), exact also where y is small."""
    result = 1.0 - e
    if not WIDE:
        series = y * (
            1.0 - y * (0.5 - y * (0.16666666666666666 - y * 0.041666666666666664))
        )
        result = tl.where(y < 0.05, series, result)
    return result


@triton.jit
def _expected(log_s, log_d, a, c, rates, NOISY: tl.constexpr, WIDE: tl.constexpr):
    """Return the value of pairs, and how much of each is same and different in truth.

    Without noise that is a and c. With it, either answer is a mixture of both, and they
    are the expected shares, given the answer.
    """
    if NOISY:
        s_a, d_a = tl.load(rates) + log_s, tl.load(rates + 1) + log_d
        s_c, d_c = tl.load(rates + 2) + log_s, tl.load(rates + 3) + log_d
        log_a, log_c = _log_sum(s_a, d_a, WIDE), _log_sum(s_c, d_c, WIDE)
        same = a * tl.exp(s_a - log_a) + c * tl.exp(s_c - log_c)
        different = a * tl.exp(d_a - log_a) + c * tl.exp(d_c - log_c)
        value = -(a * log_a + c * log_c)
    else:
        value, same, different = -(a * log_s + c * log_d), a, c
    return value, same, different


@triton.jit
def _binary(f, h, a, c, rates, NOISY: tl.constexpr, WIDE: tl.constexpr):
    """Return value and slopes for P(same) = s(f) s(h) + s(-f) s(-h), s the sigmoid.

    Let y <= y' be |f| and |h|, e = exp(-y), e' = exp(-y'), g = e' / e. The less likely
    of same and different, which is the one that the signs do not say, has probability
    q = (e + e') / N, N = (1 + e) (1 + e'). With P = 1 + e e' and G = 1 + g, the slopes
    of its logarithm in y and y' are -(1 - e'^2) P / (N P G) and
    -(1 - e^2) P g / (N P G); those of log(1 - q) are (1 - e'^2) G e / (N P G) and
    (1 - e^2) G e' / (N P G). So there is one division and nothing cancels.
    """
    y_f, y_h = tl.abs(f), tl.abs(h)
    first = y_f <= y_h
    y, most = tl.minimum(y_f, y_h), tl.maximum(y_f, y_h)
    e, g = tl.exp(-y), tl.exp(y - most)
    e_ = e * g
    n, p, g_1 = (1.0 + e) * (1.0 + e_), 1.0 + e * e_, 1.0 + g
    share = 1.0 / (n * p * g_1)
    rest, rest_ = _rest(2.0 * y, e * e, WIDE), _rest(2.0 * most, e_ * e_, WIDE)
    log_near = _log_rest(e * (g_1 * g_1 * p * share), WIDE)
    # q / (1 - q) = e G / P, and P / G = 1 - g (1 - e^2) / G.
    log_far = log_near - y - _log_rest(g * rest * (n * p * share), WIDE)
    alike = (f >= 0) == (h >= 0)
    value, same, different = _expected(
        tl.where(alike, log_near, log_far),
        tl.where(alike, log_far, log_near),
        a,
        c,
        rates,
        NOISY,
        WIDE,
    )
    near = tl.where(alike, same, different) * g_1
    far = tl.where(alike, different, same) * p
    r, r_ = (far - near * e) * (rest_ * share), (far * g - near * e_) * (rest * share)
    r_f, r_h = tl.where(first, r, r_), tl.where(first, r_, r)
    return value, tl.where(f >= 0, r_f, -r_f), tl.where(h >= 0, r_h, -r_h)


@triton.jit
def _product(f, h, a, c, rates, NOISY: tl.constexpr, WIDE: tl.constexpr):
    """Return value and slopes for P(same) = s(z), z = f h, s the sigmoid.

    The less likely of same and different has probability q = e / (1 + e) with
    e = exp(-|z|); the slope in z is c P(same) - a P(different).
    """
    # A product beyond the range of numbers must not make 0 times infinity.
    z = tl.minimum(tl.maximum(f * h, -1e30), 1e30)
    e = tl.exp(-tl.abs(z))
    likely = 1.0 / (1.0 + e)
    q = e * likely
    log_likely = _log_rest(q, WIDE)
    value, same, different = _expected(
        log_likely + tl.minimum(z, 0.0),
        log_likely - tl.maximum(z, 0.0),
        a,
        c,
        rates,
        NOISY,
        WIDE,
    )
    slope = tl.where(
        z >= 0, different * likely - same * q, different * q - same * likely
    )
    return value, slope * h, slope * f


@triton.jit
def _pass(
    X,
    stride,
    left,
    right,
    same,
    different,
    parameters,
    partials,
    n_pairs,
    n_features,
    LINK: tl.constexpr,
    NOISY: tl.constexpr,
    BLOCK: tl.constexpr,
    WIDTH: tl.constexpr,
    WHOLE: tl.constexpr,
    WIDE: tl.constexpr,
):
    """Write one program's share of the gradients and the value."""
    number = tl.program_id(0)
    column, offset = tl.arange(0, WIDTH), tl.arange(0, BLOCK)
    inside = column < n_features
    w = tl.load(parameters + column, mask=inside, other=0.0)
    b = tl.load(parameters + n_features)
    b_rest = tl.load(parameters + n_features + 1)
    rates = parameters + n_features + 2
    gradient = tl.zeros((BLOCK, WIDTH), dtype=w.dtype)
    slope = tl.zeros((BLOCK,), dtype=w.dtype)
    value = tl.zeros((BLOCK,), dtype=tl.float64)
    step = tl.num_programs(0) * BLOCK
    # Past the end, the last pair is read again, and counts nothing.
    pair = tl.minimum(number * BLOCK + offset, n_pairs - 1)
    i, j = tl.load(left + pair), tl.load(right + pair)
    for start in range(number * BLOCK, n_pairs, step):
        # Rows begin beyond the range of 32 bits.
        x_at = X + i.to(tl.int64)[:, None] * stride + column[None, :]
        y_at = X + j.to(tl.int64)[:, None] * stride + column[None, :]
        if WHOLE:
            x, y = tl.load(x_at), tl.load(y_at)
        else:
            x = tl.load(x_at, mask=inside[None, :], other=0.0)
            y = tl.load(y_at, mask=inside[None, :], other=0.0)
        pair = start + offset
        a = tl.load(same + pair, mask=pair < n_pairs, other=0.0)
        c = tl.load(different + pair, mask=pair < n_pairs, other=0.0)
        # The next row numbers come while these rows are worked on.
        later = tl.minimum(pair + step, n_pairs - 1)
        i, j = tl.load(left + later), tl.load(right + later)
        f = tl.sum(x * w[None, :], axis=1) + b + b_rest
        h = tl.sum(y * w[None, :], axis=1) + b + b_rest
        if LINK == "moment":
            share = 0.5 * (a - c)
            r, s = share * h, share * f
        else:
            if LINK == "binary":
                loss, r, s = _binary(f, h, a, c, rates, NOISY, WIDE)
            else:
                loss, r, s = _product(f, h, a, c, rates, NOISY, WIDE)
            value += loss.to(tl.float64)
        # One after the other: each is a single instruction a number.
        gradient += r[:, None] * x
        gradient += s[:, None] * y
        slope += r + s
    here = partials + number.to(tl.int64) * (n_features + 2)
    tl.store(here + column, tl.sum(gradient, axis=0).to(tl.float64), mask=inside)
    tl.store(here + n_features, tl.sum(slope, axis=0).to(tl.float64))
    tl.store(here + n_features + 1, tl.sum(value, axis=0))
