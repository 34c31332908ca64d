"""Commands that are ended, that cannot write or print, and what they leave behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pairlearn import Pairs, load, save
from pairlearn.cli.app import app
from pairlearn.cli.exits import Terminated, reason, reporting_errors
from pairlearn.cli.outputs import digest_of
from pairlearn.files.saving import describe
from pairlearn.models.linear import MCLClassifier

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")

# A suite under nohup, or in the background, hands on that it ignores these.
HEEDS = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
"""


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Tables, and a model of them that is made in a moment."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    y = np.arange(160) % 10 < 6
    points = pd.DataFrame(
        {
            "id": [f"p{k:03}" for k in range(160)],
            "x": (rng.normal(size=160) + 2 * y).round(4),
            "z": rng.normal(size=160).round(4),
        }
    )
    points.to_csv(folder / "points.csv", index=False)
    order = rng.permutation(160)[:120].reshape(-1, 2)
    pairs = pd.DataFrame(
        {
            "left": points["id"].to_numpy()[order[:, 0]],
            "right": points["id"].to_numpy()[order[:, 1]],
            "answer": np.where(y[order[:, 0]] == y[order[:, 1]], "same", "different"),
        }
    )
    pairs.to_csv(folder / "pairs.csv", index=False)
    given = Pairs(points[["x", "z"]], order)
    t = np.where(pairs["answer"] == "same", 1, -1)
    save(MCLClassifier(random_state=0).fit(given, t), folder / "model.skops")
    return folder


@pytest.fixture
def tables(made, tmp_path):
    """Copies of the tables and the model, in a folder of the test's own."""
    for name in ("points.csv", "pairs.csv", "model.skops"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


TABLES = ["model.skops", "pairs.csv", "points.csv"]


class TestSignals:
    def end(self, copies, tables, number, where, *words):
        """Send a signal to a command that waits at a function."""
        ready = tables / "ready"
        command = copies.start(*words, cwd=tables, waits=(ready, where))
        while not ready.exists():
            assert not command.has_ended(0.02), command.result()
        before = names(tables)
        os.kill(command.pid, number)
        result = command.result()
        ready.unlink()
        return result.returncode, result.stdout, result.stderr, before

    @POSIX
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
    def test_nothing_half_written_stays(self, copies, tables, number):
        (tables / "out.csv").write_text("old")
        code, out, err, before = self.end(
            copies, tables, number, "pairlearn.cli.predict._predict",
            "predict", "model.skops", "points.csv", "-o", "out.csv",
        )  # fmt: skip
        assert any(name.startswith(".partial-") for name in before)
        said = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
        assert (code, out) == (128 + number, "")
        assert err == f"{said}; nothing was written\n"
        assert names(tables) == sorted([*TABLES, "out.csv"])
        assert (tables / "out.csv").read_text() == "old"

    @POSIX
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_a_fit_that_is_ended_replaces_neither_file(self, copies, tables, number):
        (tables / "page.html").write_text("old")
        model = (tables / "model.skops").read_bytes()
        code, _, err, before = self.end(
            copies, tables, number, "pairlearn.cli.outputs.digest_of",
            "fit", "points.csv", "pairs.csv", "-o", "model.skops",
            "--report", "page.html",
        )  # fmt: skip
        assert any(name.startswith(".partial-") for name in before)
        said = "interrupted" if number == signal.SIGINT else "ended by SIGTERM"
        assert (code, err) == (128 + number, f"{said}; nothing was written\n")
        assert names(tables) == sorted([*TABLES, "page.html"])
        assert (tables / "page.html").read_text() == "old"
        assert (tables / "model.skops").read_bytes() == model

    @POSIX
    def test_before_any_command_has_begun(self):
        code = HEEDS + (
            "import os, signal, sys\n"
            "from pairlearn.cli import exits\n"
            "with exits.in_order():\n"
            "    os.kill(os.getpid(), getattr(signal, sys.argv[1]))\n"
            "    signal.pause()\n"
        )
        for name, said in (("SIGINT", "interrupted"), ("SIGTERM", "ended by SIGTERM")):
            result = subprocess.run(
                [sys.executable, "-c", code, name], capture_output=True, text=True,
                timeout=600, check=False,
            )  # fmt: skip
            assert result.returncode == 128 + getattr(signal, name)
            assert result.stderr == f"{said}; nothing was written\n"

    @POSIX
    def test_handlers_and_streams_are_given_back(self):
        code = (
            "import signal, sys\n"
            "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
            "streams = sys.stdout, sys.stderr\n"
            "from pairlearn.cli import exits, main\n"
            "with exits._signals():\n"
            "    assert callable(signal.getsignal(signal.SIGTERM))\n"
            "    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN\n"
            "sys.argv[1:] = ['--version']\n"
            "try:\n"
            "    main()\n"
            "except SystemExit as end:\n"
            "    assert end.code == 0, end.code\n"
            "assert (sys.stdout, sys.stderr) == streams\n"
            "assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL\n"
            "assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN\n"
        )
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=600,
            check=False,
        )  # fmt: skip
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout.startswith("pairlearn ")

    def test_a_second_signal_does_not_break_off_the_cleaning_up(self):
        from pairlearn.cli.exits import _signals

        def twice():
            with _signals():
                try:
                    signal.raise_signal(signal.SIGTERM)
                finally:
                    signal.raise_signal(signal.SIGTERM)
                    cleaned.append(True)

        cleaned = []
        with pytest.raises(Terminated, match="ended by SIGTERM"):
            twice()
        assert cleaned


