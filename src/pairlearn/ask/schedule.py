"""When it is time to learn: by the number of answers alone, whatever audits say.

A version of the model whose time was fixed that way may be judged by audits that came
before it; see :mod:`pairlearn.ask.judging`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pairlearn.ask.ledger import Ledger

__all__ = ["has_to_forget", "is_time", "last_on_time", "last_step"]

# The first model is learned from so many answers, and a new one after so many more, or
# after this share of more.
_FIRST, _STEP, _GROWTH = 10, 2, 0.1


def is_time(ledger: Ledger) -> bool:
    """Tell whether it is time to learn.

    Versions that somebody wished for do not move the time of the others.
    """
    sums = ledger.summary
    return sums.has_both and last_step(len(sums.teaching)) > last_on_time(ledger)


def last_on_time(ledger: Ledger) -> int:
    """Return the last step at which a model was learned when it was time to."""
    return last_step(
        max((len(v.answers) for v in ledger.learned if v.on_time), default=0)
    )


def has_to_forget(ledger: Ledger) -> bool:
    """Tell whether an answer that the model has learned from has been taken back."""
    sums = ledger.summary
    return bool(ledger.learned and sums.has_both and sums.forgotten)


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
    [0, 12, 94, 103, 103]
    """
    step = 0 if n_answers < _FIRST else _FIRST
    while step and step + max(_STEP, int(_GROWTH * step)) <= n_answers:
        step += max(_STEP, int(_GROWTH * step))
    return step
