"""Whole columns are understood as their cells are, one by one."""

import sys
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pairlearn.files.tables import text_cells as texts
from pairlearn.files.tables.cell_columns import HEAD, Cells
from pairlearn.files.tables.cells import DATE_ORDERS, MISSING_WORDS, NUMBER_STYLES
from pairlearn.files.tables.make_cells import cells_of, join

SETTINGS = {"deadline": None, "derandomize": True}
EVERY = [chr(k) for k in range(sys.maxunicode + 1) if not 0xD800 <= k < 0xE000]
# What is almost a number, a date, a truth value, a word for nothing or for infinity.
NASTY = [
    "", " ", " " * 9, " " * 10, "NA", "nA ", " " * 8 + "NA", "#N/a", "−", "--", "<na>",
    ".", " ." + " " * 9, "ＮＡ", "nan(3)", "inf", "-Inf", "+inf", "inﬁnity", "INFINITY",
    "tiny", "ﬁ", "e", "1e", "e5", "+", "+-5", "--5", "1_000", "0x10", "1e5e5", "1.5.2",
    "- 5", "5 %", "−4", "−1.234", "1−2", "=1+1", "1e400", "-1e400", "1e-400", "1e309",
    "1.7976931348623157e308", "1.7976931348623159e308", "4.9e-324", "2.4e-324", "-0",
    "2.2250738585072011e-308", "9007199254740993", "9" * 400, "9" * 401, "1" * 41,
    "0." + "0" * 50 + "1", "1e99", "1e+99", "1E5", "1.e5", ".e5", ".5e1", "5.", "+.5",
    "00", "007", "0.00", "-3.0", "3.000", "03.0", "٣.0", "3.٠", "٣٤", "１２,５", "3²",
    "1\u00a0234", "1\u202f234,5", "1 234", "1’234", "1'234,5", "1.234", "1.234,5",
    "1,234", "1,234.5", "12,345,678", "1.234.567", "1 234.567", "0,567", "12,34", "1,5",
    "1,2,3", ",", ",5", "5,", "1,5e3", "1.234e5", "+1.234", "1.2345", "999.999",
    "true", "FALSE", "falſe", "TRUE ", "True\n", "t", "2024-05-31", "2024-02-30",
    "0000-01-01", "0001-01-01", "9999-12-31", "1600-02-29", "2024-05-31T24:00",
    "2024-05-31 12:30", "2024-05-31T12:30:59.5", "2024-05-31T12:30:60", "2024/5/31",
    "2024-05-31 12:30:59.1234567", "2024-05-31T12:30Z", "2024-05-31 02:00+02:00",
    "31.5.2024", "31/05/2024", "05/31/2024", "1.2.24", "٢٠٢٤-٠٥-٣١", "20240531",
    "2024-05-31T12:30:00,5", "2024-05-31 1:30", "x" * 500, "straße", "STRASSE", "a\0b",
]  # fmt: skip
BLANKS = st.sampled_from(["", "", "", " ", "\t", "\xa0", "\u3000", "\x1c", "\u200b"])
PLAIN = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(str),
    st.floats(-1e4, 1e4).map("{:.4g}".format),
    st.integers(-(10**9), 10**9).map(str),
    st.integers(-(10**9), 10**9).map("{:,}".format),
    st.floats(-1e9, 1e9).map("{:,.2f}".format),
    st.dates().map(str),
    st.datetimes().map(str),
    st.datetimes().map("{:%d.%m.%Y}".format),
    st.sampled_from(["red", "blue", "true", "False", "3.0", "3"]),
)
COMMA = PLAIN.map(lambda s: s.translate(str.maketrans(",.", ".,")))
GROUPED = PLAIN.map(lambda s: s.replace(",", " ").replace(".", ","))
ODD = st.one_of(
    st.sampled_from(NASTY),
    st.sampled_from(sorted(MISSING_WORDS)),
    st.text(st.sampled_from("0123456789.,-+eE '’\xa0\u202f−/:T٣"), max_size=12),
    st.text(st.characters(blacklist_categories=["Cs"]), max_size=8),
)


@st.composite
def columns(draw):
    """Draw cells that are mostly alike, as those of a column are."""
    kind = draw(st.sampled_from([PLAIN, COMMA, GROUPED, ODD]))
    cells = draw(st.lists(kind, min_size=1, max_size=12))
    cells += draw(st.lists(ODD, max_size=3))
    if draw(st.booleans()):
        cells = [draw(BLANKS) + cell + draw(BLANKS) for cell in cells]
    if draw(st.booleans()):
        cells.insert(draw(st.integers(0, len(cells))), None)
    # Odd cells beyond those that are looked at first.
    return cells[:1] * draw(st.sampled_from([0, HEAD])) + cells


def see(cells):
    """Return all that can be asked of cells, floats to the bit."""
    asked = {
        "cells": cells.tolist(),
        "missing": cells.missing().tolist(),
        "present": cells.take(np.flatnonzero(~cells.missing())).tolist(),
        "categories": cells.categories().tolist(),
        "distinct": [part.tolist() for part in cells.categories().factorize()],
        "ids": cells.ids().tolist(),
        "lines": cells.ids().are_lines(),
        "separator": cells.have_separator(),
        "rows": cells.ids().rows_of(["", "3", "red", "nowhere"]),
        "all": [
            (form, values.tobytes())
            for found in (cells.all_numbers(), cells.all_days())
            for form, values in found.items()
        ],
    }
    for style in NUMBER_STYLES:
        asked[style] = [part.tobytes() for part in cells.numbers(style)]
        if style != "point":
            asked["lone", style] = cells.lone_groups(style).tolist()
    for order in DATE_ORDERS:
        asked[order] = [part.tobytes() for part in cells.days(order)]
    return asked


