"""When it is time to learn: by the number of answers alone, whatever audits say.

A version of the model whose time was fixed that way may be judged by audits that came
before it; see :mod:`pairlearn.ask.judging`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pairlearn.ask.ledger import Ledger

__all__ = ["has_to_forget", "is_time", "last_step"]

# The first model is learned from so many answers, and a new one after so many more, or
# after this share of more.
_FIRST, _STEP, _GROWTH = 10, 5, 0.1


def is_time(ledger: Ledger) -> bool:
    """Tell whether it is time to learn.

    Versions that somebody wished for do not move the time of the others.
    """
    answers = ledger.teaching()
    before = [len(v.answers) for v in ledger.learned if v.on_time]
    now = last_step(len(answers))
    return _has_both(answers) and now > max(map(last_step, before), default=0)


def has_to_forget(ledger: Ledger) -> bool:
    """Tell whether an answer that the model has learned from has been taken back."""
    answers, learned = ledger.teaching(), ledger.learned
    if not learned or not _has_both(answers):
        return False
    return not learned[-1].answers.items() <= answers.items()


def _has_both(answers: dict[int, int]) -> bool:
    """Tell whether there are answers of both kinds."""
    return len(set(answers.values())) == 2


def last_step(n_answers: int) -> int:
    """Return the last number of answers, up to this, at which it is time to learn.

    Parameters
    ----------
    n_answers : int
        How many answers there are.

    Returns
    -------
    int
        0 if there are too few.

    Examples
    --------
    >>> [last_step(n) for n in (4, 12, 99, 104, 108)]
    [0, 10, 94, 103, 103]
    """
    step = 0 if n_answers < _FIRST else _FIRST
    while step and step + max(_STEP, int(_GROWTH * step)) <= n_answers:
        step += max(_STEP, int(_GROWTH * step))
    return step
