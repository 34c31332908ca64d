"""How much either answer counts for each pair, in little memory.

Most answers are sure and weigh the same. Then one byte says all about a pair, where two
float64 numbers would take as much as its two points' numbers: of millions of pairs that
is felt, and so is the time to read them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pairlearn.data.types import Bools, Floats

__all__ = ["Coefficients", "EqualAnswers", "answer_coefficients", "pair_coefficients"]


class Coefficients:
    """How much +1 and -1 count for each pair or point.

    For pairs these are the answers "same" and "different", for points the positive and
    the negative class.

    Parameters
    ----------
    positive, negative : ndarray of shape (n,)
        The coefficients a and b.

    Examples
    --------
    >>> import numpy as np
    >>> coefficients = Coefficients(np.array([0.5, 0.0]), np.array([0.0, 0.5]))
    >>> coefficients[1:]
    (array([0.]), array([0.5]))
    """

    def __init__(self, positive: Floats, negative: Floats) -> None:
        self.positive = positive
        self.negative = negative

    def __getitem__(self, rows: Any) -> tuple[Floats, Floats]:
        """Return the coefficients a and b of some pairs or points."""
        return self.positive[rows], self.negative[rows]

    def __iter__(self) -> Iterator[Floats]:
        return iter(self[:])

    def scaled(self, rows: Any, factor: float) -> Coefficients:
        """Return the coefficients of some pairs or points, times a factor."""
        positive, negative = self[rows]
        return Coefficients(factor * positive, factor * negative)

    def totals(self) -> tuple[Floats, Floats]:
        """Return the sum of a and the sum of b, as arrays of one number."""
        return self.positive.sum(keepdims=True), self.negative.sum(keepdims=True)


def answer_coefficients(t: Floats, weight: Floats) -> Coefficients:
    """Return how much "same" and "different" count for each pair; they sum to one.

    Parameters
    ----------
    t : ndarray of shape (n_pairs,)
        Answers in [-1, 1].
    weight : ndarray of shape (n_pairs,)
        Weights of the pairs.

    Returns
    -------
    Coefficients

    Examples
    --------
    >>> import numpy as np
    >>> same, different = answer_coefficients(np.array([1.0, 0.0]), np.ones(2))
    >>> same, different
    (array([0.5 , 0.25]), array([0.  , 0.25]))
    """
    # In place: of millions of pairs each copy counts.
    same, different, total = 1 + t, 1 - t, weight.sum()
    for part in (same, different):
        part /= 2
        part *= weight
        part /= total
    return Coefficients(same, different)


class EqualAnswers(Coefficients):
    """Coefficients of answers that are all sure and weigh the same.

    They are kept as one byte per pair; what is taken out of them are ordinary arrays.

    Parameters
    ----------
    same : ndarray of bool of shape (n_pairs,)
        Which answers are "same".
    weight : float
        How much each answer counts.

    Examples
    --------
    >>> import numpy as np
    >>> coefficients = EqualAnswers(np.array([True, False, True]), 0.5)
    >>> coefficients[1:]
    (array([0. , 0.5]), array([0.5, 0. ]))
    """

    def __init__(self, same: Bools, weight: float) -> None:
        self.same = same
        self.weight = weight

    def __getitem__(self, rows: Any) -> tuple[Floats, Floats]:
        """Return the coefficients a and b of some pairs."""
        same = self.same[rows]
        return np.where(same, self.weight, 0.0), np.where(same, 0.0, self.weight)

    def totals(self) -> tuple[Floats, Floats]:
        """Return the sum of a and the sum of b, as arrays of one number."""
        n_same = np.count_nonzero(self.same)
        n_different = len(self.same) - n_same
        return np.array([n_same * self.weight]), np.array([n_different * self.weight])


def pair_coefficients(t: Floats, weight: Floats) -> Coefficients:
    """Return what `answer_coefficients` returns, as small as it can be.

    Parameters
    ----------
    t : ndarray of shape (n_pairs,)
        Answers in [-1, 1].
    weight : ndarray of shape (n_pairs,)
        Weights of the pairs.

    Returns
    -------
    Coefficients
        `EqualAnswers`, if all answers are sure and weigh the same.

    Examples
    --------
    >>> import numpy as np
    >>> pair_coefficients(np.array([1.0, -1.0]), np.ones(2))[:]
    (array([0.5, 0. ]), array([0. , 0.5]))
    """
    sure = bool(((t == 1) | (t == -1)).all())
    if not len(t) or not sure or weight.min() < weight.max():
        return answer_coefficients(t, weight)
    return EqualAnswers(t > 0, float(weight[0] / weight.sum()))
