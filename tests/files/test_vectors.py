"""Vectors that somebody has already: .npy, .npz, and columns of lists in Parquet."""

import io
import pickle
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from pairlearn.files.tables import (
    TableError,
    array_file,
    read_answers,
    read_points,
)
from pairlearn.files.tables.cell_error import CellError
from pairlearn.files.tables.encoders.vectors import VectorColumn
from pairlearn.files.tables.reading import read_chunks, read_table

X = np.random.RandomState(0).normal(size=(12, 3))


class TestNpy:
    @pytest.mark.parametrize("kind", ["f8", "f4", "f2", ">f8", "i4", "u1", "?"])
    @pytest.mark.parametrize("order", "CF")
    def test_rows_are_points(self, kind, order, tmp_path):
        numbers = X > 0 if kind == "?" else np.abs(X) * 9
        array = np.asarray(numbers, dtype=kind, order=order)
        np.save(tmp_path / "x.npy", array)
        parts = list(read_chunks(tmp_path / "x.npy", 5))
        assert [len(part) for part in parts] == [0, 5, 5, 2]
        points = read_points(tmp_path / "x.npy")
        assert np.array_equal(np.stack(points.frame["vector"].tolist()), array)
        encoded = points.make_encoder().fit_transform(points.frame)
        assert np.array_equal(encoded, array)
        names = points.make_encoder().fit(points.frame).get_feature_names_out()
        assert names.tolist() == ["vector[0]", "vector[1]", "vector[2]"]

    def test_answers_name_rows(self, tmp_path):
        np.save(tmp_path / "x.npy", X)
        (tmp_path / "pairs.csv").write_text("left,right,answer\n0,11,same\n2,3,no\n")
        read = read_answers(tmp_path / "x.npy", tmp_path / "pairs.csv")
        assert read.index.tolist() == [[0, 11], [2, 3]]

    @pytest.mark.parametrize(
        ("array", "message"),
        [
            (
                np.array([{"a": 1}], dtype=object),
                "Python objects, which could run code",
            ),
            (np.zeros(3), r"shape \(3,\) of float64; points are"),
            (np.zeros((2, 2, 2)), "points are an array"),
            (np.zeros((2, 2), complex), "points are an array"),
            (np.array([["a", "b"]]), "points are an array"),
            (np.zeros((0, 3)), "array without rows"),
            (np.zeros((3, 0)), "points are an array"),
        ],
    )
    def test_others_are_refused(self, array, message, tmp_path):
        np.save(tmp_path / "x.npy", array, allow_pickle=True)
        with pytest.raises(TableError, match=message) as caught:
            read_table(tmp_path / "x.npy")
        assert "x.npy" in str(caught.value)

    def test_a_header_that_lies_takes_no_memory(self, tmp_path):
        file = io.BytesIO()
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 10**4)}
        np.lib.format.write_array_header_1_0(file, header)
        (tmp_path / "x.npy").write_bytes(file.getvalue() + b"1234")
        with pytest.raises(TableError, match="does not fit its size"):
            read_table(tmp_path / "x.npy")

    def test_a_pickle_is_refused(self, tmp_path):
        (tmp_path / "x.npy").write_bytes(pickle.dumps(X))
        with pytest.raises(TableError, match="is no array of NumPy"):
            read_table(tmp_path / "x.npy")

    def test_flipped_bits(self, tmp_path):
        file = io.BytesIO()
        np.save(file, X)
        rng, refused = np.random.RandomState(0), 0
        for _ in range(100):
            data = bytearray(file.getvalue())
            data[rng.randint(0, 140)] ^= 1 << rng.randint(8)
            (tmp_path / "x.npy").write_bytes(data[: rng.choice([len(data), 300])])
            try:
                assert len(read_table(tmp_path / "x.npy")) > 0
            except TableError:
                refused += 1
        assert refused > 50


@pytest.mark.parametrize(("write", "ending"), [(np.save, "npy"), (np.savez, "npz")])
def test_arrays_without_the_ids_of_the_pairs_say_what_to_do(write, ending, tmp_path):
    write(tmp_path / f"x.{ending}", X)
    (tmp_path / "pairs.csv").write_text("left,right,answer\na,b,same\n")
    with pytest.raises(TableError, match="beside an array 'id' of one text for each"):
        read_answers(tmp_path / f"x.{ending}", tmp_path / "pairs.csv")


