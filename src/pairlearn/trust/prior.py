"""The prior of the larger class, from answers to random pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.checks import check_answers, check_share
from pairlearn.trust.intervals import clopper_pearson
from pairlearn.trust.noise import as_noise
from pairlearn.trust.sample_checks import refuse_more_kinds
from pairlearn.trust.theory import prior_from_same_rate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["PriorEstimate", "prior_from_answers"]


@dataclass(frozen=True)
class PriorEstimate:
    """The prior of the majority class, estimated from answers.

    Attributes
    ----------
    majority_prior : float
        The estimate, at least 1/2.
    interval : tuple of float
        Its confidence interval.
    n_pairs : int
        How many answers it rests on.
    confidence : float
        Confidence of the interval.
    """

    majority_prior: float
    interval: tuple[float, float]
    n_pairs: int
    confidence: float


def prior_from_answers(
    t: ArrayLike, *, confidence: float = 0.95, flip_rates: Any = None
) -> PriorEstimate:
    """Estimate the prior of the majority class from answers to random pairs.

    P(same) = p^2 + (1 - p)^2, so max(p, 1 - p) = (1 + sqrt(2 P(same) - 1)) / 2: this
    gives the prior up to a swap of the classes. Near prior 1/2 the square root makes
    the interval wide. With wrong answers, P(says same) = r0 + (r1 - r0) P(same).

    Parameters
    ----------
    t : array-like of shape (n_pairs,)
        Answers to random pairs that share no point. Soft answers count by their
        expectation, and the interval is then wider than it need be. Answers of 0 are
        unsure: the interval covers all that they may be.
    confidence : float, default=0.95
        Confidence of the interval.
    flip_rates : float, tuple, FlipRateEstimate or None, default=None
        How often answers are wrong, as for :func:`~pairlearn.certify`.

    Returns
    -------
    PriorEstimate

    Raises
    ------
    ValueError
        If fewer answers are "same" than random pairs of two kinds can give.

    Examples
    --------
    >>> prior_from_answers([1] * 58 + [-1] * 42).majority_prior
    0.7
    """
    answers = check_answers(t, np.size(t))
    if not len(answers):
        raise ValueError("at least one answer is needed")
    check_share("confidence", confidence)
    noise = as_noise(flip_rates)
    if noise.kind == "unknown":
        raise ValueError(
            "the prior cannot be told from answers that are wrong at unknown rates; "
            "give flip_rates, or None if every answer is right"
        )
    n, n_unsure = len(answers), int(np.sum(answers == 0))
    n_same = float(np.sum((1 + answers) / 2))
    least, most = n_same - n_unsure / 2, n_same + n_unsure / 2
    refuse_more_kinds(math.ceil(most), n, noise)
    level = confidence + (1 - noise.confidence)
    if level >= 1:
        raise ValueError(
            f"flip rates that are known with {100 * noise.confidence:g}% confidence "
            f"are not enough for an interval of {100 * confidence:g}%"
        )
    low, _ = clopper_pearson(math.floor(least), n, level)
    _, high = clopper_pearson(math.ceil(most), n, level)
    ends = [(end - r0) / (r1 - r0) for end in (low, high) for r1, r0 in noise.corners]
    r1, r0 = noise.rates
    rates = np.clip([(n_same / n - r0) / (r1 - r0), min(ends), max(ends)], 0.0, 1.0)
    prior, low, high = np.round(prior_from_same_rate(rates), 12).tolist()
    return PriorEstimate(prior, (low, high), n, confidence)
