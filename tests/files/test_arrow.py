"""Arrow, Feather and Parquet tables that are damaged, or hold what Python cannot."""

import datetime as dt
import hashlib
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from pairlearn.cli.app import app
from pairlearn.files.tables.answered_pairs import read_answers
from pairlearn.files.tables.cells import id_of
from pairlearn.files.tables.reading import TableError, read_table

TABLE = pa.table({"id": ["p1", "p2", "p3", "p4"], "x": [1.0, 2.0, 3.0, 4.0]})
INT, LONG = pa.int32(), pa.int64()


def written(path, table, new=pa.ipc.new_file, rows=2):
    with pa.OSFile(str(path), "wb") as target, new(target, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    return path


def texts_from(offsets):
    """Texts whose places in memory are as given."""
    return pa.StringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"ab")
    )


FORGED = {
    "text outside": texts_from([0, 2**30, 2]),
    "text backwards": texts_from([0, 2, 1, 2]),
    "no UTF-8": pa.array([b"\xff", b"a"]).view(pa.string()),
    "no such category": pa.DictionaryArray.from_arrays(
        pa.array([0, 10**6], INT), pa.array(["a"]), safe=False
    ),
}


@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
@pytest.mark.parametrize("column", FORGED.values(), ids=FORGED)
def test_forged_batches_are_refused(tmp_path, column, new):
    ids = [f"p{k}" for k in range(len(column))]
    batch = pa.record_batch([pa.array(ids), column], ["id", "kind"])
    path = tmp_path / "points.arrow"
    with pa.OSFile(str(path), "wb") as target, new(target, batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(TableError, match=r"points\.arrow cannot be read.*damaged"):
        read_table(path)


def test_texts_of_parquet_that_are_none(tmp_path):
    path = tmp_path / "points.parquet"
    pq.write_table(pa.table({"id": ["p1", "p2"], "kind": FORGED["no UTF-8"]}), path)
    with pytest.raises(TableError, match=r"points\.parquet cannot be read"):
        read_table(path)


def test_a_stream_that_is_cut_between_batches(tmp_path):
    path = written(tmp_path / "points.arrow", TABLE, pa.ipc.new_stream)
    assert read_table(path).columns == TABLE.to_pydict()
    data = path.read_bytes()
    shorter = written(tmp_path / "one.arrow", TABLE[:2], pa.ipc.new_stream)
    # Up to the end of the first batch, without the mark of the end.
    path.write_bytes(data[: len(shorter.read_bytes()) - 8])
    with pytest.raises(TableError, match="its batches end before"):
        read_table(path)
    # A mark of the end in the middle hides what follows.
    path.write_bytes(shorter.read_bytes() + data[len(shorter.read_bytes()) - 8 :])
    with pytest.raises(TableError, match="its batches end before"):
        read_table(path)


def with_footer_of(path, other):
    """The messages of one file and the footer of another."""
    begin = {}
    for name in (path, other):
        data = name.read_bytes()
        length = int.from_bytes(data[-10:-6], "little")
        begin[name] = len(data) - 10 - length
    return path.read_bytes()[: begin[path]] + other.read_bytes()[begin[other] :]


def test_header_and_footer_must_agree(tmp_path):
    path = written(tmp_path / "points.arrow", TABLE)
    names = TABLE.rename_columns(["id", "y"])
    other = written(tmp_path / "other.arrow", names)
    (tmp_path / "mixed.arrow").write_bytes(with_footer_of(path, other))
    with pytest.raises(TableError, match="disagree about the columns or their types"):
        read_table(tmp_path / "mixed.arrow")
    fewer = written(tmp_path / "fewer.arrow", TABLE[:2])
    (tmp_path / "mixed.arrow").write_bytes(with_footer_of(path, fewer))
    with pytest.raises(TableError, match="footer does not list the batches"):
        read_table(tmp_path / "mixed.arrow")


def test_files_of_polars_are_read(tmp_path):
    frame = pl.from_arrow(TABLE)
    frame.write_ipc(tmp_path / "file.arrow", compression="zstd")
    frame.write_ipc_stream(tmp_path / "stream.arrow")
    frame.write_parquet(tmp_path / "points.parquet")
    for path in tmp_path.iterdir():
        assert read_table(path).columns == TABLE.to_pydict()


def test_pages_with_a_wrong_checksum_are_refused(tmp_path):
    path = tmp_path / "points.parquet"
    options = {"compression": "none", "use_dictionary": False}
    pq.write_table(TABLE, path, write_page_checksum=True, **options)
    data, number = path.read_bytes(), np.float64(3.0).tobytes()
    assert data.count(number) >= 1
    path.write_bytes(data.replace(number, np.float64(7.0).tobytes(), 1))
    with pytest.raises(TableError, match="CRC checksum verification failed"):
        read_table(path)


def test_predictions_have_checksums(tmp_path):
    from pairlearn.cli.predictions_file import opened

    path = tmp_path / "predictions.parquet"
    with opened(path, "id", ["a", "b"]) as add:
        add(["p1"], np.array([0]), np.array([[0.25, 0.75]]))
    data = path.read_bytes()
    place = data.index(b"p1") + 1
    path.write_bytes(data[:place] + b"9" + data[place + 1 :])
    with pytest.raises(TableError, match="CRC checksum verification failed"):
        read_table(path)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, 10**7], INT).view(pa.date32()),
        pa.array([0, -(10**17)], LONG).view(pa.timestamp("us")),
        pa.array([0, 10**15], LONG).view(pa.timestamp("ms", tz="UTC")),
    ],
    ids=lambda column: str(column.type),
)
def test_dates_that_python_does_not_have(tmp_path, column, suffix):
    table = pa.table({"id": ["p1", "p2"], "day": column})
    path = tmp_path / f"points.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, path)
    else:
        written(path, table, rows=1)
    with pytest.raises(TableError, match=r"column 'day', row 2: a date or time out"):
        read_table(path)
    result = CliRunner().invoke(app, ["check", str(path), str(path)])
    assert result.exit_code == 1
    assert "outside of the years 1 to 9999" in result.stderr.replace("\n", " ")