class TestNpz:
    def test_arrays_are_columns_and_ids_are_known(self, tmp_path):
        ids = np.array([f"p{k}" for k in range(12)])
        np.savez(tmp_path / "x.npz", ids=ids, text=X, image=X[:, :2], y=np.arange(12))
        points = read_points(tmp_path / "x.npz")
        assert list(points.ids) == ids.tolist()
        assert [column.name for column in points.columns] == ["text", "image"]
        assert points.make_encoder().fit_transform(points.frame).shape == (12, 5)
        assert "nothing is learned from 'y'" in points.table.notes[0]

    def test_an_array_without_a_name_is_the_vector(self, tmp_path):
        np.savez_compressed(tmp_path / "x.npz", X)
        assert list(read_table(tmp_path / "x.npz").columns) == ["vector"]

    @pytest.mark.parametrize(
        ("arrays", "message"),
        [
            ({"a": X, "b": X[:5]}, "arrays of different lengths"),
            ({"a": X[0]}, "no array of points"),
            ({"a": np.array([None, {}])}, "Python objects"),
            ({"a": X, "id": np.array(["p", "q"])}, "ids are one text for each point"),
        ],
    )
    def test_others_are_refused(self, arrays, message, tmp_path):
        np.savez(tmp_path / "x.npz", **arrays)
        with pytest.raises(TableError, match=message):
            read_table(tmp_path / "x.npz")

    def test_bombs_and_broken_files_are_refused(self, tmp_path, monkeypatch):
        monkeypatch.setattr(array_file, "_MOST_BYTES", 2**20)
        path = tmp_path / "x.npz"
        path.write_bytes(b"PK no zip")
        with pytest.raises(TableError, match=r"cannot be read as \.npz"):
            read_table(path)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.npy", bytes(5 * 2**20))
        with pytest.raises(TableError, match="would unpack to"):
            read_table(path)


class TestParquet:
    def kinds(self):
        small = pa.array(X.tolist(), pa.list_(pa.float32()))
        fixed = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 3)
        large = pa.array(X.tolist(), pa.large_list(pa.float64()))
        return {"small": small, "fixed": fixed, "large": large}

    def test_a_column_of_lists_is_vectors(self, tmp_path):
        ids = [f"p{k}" for k in range(12)]
        table = pa.table({"id": ids, **self.kinds()})
        parquet.write_table(table, tmp_path / "x.parquet", row_group_size=5)
        points = read_points(tmp_path / "x.parquet")
        assert {column.kind for column in points.columns} == {"vector"}
        for name in points.frame:
            assert np.allclose(np.stack(points.frame[name].tolist()), X, atol=1e-6)

    def test_vectors_may_be_missing(self, tmp_path):
        lists = [[1.0, 2.0], None, [3.0, None], [5.0, 9.0]]
        table = pa.table({"id": list("abcd"), "v": lists})
        parquet.write_table(table, tmp_path / "x.parquet")
        points = read_points(tmp_path / "x.parquet")
        assert points.columns[0].how == "vectors of 2 numbers; 1 missing"
        encoded = points.make_encoder().fit_transform(points.frame)
        assert encoded.tolist() == [[1, 2, 0], [3, 5.5, 1], [3, 5.5, 0], [5, 9, 0]]

    def test_vectors_of_several_lengths_are_refused(self, tmp_path):
        parquet.write_table(
            pa.table({"v": [[1.0], [1.0, 2.0]]}), tmp_path / "x.parquet"
        )
        with pytest.raises(TableError, match="row 2: vectors must be of one length"):
            read_table(tmp_path / "x.parquet")

    def test_equal_vectors_teach_nothing(self, tmp_path):
        table = pa.table({"id": list("ab"), "v": [[1.0], [1.0]], "n": [1, 2]})
        parquet.write_table(table, tmp_path / "x.parquet")
        points = read_points(tmp_path / "x.parquet")
        assert points.columns[0].how == "every vector is the same"


def test_cells_that_are_no_vectors_of_that_length_are_refused():
    encoder = VectorColumn().fit(pd.DataFrame({"v": [np.ones(2), [3, 4]]}))
    for cell, message in ((np.ones(3), "a vector of 3 numbers"), ("x", "holds 'x'")):
        with pytest.raises(CellError, match=message):
            encoder.transform(pd.DataFrame({"v": [cell]}))
