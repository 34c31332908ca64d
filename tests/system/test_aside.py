"""Work in a copy of this process: what comes back, and what cannot hold it up."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from pairlearn.system import aside
from pairlearn.system.aside import EndedError, work_aside

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="there are no copies elsewhere"),
    # Python 3.12 and later warn of every fork beside threads.
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]
LONG = 120
NICE = aside._NICE


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Copies do not wait until all other tests are idle."""
    monkeypatch.setattr(aside, "_NICE", 0)


def blas_threads():
    libraries = threadpool_info()
    return {one["num_threads"] for one in libraries if one["user_api"] == "blas"}


def test_results_and_problems_come_back_and_nothing_is_left():
    def refuse():
        raise ValueError("no model can be made of this")

    copy = work_aside(os.getpid)
    assert copy != os.getpid()
    with pytest.raises(ValueError, match="no model can be made of this"):
        work_aside(refuse)
    with pytest.raises(EndedError, match="ended before it was done"):
        work_aside(lambda: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(ChildProcessError):
        os.waitpid(copy, os.WNOHANG)


def test_without_room_for_a_copy_it_is_done_here(monkeypatch):
    def no_fork():
        raise BlockingIOError(11, "Resource temporarily unavailable")

    make, close = os.pipe, os.close
    opened, closed = [], []
    monkeypatch.setattr(os, "fork", no_fork)
    monkeypatch.setattr(os, "pipe", lambda: opened.append(make()) or opened[-1])
    monkeypatch.setattr(os, "close", lambda each: closed.append(each) or close(each))
    assert work_aside(os.getpid) == os.getpid()
    assert set(opened[0]) <= set(closed)


def test_where_the_end_of_children_is_ignored():
    # As some programs that start others have it, and it is passed on.
    program = (
        "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "from pairlearn.system.aside import work_aside\n"
        "print(work_aside(lambda: 42))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.stdout == "42\n", done.stderr


def test_the_copy_has_its_own_number_of_threads():
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("this BLAS has no threads")
    with threadpool_limits(1):
        assert work_aside(blas_threads, 2) == {2}
        assert blas_threads() == {1}


def test_in_the_back_room_no_thread_of_blas_is_lost_by_a_fork():
    # With several, whoever computes while another thread forks waits for ever.
    program = (
        "import os\n"
        "os.cpu_count = lambda: 8\n"
        "import numpy\n"
        "from threadpoolctl import threadpool_info\n"
        "from pairlearn.label import back_room, interviewer\n"
        "class Room:\n"
        "    def __init__(self, *_): pass\n"
        "    def run(self):\n"
        "        print({one['num_threads'] for one in threadpool_info()})\n"
        "class Front:\n"
        "    def recv(self): return ('end',)\n"
        "    def send(self, message): pass\n"
        "interviewer.Interviewer = Room\n"
        "back_room.enter(Front(), {})\n"
    )
    several = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "4")
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
        env=os.environ | several,
    )
    assert done.stdout == "{1}\n", done.stderr


def test_what_it_changes_is_changed_in_the_copy_alone():
    found = []
    assert work_aside(lambda: found.append(1) or bytes(10**6)) == bytes(10**6)
    assert found == []


def test_it_works_in_a_process_of_lower_priority(monkeypatch):
    monkeypatch.setattr(aside, "_NICE", NICE)
    number, nice = work_aside(lambda: (os.getpid(), os.nice(0)))
    assert number != os.getpid()
    assert nice > os.nice(0) or nice == 19


def test_other_threads_go_on_meanwhile():
    """The copy waits for a thread of ours, which could not go on in its own place."""
    reading, writing = os.pipe()
    thread = threading.Thread(target=os.write, args=(writing, b"x"))

    def work():
        return os.read(reading, 1)

    threading.Timer(0.05, thread.start).start()
    assert work_aside(work) == b"x"
    thread.join()
    os.close(reading)
    os.close(writing)


def test_the_copy_ends_with_its_parent():
    """A program that is killed while it waits leaves no copy behind."""
    code = (
        "import os, sys, time\n"
        "from pairlearn.system.aside import work_aside\n"
        "def work():\n"
        "    print(os.getpid(), flush=True)\n"
        "    time.sleep(600)\n"
        "work_aside(work)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    )
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    # The pipe of its output is at its end when the last process that has it is gone.
    assert parent.stdout.read() == ""
    parent.stdout.close()
    assert not Path(f"/proc/{child}/exe").exists()
