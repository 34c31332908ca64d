"""The server is killed while people answer: nothing that was saved is lost or doubled.

`python -m benchmarks.label_kill` does the same 20 times.
"""

import asyncio

import pytest

from tests.support.label_check import find_lost_and_doubled
from tests.support.label_kill import answer_and_kill, answer_at_two, n_saved

pytest.importorskip("uvicorn")


@pytest.mark.parametrize(
    "n_kills",
    [
        pytest.param(2, id="some"),
        pytest.param(20, id="many", marks=pytest.mark.slow),
    ],
)
def test_what_was_acknowledged_is_there_once(tmp_path, n_kills):
    found = asyncio.run(answer_and_kill(tmp_path, n_kills, seed=n_kills))
    assert found.n_kills == n_kills
    assert not found.errors
    problems, n_answers = find_lost_and_doubled(found.answers, found.clients)
    assert not problems
    n_saved = sum(len(client.saved) for client in found.clients)
    assert n_saved >= found.wanted
    assert n_answers >= n_saved
    # Everybody went on by themselves after the last start.
    assert all(client.saved for client in found.clients)
    assert all(client.n_lost for client in found.clients)


def test_two_processes_of_which_one_is_killed_and_a_database_that_restarts(
    tmp_path, postgresql
):
    found = asyncio.run(answer_at_two(tmp_path, postgresql, n_clients=20))
    assert found.n_kills == 1
    assert not found.errors
    problems, n_answers = find_lost_and_doubled(found.answers, found.clients)
    assert not problems
    assert n_answers >= n_saved(found) >= found.wanted
    assert all(client.saved for client in found.clients)
    # No two waited for each other, which the server would have ended after a second.
    log = (postgresql.folder / "log").read_text()
    assert "deadlock detected" not in log
