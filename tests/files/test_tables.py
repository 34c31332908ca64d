"""Tables of the command line: what was written is what is read."""

from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from pairlearn.files.tables.answered_pairs import read_answers
from pairlearn.files.tables.cells import days_of, id_of, is_missing, number_of, text_of
from pairlearn.files.tables.points import read_points
from pairlearn.files.tables.reading import (
    TableError,
    read_chunks,
    read_table,
)
from tests.support.cli_files import POINTS, write


class TestEncodingsAndDelimiters:
    @pytest.mark.parametrize(
        "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le-bom"]
    )
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_all_are_read_alike(self, read, encoding, delimiter, end):
        text = POINTS.replace("red", "größe 😀").replace(",", delimiter)
        text = text.replace("\n", end)
        data = (
            b"\xff\xfe" + text.encode("utf-16-le")
            if encoding == "utf-16-le-bom"
            else text.encode(encoding)
        )
        table = read(data)
        assert table.columns == {
            "id": ["p1", "p2", "p3"],
            "x": ["1.5", "2", "-3"],
            "colour": ["größe 😀", "blue", "größe 😀"],
        }
        assert table.lines.tolist() == [2, 3, 4]
        assert table.notes == []

    def test_latin_1_is_read_and_told(self, read):
        table = read("id,place\n1,Zürich\n2,Orléans\n".encode("latin-1"))
        assert table.columns["place"] == ["Zürich", "Orléans"]
        assert "not UTF-8" in table.notes[0]

    def test_late_latin_1_is_noticed(self, read):
        text = "id,x\n" + "".join(f"{k},1\n" for k in range(200_000)) + "é,1\n"
        table = read(text.encode("latin-1"))
        assert table.columns["id"][-1] == "é"
        assert table.notes

    def test_delimiter_follows_the_header_not_the_cells(self, read):
        table = read("id;x;note\n1;1,5;a, b, c\n2;2,5;d, e, f\n")
        assert table.columns["x"] == ["1,5", "2,5"]
        assert table.columns["note"] == ["a, b, c", "d, e, f"]
        assert table.decimal_comma

    def test_quoted_names_hide_delimiters(self, read):
        table = read('id,"size; mm"\n1,3\n2,4\n')
        assert table.columns["size; mm"] == ["3", "4"]

    def test_rows_settle_the_delimiter(self, read):
        table = read("id;size, mm\n1;3\n2;4\n")
        assert table.columns["size, mm"] == ["3", "4"]

    def test_a_delimiter_that_cannot_be_told_is_an_error(self, read):
        with pytest.raises(TableError, match="a comma or a semicolon"):
            read("id;size, mm\n1;3,5\n2;4,5\n")

    def test_more_columns_do_not_settle_the_delimiter(self, read, tmp_path):
        text = "length, cm;width, cm\n1,5;2,5\n1,7;2,5\n3,1;4,9\n"
        with pytest.raises(
            TableError, match=r"comma or a semicolon: .* as --delimiter ';'"
        ):
            read(text)
        # The way out that the message names.
        file = write(tmp_path, "points.csv", text)
        table = read_table(file, delimiter=";")
        assert list(table.columns) == ["length, cm", "width, cm"]
        table = read("sep=;\n" + text)
        assert table.columns["length, cm"] == ["1,5", "1,7", "3,1"]
        assert read(text.replace(";", "\t"), "points.tsv").columns == table.columns

    def test_quoted_cells_settle_the_delimiter(self, read):
        table = read('id,"size; mm",y\n1,"3; 4",5\n2,"5; 6",7\n')
        assert table.columns["size; mm"] == ["3; 4", "5; 6"]

    def test_the_line_of_excel_that_names_the_delimiter(self, read):
        table = read("sep=;\nid;x,y\n1;3,5\n")
        assert table.columns == {"id": ["1"], "x,y": ["3,5"]}
        assert table.lines.tolist() == [3]

    def test_tsv_may_hold_commas_in_its_header(self, read):
        table = read("id\ta,b\n1\t2,3\n", "points.tsv")
        assert table.columns == {"id": ["1"], "a,b": ["2,3"]}

    def test_line_breaks_and_quotes_in_cells(self, read):
        table = read('id,text\n1,"two\nlines"\n2,"says ""no"""\n3,x\n')
        assert table.columns["text"] == ["two\nlines", 'says "no"', "x"]
        assert table.lines.tolist() == [2, 4, 5]


