"""What people said, from plain sequences: checked, numbered and put in order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.checks import group_names, is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pairlearn.data.types import Bools, Floats, Ints

    # One entry per answer.
    Entries = Sequence[Any] | NDArray[Any]

__all__ = ["DIFFERENT", "SAME", "UNSURE", "Given", "check_given"]

SAME, DIFFERENT, UNSURE = "same", "different", "unsure"
_SAID = {SAME: 1, DIFFERENT: -1, UNSURE: 0}


@dataclass(frozen=True)
class Given:
    """Answers of people, one per row, as they were given.

    Attributes
    ----------
    left, right : list of str
        The ids of the two points.
    said : ndarray of int
        1: same, -1: different, 0: unsure.
    who : ndarray of int
        The number of the person; -1: nobody is named.
    names : list of str
        The people, in alphabetical order.
    pair : ndarray of int
        The number of the pair, whichever point stands left.
    times : ndarray of float or None
        Seconds since 1970; NaN where unknown.
    comments : list of str
        What was said beside it; empty where nothing was.
    random : ndarray of bool or None
        Answers that repeat a pair drawn at random.
    order : ndarray of int
        The rows as time went by; as they stand where times are not known.
    """

    left: list[str]
    right: list[str]
    said: Ints
    who: Ints
    names: list[str]
    pair: Ints
    times: Floats | None
    comments: list[str]
    random: Bools | None
    order: Ints

    def __len__(self) -> int:
        return len(self.said)


def check_given(
    left: Entries,
    right: Entries,
    answers: Entries,
    annotators: Entries,
    times: Entries | None,
    comments: Entries | None,
    random: Entries | None,
) -> Given:
    """Return what was given, or say what is wrong with it.

    Raises
    ------
    ValueError
        If something has another length than the rest, or is not understood.
    """
    given: dict[str, Entries | None]
    given = {"left": left, "right": right, "answers": answers, "annotators": annotators}
    given |= {"times": times, "comments": comments, "random": random}
    sizes = {name: len(one) for name, one in given.items() if one is not None}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise ValueError(
            f"each answer needs one entry everywhere, but there are {told}"
        )
    ids = group_names([*left, *right]) if len(left) else []
    sides = ids[: len(left)], ids[len(left) :]
    empty = next((k for k, name in enumerate(ids) if not name), None)
    if empty is not None:
        raise ValueError(f"answer {empty % len(left)} has no id of one of its points")
    number: dict[str, int] = {}
    codes = np.array([number.setdefault(name, len(number)) for name in ids], np.intp)
    ends = np.sort(codes.reshape(2, -1), axis=0)
    pair = np.unique(ends[0] * max(len(number), 1) + ends[1], return_inverse=True)[1]
    people = [name.strip() for name in group_names(annotators)]
    names = sorted({name for name in people if name})
    place = {name: k for k, name in enumerate(names)} | {"": -1}
    seconds = None if times is None else _seconds(times)
    order = np.arange(len(pair))
    if seconds is not None and not np.isnan(seconds).any():
        order = np.argsort(seconds, kind="stable")
    return Given(
        *sides,
        _said(answers),
        np.array([place[name] for name in people], dtype=np.intp),
        names,
        pair.astype(np.intp).ravel(),
        seconds,
        [""] * len(pair) if comments is None else [_text(one) for one in comments],
        None if random is None else _mask(random),
        order,
    )


def _text(comment: Any) -> str:
    return "" if is_missing(comment) else " ".join(str(comment).split())


def _mask(random: Entries) -> Bools:
    mask = np.asarray(random)
    if mask.dtype != bool:
        raise ValueError(
            "random says True for each answer that repeats a pair drawn at random, and "
            f"False for others; it holds {mask.dtype}"
        )
    return mask


def _said(answers: Entries) -> Ints:
    found = np.zeros(len(answers), dtype=np.intp)
    for row, answer in enumerate(answers):
        if isinstance(answer, str):
            word = answer.strip().casefold()
            if word not in _SAID:
                raise ValueError(
                    f"answer {row} is {answer!r}; an answer is same, different or "
                    "unsure, or a number: 1, -1 or 0"
                )
            found[row] = _SAID[word]
        elif isinstance(answer, bool | np.bool_):
            found[row] = 1 if answer else -1
        elif not is_missing(answer):
            if not -1 <= answer <= 1:
                raise ValueError(
                    f"answer {row} is {answer}; as a number it is 1 (same), -1 "
                    "(different), 0 (unsure) or between them"
                )
            found[row] = int(np.sign(answer))
    return found


def _seconds(times: Entries) -> Floats:
    """Return moments as seconds since 1970; without a time zone they are in UTC."""
    found = np.full(len(times), np.nan)
    for row, moment in enumerate(times):
        if is_missing(moment) or moment == "":
            continue
        if isinstance(moment, np.datetime64):
            moment = moment.astype("datetime64[us]").item()
        try:
            if isinstance(moment, str):
                moment = datetime.fromisoformat(moment.strip())
            elif isinstance(moment, date) and not isinstance(moment, datetime):
                moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
            if isinstance(moment, datetime):
                if moment.tzinfo is None:
                    moment = moment.replace(tzinfo=UTC)
                found[row] = moment.timestamp()
            else:
                found[row] = float(moment)
        except (TypeError, ValueError):
            raise ValueError(
                f"time {row} is {moment!r}; a time is a datetime, text such as "
                "2026-05-01T12:30:00Z, or a number of seconds since 1970"
            ) from None
    return found
