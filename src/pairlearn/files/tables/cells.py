"""Single cells: what is missing, what is a number, what is a date, what is an id.

Cells are text (CSV), or what Arrow makes of its types: int, float, bool, Decimal, date,
datetime. Everything that looks at a cell goes by these few functions, when a model is
made and when it is used, so that both understand a table in the same way. Whole columns
are asked by way of `pairlearn.files.tables.cell_columns`, to the same end.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from pairlearn.data.ids import id_of

__all__ = [
    "DATE_ORDERS",
    "LONGEST_MISSING",
    "LONGEST_NUMBER",
    "MISSING_WORDS",
    "NUMBER_STYLES",
    "days_of",
    "id_of",
    "is_lone_group",
    "is_missing",
    "looks_like_formula",
    "number_of",
    "shown",
    "text_of",
]

MISSING_WORDS = frozenset(
    ("", "na", "n/a", "#n/a", "nan", "nat", "null", "none", "?", "-", "--", ".", "<na>")
)
# Characters of the longest cell that may be missing, blanks included, and of the
# longest number.
LONGEST_MISSING = 9
LONGEST_NUMBER = 400

# How numbers are written: 1234.5; 1 234,5 or 1.234,5; 1,234.5.
NUMBER_STYLES = ("point", "comma", "thousands")
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# A whole number as floats are written.
_WHOLE = re.compile(r"-?[1-9]\d*\.0+|0\.0+")
_GROUP = "[ .'’\u00a0\u202f]"
# Groups begin with a digit other than 0: 0.567 and 0,567 are no thousands.
_COMMA = re.compile(
    r"[+-]?((\d+,?\d*|,\d+)([eE][+-]?\d+)?"
    rf"|[1-9]\d{{0,2}}(?P<group>{_GROUP})\d{{3}}((?P=group)\d{{3}})*(,\d*)?)"
)
_THOUSANDS = re.compile(
    r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[1-9]\d{0,2}(,\d{3})+(\.\d*)?)"
)
_LONE_GROUP = {
    "comma": re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}"),
    "thousands": re.compile(r"[+-]?[1-9]\d{0,2},\d{3}"),
}
_WORDS_FOR_INFINITY = frozenset(("inf", "+inf", "-inf", "infinity", "-infinity"))

DATE_ORDERS = ("year first", "day first", "month first")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")
_SLASHES = re.compile(r"(\d{1,4})([/.])(\d{1,2})\2(\d{1,4})")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_missing(cell: Any) -> bool:
    """Tell whether a cell holds nothing: empty, NA, null, NaN, ?, - and the like."""
    if isinstance(cell, str):
        return len(cell) <= LONGEST_MISSING and cell.strip().casefold() in MISSING_WORDS
    # The missing value of pandas has no truth value, so it is known by its name.
    return cell is None or type(cell).__name__ == "NAType" or bool(cell != cell)


def shown(cell: Any, most: int = 40) -> str:
    """Return a cell as it is shown in a message: quoted, and cut if it is long."""
    text = cell if isinstance(cell, str) else str(cell)
    return repr(text if len(text) <= most else text[:most] + "…")


def text_of(cell: Any) -> str:
    """Return a cell as a category; empty if it is missing.

    Text that a program wrote for true, false or a whole number is the same category as
    the value itself, so that a table means the same as CSV and as Parquet.

    Examples
    --------
    >>> text_of(" red "), text_of(True), text_of(3.0), text_of("n/a")
    ('red', 'true', '3', '')
    >>> text_of("True"), text_of("3.0"), text_of("3.10")
    ('true', '3', '3.10')
    """
    if is_missing(cell):
        return ""
    text = id_of(cell)
    if len(text) < 6 and text.casefold() in ("true", "false"):
        return text.casefold()
    return text.partition(".")[0] if _WHOLE.fullmatch(text) else text


def number_of(cell: Any, style: str = "point") -> float | None:
    """Return the number in a cell, NaN if it is missing or infinite, None if none.

    Parameters
    ----------
    cell : object
        The cell.
    style : {"point", "comma", "thousands"}
        How a number is written: 1234.5, or 1 234,5 and 1.234,5, or 1,234.5.

    Returns
    -------
    float or None

    Examples
    --------
    >>> number_of("1 234,5", "comma"), number_of("1,234.5", "thousands")
    (1234.5, 1234.5)
    >>> number_of("12a") is None
    True
    """
    if isinstance(cell, str):
        return _number_of_text(cell.strip(), style)
    if is_missing(cell):
        return math.nan
    if isinstance(cell, int | float | Decimal):
        try:
            number = float(cell)
        except OverflowError:
            return math.nan
        return number if math.isfinite(number) else math.nan
    return None


def _number_of_text(text: str, style: str) -> float | None:
    if is_missing(text):
        return math.nan
    if len(text) > LONGEST_NUMBER:
        return None
    if text.casefold() in _WORDS_FOR_INFINITY:
        return math.nan
    # Dashes and minus signs that word processors put in the place of a hyphen.
    text = text.replace("−", "-")
    if style == "comma":
        if not _COMMA.fullmatch(text):
            return None
        text = re.sub(_GROUP, "", text).replace(",", ".")
    elif style == "thousands":
        if not _THOUSANDS.fullmatch(text):
            return None
        text = text.replace(",", "")
    elif not _PLAIN.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else math.nan


def is_lone_group(cell: Any, style: str) -> bool | None:
    """Tell whether a number may mean a thousandth of it, or a thousand times as much.

    Parameters
    ----------
    cell : object
        The cell.
    style : {"comma", "thousands"}
        How numbers are written.

    Returns
    -------
    bool or None
        Whether its one separator is between thousands, but would be the decimal sign in
        the other style; None if there is neither a point nor a comma.

    Examples
    --------
    >>> is_lone_group("1.234", "comma"), is_lone_group("1.234,5", "comma")
    (True, False)
    >>> is_lone_group("1,234", "thousands"), is_lone_group("1234", "thousands")
    (True, None)
    """
    if not isinstance(cell, str) or not ("." in cell or "," in cell):
        return None
    if is_missing(cell):
        return None
    return bool(_LONE_GROUP[style].fullmatch(cell.strip().replace("−", "-")))


def days_of(cell: Any, order: str = "year first") -> float | None:
    """Return a date as days since 1970, NaN if it is missing, None if it is no date.

    Parameters
    ----------
    cell : object
        The cell.
    order : {"year first", "day first", "month first"}
        Which way round dates are written: 2024-05-31 or 2024/5/31, 31/5/2024 or
        31.5.2024, 5/31/2024.

    Returns
    -------
    float or None

    Examples
    --------
    >>> days_of("1970-01-02"), days_of("1970-01-01 12:00"), days_of("2.1.1970")
    (1.0, 0.5, None)
    >>> days_of("2.1.1970", "day first")
    1.0
    """
    if is_missing(cell):
        return math.nan
    if isinstance(cell, str):
        moment = _moment_of_text(cell.strip(), order)
    elif isinstance(cell, datetime):
        moment = cell
    elif isinstance(cell, date):
        moment = datetime(cell.year, cell.month, cell.day, tzinfo=UTC)
    else:
        return None
    if moment is None:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH).total_seconds() / 86400


def _moment_of_text(text: str, order: str) -> datetime | None:
    if len(text) > 40:
        return None
    try:
        if order == "year first" and _ISO.fullmatch(text):
            return datetime.fromisoformat(text)
        parts = _SLASHES.fullmatch(text)
        if parts is None:
            return None
        a, b, c = (int(parts[k]) for k in (1, 3, 4))
        if (len(parts[1]) == 4) != (order == "year first"):
            return None
        if order != "year first" and len(parts[4]) != 4:
            return None  # 1.2.24 might be anything
        year, month, day = {
            "year first": (a, b, c),
            "day first": (c, b, a),
            "month first": (c, a, b),
        }[order]
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:  # the 31st of February
        return None


def looks_like_formula(text: str) -> bool:
    """Tell whether a spreadsheet would run a cell as a formula: =, +, - or @ first.

    Numbers, such as -5, are none.

    Examples
    --------
    >>> looks_like_formula("=1+1"), looks_like_formula("-5"), looks_like_formula("a=b")
    (True, False, False)
    """
    return text[:1] in tuple("=+-@\t\r") and number_of(text) is None
