"""Interviews: same seed, same questions; nothing lost; audits that never teach."""

import json

import numpy as np
import pytest
from scipy import sparse

from pairlearn.ask import Interview, Question
from pairlearn.ask.audits import coins
from pairlearn.ask.schedule import is_time
from pairlearn.trust.sample_checks import MoreKindsError
from tests.support.quick_model import NearestMean

QUICK = NearestMean()


def quick(X, **options):
    return Interview(X, estimator=QUICK, **options)


def resume(X, state):
    return Interview.from_state(X, json.loads(json.dumps(state)), estimator=QUICK)


def make(n=300, seed=0, gap=3.0, n_classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, 3))
    X[np.arange(n), y % 3] += gap
    return X, y


def same(y, question):
    return bool(y[question.left] == y[question.right])


def go_on(interview, y, n):
    """Answer n questions rightly, and return them."""
    asked = []
    for _ in range(n):
        question = interview.next_question()
        interview.answer(question, same(y, question))
        asked.append(question)
    return asked


def test_same_seed_and_answers_same_questions():
    X, y = make()
    one, two, three = (quick(X, random_state=s) for s in (1, 1, 2))
    first = go_on(one, y, 60)
    assert first == go_on(two, y, 60)
    assert first != go_on(three, y, 60)


@pytest.fixture(scope="module")
def whole():
    """An interview of 45 questions, and these."""
    X, y = make()
    interview = quick(X, random_state=1)
    return interview, go_on(interview, y, 45)


@pytest.mark.parametrize("stop", range(0, 46, 3))
def test_an_interview_that_is_stored_goes_on_with_the_same_questions(stop, whole):
    X, y = make()
    whole, asked = whole
    part = quick(X, random_state=1)
    go_on(part, y, stop)
    again = resume(X, part.state())
    assert again.state() == part.state()
    assert go_on(again, y, 45 - stop) == asked[stop:]
    assert again.state() == whole.state()
    np.testing.assert_array_equal(again.model.predict(X), whole.model.predict(X))


def test_between_any_two_calls():
    """Stored after each call: asking, answering, undoing, withdrawing, learning."""
    X, y = make()
    rng = np.random.default_rng(3)
    steady = quick(X, random_state=4)
    frail = quick(X, random_state=4)
    for step in range(120):
        frail = resume(X, frail.state())
        kind = rng.choice(["ask", "answer", "answer", "undo", "withdraw", "learn"])
        for interview in (steady, frail):
            out = sorted(interview.ledger.open)
            if kind == "answer" and out:
                question = interview.ledger.open[out[step % len(out)]]
                interview.answer(
                    question, None if step % 11 == 0 else same(y, question)
                )
            elif kind == "undo" and interview.ledger.answers and step % 3 == 0:
                interview.undo()
            elif kind == "withdraw" and len(out) > 2:
                interview.withdraw(out[0])
            elif kind == "learn" and len(set(interview.ledger.teaching().values())) > 1:
                interview.learn()
            else:
                interview.next_question()
        assert steady.ledger == frail.ledger


def test_audits_are_random_pairs_of_points_put_aside():
    X, y = make(2000)
    interview = quick(X, audits=0.4, random_state=0)
    asked = go_on(interview, y, 100)
    audits = [q for q in asked if q.purpose == "audit"]
    taught = {i for q in asked if q.purpose == "learn" for i in q.pair}
    audited = [i for q in audits for i in q.pair]
    assert 25 <= len(audits) <= 55
    assert len(set(audited)) == len(audited)
    assert not taught & set(audited)
    learned = {n for version in interview.ledger.learned for n in version.answers}
    assert not learned & {q.number for q in audits}


def test_audits_do_not_depend_on_answers_to_learn_from():
    """Lies about learning questions change neither which nor when audits come."""
    X, y = make(1000)
    right = go_on(quick(X, random_state=0), y, 60)
    other = np.random.default_rng(9).permutation(y)
    wrong = go_on(quick(X, random_state=0), other, 60)
    audits = [[q for q in asked if q.purpose == "audit"] for asked in (right, wrong)]
    assert audits[0] == audits[1]


def test_what_audits_say_does_not_change_the_questions():
    X, y = make(1000)
    honest, lying = (quick(X, random_state=0) for _ in range(2))
    for _ in range(80):
        questions = [interview.next_question() for interview in (honest, lying)]
        assert questions[0] == questions[1]
        truth = same(y, questions[0])
        honest.answer(questions[0], truth)
        lies = questions[0].purpose == "audit"
        lying.answer(questions[1], truth != lies)
    assert honest.history[-1].n_wrong < 3 < lying.history[-1].n_wrong
    assert honest.ledger.teaching() == lying.ledger.teaching()


