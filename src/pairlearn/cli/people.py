"""What the tables tell about those who answered, for `check` and for the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pairlearn.files.tables.people_columns import SaidRows
from pairlearn.people import compare_people

if TYPE_CHECKING:
    from pairlearn.files.tables.answered_pairs import AnsweredPairs
    from pairlearn.people import PeopleReport

__all__ = ["People", "people_of"]


@dataclass(frozen=True)
class People:
    """Those who answered, and where their answers stand.

    Attributes
    ----------
    report : PeopleReport
        How far they agree.
    lines : list
        Where each answer stands, by its number in the report.
    """

    report: PeopleReport
    lines: list[int | str]

    def to_settle(self, most: int) -> list[str]:
        """Return the first disagreements, in lines to print."""
        made: list[str] = []
        pairs = self.report.disagreements
        for pair in pairs.rows[:most]:
            made.append(f"{pair.left} and {pair.right}:")
            made += [f"  line {self.lines[one.row]}: {one}" for one in pair.said]
        if most and len(pairs) > most:
            made.append(f"and {len(pairs) - most:,} more pairs")
        return made


def people_of(answered: AnsweredPairs, *, audits_apart: bool) -> People | None:
    """Return what is known of those who answered; None if no column names them.

    Parameters
    ----------
    answered : AnsweredPairs
        The answers.
    audits_apart : bool
        Whether audits are not among them, so that they are to be added.
    """
    parts = [answered.said]
    if audits_apart and answered.audits is not None:
        parts.append(answered.audits.said)
    given = [part for part in parts if part is not None]
    if not given:
        return None
    said = SaidRows.joined(given)
    columns = said.people
    if columns.names is None:
        return None
    ids = answered.points.ids
    left, right = ([ids[k] for k in side] for side in said.index.T.tolist())
    report = compare_people(
        left,
        right,
        said.t,
        columns.names,
        times=columns.times,
        comments=columns.comments,
        random=columns.random,
    )
    return People(report, said.lines)
