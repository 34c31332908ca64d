"""Pairs that a second person is asked about, to see how often people agree.

With ``overlap=0.1`` one question in ten repeats a pair that somebody else has answered.
Agreement is measured on these alone, so they must be random ones: whether a question
repeats a pair is decided by a coin that knows neither the model nor the answers, and
which pair it is by another one, uniformly among all pairs that one person has answered
and that nobody else is being asked about. Pairs that are asked again because an answer
is unsure or in doubt are hard ones, on which people agree less.

A repeated audit uses up no point that was put aside, and leaves the certificate as it
is: what was said first stands (:meth:`~pairlearn.ask.ledger.Ledger.audit_answers`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pairlearn.ask.question import Question

__all__ = ["SingleAnswers", "wants_overlap"]


def wants_overlap(seed: int, number: int, share: float) -> np.random.Generator | None:
    """Throw the coin of a question; return its generator if a pair is to be repeated.

    It is not the generator that says which questions are audits, so that these are the
    same with and without overlap.

    Examples
    --------
    >>> wants_overlap(0, 5, 0.0) is None, wants_overlap(0, 5, 1.0) is None
    (True, False)
    """
    if not share:
        return None
    rng = np.random.default_rng([seed, 3, number])
    return rng if rng.random() < share else None


class SingleAnswers:
    """Questions whose pair has one answer, of somebody with a name, and is not out.

    Answers without a name are left out: nobody can tell who another person would be.

    Examples
    --------
    >>> from pairlearn.ask.question import Question
    >>> single = SingleAnswers()
    >>> for number, who in enumerate(["Ada", "Bob"]):
    ...     question = Question(number, 2 * number, 2 * number + 1)
    ...     single.asked(question)
    ...     single.answered(question, who)
    >>> single.draw(np.random.default_rng(0), "Ada").number
    1
    """

    def __init__(self) -> None:
        self._n_out: dict[tuple[int, int], int] = {}
        # Who has answered each pair, by the number of the question.
        self._who: dict[tuple[int, int], dict[int, tuple[Question, str | None]]] = {}
        self._n_by: dict[str, int] = {}
        # Of each person, the pairs that nobody else has answered: in a list to draw
        # from, and where in the list they are.
        self._mine: dict[str, list[Question]] = {}
        self._place: dict[tuple[int, int], tuple[str, int]] = {}

    @property
    def n_people(self) -> int:
        """How many people, by name, have answered."""
        return len(self._n_by)

    def asked(self, question: Question) -> None:
        """Note that a question is out."""
        self._n_out[question.pair] = self._n_out.get(question.pair, 0) + 1
        self._sort_in(question.pair)

    def withdrawn(self, question: Question) -> None:
        """Note that a question is no longer out."""
        self._n_out[question.pair] -= 1
        self._sort_in(question.pair)

    def answered(self, question: Question, who: str | None) -> None:
        """Note an answer."""
        self._n_out[question.pair] -= 1
        self._who.setdefault(question.pair, {})[question.number] = question, who
        if who is not None:
            self._n_by[who] = self._n_by.get(who, 0) + 1
        self._sort_in(question.pair)

    def undone(self, question: Question) -> None:
        """Note that an answer was taken back; the question is out again."""
        _, who = self._who[question.pair].pop(question.number)
        if who is not None:
            self._n_by[who] -= 1
            if not self._n_by[who]:
                del self._n_by[who]
        self.asked(question)

    def draw(self, rng: np.random.Generator, who: str | None) -> Question | None:
        """Return a random one to be asked again of somebody else.

        Parameters
        ----------
        rng : Generator
            Randomness.
        who : str or None
            Who is going to answer; None: not known yet.

        Returns
        -------
        Question or None
            None with answers of fewer than two people, and if nothing is left.
        """
        if self.n_people < 2:
            return None
        lists = [found for name, found in self._mine.items() if name != who]
        n_left = sum(map(len, lists))
        at = int(rng.integers(n_left)) if n_left else 0
        for found in lists:
            if at < len(found):
                return found[at]
            at -= len(found)
        return None

    def _sort_in(self, pair: tuple[int, int]) -> None:
        """Put a pair into the list that it belongs to, or take it out."""
        answers = self._who.get(pair, {})
        owner = question = None
        if len(answers) == 1 and not self._n_out.get(pair):
            question, owner = next(iter(answers.values()))
        before = self._place.pop(pair, None)
        if before is not None:
            name, at = before
            # The last one takes its place.
            last = self._mine[name].pop()
            if last.pair != pair:
                self._mine[name][at] = last
                self._place[last.pair] = name, at
        if question is not None and owner is not None:
            found = self._mine.setdefault(owner, [])
            self._place[pair] = owner, len(found)
            found.append(question)
