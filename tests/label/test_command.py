"""`pairlearn label`: the command, its server, and their end."""

import asyncio
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

import httpx
import pytest

from pairlearn.cli import label as command
from pairlearn.cli import labelling
from pairlearn.files.tables.errors import OptionError
from pairlearn.label.desk import Desk
from pairlearn.label.web import serving
from pairlearn.label.web.addresses import Addresses
from pairlearn.label.web.serving import Server, listen, new_loop
from tests.support.commands import call, make_tables
from tests.support.fake_desk import Site
from tests.support.real_label import RealLabel

PATIENCE = 120


@pytest.fixture
def points(tmp_path):
    make_tables(tmp_path)
    return tmp_path / "points.csv"


class TestOptions:
    def test_what_cannot_be_done_is_told_before_anything_is_made(self, points):
        folder = points.parent
        before = sorted(folder.iterdir())
        at, nobody = ["--database"], "postgresql+psycopg://u:s3cret@127.0.0.1:1"
        for words, code, told in [
            (["--name", " "], 2, "--name"),
            (["--invite", "a\0b"], 2, "--invite"),
            (["--answers", folder / "a.csv"], 2, "must end in .sqlite"),
            (["--answers", folder / "no" / "a.sqlite"], 1, "there is no folder"),
            ([*at, "postgresql://u@h/d", "--answers", "a.sqlite"], 2, "exclude each"),
            ([*at, "team.sqlite"], 2, "named with --answers"),
            ([*at, "mysql://u:s3cret@h/d"], 1, "the database of a team is PostgreSQL"),
            ([*at, f"{nobody}/d"], 1, "no server answers there"),
            (["--allow-host", "http://a.b/"], 2, "--allow-host"),
            (["--kinds", "many"], 2, "--kinds"),
            (["--noise", "0.7"], 2, "--noise"),
            (["--id", "nothing"], 2, "has no such column"),
        ]:
            result = call("label", points, "--no-browser", *words)
            assert result.exit_code == code, words
            assert told in result.output
            assert "s3cret" not in result.output
        assert sorted(folder.iterdir()) == before

    def test_the_extra_for_a_database_is_named_if_it_is_missing(
        self, points, monkeypatch
    ):
        monkeypatch.setitem(sys.modules, "psycopg", None)
        result = call("label", points, "--database", "postgresql+psycopg://u@h/d")
        assert result.exit_code == 1
        assert 'pip install "pairlearn[postgresql]"' in result.output

    def test_a_port_that_is_taken_leaves_no_file_behind(self, points):
        before = sorted(points.parent.iterdir())
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            result = call("label", points, "--no-browser", "--port", port)
        assert result.exit_code == 2
        assert f"--port {port}" in result.output
        assert sorted(points.parent.iterdir()) == before

    def test_the_extra_is_named_if_it_is_missing(self, points, monkeypatch):
        monkeypatch.setattr(
            command, "find_spec", lambda name: None if name == "uvicorn" else 1
        )
        result = call("label", points)
        assert result.exit_code == 1
        assert "needs uvicorn" in result.output
        assert "pip install 'pairlearn[label]'" in result.output

    def test_a_table_of_one_point(self, tmp_path):
        path = tmp_path / "points.csv"
        path.write_text("id,x,y\np1,2,3\n")
        result = call("label", path, "--no-browser")
        assert result.exit_code == 1
        assert not (tmp_path / "points.answers.sqlite").exists()

    @pytest.mark.parametrize(
        ("said", "rates"),
        [("auto", "auto"), ("none", None), ("0.1", 0.1), ("0.9,0.2", [0.9, 0.2]),
         ("0.1-0.2", 0.15), ("0.8-0.9,0.1-0.2", [0.85, 0.15])],
    )  # fmt: skip
    def test_rates_are_kept_as_plain_values(self, said, rates):
        found = command._rates(command.options.noise_rates(said))
        assert found == (pytest.approx(rates) if rates and said != "auto" else rates)


