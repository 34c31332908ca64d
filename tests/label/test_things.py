"""Points as the page shows them, and the files that their cells name."""

import csv
import json
import os
import threading

import pyarrow
import pytest
from pyarrow import parquet

from pairlearn.cli.labelling import notes_on_columns
from pairlearn.files import media
from pairlearn.files.media import Folder
from pairlearn.files.tables.cell_columns import Cells
from pairlearn.files.tables.points import read_points
from pairlearn.label.things import LONGEST_CELL, Things
from tests.support.fake_desk import Site

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 100
WAV = b"RIFF\x10\x00\x00\x00WAVEfmt " + bytes(range(200))
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


def make(folder, rows, columns):
    """Write a table, and return its points as the page shows them."""
    path = folder / "points.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])
    return Things(read_points(path), path)


@pytest.fixture
def pictures(tmp_path):
    """A table with images and sound, and some that are not what they seem."""
    (tmp_path / "img").mkdir()
    for k in range(12):
        (tmp_path / "img" / f"{k}.png").write_bytes(PNG + bytes([k]))
        (tmp_path / f"{k}.wav").write_bytes(WAV)
    rows = [
        (
            f"p{k}",
            f"{k}",
            f"img/{k}.png",
            f"{k}.wav",
            f"https://a.example/{k}",
            "w " * 60,
        )
        for k in range(12)
    ]
    columns = ("id", "size", "picture", "sound", "page", "story")
    return make(tmp_path, rows, columns), tmp_path


class TestKinds:
    def test_they_are_found_by_what_cells_hold(self, pictures):
        things, _ = pictures
        kinds = {column.name: column.kind for column in things.columns}
        assert kinds == {
            "size": "number", "picture": "image", "sound": "audio", "page": "link",
            "story": "text",
        }  # fmt: skip
        cells = json.loads(things.json(3))["cells"]
        assert cells[1] == {"media": "image", "url": "/media/3/1", "text": "img/3.png"}
        assert cells[2] == {"media": "audio", "url": "/media/3/2", "text": "3.wav"}
        link = "https://a.example/3"
        assert cells[3] == {"media": "link", "url": link, "text": link}

    def test_what_the_model_does_not_see_is_marked(self, pictures):
        things, _ = pictures
        unlearned = {column.name for column in things.columns if column.unlearned}
        assert unlearned == {"sound", "page", "story"}
        told = notes_on_columns(things)
        assert len(told) == 1
        assert "nothing is learned from: 'sound', 'page', 'story'" in told[0]

    def test_nothing_is_told_where_the_model_sees_all(self, tmp_path):
        rows = [(f"p{k}", str(k), "ab"[k % 2]) for k in range(12)]
        assert notes_on_columns(make(tmp_path, rows, ("id", "size", "letter"))) == []

    def test_words_that_end_like_files_are_no_files(self, tmp_path):
        rows = [(f"p{k}", str(k), f"no{k % 3}.png") for k in range(12)]
        things = make(tmp_path, rows, ("id", "size", "name"))
        assert things.columns[1].kind == "category"
        assert json.loads(things.json(0))["cells"][1] == "no0.png"

    def test_dates_and_empty_cells(self, tmp_path):
        rows = [(f"p{k}", f"2024-01-{k + 1:02}", "" if k else "a") for k in range(9)]
        things = make(tmp_path, rows, ("id", "day", "remark"))
        assert things.columns[0].kind == "date"
        assert json.loads(things.json(1))["cells"] == ["2024-01-02", None]

    @pytest.mark.parametrize(
        "cell",
        ["javascript:alert(1)", "data:text/html,<script>", "https://a b", "//a.example",
         "https://", "http://a\n.example", 'https://a"onclick="x', "ftp://a"],
    )  # fmt: skip
    def test_what_is_no_plain_link_is_text(self, tmp_path, cell):
        rows = [(f"p{k}", str(k), cell if k else "https://a.example") for k in range(9)]
        things = make(tmp_path, rows, ("id", "size", "page"))
        shown = json.loads(things.json(1))["cells"][1]
        assert shown == cell


