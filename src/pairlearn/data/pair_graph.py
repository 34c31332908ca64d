"""Pairs as a graph: answers that labels imply, what follows, what cannot be right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pairlearn.data import graph
from pairlearn.data.checks import check_answers
from pairlearn.data.containers import on_host
from pairlearn.data.pair_array import PairArray

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.graph import Closure, Contradictions
    from pairlearn.data.types import Floats, Ints

__all__ = ["PairGraph"]


class PairGraph(PairArray):
    """What :class:`pairlearn.Pairs` has of a graph: points, joined by answers."""

    def answers(self, y: ArrayLike) -> Floats:
        """Return the answers that class labels imply: +1 where they agree.

        Parameters
        ----------
        y : array-like of shape (n_points,)
            Class labels of the points.

        Returns
        -------
        ndarray of shape (n_pairs,)

        Examples
        --------
        >>> from pairlearn import Pairs
        >>> Pairs([[0.0], [1.0], [2.0]], [[0, 1], [1, 2]]).answers(["a", "a", "b"])
        array([ 1., -1.])
        """
        labels = np.asarray(on_host(y))
        if labels.shape != (self.n_points,):
            raise ValueError(
                f"y needs one label per point: {self.n_points} points, but shape "
                f"{labels.shape}"
            )
        # A missing label (None, or NaN, which differs from itself) has no answer.
        missing = [k for k, v in enumerate(labels.tolist()) if v is None or v != v]
        if missing:
            raise ValueError(
                f"point {missing[0]} has no label ({len(missing)} such points); leave "
                "out the pairs with such points"
            )
        return np.where(labels[self.left] == labels[self.right], 1.0, -1.0)

    def is_disjoint(self) -> bool:
        """Tell whether no point occurs in two pairs; a certificate needs this.

        Examples
        --------
        >>> from pairlearn import Pairs
        >>> Pairs([[0.0], [1.0], [2.0]], [[0, 1], [1, 2]]).is_disjoint()
        False
        """
        return graph.is_disjoint(self.n_points, self.index)

    def disjoint(self, random_state: int | RandomState | None = None) -> Ints:
        """Return numbers of pairs that share no point, chosen greedily at random.

        Parameters
        ----------
        random_state : int, RandomState or None
            Seed.

        Returns
        -------
        ndarray
            Pair numbers, ascending: ``pairs[keep], t[keep]``.

        Examples
        --------
        >>> from pairlearn import Pairs
        >>> pairs = Pairs([[0.0], [1.0], [2.0]], [[0, 1], [1, 2]])
        >>> len(pairs.disjoint(random_state=0))
        1
        """
        from sklearn.utils import check_random_state

        order = graph.shuffled(len(self), check_random_state(random_state))
        return graph.disjoint_pairs(self.n_points, self.index, order)

    def components(self) -> Ints:
        """Return the number of the connected component of each point.

        Points that pairs join, directly or through others, are in one component; a
        point without pairs is a component of its own.

        Returns
        -------
        ndarray of shape (n_points,)

        Examples
        --------
        >>> import numpy as np
        >>> from pairlearn import Pairs
        >>> Pairs(np.zeros((5, 1)), [[0, 2], [2, 4]]).components()
        array([0, 1, 0, 2, 0])
        """
        return graph.spanning_forest(self.n_points, self.index).component

    def closure(self, t: ArrayLike) -> Closure:
        """Return all answers that follow from the given ones.

        Answers multiply along a path of pairs: if a and b are different, and b and
        c are different, then a and c are the same, since there are two classes.
        Only certain answers (-1 or +1) take part.

        Parameters
        ----------
        t : array-like of shape (n_pairs,)
            Answers.

        Returns
        -------
        pairlearn.data.graph.Closure

        Examples
        --------
        >>> import numpy as np
        >>> from pairlearn import Pairs
        >>> pairs = Pairs(np.zeros((3, 1)), [[0, 1], [1, 2]])
        >>> pairs.closure([+1, -1]).answers([[0, 2]])
        array([-1.])
        """
        return graph.closure(self.n_points, self.index, check_answers(t, len(self)))

    def contradictions(self, t: ArrayLike) -> Contradictions:
        """Return the answers that others refute, each with a cycle that shows it.

        Only certain answers (-1 or +1) take part. The answers of a spanning forest
        of the pairs are assumed to be right; each other answer that disagrees with
        them is refuted.

        Parameters
        ----------
        t : array-like of shape (n_pairs,)
            Answers.

        Returns
        -------
        pairlearn.data.graph.Contradictions
            A sequence of arrays, one for each refuted answer: pair numbers along a
            closed path. The first is the refuted pair, the others are the path that
            refutes it; the answers multiply to -1. Finding the refuted answers takes
            near-linear time; a path is walked when it is asked for.

        Examples
        --------
        >>> import numpy as np
        >>> from pairlearn import Pairs
        >>> pairs = Pairs(np.zeros((3, 1)), [[0, 1], [1, 2], [0, 2]])
        >>> pairs.contradictions([1, 1, -1])[0]
        array([1, 2, 0])
        """
        # A point that differs from itself is a contradiction to report here, not
        # bad input, so the index is not handed to the check.
        return graph.Contradictions(
            self.n_points, self.index, check_answers(t, len(self))
        )
