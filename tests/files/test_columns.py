"""Columns of ids, points and answers: found, joined and encoded."""

import csv

import numpy as np
import pytest

from pairlearn.cli.predict import predict_table
from pairlearn.files.tables.answered_pairs import read_answers, read_pairs
from pairlearn.files.tables.encoder import (
    CellError,
    ReadNumbers,
    make_encoder,
)
from pairlearn.files.tables.errors import OptionError
from pairlearn.files.tables.points import read_points
from pairlearn.files.tables.reading import (
    TableError,
    frame_of,
    read_chunks,
    read_table,
)
from tests.support.cli_files import POINTS, write

PAIRS = "left,right,answer\np1,p2,same\np2,p3,different\n"


class TestFindingColumns:
    def find(self, tmp_path, points, pairs, **columns):
        return read_answers(
            write(tmp_path, "points.csv", points),
            write(tmp_path, "pairs.csv", pairs),
            **columns,
        )

    @pytest.mark.parametrize("name", ["ID", "Point ID", "item_id", "key", "name"])
    @pytest.mark.parametrize(
        "sides", ["left,right", "Left ID,Right ID", "id1,id2", "a,b", "source,target"]
    )
    @pytest.mark.parametrize("answer", ["answer", "Same", "verdict", "t"])
    def test_by_name(self, tmp_path, name, sides, answer):
        points = POINTS.replace("id", name, 1)
        pairs = PAIRS.replace("left,right,answer", f"{sides},{answer}")
        asked = self.find(tmp_path, points, pairs)
        assert asked.index.tolist() == [[0, 1], [1, 2]]
        assert asked.t.tolist() == [1, -1]
        assert list(asked.points.features) == ["x", "colour"]

    def test_by_content(self, tmp_path):
        pairs = PAIRS.replace("left,right,answer", "eins,zwei,answer")
        assert len(self.find(tmp_path, POINTS, pairs)) == 2
        points = POINTS.replace("id", "kennung", 1)
        assert len(self.find(tmp_path, points, PAIRS)) == 2

    def test_by_option_whatever_the_case(self, tmp_path):
        points = "id,code,x\nu,p1,1\nv,p2,2\nw,p3,3\n"
        assert len(self.find(tmp_path, points, PAIRS, id="CODE")) == 2

    def test_the_column_that_holds_the_ids_counts_and_not_its_name(self, tmp_path):
        points = "id,code,x\nu,p1,1\nv,p2,2\nw,p3,3\n"
        asked = self.find(tmp_path, points, PAIRS)
        assert asked.points.id_column == "code"
        assert asked.index.tolist() == [[0, 1], [1, 2]]
        assert "the ids are read from column 'code'" in asked.notes[0]

    def test_the_other_column_is_named_when_ids_do_not_match(self, tmp_path):
        # One id is in the column called id, so that it may be the right one.
        points = "id,code,x\np1,p1,1\nv,p2,2\nw,p3,3\n"
        with pytest.raises(
            TableError, match="column 'code' holds them: use --id 'code'"
        ):
            self.find(tmp_path, points, PAIRS)

    @pytest.mark.parametrize(
        ("points", "pairs", "hint"),
        [
            ("id,x\n1,1\n2,5\n", "a,b,t\n1.0,2.0,1\n", "without “.0” at the end"),
            ("id,x\n1,1\n2,5\n", "a,b,t\n01,02,1\n", "without leading zeros"),
            ("id,x\nA,1\nB,5\n", "a,b,t\na,b,1\n", "in upper or lower case"),
        ],
    )
    def test_why_ids_do_not_match(self, tmp_path, points, pairs, hint):
        with pytest.raises(TableError, match=hint):
            self.find(tmp_path, points, pairs)

    @pytest.mark.parametrize(
        ("points", "pairs", "message"),
        [
            (
                "point_id,item_id,x\n1,1,2\n2,2,3\n",
                "a,b,t\n1,2,1\n",
                "'point_id' or 'item_id'; say which with --id",
            ),
            (POINTS, "a,b,id1,id2,t\np1,p2,p1,p2,1\n", "--left and --right"),
            (POINTS, "a,b,same,label\np1,p2,1,x\n", "'same' or 'label'; say which"),
            (POINTS, "a,b,x\np1,p2,1\n", "--answer 'x'"),
            (POINTS, "a,b\np1,p2\n", "no column of answers"),
            (POINTS, "p1,p2,same\np2,p3,same\n", "seems to be a pair, not a header"),
            (POINTS, "a b t\np1 p2 1\n", "has one column"),
            (POINTS, "a,b,t\np1,,1\n", "line 2: no id in column 'b'"),
            ("id,x\n,1\n2,5\n", "a,b,t\n1,2,1\n", "line 2: no id in column 'id'"),
            (
                "id,x\n1,1\n2,5\n1,7\n",
                "a,b,t\n1,2,1\n",
                "line 4: the id '1' is already used in line 2",
            ),
            ("id\n1\n2\n", "a,b,t\n1,2,1\n", "no column besides the ids"),
            (POINTS, "a,b,t\np1,p9,1\np1,p2,1\n", "line 2: 1 pair.s. name .*'p9'"),
        ],
    )
    def test_errors_name_the_way_out(self, tmp_path, points, pairs, message):
        with pytest.raises(TableError, match=message):
            self.find(tmp_path, points, pairs)

    @pytest.mark.parametrize(
        "columns", [{"id": "nix"}, {"left": "left"}, {"left": "left", "right": "left"}]
    )
    def test_wrong_options(self, tmp_path, columns):
        with pytest.raises(OptionError):
            self.find(tmp_path, POINTS, PAIRS, **columns)

    def test_unknown_ids_can_be_skipped(self, tmp_path):
        pairs = PAIRS + "p1,p9,same\n"
        asked = self.find(tmp_path, POINTS, pairs, skip_unknown=True)
        assert len(asked) == 2
        assert asked.n_unknown == 1
        assert any("'p9'" in note for note in asked.notes)

    def test_an_unnamed_first_column_is_the_index_that_pandas_writes(self, tmp_path):
        points = ",x\n10,1\n11,2\n12,4\n"
        asked = self.find(tmp_path, points, "a,b,t\n10,12,1\n")
        assert asked.index.tolist() == [[0, 2]]

    def test_leading_zeros_are_part_of_an_id(self, tmp_path):
        points = "id,x\n7,1\n007,2\n8,3\n"
        asked = self.find(tmp_path, points, "a,b,t\n007,8,1\n")
        assert asked.index.tolist() == [[1, 2]]

    def test_a_numbering_that_differs_from_the_rows_is_told(self, tmp_path):
        pairs = "left,right,answer\n1,2,same\n1,3,different\n"
        asked = self.find(tmp_path, "number,x\n3,30\n1,10\n2,20\n", pairs)
        assert asked.index.tolist() == [[1, 2], [1, 0]]
        assert any(
            "read from column 'number'; if the pairs hold row numbers, use --first-row"
            in note
            for note in asked.notes
        )
        for points, name in (
            ("number,x\n1,30\n2,10\n3,20\n", None),  # the rows, either way
            ("id,x\n3,30\n1,10\n2,20\n", None),  # named so
            ("number,x\n3,30\n1,10\n2,20\n", "number"),  # said so
        ):
            assert self.find(tmp_path, points, pairs, id=name).notes == []


