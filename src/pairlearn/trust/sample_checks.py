r"""Tests whether answers look like those about random pairs of two kinds.

Two things can be tested without a label.

*Two kinds.* Random pairs of two kinds with shares p and 1 - p are the same with
probability p^2 + (1 - p)^2, which is at least 1/2; and no classifier of two kinds
disagrees with right answers in more than half of the random pairs.

*Random pairs.* If both points of a pair are drawn independently, the groups that any
classifier puts them into are independent, too. Given how many of the 2n points are in
the first group, the number x of mixed pairs then has the distribution of a random
matching,

.. math:: P(x) \propto \frac{2^x}{((a - x)/2)! \; x! \; ((2n - a - x)/2)!} ,

with a points in the first group: the exact test of the Hardy-Weinberg law in genetics.
Neighbours, and pairs picked for being alike, give too few mixed pairs.

What cannot be tested: whether the points come from the population that the classifier
will be used on; pairs that were left out for being hard, if both groups lose equally;
and pairs that were picked for a reason that the classifier knows nothing of.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from pairlearn.trust.intervals import clopper_pearson

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats
    from pairlearn.trust.noise import Counts, Noise, Rates

__all__ = ["MoreKindsError", "random_pairs_p_value", "refuse_more_kinds"]

# So sure one must be to say that there are more than two kinds: of a thousand samples
# of two kinds that are equally frequent, one is refused.
SURE = 0.998
# Warn of pairs that chance would make as unusual as this.
UNUSUAL = 0.001


class MoreKindsError(ValueError):
    """Answers that random pairs of two kinds cannot give."""


def refuse_more_kinds(n_same: int, n_pairs: int, noise: Noise) -> None:
    """Refuse answers with fewer "same" than random pairs of two kinds can give.

    Parameters
    ----------
    n_same : int
        How many answers are "same", or may be.
    n_pairs : int
        How many answers there are.
    noise : Noise
        What is known about wrong answers.

    Raises
    ------
    MoreKindsError
        If P(same) is below 1/2, with an error probability of 1/1000.

    Examples
    --------
    >>> from pairlearn.trust.noise import Noise
    >>> refuse_more_kinds(45, 100, Noise())
    >>> refuse_more_kinds(30, 100, Noise())
    Traceback (most recent call last):
    ...
    pairlearn.trust.sample_checks.MoreKindsError: only 30 of 100 answers are 'same'...
    """
    most = clopper_pearson(n_same, n_pairs, SURE)[1]
    if max((most - r0) / (r1 - r0) for r1, r0 in noise.corners) < 0.5:
        raise MoreKindsError(
            f"only {n_same} of {n_pairs} answers are 'same', but random pairs of two "
            "kinds are the same at least half of the time. So there seem to be more "
            f"than two kinds, or the pairs were not drawn at random{_or(noise)}"
        )


def refuse_more_than_chance(counts: Counts, noise: Noise) -> None:
    """Refuse answers that disagree with a classifier more often than chance would.

    Parameters
    ----------
    counts : Counts
        What a classifier and answers say about pairs.
    noise : Noise
        What is known about wrong answers.

    Raises
    ------
    MoreKindsError
        If they disagree in more than half of all pairs, with an error probability of
        1/1000.
    """
    # That rates lie in their interval has a risk of its own.
    level = noise.confidence - (1 - SURE)
    least = noise.pair_error(counts, level, clopper_pearson)[1]
    if noise.kind == "unknown":
        least = clopper_pearson(counts.n_wrong, counts.n_pairs, SURE)[0]
    if least > 0.5:
        raise MoreKindsError(
            f"{counts.n_wrong} of {counts.n_pairs} answers disagree with the "
            "classifier, more than answers about random pairs of two kinds would "
            "disagree with guesses. So there seem to be more than two kinds, or the "
            f"pairs were not drawn at random{_or(noise)}"
        )


def random_pairs_p_value(left: ArrayLike, right: ArrayLike) -> float:
    """Test whether pairs were drawn at random, by the groups of their points.

    Parameters
    ----------
    left, right : array-like of bool of shape (n_pairs,)
        Whether a classifier puts the first and the second point of each pair into the
        first of its two groups. The pairs must share no point.

    Returns
    -------
    float
        How likely a number of mixed pairs as unusual as this is if both points of each
        pair are independent draws.

    Examples
    --------
    >>> import numpy as np
    >>> group = np.arange(200) % 2 == 0
    >>> random_pairs_p_value(group, group) < 1e-9  # always two of one group
    True
    >>> other = np.random.default_rng(0).permutation(group)
    >>> random_pairs_p_value(group, other) > 0.05
    True
    """
    left, right = np.asarray(left, dtype=bool), np.asarray(right, dtype=bool)
    n, a = len(left), int(left.sum() + right.sum())
    mixed = np.arange(a % 2, min(a, 2 * n - a) + 1, 2)
    log_weight = mixed * np.log(2) - sum(
        gammaln(part + 1) for part in ((a - mixed) / 2, mixed, (2 * n - a - mixed) / 2)
    )
    weight = np.exp(log_weight - log_weight.max())
    seen = weight[int(np.sum(left != right)) // 2]
    # Rounding must not part numbers that are as likely as what was seen.
    return float(weight[weight <= seen * (1 + 1e-9)].sum() / weight.sum())


def warn_if_too_high(says: Floats, t: Floats, rates: Rates, confidence: float) -> None:
    """Warn if the answers are right more often than the rates allow."""
    level = (1 + confidence) / 2
    for kind, name, rate in ((1, "same", 1 - rates[0]), (-1, "different", rates[1])):
        disagrees = t[says == kind] != kind
        n_wrong, n_pairs = int(disagrees.sum()), len(disagrees)
        if n_pairs and clopper_pearson(n_wrong, n_pairs, level)[1] < rate:
            warnings.warn(
                f"the answers disagree with the classifier in {n_wrong / n_pairs:.1%} "
                f"of the pairs that it calls {name}, fewer than the {rate:.1%} that "
                "you said are wrong: flip_rates seem too high, and the certificate "
                "is not to be relied on",
                stacklevel=3,
            )
            return


def _or(noise: Noise) -> str:
    if noise.kind == "unknown":
        return ", or 'same' is often missed (say how often with flip_rates)"
    return ""
