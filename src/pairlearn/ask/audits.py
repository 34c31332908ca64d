"""Audits: random pairs of points that were put aside before any question was asked.

An audit is a pair of two fresh points: random, seen by no model, never used to learn.
If audits were drawn from the points that are left after learning, these would be the
easy ones, since learning asks about the hard ones; drawn from all points, some would
have taught the model. So a coin is thrown for each point beforehand, and those it puts
aside are used for nothing else. Each is in one audit only, so that the audits are
independent of each other, as a certificate assumes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.ask.question import AUDIT, LEARN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pairlearn.ask.ledger import Ledger
    from pairlearn.data.types import Floats, Ints

__all__ = ["Audits", "coins", "put_aside"]


def coins(n_points: int, seed: int, names: Iterable[Any] | None = None) -> Floats:
    """Return a random number in [0, 1) for each point.

    Parameters
    ----------
    n_points : int
        How many points there are.
    seed : int
        Seed.
    names : iterable, optional
        Names of the points. With names a point's number depends on the seed and its
        name alone, however the rows are ordered; without, on the seed and its row.

    Returns
    -------
    ndarray of shape (n_points,)

    Examples
    --------
    >>> coins(2, 0).tolist() == coins(3, 0)[:2].tolist()
    True
    >>> coins(2, 0, ["a", "b"])[0] == coins(2, 0, ["b", "a"])[1]
    np.True_
    """
    if names is None:
        # Not [seed, 0]: that is the generator of the seed alone, with which somebody
        # may have made the points.
        return np.random.default_rng([seed, 0, 1]).random(n_points)
    known = list(map(str, names))
    if len(known) != n_points:
        raise ValueError(f"there are {n_points} points but {len(known)} names")
    if len(set(known)) < n_points:
        # They would have the same number, and be compared in an audit for that.
        twice = next(name for name, times in Counter(known).items() if times > 1)
        raise ValueError(
            f"two points have the name {twice!r}; give each a name of its own, or "
            "leave names out"
        )
    return np.array([_coin(seed, name) for name in known], dtype=float)


def _coin(seed: int, name: str) -> float:
    digest = hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def put_aside(values: Floats, share: float) -> Ints:
    """Return the points whose coins say that they are for audits, in random order.

    Parameters
    ----------
    values : ndarray of shape (n_points,)
        Their random numbers.
    share : float
        About how large a share to put aside.

    Returns
    -------
    ndarray of int
        Row numbers; the first two make the first audit, and so on.

    Examples
    --------
    >>> put_aside(np.array([0.1, 0.9, 0.05, 0.2]), share=0.25)
    array([2, 0, 3])
    """
    chosen = np.flatnonzero(values < share)
    return chosen[np.argsort(values[chosen], kind="stable")]


class Audits:
    """The points put aside, and the audits made of them.

    Parameters
    ----------
    reserve : ndarray of int
        Row numbers of the points put aside, in random order.

    Examples
    --------
    >>> from pairlearn.ask.ledger import Ledger
    >>> Audits(np.array([4, 2, 9])).next_pair(Ledger())
    (4, 2)
    """

    def __init__(self, reserve: Ints) -> None:
        self.reserve = reserve
        # Up to where all points put aside are known to be in some question: points that
        # were asked about are never fresh again.
        self._gone: tuple[Ledger | None, int] = None, 0

    def unused(self, ledger: Ledger) -> Ints:
        """Return the points put aside that are in no question yet."""
        used = ledger.summary.points
        fresh = [int(row) not in used for row in self.reserve]
        return np.asarray(self.reserve[np.array(fresh, dtype=bool)])

    def _two_fresh(self, ledger: Ledger) -> tuple[int, int] | None:
        """Return the first two points put aside that are in no question yet."""
        used = ledger.summary.points
        known, at = self._gone
        at = at if known is ledger else 0
        found: list[int] = []
        for place in range(at, len(self.reserve)):
            row = int(self.reserve[place])
            if row in used:
                at = place + 1 if not found else at
                continue
            found.append(row)
            if len(found) == 2:
                break
        self._gone = ledger, at
        return (found[0], found[1]) if len(found) == 2 else None

    def next_pair(self, ledger: Ledger) -> tuple[int, int] | None:
        """Return the next audit: one that is owed an answer, or two fresh points.

        An audit that was withdrawn is owed an answer.
        """
        owed = ledger.summary.owed
        if owed:
            return min(owed, key=owed.__getitem__)
        if ledger.frozen_at is not None:
            n_asked = len(ledger.final_audits())
            if n_asked >= ledger.n_final:
                return None
            if ledger.plan is not None:
                left, right = ledger.plan["index"][n_asked]
                return int(left), int(right)
        return self._two_fresh(ledger)

    def check_asked(self, ledger: Ledger, n_points: int) -> None:
        """Refuse questions that an interview with these points put aside never asks."""
        for question in ledger.questions.values():
            rows = question.pair
            whole = all(isinstance(row, int) and 0 <= row < n_points for row in rows)
            if not whole:
                raise ValueError(
                    f"the state is damaged: question {question.number} is about the "
                    f"rows {rows}, and the points are numbered 0 to {n_points - 1}"
                )
        audited = [i for q in ledger.audits() for i in q.pair]
        strange = np.setdiff1d(np.array(audited, dtype=int), self.reserve)
        if strange.size:
            raise ValueError(
                f"point {strange[0]} of the state is in an audit, and was not put "
                "aside for audits. Give from_state() the same names as before, if "
                "there were any; a state that was changed by hand cannot be used"
            )
        taught = [
            i for q in ledger.questions.values() if q.purpose == LEARN for i in q.pair
        ]
        both = np.intersect1d(audited, taught)
        if both.size or len(set(audited)) < len(audited):
            point = int(both[0]) if both.size else max(audited, key=audited.count)
            raise ValueError(
                f"point {point} of the state is in an audit and in another question; a "
                "state that was changed by hand cannot be used"
            )

    def check_brought(self, ledger: Ledger, index: Ints, purposes: list[str]) -> None:
        """Refuse answers from elsewhere that are no audits, or spoil audits."""
        wrong = set(purposes) - {LEARN, AUDIT}
        if wrong:
            raise ValueError(
                f"a purpose is 'learn' or 'audit'; got {min(map(str, wrong))!r}"
            )
        alike = np.flatnonzero(index[:, 0] == index[:, 1])
        if alike.size:
            raise ValueError(
                f"pair {alike[0]} is point {index[alike[0], 0]} with itself"
            )
        audit = np.array([why == AUDIT for why in purposes], dtype=bool)
        bad = np.flatnonzero(audit & ~np.isin(index, self.reserve).all(axis=1))
        if bad.size:
            raise ValueError(
                f"pair {bad[0]} is marked as an audit, but its points were not put "
                "aside for audits by this interview: was it made with another seed, "
                f"or with audits=0? ({bad.size} such pair(s))"
            )
        audited = {i for q in ledger.audits() for i in q.pair}
        audited |= set(index[audit].ravel().tolist())
        taught = {
            i for q in ledger.questions.values() if q.purpose == LEARN for i in q.pair
        }
        taught |= set(index[~audit].ravel().tolist())
        both = audited & taught
        if both:
            raise ValueError(
                f"point {min(both)} is in an audit and in an answer to learn from; an "
                "audit must not share points with these"
            )
        before = [i for q in ledger.audits() for i in q.pair]
        points = np.concatenate([index[audit].ravel(), np.array(before, dtype=int)])
        values, counts = np.unique(points, return_counts=True)
        if (counts > 1).any():
            raise ValueError(
                f"point {values[counts > 1][0]} is in two audits; each point may be in "
                "one only. A question of this interview is answered with answer()"
            )
