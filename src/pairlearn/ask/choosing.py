"""Which question to learn from comes next: about which point, and compared with which.

In this order:

1. A point whose class is still open after "different" is compared with the next class.
2. A point that somebody was unsure about is compared with another one, later or by
   somebody else.
3. Where answers may be wrong, a point whose answers are not believed is compared with
   another one; so a wrong answer about a point that others were compared with is found
   before it turns a class. Where several people answer, and it is known who is going to
   answer next, this is left out here.
4. Otherwise the strategy chooses a point that was not asked about. Where several people
   answer, a pair in doubt is asked again instead if that settles more
   (:mod:`pairlearn.ask.gain`).

A choice depends on the ledger, the scores of the last model and a generator made from
the seed and the number of the question: nothing is remembered that is not stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.ask.doubts import MARGIN, who_is_active
from pairlearn.ask.gain import answer_weight, gain
from pairlearn.ask.knowing import KNOWN, Knowledge, Notes
from pairlearn.ask.outlook import NoCandidateLeftError, Outlook
from pairlearn.ask.partners import choose_partner, some_anchors
from pairlearn.ask.question import IN_DOUBT, TO_FIND_KINDS, TO_LEARN, WAS_UNSURE
from pairlearn.ask.scores import Scores
from pairlearn.ask.strategies import View
from pairlearn.trust.assignment import match_classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pairlearn.ask.doubts import Doubts
    from pairlearn.ask.ledger import Ledger
    from pairlearn.ask.question import Question
    from pairlearn.ask.strategies import Strategy
    from pairlearn.ask.worth import Worth
    from pairlearn.data.types import Floats, Ints
    from pairlearn.trust.beliefs import Beliefs

__all__ = ["Chooser", "Knowledge"]

# An unsure answer is asked about again after so many questions, or of somebody else at
# once; a point that so many were unsure about is left alone.
_LATER, _MOST_UNSURE = 5, 3
# A class that is less likely than this, once there are answers, is not asked about.
_RULED_OUT = 0.1
# In a hurry, the nearest of about so many points of a class is near enough.
_FEW_ANCHORS = 50


@dataclass
class _Prepared:
    """What follows from the answers and the last model, until either changes."""

    version: int
    scores: Scores | None
    # Rows of points whose class is open after "different", or that somebody was unsure
    # about, or whose answers are not believed; candidates for which no partner was
    # found, and those that are known although somebody was unsure.
    between: list[int]
    unsure: list[int]
    anchors: list[Ints]
    names: Ints | None
    doubtful: frozenset[int]
    few_anchors: list[Ints] = field(init=False)
    alone: set[int] = field(default_factory=set)
    settled: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.few_anchors = [
            points[:: len(points) // _FEW_ANCHORS + 1] for points in self.anchors
        ]


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
        self._notes = Notes(self._place, self.n_classes)
        self._prepared: _Prepared | None = None
        self._outlook: Outlook | None = None
        self._before: dict[int, Scores] = {}
        # Points that were asked about since a model began to learn.
        self._since: tuple[int, int, set[int]] = -1, 0, set()

    def choose(
        self,
        ledger: Ledger,
        scores: Scores | None,
        doubtful: list[int],
        noise: float,
        who: str | None,
        rng: np.random.Generator,
        *,
        hurry: bool = False,
        worth: Worth | None = None,
    ) -> tuple[int, int, str] | None:
        """Return the rows of a target and its partner, and why; None if none is left.

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
        hurry : bool
            Whether so many questions are wanted that each may take little time.
        worth : Worth, optional
            What answers of each person are worth.

        Returns
        -------
        tuple of int, int and str, or None
        """
        known = self._notes.look(ledger, noise, worth)
        ready = self._prepare(ledger, known, scores, doubtful)
        for target, why in self._first(ledger, known, ready, doubtful, who):
            place = self._place[target]
            if place in ready.alone:
                continue
            again = target in ready.doubtful
            partner = self._partner(place, known, ready, noise, again=again)
            if partner is not None:
                return target, int(self.rows[partner]), why
            # Until there are other answers, none will be found.
            ready.alone.add(place)
        n_classes = self.n_classes or _n_known(known)
        view = View(
            self.Z,
            scores,
            known.asked,
            len(scores.answered) if scores else 0,
            len(ledger.answers),
            n_classes,
            rng,
            self._look_out(scores, n_classes),
            hurry,
        )
        try:
            place, why = _pick(self.strategy, view)
        except NoCandidateLeftError:
            return None
        partner = self._partner(place, known, ready, noise, hurry=hurry)
        if partner is None:
            partner = self._any_partner(place, view, known)
        if partner is None:
            return None
        if scores is None and why == TO_LEARN:
            why = TO_FIND_KINDS
        return int(self.rows[place]), int(self.rows[partner]), why

    def instead(
        self,
        found: tuple[int, int, str] | None,
        ledger: Ledger,
        doubts: Doubts,
        worth: Worth,
        who: str,
    ) -> tuple[int, int, str] | None:
        """Return a pair to ask somebody about again, if that settles clearly more.

        Parameters
        ----------
        found : tuple or None
            What :meth:`choose` has just returned.
        ledger : Ledger
            What was asked and answered.
        doubts : Doubts
            Pairs that may be asked again.
        worth : Worth
            What answers of each person are worth.
        who : str
            Who is going to answer.

        Returns
        -------
        tuple of int, int and str, or None
            Target, partner and why; None: the new pair is the better one.
        """
        known, ready, outlook = self._notes.known, self._prepared, self._outlook
        if known is None or known.beliefs is None or outlook is None or ready is None:
            return None
        closed = self._asked_since(ledger) | {int(self.rows[k]) for k in known.out}
        best = doubts.best(who, worth, who_is_active(ledger), outlook, closed)
        if best is None:
            return None
        if found is not None:
            place, partner = self._place[found[0]], self._place[found[1]]
            belief = known.beliefs.of(partner)
            pi = b = 0.5
            if belief is not None and ready.names is not None:
                kind = int(belief.argmax())
                proba = outlook.scores.proba[place]
                if kind < len(ready.names):
                    pi, b = float(proba[ready.names[kind]]), float(belief[kind])
            weight = answer_weight(
                np.array([pi]), np.array([b]), worth.rates(who), doubts.n_classes
            )
            moments = outlook.moments(np.array([place]))
            if MARGIN * gain(*moments, weight)[0] >= best[1]:
                return None
        partner, target = doubts.rows[best[0]].tolist()
        return target, partner, IN_DOUBT

    def _prepare(
        self,
        ledger: Ledger,
        known: Knowledge,
        scores: Scores | None,
        doubtful: list[int],
    ) -> _Prepared:
        """Return what follows from the answers, if they changed computed anew."""
        ready, sums = self._prepared, ledger.summary
        if ready and ready.version == known.version and ready.scores is scores:
            # An unsure answer is no news about classes.
            ready.unsure = [
                row
                for row, answers in sums.unsure.items()
                if len(answers) < _MOST_UNSURE
            ]
            return ready
        beliefs = known.beliefs
        between: list[int] = []
        if beliefs is not None and self.n_classes != 2:
            unknown = beliefs.points[beliefs.confidence < KNOWN]
            rows = set(self.rows[unknown].tolist())
            between = [row for row in sums.ruled_out if row in rows]
        names = None
        if beliefs is not None and scores is not None:
            names = _same_names(beliefs, scores)
        self._prepared = _Prepared(
            known.version,
            scores,
            between,
            [row for row, said in sums.unsure.items() if len(said) < _MOST_UNSURE],
            some_anchors(beliefs) if beliefs is not None else [],
            names,
            frozenset(doubtful),
        )
        return self._prepared

    def _look_out(self, scores: Scores | None, n_classes: int) -> Outlook:
        """Return the outlook of these scores, or of those before there is a model."""
        if scores is None:
            if n_classes not in self._before:
                self._before[n_classes] = Scores.before(self.Z, n_classes)
            scores = self._before[n_classes]
        if self._outlook is None or self._outlook.scores is not scores:
            self._outlook = Outlook(scores, self.Z)
        return self._outlook

    def _first(
        self,
        ledger: Ledger,
        known: Knowledge,
        ready: _Prepared,
        doubtful: list[int],
        who: str | None,
    ) -> Iterator[tuple[int, str]]:
        """Find the rows of points that were asked about and are to be asked again."""
        for row in ready.between:
            if self._place[row] not in known.out:
                yield row, TO_FIND_KINDS
        for row in self._unsure_targets(ledger, known, ready, who):
            yield row, WAS_UNSURE
        if known.beliefs is None or not doubtful:
            return
        again = self._asked_since(ledger)
        for row in doubtful:
            if row in again or row not in self._place:
                continue
            if self._place[row] not in known.out:
                yield row, IN_DOUBT

    def _asked_since(self, ledger: Ledger) -> set[int]:
        """Return the points that were asked about since the last model began."""
        if not ledger.learned:
            return set()
        version, begin = len(ledger.learned), ledger.learned[-1].n_asked
        before, at, found = self._since
        if before != version:
            at, found = begin, set()
        now = len(ledger.questions)
        found.update(ledger.questions[number].target for number in range(at, now))
        self._since = version, now, found
        return found

    def _unsure_targets(
        self, ledger: Ledger, known: Knowledge, ready: _Prepared, who: str | None
    ) -> Iterator[int]:
        """Find the rows of points that somebody was unsure about, and not known."""
        now = len(ledger.questions)
        for row in ready.unsure:
            place = self._place.get(row, -1)
            if place < 0 or place in known.out or place in ready.settled:
                continue
            if known.is_known(place):
                ready.settled.add(place)
                continue
            answers = ledger.summary.unsure[row]
            later = now - max(a.question.number for a in answers) > _LATER
            if later or (who is not None and who not in {a.who for a in answers}):
                yield row

    def unsure(self, ledger: Ledger) -> list[Question]:
        """Return questions that nobody could answer, about points still not known."""
        # By the answers alone: whatever the rate of wrong ones is taken to be.
        known = Notes(self._place, self.n_classes).look(ledger, 0.0)
        found = []
        for row, answers in ledger.summary.unsure.items():
            place = self._place.get(row, -1)
            if place < 0 or place in known.out or known.is_known(place):
                continue
            found.append(answers[0].question)
        return found

    def _partner(
        self,
        place: int,
        known: Knowledge,
        ready: _Prepared,
        noise: float,
        *,
        again: bool = False,
        hurry: bool = False,
    ) -> int | None:
        if known.beliefs is None:
            return None
        probability = None
        if ready.scores is not None:
            probability = ready.scores.proba[place][ready.names]
        return choose_partner(
            place,
            known.beliefs,
            self.Z,
            known.index,
            probability=probability,
            again=again,
            ruled_out=max(_RULED_OUT, 1.05 * noise),
            times=known.times,
            anchors=ready.few_anchors if hurry else ready.anchors,
        )

    def _any_partner(self, place: int, view: View, known: Knowledge) -> int | None:
        """Return a partner while no class is known: a point that was asked about."""
        used = known.index[:, 0] != place
        if used.any():
            return int(known.index[np.argmax(used), 0])
        asked = np.append(view.asked, place)
        try:
            return int(self.strategy.choose(replace(view, asked=asked)))
        except NoCandidateLeftError:
            return None


def _pick(strategy: Strategy, view: View) -> tuple[int, str]:
    """Return what a strategy chooses, and why."""
    pick = getattr(strategy, "pick", None)
    if pick is not None:
        place, why = pick(view)
        return int(place), str(why)
    return int(strategy.choose(view)), TO_LEARN


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
