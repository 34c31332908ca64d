"""Attempts to spoil an interview: its certificate, its state, and its messages."""

import json

import numpy as np
import pandas as pd
import pytest

from pairlearn.ask import Interview
from pairlearn.ask.audits import coins
from tests.ask.test_interview import go_on, make, quick, resume, same


@pytest.mark.parametrize("seed", [0, 7])
def test_points_made_with_the_same_seed_are_put_aside_at_random(seed):
    """Classes drawn with default_rng(seed).random must not decide about audits."""
    drawn = np.random.default_rng(seed).random(2000)
    assert abs(np.corrcoef(drawn, coins(2000, seed))[0, 1]) < 0.1
    y = drawn < 0.3
    interview = quick(np.column_stack([y, y]), random_state=seed)
    share = y[interview._audits.reserve].mean()
    assert 0.2 < share < 0.4


@pytest.mark.parametrize("names", [["a", "b", "a", "c"], [1, "1", 2, 3]])
def test_names_are_those_of_one_point_each(names):
    """Equal names have equal coins, and would be in one audit."""
    with pytest.raises(ValueError, match="two points have the name"):
        quick(np.eye(4), names=names)


def test_a_point_is_in_one_audit_also_if_they_are_brought_one_by_one():
    X, _ = make()
    interview = quick(X)
    a, b, c = interview._audits.reserve[:3]
    interview.bring([(a, b)], [1], purpose="audit")
    for pair in ((a, c), (a, b)):
        with pytest.raises(ValueError, match="is in two audits"):
            interview.bring([pair], [-1], purpose="audit")
    assert len(interview.ledger.questions) == 1


@pytest.mark.parametrize("chosen", [False, True])
def test_nothing_is_brought_along_after_learning_has_ended(chosen):
    """Brought audits would stand for those that the final model is judged by."""
    X, y = make()
    interview = quick(X, noise=None)
    go_on(interview, y, 30)
    interview.freeze(5, chosen=chosen)
    fresh = interview._audits.unused(interview.ledger)[-2:]
    for purpose in ("audit", "learn"):
        with pytest.raises(ValueError, match="learning has ended"):
            interview.bring([fresh], [1], purpose=purpose)
    go_on(interview, y, 5)
    assert interview.certificate.n_pairs == 5


def test_audits_that_are_out_do_not_let_a_certificate_be_seen_earlier():
    """Whoever reads the answers counts what was seen from ten answered audits on."""
    X, y = make()
    interview = quick(X, audits=0.5, noise=None)
    audits = []
    while len(audits) < 14:
        question = interview.next_question()
        if question.purpose == "audit":
            audits.append(question)
        else:
            interview.answer(question, same(y, question))
    assert interview.ledger.learned[-1].on_time
    *others, last = audits
    interview.answer(last, same(y, last))
    # Thirteen lie before somebody, and count as unsure once something is said.
    for n_answered, audit in enumerate(others, 1):
        found = interview.certificate
        assert (found is None) == (n_answered < 10)
        assert found is None or found.n_pairs == 14
        interview.answer(audit, same(y, audit))


def test_whoever_takes_audits_back_to_get_below_ten_uses_up_risk_all_the_same():
    X, y = make()
    interview = quick(X, audits=0.5, noise=None)
    while len(interview.ledger.audit_answers()) < 10 or interview.model is None:
        go_on(interview, y, 1)
    widths = []
    for _ in range(3):
        tenth = [
            number
            for number, answer in interview.ledger.answers.items()
            if answer.question.purpose == "audit"
        ][9:]
        for number in tenth:
            interview.undo(number)
        version = len(interview.ledger.learned)
        while len(interview.ledger.learned) == version:
            question = interview.next_question()
            if question.purpose == "learn":
                interview.answer(question, same(y, question))
            else:
                interview.withdraw(question)
        for number in tenth:
            question = interview.ledger.questions[number]
            interview.answer(question, same(y, question))
        widths.append(interview.certificate.pair_interval[1])
        assert resume(X, interview.state()).certificate == interview.certificate
    assert interview.certificate.n_pairs == 10
    assert widths == sorted(set(widths))