HOSTILE = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "a\x01\x08\x1bb",
    "\u202egnp.exe", "\u200f\u061c", "{{7*7}}", "'; DROP TABLE events;--",
    "a\u2028b\u2029c",
    "\ufeffx", "=cmd|' /C calc'!A0", "𝔘𝔫𝔦", "é" * 3,
]  # fmt: skip


class TestHostileCells:
    def test_they_come_out_as_json_text(self, tmp_path):
        rows = [(f"{text}{k}", str(k), text) for k, text in enumerate(HOSTILE)]
        columns = ("id", "size", "<b>'\"&\u202e")
        things = make(tmp_path, rows, columns)
        site = Site(tmp_path, points=None)
        assert site.get("/api/hello").json()["columns"][1]["name"] == columns[2]
        for k, text in enumerate(HOSTILE):
            raw = things.json(k)
            assert raw.isascii()
            shown = json.loads(raw)
            assert shown["id"] == f"{text}{k}".strip()
            assert shown["cells"][1] == text
            assert site.get(f"/api/cell/{k}/1").json() == {"text": text}
            assert text in things.words(k)

    def test_a_text_of_a_megabyte_is_cut_and_whole_on_request(self, tmp_path):
        long = "<b>é" * 250_000
        columns = {"id": ["p0", "p1"], "size": [1, 2], "story": [long, "short"]}
        parquet.write_table(pyarrow.table(columns), tmp_path / "points.parquet")
        site = Site(tmp_path, points=None, name="points.parquet")
        told = site.post("/api/questions", {"page": "t", "have": [], "want": 1})
        assert len(told.content) < 20_000
        cell = told.json()["questions"][0]["left"]["cells"][1]
        assert cell == {"text": long[:LONGEST_CELL], "cut": True}
        assert site.get("/api/cell/0/1").json() == {"text": long}

    def test_what_no_file_can_hold_does_not_break_json(self, tmp_path):
        rows = [(f"p{k}", str(k), f"w{k % 2}") for k in range(8)]
        things = make(tmp_path, rows, ("id", "size", "name"))
        things._cells[1] = Cells(
            ["a\0b", "\ud800", None, float("nan"), 3.0, True, 10**30]
        )
        assert json.loads(things.json(0))["cells"][1] == "a\0b"
        assert json.loads(things.json(1))["cells"][1] == "\ud800"
        shown = [json.loads(things.json(k))["cells"][1] for k in range(2, 7)]
        assert shown == [None, None, "3", "true", str(10**30)]

    def test_cells_that_are_not_there(self, site):
        for path in ("30/0", "0/2", "-1/0", "0/-1", "x/0", "0/" + "9" * 5000, "0"):
            assert site.get(f"/api/cell/{path}").status_code == 404

    def test_only_so_much_is_kept_ready(self, tmp_path, monkeypatch):
        from pairlearn.label import things as module

        rows = [(f"p{k}", str(k), f"{k}" * 500) for k in range(10, 40)]
        things = make(tmp_path, rows, ("id", "size", "story"))
        monkeypatch.setattr(module, "_KEPT", 5000)
        first = things.json(0)
        for k in range(30):
            things.json(k)
        assert things._size == sum(map(len, things._ready.values())) <= 5000
        assert things.json(0) == first