class TestRoom:
    @POSIX
    @pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet"])
    def test_predictions(self, copies, tables, name):
        (tables / name).write_text("old")
        result = copies.run(
            "predict", "model.skops", "points.csv", "-o", name, cwd=tables, limit=500
        )
        assert result.returncode == 1
        assert result.stderr == (
            f"{name} could not be written: it would be larger than the largest file "
            "allowed here\n"
        )
        assert (tables / name).read_text() == "old"
        assert names(tables) == sorted([*TABLES, name])

    @POSIX
    def test_a_model_and_its_page(self, copies, tables):
        model = (tables / "model.skops").read_bytes()
        result = copies.run(
            "fit", "points.csv", "pairs.csv", "-o", "model.skops", "--report",
            "page.html", cwd=tables, limit=2000,
        )  # fmt: skip
        assert result.returncode == 1
        assert result.stderr.startswith("model.skops could not be written: ")
        assert (tables / "model.skops").read_bytes() == model
        assert names(tables) == TABLES

    @POSIX
    def test_practice_tables(self, copies, tmp_path):
        result = copies.run("datasets", "cancer", "-o", "new", cwd=tmp_path, limit=1000)
        assert result.returncode == 1
        assert "points.csv could not be written" in result.stderr
        assert names(tmp_path) == []

    def test_what_is_said(self):
        import errno

        def of(number):
            return reason(OSError(number, os.strerror(number), "m.skops"))

        assert of(errno.ENOSPC) == (
            "m.skops could not be written: there is no space left on the disk"
        )
        assert "your share of the disk" in of(errno.EDQUOT)
        assert of(errno.EACCES) == "m.skops: Permission denied"
        assert reason(OSError("a sentence")) == "a sentence"


class TestPrinting:
    @FULL
    @pytest.mark.parametrize(
        ("words", "written"),
        [
            (["predict", "model.skops", "points.csv", "-o", "out.csv"], "out.csv"),
            (["explain", "model.skops"], ""),
            (["datasets", "cancer", "-o", "new"], "new"),
            (["plan", "--prior", "0.6"], ""),
            (["--help"], ""),
        ],
    )
    def test_a_full_standard_output_is_told(self, copies, tables, words, written):
        with Path("/dev/full").open("w") as full:
            result = copies.run(*words, cwd=tables, stdout=full)
        told = "the result could not be printed on standard output: No space left on "
        told += "device" + f"; written: {written}" * bool(written) + "\n"
        assert (result.returncode, result.stderr) == (3, told)
        assert not written or (tables / written).exists()

    @FULL
    def test_neither_can_be_printed_on(self, copies, tables):
        with Path("/dev/full").open("w") as full:
            result = copies.run(
                "predict", "model.skops", "points.csv", "-o", "out.csv", cwd=tables,
                stdout=full, stderr=full,
            )  # fmt: skip
            assert result.returncode == 3
            result = copies.run(
                "check", "points.csv", "none.csv", stderr=full, cwd=tables
            )
        assert result.returncode == 2
        assert (tables / "out.csv").exists()

    @POSIX
    def test_a_reader_that_has_had_enough(self, copies, tables):
        read, write = os.pipe()
        os.close(read)
        try:
            result = copies.run(
                "predict", "model.skops", "points.csv", "-o", "out.csv", cwd=tables,
                stdout=write,
            )  # fmt: skip
        finally:
            os.close(write)
        assert (result.returncode, result.stderr) == (0, "")
        assert len((tables / "out.csv").read_text().splitlines()) == 161

    @POSIX
    def test_no_standard_output_at_all(self, tables):
        # Not a copy: what Python makes of a stream that is not there counts here.
        result = subprocess.run(
            [
                sys.executable, "-W", "error", "-m", "pairlearn",
                "predict", "model.skops", "points.csv", "-o", "out.csv",
            ],
            stderr=subprocess.PIPE, text=True, timeout=600, check=False, cwd=tables,
            preexec_fn=lambda: os.close(1),
        )  # fmt: skip
        assert (result.returncode, result.stderr) == (0, "")
        assert len((tables / "out.csv").read_text().splitlines()) == 161