def edited(change):
    X, y = make()
    interview = quick(X, noise=None)
    go_on(interview, y, 40)
    state = json.loads(json.dumps(interview.state()))
    change(state)
    return X, state


def line(state, what, purpose=None):
    return next(
        e for e in state["events"] if e[0] == what and purpose in (None, *e[4:5])
    )


EDITS = {
    "purpose": lambda s: line(s, "ask", "learn").__setitem__(
        slice(4, 6), ["audit", -1]
    ),
    "target": lambda s: line(s, "ask", "learn").__setitem__(5, 7),
    "row": lambda s: line(s, "ask", "audit").__setitem__(2, 99999),
    "negative": lambda s: line(s, "ask", "audit").__setitem__(2, -1),
    "text": lambda s: line(s, "ask", "audit").__setitem__(2, "a"),
    "answer": lambda s: line(s, "answer").__setitem__(2, 5),
    "word": lambda s: line(s, "answer").__setitem__(2, "same"),
    "empty": lambda s: s["events"].insert(3, []),
    "nothing": lambda s: s["events"].insert(3, None),
    "list": lambda s: s["events"].insert(3, [["x"]]),
    "events": lambda s: s.__setitem__("events", None),
    "parameters": lambda s: s.__setitem__("parameters", [1]),
    "no seed": lambda s: s["parameters"].pop("random_state"),
    "seed": lambda s: s["parameters"].__setitem__("random_state", 9),
    "audits": lambda s: s["parameters"].__setitem__("audits", 0),
}


@pytest.mark.parametrize("what", EDITS)
def test_states_that_were_changed_by_hand_are_refused(what):
    X, state = edited(EDITS[what])
    with pytest.raises(ValueError, match=r"state|put aside|damaged"):
        resume(X, state)
    state.pop("put_aside")
    with pytest.raises(ValueError, match=r"state|put aside|damaged"):
        resume(X, state)


def test_names_that_are_forgotten_are_missed():
    X, _ = make()
    interview = quick(X, names=range(len(X)))
    with pytest.raises(ValueError, match="same names as before"):
        resume(X, interview.state())


@pytest.mark.parametrize(
    "options",
    [
        {"audits": np.float32(0.25)},
        {"noise": np.float32(0.1)},
        {"noise": [0.9, 0.1]},
        {"noise": np.array([0.9, 0.1])},
        {"classes": np.array([0, 1])},
        {"classes": ["a", np.str_("b")]},
        {"majority": np.int64(1)},
        {"n_classes": np.int64(2), "max_candidates": np.int64(50)},
        {"confidence": np.float32(0.9)},
    ],
)
def test_numbers_of_numpy_are_stored(options):
    X, y = make()
    interview = quick(X, **options)
    for who in (np.int64(3), 4, ("a", "b")):
        question = interview.next_question(who)
        interview.answer(question, same(y, question), who)
    again = resume(X, interview.state())
    assert again.state() == interview.state()
    assert go_on(again, y, 15) == go_on(interview, y, 15)


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        (np.where(make()[0] > 3, np.nan, 0), {}, "NaN or infinity, first in row"),
        (np.where(make()[0] > 3, np.inf, 0), {}, "NaN or infinity, first in row"),
        (np.array([["a", "b"]] * 9), {}, "must be numbers"),
        (pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), {}, "must be numbers"),
        (make()[0], {"audits": "a"}, "audits must be a share"),
        (make()[0], {"majority": "a"}, "majority must be"),
        (make()[0], {"classes": ("a", "b", "c")}, "classes must name 2 classes"),
    ],
)
def test_what_cannot_work_is_refused_before_the_first_question(X, options, words):
    with pytest.raises(ValueError, match=words):
        Interview(X, **options)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("noise", [None, "auto"])
def test_answers_about_other_points_than_candidates_are_learned_from(n_classes, noise):
    X, y = make(n_classes=n_classes)
    interview = Interview(
        X, n_classes=n_classes, noise=noise, audits=0, max_candidates=6
    )
    others = np.setdiff1d(np.arange(len(X)), interview._candidates)[:80]
    index = others.reshape(-1, 2)
    interview.bring(index, np.where(y[index[:, 0]] == y[index[:, 1]], 1, -1))
    assert go_on(interview, y, 3)
    assert interview.model is not None
