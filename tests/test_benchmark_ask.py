"""The benchmark of asking: who answers, how groups are scored, what is said to hold."""

import numpy as np
import pytest

from benchmarks.accuracy.record import Key
from benchmarks.ask.cells import TRIALS, Cells
from benchmarks.ask.methods import MARGIN, OURS, RANDOM
from benchmarks.ask.tasks import CANCER, DIGITS, NOISY_IRIS, TABLES, draw
from benchmarks.ask.verdicts import above_cobras, against, threshold
from benchmarks.rivals.asking import Oracle


def test_oracle_answers_from_labels():
    oracle = Oracle(np.array([0, 0, 1]))
    assert oracle.answer(0, 1) == 1
    assert oracle.answer(2, 1) == -1
    with pytest.raises(ValueError, match="pool"):
        oracle.answer(0, 3)


def test_wrong_answers_stay_wrong():
    oracle = Oracle(np.zeros(2000), wrong=0.1, seed=3)
    first = [oracle.answer(2 * k, 2 * k + 1) for k in range(1000)]
    again = [oracle.answer(2 * k + 1, 2 * k) for k in range(1000)]
    assert first == again
    assert 70 <= first.count(-1) <= 130


@pytest.mark.parametrize("name", [CANCER, DIGITS, NOISY_IRIS])
def test_small_tasks(name):
    task, same = draw(name, 1), draw(name, 1)
    np.testing.assert_array_equal(task.X, same.X)
    assert task.held_out == (name == CANCER)
    assert len(np.unique(task.y)) == task.n_classes
    perfect = task.score(task.y_test)
    assert perfect == {"error": 0, "ari": 1, "groups": task.n_classes}


def test_majorities_name_many_groups():
    task = draw(CANCER, 0)
    every = np.arange(len(task.y_test))
    assert task.score(every, many=True)["error"] == 0
    assert task.score(every)["error"] > 0.9


def cells(error_of):
    return Cells(
        {
            Key("ask", method, name, m, seed): {"error": error, "ari": 1 - error}
            for (method, name, m), errors in error_of.items()
            for seed, error in enumerate(errors)
        }
    )


def test_counts_name_what_is_missed():
    found = {(OURS, name, 200): [0.1] * TRIALS for name in TABLES}
    found |= {(RANDOM, name, 500): [0.1] * TRIALS for name in TABLES}
    assert against(cells(found), 200, RANDOM, 500, 8).startswith("- holds: 200")
    found[OURS, "w8a", 200] = [0.12] * TRIALS
    text = against(cells(found), 200, RANDOM, 500, 10)
    assert text.startswith("- **does not hold**")
    assert "9 of 10; missed: w8a (by 2.00" in text


def test_one_standard_error_is_that_of_the_paired_difference():
    noise = np.array([0.03, -0.02] * (TRIALS // 2))
    found = {(OURS, name, 100): 0.1 + noise for name in TABLES}
    found |= {(MARGIN, name, 100): [0.1] * TRIALS for name in TABLES}
    assert "10 of 10" in against(cells(found), 100, MARGIN, 100, 7, slack=True)
    assert "0 of 10" in against(cells(found), 100, MARGIN, 100, 7)


def test_nothing_is_claimed_before_it_is_run():
    empty = cells({})
    assert "not run yet" in against(empty, 200, RANDOM, 500, 8)
    assert "not run yet" in threshold(empty, CANCER, 30, "accuracy", 0.97)
    assert "not run yet" in above_cobras(empty, CANCER, "accuracy")


def test_worth_lies_between_budgets():
    found = {
        (RANDOM, name, m): [error] * TRIALS
        for name in TABLES
        for m, error in ((100, 0.2), (200, 0.1), (500, 0.1), (1000, 0.05))
    }
    random = cells(found)
    assert random.worth(20.0, RANDOM, TABLES) == pytest.approx(100)
    assert random.worth(15.0, RANDOM, TABLES) == pytest.approx(100 * 2**0.5)
    assert random.worth(7.5, RANDOM, TABLES) == pytest.approx(500 * 2**0.5)
    assert random.worth(21.0, RANDOM, TABLES) is None
    assert random.worth(4.0, RANDOM, TABLES) is None
