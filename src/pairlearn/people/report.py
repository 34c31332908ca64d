"""All that is known about those who answer, in one result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.checks import check_share
from pairlearn.people.agreement import agreement_of, alpha_of, interval
from pairlearn.people.couples import Couples, couples_of
from pairlearn.people.disagreements import Disagreements, disagreements_of
from pairlearn.people.given import DIFFERENT, SAME, check_given
from pairlearn.people.overlap import overlap_of
from pairlearn.people.persons import Persons, persons_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.people.given import Entries, Given

__all__ = ["Estimate", "PeopleReport", "compare_people"]

# Who agrees with others hardly more than by chance; from so many comparisons on.
NEAR_CHANCE, ENOUGH = 0.2, 20
# Rows that are printed.
_PERSONS, _COUPLES, _DISAGREEMENTS, _NOTED = 20, 15, 5, 5


@dataclass(frozen=True)
class Estimate:
    """A figure and its interval.

    Attributes
    ----------
    value : float or None
        The figure; None if it is undefined.
    interval : tuple of float or None
        Where it would lie if the people had answered very many such pairs.
    confidence : float
        The confidence of the interval.
    """

    value: float | None = None
    interval: tuple[float, float] | None = None
    confidence: float = 0.95

    def in_words(self, form: str = ".2f") -> str:
        """Return the figure and its interval, in the given format."""
        if self.value is None:
            return "undefined"
        if self.interval is None:
            return format(self.value, form)
        low, high = (format(end, form) for end in self.interval)
        return f"{self.value:{form}}, between {low} and {high}"

    def __str__(self) -> str:
        return self.in_words()


@dataclass(frozen=True)
class PeopleReport:
    """How far people agree, and what each of them did.

    ``print(report)`` shows it as text; `to_frame` gives one row per person, and so do
    ``report.couples.to_frame()`` and ``report.disagreements.to_frame()`` for theirs.

    Attributes
    ----------
    persons : Persons
        What each person did.
    couples : Couples
        Agreement and Cohen's kappa of each two people.
    agreement : Estimate
        The share of comparisons, two people's answers about one pair, that agree.
    alpha : Estimate
        Krippendorff's alpha of all people together.
    disagreements : Disagreements
        Pairs to settle: all of them, whether or not they were drawn at random.
    n_answers, n_nobody, n_unsure : int
        Answers; of these, ones that name nobody; of the others, unsure ones.
    n_pairs, n_repeated : int
        Pairs with an answer, and those with sure answers of two people or more.
    n_compared : int
        Pairs that the agreement rests on.
    random : bool
        Whether only repeats of pairs drawn at random are compared; else all are.
    notes : tuple of str
        What else to know.
    only_answer : str or None
        The only answer that was given about the compared pairs; None if there are two.
    """

    persons: Persons
    couples: Couples
    agreement: Estimate
    alpha: Estimate
    disagreements: Disagreements
    n_answers: int
    n_unsure: int
    n_nobody: int
    n_pairs: int
    n_repeated: int
    n_compared: int
    random: bool
    only_answer: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> tuple[str, ...]:
        """The main figures in sentences."""
        n_people = len(self.persons)
        people = "1 person" if n_people == 1 else f"{n_people:,} people"
        told = f"{people} gave {self.n_answers - self.n_nobody:,} answers about "
        told += f"{self.n_pairs:,} {_pairs(self.n_pairs)}"
        if self.n_unsure:
            are = "answer is" if self.n_unsure == 1 else "answers are"
            told += f"; {self.n_unsure:,} {are} unsure"
        if n_people < 2:
            return (f"{told}. How far people agree, two or more can tell.",)
        if not self.n_compared:
            return (f"{told}.", self._nothing_to_compare())
        return (f"{told}.", self._agreement(), self._alpha(), self._basis())

    def _nothing_to_compare(self) -> str:
        if self.n_repeated:
            return (
                f"{self.n_repeated:,} {_pairs(self.n_repeated)} got sure answers of "
                "two people or more, but none was drawn at random for it, so how far "
                "people agree is not known: pairs that are asked again because "
                "somebody was in doubt are harder than others."
            )
        return (
            "No pair got sure answers of two people, so how far they agree is not "
            "known: let a second person answer some pairs that are drawn at random."
        )

    def _agreement(self) -> str:
        low, high = self.agreement.interval or (0.0, 1.0)
        return (
            f"Two people who answer the same pair agree in {self.agreement.value:.0%} "
            f"of the cases, between {low:.0%} and {high:.0%} "
            f"({100 * self.agreement.confidence:g}% interval)."
        )

    def _alpha(self) -> str:
        if self.alpha.value is None:
            return (
                f"Krippendorff's alpha is undefined: everybody said "
                f"'{self.only_answer}' about all pairs that were compared, and chance "
                "alone would do the same."
            )
        return (
            f"Krippendorff's alpha is {self.alpha.in_words()}: 1 is full agreement, 0 "
            "what chance alone would do."
        )

    def _basis(self) -> str:
        told = f"This rests on {self.n_compared:,} {_pairs(self.n_compared)}"
        if not self.random:
            return (
                f"{told}: all that two people or more answered. If pairs were asked "
                "again because they were hard, people agree more often on others."
            )
        others = self.n_repeated - self.n_compared
        told += " that were drawn at random for a second opinion"
        if others > 0:
            told += f"; {others:,} that were repeated for other reasons do not count"
        return f"{told}."

    def to_frame(self) -> Any:
        """Return one row per person, as a frame of pandas."""
        return self.persons.to_frame()

    def __str__(self) -> str:
        parts = ["\n".join(self.headline), *self.tables]
        n_split = len(self.disagreements)
        if n_split:
            some = Disagreements(self.disagreements.rows[:_DISAGREEMENTS])
            more = n_split - len(some)
            told = (
                f"{n_split:,} {_pairs(n_split)} to settle, evenly divided ones first:"
            )
            parts.append(f"{told}\n{some}" + f"\nand {more:,} more" * (more > 0))
        if self.notes:
            parts.append("\n".join(f"  • {note}" for note in self.notes))
        return "\n\n".join(parts)

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables of people and of couples as text, as far as they fit on a page."""
        persons, couples = self.shown_persons(), self.shown_couples()
        more = len(self.persons) - len(persons), len(self.couples) - len(couples)
        told = f"{persons}" + f"\nand {more[0]:,} more people" * (more[0] > 0)
        if not len(couples):
            return (told,)
        return told, f"{couples}" + f"\nand {more[1]:,} more couples" * (more[1] > 0)

    def shown_persons(self) -> Persons:
        """Return as many people as fit on a page, those with most answers."""
        return Persons(self.persons.rows[:_PERSONS])

    def shown_couples(self) -> Couples:
        """Return as many couples as fit on a page, those with most pairs in common."""
        if len(self.couples) <= _COUPLES:
            return self.couples
        most = sorted(self.couples, key=lambda couple: -couple.n_pairs)[:_COUPLES]
        return Couples(tuple(most))


