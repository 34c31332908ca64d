"""Lessons aside: learning in another thread, while questions are asked and answered."""

import json
import threading
from dataclasses import replace

import numpy as np
import pytest

from pairlearn.ask import Interview
from pairlearn.ask.schedule import has_to_forget, is_time
from tests.ask.test_interview import go_on, make, quick, resume, same


def answer_all(interview, y, n, who=None):
    """Ask n questions at once, without learning, and answer them rightly."""
    batch = interview.next_questions(n, learn=False)
    for question in batch:
        interview.answer(question, same(y, question), who)
    return batch


def without_learning(X, state):
    return Interview.from_state(
        X,
        json.loads(json.dumps(state)),
        estimator=quick(X).estimator,
        learn=False,
    )


def test_questions_do_not_wait_for_learning():
    X, y = make()
    interview = quick(X, random_state=0)
    for _ in range(8):
        answer_all(interview, y, 10)
    assert interview.model is None
    assert len(interview.history) == 0
    homework = interview.begin_lesson()
    assert homework.answers == interview.ledger.teaching()
    assert homework.on_time
    before = interview.state()
    assert interview.begin_lesson().answers == homework.answers
    lesson = homework.learn()
    assert interview.state() == before
    assert interview.model is None
    interview.take_lesson(homework, lesson)
    assert interview.model is lesson.model
    assert interview.begin_lesson() is None


@pytest.mark.parametrize("noise", [None, "auto"])
def test_homework_in_a_thread_gives_the_same_model_as_alone(noise):
    """With the real models, and questions asked and answered all the while."""
    X, y = make(400, gap=2.0)
    busy, alone = (Interview(X, noise=noise, random_state=3) for _ in range(2))
    for interview in (busy, alone):
        answer_all(interview, y, 40)
    homework, found = busy.begin_lesson(), []
    thread = threading.Thread(target=lambda: found.append(homework.learn()))
    thread.start()
    first = len(busy.ledger.events)
    while thread.is_alive() or len(busy.ledger.events) < first + 40:
        batch = busy.next_questions(2, learn=False)
        if not batch:
            break
        for question in batch:
            busy.answer(question, same(y, question))
        stored = without_learning(X, busy.state())
        assert stored.ledger == busy.ledger
    thread.join()
    quiet = alone.begin_lesson()
    alone.take_lesson(quiet, quiet.learn())
    busy.take_lesson(homework, found[0])
    np.testing.assert_array_equal(
        busy.model.predict_proba(X), alone.model.predict_proba(X)
    )
    assert busy.ledger.learned[-1].answers == alone.ledger.learned[-1].answers
    assert busy.history[-1].expected_error == alone.history[-1].expected_error
    np.testing.assert_array_equal(
        found[0].scores.variance, alone._lesson.scores.variance
    )


def test_a_state_with_a_lesson_that_came_later_is_read_back_to_the_same():
    X, y = make()
    interview = quick(X, random_state=1)
    answer_all(interview, y, 20)
    homework = interview.begin_lesson()
    known = interview.ledger.teaching()
    answer_all(interview, y, 7)
    # Stored in between: the homework is lost, and due again.
    between = without_learning(X, interview.state())
    assert between.begin_lesson() is not None
    interview.undo(max(known))
    interview.take_lesson(homework, homework.learn())
    learned = interview.ledger.learned[-1]
    assert learned.answers == known
    assert interview.ledger.events[-1][-1] == learned.upto == homework.upto
    assert (learned.n_asked, learned.n_questions) == (20, 27)
    again = resume(X, interview.state())
    assert again.ledger == interview.ledger
    assert again.state() == interview.state()
    assert again.ledger.summary.forgotten == interview.ledger.summary.forgotten
    np.testing.assert_array_equal(again.model.predict(X), interview.model.predict(X))
    assert again.certificate == interview.certificate
    assert go_on(again, y, 10) == go_on(interview, y, 10)


def test_an_answer_taken_back_while_learning_is_forgotten_next():
    X, y = make()
    interview = quick(X, audits=0, random_state=0)
    answer_all(interview, y, 20)
    homework = interview.begin_lesson()
    interview.undo(5)
    assert not has_to_forget(interview.ledger)
    interview.take_lesson(homework, homework.learn())
    assert 5 in interview.ledger.learned[-1].answers
    assert has_to_forget(interview.ledger)
    following = interview.begin_lesson()
    assert 5 not in following.answers
    assert not following.on_time
    # Answered again as before, there is nothing to forget; otherwise there is.
    interview.answer(5, same(y, interview.ledger.questions[5]))
    assert interview.begin_lesson() is None
    interview.undo(5)
    interview.answer(5, not same(y, interview.ledger.questions[5]))
    following = interview.begin_lesson()
    interview.take_lesson(following, following.learn())
    assert interview.begin_lesson() is None


