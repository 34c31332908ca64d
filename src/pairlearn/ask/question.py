"""A question, and the words in which it may be answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["AUDIT", "LEARN", "Question", "as_answer"]

LEARN, AUDIT = "learn", "audit"

# Why a question is asked.
TO_JUDGE = "to judge the model"
TO_FIND_KINDS = "to find the kinds"
TO_LEARN = "to learn most"
AT_RANDOM = "drawn at random"
WAS_UNSURE = "second opinion: somebody was unsure"
IN_DOUBT = "second opinion: the answer is in doubt"
RANDOM_CHECK = "second opinion: a random check"
BROUGHT = "brought along"

_WORDS = {"same": 1, "different": -1, "unsure": 0}


@dataclass(frozen=True)
class Question:
    """Whether two points are of the same kind: what somebody is asked.

    Attributes
    ----------
    number : int
        The first question is number 0.
    left, right : int
        Row numbers of the two points. Which of them is on the left is drawn.
    purpose : {"learn", "audit"}
        Whether the answer teaches the model or judges it. Do not show it to the
        person who answers.
    target : int
        The point that the question is about; -1 for an audit, which is about both.
    why : str
        Why it is asked, in words; empty in states that were stored before there were
        any. Do not show it to the person who answers.

    Examples
    --------
    >>> Question(0, 12, 7, "learn", 7)
    Question(number=0, left=12, right=7, purpose='learn', target=7, why='')
    """

    number: int
    left: int
    right: int
    purpose: str = LEARN
    target: int = -1
    why: str = ""

    @property
    def partner(self) -> int:
        """The point that the target is compared with."""
        return self.left if self.target == self.right else self.right

    @property
    def pair(self) -> tuple[int, int]:
        """The two points, the smaller row number first."""
        return min(self.left, self.right), max(self.left, self.right)


def as_answer(value: Any) -> int:
    """Return +1 for same, -1 for different and 0 for unsure, or say what is wrong.

    Parameters
    ----------
    value : int, float, bool, str or None
        +1, True or "same"; -1, False or "different"; 0, None or "unsure".

    Returns
    -------
    int

    Examples
    --------
    >>> as_answer("same"), as_answer(False), as_answer(None)
    (1, -1, 0)
    """
    if value is None:
        return 0
    if isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    if isinstance(value, bool | np.bool_):
        return 1 if value else -1
    if isinstance(value, int | float | np.number) and value in (-1, 0, 1):
        return int(value)
    raise ValueError(
        f"an answer is 'same' (or +1), 'different' (or -1) or 'unsure' (or 0); got "
        f"{value!r}"
    )
