"""Finding, fetching and reading data files, on small files that the tests write."""

import bz2
import gzip
import hashlib
import io
import lzma
import os
import pickle
import socket
import struct
import subprocess
import sys
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from scipy import sparse

from pairlearn.datasets import (
    DataFileError,
    DataUnavailableError,
    load_adult,
    load_pubmed,
)
from pairlearn.datasets.files import Part, Source, cache_folder, fingerprint, load_part
from pairlearn.datasets.parsers import (
    read_arff,
    read_bytes,
    read_csv,
    read_idx,
    read_libsvm,
    read_npz,
    read_pickle,
)

COMPRESS = {
    "": lambda content: content,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".Z": lambda content: unix_compress(content),
}
CSV = b"0.5,1,a\n-2,3e1,b\n"


def unix_compress(content, max_width=10, clear_every=400):
    """What the program compress writes, in the simplest way; gzip -d agrees."""
    out, n_bits, group, width, n_codes, n_known = 0, 0, 0, 9, 0, 257
    table, word = {bytes([k]): k for k in range(256)}, b""

    def fill_up():
        return n_bits + -(n_bits - group) % (8 * width)

    for k in range(len(content) + 1):
        letter = content[k : k + 1]
        if letter and word + letter in table:
            word += letter
            continue
        if word:
            out |= table[word] << n_bits
            n_bits, n_codes = n_bits + width, n_codes + 1
            # The reader knows a string one code later than the writer.
            n_known = min(257 + n_codes - 1, 1 << max_width)
            if n_known == 1 << width and width < max_width:
                n_bits = group = fill_up()
                width += 1
            if len(table) + 1 < 1 << max_width:
                table[word + letter] = len(table) + 1
        if n_codes == clear_every:
            out |= 256 << n_bits
            n_bits += width
            n_bits = group = fill_up()
            width, n_codes = 9, 0
            table = {bytes([k]): k for k in range(256)}
        word = letter
    head = b"\x1f\x9d" + bytes([128 + max_width])
    return head + out.to_bytes(-(-n_bits // 8), "little")


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


def test_fingerprints_do_not_depend_on_the_form():
    matrix = sparse.csr_matrix([[0, 1.5], [2, 0]])
    wide = sparse.csr_matrix(
        (matrix.data.astype(">f8"), matrix.indices.astype(np.int64), matrix.indptr),
        shape=matrix.shape,
    )
    assert fingerprint([matrix]) == fingerprint([wide])
    assert fingerprint([np.array([0.0, 1])]) == fingerprint([np.array([-0.0, 1])])
    assert fingerprint([np.arange(3, dtype=np.int32)]) == fingerprint([np.arange(3)])
    different = [
        [np.arange(4.0)],
        [np.arange(4.0).reshape(2, 2)],
        [np.arange(4.0)[::-1]],
        [np.arange(2.0), np.arange(2.0, 4.0)],
        [np.array(["a", "b"])],
        [np.array(["ab"])],
    ]
    assert len({fingerprint(arrays) for arrays in different}) == len(different)


@pytest.fixture(autouse=True)
def no_folders(tmp_path, monkeypatch):
    """Neither the user's data folder nor the user's cache takes part in a test."""
    monkeypatch.delenv("PAIRLEARN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("pairlearn.datasets.files.sys.platform", "linux")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def table(source=None, right=True):
    """A part with one file, the CSV above."""
    content = np.array([[0.5, 1], [-2, 30]]), np.array(["a", "b"])
    source = source or Source("set/table", "http://127.0.0.1:9/table")
    good = fingerprint(content)
    return Part((source,), lambda paths: read_csv(paths[0], 2), good if right else "0")


class TestFinding:
    def put(self, folder, suffix=""):
        (folder / "set").mkdir(parents=True)
        path = folder / "set" / f"table{suffix}"
        path.write_bytes(COMPRESS[suffix](CSV))
        return path

    @pytest.mark.parametrize("suffix", COMPRESS)
    def test_with_and_without_a_suffix(self, tmp_path, suffix):
        self.put(tmp_path, suffix)
        X, y = load_part(table(), data_home=tmp_path)
        assert X.shape == (2, 2)
        assert y.tolist() == ["a", "b"]

    def test_order_of_folders(self, tmp_path, monkeypatch):
        named, cache = tmp_path / "named", cache_folder()
        monkeypatch.setenv("PAIRLEARN_DATA", str(named))
        path = self.put(cache)
        assert len(load_part(table(), download=False)) == 2
        path = self.put(named)
        path.write_bytes(b"damaged")
        with pytest.raises(DataFileError, match="named"):
            load_part(table())
        # A folder that is passed is the only one looked at.
        with pytest.raises(DataUnavailableError):
            load_part(table(), data_home=tmp_path / "other", download=False)

    def test_an_empty_variable_counts_as_unset(self, monkeypatch):
        monkeypatch.setenv("PAIRLEARN_DATA", "")
        self.put(cache_folder())
        assert len(load_part(table(), download=False)) == 2

    @pytest.mark.parametrize(
        ("platform", "variable", "part"),
        [("win32", "LOCALAPPDATA", "here"), ("darwin", "HOME", "Caches"),
         ("linux", "XDG_CACHE_HOME", "here")],
    )  # fmt: skip
    def test_cache_of_each_system(self, monkeypatch, platform, variable, part):
        monkeypatch.setattr("pairlearn.datasets.files.sys.platform", platform)
        monkeypatch.setenv(variable, "here")
        assert cache_folder().parts[-2:] == (part, "pairlearn")

    def test_wrong_checksum(self, tmp_path):
        path = self.put(tmp_path)
        with pytest.raises(DataFileError, match=r"checksum.*Delete.*verify=False") as e:
            load_part(table(right=False), data_home=tmp_path)
        assert str(path) in str(e.value)
        assert len(load_part(table(right=False), data_home=tmp_path, verify=False)) == 2

    def test_rows_in_another_order_have_another_checksum(self, tmp_path):
        self.put(tmp_path).write_bytes(b"-2,30,b\n0.5,1,a\n")
        with pytest.raises(DataFileError, match="checksum"):
            load_part(table(), data_home=tmp_path)

    def test_missing_file_says_what_to_put_where(self, tmp_path):
        with pytest.raises(DataUnavailableError) as caught:
            load_adult(data_home=tmp_path, download=False)
        message = str(caught.value)
        assert "libsvmtools/datasets/binary/a9a" in message
        assert str(tmp_path / "adult" / "a9a") in message
        assert "PAIRLEARN_DATA" in message
        assert "data_home=" in message


class Server(ThreadingHTTPServer):
    """Answers with a list of things in turn: bytes, a status, or half of some bytes."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.asked = [], 0

    def url(self, name="table"):
        return f"http://127.0.0.1:{self.server_port}/{name}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked += 1
        answers = self.server.answers
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, int):
            self.send_error(answer)
            return
        half = isinstance(answer, tuple)
        content = answer[0] if half else answer
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if half else content)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    pytest.importorskip("pooch")
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)
    with Server() as server:
        thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}
        )
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def files_in(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


class TestDownload:
    def test_success(self, server, tmp_path):
        server.answers = [CSV]
        part = table(Source("set/table", server.url()))
        X, _ = load_part(part, data_home=tmp_path / "home")
        assert X.shape == (2, 2)
        assert files_in(tmp_path / "home") == ["set/table"]
        assert [p.name for p in (tmp_path / "home").iterdir()] == ["set"]
        load_part(part, data_home=tmp_path / "home")
        assert server.asked == 1

    def test_goes_to_the_cache_unless_told_otherwise(
        self, server, tmp_path, monkeypatch
    ):
        (tmp_path / "named").mkdir()
        monkeypatch.setenv("PAIRLEARN_DATA", str(tmp_path / "named"))
        server.answers = [CSV]
        load_part(table(Source("set/table", server.url())))
        assert files_in(cache_folder()) == ["set/table"]
        assert files_in(tmp_path / "named") == []

    @pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
    def test_compressed_files_keep_their_suffix(self, server, tmp_path, suffix):
        server.answers = [COMPRESS[suffix](CSV)]
        source = Source("set/table", server.url("table" + suffix))
        load_part(table(source), data_home=tmp_path)
        assert files_in(tmp_path) == ["set/table" + suffix]

    @pytest.mark.parametrize("member", ["my table.csv", "my table.csv.Z"])
    def test_member_of_a_zip(self, server, tmp_path, member):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("readme.txt", "hello")
            content = unix_compress(CSV) if member.endswith(".Z") else CSV
            archive.writestr(f"folder/{member}", content)
        server.answers = [stream.getvalue()]
        source = Source("set/table", server.url("all.zip"), member)
        assert len(load_part(table(source), data_home=tmp_path)) == 2
        assert files_in(tmp_path) == ["set/table" + ".Z" * member.endswith(".Z")]

    def test_zip_without_the_member(self, server, tmp_path):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("readme.txt", "hello")
        server.answers = [stream.getvalue()]
        source = Source("set/table", server.url("all.zip"), "table.csv")
        with pytest.raises(DataUnavailableError, match=r"'table.csv'.*readme.txt"):
            load_part(table(source), data_home=tmp_path)
        assert files_in(tmp_path) == []

    @pytest.mark.parametrize(
        ("answer", "why"),
        [
            (404, "404"),
            (500, "500"),
            ((CSV * 3000,), "could not be fetched"),
            (b"<html>moved</html>", "not what was expected"),
            (b"1,2,a\n", "checksum of the content"),
        ],
        ids=["404", "500", "cut off", "another page", "other rows"],
    )
    def test_failure_leaves_nothing_and_says_what_to_do(
        self, server, tmp_path, answer, why
    ):
        server.answers = [answer]
        part = table(Source("set/table", server.url()))
        with pytest.raises(DataUnavailableError, match=why) as caught:
            load_part(part, data_home=tmp_path)
        assert server.url() in str(caught.value)
        assert str(tmp_path / "set" / "table") in str(caught.value)
        assert list(tmp_path.iterdir()) == []

    def test_a_second_try_succeeds(self, server, tmp_path):
        server.answers = [503, (CSV * 3000,), CSV]
        load_part(table(Source("set/table", server.url())), data_home=tmp_path)
        assert server.asked == 3
        assert files_in(tmp_path) == ["set/table"]

    def test_checksum_of_the_bytes(self, server, tmp_path):
        server.answers = [CSV]
        good = hashlib.sha256(CSV).hexdigest()
        part = table(Source("set/table", server.url(), sha256="0" * 64))
        with pytest.raises(DataUnavailableError, match="hash"):
            load_part(part, data_home=tmp_path)
        assert list(tmp_path.iterdir()) == []
        load_part(part, data_home=tmp_path / "any", verify=False)
        part = table(Source("set/table", server.url(), sha256=good))
        load_part(part, data_home=tmp_path / "good")

    def test_of_several_files_only_the_missing_ones_are_fetched(self, server, tmp_path):
        names = ["set/one", "set/two"]
        part = Part(
            tuple(Source(name, server.url()) for name in names),
            lambda paths: tuple(read_csv(path, 2)[0] for path in paths),
            None,
        )
        (tmp_path / "set").mkdir()
        (tmp_path / "set" / "one").write_bytes(b"7,8,a\n")
        server.answers = [CSV]
        one, two = load_part(part, data_home=tmp_path)
        assert (one.tolist(), len(two), server.asked) == ([[7, 8]], 2, 1)
        assert files_in(tmp_path) == names

    @pytest.mark.usefixtures("server")
    def test_no_network(self, tmp_path):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}/table"
        with pytest.raises(DataUnavailableError, match="could not be fetched") as e:
            load_part(table(Source("set/table", url)), data_home=tmp_path)
        for wanted in (url, str(tmp_path / "set" / "table"), "PAIRLEARN_DATA"):
            assert wanted in str(e.value)

    def test_folder_that_cannot_be_written_to(self, server, tmp_path):
        # Root may write anywhere, but not into a file.
        blocked = tmp_path / "blocked"
        blocked.write_text("a file")
        part = table(Source("set/table", server.url()))
        for home in (blocked, blocked / "below"):
            with pytest.raises(DataUnavailableError, match=r"written to.*data_home="):
                load_part(part, data_home=home)
        server.answers = [CSV]
        (tmp_path / "set").write_text("a file in place of the folder")
        with pytest.raises(DataUnavailableError, match="set"):
            load_part(part, data_home=tmp_path)
        assert files_in(tmp_path) == ["blocked", "set"]

    def test_without_pooch(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "pooch", None)
        with pytest.raises(DataUnavailableError, match=r"pip install 'pairlearn\[cli"):
            load_part(table(), data_home=tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_reading_needs_no_pooch(self, tmp_path):
        (tmp_path / "adult").mkdir()
        (tmp_path / "adult" / "a9a").write_bytes(b"+1 1:1\n-1 2:1\n")
        program = (
            "import sys; sys.modules['pooch'] = None\n"
            "from pairlearn.datasets import load_adult\n"
            f"print(load_adult(data_home={str(tmp_path)!r}, verify=False).target)"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True)
        assert done.stdout.split() == [b"[", b"1", b"-1]"], done.stderr

    def test_progress_on_a_terminal(self, server, tmp_path, monkeypatch):
        pytest.importorskip("rich")
        screen = io.StringIO()
        screen.isatty = lambda: True
        monkeypatch.setattr("sys.stderr", screen)
        server.answers = [(CSV * 3000,), CSV * 3000]
        part = Part(
            (Source("set/table", server.url()),), lambda p: read_csv(p[0], 2), None
        )
        load_part(part, data_home=tmp_path)
        assert "set/table" in screen.getvalue()

    def test_leftovers_of_a_killed_program_are_removed(self, server, tmp_path):
        old, recent = tmp_path / ".download-old", tmp_path / ".download-recent"
        old.mkdir()
        recent.mkdir()
        os.utime(old, (0, time.time() - 2 * 86400))
        server.answers = [CSV]
        load_part(table(Source("set/table", server.url())), data_home=tmp_path)
        assert (old.exists(), recent.exists()) == (False, True)


def test_importing_pairlearn_does_not_import_the_data_sets():
    program = "import pairlearn, sys; print('pairlearn.datasets' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert done.stdout.strip() == b"False"