class TestMalformed:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "is empty"),
            (b" \n\n", "is empty"),
            (b"id,x\n", "has a header but no rows"),
            ("id,x\n1,2\n3\n", r"line 3: 1 cell, but the header names 2"),
            ("id,x\n1,2\n3,4,5\n", r"line 3: 3 cells"),
            ('id,x\n1,"2\n3,4\n', "line 2: a double quote opens in this row"),
            ('id,x\n1,"2"3\n', "line 2: a double quote closes in the middle"),
            (b"id,x\n1,\x002\n", "NUL byte, at byte 7"),
            ("id,x,x\n1,2,3\n", "column name.* occur more than once, first 'x'"),
            ("id,,x\n1,2,3\n", "column 2 has no name"),
            (",,\n1,2,3\n", "names no column"),
            ("1,2,3\n4,5,6\n", "numbers, not column names"),
            ("id,x\n1," + "a" * 200_000 + "\n", "longer than 131,072 characters"),
            ("a" * 200_000 + ",x\n1,2\n", "line 1: a cell is longer than"),
            (b"PK\x03\x04" + bytes(90), "zip or Excel file"),
            (b"PAR1" + bytes(90), "rename it to .parquet"),
            (b"\x1f\x8b" + bytes(90), "gzip"),
            (b"\x89\x01\xff\xfe\x02binary\n", "not a text table"),
            (b"\xff\xfei\x00d\x00,", "begins like UTF-16, but it is not"),
            ("id,x,\n1,2,\n2,3,4\n", "line 3: the last column has no name, but"),
        ],
    )
    def test_the_error_says_what_is_wrong_and_where(self, read, content, message):
        with pytest.raises(TableError, match=message) as caught:
            read(content)
        assert "points.csv" in str(caught.value)

    def test_ten_megabytes_in_a_cell(self, read):
        with pytest.raises(TableError, match="line 2: a cell is longer"):
            read('id,x\n1,"' + "y" * 10_000_000 + '"\n')

    def test_unknown_endings_are_listed(self, read, tmp_path):
        with pytest.raises(TableError, match=r"\.ods; tables are read from \.csv"):
            read("x", "points.ods")
        with pytest.raises(TableError, match="ends in nothing"):
            read("x", "points")
        with pytest.raises(TableError, match="folder"):
            read_table(tmp_path)

    def test_rows_of_delimiters_alone_are_left_out_and_told(self, read):
        table = read("id,x\n1,2\n,\n,\n3,4\n,\n")
        assert table.columns["id"] == ["1", "3"]
        assert table.notes == ["points.csv: 3 row(s) of empty cells were left out"]

    def test_an_unnamed_last_column_that_is_empty_is_ignored(self, read):
        assert list(read("id,x,\n1,2,\n").columns) == ["id", "x"]


class TestChunks:
    @pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "feather"])
    def test_parts_make_up_the_whole(self, tmp_path, suffix):
        n = 2503
        path = tmp_path / f"points.{suffix}"
        columns = {"id": list(range(n)), "x": [k / 4 for k in range(n)]}
        if suffix == "csv":
            rows = "".join(f"{k},{k / 4}\n" for k in range(n))
            path.write_text("id,x\n" + rows)
        elif suffix == "parquet":
            pq.write_table(pa.table(columns), path, row_group_size=700)
        elif suffix == "feather":
            pyarrow.feather.write_feather(pa.table(columns), path)
        else:
            with pa.OSFile(str(path), "wb") as sink:
                table = pa.table(columns)
                with pa.ipc.new_stream(sink, table.schema) as stream:
                    stream.write_table(table, max_chunksize=900)
        parts = list(read_chunks(path, 1000))
        assert max(map(len, parts)) <= 1000
        ids = [id_of(cell) for part in parts for cell in part.columns["id"]]
        assert ids == [str(k) for k in range(n)]
        x = [number_of(cell) for part in parts for cell in part.columns["x"]]
        assert x == [k / 4 for k in range(n)]
        lines = [line for part in parts for line in part.lines]
        assert lines == list(range(1 + (suffix == "csv"), n + 1 + (suffix == "csv")))


