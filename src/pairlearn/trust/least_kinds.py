r"""How many kinds there are at least, from the answers alone.

*Points that are all different from each other.* Points that answers "same" join are one
kind, and count as one; so many of these that are different two by two are of as many
kinds. The most there are is hard to find, so a greedy search finds many: from each of
the points with the most answers "different", it adds the one that leaves the most to
choose from. This holds if every answer that it rests on is right.

*The share of "same".* With K kinds among n points, random pairs of different points are
the same with probability at least (n / K - 1) / (n - 1), which is reached if all kinds
are equally frequent. So if that probability is at most q,

.. math:: K \ge \frac{n}{1 + q (n - 1)} .

The upper end of an exact interval for q gives a number that holds with its confidence,
if the pairs were drawn at random.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.data.checks import check_answers
from pairlearn.data.graph import disjoint_pairs, shuffled, spanning_forest
from pairlearn.data.pairs import as_pairs
from pairlearn.trust.intervals import clopper_pearson

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Bools, Ints, PairsLike

__all__ = ["LeastKinds", "least_kinds"]

# From so many points the search begins.
STARTS = 50
# It looks at no more answers than this.
SEARCHED = 200_000


@dataclass(frozen=True)
class LeastKinds:
    """How many kinds there are at least.

    Attributes
    ----------
    by_points : int
        So many points are different from each other, as the answers say.
    points : ndarray of shape (by_points,)
        Their numbers.
    by_share : int
        So many kinds it takes to give as few answers "same".
    confidence : float
        How sure `by_share` is, for random pairs and right answers.
    """

    by_points: int
    points: Ints
    by_share: int
    confidence: float

    @property
    def most(self) -> int:
        """The larger of both numbers."""
        return max(self.by_points, self.by_share)

    def in_words(self) -> str:
        """Return how many there are at least, and why.

        Returns
        -------
        str
        """
        points = f"{self.by_points} points are called different two by two"
        share = f"so few random pairs are the same ({100 * self.confidence:g}% sure)"
        if self.by_points >= self.by_share:
            reason = f"since {points}"
        else:
            reason = f"if the pairs were drawn at random, since {share}"
        return f"at least {self.most} if every answer is right, {reason}"


def least_kinds(pairs: PairsLike, t: ArrayLike, confidence: float = 0.99) -> LeastKinds:
    """Return how many kinds there are at least, if the answers are right.

    Parameters
    ----------
    pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
        Pairs.
    t : array-like of shape (n_pairs,)
        Answers; those other than -1 and +1 are left out.
    confidence : float, default=0.99
        Confidence of the number that the share of "same" gives, which rests on pairs
        that share no point.

    Returns
    -------
    LeastKinds

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import Pairs
    >>> X, y = np.zeros((300, 1)), np.arange(300) % 5
    >>> found = least_kinds(*Pairs.sample(X, 1000, y, reuse=True, random_state=0))
    >>> found.by_points, found.by_share
    (5, 4)
    >>> found.in_words()
    'at least 5 if every answer is right, since 5 points are called different two by
    two'
    """
    given = as_pairs(pairs)
    answers = check_answers(t, len(given))
    kept = (np.abs(answers) == 1) & (given.index[:, 0] != given.index[:, 1])
    index, answers = given.index[kept], answers[kept]
    searched = slice(SEARCHED)
    found = _different_points(given.n_points, index[searched], answers[searched] > 0)
    n_points = len(np.unique(index))
    by_share = 1
    if len(answers):
        order = shuffled(len(index), np.random.RandomState(0))
        alone = answers[disjoint_pairs(given.n_points, index, order)]
        n_same = int(np.sum(alone > 0))
        # The upper end alone is missed half as often as both.
        _, q = clopper_pearson(n_same, len(alone), 2 * confidence - 1)
        by_share = math.ceil(n_points / (1 + q * (n_points - 1)) - 1e-9)
    return LeastKinds(len(found), np.array(found, dtype=np.intp), by_share, confidence)


def _different_points(n_points: int, index: Ints, same: Bools) -> list[int]:
    """Return points that are different two by two, as many as a quick search finds."""
    one = spanning_forest(n_points, index[same]).component
    left, right = one[index[~same]].T
    apart = left != right  # the others contradict themselves
    rivals: dict[int, set[int]] = {}
    for i, j in zip(left[apart].tolist(), right[apart].tolist(), strict=True):
        rivals.setdefault(i, set()).add(j)
        rivals.setdefault(j, set()).add(i)
    ranked = sorted(rivals, key=lambda i: (-len(rivals[i]), i))
    best: list[int] = ranked[:1]
    for start in ranked[:STARTS]:
        if len(rivals[start]) < len(best):
            break
        chosen, free = [start], rivals[start]
        while free:
            # Not all of many: the one with the most rivals is a good guess.
            some = sorted(free, key=lambda i: (-len(rivals[i]), i))[:STARTS]
            pick = max(some, key=lambda i: len(rivals[i] & free))
            chosen.append(pick)
            free = free & rivals[pick]
        best = max(best, chosen, key=len)
    # A point of each component.
    first: dict[int, int] = {}
    for point, component in enumerate(one.tolist()):
        first.setdefault(component, point)
    return [first[component] for component in best]
