"""Which answers are enough to learn from, where there are very many.

The time that learning takes grows with the answers, and what one more of them tells
shrinks. So of very many some are taken: the most recent ones, and random ones of the
others. Each comes with all answers about the same point, since of three classes it
takes two to rule out two of them, and with those that connect it with the first one: a
point is compared with one whose class is known, because that was compared with another
one before it, and so on. Without these it would say little: "the same as somebody of
whom nothing is known". They are answers like others, so nothing is lost by them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pairlearn.data.types import Ints

__all__ = ["some_answers"]

# The share of the answers that are the most recent ones.
_RECENT = 0.25


def some_answers(index: Ints, most: int, seed: int) -> Ints:
    """Return which answers to learn from.

    Parameters
    ----------
    index : ndarray of shape (n_answers, 2)
        The points of the answers, in the order they came; the one that was known first
        on the left.
    most : int
        How many to take at most.
    seed : int
        Seed of the draws.

    Returns
    -------
    ndarray of int
        Places in `index`, ascending.

    Examples
    --------
    Point 9 comes with the answers that connect it with point 0.

    >>> index = np.array([(0, 1), (0, 2), (1, 5), (2, 6), (5, 9)])
    >>> some_answers(index, 3, seed=0)
    array([0, 2, 4])
    """
    n_answers = len(index)
    if n_answers <= most:
        return np.arange(n_answers)
    # The answers about each point, compared with one that was there before.
    about: dict[int, list[int]] = {}
    for answer, target in enumerate(index[:, 1].tolist()):
        about.setdefault(target, []).append(answer)
    left, right = index.T.tolist()
    n_recent = max(1, int(_RECENT * most))
    recent = np.arange(n_answers - 1, n_answers - 1 - n_recent, -1)
    others = np.random.default_rng([seed, 4]).permutation(n_answers - n_recent)
    taken: dict[int, None] = {}
    for answer in np.concatenate([recent, others]).tolist():
        new: dict[int, None] = {}
        waiting = [] if answer in taken else [right[answer]]
        while waiting and len(new) <= most:
            for at in about.get(waiting.pop(), []):
                if at not in taken and at not in new:
                    new[at] = None
                    waiting.append(left[at])
        if taken and len(taken) + len(new) > most:
            break
        taken.update(new)
    return np.sort(np.array(list(taken), dtype=np.intp)[:most])