def test_unknown_time_zones(tmp_path):
    times = pa.array([0], LONG).view(pa.timestamp("ms", tz="Middle/Earth"))
    path = tmp_path / "points.parquet"
    pq.write_table(pa.table({"id": ["p1"], "when": times}), path)
    with pytest.raises(
        TableError, match=r"'when': its times are in the time zone 'Middle"
    ):
        read_table(path)


@pytest.mark.parametrize("digits", [28, 29, 38, 76])
def test_long_decimals(tmp_path, digits):
    """Of any length they are ids, and numbers as near as floats come."""
    first, second = Decimal("1" * digits), Decimal("2" * digits)
    points, pairs = tmp_path / "points.parquet", tmp_path / "pairs.parquet"
    pq.write_table(pa.table({"id": [first, second], "x": [first, second]}), points)
    pq.write_table(pa.table({"a": [first], "b": [second], "t": ["same"]}), pairs)
    assert id_of(first) == "1" * digits
    assert id_of(Decimal("1" * digits + ".5")) == "1" * digits + ".5"
    asked = read_answers(points, pairs)
    assert asked.index.tolist() == [[0, 1]]
    result = CliRunner().invoke(app, ["check", str(points), str(pairs)])
    assert result.exit_code == 0, result.output


def test_columns_without_a_byte(tmp_path):
    """They could have any number of rows."""
    path = written(tmp_path / "points.arrow", pa.table({"id": pa.nulls(3)}))
    with pytest.raises(TableError, match="every column is empty"):
        read_table(path)
    ends = pa.RunEndEncodedArray.from_arrays(pa.array([2**30], INT), pa.array(["a"]))
    path = written(tmp_path / "points.arrow", pa.table({"id": ends}), rows=2**30)
    with pytest.raises(TableError, match="'id' is run-end encoded"):
        read_table(path)


class TestChecksumBeside:
    def sum_of(self, path):
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def test_a_changed_table_is_refused(self, tmp_path):
        path, beside = tmp_path / "points.csv", tmp_path / "points.csv.sha256"
        path.write_text("id,x\np1,3\n")
        beside.write_text(f"{self.sum_of(path)}  points.csv\n")
        assert len(read_table(path)) == 1
        path.write_text("id,x\np1,7\n")
        with pytest.raises(
            TableError, match=r"not match the checksum in points\.csv\.sha256"
        ):
            read_table(path)

    def test_ways_to_write_it(self, tmp_path):
        path, beside = tmp_path / "points.csv", tmp_path / "points.csv.sha256"
        path.write_text("id,x\np1,3\n")
        right, wrong = self.sum_of(path), "0" * 64
        for text in (
            right,
            right.upper(),
            f"{right} *points.csv",
            f"{right}  data/points.csv\r\n",
            f"{wrong}  other.csv\n{right}  points.csv\n",
        ):
            beside.write_text(text)
            assert len(read_table(path)) == 1
        beside.write_text(f"{right}  other.csv\n{wrong}  points.csv\n")
        with pytest.raises(TableError, match="damaged or was changed"):
            read_table(path)
        for text in ("", "no sum", f"{right}  other.csv", right[:-1]):
            beside.write_text(text)
            with pytest.raises(TableError, match="holds no SHA-256 checksum of"):
                read_table(path)


def test_times_of_day_and_durations(tmp_path):
    table = pa.table(
        {
            "id": ["p1"],
            "at": pa.array([dt.time(12, 30)], pa.time64("us")),
            "took": pa.array([dt.timedelta(hours=1)], pa.duration("s")),
            "raw": pa.array([b"a\xff"], pa.binary(2)),
            "view": pa.array([b"b"], pa.binary_view()),
        }
    )
    path = written(tmp_path / "points.arrow", table)
    assert read_table(path).columns == {
        "id": ["p1"],
        "at": [dt.time(12, 30)],
        "took": [dt.timedelta(hours=1)],
        "raw": ["a�"],
        "view": ["b"],
    }