def test_names_put_the_same_points_aside_in_any_order():
    X, _ = make(200)
    names = [f"p{i}" for i in range(200)]
    order = np.random.default_rng(0).permutation(200)
    one = quick(X, names=names)
    two = quick(X[order], names=[names[i] for i in order])
    assert set(one._audits.reserve) == set(order[two._audits.reserve])


def test_several_questions_at_once_are_about_different_points():
    X, y = make()
    interview = quick(X, audits=0, random_state=0)
    go_on(interview, y, 20)
    batch = interview.next_questions(15)
    assert len({q.target for q in batch}) == 15
    targets = {answer.question.target for answer in interview.ledger.answers.values()}
    assert not targets & {q.target for q in batch}
    # Answered in another order, all of them teach.
    for question in reversed(batch):
        interview.answer(question, same(y, question))
    interview.learn()
    assert interview.history[-1].n_answers == 35


def test_undo_takes_back_more_than_one_step_and_the_model_forgets():
    X, y = make()
    interview = quick(X, audits=0, random_state=0)
    go_on(interview, y, 10)
    interview.learn()
    last, before = interview.undo(), interview.undo()
    assert (last.number, before.number) == (9, 8)
    assert interview.undo(3).number == 3
    go_on_numbers = sorted(interview.ledger.open)
    assert go_on_numbers == [3, 8, 9]
    interview.next_question()
    assert set(interview.ledger.learned[-1].answers) == set(range(8)) - {3}
    empty = quick(X)
    with pytest.raises(ValueError, match="there is no answer to take back"):
        empty.undo()


def test_questions_that_are_refused_change_nothing():
    X, y = make()
    interview, other = quick(X, random_state=0), quick(make(seed=1)[0])
    question = interview.next_question()
    foreign = other.next_question()
    before = interview.state()
    for call, words in [
        (lambda: interview.answer(foreign, 1), "is another one"),
        (lambda: interview.answer(7, 1), "question 7 was never asked"),
        (lambda: interview.answer(question, "perhaps"), "an answer is 'same'"),
        (lambda: interview.withdraw(3), "never asked"),
        (lambda: interview.undo(0), "has no answer"),
        (lambda: interview.learn(), "no answer yet"),
        (lambda: interview.next_questions(0), "n must be a whole number"),
        (lambda: interview.freeze(10_000), "enough for"),
        (lambda: interview.bring([[0, 999]], [1]), "numbered 0 to 299"),
        (lambda: interview.bring([[0, 0]], [1]), "point 0 with itself"),
        (lambda: interview.bring([[0, 1]], [0.5]), "must be -1, 0 or"),
        (lambda: interview.bring([[0, 1]], [1], purpose="fun"), "'learn' or 'audit'"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
        assert interview.state() == before
    with pytest.raises(TypeError, match="a question is what next_question"):
        interview.answer("7", 1)
    interview.answer(question, same(y, question))
    with pytest.raises(ValueError, match=r"answered .* already"):
        interview.answer(question, not same(y, question))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_classes": 1}, "n_classes must be a whole number"),
        ({"audits": 1.0}, "audits must be a share"),
        ({"confidence": 95}, "confidence must lie"),
        ({"noise": 0.7}, "noise"),
        ({"strategy": "magic"}, "strategy"),
        ({"random_state": -1}, "random_state"),
        ({"names": ["a"]}, "1 names"),
    ],
)
def test_wrong_parameters_are_refused(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        Interview(make(30)[0], **options)


def test_states_that_do_not_fit_are_refused():
    X, y = make()
    interview = quick(X)
    go_on(interview, y, 12)
    state = interview.state()
    with pytest.raises(ValueError, match="are not those of the interview"):
        Interview.from_state(X[:-1], state)
    with pytest.raises(ValueError, match="are not those of the interview"):
        Interview.from_state(X + 1e-3, state)
    with pytest.raises(ValueError, match="not the state of an interview"):
        Interview.from_state(X, {"events": []})
    with pytest.raises(ValueError, match="stored by a newer one"):
        Interview.from_state(X, state | {"format": 2})
    with pytest.raises(ValueError, match="'events' is missing"):
        Interview.from_state(X, {k: v for k, v in state.items() if k != "events"})
    with pytest.raises(ValueError, match="not a parameter"):
        Interview.from_state(X, state | {"parameters": {"fun": 1}})


def test_answers_are_brought_along():
    X, y = make()
    rng = np.random.default_rng(0)
    interview = quick(X, random_state=0)
    free = np.setdiff1d(np.arange(300), interview._audits.reserve)
    index = rng.permutation(free)[:60].reshape(-1, 2)
    interview.bring(index, np.where(y[index[:, 0]] == y[index[:, 1]], 1, -1))
    question = interview.next_question()
    assert question.number == 30
    assert interview.history[0].n_answers == 30
    # A point put aside that others have been asked about is put aside no more.
    aside = interview._audits.unused(interview.ledger)
    interview.bring([[aside[0], free[-1]]], [1])
    assert aside[0] not in interview._audits.unused(interview.ledger)
    with pytest.raises(ValueError, match="marked as an audit"):
        interview.bring([[free[0], free[1]]], [1], purpose="audit")
    with pytest.raises(ValueError, match="is in an audit and in an answer to learn"):
        interview.bring([[aside[0], aside[1]]], [1], purpose="audit")
    with pytest.raises(ValueError, match="is in two audits"):
        interview.bring(
            [[aside[1], aside[2]], [aside[2], aside[3]]], [1, 1], purpose="audit"
        )
    interview.bring([[aside[1], aside[2]]], [1], purpose=["audit"])
    assert len(interview.ledger.audits()) == 1


def test_more_kinds_than_were_said_are_noticed():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 2)), rng.integers(8, size=1500)
    interview = quick(X, audits=0.5, noise=None, random_state=0)
    go_on(interview, y, 200)
    with pytest.raises(MoreKindsError, match="An interview with n_classes='auto'"):
        _ = interview.certificate


