"""Threads that wait for work."""

import contextvars
import os
import threading
import time
import weakref

import pytest

from pairlearn.system.thread_pool import ThreadPool
from pairlearn.system.threads import map_threads, n_threads, own_threads

# A limit, in seconds, for what waits in vain.
LONG = 120


def n_helpers():
    """How many there are; threads that other tests left behind come and go."""
    return sum(one.name.endswith("(_help)") for one in threading.enumerate())


def test_a_helper_does_the_work_and_is_kept():
    names, there = [], threading.Barrier(2, timeout=LONG)

    def work():
        names.append(threading.current_thread().name)
        there.wait()

    with ThreadPool(2) as pool:
        for _ in range(3):
            jobs = pool.hand_out(work, 1)
            there.wait()
            pool.settle(jobs)
        assert threading.current_thread().name not in names
    assert len(names) == 3
    assert len(set(names)) == 1


def test_work_that_nobody_began_is_not_waited_for():
    busy, free, done = threading.Event(), threading.Event(), []

    def first():
        busy.set()
        free.wait(LONG)

    with ThreadPool(2) as pool:
        jobs = pool.hand_out(first, 1)
        assert busy.wait(LONG)
        # The only helper is at work on something else.
        pool.settle(pool.hand_out(lambda: done.append("late"), 1))
        free.set()
        pool.settle(jobs)
    assert done == []


def test_settling_waits_for_what_was_begun():
    begun, done = threading.Event(), []

    def work():
        begun.set()
        threading.Event().wait(0.05)
        done.append("done")

    with ThreadPool(2) as pool:
        jobs = pool.hand_out(work, 1)
        assert begun.wait(LONG)
        pool.settle(jobs)
        assert done == ["done"]


def test_no_thread_is_left_and_none_starts_afterwards():
    before = n_helpers()
    with ThreadPool(3) as pool:
        pool.settle(pool.hand_out(lambda: None, 2))
        assert n_helpers() == before + 2
    assert n_helpers() == before
    assert pool.hand_out(lambda: None, 2) == []
    assert n_helpers() == before


def test_what_was_worked_on_is_not_kept():
    class Large:
        pass

    begun = threading.Event()
    large = Large()
    forgotten = weakref.ref(large)

    def work(_=large):
        begun.set()

    with ThreadPool(2) as pool:
        jobs = pool.hand_out(work, 1)
        assert begun.wait(LONG)
        pool.settle(jobs)
        del work, jobs, large
        # The helper forgets it a moment after it was settled with.
        for _ in range(100 * LONG):
            if forgotten() is None:
                break
            time.sleep(0.01)
        assert forgotten() is None


def test_no_thread_starts_without_need():
    before = n_helpers()
    with ThreadPool(8):
        assert n_helpers() == before


def test_a_fit_keeps_its_helpers(monkeypatch):
    monkeypatch.setattr("pairlearn.system.threads._blas_threads", lambda: 2)
    started = []
    start = threading.Thread.start
    monkeypatch.setattr(
        threading.Thread, "start", lambda self: (started.append(self), start(self))[1]
    )
    with own_threads():
        for _ in range(5):
            assert map_threads(abs, [-1, 2, -3]) == [1, 2, 3]
            with own_threads():
                assert map_threads(abs, [-1, 2, -3]) == [1, 2, 3]
        assert len(started) == 1
    assert not started[0].is_alive()


@pytest.mark.parametrize("at", [1, 2])
def test_an_interrupt_while_helpers_start_leaves_none(at, monkeypatch):
    started, start = [], threading.Thread.start

    def interrupted(self):
        start(self)
        started.append(self)
        if len(started) == at:
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt), ThreadPool(3) as pool:
        pool.hand_out(lambda: None, 2)
    for helper in started:
        helper.join(LONG)
        assert not helper.is_alive()


def test_what_nobody_began_is_forgotten():
    class Large:
        pass

    large = Large()
    forgotten = weakref.ref(large)
    pool = ThreadPool(1)
    # As after a fork: jobs are handed out, and there is nobody to take them.
    pool._helpers = [threading.current_thread()]
    pool.settle(pool.hand_out(lambda _=large: None, 1))
    del large
    assert forgotten() is None


def test_a_context_that_outlives_a_fit_has_threads_again(monkeypatch):
    monkeypatch.setattr("pairlearn.system.threads._blas_threads", lambda: 2)
    with own_threads():
        kept = contextvars.copy_context()
    meeting = threading.Barrier(2, timeout=LONG)

    def later():
        with own_threads():
            map_threads(lambda _: meeting.wait(), range(2))
        return n_threads()

    assert kept.run(later) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_works_without_its_helpers(monkeypatch):
    monkeypatch.setattr("pairlearn.system.threads._blas_threads", lambda: 2)
    with own_threads():
        map_threads(abs, [-1, 2])
        child = os.fork()
        if child == 0:
            os._exit(0 if map_threads(abs, [-1, 2, -3]) == [1, 2, 3] else 1)
        assert os.waitpid(child, 0)[1] == 0
