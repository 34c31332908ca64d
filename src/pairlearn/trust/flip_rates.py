r"""How often answers are wrong, from the answers alone: no model, no label.

A closed path of L answers goes back to where it began, so with two kinds the number of
right answers "different" on it is even. If each answer is wrong with probability e,
independently, the number that are given is odd with probability

.. math:: q = \frac{1 - (1 - 2e)^L}{2}, \qquad e = \frac{1 - (1 - 2q)^{1/L}}{2} .

A pair that was answered twice is such a path with L = 2 (odd: the answers differ), and
three pairs among three points are one with L = 3. Paths that share no answer are
independent, so that an exact binomial interval for q becomes one for e.

*Not known from this:* whether wrong answers are as frequent among pairs that are the
same and among those that are different; answers that several people get wrong for the
same reason, which look right; and, from triangles, anything if there are more than two
kinds. Where the rate depends on the pair, e(x), the mean rate may be higher than the
estimate. If no pair is answered wrong more often than right, it is at most q, since
e(x) <= 2 e(x) (1 - e(x)) for e(x) <= 1/2. That is `FlipRateEstimate.most`, which
cautious certificates use.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.special import bdtrc

from pairlearn.data.checks import check_answers
from pairlearn.data.pairs import as_pairs
from pairlearn.trust.intervals import clopper_pearson
from pairlearn.trust.noise import FlipRateEstimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats, Ints, PairsLike
    from pairlearn.trust.noise import Rates

__all__ = [
    "disjoint_triangles",
    "flip_rate",
    "flip_rate_from_repeats",
    "flip_rate_from_triangles",
    "growth_of_majorities",
    "majority_rates",
]

# Of more answers about a pair the majority is hardly wrong more often.
_MANY_ANSWERS = 1001


def flip_rate_from_repeats(
    pairs: PairsLike, t: ArrayLike, *, confidence: float = 0.99
) -> FlipRateEstimate | None:
    """Estimate how often answers are wrong from pairs that were answered repeatedly.

    Answers about a pair are compared two by two, in their order.

    Parameters
    ----------
    pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
        Pairs, some of which occur several times, in whatever order of their points.
    t : array-like of shape (n_pairs,)
        Answers; those other than -1 and +1 are left out.
    confidence : float, default=0.99
        Confidence of the interval.

    Returns
    -------
    FlipRateEstimate or None
        None if no pair occurs twice.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import Pairs
    >>> rng = np.random.default_rng(0)
    >>> once = np.arange(1000).reshape(-1, 2)
    >>> pairs = Pairs(np.zeros((1000, 1)), np.concatenate([once, once[:, ::-1]]))
    >>> truth = np.tile(rng.choice([-1, 1], 500), 2)
    >>> t = np.where(rng.random(1000) < 0.1, -truth, truth)
    >>> found = flip_rate_from_repeats(pairs, t)
    >>> found.n_compared, round(found.rate, 2)
    (500, 0.1)
    """
    index, answers = _certain(pairs, t)
    low, high = index.min(axis=1), index.max(axis=1)
    key = low.astype(np.int64) * (int(index.max(initial=0)) + 1) + high
    order = np.argsort(key, kind="stable")
    key, answers = key[order], answers[order]
    begins = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
    place = np.arange(len(key)) - np.repeat(
        begins, np.diff(np.append(begins, len(key)))
    )
    # The second, fourth, ... answer about a pair, each with the one before it.
    second = np.flatnonzero(place % 2 == 1)
    n_odd = int(np.sum(answers[second] != answers[second - 1]))
    return _estimate(n_odd, len(second), 2, confidence)


def flip_rate_from_triangles(
    pairs: PairsLike, t: ArrayLike, *, confidence: float = 0.99
) -> FlipRateEstimate | None:
    """Estimate how often answers are wrong from three answers about three points.

    One or three answers "different" among three points cannot be, if there are two
    kinds. Triangles that share no answer are counted.

    Parameters
    ----------
    pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
        Pairs; of one that occurs several times the first answer counts.
    t : array-like of shape (n_pairs,)
        Answers; those other than -1 and +1 are left out.
    confidence : float, default=0.99
        Confidence of the interval.

    Returns
    -------
    FlipRateEstimate or None
        None if there is no triangle.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import Pairs
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice([-1, 1], 900)
    >>> corners = np.arange(900).reshape(-1, 3)
    >>> index = corners[:, [0, 1, 1, 2, 0, 2]].reshape(-1, 2)
    >>> t = y[index].prod(axis=1) * np.where(rng.random(900) < 0.15, -1, 1)
    >>> found = flip_rate_from_triangles(Pairs(np.zeros((900, 1)), index), t)
    >>> found.n_compared, round(found.rate, 2)
    (300, 0.16)
    """
    index, answers = _certain(pairs, t)
    triangles = disjoint_triangles(index)
    n_odd = int(np.sum(answers[triangles].prod(axis=1) < 0))
    return _estimate(n_odd, len(triangles), 3, confidence)


def flip_rate(
    pairs: PairsLike, t: ArrayLike, *, confidence: float = 0.99
) -> FlipRateEstimate | None:
    """Estimate how often answers are wrong, from repeats or from triangles.

    Both are tried, each with half of the risk; the narrower interval is returned. If
    the two exclude each other, as where answers were copied and agree for that reason,
    the interval reaches over both.

    Parameters
    ----------
    pairs, t, confidence
        As for :func:`flip_rate_from_repeats`.

    Returns
    -------
    FlipRateEstimate or None
        None if there are neither.
    """
    level = (1 + confidence) / 2
    found = [
        flip_rate_from_repeats(pairs, t, confidence=level),
        flip_rate_from_triangles(pairs, t, confidence=level),
    ]
    known = [each for each in found if each is not None]
    if not known:
        return None
    # Of the narrower of two intervals, both must hold.
    best = min(known, key=lambda one: np.ptp(one.interval))
    lows, highs = zip(*(one.interval for one in known), strict=True)
    if max(lows) > min(highs):
        most = max(one.most or 0.0 for one in known)
        best = replace(best, interval=(min(lows), max(highs)), most=most)
    return replace(best, confidence=confidence)


def majority_rates(rates: Rates, n_answers: Ints) -> Rates:
    """Return the rates of majorities, for given rates of single answers.

    Parameters
    ----------
    rates : tuple of float
        (r1, r0) of single answers, the same for all pairs of a kind.
    n_answers : ndarray of shape (n_pairs,)
        How many answers there are about each pair. Pairs for which they are evenly
        divided have no majority.

    Returns
    -------
    tuple of float
        (r1, r0), the means over the pairs.

    Examples
    --------
    >>> r1, r0 = majority_rates((0.8, 0.2), np.array([3, 3]))
    >>> round(r1, 3), round(r0, 3)
    (0.896, 0.104)
    """

    def says_same(rate: float) -> float:
        more, less = _majority(n_answers, rate), _majority(n_answers, 1 - rate)
        return float(np.mean(more / (more + less)))

    return says_same(rates[0]), says_same(rates[1])


def growth_of_majorities(n_answers: Ints) -> float:
    """Return how many times as often as one answer a majority is wrong, at most.

    However much some pairs are harder than others; below 2, by Markov's inequality.

    Parameters
    ----------
    n_answers : ndarray of shape (n_pairs,)
        How many answers there are about each pair.

    Returns
    -------
    float

    Examples
    --------
    >>> growth_of_majorities(np.array([1, 2])), growth_of_majorities(np.array([1, 3]))
    (1.0, 1.125)
    """
    rate = np.linspace(0.5, 1.0, 1001)
    numbers = np.unique(np.clip(n_answers, 1, _MANY_ANSWERS))
    return max(float(np.max(_majority(n, rate) / rate)) for n in numbers)


def _majority(n_answers: Any, rate: Any) -> Any:
    """Return how likely more than half of so many answers are of one kind."""
    return bdtrc(n_answers // 2, n_answers, rate)


def _certain(pairs: PairsLike, t: ArrayLike) -> tuple[Ints, Floats]:
    """Return the pairs of two points with a certain answer, and these."""
    pairs = as_pairs(pairs)
    answers = check_answers(t, len(pairs))
    kept = (np.abs(answers) == 1) & (pairs.index[:, 0] != pairs.index[:, 1])
    return pairs.index[kept], answers[kept]


def _estimate(
    n_odd: int, n_paths: int, length: int, confidence: float
) -> FlipRateEstimate | None:
    if not n_paths:
        return None
    odd = np.array([n_odd / n_paths, *clopper_pearson(n_odd, n_paths, confidence)])
    rates = (1 - np.maximum(1 - 2 * odd, 0.0) ** (1 / length)) / 2
    rate, low, high = rates.tolist()
    most = min(0.5, float(odd[2]))
    return FlipRateEstimate(rate, (low, high), n_paths, confidence, most)


def disjoint_triangles(index: Ints) -> Ints:
    """Return triangles as three pair numbers each; no two share a pair."""
    if not len(index):
        return np.zeros((0, 3), dtype=np.intp)
    low, high = index.min(axis=1), index.max(axis=1)
    n = int(high.max()) + 1
    _, first = np.unique(low.astype(np.int64) * n + high, return_index=True)
    ends = index[first]
    ones = np.ones(2 * len(first), dtype=np.int32)
    sides = np.concatenate([ends, ends[:, ::-1]])
    linked = sparse.csr_array((ones, (sides[:, 0], sides[:, 1])), shape=(n, n))
    # How many points are linked to both ends of each pair; most pairs are in none.
    common = (linked @ linked).multiply(linked).tocsr()
    inside = np.asarray(common[ends[:, 0], ends[:, 1]]).ravel() > 0
    of_pair = {}
    neighbours: dict[int, set[int]] = {}
    for number, (i, j) in zip(
        first[inside].tolist(), ends[inside].tolist(), strict=True
    ):
        of_pair[i, j] = of_pair[j, i] = number
        neighbours.setdefault(i, set()).add(j)
        neighbours.setdefault(j, set()).add(i)
    found = []
    for i, j in ends[inside].tolist():
        if j not in neighbours[i]:
            continue
        both = neighbours[i] & neighbours[j]
        if not both:
            continue
        k = min(both)
        found.append([of_pair[i, j], of_pair[j, k], of_pair[i, k]])
        for a, b in ((i, j), (j, k), (i, k)):
            neighbours[a].discard(b)
            neighbours[b].discard(a)
    return np.array(found, dtype=np.intp).reshape(-1, 3)