def compare_people(
    left: Entries,
    right: Entries,
    answers: Entries,
    annotators: Entries,
    *,
    times: Entries | None = None,
    comments: Entries | None = None,
    random: Entries | None = None,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> PeopleReport:
    """Tell how far people agree, and what each of them did.

    Unsure answers are counted, and compared with nothing. Of a person who answered one
    pair twice, the first answer is compared with those of others; whether both are the
    same is told apart (`Person.n_consistent`).

    Parameters
    ----------
    left, right : sequence
        The ids of the two points of each answer. Which stands left does not matter.
    answers : sequence
        "same", "different" or "unsure", or numbers: 1, -1 and 0; between them, the sign
        counts.
    annotators : sequence
        Who gave each answer; None or empty text if it is not known.
    times : sequence, optional
        When: datetimes, text such as 2026-05-01T12:30:00Z, or seconds since 1970. If
        all are known they tell the order of the answers; else the order is as given.
    comments : sequence of str, optional
        What was said beside the answers.
    random : sequence of bool, optional
        Which answers repeat a pair that was *drawn at random* for a second opinion (or
        all answers about such pairs). Only these, and the first answers about the same
        pairs, are compared: pairs that are asked again because they are hard would make
        people look worse. None: not known, and all repeats are compared.
    confidence : float, default=0.95
        Confidence of the intervals.
    random_state : int, RandomState or None, default=0
        Seed of the bootstrap.

    Returns
    -------
    PeopleReport

    Raises
    ------
    ValueError
        If the sequences are not equally long, or something is not understood.

    See Also
    --------
    krippendorff_alpha, cohen_kappa : The figures alone, for any labels.

    Examples
    --------
    >>> from pairlearn.people import compare_people
    >>> left = ["p1", "p1", "p3", "p3", "p5", "p5", "p7"]
    >>> right = ["p2", "p2", "p4", "p4", "p6", "p6", "p8"]
    >>> answers = [1, 1, 1, -1, -1, -1, 1]
    >>> who = ["ann", "bob", "ann", "bob", "ann", "bob", "ann"]
    >>> report = compare_people(left, right, answers, who)
    >>> round(report.couples[0].agreement, 4), round(report.couples[0].kappa, 4)
    (0.6667, 0.4)
    >>> round(report.alpha.value, 4)
    0.4444
    >>> print(report.disagreements)
    p3 and p4
      ann says same
      bob says different
    >>> print(report.persons)
    person  answers  same  different  unsure  agrees with others
    ann           4     3          1       0            67% of 3
    bob           3     1          2       0            67% of 3
    """
    check_share("confidence", confidence)
    given = check_given(left, right, answers, annotators, times, comments, random)
    found, everything = overlap_of(given, given.random), overlap_of(given, None)
    couples = couples_of(found, given.names, confidence)
    persons = persons_of(given, couples)
    counts = found.counts
    estimate = partial(_estimate, confidence=confidence, random_state=random_state)
    n_answers = float(counts.sum())
    sums = counts.sum(axis=0)
    only = None
    if len(counts) and not sums.all():
        only = SAME if sums[0] else DIFFERENT
    return PeopleReport(
        persons,
        couples,
        estimate(agreement_of, counts),
        estimate(
            partial(alpha_of, n_answers=n_answers), counts, value=alpha_of(counts)
        ),
        disagreements_of(given),
        n_answers=len(given),
        n_unsure=int(np.sum((given.said == 0) & (given.who >= 0))),
        n_nobody=int(np.sum(given.who < 0)),
        n_pairs=len(np.unique(given.pair[given.who >= 0])),
        n_repeated=len(everything.counts),
        n_compared=len(counts),
        random=given.random is not None,
        only_answer=only,
        notes=tuple(_notes(given, persons)),
    )


def _estimate(
    figure: Callable[..., Any],
    counts: Any,
    *,
    confidence: float,
    random_state: Any,
    value: float | None = None,
) -> Estimate:
    """Return a figure with its interval, or without either if it is undefined."""
    found = float(figure(counts) if value is None else value)
    if np.isnan(found):
        return Estimate(confidence=confidence)
    low, high = interval(counts, figure, confidence, random_state=random_state)
    return Estimate(found, (min(low, found), max(high, found)), confidence)


def _notes(given: Given, persons: Persons) -> list[str]:
    notes = []
    n_nobody = int(np.sum(given.who < 0))
    if n_nobody:
        notes.append(
            f"{n_nobody:,} answers name nobody; they count in no figure, but are among "
            "the disagreements"
        )
    spelled: dict[str, list[str]] = {}
    for name in given.names:
        spelled.setdefault(" ".join(name.casefold().split()), []).append(name)
    notes += [
        f"{' and '.join(map(repr, alike))} count as different people; if they are one, "
        "write the name in one way"
        for alike in spelled.values()
        if len(alike) > 1
    ]
    if len(persons) > 2:
        notes += _near_chance(persons)
    return notes


def _near_chance(persons: Persons) -> list[str]:
    """Return who agrees with others hardly more often than by chance."""
    found = [
        (person.name, person.beyond_chance, person.n_compared)
        for person in persons
        if person.beyond_chance is not None
        and person.n_compared >= ENOUGH
        and person.beyond_chance <= NEAR_CHANCE
    ]
    notes = [
        f"{name} agrees with others hardly more often than by chance (kappa "
        f"{kappa:.2f} from {n_compared:,} comparisons): look at these answers before "
        "you use them"
        for name, kappa, n_compared in found[:_NOTED]
    ]
    if len(found) > _NOTED:
        more = [name for name, _, _ in found[_NOTED:]]
        rest = ", ..." if len(more) > _PERSONS else ""
        told = f"{', '.join(more[:_PERSONS])}{rest}"
        notes.append(f"the same holds for {len(more):,} more people: {told}")
    return notes


def _pairs(count: int) -> str:
    return "pair" if count == 1 else "pairs"
