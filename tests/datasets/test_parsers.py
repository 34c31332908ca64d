"""Reading data files of each kind; those that are damaged or evil are refused."""

import io
import os
import pickle
import struct
import subprocess

import numpy as np
import pytest
from scipy import sparse

from pairlearn.datasets import DataFileError, load_pubmed
from pairlearn.datasets.parsers import (
    read_arff,
    read_bytes,
    read_csv,
    read_idx,
    read_libsvm,
    read_npz,
    read_pickle,
)
from tests.support.data_files import COMPRESS, CSV

pytestmark = pytest.mark.usefixtures("no_folders")


@pytest.fixture(params=COMPRESS, ids=lambda suffix: suffix or "plain")
def write(request, tmp_path):
    """Write a file, compressed in one of the ways, and return its path."""

    def write_file(content, name="file"):
        path = tmp_path / (name + request.param)
        path.write_bytes(COMPRESS[request.param](content))
        return path

    return write_file


class TestParsers:
    def test_libsvm(self, write):
        X, y = read_libsvm(write(b"+1 1:0.5 3:0\n-1\n-1 2:1 4:-2.5 \n"), 5)
        expected = [[0.5, 0, 0, 0, 0], [0] * 5, [0, 1, 0, -2.5, 0]]
        np.testing.assert_array_equal(X.toarray(), expected)
        np.testing.assert_array_equal(y, [1, -1, -1])
        assert X.nnz == 3

    def test_csv(self, write):
        X, y = read_csv(write(CSV), 2)
        np.testing.assert_array_equal(X, [[0.5, 1], [-2, 30]])
        assert y.tolist() == ["a", "b"]

    def test_csv_with_the_header_of_keel(self, write):
        text = b"@relation banana\r\n@inputs A, B\r\n@data\r\n1, 2, -1.0\r\n3, 4, 1\r\n"
        X, y = read_csv(write(text), 2)
        np.testing.assert_array_equal(X, [[1, 2], [3, 4]])
        np.testing.assert_array_equal(y, [-1, 1])

    def test_arff(self, write):
        text = (
            b"% a comment\r\n@RELATION x\r\n\r\n@attribute one {-1,1}\r\n"
            b"@attribute  'two'  numeric\r\n@attribute Result {-1,1}\r\n@DATA\r\n"
            b"-1,2.5,1\r\n1,0,-1"
        )
        X, y, names = read_arff(write(text))
        np.testing.assert_array_equal(X, [[-1, 2.5], [1, 0]])
        np.testing.assert_array_equal(y, [1, -1])
        assert names == ["one", "two"]

    def test_idx(self, write):
        images = np.arange(12, dtype=np.uint8).reshape(2, 3, 2)
        np.testing.assert_array_equal(read_idx(write(idx(images)), 3), images)

    def test_npz(self, write):
        stream = io.BytesIO()
        np.savez(stream, a=np.arange(3), b=np.eye(2))
        arrays = read_npz(write(stream.getvalue()), ("a", "b"))
        np.testing.assert_array_equal(arrays["b"], np.eye(2))

    def test_pickle(self, write):
        matrix = sparse.csr_matrix([[0, 1.5], [2, 0]])
        loaded = read_pickle(write(pickle.dumps(matrix, protocol=3)))
        np.testing.assert_array_equal(loaded.tocsr().toarray(), matrix.toarray())

    def test_long_files(self, write):
        content = np.random.default_rng(0).bytes(5000) + b"0.25,-1.5\n" * 3000
        assert read_bytes(write(content)) == content

    @pytest.mark.parametrize(
        ("read", "content"),
        [
            (lambda path: read_libsvm(path, 3), b"+1 1:0.5 7:2\n"),
            (lambda path: read_libsvm(path, 3), b"\x00\x01garbage"),
            (lambda path: read_csv(path, 2), b"1,2,3\n4,5\n"),
            (lambda path: read_csv(path, 2), b"1,two,3\n"),
            (lambda path: read_csv(path, 2), b"\xff\xfe\x00"),
            (lambda path: read_csv(path, 2), b""),
            (read_arff, b"<html>404</html>"),
            (read_arff, b"@attribute one\n@data\n1\n"),
            (read_arff, b"@attribute one real\n@attribute c real\n@data\n1\n"),
            (lambda path: read_idx(path, 3), b""),
            (lambda path: read_idx(path, 3), b"<html>404</html>"),
            (lambda path: read_idx(path, 1), b"\x00\x00\x08\x01\x00\x00\x00\x05ab"),
            (lambda path: read_idx(path, 1), b"\x00\x00\x08\x01\x00\x00"),
            (lambda path: read_npz(path, ("a",)), b"PK\x03\x04broken"),
            (lambda path: read_npz(path, ("a",)), b"nonsense"),
            (read_pickle, b""),
            (read_pickle, b"\x80\x02nonsense"),
            (read_pickle, pickle.dumps(list(range(9)), protocol=2)[:-4]),
        ],
    )
    def test_garbage_names_the_file_and_what_to_do(self, tmp_path, read, content):
        path = tmp_path / "some-file"
        path.write_bytes(content)
        with pytest.raises(DataFileError, match=r"some-file.*Delete it and load again"):
            read(path)

    @pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
    def test_a_file_cut_short(self, tmp_path, suffix):
        path = tmp_path / "some-file"
        path.write_bytes(COMPRESS[suffix](CSV * 500)[:-20])
        with pytest.raises(DataFileError, match="Delete it and load again"):
            read_csv(path, 2)

    def test_a_broken_unix_compress_file(self, tmp_path):
        path = tmp_path / "some-file"
        for content in (b"\x1f\x9d", b"\x1f\x9d\x90\xff\xff\xff"):
            path.write_bytes(content)
            with pytest.raises(DataFileError, match="Delete it and load again"):
                read_csv(path, 2)

    def test_npz_with_a_pickle_inside_is_refused(self, tmp_path):
        path = tmp_path / "file.npz"
        np.savez(path, a=np.array([{"an": "object"}], dtype=object))
        with pytest.raises(DataFileError, match="pickle"):
            read_npz(path, ("a",))


def idx(array):
    shape = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, 8, array.ndim]) + shape + array.tobytes()


class Evil:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


class TestPickles:
    def test_a_pickle_that_runs_a_program_is_refused(self, tmp_path):
        mark = tmp_path / "mark"
        folder = tmp_path / "pubmed" / "planetoid"
        folder.mkdir(parents=True)
        evil = pickle.dumps(Evil(os.system, f"touch {mark}"), protocol=2)
        for key in ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"):
            (folder / f"ind.pubmed.{key}").write_bytes(evil)
        with pytest.raises(DataFileError, match=r"was not read.*system"):
            load_pubmed(data_home=tmp_path, verify=False)
        assert not mark.exists()

    @pytest.mark.parametrize(
        "function", [eval, getattr, subprocess.run, np.load, bytes]
    )
    def test_only_the_names_that_data_need_are_known(self, tmp_path, function):
        path = tmp_path / "evil"
        path.write_bytes(pickle.dumps(Evil(function, "x", "y"), protocol=2))
        with pytest.raises(DataFileError, match=function.__name__):
            read_pickle(path)