class TestMedia:
    def test_an_image_is_sent_with_its_type(self, pictures):
        _, folder = pictures
        site = Site(folder, points=None)
        response = site.get("/media/3/1")
        assert response.content == PNG + b"\x03"
        assert response.headers["content-type"] == "image/png"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in response.headers["content-security-policy"]
        assert response.headers["cache-control"] == "no-store"

    @pytest.mark.parametrize(
        ("asked", "status", "part"),
        [
            ("bytes=0-", 206, slice(0, None)), ("bytes=10-19", 206, slice(10, 20)),
            ("bytes=-5", 206, slice(-5, None)), ("bytes=5-100000", 206, slice(5, None)),
            ("bytes=100000-", 416, None), ("bytes=-0", 416, None),
            ("bytes=9-3", 200, slice(None)), ("bytes=0-1,4-5", 200, slice(None)),
            ("lines=1-2", 200, slice(None)), ("bytes=-", 200, slice(None)),
            ("bytes=-99999", 206, slice(None)), ("bytes=" + "9" * 30, 200, slice(None)),
        ],
    )  # fmt: skip
    def test_sound_comes_in_parts(self, pictures, asked, status, part):
        _, folder = pictures
        site = Site(folder, points=None)
        response = site.get("/media/0/2", headers={"Range": asked})
        assert response.status_code == status
        assert response.headers["accept-ranges"] == "bytes"
        if part is None:
            assert response.headers["content-range"] == f"bytes */{len(WAV)}"
            assert response.content == b""
        else:
            assert response.content == WAV[part]
            assert int(response.headers["content-length"]) == len(WAV[part])
        if status == 206:
            begin, end, _ = part.indices(len(WAV))
            span = f"bytes {begin}-{end - 1}/{len(WAV)}"
            assert response.headers["content-range"] == span

    def test_an_svg_can_do_nothing(self, tmp_path):
        (tmp_path / "a.svg").write_bytes(SVG)
        make(tmp_path, [(f"p{k}", str(k), "a.svg") for k in range(9)], ("id", "n", "s"))
        response = Site(tmp_path, points=None).get("/media/0/1")
        assert response.headers["content-type"] == "image/svg+xml"
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "; sandbox;" in policy
        assert "script" not in policy

    def test_other_cells_name_no_files(self, pictures):
        _, folder = pictures
        site = Site(folder, points=None)
        for path in ("0/0", "0/3", "0/4", "99/1", "0/9", "-1/1", "x/1", "0/1/2"):
            assert site.get(f"/media/{path}").status_code == 404

    def test_a_head_has_no_body(self, pictures):
        _, folder = pictures
        response = Site(folder, points=None).call("HEAD", "/media/0/2")
        assert response.content == b""
        assert int(response.headers["content-length"]) == len(WAV)


@pytest.fixture
def inside(tmp_path):
    """A folder with a picture inside, and another outside."""
    folder = tmp_path / "data"
    (folder / "sub").mkdir(parents=True)
    (folder / "in.png").write_bytes(PNG)
    (folder / "sub" / "in.png").write_bytes(PNG)
    (tmp_path / "out.png").write_bytes(PNG)
    (tmp_path / "data2").mkdir()
    (tmp_path / "data2" / "out.png").write_bytes(PNG)
    return folder


def content(folder, name):
    found = Folder(folder).open(name)
    if found is None:
        return None
    with found.file as file:
        return file.read()


