"""Many cells of text at once: the rules of `cells`, a column at a time.

Arrow answers for the cells that are written plainly, in ASCII. For what it leaves over
each different text is put to the rule itself, once. Where a pattern here and a rule
there could disagree, the pattern leaves the cell over.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairlearn.files.tables.cell_columns import Cells, Read
from pairlearn.files.tables.cells import (
    LONGEST_MISSING,
    LONGEST_NUMBER,
    MISSING_WORDS,
    days_of,
    is_lone_group,
    number_of,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from pairlearn.data.types import Bools, Floats, Ints

__all__ = ["TextCells", "are_blank"]

# What str.strip removes.
SPACES = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005"
    "\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_LONGEST_WORD = max(map(len, MISSING_WORDS))
_DIGITS = b"0123456789"
# In text of these bytes alone, whatever Arrow takes for a number is one.
_PLAIN = {"point": _DIGITS + b"+-.eE", "comma": _DIGITS + b"+-,eE"}
_GROUPS = (" ", ".", "'", "’", "\u00a0", "\u202f")
_BEGIN = "[+-]?[1-9][0-9]{0,2}"


def _simple(sign: str) -> str:
    """Return the shape of numbers without groups; none of them is infinite."""
    digits = f"(?:[0-9]{{1,40}}(?:{sign}[0-9]{{0,40}})?|{sign}[0-9]{{1,40}})"
    return f"[+-]?{digits}(?:[eE][+-]?[0-9]{{1,2}})?"


def _grouped(groups: Iterable[str], sign: str) -> str:
    """Return the shape of numbers with one of these signs between thousands."""
    between = "|".join(f"(?:[{group}][0-9]{{3}}){{1,9}}" for group in groups)
    return f"{_BEGIN}(?:{between})(?:{sign}[0-9]{{0,40}})?"


_SHAPES = {
    "point": f"^{_simple('[.]')}$",
    "comma": f"^(?:{_simple(',')}|{_grouped(_GROUPS, ',')})$",
    "thousands": f"^(?:{_simple('[.]')}|{_grouped(',', '[.]')})$",
}
_LONE = {"comma": f"^{_BEGIN}[.][0-9]{{3}}$", "thousands": f"^{_BEGIN},[0-9]{{3}}$"}
# A text with one of these is no number in any style, nor a word for infinity.
_NO_NUMBER = "[{}]".format(
    "".join(
        re.escape(chr(k))
        for k in range(33, 127)
        if chr(k) not in "0123456789+-.,'eEiInNfFtTyY"
    )
)
# Dates of ten characters, and where day, month and year begin in them.
_DATES = {
    "year first": "^[0-9]{4}(?:-[0-9]{2}-|/[0-9]{2}/|[.][0-9]{2}[.])[0-9]{2}$",
    "day first": "^[0-9]{2}(?:/[0-9]{2}/|[.][0-9]{2}[.])[0-9]{4}$",
    "month first": "^[0-9]{2}(?:/[0-9]{2}/|[.][0-9]{2}[.])[0-9]{4}$",
}
_PLACES = {"year first": (8, 5, 0), "day first": (0, 3, 6), "month first": (3, 0, 6)}
_MOMENT = (
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,6})?)?$"
)
# Texts whose category may be another text: true, false and 3.0.
_OTHER_CATEGORY = r"^(?i:true|fal.e)$|\.0+$"
# Microseconds that are exact as floats.
_EXACT = 2**53
_PIECE = 2**18


class TextCells(Cells):
    """Cells of text.

    Parameters
    ----------
    raw : pyarrow.LargeStringArray
        The cells; null where there is None.
    """

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    @classmethod
    def of(cls, values: list[Any]) -> TextCells:
        """Return texts, or None, as cells."""
        return cls(pa.array(values, type=pa.large_string()))

    @classmethod
    def joined(cls, parts: list[Any]) -> TextCells:
        """Return the cells of some parts as one."""
        return cls(pa.concat_arrays([part._raw for part in parts]))

    def __len__(self) -> int:
        return len(self._raw)

    def __getitem__(self, row: int | slice) -> Any:
        if not isinstance(row, slice):
            row = range(len(self))[row]
            return self._raw[row].as_py()
        begin, end, step = row.indices(len(self))
        if step != 1:
            return self.take(np.arange(begin, end, step))
        return TextCells(self._raw.slice(begin, max(end - begin, 0)))

    @property
    def raw(self) -> Any:
        """The cells as Arrow has them."""
        return self._raw

    @property
    def _values(self) -> list[Any]:  # type: ignore[override]
        return self.tolist()

    @cached_property
    def kinds(self) -> frozenset[type]:
        """The Python types of the cells."""
        return frozenset((str, type(None)) if self._raw.null_count else (str,))

    def tolist(self) -> list[Any]:
        """Return the cells as a list."""
        cells: list[Any] = self._raw.to_pylist()
        return cells

    def take(self, rows: Ints) -> TextCells:
        """Return the cells at some rows."""
        return TextCells(self._raw.take(pa.array(rows)))

    def missing(self) -> Bools:
        """Tell which cells hold nothing."""
        text = self._trimmed
        missing = _are_missing(text)
        if text is not self._text:
            length = pc.utf8_length(self._text)
            missing &= _array(pc.less_equal(length, LONGEST_MISSING))
        return missing

    def numbers(self, style: str) -> Read:
        """Return the cells as numbers."""
        text = self._trimmed
        fits = _are_missing(text)
        rows = np.flatnonzero(~fits)
        text = _at(text, rows)
        read = _all_plain(text, style)
        values = np.full(len(fits), np.nan)
        if read is not None:
            values[rows], fits[rows] = read, True
            return Read(values, fits)
        shape = _array(pc.match_substring_regex(text, _SHAPES[style]))
        plain = rows[shape]
        values[plain] = _floats(_with_point(text.filter(pa.array(shape)), style))
        fits[plain] = True
        left = ~shape & ~_array(pc.match_substring_regex(text, _NO_NUMBER))
        return self._rest(values, fits, rows[left], lambda c: number_of(c, style))

    def days(self, order: str) -> Read:
        """Return the cells as days since 1970."""
        fits = self.missing()
        values = np.full(len(self), np.nan)
        rows = np.flatnonzero(~fits)
        ways: list[tuple[str, Callable[[Any], Floats]]] = [
            (_DATES[order], lambda text: _days_of_dates(text, order))
        ]
        if order == "year first":
            ways.append((_MOMENT, _days_of_moments))
        for shape, read in ways:
            text = _at(self._trimmed, rows)
            plain = _array(pc.match_substring_regex(text, shape))
            days = read(text.filter(pa.array(plain)))
            values[rows[plain]] = days
            fits[rows[plain]] = ~np.isnan(days)
            rows = rows[~fits[rows]]
        return self._rest(values, fits, rows, lambda c: days_of(c, order))

    def categories(self) -> TextCells:
        """Return the cells as categories: text, empty where they are missing."""
        missing = self.missing()
        text = self._trimmed
        left = _array(pc.match_substring_regex(text, _OTHER_CATEGORY)) & ~missing
        if missing.any():
            text = pc.if_else(pa.array(missing), pa.scalar("", text.type), text)
        if left.any():
            found, number = _by_rule(_at(self._text, np.flatnonzero(left)), text_of)
            new = pa.array(found, type=text.type).take(pa.array(number))
            text = pc.replace_with_mask(text, pa.array(left), new)
        return TextCells(text)

    def ids(self) -> TextCells:
        """Return the cells as ids: text, empty where they are missing."""
        return TextCells(self._trimmed)

    def factorize(self) -> tuple[Ints, TextCells]:
        """Return each different cell once, as they first occur, and which is whose."""
        encoded = self._text.dictionary_encode()
        return _array(encoded.indices), TextCells(encoded.dictionary)

    def lone_groups(self, style: str) -> NDArray[np.int8]:
        """Return 1, 0 or -1 where `is_lone_group` says true, false or nothing."""
        marks = np.full(len(self), -1, dtype=np.int8)
        if not self.have_separator():
            return marks
        there = _array(pc.match_substring_regex(self._text, "[.,]")) & ~self.missing()
        rows = np.flatnonzero(there)
        text = _at(self._text, rows)
        lone = _array(pc.match_substring_regex(_at(self._trimmed, rows), _LONE[style]))
        marks[rows] = lone
        left = ~lone & ~_array(pc.string_is_ascii(text))
        if left.any():
            found, number = _by_rule(
                text.filter(pa.array(left)), lambda c: is_lone_group(c, style)
            )
            marks[rows[left]] = np.array(found, dtype=np.int8)[number]
        return marks

    def have_separator(self) -> bool:
        """Tell whether there is a point or a comma in any text."""
        return _holds(self._raw, b",") or _holds(self._raw, b".")

    def are_lines(self) -> bool:
        """Tell whether no text is empty, and none holds a line break."""
        return bool(np.all(_lengths(self._raw))) and not (
            _holds(self._raw, b"\n") or _holds(self._raw, b"\r")
        )

    def rows_of(self, texts: Collection[str]) -> dict[str, int]:
        """Return where each of some texts stands last, if it does."""
        wanted = pa.array(list(set(texts)), type=self._raw.type)
        rows = np.flatnonzero(_array(pc.is_in(self._raw, value_set=wanted)))
        found = _at(self._raw, rows).to_pylist()
        return dict(zip(found, rows.tolist(), strict=True))

    def _written_like(self, style: str) -> str:
        text = self._trimmed
        if style == "thousands" and not _holds(text, b","):
            return "point"
        if style == "comma" and _holds_only(text, _DIGITS + b"+-eE"):
            return "point"
        return style

    @cached_property
    def _text(self) -> Any:
        """The cells without null: None and an empty text mean the same."""
        return pc.fill_null(self._raw, "") if self._raw.null_count else self._raw

    @property
    def _trimmed(self) -> Any:
        return trim(self._text)

    def _rest(
        self, values: Floats, fits: Bools, rows: Ints, rule: Callable[[str], Any]
    ) -> Read:
        """Read what is left over, with the rule for single cells."""
        if len(rows):
            found, number = _by_rule(_at(self._text, rows), rule)
            values[rows] = np.array(found, dtype=float)[number]
            fits[rows] = np.array([value is not None for value in found])[number]
        return Read(values, fits)


def are_blank(raw: Any) -> Bools:
    """Tell which texts hold nothing but blanks."""
    blank: Bools = _lengths(trim(raw)) == 0
    return blank


def trim(raw: Any) -> Any:
    """Return text without outer blanks, as str.strip does; the same array if it can."""
    data = _data(raw)
    # Printable ASCII: the least that a column is looked at for.
    if not len(data) or (data.min() > 32 and data.max() < 127):
        return raw
    return pc.utf8_trim(raw, SPACES)


def _all_plain(text: Any, style: str) -> Floats | None:
    """Return numbers, if all are written so that Arrow reads them as Python does."""
    if style == "thousands" and not _holds(text, b","):
        style = "point"
    if style not in _PLAIN or not _holds_only(text, _PLAIN[style]):
        return None
    if np.max(_lengths(text), initial=0) > LONGEST_NUMBER:
        return None
    if style == "comma":
        text = pc.replace_substring(text, ",", ".")
    try:
        values = _floats(text)
    except pa.ArrowInvalid:
        return None
    return values if np.isfinite(values).all() else None


def _with_point(text: Any, style: str) -> Any:
    """Return numbers of a known shape as Arrow reads them."""
    plus = _holds(text, b"+")
    if style == "comma":
        for group in _GROUPS:
            if _holds(text, group.encode()[:1]):
                text = pc.replace_substring(text, group, "")
        text = pc.replace_substring(text, ",", ".")
    elif style == "thousands":
        text = pc.replace_substring(text, ",", "")
    return pc.utf8_ltrim(text, "+") if plus else text


def _days_of_dates(text: Any, order: str) -> Floats:
    """Return dates of a known shape as days; NaN where there is no such day."""
    digits = _data(text).reshape(len(text), 10) - np.uint8(ord("0"))

    def number(begin: int, length: int) -> NDArray[np.int64]:
        tens = 10 ** np.arange(length - 1, -1, -1)
        found: NDArray[np.int64] = digits[:, begin : begin + length] @ tens
        return found

    day, month, year = map(number, _PLACES[order], (2, 2, 4))
    first = (12 * (year - 1970) + month - 1).astype("datetime64[M]")
    date = first.astype("datetime64[D]") + (day - 1)
    exists = (year > 0) & (month > 0) & (month < 13) & (day > 0)
    exists &= date.astype("datetime64[M]") == first
    return np.where(exists, date.astype(np.int64), np.nan)


def _days_of_moments(text: Any) -> Floats:
    """Return moments of a known shape as days; NaN where they are left over."""
    try:
        moments = pc.cast(text, pa.timestamp("us"))
    except pa.ArrowInvalid:  # the 31st of February
        return np.full(len(text), np.nan)
    count = _array(pc.cast(moments, pa.int64()))
    return np.where(np.abs(count) < _EXACT, count / 1e6 / 86400, np.nan)


def _by_rule(raw: Any, rule: Callable[[str], Any]) -> tuple[list[Any], Ints]:
    """Put each different text to a rule; return the answers, and which is whose."""
    encoded = raw.dictionary_encode()
    found = [rule(text) for text in encoded.dictionary.to_pylist()]
    return found, _array(encoded.indices)


def _are_missing(text: Any) -> Bools:
    """Tell which texts, without outer blanks, are words for nothing."""
    missing = np.zeros(len(text), dtype=bool)
    rows = np.flatnonzero(_lengths(text) <= _LONGEST_WORD)
    if len(rows):
        missing[rows] = _array(pc.is_in(_at(text, rows), value_set=_missing_words()))
    return missing


@cache
def _missing_words() -> Any:
    """Return the words for nothing, in all mixtures of upper and lower case."""
    written = {
        "".join(letters)
        for word in MISSING_WORDS
        for letters in product(*({c, c.upper()} for c in word))
    }
    return pa.array(sorted(written), type=pa.large_string())


def _floats(text: Any) -> Floats:
    return _array(pc.cast(text, pa.float64()))


def _at(array: Any, rows: Ints) -> Any:
    """Return the elements at some rows, in ascending order."""
    return array if len(rows) == len(array) else array.take(pa.array(rows))


def _array(array: Any) -> NDArray[Any]:
    found: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return found


def _offsets(raw: Any) -> NDArray[np.int64]:
    if not len(raw):
        return np.zeros(1, dtype=np.int64)
    offsets = np.frombuffer(raw.buffers()[1], dtype=np.int64)
    return offsets[raw.offset : raw.offset + len(raw) + 1]


def _lengths(raw: Any) -> NDArray[np.int64]:
    """Return the length of each text in bytes."""
    return np.diff(_offsets(raw))


def _data(raw: Any) -> NDArray[np.uint8]:
    """Return all texts, end to end."""
    offsets = _offsets(raw)
    buffer = raw.buffers()[2]
    if buffer is None:
        return np.zeros(0, dtype=np.uint8)
    return np.frombuffer(buffer, dtype=np.uint8)[offsets[0] : offsets[-1]]


def _pieces(raw: Any) -> Iterator[bytes]:
    """Yield all texts, end to end, in pieces that fit into a processor's cache."""
    data = _data(raw)
    for begin in range(0, len(data), _PIECE):
        yield data[begin : begin + _PIECE].tobytes()


def _holds(raw: Any, byte: bytes) -> bool:
    """Tell whether a byte is in any text."""
    return any(byte in piece for piece in _pieces(raw))


def _holds_only(raw: Any, allowed: bytes) -> bool:
    """Tell whether nothing but some bytes is in the texts."""
    return not any(piece.translate(None, allowed) for piece in _pieces(raw))