class TestArrow:
    def test_types_become_cells(self, tmp_path):
        path = tmp_path / "points.parquet"
        when = datetime(2024, 5, 31, 12)  # noqa: DTZ001 - Arrow without a zone
        table = pa.table(
            {
                "id": pa.array([1, 2], pa.int64()),
                "big": pa.array([2**60, None], pa.int64()),
                "on": [True, None],
                "day": pa.array([date(2024, 5, 31), None]),
                "when": pa.array([when, None], pa.timestamp("ns")),
                "kind": pa.array(["a", "b"]).dictionary_encode(),
                "price": pa.array([None, 3], pa.decimal128(8, 2)),
            }
        )
        pq.write_table(table, path)
        points = read_points(path)
        assert points.ids == ["1", "2"]
        cells = points.features
        assert cells["big"] == [2**60, None]
        assert id_of(cells["big"][0]) == str(2**60)
        assert days_of(cells["when"][0]) == days_of("2024-05-31") + 0.5
        assert days_of(cells["day"][0]) == days_of("2024-05-31")
        assert cells["kind"] == ["a", "b"]
        assert number_of(cells["price"][1]) == 3.0
        assert is_missing(cells["price"][0])

    @pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather", ".ipc"])
    @pytest.mark.parametrize("content", [b"", b"no table", b"PAR1xxxxPAR1", b"ARROW1"])
    def test_damaged_files(self, tmp_path, suffix, content):
        path = write(tmp_path, "points" + suffix, content)
        with pytest.raises(TableError, match=r"points\."):
            read_table(path)

    def test_nested_columns_are_refused(self, tmp_path):
        path = tmp_path / "points.parquet"
        pq.write_table(pa.table({"id": [1], "v": [["a", "b"]]}), path)
        with pytest.raises(TableError, match="column 'v' holds lists"):
            read_table(path)

    def test_ids_of_parquet_and_csv_match(self, tmp_path):
        points = tmp_path / "points.parquet"
        table = pa.table({"id": [7.0, 8.0, 9.0], "x": [1.0, 2.0, 3.0]})
        pq.write_table(table, points)
        pairs = write(tmp_path, "pairs.csv", "a,b,t\n7,8,1\n8,9,-1\n")
        asked = read_answers(points, pairs)
        assert asked.index.tolist() == [[0, 1], [1, 2]]

    @pytest.mark.parametrize("where", ["points", "pairs"])
    def test_floats_too_large_to_be_exact_are_no_ids(self, tmp_path, where):
        points, pairs = tmp_path / "points.parquet", tmp_path / "pairs.parquet"
        # 2**53 + 1 is no float: it would meet the id 2**53.
        ids, left = [2**53, 2**53 + 2], [2**53 + 1]
        if where == "points":
            ids = list(map(float, ids))
        else:
            left = list(map(float, left))
        pq.write_table(pa.table({"id": ids, "x": [1.0, 2.0]}), points)
        pq.write_table(
            pa.table({"left": left, "right": [2**53 + 2], "answer": ["same"]}), pairs
        )
        with pytest.raises(TableError, match="too large to be exact") as caught:
            read_answers(points, pairs)
        assert f"{where}.parquet, row 1" in str(caught.value)


class TestCells:
    @pytest.mark.parametrize(
        ("text", "style", "number"),
        [
            ("1.5", "point", 1.5),
            (" -2e3 ", "point", -2000.0),
            ("−4", "point", -4.0),
            ("1,5", "point", None),
            ("1_000", "point", None),
            ("0x10", "point", None),
            ("=1+1", "point", None),
            ("1,5", "comma", 1.5),
            ("1 234,5", "comma", 1234.5),
            ("1.234.567,8", "comma", 1234567.8),
            ("1.2.3", "comma", None),
            (",", "comma", None),
            ("0.567", "comma", None),
            ("1.234e5", "comma", None),
            ("1,5e3", "comma", 1500.0),
            (",5", "comma", 0.5),
            ("0,567", "thousands", None),
            (".5", "thousands", 0.5),
            ("1,234.5", "thousands", 1234.5),
            ("12,34", "thousands", None),
            ("12345", "thousands", 12345.0),
        ],
    )
    def test_numbers(self, text, style, number):
        assert number_of(text, style) == number

    @pytest.mark.parametrize("text", ["", "NA", "n/a", "NaN", "null", "?", "-", " "])
    def test_missing(self, text):
        assert is_missing(text)
        assert np.isnan(number_of(text))

    @pytest.mark.parametrize("text", ["inf", "-Infinity", "1e999"])
    def test_infinite_numbers_are_missing(self, text):
        assert np.isnan(number_of(text))

    @pytest.mark.parametrize(
        ("text", "value"),
        [("True", True), ("FALSE", False), ("3.0", 3.0), ("-12", -12.0), ("0.0", 0)],
    )
    def test_a_category_is_the_same_as_text_and_as_a_value(self, text, value):
        assert text_of(text) == text_of(value)
        # Ids stay as they are.
        assert id_of(text) == text

    @pytest.mark.parametrize("text", ["3.10", "3.", "03.0", "1.0.0", "truth", "1e3"])
    def test_other_categories_stay_as_they_are(self, text):
        assert text_of(text) == text

    @pytest.mark.parametrize(
        ("text", "order", "same_as"),
        [
            ("2024/5/31", "year first", "2024-05-31"),
            ("31.05.2024", "day first", "2024-05-31"),
            ("31/05/2024", "day first", "2024-05-31"),
            ("05/31/2024", "month first", "2024-05-31"),
            ("2024-05-31T00:00:00Z", "year first", "2024-05-31"),
            ("2024-05-31 02:00+02:00", "year first", "2024-05-31"),
        ],
    )
    def test_dates(self, text, order, same_as):
        assert days_of(text, order) == days_of(same_as)

    @pytest.mark.parametrize("text", ["2023-02-29", "31.02.2024", "1.2.24", "May 5"])
    def test_no_dates(self, text):
        assert days_of(text, "day first") is None
