"""What the page and the desk tell each other: plain values."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

__all__ = ["SAID", "Asked", "Given", "Hand", "History", "Item", "Outcome", "Person"]
__all__ += ["Refused", "can_be_in_names"]

SAID = {1: "same", -1: "different", 0: "unsure"}
# Control characters, what turns the order of letters round, for private use, halves of
# a surrogate pair, unassigned, and breaks of lines.
_NOT_IN_NAMES = ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp")
# They divide or join letters, and without them names in some scripts are wrong.
_JOINERS = "\u200c\u200d"


def can_be_in_names(letter: str) -> bool:
    r"""Tell whether a name, or an id of a page, may have a letter.

    Examples
    --------
    >>> [can_be_in_names(letter) for letter in ("a", "\u200c", "\u202e", "\n")]
    [True, True, False, False]
    """
    return letter in _JOINERS or unicodedata.category(letter) not in _NOT_IN_NAMES


class Refused(Exception):  # noqa: N818 - it is an answer, and not a mistake of ours
    """What was asked of the desk is not done.

    Parameters
    ----------
    message : str
        Why not, in words for the person, and the way out.
    status : int
        The status of HTTP that says it.

    Examples
    --------
    >>> problem = Refused("There is no question 12.", 404)
    >>> str(problem), problem.status
    ('There is no question 12.', 404)
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Person:
    """Who answers.

    Attributes
    ----------
    name : str
        The name.
    owner : bool
        Whether it is the person who started the command, or was invited as an owner,
        and sees everything.
    invitation : str or None
        The id of the invitation by which the person comes; None: whoever started the
        command, or somebody with a link of an earlier version.
    """

    name: str
    owner: bool = False
    invitation: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is shown, without what it is for.

    Attributes
    ----------
    number : int
        Its number.
    left, right : int
        Row numbers of the two points.
    """

    number: int
    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Given:
    """An answer as it comes from the page.

    Attributes
    ----------
    request : str
        An id that the page has made. What comes twice is done once.
    question : int
        The number of the question.
    said : int
        1 for same, -1 for different, 0 for unsure.
    comment : str or None
        A comment.
    seconds : float or None
        How long the person looked at it.
    rows : tuple of int or None
        Row numbers of the two points that were shown. If the file of answers was put
        back to an older copy, the number of the question may be that of another pair.
    """

    request: str
    question: int
    said: int
    comment: str | None = None
    seconds: float | None = None
    rows: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an answer.

    Attributes
    ----------
    request : str
        The id of the answer.
    status : {"saved", "refused"}
        Whether it is on the disk.
    reason : str or None
        Why it was refused.
    """

    request: str
    status: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Hand:
    """Questions that a page may show.

    Attributes
    ----------
    questions : list of Asked
        The questions.
    done : bool
        Nothing is left to ask this person.
    waiting : bool
        Questions are still being chosen: ask again in a moment.
    """

    questions: list[Asked] = field(default_factory=list)
    done: bool = False
    waiting: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """An answer that stands, for the history.

    Attributes
    ----------
    number : int
        The number of its event; larger for later ones.
    question : int
        The number of the question.
    left, right : int
        Row numbers of the points.
    said : int or None
        1 for same, -1 for different, 0 for unsure; None: not answered.
    who : str or None
        Who said it.
    at : str or None
        When.
    comment : str or None
        The comment.
    edited : bool
        Whether something else had been said before.
    """

    number: int
    question: int
    left: int
    right: int
    said: int | None
    who: str | None
    at: str | None
    comment: str | None = None
    edited: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """A part of the answers so far, the newest first.

    Attributes
    ----------
    items : list of Item
        The answers.
    more : bool
        Whether there are earlier ones.
    """

    items: list[Item]
    more: bool
