r"""What the answers to questions to learn from say, kept up to date as they come.

:class:`Notes` follow a ledger line by line. Up to 400 answers the beliefs are computed
from all of them whenever one is new. With more of them that would take longer and
longer, so it is done at every tenth more, and the answers that came since are added one
by one, in the order they came: of the two points the one that is known better tells
about the other, by Bayes' rule,

.. math:: m_t(c) \leftarrow \frac{1}{Z}\, m_t(c) \sum_{c'} m_p(c')\, \psi(c, c') .

For a point that was not asked about before, which nearly all targets are, that is the
same as computing everything again; for others it leaves out what the answer says about
third points, until the next time. Where a point seems to open a class, everything is
computed at once. What is known depends on the ledger alone, and not on when somebody
looked: notes that are made anew of the same ledger say the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from pairlearn.ask.question import LEARN
from pairlearn.ask.worth import AS_WRONG
from pairlearn.trust.beliefs import Beliefs, believe

if TYPE_CHECKING:
    from pairlearn.ask.ledger import Ledger
    from pairlearn.ask.question import Question
    from pairlearn.ask.worth import Worth
    from pairlearn.data.types import Bools, Floats, Ints

__all__ = ["KNOWN", "Knowledge", "Notes"]

# A point of which no class is likelier than this is not known.
KNOWN = 0.9
# Up to so many answers all is computed from all of them, later after this share more.
_EXACT, _GROWTH = 400, 0.1
# A point opens a class if it is of none of the others with this probability.
_NEW = 0.6
# Rates of wrong answers are kept from certainty, as in the beliefs.
_LEAST_NOISE = 1e-6


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
    out : dict
        Candidates that a question is out about, with the number of such questions.
    times : ndarray of shape (n_candidates,)
        In how many of the pairs each candidate is.
    version : int
        Grows when an answer comes or goes, and when a question is withdrawn.
    """

    index: Ints
    beliefs: Beliefs | None
    asked: Ints
    out: dict[int, int]
    times: Ints
    version: int

    def is_known(self, place: int) -> bool:
        """Tell whether the class of a candidate is known."""
        belief = self.beliefs.of(place) if self.beliefs else None
        return belief is not None and bool(belief.max() >= KNOWN)


