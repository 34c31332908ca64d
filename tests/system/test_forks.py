"""Processes that fork while other threads fit: no child waits for a lost thread."""

import multiprocessing
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from scipy.sparse.linalg import eigsh
from threadpoolctl import threadpool_info, threadpool_limits

from pairlearn import CIPSClassifier, MCLClassifier, Pairs, SDClassifier
from pairlearn.engine.backends.numpy import dense
from pairlearn.engine.backends.numpy import risk_sums as terms
from pairlearn.system import threads
from pairlearn.system.forks import unforked
from pairlearn.system.once import once
from pairlearn.system.thread_pool import ThreadPool
from pairlearn.system.threads import map_threads, own_threads, single_blas

pytestmark = [
    pytest.mark.skipif(
        sys.platform != "linux", reason="elsewhere a fork breaks the system's libraries"
    ),
    # Python 3.12 and later warn of every fork beside threads.
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]

X = np.random.default_rng(0).normal(size=(300, 3))
PAIRS, T = Pairs.sample(X, 150, X[:, 0] > 0, random_state=0)
# Of each: closed form, gradient and eigenvectors, batches.
MODELS = [
    CIPSClassifier(random_state=0),
    CIPSClassifier(loss="squared", random_state=0),
    CIPSClassifier(solver="sgd", max_iter=3, random_state=0),
    MCLClassifier(random_state=0),
    SDClassifier(prior=0.6, random_state=0),
]
# A limit for what hangs; a child takes hundredths of a second.
LONG = 120


def fit(number):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        MODELS[number % len(MODELS)].fit(PAIRS, T)


def in_children(n, work):
    """Return how many of n forked children end well; who hangs is killed."""
    context = multiprocessing.get_context("fork")
    good = 0
    for number in range(n):
        child = context.Process(target=work, args=(number,), daemon=True)
        child.start()
        child.join(LONG)
        hangs = child.exitcode is None
        if hangs:
            child.kill()
            child.join()
        good += child.exitcode == 0
        child.close()
        if hangs:
            # One is enough: the others would take as long.
            break
    return good


@pytest.fixture
def beside():
    """Threads that do a piece of work again and again, until the test ends."""
    stop, workers = threading.Event(), []

    def begin(work, n):
        def loop(number):
            while not stop.is_set():
                work(number)
                number += 1

        for number in range(n):
            workers.append(threading.Thread(target=loop, args=(number,), daemon=True))
            workers[-1].start()

    yield begin
    stop.set()
    for worker in workers:
        worker.join(LONG)
        assert not worker.is_alive()


@pytest.mark.parametrize("fast", [True, False], ids=["numba", "numpy"])
def test_children_fit_while_threads_fit(fast, beside, monkeypatch):
    if fast:
        pytest.importorskip("numba")
    else:
        for module in (dense, terms):
            monkeypatch.setattr(module, "compiled_module", lambda: None)
    for number in range(len(MODELS)):
        fit(number)
    beside(fit, 3)
    # Four of each model.
    assert in_children(20, fit) == 20


class Slow:
    """Something whose attribute takes a while."""

    @once
    def value(self):
        time.sleep(0.002)
        return 1


def read_slow(_):
    assert Slow().value == 1


def test_an_attribute_that_another_thread_computes_is_computed(beside):
    beside(read_slow, 2)
    assert in_children(20, read_slow) == 20


def find_directions(_):
    matrix = np.random.default_rng(0).normal(size=(100, 100))
    assert eigsh(matrix + matrix.T, k=2)[1].shape == (100, 2)


def test_eigenvectors_that_another_thread_computes_are_computed(beside):
    """Earlier versions of SciPy hold a lock while they do."""
    beside(find_directions, 2)
    assert in_children(20, find_directions) == 20


def test_an_attribute_is_computed_once_and_is_the_same_for_all_threads():
    made, start = [], threading.Barrier(4)

    class Thing:
        @once
        def value(self):
            """Say something."""
            return object()

    thing = Thing()

    def look():
        start.wait(LONG)
        made.append(thing.value)

    lookers = [threading.Thread(target=look) for _ in range(4)]
    for one in lookers:
        one.start()
    for one in lookers:
        one.join()
    assert len(made) == 4
    assert len({id(one) for one in made}) == 1
    assert thing.value is made[0]
    assert Thing().value is not thing.value
    assert Thing.value.__doc__ == "Say something."


def test_a_fork_waits_for_what_must_not_be_cut(beside):
    """Here a lock that a child would need, as imports and compilers have one."""
    lock = threading.Lock()

    def hold(_):
        with unforked, lock:
            time.sleep(0.002)

    def need(_):
        assert lock.acquire(timeout=LONG / 2)

    beside(hold, 2)
    assert in_children(20, need) == 20


@pytest.fixture
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if set(blas_threads()) != {2}:
            pytest.skip("this BLAS has no threads")
        yield


def blas_threads():
    libraries = threadpool_info()
    return [one["num_threads"] for one in libraries if one["user_api"] == "blas"]


@pytest.mark.usefixtures("two_threads")
class TestThreadsOfBlas:
    def test_a_child_has_those_that_another_thread_had_taken(self):
        good = []

        def look(_):
            with own_threads():
                assert threads.n_threads() == 2
                assert set(blas_threads()) == {1}
            assert set(blas_threads()) == {2}

        with own_threads():
            assert set(blas_threads()) == {1}
            other = threading.Thread(target=lambda: good.append(in_children(3, look)))
            other.start()
            other.join()
        assert good == [3]
        assert set(blas_threads()) == {2}

    def test_a_child_of_a_fit_has_helpers_of_its_own(self):
        def meet(_):
            both = threading.Barrier(2, timeout=LONG / 2)
            with own_threads():
                map_threads(lambda _: both.wait(), range(2))
            fit(0)

        with own_threads():
            # The helper is there, and waits.
            map_threads(lambda _: None, range(2))
            assert in_children(3, meet) == 3

    def test_a_lost_helper_at_work_is_not_waited_for(self):
        begun, free = threading.Event(), threading.Event()

        def work():
            begun.set()
            free.wait(LONG)

        with ThreadPool(2) as pool:
            jobs = pool.hand_out(work, 1)
            assert begun.wait(LONG)

            def settle(_):
                assert not pool.is_open
                pool.settle(jobs)
                pool.settle(pool.hand_out(work, 1))
                with pool, single_blas():
                    pass

            try:
                assert in_children(2, settle) == 2
            finally:
                free.set()
                pool.settle(jobs)


def test_the_process_goes_on_as_before():
    """Nothing is left locked here, nor in the child of a child."""

    def again(_):
        assert in_children(1, fit) == 1

    context = multiprocessing.get_context("fork")
    child = context.Process(target=again, args=(0,))
    child.start()
    child.join(LONG)
    assert child.exitcode == 0
    taken = []

    def take():
        taken.append(unforked.acquire(timeout=LONG))
        unforked.release()

    other = threading.Thread(target=take)
    other.start()
    other.join()
    assert taken == [True]
