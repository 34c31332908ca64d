"""Answered pairs that may be asked again of somebody else, and which is worth most.

A second opinion is given to the person who is most likely to be right: of those who
answer at present and have not answered the pair, one whose balanced accuracy,
(r1 + 1 - r0) / 2, is about as high as the best one's. What it is worth is in
:mod:`pairlearn.ask.gain`; it is asked for if it is worth clearly more, by a half, than
an answer of the same person about a new pair, and never of somebody of whom too little
is known. The pair to be asked again is the best of many, and what a second opinion is
worth rests on estimates, so the best one seems better than it is; a new pair also shows
what no model knows of yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.ask.gain import answer_weight, gain

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from pairlearn.ask.ledger import Ledger
    from pairlearn.ask.outlook import Outlook
    from pairlearn.ask.worth import Together, Worth
    from pairlearn.data.types import Floats, Ints
    from pairlearn.trust.beliefs import Beliefs

__all__ = ["MARGIN", "Doubts", "who_is_active"]

# So many pairs are looked at, and none that so many people have answered.
_MOST, _ANSWERS = 200, 3
# By which factor a second opinion must be worth more than an answer about a new pair.
MARGIN = 1.5
# Who is among the last so many answers is there to be asked.
_LATELY = 50


@dataclass(frozen=True)
class Doubts:
    """Answered pairs, with what is believed of their points, for one model.

    Attributes
    ----------
    rows : ndarray of shape (n_pairs, 2)
        Partner and target, by row number.
    place : ndarray of shape (n_pairs,)
        The number of the target among the candidates.
    pi, b : ndarray of shape (n_pairs,)
        Probability that the target is of the partner's class, and that the partner is.
    who : list of set
        Who has answered each pair.
    n_classes : int
        Number of classes.
    """

    rows: Ints
    place: Ints
    pi: Floats
    b: Floats
    who: list[set[str]]
    n_classes: int = 2

    @classmethod
    def of(
        cls,
        together: Together,
        rows: Ints,
        places: Ints,
        numbers: Ints,
        beliefs: Beliefs,
    ) -> Doubts:
        """Return the pairs whose answers leave most open.

        Parameters
        ----------
        together : Together
            Who has answered which pair.
        rows, places, numbers : ndarray of shape (n_pairs, 2)
            The points of the pairs: row numbers, and numbers among the candidates and
            among those that the beliefs are about.
        beliefs : Beliefs
            What is believed of the points.

        Returns
        -------
        Doubts
        """
        at = np.searchsorted(beliefs.points, numbers)
        partner, target = (beliefs.probability[column] for column in at.T)
        kind = partner.argmax(axis=1)
        pi = target[np.arange(len(target)), kind]
        who = together.names()
        few = np.array([len(names) < _ANSWERS for names in who], dtype=bool)
        open_ = np.where(few, pi * (1 - pi), -1.0)
        best = np.argsort(-open_, kind="stable")[: min(_MOST, int(few.sum()))]
        return cls(
            rows[best],
            places[best, 1],
            pi[best],
            partner.max(axis=1)[best],
            [who[k] for k in best.tolist()],
            beliefs.probability.shape[1],
        )

    def best(
        self,
        who: str,
        worth: Worth,
        active: Sequence[str],
        outlook: Outlook,
        closed: Container[int],
    ) -> tuple[int, float] | None:
        """Return the pair that a person should be asked about again, and its gain.

        Parameters
        ----------
        who : str
            Who is going to answer.
        worth : Worth
            How often people are right.
        active : sequence of str
            Who is there to be asked.
        outlook : Outlook
            Of the last model.
        closed : container of int
            Rows of targets that were asked about since, or are out.

        Returns
        -------
        tuple of int and float, or None
        """
        better = worth.better(who, [name for name in active if name != who])
        if better is None or not worth.is_known(who):
            return None
        # Whoever is better has answered it already.
        may = [
            row not in closed and who not in names and names.issuperset(better)
            for row, names in zip(self.rows[:, 1].tolist(), self.who, strict=True)
        ]
        left = np.flatnonzero(np.array(may, dtype=bool))
        if not len(left):
            return None
        weight = answer_weight(
            self.pi[left], self.b[left], worth.rates(who), self.n_classes
        )
        gains = gain(*outlook.moments(self.place[left]), weight)
        top = int(gains.argmax())
        return int(left[top]), float(gains[top])


def who_is_active(ledger: Ledger) -> list[str]:
    """Return who has given the last answers.

    Examples
    --------
    >>> from pairlearn.ask.ledger import Ledger
    >>> from pairlearn.ask.question import Question
    >>> ledger = Ledger()
    >>> ledger.ask(Question(0, 3, 5, "learn", 5))
    >>> ledger.answer(0, 1, "Ada")
    >>> who_is_active(ledger)
    ['Ada']
    """
    last = islice(reversed(ledger.answers.values()), _LATELY)
    return sorted({answer.who for answer in last if answer.who is not None})