def test_the_last_version_is_made_again_aside():
    X, y = make()
    interview = quick(X, random_state=0)
    go_on(interview, y, 40)
    read = without_learning(X, interview.state())
    assert read.model is None
    assert read.certificate is None
    assert read.state() == interview.state()
    assert quick(X).last_lesson() is None
    homework = read.last_lesson()
    read.take_lesson(homework, homework.learn())
    assert read.state() == interview.state()
    assert read.certificate == interview.certificate
    assert go_on(read, y, 20) == go_on(interview, y, 20)


def test_an_interview_read_without_learning_learns_when_it_may():
    X, y = make()
    interview = quick(X, random_state=0)
    go_on(interview, y, 40)
    for last in (lambda i: go_on(i, y, 10), lambda i: i.learn().predict(X).tolist()):
        read, whole = (
            without_learning(X, interview.state()),
            resume(X, interview.state()),
        )
        assert last(read) == last(whole)
        assert read.state() == whole.state()


def test_a_model_that_is_another_than_before_is_warned_of():
    X, y = make()
    interview = Interview(X, audits=0, noise=None, random_state=0)
    answer_all(interview, y, 20)
    homework = interview.begin_lesson()
    interview.take_lesson(homework, homework.learn())
    other = without_learning(X, interview.state())
    homework = other.last_lesson()
    lesson = homework.learn()
    with pytest.warns(UserWarning, match="not quite the one that was stored"):
        other.take_lesson(homework, lesson)


def test_lessons_that_come_too_late_are_refused():
    X, y = make()
    interview = quick(X, random_state=0)
    answer_all(interview, y, 20)
    slow = interview.begin_lesson()
    answer_all(interview, y, 10)
    fast = interview.begin_lesson()
    interview.take_lesson(fast, fast.learn())
    with pytest.raises(ValueError, match="knows more answers has been taken"):
        interview.take_lesson(slow, slow.learn())
    again = interview.last_lesson()
    with pytest.raises(ValueError, match="from a different interview"):
        quick(X).take_lesson(again, again.learn())
    answer_all(interview, y, 20)
    following = interview.begin_lesson()
    late = following.learn()
    interview.freeze(5)
    with pytest.raises(ValueError, match="comes too late"):
        interview.take_lesson(following, late)
    assert interview.begin_lesson() is None
    final = interview.model
    newest = interview.last_lesson()
    interview.take_lesson(newest, newest.learn())
    with pytest.raises(ValueError, match="a later version of the model"):
        interview.take_lesson(again, again.learn())
    np.testing.assert_array_equal(interview.model.predict(X), final.predict(X))


