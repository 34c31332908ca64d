"""Link functions: from the two scores of a pair to the probability of "same"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.special import expit, log_expit

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.data.types import Floats

    Pull = Callable[[Floats, Floats], tuple[Floats, Floats]]

__all__ = ["BinaryLink", "PairLink", "ProductLink", "SoftmaxLink"]


class PairLink(Protocol):
    """From the scores of a pair to the probability that its points are of one class."""

    def log_probabilities(
        self, left: Floats, right: Floats
    ) -> tuple[Floats, Floats, Pull]:
        """Return log P(same), log P(different), and how to pull back to the scores.

        The last is a function of two coefficients for each pair, a and b: it returns
        the derivatives of sum(a log P(same) + b log P(different)) in both scores.
        """


class ProductLink:
    """P(same) = sigmoid(f f'), the model behind the logistic loss of CIPS.

    With s the sigmoid and z = f f', d log P(same)/dz = 1 - s(z) and
    d log P(different)/dz = -s(z).
    """

    def log_probabilities(
        self, left: Floats, right: Floats
    ) -> tuple[Floats, Floats, Pull]:
        """Return log P(same), log P(different), and how to pull back to the scores."""
        z = left * right

        def pull(same: Floats, different: Floats) -> tuple[Floats, Floats]:
            slope = same - (same + different) * expit(z)
            return slope * right, slope * left

        return log_expit(z), log_expit(-z), pull


class BinaryLink:
    """P(same) = s(f) s(f') + s(-f) s(-f') with s the sigmoid: MCL for two classes.

    That is (1 + tanh(f/2) tanh(f'/2)) / 2. Given that the points are the same, the
    first is positive with probability s(f + f'), so d log P(same)/df = s(f + f') -
    s(f); likewise d log P(different)/df = s(f - f') - s(f).
    """

    def log_probabilities(
        self, left: Floats, right: Floats
    ) -> tuple[Floats, Floats, Pull]:
        """Return log P(same), log P(different), and how to pull back to the scores."""
        plus, minus = log_expit(left), log_expit(-left)
        plus_, minus_ = log_expit(right), log_expit(-right)

        def pull(same: Floats, different: Floats) -> tuple[Floats, Floats]:
            both, first = expit(left + right), expit(left - right)
            total = same + different
            return (
                same * both + different * first - total * np.exp(plus),
                same * both + different * (1 - first) - total * np.exp(plus_),
            )

        same = np.logaddexp(plus + plus_, minus + minus_)
        return same, np.logaddexp(plus + minus_, minus + plus_), pull


class SoftmaxLink:
    r"""P(same) = sum over c of p_c p'_c, with p the softmax of C scores: MCL.

    Scores have shape (n_pairs, C). With r_c = p_c p'_c / P(same), the probability that
    both points are of class c given that they are the same,
    d log P(same)/df_c = r_c - p_c; with q_c = p_c (1 - p'_c) / P(different),
    d log P(different)/df_c = q_c - p_c.
    """

    def log_probabilities(
        self, left: Floats, right: Floats
    ) -> tuple[Floats, Floats, Pull]:
        """Return log P(same), log P(different), and how to pull back to the scores."""
        p, rest_p = _log_softmax(left)
        q, rest_q = _log_softmax(right)
        log_same, log_different = _log_sum(p + q), _log_sum(p + rest_q)

        def pull(same: Floats, different: Floats) -> tuple[Floats, Floats]:
            a, b = same[:, None], different[:, None]
            agree = a * np.exp(p + q - log_same)
            d_left = b * np.exp(p + rest_q - log_different) - (a + b) * np.exp(p)
            d_right = b * np.exp(q + rest_p - log_different) - (a + b) * np.exp(q)
            return agree + d_left, agree + d_right

        return log_same[:, 0], log_different[:, 0], pull


def _log_softmax(scores: Floats) -> tuple[Floats, Floats]:
    """Return log softmax and log(1 - softmax), exact also where that is nearly zero."""
    rows, top = np.arange(len(scores)), scores.argmax(axis=1)
    shifted = scores - scores[rows, top][:, None]
    power = np.exp(shifted)
    others = power.sum(axis=1) - 1.0
    # The others' sum loses digits next to the top's 1; add them up without it.
    small = others < 1e-3
    if small.any():
        kept = shifted[small].copy()
        kept[np.arange(len(kept)), top[small]] = -np.inf
        others[small] = np.exp(kept).sum(axis=1)
    log_total = np.log1p(others)[:, None]
    log_p = shifted - log_total
    log_rest = np.log1p(-np.exp(np.minimum(log_p, -np.log(2))))
    with np.errstate(divide="ignore"):
        log_rest[rows, top] = np.log(others) - log_total[:, 0]
    gone = np.flatnonzero(others < 1e-290)
    if len(gone):
        # Beyond the range of a double, sum in logarithms.
        kept = shifted[gone].copy()
        kept[np.arange(len(kept)), top[gone]] = -np.inf
        log_rest[gone, top[gone]] = _log_sum(kept)[:, 0]
    return log_p, log_rest


def _log_sum(values: Floats) -> Floats:
    """Return the log of the sum of exponentials over the columns, as a column."""
    top = values.max(axis=1, keepdims=True)
    return np.asarray(top + np.log(np.exp(values - top).sum(axis=1, keepdims=True)))
