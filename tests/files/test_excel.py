"""Excel workbooks are read like other tables, and hostile ones refused."""

import datetime as dt
import io
import zipfile

import numpy as np
import openpyxl
import pytest

from pairlearn.files.tables import (
    TableError,
    excel_file,
    read_answers,
    read_points,
)
from pairlearn.files.tables.reading import read_chunks, read_table


@pytest.fixture
def book(tmp_path):
    """Points on the first sheet, pairs on another."""
    made = openpyxl.Workbook()
    rows = made.active
    rows.title = "points"
    rows.append(["id", "size", "day", "colour", "twice"])
    for k in range(30):
        day = dt.datetime(2024, 1, 1) + dt.timedelta(days=k)  # noqa: DTZ001
        rows.append([k, k / 4 if k != 3 else None, day, ("red", "blue")[k % 2], k])
        if k == 9:
            rows.append([None] * 5)
    rows["C5"], rows["E2"] = None, "=1+1"
    pairs = made.create_sheet("pairs")
    pairs.append(["left", "right", "answer"])
    for k in range(0, 30, 2):
        pairs.append([k, k + 1, ("same", "different")[k % 4 // 2]])
    path = tmp_path / "book.xlsx"
    made.save(path)
    return path


def test_cells_are_what_they_are(book):
    points = read_points(f"{book}:points")
    assert list(points.ids)[:3] == ["0", "1", "2"]
    kinds = {column.name: column.kind for column in points.columns}
    assert kinds == {
        "size": "numbers", "day": "dates", "colour": "categories", "twice": "numbers"
    }  # fmt: skip
    assert len(points) == 30
    assert np.isnan(points.frame["size"]).tolist().index(True) == 3
    assert points.frame["day"][1] - points.frame["day"][0] == 1
    # A formula that no program has computed yet has no value.
    assert points.table.columns["twice"][0] is None


def test_sheets_are_named(book):
    read = read_answers(f"{book}:points", f"{book}:pairs")
    assert len(read) == 15
    assert "first sheet is read, 'points'" in read_table(book).notes[0]
    with pytest.raises(TableError, match="no sheet 'other'; it has 'points', 'pairs'"):
        read_table(f"{book}:other")


def test_rows_are_known_by_their_numbers_in_the_sheet(book):
    parts = list(read_chunks(book, 12))
    assert [len(part) for part in parts] == [0, 12, 12, 6]
    assert parts[1].place(11) == "book.xlsx, row 14"


def test_values_of_formulas_are_read(book, tmp_path):
    with zipfile.ZipFile(book) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    members[sheet] = members[sheet].replace(b"<f>1+1</f><v></v>", b"<f>1+1</f><v>2</v>")
    members[sheet] = members[sheet].replace(b"<f>1+1</f><v />", b"<f>1+1</f><v>2</v>")
    path = tmp_path / "computed.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    assert read_table(path).columns["twice"][0] == 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "is empty"),
        ([["a", None, "b"], [1, 2, 3]], "column 2 has no name"),
        ([["a", "a"], [1, 2]], "occur more than once"),
        ([["a"], [1, 2]], "row 2: there are cells to the right"),
        ([["a", "b"]], "has a header but no rows"),
    ],
)
def test_tables_that_are_none_are_refused(rows, message, tmp_path):
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    made.save(tmp_path / "b.xlsx")
    with pytest.raises(TableError, match=message) as caught:
        read_table(tmp_path / "b.xlsx")
    assert "b.xlsx" in str(caught.value)


def test_errors_in_cells_are_missing(tmp_path):
    made = openpyxl.Workbook()
    for row in (["a", "b"], ["#N/A", 1], ["#DIV/0!", 2], ["#tag", 3]):
        made.active.append(row)
    made.save(tmp_path / "b.xlsx")
    assert read_table(tmp_path / "b.xlsx").columns["a"].tolist() == [None, None, "#tag"]


def test_bombs_are_refused_before_they_are_unpacked(book, tmp_path, monkeypatch):
    monkeypatch.setattr(excel_file, "_MOST_UNPACKED", 2**20)
    with zipfile.ZipFile(book) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    bomb = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        with archive.open("xl/media/zeros.xml", "w") as file:
            for _ in range(5):
                file.write(bytes(2**20))
    with pytest.raises(TableError, match=r"bomb\.xlsx would unpack to 5 MiB"):
        read_table(bomb)


def test_entities_do_not_grow(book, tmp_path):
    laughs = b"".join(
        b'<!ENTITY l%d "%s">' % (k, b"&l%d;" % (k - 1) * 10 if k else b"ha")
        for k in range(12)
    )
    with zipfile.ZipFile(book) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = "xl/worksheets/sheet1.xml"
    members[name] = (
        b"<!DOCTYPE x ["
        + laughs
        + b"]>"
        + members[name].replace(b"<v>1</v>", b"<v>&l11;</v>", 1)
    )
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    with pytest.raises(TableError, match=r"b\.xlsx is no workbook that a spreadsheet"):
        read_table(tmp_path / "b.xlsx")


def test_flipped_bits(book, tmp_path):
    whole, rng, refused = book.read_bytes(), np.random.RandomState(0), []
    for _ in range(40):
        data = bytearray(whole)
        data[rng.randint(len(data))] ^= 1 << rng.randint(8)
        (tmp_path / "b.xlsx").write_bytes(data[: rng.choice([len(data), 900])])
        try:
            assert len(read_table(tmp_path / "b.xlsx")) > 0
        except TableError as problem:
            refused.append(str(problem))
    assert len(refused) > 20
    assert all("b.xlsx" in message for message in refused)


def test_what_is_no_workbook_is_refused(tmp_path):
    for content in (b"", b"id,x\n1,2\n", b"\xd0\xcf\x11\xe0" + bytes(600)):
        (tmp_path / "b.xlsx").write_bytes(content)
        with pytest.raises(TableError, match=r"no \.xlsx workbook, or it is damaged"):
            read_table(tmp_path / "b.xlsx")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "x")
    (tmp_path / "b.xlsx").write_bytes(file.getvalue())
    with pytest.raises(TableError, match="cannot be read as an Excel workbook"):
        read_table(tmp_path / "b.xlsx")