class TestCertificate:
    def start(self, seed=0):
        X, y = make(1000, gap=2.0)
        interview = quick(X, audits=0.5, noise=None, random_state=seed)
        return X, y, interview

    def test_a_version_that_comes_later_is_judged_by_all_audits(self):
        X, y, interview = self.start()
        answer_all(interview, y, 60)
        homework = interview.begin_lesson()
        answer_all(interview, y, 40)
        interview.take_lesson(homework, homework.learn())
        version = interview.ledger.learned[-1]
        assert version.on_time
        n_audits = len(interview.ledger.audits())
        assert (version.n_audits, version.n_seen) == (n_audits, n_audits)
        assert interview.certificate.n_pairs == n_audits
        pairs = np.array([q.pair for q in interview.ledger.audits()])
        says = np.equal(*interview.model.predict(X[pairs.ravel()]).reshape(-1, 2).T)
        truth = y[pairs[:, 0]] == y[pairs[:, 1]]
        assert version.n_wrong == np.sum(says != truth) > 0

    def test_the_version_before_counts_as_seen_if_it_was_while_the_next_learned(self):
        """Ten audits were answered after the second one began, before it came."""
        X, y, interview = self.start()

        def without_audits():
            while not is_time(interview.ledger):
                question = interview.next_question(learn=False)
                if question.purpose == "audit":
                    interview.withdraw(question)
                else:
                    interview.answer(question, same(y, question))

        without_audits()
        homework = interview.begin_lesson()
        interview.take_lesson(homework, homework.learn())
        without_audits()
        homework = interview.begin_lesson()
        while interview.certificate is None:
            answer_all(interview, y, 1)
        interview.take_lesson(homework, homework.learn())
        second = interview.ledger.learned[1]
        assert second.on_time
        assert second.n_seen >= 10
        # The same counts, with less of the risk: wider than if nobody had looked.
        unseen = resume(X, interview.state())
        unseen.ledger.learned[1] = replace(second, n_seen=0, n_audits=0)
        wide, narrow = (i.certificate.pair_interval for i in (interview, unseen))
        assert wide[1] - wide[0] > narrow[1] - narrow[0]

    def test_a_version_that_forgets_is_judged_by_what_is_asked_after_it_came(self):
        _, y, interview = self.start()
        answer_all(interview, y, 60)
        homework = interview.begin_lesson()
        interview.take_lesson(homework, homework.learn())
        interview.undo(max(interview.ledger.learned[-1].answers))
        homework = interview.begin_lesson()
        assert not homework.on_time
        answer_all(interview, y, 20)
        interview.take_lesson(homework, homework.learn())
        assert interview.certificate is None
        later = answer_all(interview, y, 20)
        n_later = sum(q.purpose == "audit" for q in later)
        assert interview.certificate.n_pairs == n_later > 0

    def test_of_two_at_the_same_step_one_is_on_time(self):
        _, y, interview = self.start()
        while len(interview.ledger.teaching()) < 10:
            answer_all(interview, y, 1)
        one = interview.begin_lesson()
        while len(interview.ledger.teaching()) < 11:
            answer_all(interview, y, 1)
        two = interview.begin_lesson()
        assert one.on_time
        assert two.on_time
        for homework in (one, two):
            interview.take_lesson(homework, homework.learn())
        assert [v.on_time for v in interview.ledger.learned] == [True, False]


def test_old_states_are_read():
    """Without why, overlap and upto, as they were stored before there were any."""
    X, y = make()
    interview = quick(X, random_state=0)
    go_on(interview, y, 40)
    state = json.loads(json.dumps(interview.state()))
    del state["parameters"]["overlap"]
    for line in state["events"]:
        if line[0] in ("ask", "learn"):
            del line[-1]
    assert {len(e) for e in state["events"] if e[0] == "ask"} == {6}
    assert {len(e) for e in state["events"] if e[0] == "learn"} == {5}
    read = resume(X, state)
    assert read.overlap == 0.0
    assert read.ledger.learned == interview.ledger.learned
    assert {q.why for q in read.ledger.questions.values()} == {""}
    assert go_on(read, y, 20) == go_on(interview, y, 20)


@pytest.mark.parametrize("upto", [-1, 10**6, 1.5, "9", True])
def test_lines_of_a_lesson_that_cannot_be_are_refused(upto):
    X, y = make()
    interview = quick(X, random_state=0)
    go_on(interview, y, 30)
    state = json.loads(json.dumps(interview.state()))
    line = [e for e in state["events"] if e[0] == "learn"][-1]
    line[-1] = upto
    with pytest.raises(ValueError, match="a model that has learned from the first"):
        resume(X, state)


def test_doubtful_points_asked_again_while_learning_wait_for_the_next_lesson():
    X, y = make(300, gap=2.5)
    interview = Interview(X, audits=0, noise=0.15, random_state=0)
    rng = np.random.default_rng(0)
    for question in interview.next_questions(40, learn=False):
        interview.answer(question, same(y, question) != (rng.random() < 0.15))
    homework = interview.begin_lesson()
    lesson = homework.learn()
    interview.take_lesson(homework, lesson)
    assert lesson.doubtful
    following = interview.next_questions(3, learn=False)
    assert [q.target for q in following] == lesson.doubtful[:3]
    assert {q.why for q in following} == {"second opinion: the answer is in doubt"}
    for question in following:
        interview.answer(question, same(y, question))
    # A version that began before these were asked may doubt the same points.
    version = interview.ledger.learned[-1]
    interview.ledger.learned[-1] = replace(version, n_questions=43, n_asked=40)
    later = interview.next_question(learn=False)
    assert later.target not in lesson.doubtful[:3]