def test_too_few_points_are_refused():
    seed = next(s for s in range(99) if (coins(3, s) < 0.3).sum() == 2)
    with pytest.raises(ValueError, match="give more points, or say audits=0"):
        Interview(np.arange(6.0).reshape(3, 2), random_state=seed)


def test_when_nothing_is_left_there_is_no_question():
    X, y = make(12)
    interview = quick(X, audits=0, random_state=0)
    asked = []
    while (question := interview.next_question()) is not None:
        interview.answer(question, same(y, question))
        asked.append(question)
        assert len(asked) < 100
    assert 11 <= len(asked) <= 30
    assert interview.next_questions(5) == []


def test_frozen_models_are_judged_by_fresh_audits_of_a_fixed_number():
    X, y = make(1000)
    interview = quick(X, audits=0.3, noise=None, random_state=0)
    go_on(interview, y, 60)
    before = interview.certificate
    assert before.anytime
    model = interview.freeze(50)
    rest = [interview.next_question() for _ in range(50)]
    assert interview.next_question() is None
    assert all(q.purpose == "audit" for q in rest)
    for number, question in enumerate(rest):
        interview.answer(question, same(y, question))
        assert interview.model is model
        if number < 49:
            assert interview.certificate.anytime
    final = interview.certificate
    assert (final.n_pairs, final.anytime) == (50, False)
    with pytest.raises(ValueError, match="learning has ended"):
        interview.learn()
    again = resume(X, interview.state())
    assert again.certificate == final


def test_audits_that_the_model_chooses():
    X, y = make(3000, gap=2.5)
    interview = quick(X, audits=0.2, noise=None, random_state=0)
    go_on(interview, y, 40)
    with pytest.raises(ValueError, match="for two classes and answers that are right"):
        quick(X, random_state=0).freeze(10, chosen=True)
    interview.freeze(60, chosen=True)
    go_on(interview, y, 30)
    half = interview.certificate
    assert (half.n_pairs, half.anytime) == (30, True)
    again = resume(X, interview.state())
    assert again.certificate == half
    assert go_on(again, y, 30) == go_on(interview, y, 30)
    assert interview.next_question() is None
    whole = interview.certificate
    assert whole.n_pairs == 60
    assert [list(q.pair) for q in interview.ledger.final_audits()] == [
        sorted(pair) for pair in interview.ledger.plan["index"]
    ]
    low, high = whole.clustering_interval
    agree = np.mean(np.where(y == y[0], 1, -1) == interview.model.predict(X))
    assert low <= min(agree, 1 - agree) <= high


