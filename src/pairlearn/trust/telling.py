"""Which columns set the members of a group apart from the other points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from pairlearn.trust.telling_words import telling_words

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints

__all__ = ["Difference", "differences"]

# Points and columns that are looked at.
LOOKED = 5000
COLUMNS = 400
# Values of a text column that are looked at, the most frequent ones.
VALUES = 30
# From here on a column tells a group apart: a member has a larger value than another
# point in 65 of 100 cases, or in 35.
LEAST = 0.15


class Difference(NamedTuple):
    """In what a group differs from the other points.

    Attributes
    ----------
    strength : float
        By how much the probability that a member has a larger value than another point
        differs from one half.
    column : str
        The name of the column.
    kind : {"number", "mean", "word", "text"}
        Whether medians, means, shares of a category, or shares of texts that hold a
        word are told.
    inside, outside : float
        The median, mean or share of the members and of the others.
    word : str
        The word.
    """

    strength: float
    column: str
    kind: str
    inside: float
    outside: float
    word: str = ""


def differences(frame: Any, group: Ints, n_groups: int) -> list[list[Difference]]:
    """Return for each group the columns that set it apart, the best first.

    Parameters
    ----------
    frame : pandas.DataFrame
        Points: numbers, days since 1970, or text.
    group : ndarray of shape (n_points,)
        The group of each point.
    n_groups : int
        How many groups there are.

    Returns
    -------
    list of list of Difference

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.0, 2, 3, 8, 9, 10], "colour": list("rrggbb")})
    >>> found = differences(frame, np.array([0, 0, 0, 1, 1, 1]), 2)
    >>> [(each.column, each.word) for each in found[0]]
    [('size', ''), ('colour', 'r')]
    """
    rows = np.unique(
        np.linspace(0, len(frame) - 1, min(len(frame), LOOKED)).astype(int)
    )
    frame, group = frame.iloc[rows], np.asarray(group)[rows]
    found: list[list[Difference]] = [[] for _ in range(n_groups)]
    for name in list(frame.columns)[:COLUMNS]:
        column = frame[name]
        if _holds_vectors(column):
            continue  # no single number of an image says anything
        if column.dtype.kind in "fiub":
            values = column.to_numpy(dtype=float)
            each = _of_numbers(str(name), values, group, n_groups)
        elif column.dtype != "category" and column.nunique() > VALUES:
            each = _of_texts(str(name), column, group, n_groups)
        else:
            each = _of_words(str(name), column, group, n_groups)
        for k, difference in each:
            if difference.strength >= LEAST:
                found[k].append(difference)
    return [sorted(some, key=lambda each: -each.strength) for some in found]


def _holds_vectors(column: Any) -> bool:
    return column.dtype == object and any(
        isinstance(cell, np.ndarray) for cell in column
    )


def _of_numbers(
    name: str, values: Floats, group: Ints, n_groups: int
) -> list[tuple[int, Difference]]:
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
        kind, ends = "number", (np.median(inside), np.median(outside))
        if ends[0] == ends[1]:
            kind, ends = "mean", (inside.mean(), outside.mean())
        within, without = map(float, ends)
        found.append((k, Difference(float(strength), name, kind, within, without)))
    return found


def _of_texts(
    name: str, column: Any, group: Ints, n_groups: int
) -> list[tuple[int, Difference]]:
    texts = ["" if text is None else str(text) for text in column.tolist()]
    found = []
    for k, words in enumerate(telling_words(texts, group, n_groups, most=1)):
        for best in words:
            inside, outside = best.inside, best.outside
            strength = (inside - outside) / 2
            found.append(
                (k, Difference(strength, name, "text", inside, outside, best.word))
            )
    return found


def _of_words(
    name: str, column: Any, group: Ints, n_groups: int
) -> list[tuple[int, Difference]]:
    words = column.astype(object).to_numpy()
    size = np.bincount(group, minlength=n_groups)
    best: dict[int, Difference] = {}
    # A stable order, so that equal data give an equal page.
    counts = column.astype(str).value_counts(sort=False).to_dict()
    values = sorted(counts, key=lambda value: (-counts[value], value))[:VALUES]
    spelled = np.array([str(word) for word in words], dtype=object)
    missing = np.asarray(column.isna())
    for value in values:
        has = (spelled == value) & ~missing
        inside = np.bincount(group, has, minlength=n_groups)
        for k in np.flatnonzero((size > 0) & (size < len(group))).tolist():
            share = float(inside[k] / size[k])
            others = float((inside.sum() - inside[k]) / (len(group) - size[k]))
            # Of two that tell alike, what members have says more than what they lack.
            strength = float(abs(share - others) / 2) * (1 if share > others else 0.99)
            if k in best and best[k].strength >= strength:
                continue
            best[k] = Difference(strength, name, "word", share, others, str(value))
    return list(best.items())