class TestRowNumbers:
    points = "x,y\n" + "".join(f"{k + 100}.5,{k * k}.5\n" for k in range(5))

    @pytest.mark.parametrize(
        ("pairs", "first", "index"),
        [
            ("a,b,t\n0,1,1\n", None, [[0, 1]]),
            ("a,b,t\n1,5,1\n", None, [[0, 4]]),
            ("a,b,t\n2,3,1\n", 0, [[2, 3]]),
            ("a,b,t\n2,3,1\n", 1, [[1, 2]]),
        ],
    )
    def test_where_they_begin_shows_or_is_said(self, tmp_path, pairs, first, index):
        asked = read_answers(
            write(tmp_path, "points.csv", self.points),
            write(tmp_path, "pairs.csv", pairs),
            first_row=first,
        )
        assert asked.index.tolist() == index
        assert any("no id column; its rows are numbered" in n for n in asked.notes)

    @pytest.mark.parametrize(
        ("pairs", "message"),
        [
            ("a,b,t\n2,3,1\n", "--first-row 0 or --first-row 1"),
            ("a,b,t\n0,5,1\n", "cannot be the numbers of its 5 rows"),
            ("a,b,t\n1,6,1\n", "cannot be the numbers of its 5 rows"),
            ("a,b,t\np1,p2,1\n", "say which one holds the ids with --id"),
        ],
    )
    def test_what_cannot_be_told_is_an_error(self, tmp_path, pairs, message):
        with pytest.raises(TableError, match=message):
            read_answers(
                write(tmp_path, "points.csv", self.points),
                write(tmp_path, "pairs.csv", pairs),
            )

    def test_a_feature_that_holds_the_numbers_by_chance(self, tmp_path):
        points = write(tmp_path, "points.csv", "x,y\n3,1\n1,1\n2,5\n4,7\n")
        pairs = write(tmp_path, "pairs.csv", "a,b,t\n1,2,1\n")
        with pytest.raises(TableError, match="--id 'x', or, if they are row numbers"):
            read_answers(points, pairs)


