"""Files are written as a whole or not at all, and leave nothing behind."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from pairlearn.system import writing as files
from pairlearn.system.writing import replacing, write_files

WRITE = """
import sys, time
from pathlib import Path
from types import SimpleNamespace
from pairlearn.system.writing import replacing
with replacing(Path(sys.argv[1])) as partial:
    partial.write_text("half")
    print("ready", flush=True)
    time.sleep(600)
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def partial_of(process, folder, machine=None, age=0):
    """A file that a process left."""
    name = f".partial-{machine or files._machine()}-{process}-{'0' * 12}.csv"
    path = folder / name
    path.write_text("half")
    os.utime(path, (time.time() - age,) * 2)
    return path


def dead_process():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait(timeout=120)
    return process.pid


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_what_a_killed_process_left_is_removed(tmp_path):
    path = tmp_path / "out.csv"
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, path], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    (left,) = names(tmp_path)
    # While that process runs, its file is its own.
    write_files({tmp_path / "other.csv": b"1"})
    assert names(tmp_path) == [left, "other.csv"]
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=120)
    assert names(tmp_path) == [left, "other.csv"]
    write_files({tmp_path / "other.csv": b"2"})
    assert names(tmp_path) == ["other.csv"]


@pytest.mark.skipif(os.name != "posix", reason="process numbers")
def test_only_what_is_surely_stale_is_removed(tmp_path):
    gone, there, day = dead_process(), os.getpid(), 86_400
    elsewhere = "0123456789ab"
    kept = [
        partial_of(there, tmp_path),
        partial_of(gone, tmp_path, elsewhere),
        partial_of(gone, tmp_path, elsewhere[::-1], age=day - 600),
    ]
    for name in (".partial-", ".partial-x.csv", ".partial-0011-1-22.csv", "partial"):
        kept.append(tmp_path / name)
        kept[-1].write_text("somebody's")
        os.utime(kept[-1], (0, 0))
    folder = tmp_path / f".partial-{files._machine()}-{gone}-{'1' * 12}"
    folder.mkdir()
    kept.append(folder)
    stale = [
        partial_of(gone, tmp_path),
        partial_of(there + 1, tmp_path, "ffffffffffff", age=day + 600),
    ]
    write_files({tmp_path / "out.csv": b"1"})
    assert not any(path.exists() for path in stale)
    assert all(path.exists() for path in kept)


def test_where_processes_cannot_be_asked_for_none_is_taken_for_gone(monkeypatch):
    """On Windows os.kill(process, 0) would end the process."""

    def kill(*_):
        raise AssertionError("it would end the process")

    monkeypatch.setattr(files, "os", SimpleNamespace(name="nt", kill=kill))
    assert files._is_running(1)


def test_a_folder_that_cannot_be_listed_is_no_problem(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(files.os, "scandir", refuse)
    write_files({tmp_path / "out.csv": b"1"})
    assert (tmp_path / "out.csv").read_bytes() == b"1"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
@pytest.mark.parametrize("step", ["write", "fsync"])
def test_no_room_names_the_file(tmp_path, monkeypatch, number, step):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_bytes(b"old")

    def fail(*_):
        raise OSError(number, os.strerror(number))

    def write():
        if step == "fsync":
            monkeypatch.setattr(files.os, "fsync", fail)
            write_files({old: b"1", new: b"2"})
        with replacing(old) as partial:
            partial.write_text("half")
            fail()

    with pytest.raises(OSError, match=r"old\.csv") as caught:
        write()
    assert caught.value.filename == str(old)
    assert caught.value.errno == number
    assert old.read_bytes() == b"old"
    assert names(tmp_path) == ["old.csv"]


def test_the_file_that_failed_is_named_not_the_others(tmp_path, monkeypatch):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    sync, done = os.fsync, []

    def fail(number):
        done.append(number)
        if len(done) == 2:
            raise OSError(errno.ENOSPC, "no room")
        sync(number)

    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.raises(OSError, match=r"second\.csv"):
        write_files({first: b"1", second: b"2"})
    assert names(tmp_path) == []


def test_errors_of_other_files_stay_theirs(tmp_path):
    def write():
        with replacing(tmp_path / "out.csv") as partial:
            partial.write_text("half")
            Path(tmp_path / "missing").read_text()

    with pytest.raises(FileNotFoundError, match="missing"):
        write()
    with pytest.raises(OSError, match=r"^nameless$") as caught, replacing(
        tmp_path / "out.csv"
    ):  # fmt: skip
        raise OSError("nameless")
    assert caught.value.filename is None


def test_a_name_that_nobody_knows_is_not_shown(tmp_path):
    """What was not written at all is reported by the name that was asked for."""
    with pytest.raises(FileNotFoundError, match=r"out\.csv") as caught, replacing(
        tmp_path / "out.csv"
    ):  # fmt: skip
        pass
    assert ".partial" not in str(caught.value)


class TestFiles:
    def test_replacing_is_all_or_nothing(self, tmp_path):
        path = tmp_path / "out.csv"
        path.write_text("old")
        path.chmod(0o600)

        def interrupted():
            with replacing(path) as partial:
                partial.write_text("half")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert path.read_text() == "old"
        with replacing(path) as partial:
            assert partial.suffix == ".csv"
            partial.write_text("new")
            assert path.read_text() == "old"
        assert path.read_text() == "new"
        assert path.stat().st_mode & 0o777 == 0o600
        assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]

    def test_a_long_name_can_be_written(self, tmp_path):
        path = tmp_path / ("x" * 240 + ".csv")
        with replacing(path) as partial:
            partial.write_text("new")
        assert path.read_text() == "new"
