"""Work divided among threads."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from pairlearn import CIPSClassifier, Pairs
from pairlearn.engine.backends.numpy import dense
from pairlearn.system import threads
from pairlearn.system.thread_pool import ThreadPool
from pairlearn.system.threads import (
    block_bounds,
    map_threads,
    n_threads,
    own_threads,
    single_blas,
)

# A limit, in seconds, for what waits in vain.
LONG = 120


def n_helpers():
    """How many there are; threads that other tests left behind come and go."""
    return sum(one.name.endswith("(_help)") for one in threading.enumerate())


def blas_threads():
    libraries = threadpool_info()
    return [one["num_threads"] for one in libraries if one["user_api"] == "blas"]


@pytest.fixture
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if set(blas_threads()) != {2}:
            pytest.skip("this BLAS has no threads")
        yield


def test_as_many_threads_as_blas_has():
    for n in (1, 2):
        with threadpool_limits(n, user_api="blas"):
            assert n_threads() == min(blas_threads())


@pytest.mark.usefixtures("two_threads")
class TestEach:
    def test_results_come_in_order(self):
        def late(k):
            time.sleep(0.01 * (k % 2))
            return k

        assert map_threads(late, range(7)) == list(range(7))

    def test_threads_work_at_once(self):
        meeting = threading.Barrier(2, timeout=LONG)
        map_threads(lambda _: meeting.wait(), range(2))

    def test_blas_is_limited_meanwhile_and_free_afterwards(self):
        seen = map_threads(lambda _: blas_threads(), range(4))
        assert all(set(one) == {1} for one in seen)
        assert set(blas_threads()) == {2}

    @pytest.mark.parametrize("bad", [0, 3])
    def test_an_error_ends_the_work_and_is_raised(self, bad):
        done, failed = [], threading.Event()

        def fail(k):
            if k == bad:
                failed.set()
                raise OSError("no")
            if k > bad:
                assert failed.wait(LONG)
                # Long against the moment in which the other thread ends the work.
                time.sleep(0.05)
            done.append(k)

        before = n_helpers()
        with pytest.raises(OSError, match="no"):
            map_threads(fail, range(1000))
        assert len(done) < 999
        assert n_helpers() == before
        assert set(blas_threads()) == {2}

    def test_few_parts(self):
        assert map_threads(abs, []) == []
        assert map_threads(abs, [-2]) == [2]

    def test_a_fit_leaves_no_threads_and_no_limits(self, monkeypatch):
        monkeypatch.setattr(dense, "FEW", 1)
        monkeypatch.setattr(dense, "PART_BYTES", 10_000)
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=400)
        pairs, t = Pairs.sample(rng.normal(size=(400, 3)) + y[:, None], 200, y)
        before = n_helpers()
        CIPSClassifier().fit(pairs, t)
        assert n_helpers() == before
        assert set(blas_threads()) == {2}


def test_single_blas():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with single_blas():
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


@pytest.mark.parametrize("n", [0, 1, 5, 6])
def test_ranges_cover_all(n):
    numbers = [k for low, high in block_bounds(n, 3, 10) for k in range(low, high)]
    assert numbers == list(range(10, 10 + n))


OVERLAP = """
import threading
from pairlearn.system.threads import n_threads, own_threads

first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
before, seen = n_threads(), []

def first():
    with own_threads():
        seen.append(n_threads())
        first_is_in.set()
        assert second_is_in.wait(120)
    first_is_out.set()

def second():
    assert first_is_in.wait(120)
    with own_threads():
        seen.append(n_threads())
        second_is_in.set()
        assert first_is_out.wait(120)

threads = [threading.Thread(target=run) for run in (first, second)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(before, *seen, n_threads())
"""


def test_fits_that_overlap_put_back_what_was_there():
    """The first to come is not the last to leave; in a process without limits."""
    done = subprocess.run(
        [sys.executable, "-c", OVERLAP],
        env=os.environ | {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    before, *after = done.stdout.split()
    assert after == [before] * 3


@pytest.mark.usefixtures("two_threads")
def test_an_interrupt_leaves_no_thread():
    begun = threading.Event()

    def interrupted(k):
        if threading.current_thread() is threading.main_thread():
            begun.set()
            raise KeyboardInterrupt
        # Else the helper might do everything before the main thread comes to it.
        assert begun.wait(LONG)
        return k

    before = n_helpers()
    with pytest.raises(KeyboardInterrupt):
        map_threads(interrupted, range(50))
    assert n_helpers() == before
    assert set(blas_threads()) == {2}


@pytest.mark.usefixtures("two_threads")
def test_other_threads_take_overflows_as_the_caller_does():
    meeting = threading.Barrier(2, timeout=LONG)

    def overflow(_):
        meeting.wait()
        return np.float64(1e300) * np.float64(1e300)

    with np.errstate(over="ignore"):
        assert map_threads(overflow, range(2)) == [np.inf, np.inf]
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        map_threads(overflow, range(2))


@pytest.mark.usefixtures("two_threads")
def test_an_interrupt_before_the_work_ends_it(monkeypatch):
    done, hand_out = [], ThreadPool.hand_out

    def interrupted(self, *given):
        hand_out(self, *given)
        raise KeyboardInterrupt

    monkeypatch.setattr(ThreadPool, "hand_out", interrupted)
    with pytest.raises(KeyboardInterrupt):
        # Long against the moment in which the interrupt ends the work.
        map_threads(lambda k: (time.sleep(0.5), done.append(k)), range(100))
    assert len(done) < 50
    assert set(blas_threads()) == {2}


@pytest.mark.usefixtures("two_threads")
def test_an_interrupt_while_blas_is_taken_gives_it_back(monkeypatch):
    class Interrupted:
        def limit(self, **_):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threads, "_blas_threads", lambda: 2)
        patch.setattr(threads, "_blas", Interrupted)
        with pytest.raises(KeyboardInterrupt), own_threads():
            pass
    with own_threads():
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {2}