def one_by_one(cells):
    """Return cells that know no faster way than the rules for single ones."""
    plain = Cells(cells)
    plain.ids = lambda: Cells(Cells.ids(plain).tolist())
    plain.categories = lambda: Cells(Cells.categories(plain).tolist())
    return plain


def agree(cells):
    fast = cells_of(cells)
    assert isinstance(fast, texts.TextCells)
    assert see(fast) == see(one_by_one(cells))


@settings(max_examples=200, **SETTINGS)
@given(columns())
@example(NASTY)
@example(["1.234", *["5"] * HEAD, "x"])
@example(["2024-01-01 10:00", "2024-02-30 10:00", "1600-01-01 10:00", "2024-01-01"])
def test_text_is_understood_as_single_cells_are(cells):
    agree(cells)


@pytest.mark.parametrize("cell", NASTY)
def test_a_single_cell_of_text(cell):
    agree([cell])
    agree([cell, None])


@settings(max_examples=150, **SETTINGS)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_floats_are_read_to_the_bit(numbers):
    for form in (repr, "{:.3g}".format, "{:.25e}".format, "{:+.17g}".format):
        written = list(map(form, numbers))
        read = cells_of(written).numbers("point").values
        exact = np.array(list(map(float, written)))
        exact[np.isinf(exact)] = np.nan  # rounded up beyond the largest float
        assert read.tobytes() == exact.tobytes()
        comma = cells_of([text.replace(".", ",") for text in written])
        assert comma.numbers("comma").values.tobytes() == read.tobytes()


@pytest.mark.parametrize("size", [1, 7, 2**18])
def test_long_columns_are_looked_at_in_pieces(monkeypatch, size):
    monkeypatch.setattr(texts, "_PIECE", size)
    agree(["12", "1’234,5", "34", "5,5"])
    agree(["12.5", "+3", "1e+5", "7"])


def test_slices_begin_in_the_middle():
    cells = cells_of(["x", " 1,5 ", "NA", "2,5", "y"])
    part = cells[1:4]
    assert part == [" 1,5 ", "NA", "2,5"]
    np.testing.assert_array_equal(part.numbers("comma").values, [1.5, np.nan, 2.5])
    assert part.missing().tolist() == [False, True, False]
    assert not part.numbers("point").fits[0]
    assert cells[-1] == "y"
    assert cells[::2] == ["x", "NA", "y"]
    assert cells[3:1] == []
    with pytest.raises(IndexError):
        cells[5]


def test_what_patterns_take_for_granted_about_unicode():
    """Where another character is folded to a letter, a pattern must know of it."""
    assert {c for c in EVERY if c.isspace()} == set(texts.SPACES)
    words = [*MISSING_WORDS, "true", "false"]
    inside = {word[i:j] for word in words for j in range(9) for i in range(j)}
    folded = {c for c in EVERY if not c.isascii() and c.casefold() in inside}
    assert folded == {"ſ"}  # which may stand for the s of false, and nowhere else
    assert not any("s" in word for word in MISSING_WORDS)


@pytest.mark.parametrize(
    "values",
    [
        [1, 2.5, None, float("inf"), -0.0],
        [2**60 + 1, 10**400, -3],
        [True, None, False],
        [None, None],
        [Decimal("1.50"), Decimal("1.5"), None],
        [date(2024, 5, 31), datetime(2024, 5, 31, 12)],  # noqa: DTZ001
        ["1", 2, True, 2.0, None],
        ["half \ud800", "x"],
    ],
)
def test_values_of_other_types(values):
    cells = cells_of(values)
    assert type(cells) is Cells
    assert cells == values
    one = [Cells([value]) for value in values]
    for style in NUMBER_STYLES:
        read, fits = cells.numbers(style)
        assert read.tobytes() == b"".join(
            c.numbers(style).values.tobytes() for c in one
        )
        assert fits.tolist() == [bool(c.numbers(style).fits[0]) for c in one]
    for order in DATE_ORDERS:
        assert (order in cells.all_days()) == all(order in c.all_days() for c in one)
    assert cells.missing().tolist() == [bool(c.missing()[0]) for c in one]
    assert cells.categories() == [c.categories()[0] for c in one]


def test_parts_of_a_column_are_joined():
    text, none, numbers = cells_of(["a", None]), Cells([None]), Cells([1, 2])
    assert join([Cells([]), text, text]) == ["a", None, "a", None]
    assert isinstance(join([text, text]), texts.TextCells)
    assert isinstance(join([none, text]), texts.TextCells)
    assert join([none, text]) == [None, "a", None]
    assert join([numbers, none]) == [1, 2, None]
    assert join([Cells([])]) == []
    assert text != ["a"]
    assert repr(cells_of(list("abcd"))) == "<4 cells: 'a', 'b', 'c', ...>"
