"""How far the people who answer agree, for the progress panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pairlearn.ask.question import AUDIT, RANDOM_CHECK
from pairlearn.people import compare_people

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pairlearn.ask.ledger import Answer

__all__ = ["agreement_of"]

# Pairs that people answered differently; so many are listed.
_LISTED = 20


def agreement_of(answers: Iterable[Answer]) -> dict[str, Any] | None:
    """Return how far people agree; None while one person alone has answered.

    Parameters
    ----------
    answers : iterable of Answer
        The answers that stand.

    Returns
    -------
    dict or None
        "sentences": the main figures; "persons": the share of comparisons with others
        that agree, by name, None where there is none; "disagreements": numbers of
        questions about one pair with different answers. Audits are not among these:
        whoever settled them would know which questions judge the model.

    Examples
    --------
    >>> from pairlearn.ask.ledger import Answer
    >>> from pairlearn.ask.question import Question
    >>> why = RANDOM_CHECK
    >>> asked = Question(0, 3, 5, "learn", 5), Question(1, 5, 3, "learn", 5, why)
    >>> said = [Answer(asked[0], 1, "Ann"), Answer(asked[1], -1, "Ben")]
    >>> found = agreement_of(said)
    >>> found["persons"], found["disagreements"]
    ({'Ann': 0.0, 'Ben': 0.0}, [[0, 1]])
    """
    given = [answer for answer in answers if answer.who]
    if len({answer.who for answer in given}) < 2:
        return None
    report = compare_people(
        [answer.question.left for answer in given],
        [answer.question.right for answer in given],
        [answer.said for answer in given],
        [answer.who for answer in given],
        random=[answer.question.why == RANDOM_CHECK for answer in given],
    )
    divided = (
        [given[one.row].question for one in pair.said] for pair in report.disagreements
    )
    return {
        "sentences": [*report.headline[1:], *map(_sentence, report.notes)],
        "persons": {person.name: person.agreement for person in report.persons},
        "disagreements": [
            [question.number for question in questions]
            for questions in divided
            if all(question.purpose != AUDIT for question in questions)
        ][:_LISTED],
    }


def _sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:].removesuffix('.')}."
