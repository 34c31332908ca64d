r"""How far answers agree, beyond what chance alone would do.

All three figures are about things, here pairs, that several people judged.

*Agreement* is the share of comparisons, two answers about one thing, that agree.

*Cohen's kappa*, for two people, is :math:`(p_o - p_e) / (1 - p_e)`: :math:`p_o` is
their agreement, and :math:`p_e` what it would be if each gave the same answers as
often, but without looking.

*Krippendorff's alpha*, for any number of people who need not have judged the same
things, is :math:`1 - D_o / D_e`. With :math:`n_{uc}` answers :math:`c` about thing
:math:`u`, :math:`m_u = \sum_c n_{uc} \ge 2`, :math:`n_c = \sum_u n_{uc}` and
:math:`n = \sum_c n_c`,

.. math:: D_o = \frac{1}{n} \sum_u \frac{m_u^2 - \sum_c n_{uc}^2}{m_u - 1}, \qquad
          D_e = \frac{n^2 - \sum_c n_c^2}{n (n - 1)} .

*Intervals* are those of a bootstrap over things: each gets a random weight, and the
figure is computed anew, many times. The weights are Gamma(1), as in the Bayesian
bootstrap (Rubin 1981), rather than counts of draws; and three imaginary pairs, one that
two people call the same, one that they call different and one about which they
disagree, take part with Gamma(1/2). With two answers about each pair this is the
posterior of Jeffreys' prior. The plain bootstrap cannot imagine what it has not seen:
60 pairs without a disagreement would give an interval of no width, and where people
agree in 98 of 100 cases it holds the truth in seven of ten tries instead of 95 of 100.
This one does: `benchmarks/results/agreement.md`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from pairlearn.data.checks import check_share, is_missing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from pairlearn.data.types import Floats

    Interval = tuple[float, float]

__all__ = ["agreement_of", "alpha_of", "cohen_kappa", "kappa_of", "krippendorff_alpha"]
__all__ += ["interval"]

# Draws of the bootstrap; the ends of an interval then vary by some 2 % of its width.
N_DRAWS = 4000
# Two answers about an imaginary pair: same twice, different twice, one of each.
_IMAGINED = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
_HALF = 0.5


def cohen_kappa(one: Sequence[Any], other: Sequence[Any]) -> float:
    """Return Cohen's kappa of two people's answers about the same things.

    Parameters
    ----------
    one, other : sequence
        Their answers, in the same order; any labels.

    Returns
    -------
    float
        1: they always agree; 0: as often as by chance. NaN if both gave one and the
        same answer throughout, so that nothing tells agreement from chance.

    Raises
    ------
    ValueError
        If there are no answers, or not as many of one as of the other.

    Examples
    --------
    >>> cohen_kappa(["yes", "yes", "no", "yes"], ["yes", "yes", "no", "no"])
    0.5
    """
    if len(one) != len(other) or not len(one):
        raise ValueError(
            f"kappa compares two people's answers about the same things, but there are "
            f"{len(one)} and {len(other)}; give one answer of each about each thing"
        )
    known: dict[Any, int] = {}
    rows = [known.setdefault(label, len(known)) for label in one]
    columns = [known.setdefault(label, len(known)) for label in other]
    table = np.zeros((len(known), len(known)))
    np.add.at(table, (rows, columns), 1.0)
    return float(kappa_of(table))


def krippendorff_alpha(answers: Sequence[Sequence[Any]]) -> float:
    """Return Krippendorff's alpha for answers of any kind that have no order (nominal).

    Parameters
    ----------
    answers : sequence of sequences
        One sequence per person, with one entry per thing; None or NaN where this person
        did not judge it. Things with fewer than two answers do not count.

    Returns
    -------
    float
        1: all agree; 0: as often as by chance; below 0: less often. NaN if no thing has
        two answers, or if all answers are the same.

    Raises
    ------
    ValueError
        If the sequences are not equally long.

    Examples
    --------
    >>> ann, bob = ["yes", "yes", "no", None], ["yes", "no", "no", "yes"]
    >>> round(krippendorff_alpha([ann, bob]), 4)
    0.4444
    """
    if len({len(row) for row in answers}) > 1:
        raise ValueError(
            "alpha needs one entry per thing of each person, None where there is no "
            f"answer, but the people have {', '.join(str(len(row)) for row in answers)}"
        )
    known: dict[Any, int] = {}
    cells = [
        (thing, known.setdefault(answer, len(known)))
        for row in answers
        for thing, answer in enumerate(row)
        if not is_missing(answer)
    ]
    counts = np.zeros((len(answers[0]) if len(answers) else 0, max(len(known), 1)))
    np.add.at(counts, tuple(np.array(cells, dtype=np.intp).reshape(-1, 2).T), 1.0)
    return float(alpha_of(counts))


def kappa_of(table: Floats) -> Any:
    """Return kappa of how often one said this and the other that: (..., k, k)."""
    total = table.sum(axis=(-1, -2))
    seen = np.trace(table, axis1=-2, axis2=-1) / total
    chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1) / total**2
    return _ratio(seen - chance, 1.0 - chance)


def alpha_of(
    counts: NDArray[Any], weights: Floats | None = None, n_answers: float = math.inf
) -> Any:
    """Return alpha of counts of answers about things.

    Parameters
    ----------
    counts : ndarray of shape (n_things, k)
        How many people gave each of k answers about each thing.
    weights : ndarray of shape (..., n_things), optional
        How often each thing counts; then each must have two answers or more.
    n_answers : float
        With weights: how many answers there are in truth, for the correction of a small
        number of them.
    """
    if weights is None:
        counts = counts[counts.sum(axis=1) > 1]
        weights, n_answers = np.ones(len(counts)), float(counts.sum())
    if not len(counts):
        return math.nan
    made = counts.sum(axis=1)
    split = (made**2 - (counts**2).sum(axis=1)) / (made - 1.0)
    total = weights @ made
    observed = (weights @ split) / total
    expected = 1.0 - ((weights @ counts) ** 2).sum(axis=-1) / total**2
    return 1.0 - _ratio(observed * (1.0 - 1.0 / n_answers), expected)


def agreement_of(counts: NDArray[Any], weights: Floats | None = None) -> Any:
    """Return the share of comparisons that agree, as `alpha_of` takes its arguments."""
    made = counts.sum(axis=1)
    compared = made * (made - 1) / 2
    agreed = (counts * (counts - 1) / 2).sum(axis=1)
    if weights is None:
        return _ratio(agreed.sum(), compared.sum())
    return _ratio(weights @ agreed, weights @ compared)


def interval(
    counts: NDArray[Any],
    figure: Callable[[NDArray[Any], Floats], Any],
    confidence: float = 0.95,
    *,
    imagined: tuple[NDArray[Any], Any] = (_IMAGINED, _HALF),
    random_state: Any = 0,
) -> Interval:
    """Return the bootstrap interval of a figure; see the head of this file.

    Parameters
    ----------
    counts : ndarray of shape (n_things, k)
        What was said about each thing, each with two answers or more.
    figure : callable
        Takes things and weights of shape (n_draws, n_things), and returns the figures.
    confidence : float, default=0.95
        Confidence, shared equally by both sides.
    imagined : tuple of ndarray
        Things that nobody was asked about, and the weights with which they take part.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> nobody_disagrees = np.array([[2, 0]] * 30 + [[0, 2]] * 30)
    >>> low, high = interval(nobody_disagrees, alpha_of, random_state=0)
    >>> round(low, 2), round(high, 2)
    (0.92, 1.0)
    """
    check_share("confidence", confidence)
    rng = check_random_state(random_state)
    # Things about which the same was said have one weight together.
    patterns, often = np.unique(counts, axis=0, return_counts=True)
    things, half = imagined
    shape = np.concatenate([often, np.broadcast_to(half, len(things))])
    weights = rng.standard_gamma(shape, size=(N_DRAWS, len(shape)))
    drawn = figure(np.concatenate([patterns, things]), weights)
    drawn = drawn[np.isfinite(drawn)]
    tail = (1.0 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1.0 - tail])
    return float(low), float(high)


def _ratio(above: Any, below: Any) -> Any:
    """Return a quotient, NaN where it is 0 by 0, without a warning."""
    above, below = np.asarray(above, dtype=float), np.asarray(below, dtype=float)
    # What is 0 but for rounding is 0.
    ok = below > 1e-12
    found = np.full(np.broadcast_shapes(above.shape, below.shape), math.nan)
    np.divide(above, below, out=found, where=ok)
    return found[()]