class Notes:
    """Follow a ledger.

    Parameters
    ----------
    place : dict
        The number of each candidate, by its row.
    n_classes : int or None
        Number of classes; None if it is unknown.

    Examples
    --------
    >>> from pairlearn.ask.ledger import Ledger
    >>> from pairlearn.ask.question import Question
    >>> ledger = Ledger()
    >>> for number, (left, right) in enumerate([(5, 6), (6, 7)]):
    ...     ledger.ask(Question(number, left, right, "learn", right))
    >>> ledger.answer(0, -1)
    >>> notes = Notes({5: 0, 6: 1, 7: 2}, n_classes=2)
    >>> known = notes.look(ledger, noise=0.0)
    >>> known.beliefs.points, known.asked, known.out
    (array([0, 1]), array([0, 1, 2]), {2: 1})
    """

    def __init__(self, place: dict[int, int], n_classes: int | None) -> None:
        self.place, self.n_classes = place, n_classes
        self._begin(None)

    def _begin(self, ledger: Ledger | None) -> None:
        self._ledger, self._at, self._n = ledger, 0, 0
        self._noise = -1.0
        self._worth: Worth | None = None
        # Who has answered, by slot.
        self._by: dict[int, str | None] = {}
        # By slot, in the order of their numbers: partner and target of each question,
        # what was said (0: out, or unsure), and whether it stands.
        self._pairs: Ints = np.zeros((256, 2), dtype=np.intp)
        self._said: Floats = np.zeros(256)
        self._stands: Bools = np.zeros(256, dtype=bool)
        self._n_gone = 0
        self._slot: dict[int, int] = {}
        self._times: Ints = np.zeros(len(self.place), dtype=np.intp)
        self._out: dict[int, int] = {}
        # Slots with a sure answer, in the order these came.
        self._sure: dict[int, None] = {}
        self._version = 0
        self._beliefs: Beliefs | None = None
        self._base: Beliefs | None = None
        # The first of the sure answers: those of the base, and all that were added.
        self._n_base = self._n_added = 0
        self._news: list[int] = []
        self._stale = True
        self._known: Knowledge | None = None

    @property
    def known(self) -> Knowledge | None:
        """What the last look found."""
        return self._known

    def look(
        self, ledger: Ledger, noise: float, worth: Worth | None = None
    ) -> Knowledge:
        """Return what the answers say.

        Parameters
        ----------
        ledger : Ledger
            What was asked and answered.
        noise : float
            The rate of wrong answers.
        worth : Worth, optional
            What answers of each person are worth; None: all alike, by the rate.

        Returns
        -------
        Knowledge
        """
        if ledger is not self._ledger:
            self._begin(ledger)
        for what, *values in ledger.events[self._at :]:
            if what in ("ask", "answer", "undo", "withdraw"):
                question = ledger.questions[values[0]]
                if question.purpose == LEARN:
                    said = values[1:] if what == "answer" else ()
                    self._follow(what, question, *said)
        self._at = len(ledger.events)
        if noise != self._noise or worth is not self._worth:
            self._noise, self._base, self._stale = noise, None, True
            self._worth = worth
        if self._stale:
            self._version += 1
            self._beliefs = self._believe()
        if self._stale or self._known is None:
            self._known = self._sum_up(self._order())
            self._news = []
        elif self._news:
            news = np.array(self._news, dtype=np.intp)
            self._known = self._sum_up(np.concatenate([self._known.asked, news]))
            self._news = []
        self._stale = False
        return self._known

    def _follow(
        self, what: str, question: Question, said: int = 0, who: str | None = None
    ) -> None:
        """Follow one line of the ledger about a question to learn from."""
        if what == "ask":
            self._ask(question)
        elif (slot := self._slot.get(question.number)) is None:
            # It is about other points than candidates.
            return
        elif what == "answer":
            self._by[slot] = who
            self._answer(slot, said)
        elif what == "undo":
            self._undo(slot)
        else:
            self._withdraw(slot)

    @property
    def _index(self) -> Ints:
        pairs = self._pairs[: self._n]
        return pairs[self._stands[: self._n]] if self._n_gone else pairs

    def _ask(self, question: Question) -> None:
        if question.left not in self.place or question.right not in self.place:
            return
        if self._n == len(self._said):
            self._pairs = np.concatenate([self._pairs, np.zeros_like(self._pairs)])
            self._said = np.concatenate([self._said, np.zeros_like(self._said)])
            self._stands = np.concatenate([self._stands, np.zeros_like(self._stands)])
        slot, self._n = self._n, self._n + 1
        partner, target = self.place[question.partner], self.place[question.target]
        self._slot[question.number] = slot
        self._pairs[slot], self._stands[slot] = (partner, target), True
        fresh = not self._times[target]
        # Both points of a question that is out need no first question. Mostly the
        # partner did not before, and the target is new and comes last.
        if self._known and fresh and self._asked[partner]:
            self._news.append(target)
            self._asked[target] = True
        else:
            self._known = None
        self._times[[partner, target]] += 1
        self._out[target] = self._out.get(target, 0) + 1

    def _answer(self, slot: int, said: int) -> None:
        self._no_longer_out(slot)
        self._said[slot] = said
        if said:
            self._sure[slot] = None
            self._stale = True
        else:
            self._known = None

    def _undo(self, slot: int) -> None:
        target = int(self._pairs[slot, 1])
        self._out[target] = self._out.get(target, 0) + 1
        if slot in self._sure:
            if slot in list(self._sure)[: self._n_base]:
                self._base = None
            del self._sure[slot]
            # What was added is added again, from the base.
            self._n_added = 0
        self._said[slot] = 0
        self._stale = True

    def _withdraw(self, slot: int) -> None:
        self._no_longer_out(slot)
        self._times[self._pairs[slot]] -= 1
        self._stands[slot] = False
        self._n_gone += 1
        self._stale = True

    def _no_longer_out(self, slot: int) -> None:
        target = int(self._pairs[slot, 1])
        self._out[target] -= 1
        if not self._out[target]:
            del self._out[target]

    def _believe(self) -> Beliefs | None:
        n_sure = len(self._sure)
        if not n_sure:
            return None
        if n_sure <= _EXACT:
            self._base = None
            return self._exactly(n_sure)
        n_base = _last_step(n_sure)
        base = self._base
        if base is None or self._n_base < n_base or not self._n_added:
            base = self._start_from(n_base)
        slots = list(self._sure)
        while self._n_added < n_sure:
            slot = slots[self._n_added]
            self._n_added += 1
            point = self._add(slot)
            others = self._chance[point, base.n_established :].sum()
            if others > _NEW and point not in self._tried:
                base = self._start_from(self._n_added)
                self._tried.add(point)
        points = np.flatnonzero(self._has)
        return replace(base, points=points, probability=self._chance[points])

    def _exactly(self, n_first: int) -> Beliefs:
        """Return what the first of the sure answers say, in the order of questions."""
        slots = np.sort(list(self._sure)[:n_first])
        said, weight, noise = self._said[slots], None, self._noise
        if self._worth is not None:
            told = logit([self._alike(slot) for slot in slots.tolist()])
            said = np.where(told >= 0, 1.0, -1.0)
            weight = np.abs(told) / logit(1 - AS_WRONG)
            noise = AS_WRONG
        return believe(
            self._pairs[slots],
            said,
            n_classes=self.n_classes,
            noise=noise,
            weight=weight,
        )

    def _alike(self, slot: int) -> float:
        """Return how likely two points are the same, by one answer alone."""
        said = int(self._said[slot])
        if self._worth is not None:
            return float(expit(self._worth.log_ratio(self._by.get(slot), said)))
        e = max(self._noise, _LEAST_NOISE)
        return 1 - e if said > 0 else e

    def _start_from(self, n_base: int) -> Beliefs:
        """Compute everything from the first of the sure answers."""
        if self._base is None or self._n_base != n_base:
            self._base = self._exactly(n_base)
        base, self._n_base, self._n_added = self._base, n_base, n_base
        n_columns = base.probability.shape[1]
        self._chance: Floats = np.full((len(self.place), n_columns), 1 / n_columns)
        self._chance[base.points] = base.probability
        self._has: Bools = np.zeros(len(self.place), dtype=bool)
        self._has[base.points] = True
        self._tried: set[int] = set()
        return base

    def _add(self, slot: int) -> int:
        """Let the point that is known better tell about the other; return that."""
        one, other = (int(i) for i in self._pairs[slot])
        if self._chance[other].max() > self._chance[one].max():
            one, other = other, one
        alike = self._alike(slot)
        unlike = 1 - alike
        told = self._chance[one] * alike + (1 - self._chance[one]) * unlike
        now = self._chance[other] * told
        self._chance[other] = now / now.sum()
        self._has[[one, other]] = True
        return other

    def _order(self) -> Ints:
        """Return the candidates that need no first question, as they were asked."""
        index, beliefs = self._index, self._beliefs
        self._asked: Bools = np.zeros(len(self.place), dtype=bool)
        said = self._said[: self._n]
        sure = (said[self._stands[: self._n]] if self._n_gone else said) != 0
        self._asked[index[~sure]] = True
        if beliefs is not None:
            # Points of an answer that hangs together with no other are not known.
            settled = beliefs.confidence > min(KNOWN, 1 - 2 * self._noise)
            self._asked[beliefs.points[settled]] = True
            told = np.zeros(len(self.place), dtype=bool)
            told[beliefs.points] = True
            targets = index[:, 1]
            self._asked[targets[told[targets]]] = True
            self._asked[beliefs.representatives] = True
        # The first time that each is in a pair: written last.
        first = np.full(len(self.place), -1, dtype=np.intp)
        first[index.ravel()[::-1]] = np.arange(index.size)[::-1]
        asked = np.flatnonzero(self._asked & (first >= 0))
        return asked[np.argsort(first[asked])]

    def _sum_up(self, asked: Ints) -> Knowledge:
        return Knowledge(
            self._index, self._beliefs, asked, self._out, self._times, self._version
        )


def _last_step(n_answers: int) -> int:
    """Return the last number of answers, up to this, at which all is computed."""
    step = _EXACT
    while step + int(_GROWTH * step) <= n_answers:
        step += int(_GROWTH * step)
    return step
