"""The ledger: nothing is lost or answered twice, and what is stored is read."""

import json

import pytest

from pairlearn.ask.ledger import Ledger
from pairlearn.ask.question import Question, as_answer


def filled():
    ledger = Ledger()
    for number, purpose in enumerate(["learn", "audit", "learn", "audit", "learn"]):
        target = 10 + number if purpose == "learn" else -1
        ledger.ask(Question(number, 0, 10 + number, purpose, target))
    return ledger


def test_what_is_stored_is_read():
    ledger = filled()
    ledger.answer(0, 1, "Ada")
    ledger.answer(1, -1)
    ledger.learn(0.2, 1, 0, True)
    ledger.undo(0)
    ledger.answer(0, -1, "Bob")
    ledger.withdraw(2)
    ledger.freeze(7)
    read = Ledger.read(json.loads(json.dumps(ledger.events)))
    assert read == ledger
    assert read.learned[0].answers == {0: 1}
    assert read.teaching() == {0: -1}
    assert (read.frozen_at, read.n_final) == (5, 7)


def test_answers_that_are_refused_change_nothing():
    ledger = filled()
    ledger.answer(0, 1)
    ledger.withdraw(2)
    before = [list(event) for event in ledger.events]
    for call, words in [
        (lambda: ledger.answer(9, 1), "question 9 was never asked"),
        (lambda: ledger.answer(0, 1), "answered 'same' already, and now 'the same'"),
        (lambda: ledger.answer(0, -1), "answered 'same' already, and now 'different'"),
        (lambda: ledger.answer(2, 1), "question 2 was withdrawn"),
        (lambda: ledger.undo(1), "question 1 has no answer to take back"),
        (lambda: ledger.withdraw(0), "question 0 is not open"),
        (lambda: ledger.ask(Question(7, 1, 2)), "asked out of order"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
        assert ledger.events == before
    assert sorted(ledger.open) == [1, 3, 4]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["dance", 1], "says 'dance', which this version"),
        (["answer", 0], "line 5 of the state is damaged"),
        (["ask", 5, 1, 2, "guess", 1], "the purpose 'guess'"),
        (["answer", 77, 1, None], "never asked"),
    ],
)
def test_damaged_lines_are_refused(line, words):
    with pytest.raises(ValueError, match=words):
        Ledger.read([*filled().events, line])


def test_audits_never_teach_and_unsure_does_not_take_back():
    ledger = filled()
    ledger.answer(1, 1)
    ledger.answer(0, 0)
    ledger.ask(Question(5, 11, 0, "audit"))  # the first audit, to another person
    ledger.answer(5, 0)
    assert ledger.teaching() == {}
    assert ledger.audit_answers() == {(0, 11): 1}
    assert [q.number for q in ledger.audits()] == [1, 3]


@pytest.mark.parametrize("value", [2, "yes?", 0.5, float("nan"), object()])
def test_other_answers_are_refused(value):
    with pytest.raises(ValueError, match="an answer is 'same'"):
        as_answer(value)
