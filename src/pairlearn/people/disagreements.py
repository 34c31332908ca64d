"""Pairs about which people disagree, for somebody to settle."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.people.given import DIFFERENT, SAME, UNSURE
from pairlearn.people.listing import Listing

if TYPE_CHECKING:
    from pairlearn.people.given import Given

__all__ = ["Disagreement", "Disagreements", "Said", "disagreements_of"]

_WORDS = {1: SAME, -1: DIFFERENT, 0: UNSURE}
# How many are printed; all are in the list.
_SHOWN = 10


@dataclass(frozen=True)
class Said:
    """One answer about a pair.

    Attributes
    ----------
    who : str
        Who gave it; empty if nobody is named.
    answer : str
        "same", "different" or "unsure".
    time : datetime or None
        When, in UTC.
    comment : str
        What was said beside it.
    row : int
        Its place among the answers that were given, from 0.
    """

    who: str
    answer: str
    time: datetime | None
    comment: str
    row: int

    def __str__(self) -> str:
        when = "" if self.time is None else f", {self.time:%Y-%m-%d %H:%M}"
        comment = f": “{self.comment}”" if self.comment else ""
        return f"{self.who or 'somebody'} says {self.answer}{when}{comment}"


@dataclass(frozen=True)
class Disagreement:
    """A pair with answers that contradict each other.

    Attributes
    ----------
    left, right : str
        Its two points, as its first answer has them.
    said : tuple of Said
        All answers about it, the first one first.
    """

    left: str
    right: str
    said: tuple[Said, ...]

    @property
    def n_same(self) -> int:
        """How many answers are "same"."""
        return sum(one.answer == SAME for one in self.said)

    @property
    def n_different(self) -> int:
        """How many answers are "different"."""
        return sum(one.answer == DIFFERENT for one in self.said)

    def __str__(self) -> str:
        told = "\n".join(f"  {one}" for one in self.said)
        return f"{self.left} and {self.right}\n{told}"


@dataclass(frozen=True)
class Disagreements(Listing[Disagreement]):
    """The pairs to settle, the most evenly divided first."""

    def __str__(self) -> str:
        if not self.rows:
            return "No pair has answers that disagree."
        more = len(self.rows) - _SHOWN
        lines = [str(one) for one in self.rows[:_SHOWN]]
        lines += [f"and {more:,} more"] if more > 0 else []
        return "\n".join(lines)

    def _records(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        head = ["left", "right", "annotator", "answer", "time", "comment", "row"]
        rows = [
            (pair.left, pair.right, one.who, one.answer, one.time, one.comment, one.row)
            for pair in self.rows
            for one in pair.said
        ]
        return head, rows


def disagreements_of(given: Given) -> Disagreements:
    """Return all pairs with both answers, whoever gave them."""
    n_pairs = int(given.pair.max(initial=-1)) + 1
    same, different = (
        np.bincount(given.pair[given.said == sign], minlength=n_pairs)
        for sign in (1, -1)
    )
    split = (same > 0) & (different > 0)
    rows_of: dict[int, list[int]] = {}
    for row in given.order[split[given.pair[given.order]]].tolist():
        rows_of.setdefault(int(given.pair[row]), []).append(row)
    # An even split needs a judge most; in the end the order is that of the answers.
    order = sorted(
        rows_of, key=lambda k: (abs(int(same[k]) - int(different[k])), rows_of[k][0])
    )
    return Disagreements(tuple(_disagreement(given, rows_of[k]) for k in order))


def _disagreement(given: Given, rows: list[int]) -> Disagreement:
    said = tuple(
        Said(
            given.names[given.who[row]] if given.who[row] >= 0 else "",
            _WORDS[int(given.said[row])],
            _moment(given, row),
            given.comments[row],
            row,
        )
        for row in rows
    )
    return Disagreement(given.left[rows[0]], given.right[rows[0]], said)


def _moment(given: Given, row: int) -> datetime | None:
    if given.times is None or np.isnan(given.times[row]):
        return None
    return datetime.fromtimestamp(float(given.times[row]), tz=UTC)
