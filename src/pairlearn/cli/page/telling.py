"""Which columns set the members of a group apart from the other points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from pairlearn.cli.page.markup import Html, fill, text

if TYPE_CHECKING:
    from collections.abc import Collection

    from pairlearn.data.types import Floats, Ints

__all__ = ["Telling", "shown_value", "telling_columns"]

# Points and columns that are looked at, and columns that are told of each group.
LOOKED = 5000
COLUMNS = 400
TOLD = 3
# Values of a text column that are looked at, the most frequent ones.
VALUES = 30
# From here on a column tells a group apart: a member has a larger value than another
# point in 65 of 100 cases, or in 35.
LEAST = 0.15


class Telling(NamedTuple):
    """A column that sets a group apart.

    Attributes
    ----------
    strength : float
        By how much the probability that a member has a larger value than another point
        differs from one half.
    column : str
        Its name.
    told : Html
        In what.
    """

    strength: float
    column: str
    told: Html


def telling_columns(
    frame: Any, group: Ints, n_groups: int, dates: Collection[str] = ()
) -> list[list[Telling]]:
    """Return for each group the columns that set it apart, the best first.

    Parameters
    ----------
    frame : pandas.DataFrame
        Points: numbers, days since 1970, or text.
    group : ndarray of shape (n_points,)
        The group of each point.
    n_groups : int
        How many groups there are.
    dates : collection of str
        The columns that hold days.

    Returns
    -------
    list of list of Telling
        At most three for each group.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.0, 2, 3, 8, 9, 10], "colour": list("rrggbb")})
    >>> found = telling_columns(frame, np.array([0, 0, 0, 1, 1, 1]), 2)
    >>> [each.told for each in found[0]]
    ['size: typically 2, others 9', 'colour is r: 67%, others 0%']
    """
    rows = np.unique(
        np.linspace(0, len(frame) - 1, min(len(frame), LOOKED)).astype(int)
    )
    frame, group = frame.iloc[rows], np.asarray(group)[rows]
    found: list[list[Telling]] = [[] for _ in range(n_groups)]
    for name in list(frame.columns)[:COLUMNS]:
        column = frame[name]
        if column.dtype.kind in "fiub":
            values = column.to_numpy(dtype=float)
            each = _of_numbers(str(name), values, group, n_groups, name in dates)
        else:
            each = _of_words(str(name), column, group, n_groups)
        for k, telling in each:
            if telling.strength >= LEAST:
                found[k].append(telling)
    return [sorted(some, key=lambda each: -each.strength)[:TOLD] for some in found]


def _of_numbers(
    name: str, values: Floats, group: Ints, n_groups: int, days: bool
) -> list[tuple[int, Telling]]:
    known = np.isfinite(values)
    values, group = values[known], group[known]
    size = np.bincount(group, minlength=n_groups)
    ranks = np.bincount(group, rankdata(values), minlength=n_groups)
    found = []
    for k in np.flatnonzero((size > 0) & (size < len(values))).tolist():
        # The probability of a larger value, by Mann and Whitney.
        above = ranks[k] - size[k] * (size[k] + 1) / 2
        strength = abs(above / (size[k] * (len(values) - size[k])) - 0.5)
        if strength < LEAST:
            continue
        inside, outside = values[group == k], values[group != k]
        piece, ends = "telling number", (np.median(inside), np.median(outside))
        if ends[0] == ends[1]:
            piece, ends = "telling mean", (inside.mean(), outside.mean())
        said = [shown_value(end, days) for end in ends]
        told = fill(piece, column=text(name, most=40), inside=said[0], outside=said[1])
        found.append((k, Telling(float(strength), name, told)))
    return found


def _of_words(
    name: str, column: Any, group: Ints, n_groups: int
) -> list[tuple[int, Telling]]:
    words = column.astype(object).to_numpy()
    size = np.bincount(group, minlength=n_groups)
    best: dict[int, Telling] = {}
    # A stable order, so that equal data give an equal page.
    counts = column.astype(str).value_counts(sort=False).to_dict()
    values = sorted(counts, key=lambda value: (-counts[value], value))[:VALUES]
    spelled = np.array([str(word) for word in words], dtype=object)
    missing = np.asarray(column.isna())
    for value in values:
        has = (spelled == value) & ~missing
        inside = np.bincount(group, has, minlength=n_groups)
        for k in np.flatnonzero((size > 0) & (size < len(group))).tolist():
            share = inside[k] / size[k]
            others = (inside.sum() - inside[k]) / (len(group) - size[k])
            # Of two that tell alike, what members have says more than what they lack.
            strength = float(abs(share - others) / 2) * (1 if share > others else 0.99)
            if k in best and best[k].strength >= strength:
                continue
            told = fill(
                "telling word",
                column=text(name, most=40),
                value=text(value, most=30),
                inside=share,
                outside=others,
            )
            best[k] = Telling(strength, name, told)
    return list(best.items())


def shown_value(value: Any, days: bool = False) -> str:
    """Return a value of a column for people.

    Examples
    --------
    >>> shown_value(1095.2), shown_value(0.12345), shown_value("red")
    ('1,095', '0.123', 'red')
    >>> shown_value(19723.0, days=True), shown_value(float("nan"))
    ('2024-01-01', 'missing')
    """
    if value is None or value != value:
        return "missing"
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    if days and abs(number) < 1e6:
        return str(np.datetime64("1970-01-01") + np.timedelta64(int(number), "D"))
    shown = f"{number:,.0f}" if 1000 <= abs(number) < 1e9 else f"{number:.3g}"
    return shown.replace("-", "−", 1) if number < 0 else shown
