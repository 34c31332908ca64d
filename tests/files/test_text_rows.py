"""Rows of text files: blocks of plain text are read as by the strict rules."""

import csv
import io

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pairlearn.files.tables import text_rows as textrows
from pairlearn.files.tables.errors import TableError
from pairlearn.files.tables.reading import read_chunks, read_table

SETTINGS = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
}
CELL = st.one_of(
    st.sampled_from(["", " ", "1.5", "-3", "red", "größe", "1,5", "a;b", "x y", "NA"]),
    st.sampled_from([" x", "x ", '"', '""', 'say "no"', "two\nlines", "a\rb", "a, b"]),
    st.sampled_from(["\ufeff", "\xa0", "\x1a", "\u2028", "\x85", "\t", "|", "'", "\\"]),
)
# Put between, in or over lines.
SPOILS = [
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    '"',
    '""',
    ",",
    " ",
    ", ",
    "\ufeff",
    ",,\n",
    "\n ",
]


@st.composite
def files(draw):
    """Draw a table as a program writes it, sometimes spoilt here and there."""
    n_columns = draw(st.integers(1, 4))
    row = st.lists(CELL, min_size=n_columns, max_size=n_columns)
    rows = draw(st.lists(row, min_size=1, max_size=10))
    names = [f"c{k}" for k in range(n_columns)]
    if draw(st.booleans()):
        names.append("")
        rows = [[*cells, ""] for cells in rows]
    text = io.StringIO(newline="")
    writer = csv.writer(
        text,
        delimiter=draw(st.sampled_from(",;\t")),
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        lineterminator=draw(st.sampled_from(["\n", "\r\n", "\r"])),
    )
    writer.writerows([names, *rows])
    content = text.getvalue()
    for spoil in draw(st.lists(st.sampled_from(SPOILS), max_size=2)):
        place = draw(st.integers(0, len(content)))
        content = content[:place] + spoil + content[place:]
    return content


def outcome(path, n_rows):
    """Return all parts of a table, and the mistake that ends it."""
    found = []
    try:
        for part in read_chunks(path, n_rows):
            cells = {name: column.tolist() for name, column in part.columns.items()}
            found.append((cells, part.lines.tolist(), part.gap, part.notes))
    except TableError as error:
        found.append(str(error))
    return found


@settings(max_examples=150, **SETTINGS)
@given(files(), st.sampled_from([1, 2, 3, 100]), st.sampled_from([1, 5, 30, 2**22]))
@example("c0,c1\n1,2\n3\n", 1, 2**22)  # a row before the mistake is still given
@example('c0,c1\n"a ""b""",2\n"",""\n', 100, 2**22)
@example('c0,c1\n"x, y",1\nz, 2\n', 100, 2**22)
@example("c0\n\n\n1\n \n\n", 2, 1)
@example("c0,c1\n1,2\n\ufeff3,4\n", 100, 1)
def test_plain_blocks_are_read_by_the_strict_rules(
    tmp_path, monkeypatch, content, n_rows, block
):
    path = tmp_path / "points.csv"
    path.write_bytes(content.encode())
    with monkeypatch.context() as patch:
        patch.setattr(textrows._Table, "plain", lambda *_: None)
        strict = outcome(path, n_rows)
    with monkeypatch.context() as patch:
        patch.setattr(textrows, "_BLOCK", block)
        assert outcome(path, n_rows) == strict


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("a,b\n1,2\n", [["1"], ["2"]]),
        ("a,b\r\n1,2\r\n", [["1"], ["2"]]),
        ("a,b\n1,2", [["1"], ["2"]]),
        ('a,b\n"1","2"\n', [["1"], ["2"]]),
        ('a,b\n"x, ""y""",2\n', [['x, "y"'], ["2"]]),
        ("a,b\n 1,  2 \n", [["1"], ["2 "]]),
        ("a,b,\n1,2, \n", [["1"], ["2"]]),
        ("é,b\nü,€\n", [["ü"], ["€"]]),
    ],
)
def test_plain_text_takes_the_fast_way(tmp_path, monkeypatch, text, cells):
    def careful(*_):
        raise AssertionError("the csv module was asked")

    monkeypatch.setattr(textrows._Table, "careful", careful)
    path = tmp_path / "points.csv"
    path.write_bytes(text.encode())
    assert list(read_table(path).columns.values()) == cells


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_mistake_in_a_later_block_is_placed(tmp_path, monkeypatch, end):
    monkeypatch.setattr(textrows, "_BLOCK", 64)
    rows = ["id,x", *(f"p{k},{k}" for k in range(200)), 'q,"1', '2"', "r,1,2"]
    path = tmp_path / "points.csv"
    path.write_bytes(end.join(rows).encode())
    parts = read_chunks(path, 50)
    lines = [next(parts).lines.tolist() for _ in range(5)]
    assert [line for part in lines for line in part] == list(range(2, 202))
    with pytest.raises(TableError, match="line 204: 3 cells, but the header names 2"):
        next(parts)