def test_audits_that_are_left_lying_count_as_unsure():
    X, y = make(1000)
    interview = quick(X, audits=0.5, noise=None, random_state=0)
    left = None
    while len(interview.ledger.audits()) < 20 or interview.certificate is None:
        question = interview.next_question()
        if (
            question.purpose == "audit"
            and left is None
            and len(interview.ledger.audits()) > 5
        ):
            left = question
            continue
        interview.answer(question, same(y, question))
    assert interview.certificate.n_unsure == 1
    # Withdrawn, it is asked again, of whoever comes next.
    interview.withdraw(left)
    while (question := interview.next_question()).purpose != "audit":
        interview.answer(question, same(y, question))
    assert question.pair == left.pair
    interview.answer(question, same(y, question))
    assert interview.certificate.n_unsure == 0


def test_wishes_do_not_move_the_time_of_versions():
    X, y = make(1000)
    steady, wishful = (quick(X, audits=0.3, noise=None, random_state=0) for _ in "ab")
    for number in range(80):
        for interview in (steady, wishful):
            go_on(interview, y, 1)
        if number % 7 == 0 and len(set(wishful.ledger.teaching().values())) == 2:
            wishful.learn()
    on_time = [
        [len(v.answers) for v in interview.ledger.learned if v.on_time]
        for interview in (steady, wishful)
    ]
    # A wish at the very moment at which it is time comes first, with as many answers.
    assert on_time[0] == on_time[1]
    assert len(wishful.ledger.learned) > len(steady.ledger.learned)


def test_a_version_without_an_answer_that_was_taken_back_is_not_on_time():
    X, y = make(1000)
    interview = quick(X, audits=0.4, noise=None, random_state=0)
    go_on(interview, y, 60)
    number = max(interview.ledger.learned[-1].answers)
    interview.undo(number)
    while interview.next_question().purpose == "audit":
        pass
    assert number not in interview.ledger.learned[-1].answers
    assert not interview.ledger.learned[-1].on_time


def test_models_learned_on_a_wish_are_judged_by_later_audits():
    X, y = make(1000)
    interview = quick(X, audits=0.5, noise=None, random_state=0)
    go_on(interview, y, 60)
    n_before = interview.certificate.n_pairs
    assert n_before > 20
    while interview.ledger.teaching() == interview.ledger.learned[
        -1
    ].answers or is_time(interview.ledger):
        go_on(interview, y, 1)
    interview.learn()
    assert not interview.ledger.learned[-1].on_time
    assert interview.certificate is None
    while (question := interview.next_question()).purpose == "learn":
        interview.withdraw(question)
    interview.answer(question, same(y, question))
    assert interview.certificate.n_pairs == 1


@pytest.mark.parametrize("kind", ["sparse", "frame", "torch", "dask", "float32"])
def test_containers_ask_the_same_questions(kind):
    X, y = make(150)
    X = np.where(X < 0, 0, X).astype(np.float32).astype(float)
    plain = go_on(quick(X, random_state=0), y, 15)
    if kind == "sparse":
        other = sparse.csr_array(X)
    elif kind == "frame":
        other = pytest.importorskip("pandas").DataFrame(X, columns=list("abc"))
    elif kind == "torch":
        other = pytest.importorskip("torch").as_tensor(X)
    elif kind == "dask":
        other = pytest.importorskip("dask.array").from_array(X, chunks=(50, 3))
    else:
        other = X.astype(np.float32)
    interview = quick(other, random_state=0)
    assert go_on(interview, y, 15) == plain
    assert interview.state()["points"] == quick(X).state()["points"]


def test_of_very_many_points_some_are_asked_about():
    X, y = make(3000)
    interview = quick(X, max_candidates=200, random_state=0)
    assert interview.n_candidates == 200
    asked = go_on(interview, y, 30)
    assert {i for q in asked if q.purpose == "learn" for i in q.pair} <= set(
        interview._candidates.tolist()
    )


def test_questions_are_plain_values():
    question = Interview(make(50)[0], audits=0).next_question()
    assert isinstance(question, Question)
    assert json.dumps([question.left, question.right, question.target])
    assert question.partner != question.target


@pytest.mark.parametrize("majority", [-1, 1])
def test_the_larger_group_gets_the_name_of_the_majority(majority):
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.75
    X = rng.normal(size=(300, 3)) + 4.0 * y[:, None]
    interview = quick(X, majority=majority, audits=0, random_state=1)
    go_on(interview, y, 30)
    named = interview.model.predict(X)
    assert np.mean(named[y] == majority) > 0.9
    assert np.mean(named[~y] == -majority) > 0.9