class TestBlankRows:
    pairs = "left,right,answer\n1,4,same\n2,5,different\n"

    def ask(self, tmp_path, points):
        return read_answers(
            write(tmp_path, "points.csv", points),
            write(tmp_path, "pairs.csv", self.pairs),
            first_row=1,
        )

    def test_in_one_column_they_are_missing_cells(self, tmp_path):
        asked = self.ask(tmp_path, 'x\n1\n2\n\n4\n5\n""\n7\n\n\n')
        cells = asked.points.features["x"]
        assert cells == ["1", "2", "", "4", "5", "", "7"]
        assert asked.points.table.lines.tolist() == [2, 3, 4, 5, 6, 7, 8]
        assert [[cells[i] for i in pair] for pair in asked.index.tolist()] == [
            ["1", "4"],
            ["2", "5"],
        ]
        assert "points.csv: 2 empty line(s) count as missing cells" in asked.notes

    @pytest.mark.parametrize("blank", [",", "", " , ", "  "])
    def test_between_numbered_rows_they_are_refused(self, tmp_path, blank):
        points = f"x,y\n1,1\n2,2\n{blank}\n4,4\n5,5\n6,6\n"
        with pytest.raises(TableError, match=r"points.csv, line 4: a blank row"):
            self.ask(tmp_path, points)
        # The way out that the message names.
        asked = self.ask(tmp_path, points.replace(f"\n{blank}\n4", "\nNA,NA\n4"))
        x = asked.points.features["x"]
        assert [[x[i] for i in pair] for pair in asked.index.tolist()] == [
            ["1", "4"],
            ["2", "5"],
        ]

    @pytest.mark.parametrize("blank", [",", "", " , ", "  "])
    def test_at_the_end_or_beside_ids_they_are_left_out(self, tmp_path, blank):
        points = f"x,y\n1,1\n2,2\n3,3\n4,4\n5,5\n{blank}\n{blank}\n"
        assert len(self.ask(tmp_path, points).points) == 5
        table = read_table(write(tmp_path, "points.csv", f"id,x\n1,2\n{blank}\n3,4\n"))
        assert table.columns["id"] == ["1", "3"]

    @pytest.mark.parametrize("n_rows", [1, 2, 3, 10])
    def test_a_part_tells_of_the_blank_row_before_it(self, tmp_path, n_rows):
        path = write(tmp_path, "points.csv", "x,y\n1,1\n2,2\n,\n4,4\n5,5\n")
        parts = list(read_chunks(path, n_rows))
        assert [part.gap for part in parts if part.gap] == [4]
        shifted = next(part for part in parts if part.gap)
        assert "4" in shifted.columns["x"]

    def test_prediction_does_not_number_over_them(self, tmp_path):
        model = _NoModel()
        path = write(tmp_path, "points.csv", "x,y\n1,1\n,\n4,4\n")
        out = tmp_path / "out.csv"
        with pytest.raises(TableError, match="line 3: a blank row between others"):
            predict_table(model, {}, path, out)
        assert not out.exists()
        path = write(tmp_path, "points.csv", "x,y\n1,1\n4,4\n,\n")
        predict_table(model, {}, path, out)
        ids = [row.partition(",")[0] for row in out.read_text().splitlines()]
        assert ids == ["id", "1", "2"]


