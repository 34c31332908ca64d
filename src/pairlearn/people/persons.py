"""What each person did: answers, agreement with others, and with themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.people.listing import Listing, in_columns

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints
    from pairlearn.people.couples import Couples
    from pairlearn.people.given import Given

__all__ = ["Person", "Persons", "persons_of"]

# A longer time between two answers, in seconds, is a pause and no work.
PAUSE = 600.0
# A pace from fewer answers than these says little.
FEWEST = 5


@dataclass(frozen=True)
class Person:
    """What one person did.

    Attributes
    ----------
    name : str
        Who it is.
    n_same, n_different, n_unsure : int
        How often they said what.
    n_compared, n_agreed : int
        Comparisons of their answers with those of others about the same pairs, and
        those that agree.
    n_repeated, n_consistent : int
        Pairs that they answered surely more than once, and those about which they said
        the same each time.
    beyond_chance : float or None
        Cohen's kappa with all others taken together: 0 is what chance would do.
    per_hour : float or None
        Answers per hour of work, pauses of more than ten minutes left out; None if
        times do not tell.
    """

    name: str
    n_same: int
    n_different: int
    n_unsure: int
    n_compared: int = 0
    n_agreed: int = 0
    n_repeated: int = 0
    n_consistent: int = 0
    beyond_chance: float | None = None
    per_hour: float | None = None

    @property
    def n_answers(self) -> int:
        """How many answers they gave, unsure ones among them."""
        return self.n_same + self.n_different + self.n_unsure

    @property
    def agreement(self) -> float | None:
        """The share of comparisons with others that agree; None if there are none."""
        return self.n_agreed / self.n_compared if self.n_compared else None

    @property
    def consistency(self) -> float | None:
        """The share of repeated pairs with the same answer each time, or None."""
        return self.n_consistent / self.n_repeated if self.n_repeated else None

    def __str__(self) -> str:
        return str(Persons((self,)))


@dataclass(frozen=True)
class Persons(Listing[Person]):
    """All who answered, those with most answers first."""

    def __str__(self) -> str:
        if not self.rows:
            return "Nobody is named."
        head = [
            "person",
            "answers",
            "same",
            "different",
            "unsure",
            "agrees with others",
        ]
        repeated = any(person.n_repeated for person in self.rows)
        timed = any(person.per_hour is not None for person in self.rows)
        head += ["with themselves"] * repeated + ["per hour"] * timed
        rows = []
        for person in self.rows:
            row = [person.name, f"{person.n_answers:,}", f"{person.n_same:,}"]
            row += [f"{person.n_different:,}", f"{person.n_unsure:,}"]
            row.append(_share(person.n_agreed, person.n_compared))
            row += [_share(person.n_consistent, person.n_repeated)] * repeated
            pace = "-" if person.per_hour is None else f"{person.per_hour:,.0f}"
            rows.append(row + [pace] * timed)
        return in_columns(head, rows)

    def _records(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        head = ["name", "n_answers", "n_same", "n_different", "n_unsure", "n_compared"]
        head += ["n_agreed", "agreement", "beyond_chance", "n_repeated", "n_consistent"]
        head += ["consistency", "per_hour"]
        rows = [tuple(getattr(person, name) for name in head) for person in self.rows]
        return head, rows


def _share(hits: int, trials: int) -> str:
    return f"{hits / trials:.0%} of {trials:,}" if trials else "-"


def persons_of(given: Given, couples: Couples) -> Persons:
    """Return what each person did, with what the couples tell about them."""
    compared = _against_others(couples)
    who = given.who[given.order]
    by_person = given.order[np.argsort(who, kind="stable")]
    ends = np.searchsorted(np.sort(who), np.arange(len(given.names) + 1))
    made = []
    for number, name in enumerate(given.names):
        rows = by_person[ends[number] : ends[number + 1]]
        said = given.said[rows]
        n_compared, n_agreed, beyond = compared.get(name, (0, 0, None))
        made.append(
            Person(
                name,
                int(np.sum(said > 0)),
                int(np.sum(said < 0)),
                int(np.sum(said == 0)),
                n_compared,
                n_agreed,
                *_repeats(given.pair[rows[said != 0]], said[said != 0]),
                beyond,
                None if given.times is None else _pace(given.times[rows]),
            )
        )
    return Persons(tuple(sorted(made, key=lambda person: -person.n_answers)))


def _repeats(pair: Ints, said: Ints) -> tuple[int, int]:
    """Return how many pairs one person answered twice, and how many alike."""
    _, which, often = np.unique(pair, return_inverse=True, return_counts=True)
    total = np.bincount(which.ravel(), weights=said, minlength=len(often))
    twice = often > 1
    return int(twice.sum()), int(np.sum(np.abs(total[twice]) == often[twice]))


def _against_others(couples: Couples) -> dict[str, tuple[int, int, float | None]]:
    """Return comparisons, agreements and kappa of each person with all others."""
    tables: dict[str, list[list[float]]] = {}
    for couple in couples:
        n = couple.n_pairs
        first, second = (
            (couple.both_same + k) / n for k in (couple.one_same, couple.other_same)
        )
        chance = n * (first * second + (1 - first) * (1 - second))
        for name in (couple.one, couple.other):
            tables.setdefault(name, []).append([n, couple.n_agreed, chance])
    found = {}
    for name, rows in tables.items():
        total, agreed, chance = np.sum(rows, axis=0).tolist()
        beyond = None
        if total - chance > 1e-9 * total:
            beyond = (agreed - chance) / (total - chance)
        found[name] = int(total), int(agreed), beyond
    return found


def _pace(times: Floats) -> float | None:
    """Return answers per hour of work, or None if the times do not tell."""
    gaps = np.diff(np.sort(times[~np.isnan(times)]))
    at_work = gaps[gaps <= PAUSE]
    if len(at_work) < FEWEST or not at_work.sum() > 0:
        return None
    return float(len(at_work) / at_work.sum() * 3600.0)
