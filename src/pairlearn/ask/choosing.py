"""Which question to learn from comes next: about which point, and compared with which.

In this order:

1. A point whose class is still open after "different" is compared with the next class.
2. A point that somebody was unsure about is compared with another one, later or by
   somebody else.
3. Where answers may be wrong, a point whose answers are not believed is compared with
   another one; so a wrong answer about a point that others were compared with is found
   before it turns a class.
4. Otherwise the strategy chooses a point that was not asked about.

A choice depends on the ledger, the scores of the last model and a generator made from
the seed and the number of the question: nothing is remembered that is not stored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.ask.partners import choose_partner
from pairlearn.ask.question import LEARN, Question
from pairlearn.ask.strategies import NoCandidateLeftError, View
from pairlearn.trust.assignment import match_classes
from pairlearn.trust.beliefs import Beliefs, believe

if TYPE_CHECKING:
    from pairlearn.ask.ledger import Ledger
    from pairlearn.ask.scores import Scores
    from pairlearn.ask.strategies import Strategy
    from pairlearn.data.types import Floats, Ints

__all__ = ["Chooser", "Knowledge"]

# An unsure answer is asked about again after so many questions, or of somebody else at
# once; a point that so many were unsure about is left alone.
_LATER, _MOST_UNSURE = 5, 3
# A point of which no class is likelier than this is not known.
_KNOWN = 0.9
# A class that is less likely than this, once there are answers, is not asked about.
_RULED_OUT = 0.1


@dataclass(frozen=True)
class Knowledge:
    """What the answers to questions to learn from say, by candidates.

    Attributes
    ----------
    index : ndarray of shape (n, 2)
        The pairs that were asked about, answered or out.
    beliefs : Beliefs or None
        What the answers say; None without answers.
    asked : ndarray of int
        Candidates that need no first question: known, or out, or given up.
    out : set of int
        Candidates that a question is out about.
    """

    index: Ints
    beliefs: Beliefs | None
    asked: Ints
    out: set[int]


class Chooser:
    """Chooses questions to learn from.

    Parameters
    ----------
    rows : ndarray of int
        Row numbers of the candidates.
    Z : ndarray of shape (n_candidates, d)
        Their features.
    strategy : Strategy
        What chooses among points that were not asked about.
    n_classes : int or "auto"
        Number of classes.
    """

    def __init__(
        self, rows: Ints, Z: Floats, strategy: Strategy, n_classes: int | str
    ) -> None:
        self.rows, self.Z, self.strategy = rows, Z, strategy
        self.n_classes = None if isinstance(n_classes, str) else n_classes
        self._place = {int(row): place for place, row in enumerate(rows)}

    def choose(
        self,
        ledger: Ledger,
        scores: Scores | None,
        doubtful: list[int],
        noise: float,
        who: str | None,
        rng: np.random.Generator,
    ) -> tuple[int, int] | None:
        """Return the rows of a target and its partner; None if nothing is left.

        Parameters
        ----------
        ledger : Ledger
            What was asked and answered.
        scores : Scores or None
            What the last model says of the candidates.
        doubtful : list of int
            Rows of points whose answers the last model does not believe.
        noise : float
            The rate of wrong answers.
        who : str or None
            Who is going to answer.
        rng : Generator
            Randomness of this question.

        Returns
        -------
        tuple of int or None
        """
        known = self.knowledge(ledger, noise)
        for target in self._first(ledger, known, doubtful, who):
            place = self._place[target]
            partner = self._partner(
                place, known, scores, noise, again=target in doubtful
            )
            if partner is not None:
                return target, int(self.rows[partner])
        view = View(
            self.Z,
            scores,
            known.asked,
            len(scores.answered) if scores else 0,
            len(ledger.answers),
            self.n_classes
            or max(2, known.beliefs.n_established if known.beliefs else 2),
            rng,
        )
        try:
            place = self.strategy.choose(view)
        except NoCandidateLeftError:
            return None
        partner = self._partner(place, known, scores, noise)
        if partner is None:
            partner = self._any_partner(place, view, known)
        if partner is None:
            return None
        return int(self.rows[place]), int(self.rows[partner])

    def knowledge(self, ledger: Ledger, noise: float) -> Knowledge:
        """Return what the answers say.

        Parameters
        ----------
        ledger : Ledger
            What was asked and answered.
        noise : float
            The rate of wrong answers.

        Returns
        -------
        Knowledge
        """
        standing = [
            q
            for q in ledger.questions.values()
            if q.purpose == LEARN
            and (q.number in ledger.answers or q.number in ledger.open)
            and q.left in self._place
            and q.right in self._place
        ]
        # The partner first: it was there before the target.
        index = np.array(
            [(self._place[q.partner], self._place[q.target]) for q in standing],
            dtype=np.intp,
        ).reshape(-1, 2)
        said = np.array(
            [ledger.answers[q.number].said if q.number in ledger.answers else 0
             for q in standing], dtype=float,
        )  # fmt: skip
        out = {self._place[q.target] for q in standing if q.number in ledger.open}
        sure = said != 0
        if not sure.any():
            return Knowledge(index, None, np.unique(index), out)
        beliefs = believe(
            index[sure], said[sure], n_classes=self.n_classes, noise=noise
        )
        settled = beliefs.points[beliefs.confidence > min(_KNOWN, 1 - 2 * noise)]
        # Points of an answer that hangs together with no other are not known.
        asked = set(settled.tolist()) | {int(i) for i in index[~sure].ravel()}
        targets = {self._place[q.target] for q in standing}
        asked |= {int(i) for i in targets & set(beliefs.points.tolist())}
        asked |= set(beliefs.representatives.tolist())
        # In the order in which they were asked about.
        order = [i for i in dict.fromkeys(index.ravel().tolist()) if i in asked]
        return Knowledge(index, beliefs, np.array(order, dtype=np.intp), out)

    def _first(
        self, ledger: Ledger, known: Knowledge, doubtful: list[int], who: str | None
    ) -> list[int]:
        """Return the rows of points that were asked about and are to be asked again."""
        if known.beliefs is None:
            return self._unsure_targets(ledger, known, who)
        found = []
        if self.n_classes != 2:
            asked = dict.fromkeys(
                answer.question.target
                for answer in ledger.answers.values()
                if answer.question.purpose == LEARN and answer.said < 0
            )
            for row in asked:
                place = self._place.get(row)
                if place is None or place in known.out:
                    continue
                belief = known.beliefs.of(place)
                if belief is not None and belief.max() < _KNOWN:
                    found.append(row)
        found += self._unsure_targets(ledger, known, who)
        again = {
            q.target
            for q in ledger.questions.values()
            if ledger.learned and q.number >= ledger.learned[-1].n_questions
        }
        found += [
            row
            for row in doubtful
            if row not in again and self._place.get(row, -1) not in known.out | {-1}
        ]
        return found

    def _unsure_targets(
        self, ledger: Ledger, known: Knowledge, who: str | None
    ) -> list[int]:
        """Return the rows of points that somebody was unsure about, and not known."""
        found = []
        now = len(ledger.questions)
        for question in self.unsure(ledger, known):
            answers = [
                a
                for a in ledger.answers.values()
                if a.question.target == question.target and not a.said
            ]
            later = now - max(a.question.number for a in answers) > _LATER
            somebody_else = who is not None and who not in {a.who for a in answers}
            if len(answers) < _MOST_UNSURE and (later or somebody_else):
                found.append(question.target)
        return found

    def unsure(self, ledger: Ledger, known: Knowledge | None = None) -> list[Question]:
        """Return questions that nobody could answer, about points still not known."""
        known = known or self.knowledge(ledger, 0.0)
        found: dict[int, Question] = {}
        for answer in ledger.answers.values():
            target = answer.question.target
            place = self._place.get(target, -1)
            if answer.said or place < 0 or place in known.out:
                continue
            belief = known.beliefs.of(place) if known.beliefs else None
            if belief is None or belief.max() < _KNOWN:
                found.setdefault(target, answer.question)
        return list(found.values())

    def _partner(
        self,
        place: int,
        known: Knowledge,
        scores: Scores | None,
        noise: float,
        *,
        again: bool = False,
    ) -> int | None:
        if known.beliefs is None:
            return None
        probability = None
        if scores is not None:
            probability = scores.proba[place][_same_names(known.beliefs, scores)]
        return choose_partner(
            place,
            known.beliefs,
            self.Z,
            known.index,
            probability=probability,
            again=again,
            ruled_out=max(_RULED_OUT, 1.05 * noise),
        )

    def _any_partner(self, place: int, view: View, known: Knowledge) -> int | None:
        """Return a partner while no class is known: a point that was asked about."""
        used = [int(i) for i in known.index[:, 0] if i != place]
        if used:
            return used[0]
        asked = np.append(view.asked, place)
        try:
            return int(self.strategy.choose(replace(view, asked=asked)))
        except NoCandidateLeftError:
            return None


def _same_names(beliefs: Beliefs, scores: Scores) -> Ints:
    """Return the model's classes in the order of those of the beliefs."""
    columns = min(beliefs.n_established, scores.proba.shape[1])
    table = beliefs.probability[:, :columns].T @ scores.proba[beliefs.points]
    square = np.zeros((scores.proba.shape[1],) * 2)
    square[:columns] = table
    return match_classes(square)


def _n_known(known: Knowledge) -> int:
    """Return how many classes are known, two at least."""
    return max(2, known.beliefs.n_established) if known.beliefs else 2