class _NoModel:
    """Predicts the same of all points."""

    classes_ = np.array(["A", "B"])
    feature_names_in_ = np.array(["x", "y"])

    def predict_proba(self, frame):
        return np.full((len(frame), 2), 0.5)


class TestReadPairs:
    def test_without_answers(self, tmp_path):
        path = write(tmp_path, "pairs.csv", "left,right\np1,p2\n")
        asked = read_pairs(path, need_answers=False)
        assert (asked.left, asked.right, asked.words) == (["p1"], ["p2"], [])
        assert asked.names == ("left", "right", None)


class TestJoining:
    def join(self, tmp_path, rows, **columns):
        points = "id,x\n" + "".join(f"p{k},{k * k}\n" for k in range(6))
        return read_answers(
            write(tmp_path, "points.csv", points),
            write(tmp_path, "pairs.csv", "left,right,answer\n" + rows),
            **columns,
        )

    def test_several_answers_about_a_pair_become_their_mean(self, tmp_path):
        asked = self.join(
            tmp_path,
            "p1,p2,same\np3,p4,different\np2,p1,same\np1,p2,different\np4,p3,no\n",
        )
        assert asked.index.tolist() == [[1, 2], [3, 4]]
        np.testing.assert_allclose(asked.t, [1 / 3, -1])
        assert asked.lines == [[2, 4, 5], [3, 6]]
        assert (asked.n_repeated, asked.n_disagreeing, asked.n_tied) == (2, 1, 0)
        assert any("disagree, the first in lines 2, 4, 5" in n for n in asked.notes)

    def test_divided_answers_and_points_with_themselves_are_left_out(self, tmp_path):
        asked = self.join(tmp_path, "p1,p2,yes\np2,p1,no\np3,p3,yes\np4,p5,no\n")
        assert asked.index.tolist() == [[4, 5]]
        assert (asked.n_tied, asked.n_self) == (1, 1)
        assert any("line 4" in n for n in asked.notes if "itself" in n)

    def test_nothing_left_is_an_error(self, tmp_path):
        with pytest.raises(TableError, match="holds no usable answer"):
            self.join(tmp_path, "p1,p2,?\np3,p3,same\n")
        with pytest.raises(TableError, match="evenly divided"):
            self.join(tmp_path, "p1,p2,same\np2,p1,different\n")

    def test_soft_answers(self, tmp_path):
        asked = self.join(tmp_path, "p1,p2,0.25\np3,p4,-1\np4,p5,0\n", soft=True)
        assert asked.t.tolist() == [0.25, -1]


