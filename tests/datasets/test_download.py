"""Fetching data files, from a server that the tests start."""

import hashlib
import io
import os
import socket
import subprocess
import sys
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pairlearn.datasets import DataUnavailableError
from pairlearn.datasets.files import Part, Source, cache_folder, load_part
from pairlearn.datasets.parsers import read_csv
from tests.support.data_files import COMPRESS, CSV, table, unix_compress

pytestmark = pytest.mark.usefixtures("no_folders")


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
