"""Questions to learn from: open classes, unsure and wrong answers, partners."""

from collections import Counter

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from pairlearn.ask import Interview
from tests.support.quick_model import NearestMean

# Which questions come, not how well the last one of many kernels does.
pytestmark = pytest.mark.usefixtures("quick")


def clumps(n_classes, n=240, seed=0, gap=6.0):
    """Round clumps on a circle."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    angle = 2 * np.pi * y / n_classes
    middle = gap * np.c_[np.cos(angle), np.sin(angle)]
    return middle + rng.normal(size=(n, 2)), y


def right(y, question):
    return bool(y[question.left] == y[question.right])


@pytest.mark.parametrize("n_classes", [3, 5])
def test_a_point_is_compared_with_one_class_after_another(n_classes):
    X, y = clumps(n_classes)
    interview = Interview(X, n_classes=n_classes, audits=0, noise=None, random_state=0)
    for _ in range(30):
        question = interview.next_question()
        interview.answer(question, right(y, question))
    about = Counter(q.target for q in interview.ledger.questions.values())
    # The last class is implied.
    assert max(about.values()) <= n_classes - 1
    # What is known is not asked, and no pair is asked twice.
    pairs = [q.pair for q in interview.ledger.questions.values()]
    assert len(set(pairs)) == len(pairs)
    partners = {}
    for number, q in interview.ledger.questions.items():
        if interview.ledger.answers[number].said < 0:
            partners.setdefault(q.target, []).append(y[q.partner])
    assert all(len(set(kinds)) == len(kinds) for kinds in partners.values())
    assert adjusted_rand_score(y, interview.learn().predict(X)) > 0.97


def test_classes_are_opened_when_none_fits():
    X, y = clumps(4)
    interview = Interview(X, n_classes="auto", audits=0, noise=None, random_state=0)
    for _ in range(40):
        question = interview.next_question()
        interview.answer(question, right(y, question))
    model = interview.learn()
    assert len(model.classes_) == 4
    assert adjusted_rand_score(y, model.predict(X)) > 0.97


def test_partners_change_and_are_near():
    X, y = clumps(2)
    interview = Interview(X, audits=0, noise=None, random_state=0)
    for _ in range(60):
        question = interview.next_question()
        interview.answer(question, right(y, question))
    later = [q for q in interview.ledger.questions.values() if q.number >= 20]
    partners = Counter(q.partner for q in later)
    assert max(partners.values()) <= 8
    rng = np.random.default_rng(0)
    near = np.mean([np.linalg.norm(X[q.left] - X[q.right]) for q in later])
    known = [q.partner for q in interview.ledger.questions.values()]
    anyone = np.mean(
        [np.linalg.norm(X[q.target] - X[rng.choice(known)]) for q in later]
    )
    assert near < 0.7 * anyone


class TestUnsure:
    def start(self, **options):
        X, y = clumps(2)
        interview = Interview(
            X, audits=0, noise=None, estimator=NearestMean(), random_state=0, **options
        )
        for _ in range(6):
            question = interview.next_question()
            interview.answer(question, right(y, question))
        doubt = interview.next_question(who="Ada")
        interview.answer(doubt, "unsure", who="Ada")
        return interview, y, doubt

    def test_somebody_else_is_asked_at_once_with_another_partner(self):
        interview, _, doubt = self.start()
        assert interview.unsure == [doubt]
        assert interview.next_question(who="Ada").target != doubt.target
        again = interview.next_question(who="Bob")
        assert again.target == doubt.target
        assert again.partner != doubt.partner

    def test_the_same_person_is_asked_later(self):
        interview, y, doubt = self.start()
        targets = []
        for _ in range(8):
            question = interview.next_question(who="Ada")
            interview.answer(question, right(y, question), who="Ada")
            targets.append(question.target)
        assert doubt.target in targets[4:]
        assert doubt.target not in targets[:4]
        assert interview.unsure == []

    def test_what_nobody_knows_is_given_up_and_listed(self):
        interview, y, doubt = self.start()
        for _ in range(60):
            question = interview.next_question()
            said = right(y, question) if question.target != doubt.target else None
            interview.answer(question, said)
        asked = [q.target for q in interview.ledger.questions.values()]
        assert asked.count(doubt.target) == 3
        assert [q.target for q in interview.unsure] == [doubt.target]
        interview.learn()
        assert doubt.number not in interview.ledger.learned[-1].answers


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("noise", [0.1, "auto", (0.9, 0.1)])
def test_wrong_answers_are_asked_about_again(n_classes, noise):
    X, y = clumps(n_classes)
    interview = Interview(X, n_classes=n_classes, audits=0, noise=noise, random_state=0)
    wrong, again = set(), set()
    for number in range(60):
        question = interview.next_question()
        lie = number in (7, 13, 21, 28)
        interview.answer(question, right(y, question) != lie)
        if lie:
            wrong.add(question.target)
        elif question.target in wrong:
            again.add(question.target)
    assert len(again) >= len(wrong) - 1
    assert adjusted_rand_score(y, interview.learn().predict(X)) > 0.97


def test_one_wrong_answer_about_the_first_point_turns_no_class():
    """The first answers are lies; later ones go to other partners."""
    X, y = clumps(2)
    interview = Interview(X, audits=0, noise=0.1, random_state=0)
    for number in range(50):
        question = interview.next_question()
        interview.answer(question, right(y, question) != (number in (1, 2)))
    assert adjusted_rand_score(y, interview.learn().predict(X)) > 0.97


def test_brought_answers_that_hang_together_with_nothing_are_connected():
    X, y = clumps(2)
    interview = Interview(X, audits=0, noise=None, random_state=0)
    index = np.arange(20).reshape(10, 2)
    interview.bring(index, np.where(y[index[:, 0]] == y[index[:, 1]], 1, -1))
    for _ in range(30):
        question = interview.next_question()
        interview.answer(question, right(y, question))
    assert adjusted_rand_score(y, interview.learn().predict(X)) > 0.97
    # None of the partners is a point of which nothing but its own pair is known.
    known = set(index[0].tolist())
    for question in list(interview.ledger.questions.values())[10:]:
        assert question.partner in known or question.target in known
        known |= set(question.pair)
        # With one point of a pair that was brought the other is known.
        known |= {row for pair in index.tolist() if known & set(pair) for row in pair}
