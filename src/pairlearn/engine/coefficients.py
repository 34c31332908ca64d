"""How much either answer counts for each pair, in little memory.

Most answers are sure and weigh the same. Then one byte says all about a pair, where two
float64 numbers would take as much as its two points' numbers: of millions of pairs that
is felt, and so is the time to read them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.engine.risks import answer_coefficients

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pairlearn.data.types import Floats

__all__ = ["TwoValued", "equal_answers", "pair_coefficients"]


class TwoValued:
    """An array of float64 numbers that has only two values; parts of it are plain.

    Parameters
    ----------
    flags : ndarray of bool of shape (n,)
        Which value each entry has.
    no, yes : float
        The values.

    Examples
    --------
    >>> import numpy as np
    >>> share = TwoValued(np.array([True, False, True]), 0.0, 0.5)
    >>> share[1:]
    array([0. , 0.5])
    """

    def __init__(self, flags: NDArray[np.bool_], no: float, yes: float) -> None:
        self.flags = flags
        self.no = no
        self.yes = yes

    def __len__(self) -> int:
        return len(self.flags)

    def __getitem__(self, rows: Any) -> Floats:
        return np.where(self.flags[rows], self.yes, self.no)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        return self[:].astype(dtype or np.float64, copy=bool(copy))

    def sum(self, *, keepdims: bool = False) -> Any:
        """Return the sum of all entries."""
        n_yes = np.count_nonzero(self.flags)
        total = n_yes * self.yes + (len(self) - n_yes) * self.no
        return np.array([total]) if keepdims else total


def pair_coefficients(t: Floats, weight: Floats) -> tuple[Any, Any]:
    """Return what `answer_coefficients` returns, as small as it can be.

    Parameters
    ----------
    t : ndarray of shape (n_pairs,)
        Answers in [-1, 1].
    weight : ndarray of shape (n_pairs,)
        Weights of the pairs.

    Returns
    -------
    same, different : TwoValued or ndarray of shape (n_pairs,)
        `TwoValued`, if all answers are sure and weigh the same.

    Examples
    --------
    >>> import numpy as np
    >>> same, different = pair_coefficients(np.array([1.0, -1.0]), np.ones(2))
    >>> same[:], different[:]
    (array([0.5, 0. ]), array([0. , 0.5]))
    """
    flags = t > 0
    sure = bool(((t == 1) | (t == -1)).all())
    if not len(t) or not sure or weight.min() < weight.max():
        return answer_coefficients(t, weight)
    share = float(weight[0] / weight.sum())
    return TwoValued(flags, 0.0, share), TwoValued(flags, share, 0.0)


def equal_answers(same: Any, different: Any) -> tuple[NDArray[np.bool_], float] | None:
    """Return which pairs are "same" and what each counts, if that says all.

    Examples
    --------
    >>> import numpy as np
    >>> equal_answers(*pair_coefficients(np.array([1.0, -1.0]), np.ones(2)))
    (array([ True, False]), 0.5)
    >>> equal_answers(np.array([0.1, 0.2]), np.zeros(2)) is None
    True
    """
    if not isinstance(same, TwoValued) or not isinstance(different, TwoValued):
        return None
    mirrored = (same.no, same.yes) == (different.yes, different.no) and same.no == 0
    return (same.flags, same.yes) if mirrored else None
