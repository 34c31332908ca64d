"""Tasks that threads work on, with the results in order."""

import threading

import pytest

from pairlearn.system import threads
from pairlearn.system.in_order import in_order
from pairlearn.system.threads import n_threads, on_one_thread

LONG = 120


@pytest.fixture(params=[1, 3])
def n(request, monkeypatch):
    """How many threads there may be."""
    monkeypatch.setattr(threads, "_blas_threads", lambda: request.param)
    return request.param


@pytest.mark.usefixtures("n")
def test_results_come_in_the_order_of_the_parts():
    assert list(in_order(lambda part: 10 * part, range(9))) == list(range(0, 90, 10))


def test_a_late_result_is_waited_for(monkeypatch):
    monkeypatch.setattr(threads, "_blas_threads", lambda: 2)
    done = threading.Event()

    def work(part):
        if part == 0:
            assert done.wait(LONG)
        done.set()
        return part

    assert list(in_order(work, range(4))) == [0, 1, 2, 3]


def test_few_parts_are_taken_ahead(n):
    taken = []

    def parts():
        for part in range(20):
            taken.append(part)
            yield part

    for used, _ in enumerate(in_order(abs, parts())):
        assert len(taken) <= used + n + 1


@pytest.mark.usefixtures("n")
def test_an_error_comes_after_the_results_before_it():
    def parts():
        yield from (1, 2)
        raise KeyError("source")

    found = []
    with pytest.raises(KeyError, match="source"):
        gather(found, in_order(abs, parts()))
    assert found == [1, 2]

    found = []
    with pytest.raises(ZeroDivisionError):
        gather(found, in_order(lambda part: 1 / part, iter([1, 0, 2])))
    assert found == [1.0]


def gather(found, results):
    for result in results:
        found.append(result)


@pytest.mark.usefixtures("n")
def test_work_is_not_divided_again():
    assert list(in_order(lambda _: n_threads(), [0, 1])) == [1, 1]
    with on_one_thread():
        assert n_threads() == 1


def test_who_stops_early_does_not_wait(n):
    before = set(threading.enumerate())
    go_on = threading.Event()

    def work(part):
        assert part == 0 or go_on.wait(LONG)
        return part

    results = in_order(work, range(10))
    if n == 1:
        go_on.set()
    assert next(results) == 0
    results.close()
    go_on.set()
    helpers = [one for one in threading.enumerate() if one not in before]
    for one in helpers:
        one.join(LONG)
        assert not one.is_alive()