class TestModelAndPage:
    @pytest.fixture
    def fitted(self, tables, quick):  # noqa: ARG002
        def fit(*words):
            result = call(
                "fit", tables / "points.csv", tables / "pairs.csv",
                "-o", tables / "model.skops", *words,
            )  # fmt: skip
            assert result.exit_code == 0, result.output
            return result.stdout

        return fit

    def test_the_page_says_to_which_model_it_belongs(self, tables, fitted):
        out = fitted("--report", tables / "page.html")
        page = (tables / "page.html").read_text()
        digest = digest_of(tables / "model.skops")
        assert f"<code>{digest}</code>" in page
        assert f"SHA-256 of the model file: {digest}\n" in out
        assert digest in call("explain", tables / "model.skops").stdout
        model = (tables / "model.skops").read_bytes()
        fitted("--report", tables / "page.html")
        assert (tables / "model.skops").read_bytes() == model
        assert (tables / "page.html").read_text() == page
        fitted()
        assert (tables / "model.skops").read_bytes() == model
        fitted("--seed", "1", "--report", tables / "page.html")
        assert digest not in (tables / "page.html").read_text()

    @pytest.mark.usefixtures("quick")
    def test_a_page_that_fails_leaves_the_old_model(self, tables, monkeypatch):
        def fail(*_):
            raise ValueError("no page today")

        monkeypatch.setattr("pairlearn.cli.page.write_page", fail)
        model = (tables / "model.skops").read_bytes()
        result = call(
            "fit", tables / "points.csv", tables / "pairs.csv",
            "-o", tables / "model.skops", "--report", tables / "page.html",
        )  # fmt: skip
        assert (result.exit_code, result.stderr) == (1, "no page today\n")
        assert (tables / "model.skops").read_bytes() == model
        assert names(tables) == TABLES

    def test_fingerprints_are_salted(self, tables, fitted):
        fitted()
        one = describe(tables / "model.skops")["about"]["seen"]
        fitted("--seed", "1")
        two = describe(tables / "model.skops")["about"]["seen"]

        def marks(seen, what):
            text = seen[what]
            return {text[k : k + 10] for k in range(0, len(text), 10)}

        assert len(one["salt"]) == 32
        assert one["salt"] != two["salt"]
        for what in ("ids", "features"):
            assert len(marks(one, what)) > 60
            assert not marks(one, what) & marks(two, what)

    def test_points_that_are_forgotten(self, tables, fitted):
        fitted("--forget-points")
        assert describe(tables / "model.skops")["about"]["seen"] is None
        load(tables / "model.skops")
        words = [tables / name for name in ("model.skops", "points.csv", "pairs.csv")]
        result = call("certify", *words)
        assert result.exit_code == 0
        assert "the model does not record which points it learned from" in result.stdout
        fitted()
        result = call("certify", *words)
        assert "the model does not tell" not in result.stdout


def test_what_was_written_is_told_with_what_went_wrong(capsys):
    from typer import Exit

    def fail():
        with reporting_errors() as written:
            written.append(Path("model.skops"))
            raise PermissionError(13, "Permission denied", "page.html")

    with pytest.raises(Exit):
        fail()
    err = capsys.readouterr().err
    assert err == "page.html: Permission denied; written: model.skops\n"
