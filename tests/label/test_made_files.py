"""Files that are made for downloading: by our own commands, one at a time."""

import asyncio
import csv
import io
import sys

import pytest

from pairlearn.label import made_files
from pairlearn.label.made_files import MadeFiles, fit_options
from pairlearn.label.pairs_file import pairs_csv
from pairlearn.label.values import Refused
from tests.support.commands import call, make_tables
from tests.support.stored import Events


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Points, and answers about them in a file as the page keeps them."""
    folder = tmp_path_factory.mktemp("made-files")
    _, pairs, y = make_tables(folder, n_pairs=60)
    return folder, pairs, y


class Known:
    """What the desk tells: a number that changes, and the names of groups."""

    def __init__(self, names=()):
        self.number, self.names = 1, list(names)

    async def __call__(self):
        return self.number, self.names


async def until_done(files, what):
    while files.states()[what]["state"] == "working":
        await asyncio.sleep(0.05)
    return files.states()[what]


def test_all_of_them_are_made_by_our_commands(tables):
    folder, _, y = tables
    members = [f"p{k:03}" for k in range(40) if y[k]]
    others = [f"p{k:03}" for k in range(40) if not y[k]]
    known = Known(
        [
            {"name": "big, =1+1", "members": members},
            {"name": "tiny", "members": others},
            {"name": "", "members": ["p001"]},
        ]
    )

    async def run():
        files = MadeFiles(
            folder / "points.csv", folder / "pairs.csv", id_column="id", known=known
        )
        assert files.states()["model"] == {"state": "none"}
        assert await files.content("model.skops") is None
        assert await files.make("predictions") == {"state": "working"}
        assert await files.make("report") == {"state": "working"}
        told = await until_done(files, "predictions")
        assert told == {"state": "ready", "url": "/files/predictions.csv"}
        # Model and report come from one run, and are there, too.
        assert (await files.make("report"))["state"] == "ready"
        assert (await files.make("model"))["url"] == "/files/model.skops"
        found = {
            name: await files.content(name)
            for name in ("model.skops", "predictions.csv", "report.html")
        }
        known.number += 1
        again = await files.make("report")
        assert again == {"state": "working"}
        # What was there stays until the new one is made.
        assert await files.content("report.html") == found["report.html"]
        place = files._folder
        await files.close()
        assert not place.exists()
        return found

    found = asyncio.run(run())
    rows = list(csv.DictReader(io.StringIO(found["predictions.csv"].decode())))
    assert len(rows) == 400
    assert {row["class"] for row in rows} == {"big, =1+1", "tiny"}
    right = [(row["class"] == "tiny") != bool(y[k]) for k, row in enumerate(rows)]
    assert sum(right) > 300
    assert found["report.html"].lstrip().lower().startswith(b"<!doctype html>")
    assert found["model.skops"][:2] == b"PK"


def test_a_failure_is_told_in_one_sentence(tables, tmp_path):
    folder, _, _ = tables
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("left,right,answer\np001,p002,same\n")

    async def run():
        files = MadeFiles(folder / "points.csv", pairs, known=Known())
        await files.make("predictions")
        told = await until_done(files, "predictions")
        await files.close()
        return told

    told = asyncio.run(run())
    assert told["state"] == "failed"
    assert "both kinds of answers are needed" in told["message"]
    assert "\n" not in told["message"]


def test_closing_ends_what_is_being_made(tables, monkeypatch):
    folder, _, _ = tables
    started = []
    start = asyncio.create_subprocess_exec

    async def slow(*_, **options):
        code = "import time; time.sleep(600)"
        started.append(await start(sys.executable, "-c", code, **options))
        return started[-1]

    async def run():
        files = MadeFiles(folder / "points.csv", folder / "pairs.csv", known=Known())
        monkeypatch.setattr(made_files.asyncio, "create_subprocess_exec", slow)
        await files.make("model")
        while not started:
            await asyncio.sleep(0.01)
        await files.close()
        return started[0].returncode

    assert asyncio.run(run()) != 0
    assert len(started) == 1


def test_options_of_the_interview_are_passed_on():
    settings = {"id": "key", "kinds": "auto", "noise": None, "seed": 7}
    words = ["--id", "key", "--first-row", "1", "--noise", "none", "--seed", "7"]
    assert fit_options(settings, 1) == words
    assert fit_options({"noise": 0.1}, None) == ["--noise", "0.1"]


class TestPairsFile:
    @pytest.fixture
    def stored(self, tables, tmp_path):
        folder, pairs, _ = tables
        path = tmp_path / "answers.sqlite"
        said = {"same": 1, "different": -1, "unsure": 0}
        with Events(path) as events:
            for number, (left, right, answer) in enumerate(pairs.values.tolist()):
                events.ask(number, left, right)
                events.answer(number, said[answer])
            events.add("comment", 2, "Ann", text="=HYPERLINK(1)", to="Ann")
            events.add("comment", 4, "Ann", text="a, b\nc", to="Ann")
            events.add("comment", 5, "Ann", text="fine\r=1+1", to="Ann")
        return folder, path

    def test_it_is_read_by_fit(self, stored, tmp_path):
        folder, answers = stored
        written = tmp_path / "pairs.csv"
        written.write_bytes(pairs_csv(answers))
        out = tmp_path / "model.skops"
        result = call("fit", folder / "points.csv", written, "-o", out, "--quiet")
        assert result.exit_code == 0, result.output
        assert out.exists()

    def test_what_people_typed_is_no_formula(self, stored):
        _, answers = stored
        rows = list(csv.reader(io.StringIO(pairs_csv(answers).decode())))
        header = "left,right,answer,annotator,time,comment,purpose,round,why"
        assert ",".join(rows[0]) == header
        comments = {row[5] for row in rows[1:]}
        assert "'=HYPERLINK(1)" in comments
        assert "fine\n=1+1" in comments
        assert {len(row) for row in rows} == {len(rows[0])}
        assert not any(cell.startswith(("=", "@")) for row in rows[1:] for cell in row)

    def test_the_server_gets_it_from_a_program_of_its_own(self, stored, tmp_path):
        folder, answers = stored
        files = MadeFiles(folder / "points.csv", answers, known=Known())
        assert asyncio.run(files.pairs_csv()) == pairs_csv(answers)
        broken = tmp_path / "broken.sqlite"
        broken.write_bytes(b"x" * 200)
        files = MadeFiles(folder / "points.csv", broken, known=Known())
        with pytest.raises(Refused, match=r"broken\.sqlite is not a file of answers"):
            asyncio.run(files.pairs_csv())