def test_the_server_does_not_load_what_learns():
    """It stays small and quick to start; another process learns."""
    code = (
        "import sys, pairlearn.cli.labelling; "
        "print([m for m in ('sklearn', 'scipy', 'torch') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_new_links_end_all_that_were_before(points):
    answers = points.with_name("answers.sqlite")

    def tickets(**more):
        wanted = labelling.Wanted(points, answers, name="Ann", **more)

        async def make():
            desk = Desk(answers, points, room=None)
            await desk.open()
            try:
                made = await labelling._tickets(desk, wanted)
                return made, await desk.invitations()
            finally:
                await desk.close()

        return asyncio.run(make())

    first, known = tickets()
    again, _ = tickets()
    assert again.owner_token == first.owner_token
    assert known.renewed == 0
    new, known = tickets(new_links=True)
    assert known.renewed > 0
    later, _ = tickets()
    for each in (new, later):
        assert each.of_token(first.owner_token) is None
        # Answers that wait in a browser are known by it.
        assert each.project == first.project
    assert later.owner_token == new.owner_token


class TestListening:
    def test_the_port_of_last_time_is_taken_if_it_is_free(self):
        with listen("127.0.0.1", 0) as sock:
            port = sock.getsockname()[1]
        with listen("127.0.0.1", 0, before=port) as again:
            assert again.getsockname()[1] == port
            with listen("127.0.0.1", 0, before=port) as other:
                assert other.getsockname()[1] != port
            with pytest.raises(OptionError, match=f"port {port}.*leave --port out"):
                listen("127.0.0.1", port)

    @pytest.mark.parametrize("host", ["192.0.2.77", "no such host", "256.1.1.1"])
    def test_an_address_that_is_not_ours_is_told(self, host):
        with pytest.raises(OptionError, match="--host"):
            listen(host, 0)


class TestBrowser:
    def test_it_never_fails(self, monkeypatch):
        def fail(_):
            raise RuntimeError("no browser")

        monkeypatch.setattr(labelling.webbrowser, "open", fail)
        labelling._open("http://127.0.0.1/")

    def test_without_a_screen_none_is_opened(self, monkeypatch):
        monkeypatch.setattr(labelling.sys, "platform", "linux")
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
            monkeypatch.delenv(name, raising=False)
        assert not labelling._has_screen()
        monkeypatch.setenv("BROWSER", "x")
        assert labelling._has_screen()


class Running:
    """A server over a desk without a disk, in a thread."""

    def __init__(self, folder):
        self.site = Site(folder)
        self.sock = listen("127.0.0.1", 0)
        self.port = self.sock.getsockname()[1]
        self.site.guard.addresses = Addresses("127.0.0.1", self.port)
        self.started = threading.Event()
        self.server = Server(self.site.app, self.site.guard.log, self.started.set)
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(self.server.serve(sockets=[self.sock]))

    def __enter__(self):
        self.thread.start()
        assert self.started.wait(PATIENCE)
        return self

    def __exit__(self, *_):
        self.server.stop()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        self.sock.close()

    def send(self, content):
        """Send bytes, and return all that comes until the connection is closed."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as sock:
            try:
                sock.sendall(content)
                parts = iter(lambda: sock.recv(65536), b"")
                return b"".join(parts)
            except ConnectionError:
                return b""


class TestServer:
    def test_it_speaks_http_and_says_nothing_of_itself(self, tmp_path, capfd):
        with Running(tmp_path) as running:
            url = f"http://127.0.0.1:{running.port}"
            token = running.site.tickets.owner_token
            with httpx.Client(base_url=url) as client:
                assert client.get(f"/?token={token}").status_code == 303
                hello = client.get("/api/hello")
                assert hello.json()["me"]["owner"] is True
                assert "server" not in hello.headers
                assert client.get(f"/x?token={token}").status_code == 404
        printed = "".join(capfd.readouterr())
        assert token not in printed
        assert "Uvicorn" not in printed

    @pytest.mark.parametrize(
        "content",
        [
            b"\x16\x03\x01\x02\x00\x01" + b"\0" * 300, b"GET\r\n\r\n",
            b"\r\n\r\nHELLO\r\n\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        ],
        ids=["TLS", "cut", "words", "length", "chunks"],
    )  # fmt: skip
    def test_what_is_no_http_is_refused_in_one_line(self, tmp_path, content):
        with Running(tmp_path) as running:
            answer = running.send(content)
            assert answer.startswith(b"HTTP/1.1 4")
            assert b"Traceback" not in answer
            # The head of a request may be refused before its body shows what it is.
            assert 1 <= len(running.site.log.lines) <= 2
            assert running.site.desk.calls == []

    @pytest.mark.parametrize("begin", [b"GET / HTTP/1.1\r\nA: ", b"GET /"])
    def test_headers_without_end_are_broken_off(self, tmp_path, begin):
        with Running(tmp_path) as running:
            running.send(begin + b"a" * 2_000_000)
            # It goes on for others.
            answer = running.send(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 403")

    @pytest.mark.parametrize("begin", [b"", b"GET / HTTP/1.1\r\nA: b\r\n"])
    def test_whoever_says_nothing_more_is_not_waited_for(
        self, tmp_path, monkeypatch, begin
    ):
        monkeypatch.setattr(serving, "_HEAD_LASTS", 0.05)
        with Running(tmp_path) as running:
            assert running.send(begin) == b""

    def test_nor_in_the_middle_of_a_second_request(self, tmp_path, monkeypatch):
        monkeypatch.setattr(serving, "_HEAD_LASTS", 2.0)
        whole = b"GET / HTTP/1.1\r\n\r\n"
        with Running(tmp_path) as running:
            assert running.send(whole + whole[:9]).count(b"HTTP/1.1") <= 1

    def test_a_body_in_chunks_is_limited_too(self, tmp_path):
        with Running(tmp_path) as running:
            head = f"POST /api/questions HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n"
            for name, value in running.site.cookie().items():
                head += f"{name}: {value}\r\n"
            head += "X-Pairlearn: 1\r\nContent-Type: application/json\r\n"
            head += "Transfer-Encoding: chunked\r\n\r\n"
            chunk = b"%x\r\n%b\r\n" % (10_000, b" " * 10_000)
            # Without an end: the answer comes before all has been sent.
            with socket.create_connection(("127.0.0.1", running.port)) as sock:
                sock.settimeout(PATIENCE)
                sock.sendall(head.encode() + chunk * 8)
                assert sock.recv(65536).startswith(b"HTTP/1.1 413")
            assert running.site.desk.calls == []

    def test_it_stops_although_connections_are_open_and_requests_hang(self, tmp_path):
        hanging = threading.Event()
        with Running(tmp_path) as running:

            async def hang(*_):
                hanging.set()
                await asyncio.sleep(3600)

            running.site.desk.hand = hang
            idle = socket.create_connection(("127.0.0.1", running.port), PATIENCE)
            busy = threading.Thread(target=self.ask, args=(running,), daemon=True)
            busy.start()
            assert hanging.wait(PATIENCE)
        # Leaving the block has waited for its end.
        busy.join(PATIENCE)
        assert not busy.is_alive()
        idle.close()

    def ask(self, running):
        with suppress(httpx.HTTPError):
            httpx.post(
                f"http://127.0.0.1:{running.port}/api/questions",
                json={"page": "t", "have": [], "want": 1},
                headers={"X-Pairlearn": "1", **running.site.cookie()},
                timeout=PATIENCE,
            )


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals of POSIX")
def test_from_the_link_to_the_closing_words_and_on_again(points):
    folder = points.parent
    first = RealLabel(points, "--name", "Ann", "--invite", "Bob", "--kinds", "2")
    try:
        with httpx.Client(timeout=PATIENCE, follow_redirects=True) as client:
            base = first.link.partition("/?")[0]
            page = client.get(first.link)
            assert page.status_code == 200
            assert page.url == f"{base}/"
            headers = {"X-Pairlearn": "1", "Origin": base}
            hand = {"page": "tab", "have": [], "want": 3, "questions": []}
            while not hand["questions"]:
                asked = {"page": "tab", "have": [], "want": 3}
                hand = client.post(
                    f"{base}/api/questions", json=asked, headers=headers
                ).json()
            for k, question in enumerate(hand["questions"]):
                answer = {"id": f"a{k}", "question": question["question"]}
                answer["said"] = ("same", "different", "unsure")[k]
                body = {"page": "tab", "have": [], "want": 0, "answers": [answer]}
                reply = client.post(
                    f"{base}/api/answers", json=body, headers=headers
                ).json()
                assert reply["results"] == [{"id": f"a{k}", "status": "saved"}]
            pairs = client.get(f"{base}/files/pairs.csv").text
            assert [line.split(",")[2] for line in pairs.splitlines()[1:]] == [
                "same", "different", "unsure",
            ]  # fmt: skip
            first.process.send_signal(signal.SIGINT)
            assert first.process.wait(PATIENCE) == 0
            first.reader.join(PATIENCE)
            printed = "".join(first.printed)
            bob = re.search(r"Link for Bob:\s+(\S+)", printed)[1]
            assert f"3 answers are kept in {first.answers}" in printed
            made = re.search(r"To make a model of them: (pairlearn fit .*)", printed)
            assert str(first.answers) in made[1]
            assert "Traceback" not in printed

            refused = call(
                "label", points, "--answers", first.answers, "--no-browser",
                "--kinds", "3",
            )  # fmt: skip
            assert refused.exit_code == 1
            assert "begun with --kinds 2" in refused.output

            other = folder / "other.csv"
            other.write_text("id,x\na,1\nb,2\nc,3\n")
            refused = call("label", other, "--answers", first.answers, "--no-browser")
            assert refused.exit_code == 1
            assert "are not those that the answers" in refused.output
            assert "The page is ready" not in refused.output

            first.start()
            assert first.link.partition("/?")[0] == base
            # The page that is still open goes on: same port, same cookie.
            hello = client.get(f"{base}/api/hello").json()
            assert (hello["me"]["name"], hello["mine"]) == ("Ann", 3)
            # So does Bob's link, which is not made twice.
            invited = client.get(bob)
            assert invited.status_code == 200
            me = client.get(f"{base}/api/hello").json()["me"]
            assert me == {"name": "Bob", "owner": False, "fixed": True}
            first.process.send_signal(signal.SIGTERM)
            assert first.process.wait(PATIENCE) == 0
            first.reader.join(PATIENCE)
            assert bob in "".join(first.printed)
    finally:
        if first.process.poll() is None:
            first.kill()
        first.reader.join(PATIENCE)
    # All is in the one file by now, and can be taken elsewhere.
    assert first.answers.exists()
    assert not [path for path in folder.iterdir() if path.suffix.endswith("-wal")]
