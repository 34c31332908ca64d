"""Several people in `pairlearn fit`: who said what, and how often each is right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pairlearn.data.pairs import Pairs
from pairlearn.files.tables.answered_pairs import EACH_ONCE, TEACH_NOTHING
from pairlearn.people.crowd import check_annotators, gather
from pairlearn.people.weighing import weigh_answers
from pairlearn.trust.noise import Noise

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints
    from pairlearn.files.tables.answered_pairs import AnsweredPairs
    from pairlearn.people.rates import PeopleRates

__all__ = ["RowsOfPeople", "notes_on_people", "rates_by_answers", "told_anew"]

# So many people are told about one by one.
_TOLD = 10
# With more answers than this, finding rates by answers alone takes too long for a look.
_QUICK = 5000


@dataclass(frozen=True)
class RowsOfPeople:
    """Rows of a table whose answers are by several people.

    Attributes
    ----------
    pairs : Pairs
        The pair of each row.
    t : ndarray of shape (n_rows,)
        The answers.
    names : list of str
        Who gave them; empty where a row names nobody.
    numbers : ndarray of shape (n_rows,)
        The number of each row's pair among the answered ones, unsure ones last.
    """

    pairs: Pairs
    t: Floats
    names: list[str]
    numbers: Ints

    @classmethod
    def about(cls, answered: AnsweredPairs, pairs: Ints) -> RowsOfPeople | None:
        """Return the rows about some pairs; None unless two people or more are named.

        Pairs whose answers are evenly divided are among them: who said what tells
        which answer is more likely right.
        """
        said = answered.said
        if said is None or said.people.names is None:
            return None
        if len(set(said.people.names) - {""}) < 2:
            return None
        number = _numbers(answered, said.index)
        kept = np.isin(number, pairs) & (said.t != 0)
        rows = np.flatnonzero(kept)
        if not (said.t[rows] > 0).any() or not (said.t[rows] < 0).any():
            return None
        return cls(
            Pairs(answered.points.frame, said.index[rows]),
            said.t[rows],
            [said.people.names[row] for row in rows.tolist()],
            number[rows],
        )

    def to_judge(
        self, answered: AnsweredPairs, kept: Ints, people: PeopleRates
    ) -> tuple[AnsweredPairs, Ints, Noise]:
        """Return answers to judge a model by, those kept aside, and what is assumed.

        Of each pair the answer of the person who tells most counts, turned round if
        they are known to say the opposite; pairs that only people at chance, or nobody
        whose rates are known, have answered do not count. It is assumed that those who
        count are right more often than not, which is what the interval rests on.
        """
        everybody = RowsOfPeople.about(answered, np.arange(_n_pairs(answered)))
        rows = self if everybody is None else everybody
        names, person = check_annotators(rows.names, len(rows.t))
        first, crowd = gather(
            rows.pairs.index, rows.t, names, person, np.ones(len(rows.t))
        )
        t, countable, rates = people.to_count(crowd)
        n_pairs = _n_pairs(answered)
        every, counts = np.zeros(n_pairs), np.zeros(n_pairs, dtype=bool)
        every[rows.numbers[first]] = t
        counts[rows.numbers[first]] = countable
        # Where nobody was sure, all who might count were asked.
        unsure = np.setdiff1d(np.arange(n_pairs), rows.numbers)
        counts[unsure] = True
        index = answered.with_unsure[0].index
        judged = replace(
            answered,
            index=index,
            t=every,
            unsure=np.zeros((0, 2), dtype=np.intp),
            uncertain=np.zeros(0, dtype=bool),
        )
        return judged, kept[counts[kept]], Noise("unknown", rates)


def _n_pairs(answered: AnsweredPairs) -> int:
    return len(answered) + len(answered.unsure)


def _numbers(answered: AnsweredPairs, index: Ints) -> Ints:
    """Return the numbers of pairs, unsure ones last, by their points; -1 if unknown."""
    every = np.concatenate([answered.index, answered.unsure])
    number = {frozenset(pair): k for k, pair in enumerate(every.tolist())}
    return np.array([number.get(frozenset(pair), -1) for pair in index.tolist()], int)


def told_anew(notes: list[str]) -> list[str]:
    """Return notes without what is not true where it is known who said what."""
    kept = [note for note in notes if not note.endswith(TEACH_NOTHING)]
    return [note.removesuffix(EACH_ONCE) for note in kept]


def notes_on_people(people: PeopleRates) -> list[str]:
    """Return sentences about how often each person is right.

    Parameters
    ----------
    people : PeopleRates
        As a fit has found them.

    Returns
    -------
    list of str
    """
    notes = []
    order = sorted(people, key=lambda row: row.tells)
    told = "; ".join(map(str, order[:_TOLD]))
    more = len(order) - _TOLD
    notes.append(
        f"{len(order)} people answered, and each answer counts for what it is worth: "
        + told
        + (f"; {more} more tell more than these" if more > 0 else "")
    )
    return notes + people.warnings


def rates_by_answers(answered: AnsweredPairs) -> PeopleRates | None:
    """Return how often each person is right, by what others say, without a model.

    Parameters
    ----------
    answered : AnsweredPairs
        The answers, of two kinds of points.

    Returns
    -------
    PeopleRates or None
        None unless two people or more are named, and where answers are very many.
    """
    rows = RowsOfPeople.about(answered, np.arange(_n_pairs(answered)))
    if rows is None or len(rows.t) > _QUICK:
        return None
    return weigh_answers(rows.pairs, rows.t, rows.names).people
