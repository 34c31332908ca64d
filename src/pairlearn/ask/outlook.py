r"""Which candidate settles most, given the questions that are out: kept up to date.

:meth:`~pairlearn.ask.scores.Scores.gains` says what every candidate would settle while
the points P are out, by a matrix as large as P. Here one point after another is let in,
since mostly one is new: with a = S z_x, b = S G S z_x and k = 1 / (v(x) + 1 / w(x)),

.. math::

    v(r) &\leftarrow v(r) - k\, (z_r^\top a)^2 , \\
    z_r^\top S G S z_r &\leftarrow z_r^\top S G S z_r - 2 k\, (z_r^\top a)(z_r^\top b)
        + k^2\, (z_x^\top b)\, (z_r^\top a)^2 ,

and S and SGS change likewise. That is done for the candidates on a short list. After
each 256 points that are out, all candidates are computed again, and the list is made
anew of those that would settle most. So a question takes as long with three thousand
answers that no model has learned from as with three.

What is chosen depends on the scores and on the points that are out alone, and not on
when somebody looked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import inv

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pairlearn.ask.scores import Scores
    from pairlearn.data.types import Bools, Floats, Ints

__all__ = ["NoCandidateLeftError", "Outlook"]

# Points that are out are let in one by one, up to so many.
_ONE_BY_ONE = 256
# Candidates, the best ones without the questions that are out, that are looked at with
# these: of the others, none is likely to become the best.
_SHORTLIST = 2000
# In a hurry so many are drawn from the best before all are computed again.
_IN_A_HURRY = 1024
# Gains that differ by a smaller share than this are alike, and the first one is taken.
_ALIKE = 1e-9


class NoCandidateLeftError(ValueError):
    """There is no candidate left that has not been asked about."""


class Outlook:
    """What candidates settle, for one model.

    Parameters
    ----------
    scores : Scores
        What the model says.
    Z : ndarray of shape (n, d)
        The features that the scores were computed from.

    Examples
    --------
    >>> from pairlearn.ask.scores import Scores
    >>> Z = np.repeat(np.eye(2), [3, 2], axis=0)
    >>> outlook = Outlook(Scores.before(Z, 2), Z)
    >>> outlook.best(np.array([], dtype=int)), outlook.best(np.array([0, 1]))
    (0, 3)
    """

    def __init__(self, scores: Scores, Z: Floats) -> None:
        self.scores, self.Z = scores, Z
        self._answered: Bools = np.zeros(len(Z), dtype=bool)
        self._answered[scores.answered] = True
        self._early: Ints | None = None
        self._closed: Bools | None = None
        self._let_in: list[int] = []
        self._drawn: Iterator[int] = iter(())

    def some(self, asked: Ints, rng: np.random.Generator) -> int:
        """Return one of those that settle much, without weighing it against others.

        Many questions at once cannot wait until each has been weighed against all that
        are out. So some of the candidates that settle most are drawn, each the likelier
        the more it settles; that they are not all alike is left to chance [1]_.

        Parameters
        ----------
        asked : ndarray of int
            Candidates that were asked about, in order.
        rng : Generator
            For the draws.

        Returns
        -------
        int

        References
        ----------
        .. [1] A. Kirsch et al. (2023). Stochastic batch acquisition: a simple baseline
           for deep active learning. TMLR.

        Examples
        --------
        >>> from pairlearn.ask.scores import Scores
        >>> outlook = Outlook(Scores.before(np.eye(3), 2), np.eye(3))
        >>> outlook.some(np.array([0, 2]), np.random.default_rng(0))
        1
        """
        closed = self._close(asked)
        for place in self._drawn:
            if not closed[place]:
                return place
        self._draw(asked, closed, rng)
        return next(self._drawn)

    def _close(self, asked: Ints) -> Bools:
        """Return which candidates were asked about, if others are left."""
        closed = np.zeros(len(self.Z), dtype=bool)
        closed[asked] = True
        # Looked at first: to weigh candidates takes long, and would be in vain.
        if closed.all():
            raise NoCandidateLeftError(
                f"all {len(self.Z)} candidates have been asked about"
            )
        return closed

    def _draw(self, asked: Ints, closed: Bools, rng: np.random.Generator) -> None:
        """Draw from the candidates that settle most, in the order they are to come."""
        self._fold(asked[~self._answered[asked]])
        # What `best` keeps was computed for other points that are out.
        self._closed = None
        variance, influence = self._all
        rows = np.flatnonzero(~closed)
        gain = self.scores.gain(variance[rows], influence[rows], rows)
        if len(rows) > 2 * _IN_A_HURRY:
            best = np.argpartition(-gain, 2 * _IN_A_HURRY)[: 2 * _IN_A_HURRY]
            rows, gain = rows[best], gain[best]
        # The smallest of exponential times with these rates: a draw by the gains.
        times = rng.exponential(size=len(rows)) / np.maximum(gain, 1e-300)
        self._drawn = iter(rows[np.argsort(times)][:_IN_A_HURRY].tolist())

    def best(self, asked: Ints) -> int:
        """Return the candidate that settles most of those that were not asked about.

        Parameters
        ----------
        asked : ndarray of int
            Candidates that were asked about, in order. Those that the model has not
            learned from are out.

        Returns
        -------
        int
        """
        closed = self._close(asked)
        out = asked[~self._answered[asked]]
        early = out[: len(out) // _ONE_BY_ONE * _ONE_BY_ONE]
        late = out[len(early) :].tolist()
        # Others than those that are out and late cannot be chosen for long.
        gone = closed.copy()
        gone[late] = False
        if self._early is None or not np.array_equal(early, self._early):
            self._fold(early)
            self._closed = None
        if self._closed is None or not np.array_equal(gone, self._closed):
            self._shorten(gone)
        if late[: len(self._let_in)] != self._let_in:
            self._shorten(gone)
        for place in late[len(self._let_in) :]:
            self._let(place)
        gain = self.scores.gain(self._variance, self._influence, self._rows)
        left = ~closed[self._rows]
        if left.sum() > _SHORTLIST:
            # Those that make up for points that are out wait until they are needed.
            border = np.partition(self._early_gain[left], -_SHORTLIST)[-_SHORTLIST]
            left &= self._early_gain >= border
        gain[~left] = -np.inf
        top = gain.max()
        first = int(np.argmax(gain >= top - _ALIKE * abs(top)))
        return int(self._rows[first])

    def moments(self, places: Ints) -> tuple[Floats, Floats]:
        """Return v and c of any candidates, with the points that are out let in.

        Parameters
        ----------
        places : ndarray of int
            Candidates.

        Returns
        -------
        variance, influence : ndarray

        Examples
        --------
        >>> from pairlearn.ask.scores import Scores
        >>> Z = np.repeat(np.eye(2), 2, axis=0)
        >>> outlook = Outlook(Scores.before(Z, 2), Z)
        >>> _ = outlook.best(np.array([0]))
        >>> outlook.moments(np.array([1, 3]))[0].round(2)
        array([0.8, 1. ])
        """
        S, SGS = self.scores.S, self.scores.SGS
        if self._closed is not None:
            S, SGS = self._S, self._SGS
        elif self._early is not None:
            S, SGS = self._base
        Z = self.Z[places]
        return np.einsum("ij,ij->i", Z @ S, Z), np.einsum("ij,ij->i", Z @ SGS, Z)

    def _fold(self, early: Ints) -> None:
        """Compute all candidates again, with the points that are out for long."""
        scores, Z = self.scores, self.Z
        self._early = early
        if not len(early):
            self._all = scores.variance, scores.influence
            self._base = scores.S, scores.SGS
            return
        P = inv(scores.S)
        G = P @ scores.SGS @ P
        there = Z[early]
        S = inv(P + (there.T * scores.weight[early]) @ there)
        S = (S + S.T) / 2
        SGS = S @ G @ S
        self._base = S, SGS
        self._all = (
            np.einsum("ij,ij->i", Z @ S, Z),
            np.einsum("ij,ij->i", Z @ SGS, Z),
        )

    def _shorten(self, gone: Bools) -> None:
        """Make the short list: the best of those that are left."""
        self._closed = gone
        variance, influence = self._all
        rows = np.flatnonzero(~gone)
        most = _SHORTLIST + _ONE_BY_ONE
        gain = self.scores.gain(variance[rows], influence[rows], rows)
        if len(rows) > most:
            best = np.sort(np.argpartition(-gain, most)[:most])
            rows, gain = rows[best], gain[best]
        self._rows: Ints = rows
        self._early_gain: Floats = gain
        self._near: Floats = self.Z[rows]
        self._variance: Floats = variance[rows]
        self._influence: Floats = influence[rows]
        self._S, self._SGS = (matrix.copy() for matrix in self._base)
        self._let_in = []

    def _let(self, place: int) -> None:
        """Take into account that a question about a candidate is out."""
        z = self.Z[place]
        a, b = self._S @ z, self._SGS @ z
        k, g = 1 / (z @ a + 1 / self.scores.weight[place]), z @ b
        to_a, to_b = self._near @ a, self._near @ b
        self._variance -= k * to_a**2
        self._influence += k * to_a * (k * g * to_a - 2 * to_b)
        self._S -= k * np.outer(a, a)
        cross = np.outer(a, b)
        self._SGS += k * (k * g * np.outer(a, a) - cross - cross.T)
        self._let_in.append(place)
