"""How often the people who answer are right, for the progress panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pairlearn.people.rates import PeopleRates, PersonRates

__all__ = ["rates_in_words"]


def rates_in_words(people: PeopleRates | None) -> dict[str, Any]:
    """Return what the owner is told of people.

    Parameters
    ----------
    people : PeopleRates or None
        As the last version of the model has found them; None: not told apart yet.

    Returns
    -------
    dict
        "people": for each their name, how often they are right about pairs that are the
        same and about different ones, each with its interval, whether they seem to
        answer at random or to say the opposite of what is right, and a sentence;
        "warnings": sentences about those whose answers should be looked at.

    Examples
    --------
    >>> from pairlearn.people.rates import PeopleRates, PersonRates
    >>> eve = PersonRates(
    ...     "Eve", 60, 9, 0.5, 0.5, (0.4, 0.6), (0.4, 0.6), 0.0, "at chance"
    ... )
    >>> found = rates_in_words(PeopleRates((eve,)))
    >>> found["people"][0]["right_same"], found["people"][0]["spammer"]
    ({'rate': 0.5, 'low': 0.4, 'high': 0.6}, True)
    >>> found["warnings"]
    ['Eve seems to answer at random, so these answers hardly count; look at some of
    them, and ask whether the question was understood.']
    >>> rates_in_words(None)
    {'people': [], 'warnings': []}
    """
    if people is None:
        return {"people": [], "warnings": []}
    return {
        "people": [_person(row) for row in people],
        "warnings": [f"{phrase}." for phrase in people.warnings],
    }


def _person(row: PersonRates) -> dict[str, Any]:
    low, high = row.r0_interval
    return {
        "name": row.name,
        "right_same": _rate(row.r1, *row.r1_interval),
        "right_different": _rate(1 - row.r0, 1 - high, 1 - low),
        "spammer": row.is_spammer,
        "adversary": row.is_adversary,
        "sentence": f"{row}.",
    }


def _rate(rate: float, low: float, high: float) -> dict[str, float]:
    return {"rate": rate, "low": low, "high": high}
