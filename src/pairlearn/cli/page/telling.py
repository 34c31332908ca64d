"""Which columns set the members of a group apart from the other points, as told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pairlearn.cli.page.markup import Html, fill, text
from pairlearn.trust.telling import differences

if TYPE_CHECKING:
    from collections.abc import Collection

    from pairlearn.data.types import Ints
    from pairlearn.trust.telling import Difference

__all__ = ["Telling", "shown_value", "telling_columns"]

# Columns that are told of each group.
TOLD = 3


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
    return [
        [_told(each, each.column in dates) for each in some[:TOLD]]
        for some in differences(frame, group, n_groups)
    ]


def _told(each: Difference, days: bool) -> Telling:
    column, inside, outside = text(each.column, most=40), each.inside, each.outside
    if each.kind in ("word", "text"):
        value = text(each.word, most=30)
        told = fill(
            f"telling {each.kind}",
            column=column,
            value=value,
            inside=inside,
            outside=outside,
        )
    else:
        told = fill(
            f"telling {each.kind}",
            column=column,
            inside=shown_value(inside, days),
            outside=shown_value(outside, days),
        )
    return Telling(each.strength, each.column, told)


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
