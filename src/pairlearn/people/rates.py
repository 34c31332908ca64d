"""How often each person is right, with intervals."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import entr

from pairlearn.data.notebook import plain_table
from pairlearn.people.coin_priors import RATES
from pairlearn.people.coins import interval
from pairlearn.people.listing import Listing, in_columns

if TYPE_CHECKING:
    from pairlearn.data.types import Bools, Floats
    from pairlearn.people.coins import Coins
    from pairlearn.people.crowd import Crowd

    Interval = tuple[float, float]

__all__ = ["PeopleRates", "PersonRates", "rates_of_people"]

AT_CHANCE, ADVERSE = "at chance", "adverse"
_WORDS = {
    AT_CHANCE: "seems to answer at random",
    ADVERSE: "says the opposite of what is right",
    "": "",
}
# J at all cells of a person's coins; who gave so many answers, and whose J is nearer 0
# than this, or not above the last number, seems to answer at random.
J_CELLS = RATES[:, None] + RATES - 1
_ENOUGH, _NEAR_CHANCE, _USEFUL = 30, 0.15, 0.5
_HEAD = ("person", "answers", "right if same", "right if different", "tells", "")


@dataclass(frozen=True)
class PersonRates:
    """How often one person is right.

    Attributes
    ----------
    name : str
        Who it is.
    n_answers : int
        Answers; several about one pair count as one.
    n_overlaps : int
        Of these, answers about pairs that somebody else answered, too.
    r1, r0 : float
        P(says same | same) and P(says same | different), as estimated.
    r1_interval, r0_interval : tuple of float
        Where these lie, with 95 % probability.
    tells : float
        How much an answer tells about a pair that may be either, from 0 to 1: 1 for
        one who is always right, or always wrong. Mutual information, in bits.
    verdict : {"", "at chance", "adverse"}
        "at chance": the answers tell next to nothing. "adverse": they are wrong more
        often than right, and count turned round.
    """

    name: str
    n_answers: int
    n_overlaps: int
    r1: float
    r0: float
    r1_interval: Interval
    r0_interval: Interval
    tells: float
    verdict: str = ""

    @property
    def is_spammer(self) -> bool:
        """Whether the answers seem to have nothing to do with the pairs."""
        return self.verdict == AT_CHANCE

    @property
    def is_adversary(self) -> bool:
        """Whether the answers seem to be turned round."""
        return self.verdict == ADVERSE

    @property
    def remark(self) -> str:
        """What the owner should know of the person, or nothing."""
        return _WORDS[self.verdict]

    def __str__(self) -> str:
        low, high = (1 - self.r0_interval[1], 1 - self.r0_interval[0])
        return (
            f"{self.name} is right about {self.r1:.0%} of pairs that are the same "
            f"({self.r1_interval[0]:.0%} to {self.r1_interval[1]:.0%}) and about "
            f"{1 - self.r0:.0%} of those that are different ({low:.0%} to {high:.0%})"
        )


@dataclass(frozen=True)
class PeopleRates(Listing[PersonRates]):
    """All who answered, in the order of their names.

    Examples
    --------
    >>> ann = PersonRates("ann", 40, 6, 0.9, 0.1, (0.8, 0.95), (0.05, 0.2), 0.53)
    >>> PeopleRates((ann,))
    person  answers  right if same  right if different  tells
    ann          40  90% (80 - 95)       90% (80 - 95)    53%
    """

    def named(self, name: str) -> PersonRates:
        """Return the person with a name.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        PersonRates
        """
        found = [row for row in self.rows if row.name == name]
        if not found:
            raise KeyError(f"nobody is called {name!r}")
        return found[0]

    def to_count(self, crowd: Crowd) -> tuple[Floats, Bools, tuple[float, float]]:
        """Return answers to judge a model by; see :meth:`Crowd.to_count`.

        People of the crowd who are not among these count as people at chance.

        Parameters
        ----------
        crowd : Crowd
            Who said what about which pair.

        Returns
        -------
        t, countable, rates
            As of :meth:`Crowd.to_count`.
        """
        known = {row.name: row for row in self.rows}
        rows = [known.get(name) for name in crowd.names]
        r1, r0 = (
            np.array([0.5 if row is None else getattr(row, name) for row in rows])
            for name in ("r1", "r0")
        )
        at_chance = np.array([row is None or row.is_spammer for row in rows])
        adverse = np.array([row is not None and row.is_adversary for row in rows])
        return crowd.to_count(r1, r0, at_chance, adverse)

    @property
    def warnings(self) -> list[str]:
        """What to look into, as phrases: who guesses, and who says the opposite.

        Examples
        --------
        >>> dan = PersonRates("dan", 40, 6, 0.5, 0.5, (0, 1), (0, 1), 0.0, AT_CHANCE)
        >>> PeopleRates((dan,)).warnings
        ['dan seems to answer at random, so these answers hardly count; look at some of
        them, and ask whether the question was understood']
        """
        found = []
        random = [row.name for row in self.rows if row.is_spammer]
        if random:
            verb = "seems" if len(random) == 1 else "seem"
            found.append(
                f"{_listed(random)} {verb} to answer at random, so these answers "
                "hardly count; look at some of them, and ask whether the question was "
                "understood"
            )
        turned = [row.name for row in self.rows if row.is_adversary]
        if turned:
            verb = "says" if len(turned) == 1 else "say"
            found.append(
                f"{_listed(turned)} {verb} the opposite of what is right more often "
                "than not, so these answers count turned round; perhaps same and "
                "different were mixed up"
            )
        return found

    @property
    def mean_rates(self) -> tuple[float, float]:
        """(r1, r0) of an answer that is drawn at random from all."""
        weight = [row.n_answers for row in self.rows]
        r1 = np.average([row.r1 for row in self.rows], weights=weight)
        r0 = np.average([row.r0 for row in self.rows], weights=weight)
        return float(r1), float(r0)

    def __repr__(self) -> str:
        return in_columns(_HEAD, [_cells(row) for row in self.rows])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        rows = (map(escape, _cells(row)) for row in self.rows)
        return plain_table("People who answered", _HEAD, rows)

    def _records(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        head = list(PersonRates.__dataclass_fields__)
        return head, [tuple(asdict(row).values()) for row in self.rows]


def _listed(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _cells(row: PersonRates) -> tuple[str, ...]:
    def rate(value: float, low: float, high: float) -> str:
        return f"{value:.0%} ({100 * low:.0f} - {100 * high:.0f})"

    low, high = row.r0_interval
    return (
        row.name,
        f"{row.n_answers:,}",
        rate(row.r1, *row.r1_interval),
        rate(1 - row.r0, 1 - high, 1 - low),
        f"{row.tells:.0%}",
        row.remark,
    )


def rates_of_people(
    crowd: Crowd, coins: Coins, confidence: float = 0.95
) -> PeopleRates:
    """Return how often the people of a crowd are right.

    Parameters
    ----------
    crowd : Crowd
        Who said what.
    coins : Coins
        Their coins, as found.
    confidence : float, default=0.95
        Of the intervals.

    Returns
    -------
    PeopleRates
    """
    rows = []
    n_answers, n_overlaps = crowd.n_answers, crowd.n_overlaps
    for a, name in enumerate(crowd.names):
        cells, stretch = coins.cells[a], float(coins.stretch[a])
        one = interval(cells.sum(axis=1), stretch, confidence)
        other = interval(cells.sum(axis=0), stretch, confidence)
        r1, r0 = float(coins.r1[a]), float(coins.r0[a])
        random = coins.at_chance[a] or _tells_nothing(cells, stretch, int(n_answers[a]))
        verdict = AT_CHANCE if random else ""
        verdict = verdict or (ADVERSE if coins.adverse[a] else "")
        rows.append(
            PersonRates(
                name,
                int(n_answers[a]),
                int(n_overlaps[a]),
                r1,
                r0,
                (float(one[0]), float(one[1])),
                (float(1 - other[1]), float(1 - other[0])),
                _bits(r1, r0),
                verdict,
            )
        )
    return PeopleRates(tuple(rows))


def _tells_nothing(cells: Floats, stretch: float, n_answers: int) -> bool:
    """Tell whether many answers leave it open whether a person does better than chance.

    With J = r1 - r0, Youden's index, which is 0 for one who answers at random and 1 for
    one who is always right: its mean is near 0, or its interval covers 0 and nothing
    above one half, so that it is not just wide.
    """
    if n_answers < _ENOUGH:
        return False
    order = np.argsort(J_CELLS, axis=None)
    values = J_CELLS.ravel()[order]
    below = np.cumsum(cells.ravel()[order])
    low, middle, high = np.interp((0.025, 0.5, 0.975), below / below[-1], values)
    low, high = middle + stretch * np.array([low - middle, high - middle])
    mean = float(below[-1] ** -1 * (cells * J_CELLS).sum())
    return abs(mean) < _NEAR_CHANCE or bool(low <= 0 <= high < _USEFUL)


def _bits(r1: float, r0: float) -> float:
    """Return the mutual information of an answer and a pair that may be either."""
    says = np.array([(r1 + r0) / 2, 1 - (r1 + r0) / 2])
    given = np.array([[r1, 1 - r1], [r0, 1 - r0]])
    found = float((entr(says).sum() - entr(given).sum() / 2) / np.log(2))
    return max(found, 0.0)