class TestFolder:
    @pytest.mark.parametrize(
        "name", ["in.png", "./in.png", "sub/in.png", "sub\\in.png", "sub//in.png"]
    )
    def test_what_is_inside_is_opened(self, inside, name):
        assert content(inside, name) == PNG
        assert Folder(inside).has(name)

    @pytest.mark.parametrize(
        "name",
        [
            "../out.png", "sub/../../out.png", "..\\out.png", "sub/../in.png", "..",
            "/etc/passwd", "C:\\in.png", "C:in.png", "\\\\host\\share\\in.png",
            "//host/in.png", "in.png\0", "in.png\n", "\u202ein.png", "", " ", ".",
            "sub", "sub/", "%2e%2e/out.png", "....//out.png", "~/in.png", "file:in.png",
            "../data2/out.png", "in.png/", "in.png/x.png", "x" * 2000 + ".png",
            "no.png", "IN.TXT", "\\..\\out.png",
        ],
    )  # fmt: skip
    def test_no_name_leads_out(self, inside, name):
        found = content(inside, name)
        # A slash at the end is dropped, and the name is that of a picture inside.
        assert found is None or (name == "in.png/" and found == PNG)

    def test_an_absolute_path_into_the_folder_is_none_either(self, inside):
        assert content(inside, str(inside / "in.png")) is None

    @pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
    def test_links_may_lead_around_inside_but_not_out(self, inside):
        (inside / "good.png").symlink_to("sub/in.png")
        (inside / "bad.png").symlink_to(inside.parent / "out.png")
        (inside / "way").symlink_to(inside.parent / "data2")
        (inside / "chain.png").symlink_to("bad.png")
        (inside / "loop.png").symlink_to("loop.png")
        (inside / "gone.png").symlink_to("nowhere.png")
        assert content(inside, "good.png") == PNG
        for name in ("bad.png", "way/out.png", "chain.png", "loop.png", "gone.png"):
            assert content(inside, name) is None, name
            assert not Folder(inside).has(name)

    @pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
    @pytest.mark.parametrize("stepwise", [True, False])
    def test_nothing_can_be_put_in_its_place_meanwhile(
        self, inside, monkeypatch, stepwise
    ):
        """A link is put there after the path was looked at, before it is opened."""
        (inside / "turn").mkdir()
        (inside / "turn" / "out.png").write_bytes(PNG)
        monkeypatch.setattr(media, "_STEPWISE", stepwise)
        folder = Folder(inside)
        place = folder._inside

        def exchanged(name):
            found = place(name)
            (inside / "turn").rename(inside / f"was{name.count('/')}")
            (inside / "turn").symlink_to(inside.parent / "data2")
            return found

        monkeypatch.setattr(folder, "_inside", exchanged)
        assert folder.open("turn/out.png") is None
        (inside / "in.png").unlink()
        (inside / "in.png").symlink_to(inside.parent / "out.png")
        monkeypatch.setattr(folder, "_inside", lambda _: inside.__class__("in.png"))
        assert folder.open("in.png") is None

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
    def test_a_named_pipe_does_not_hold_us_up(self, inside):
        os.mkfifo(inside / "pipe.png")
        done = []
        thread = threading.Thread(
            target=lambda: done.append(content(inside, "pipe.png")), daemon=True
        )
        thread.start()
        thread.join(60)
        assert done == [None]

    def test_what_is_no_picture_is_not_sent_as_one(self, inside):
        (inside / "page.png").write_bytes(b"<html><script>alert(1)</script>")
        (inside / "page.svg").write_bytes(b"<html xmlns='x'><svg/></html>")
        (inside / "empty.png").write_bytes(b"")
        (inside / "sound.mp3").write_bytes(PNG)
        (inside / "text.txt").write_bytes(PNG)
        for name in ("page.png", "page.svg", "empty.png", "sound.mp3", "text.txt"):
            assert content(inside, name) is None, name

    def test_what_is_too_large_is_not_sent(self, inside, monkeypatch):
        monkeypatch.setitem(media._LARGEST, "image", len(PNG) - 1)
        assert content(inside, "in.png") is None

    @pytest.mark.parametrize(
        ("name", "begins"),
        [("a.jpg", b"\xff\xd8\xff\xe0"), ("a.GIF", b"GIF89a"), ("a.mp3", b"ID3\x04"),
         ("a.mp3", b"\xff\xfb\x90"), ("a.flac", b"fLaC"), ("a.ogg", b"OggS"),
         ("a.webp", b"RIFF\n\n\n\nWEBP"), ("a.svg", b"\xef\xbb\xbf <?xml a='1'?>"),
         ("a.m4a", b"\0\0\0 ftypM4A "), ("a.svg", b"<svg>")],
    )  # fmt: skip
    def test_other_kinds_are_known(self, inside, name, begins):
        (inside / name).write_bytes(begins + b"rest")
        assert content(inside, name) == begins + b"rest"