class TestEncoding:
    def look(self, tmp_path, text):
        points = read_points(write(tmp_path, "points.csv", text))
        return points, {column.name: column for column in points.columns}

    def test_what_columns_are(self, tmp_path):
        rows = [
            f"p{k};{k / 2};{k},5;1.234,{k % 10};{'red' if k % 3 else 'blue'};"
            f"{k % 28 + 1:02}.05.2024;free text {k};7;;{'yes' if k % 2 else ''}"
            for k in range(40)
        ]
        names = "id;x;comma;group;colour;day;text;same;empty;maybe"
        points, found = self.look(tmp_path, names + "\n" + "\n".join(rows) + "\n")
        kinds = {name: (c.kind, c.form) for name, c in found.items()}
        assert kinds == {
            "x": ("numbers", "point"),
            "comma": ("numbers", "comma"),
            "group": ("numbers", "comma"),
            "colour": ("categories", ""),
            "day": ("dates", "day first"),
            "text": ("left out", ""),
            "same": ("left out", ""),
            "empty": ("left out", ""),
            "maybe": ("categories", ""),
        }
        assert "names or codes" in found["text"].note
        frame = points.frame
        assert list(frame.columns) == ["x", "comma", "group", "colour", "day", "maybe"]
        np.testing.assert_allclose(frame["comma"], np.arange(40) + 0.5)
        np.testing.assert_allclose(frame["group"], 1234 + np.arange(40) % 10 / 10)
        assert frame["day"].iloc[1] - frame["day"].iloc[0] == 1

    def test_the_model_reads_text_as_the_frame_says(self, tmp_path):
        rows = [
            f"p{k};{k},5;{'red' if k % 3 else 'blue'};2024-01-{k % 28 + 1:02}"
            for k in range(40)
        ]
        rows[5] = "p5;;;"
        text = "id;x;colour;day\n" + "\n".join(rows) + "\n"
        points, found = self.look(tmp_path, text)
        columns = list(found.values())
        frame = points.frame
        encoder = make_encoder(columns).fit(frame)
        raw = frame_of(points.features, len(points))
        assert np.array_equal(encoder.transform(frame), encoder.transform(raw))
        # Numbers, whether missing, dates, whether missing, three categories.
        assert encoder.transform(frame).shape == (40, 7)
        assert np.isfinite(encoder.transform(frame)).all()

    def test_a_comma_that_may_be_either_is_told(self, tmp_path):
        _, found = self.look(tmp_path, 'id,x\n1,"1,234"\n2,"2,500"\n3,"12"\n')
        assert found["x"].form == "thousands"
        assert "read as thousands" in found["x"].note
        _, found = self.look(tmp_path, "id;x\n1;1,234\n2;2,500\n3;12\n")
        assert (found["x"].form, found["x"].note) == ("comma", "")

    @pytest.mark.parametrize(
        ("text", "name", "form", "values"),
        [
            # The column itself: no group begins with 0.
            ('id,x\na,"0,123"\nb,12\n', "x.csv", "comma", [0.123, 12]),
            # Another column.
            ("id\tx\ty\na\t1,234\t0,5\nb\t12\t2,5\n", "x.tsv", "comma", [1.234, 12]),
            ("id;x;y\na;1,234;0.5\nb;12;2.5\n", "x.csv", "thousands", [1234, 12]),
            ("id;x;y\na;1.234;0.5\nb;12;2.5\n", "x.csv", "point", [1.234, 12]),
            ("id;x;y\na;1.234;0,5\nb;12.000;2,5\n", "x.csv", "comma", [1234, 12000]),
            # What divides the cells.
            ("id,x\na,1.234\nb,12.000\n", "x.csv", "point", [1.234, 12]),
            ("id;x\na;1,234\nb;12,000\n", "x.csv", "comma", [1.234, 12]),
        ],
    )
    def test_what_settles_the_decimal_sign(self, tmp_path, text, name, form, values):
        points = read_points(write(tmp_path, name, text))
        column, *_ = points.columns
        assert column.form == form
        assert points.frame["x"].tolist() == values
        # Thousands are told, whatever settles them.
        assert ("read as thousands, 1234" in column.note) == (1234 in values)
        assert bool(column.note) == (1234 in values)

    @pytest.mark.parametrize("divided_by", [";", "\t", "|"])
    def test_a_point_that_may_be_either_is_told(self, tmp_path, divided_by):
        text = "id,x\na,1.234\nb,987\nc,12.000\n".replace(",", divided_by)
        _, found = self.look(tmp_path, text)
        assert found["x"].form == "point"
        assert "such as '1.234' are read as 1.234; if 1234" in found["x"].note

    def encoder(self, tmp_path, cells):
        rows = "".join(f"p{k};{cell}\n" for k, cell in enumerate(cells))
        points, found = self.look(tmp_path, "id;x\n" + rows)
        columns = list(found.values())
        return make_encoder(columns).fit(points.frame)

    @pytest.mark.parametrize(
        ("trained", "given", "message"),
        [
            (["0,5", "1,25"], ["1.5"], "such as 1234,5 .* Write numbers in that way"),
            (["0,5", "1,25"], ["0.567"], "'0.567', but held numbers such as 1234,5"),
            (["0,5", "1,25"], ["7", "1.234"], "Is it 1.234 or 1234. Write 1,234 or 12"),
            (["0.5", "1.25"], ["0,567"], "such as 1234.5 .* Write numbers in that way"),
            (["1,234.5", "2.5"], ["0,567"], "held numbers such as 1,234.5"),
            (["1,234.5", "2.5"], ["1,234", "2,345"], "Write 1.234 or 1234; or save"),
            # One half of those at training had a decimal sign, and now none.
            (["1.234", "2.345", "1,5", "2,5"], ["1.234"] * 20, "Is it 1.234 or"),
        ],
    )
    def test_another_way_of_writing_numbers_is_refused(
        self, tmp_path, trained, given, message
    ):
        encoder = self.encoder(tmp_path, trained)
        with pytest.raises(CellError, match=message) as caught:
            encoder.transform(frame_of({"x": given}, len(given)))
        assert caught.value.column == "x"
        assert repr(given[caught.value.row]) in str(caught.value)

    @pytest.mark.parametrize(
        ("trained", "given", "numbers"),
        [
            (["0,5", "1.234,25"], ["1.234", "2,5", "."], [1234, 2.5]),
            (["0,5", "1,25"], ["7", "12"], [7, 12]),
            (["0,5", "1,25"], [7.5, 1.234], [7.5, 1.234]),
            (["1.234.567", "2.345"], ["1.234", "2.345"], [1234, 2345]),
            (["1.234", "2.345", "1,5", "2,5"], ["1.234", "3.456"], [1234, 3456]),
        ],
    )
    def test_the_same_way_of_writing_numbers_is_read(
        self, tmp_path, trained, given, numbers
    ):
        encoder = self.encoder(tmp_path, trained)
        read = encoder.transform(frame_of({"x": given}, len(given)))
        assert read[: len(numbers), 0].tolist() == numbers

    def test_whole_numbers_are_read_as_other_columns_are(self, tmp_path):
        points, found = self.look(tmp_path, "id;x;y\na;7;0,5\nb;12;2,5\n")
        columns = list(found.values())
        assert [column.how for column in columns] == [
            "numbers",
            "numbers with decimal commas",
        ]
        encoder = make_encoder(columns).fit(points.frame)
        new = frame_of({"x": ["2,5"], "y": ["1"]}, 1)
        assert encoder.transform(new).tolist() == [[2.5, 1]]
        with pytest.raises(CellError, match=r"column 'x' holds '1\.234'"):
            encoder.transform(frame_of({"x": ["1.234"], "y": ["1"]}, 1))

    def test_a_word_among_numbers_is_told(self, tmp_path):
        rows = "".join(f"{k},{k},{k}\n" for k in range(30))
        _, found = self.look(tmp_path, f"id,x,age\n{rows}99,9,n.d.\n")
        assert found["age"].kind == "left out"
        assert "first is 'n.d.' (points.csv, line 32)" in found["age"].note

    def test_formulas_are_text(self, tmp_path):
        rows = "".join(f"{k},{k}\n" for k in range(30))
        with pytest.raises(TableError, match=r"30 of its cells .* '=HYPERLINK\(1\)'"):
            self.look(tmp_path, f'id,x\n{rows}99,"=HYPERLINK(1)"\n')

    def test_dates_that_may_be_either_are_left_out_and_told(self, tmp_path):
        text = "id,day,x\n1,01/02/2024,1\n2,03/04/2024,2\n3,03/05/2024,9\n"
        _, found = self.look(tmp_path, text)
        assert found["day"].kind == "left out"
        assert "the day or the month may come first" in found["day"].note
        _, found = self.look(tmp_path, text.replace("03/04", "03/14"))
        assert found["day"].form == "month first"

    def test_infinite_numbers_are_told_and_huge_ones_refused(self, tmp_path):
        _, found = self.look(tmp_path, "id,x\n1,inf\n2,2\n3,3\n")
        assert "1 number(s) that are infinite" in found["x"].note
        with pytest.raises(TableError, match="line 3: column 'x' holds '1e200'"):
            self.look(tmp_path, "id,x\n1,1\n2,1e200\n3,3\n")

    def test_nothing_to_learn_from(self, tmp_path):
        with pytest.raises(TableError, match="no column to learn from"):
            self.look(tmp_path, "id,x\n1,5\n2,5\n3,5\n")

    def test_a_cell_of_another_kind_is_refused(self):
        frame = frame_of({"age": ["1", "2", "old"]}, 3)
        with pytest.raises(CellError, match="column 'age' holds 'old', but held num"):
            ReadNumbers().fit_transform(frame)

    def test_the_field_limit_of_csv_is_left_alone(self, tmp_path):
        before = csv.field_size_limit()
        self.look(tmp_path, "id,x\n1,1\n2,2\n")
        assert csv.field_size_limit() == before


def test_one_number_with_gaps_needs_no_correction(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(
        "id,a,b\n" + "".join(f"p{k},{'5' * (k % 3 > 0)},{k}\n" for k in range(30))
    )
    assert [column.note for column in read_points(path).columns] == ["", ""]
