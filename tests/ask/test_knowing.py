"""What is known, kept up to date: the same as when it is worked out from the start."""

import numpy as np
import pytest

from pairlearn.ask import knowing, outlook
from pairlearn.ask.choosing import Chooser
from pairlearn.ask.enough import some_answers
from pairlearn.ask.knowing import Notes
from pairlearn.ask.ledger import Ledger
from pairlearn.ask.lessons import MOST_WRONG, Teacher
from pairlearn.ask.outlook import NoCandidateLeftError, Outlook
from pairlearn.ask.question import Question
from pairlearn.ask.scores import Scores
from pairlearn.ask.strategies import as_strategy
from pairlearn.trust.beliefs import believe

PLACE = {row: row - 100 for row in range(100, 160)}


def happenings(n_steps, n_classes=2, seed=0, wrong=0.1):
    """Yield a ledger after each of many things that may happen to it."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=200)
    ledger = Ledger()
    for _ in range(n_steps):
        kind = rng.choice(["ask", "ask", "answer", "answer", "undo", "withdraw"])
        if kind == "answer" and ledger.open:
            question = ledger.open[int(rng.choice(list(ledger.open)))]
            said = 1 if y[question.left] == y[question.right] else -1
            said *= -1 if rng.random() < wrong else 1
            ledger.answer(question.number, 0 if rng.random() < 0.1 else said)
        elif kind == "undo" and ledger.answers and rng.random() < 0.3:
            ledger.undo(int(rng.choice(list(ledger.answers))))
        elif kind == "withdraw" and ledger.open and rng.random() < 0.3:
            ledger.withdraw(int(rng.choice(list(ledger.open))))
        else:
            number = len(ledger.questions)
            # A few are about other points than candidates, and a few are audits.
            partner = int(rng.integers(98, 110))
            target = int(rng.integers(110, 162))
            audit = rng.random() < 0.1
            ledger.ask(
                Question(
                    number,
                    *((partner, target) if rng.random() < 0.5 else (target, partner)),
                    "audit" if audit else "learn",
                    -1 if audit else target,
                )
            )
        yield ledger


def by_definition(ledger, n_classes, noise):
    """Return index, asked and out, by a pass over all questions."""
    standing = [
        q
        for q in ledger.questions.values()
        if q.purpose == "learn"
        and (q.number in ledger.answers or q.number in ledger.open)
        and q.left in PLACE
        and q.right in PLACE
    ]
    index = np.array([(PLACE[q.partner], PLACE[q.target]) for q in standing], int)
    index = index.reshape(-1, 2)
    said = np.array(
        [ledger.answers[q.number].said if q.number in ledger.answers else 0
         for q in standing], dtype=float,
    )  # fmt: skip
    out = {PLACE[q.target] for q in standing if q.number in ledger.open}
    asked = set(index[said == 0].ravel().tolist())
    beliefs = None
    if (said != 0).any():
        beliefs = believe(index[said != 0], said[said != 0], n_classes=n_classes,
                          noise=noise)  # fmt: skip
        asked |= set(beliefs.points[beliefs.confidence > min(0.9, 1 - 2 * noise)])
        asked |= {PLACE[q.target] for q in standing} & set(beliefs.points.tolist())
        asked |= set(beliefs.representatives.tolist())
    order = [i for i in dict.fromkeys(index.ravel().tolist()) if i in asked]
    return index, beliefs, order, out


@pytest.mark.parametrize("n_classes", [2, 3, None])
def test_notes_say_what_a_pass_over_all_questions_says(n_classes):
    notes = Notes(PLACE, n_classes)
    noise = 0.05
    for step, ledger in enumerate(happenings(120, n_classes or 4)):
        if step % 3 and step > 20:
            continue
        noise = 0.1 if step > 100 else noise
        known = notes.look(ledger, noise)
        index, beliefs, asked, out = by_definition(ledger, n_classes, noise)
        np.testing.assert_array_equal(known.index, index)
        assert known.asked.tolist() == asked
        assert set(known.out) == out
        np.testing.assert_array_equal(
            known.times, np.bincount(index.ravel(), minlength=60)
        )
        assert (known.beliefs is None) == (beliefs is None)
        if beliefs is not None:
            np.testing.assert_array_equal(
                known.beliefs.probability, beliefs.probability
            )


@pytest.mark.parametrize("n_classes", [2, 3, None])
def test_with_many_answers_it_does_not_matter_when_one_looks(n_classes, monkeypatch):
    monkeypatch.setattr(knowing, "_EXACT", 20)
    often, n_compared = Notes(PLACE, n_classes), 0
    for step, ledger in enumerate(happenings(200, n_classes or 4, seed=1)):
        known = often.look(ledger, 0.05)
        if step % 16 == 0 and known.beliefs is not None:
            anew = Notes(PLACE, n_classes).look(ledger, 0.05)
            np.testing.assert_array_equal(known.asked, anew.asked)
            np.testing.assert_array_equal(known.beliefs.points, anew.beliefs.points)
            np.testing.assert_array_equal(
                known.beliefs.probability, anew.beliefs.probability
            )
            n_compared += len(ledger.summary.teaching) > 20
    assert n_compared > 3


def tree(n, n_classes, seed=0):
    """Return a ledger in which each point is compared with an earlier one."""
    rng = np.random.default_rng(seed)
    y, ledger = rng.integers(n_classes, size=n + 1), Ledger()
    for number in range(n):
        partner = int(rng.integers(number + 1))
        ledger.ask(Question(number, partner, number + 1, "learn", number + 1))
        ledger.answer(number, 1 if y[partner] == y[number + 1] else -1)
    return ledger, y


def test_new_points_are_added_as_if_all_were_worked_out_again(monkeypatch):
    ledger, _ = tree(120, 2)
    place = {row: row for row in range(121)}
    exactly = Notes(place, 2).look(ledger, 0.05).beliefs
    monkeypatch.setattr(knowing, "_EXACT", 50)
    monkeypatch.setattr(knowing, "_GROWTH", 10.0)
    added = Notes(place, 2).look(ledger, 0.05).beliefs
    np.testing.assert_array_equal(added.points, exactly.points)
    swap = added.classes[0] != exactly.classes[0]
    found = added.probability[:, ::-1] if swap else added.probability
    np.testing.assert_allclose(found, exactly.probability, atol=1e-9)


def test_a_class_that_opens_late_is_noticed_at_once(monkeypatch):
    monkeypatch.setattr(knowing, "_EXACT", 20)
    monkeypatch.setattr(knowing, "_GROWTH", 10.0)
    ledger, y = tree(60, 2)
    place = {row: row for row in range(100)}
    assert Notes(place, None).look(ledger, 0.02).beliefs.n_established == 2
    # Point 61 is of neither class.
    for partner in (int(np.flatnonzero(y == c)[k]) for k in range(2) for c in (0, 1)):
        number = len(ledger.questions)
        ledger.ask(Question(number, partner, 61, "learn", 61))
        ledger.answer(number, -1)
    assert Notes(place, None).look(ledger, 0.02).beliefs.n_established == 3


def world(n=80, d=5, n_answered=6, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    proba = rng.dirichlet([1.0, 1.0], size=n)
    return Z, Scores.of(proba, Z, np.arange(n_answered))


@pytest.mark.parametrize("one_by_one", [4, 256])
def test_the_outlook_chooses_what_gains_most(one_by_one, monkeypatch):
    monkeypatch.setattr(outlook, "_ONE_BY_ONE", one_by_one)
    Z, scores = world()
    kept, asked = Outlook(scores, Z), list(range(6))
    for _ in range(60):
        out = np.array(asked[6:], dtype=int)
        free = np.setdiff1d(np.arange(80), asked)
        best = free[scores.gains(Z, free, out).argmax()]
        assert kept.best(np.array(asked)) == best
        asked.append(int(best))
    # One that is withdrawn may be chosen again, and one looks as if for the first time.
    del asked[20:23]
    anew = Outlook(scores, Z)
    assert kept.best(np.array(asked)) == anew.best(np.array(asked))
    np.testing.assert_array_equal(kept._influence, anew._influence)


def test_the_outlook_with_a_short_list_does_not_depend_on_when_one_looks(monkeypatch):
    monkeypatch.setattr(outlook, "_ONE_BY_ONE", 8)
    monkeypatch.setattr(outlook, "_SHORTLIST", 15)
    Z, scores = world(200)
    kept, asked = Outlook(scores, Z), list(range(6))
    while len(asked) < 200:
        best = kept.best(np.array(asked))
        assert best == Outlook(scores, Z).best(np.array(asked))
        assert best not in asked
        asked.append(best)
    with pytest.raises(NoCandidateLeftError, match="all 200 candidates"):
        kept.best(np.array(asked))


def test_points_alike_are_asked_about_in_their_order():
    Z = np.repeat(np.eye(3), 4, axis=0)
    kept = Outlook(Scores.before(Z, 2), Z)
    asked = []
    for _ in range(12):
        asked.append(kept.best(np.array(asked, dtype=int)))
    assert [i % 4 for i in asked] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_some_of_very_many_answers_hang_together():
    rng = np.random.default_rng(0)
    index = np.array([(rng.integers(k + 1), k + 1) for k in range(5000)])
    some = some_answers(index, 400, seed=3)
    assert 350 < len(set(some.tolist())) == len(some) <= 400
    assert {4999, 4998, 4950} <= set(some.tolist())
    known = {0}
    for left, right in index[some].tolist():
        assert left in known
        known.add(right)
    # Random ones, not only the first and the last.
    assert np.sum((some > 1000) & (some < 4000)) > 50
    np.testing.assert_array_equal(some_answers(index[:400], 400, 3), np.arange(400))


def test_some_of_very_many_answers_are_all_about_their_points():
    """A point that was compared with two classes comes with both answers."""
    rng = np.random.default_rng(0)
    index = np.array([(rng.integers(k + 1), k + 1) for k in range(2000) for _ in "ab"])
    some = some_answers(index, 300, seed=0)
    assert 200 < len(some) <= 300
    np.testing.assert_array_equal(some[1::2], some[::2] + 1)


def test_a_cycle_of_very_many_answers_ends():
    index = np.array([(k, (k + 1) % 50) for k in range(50)] * 4)
    assert 0 < len(some_answers(index, 20, seed=0)) <= 20


def test_lessons_of_very_many_answers_know_whom_they_are_about(monkeypatch):
    monkeypatch.setattr("pairlearn.ask.lessons.MOST_WRONG", 60)
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = rng.normal(size=(300, 2)) + 4 * y[:, None]
    teacher = Teacher(
        X, np.arange(300), n_classes=2, noise=0.05, majority=None, classes=None,
        estimator=None, random_state=0,
    )  # fmt: skip
    index = np.array([(rng.integers(k + 1), k + 1) for k in range(250)])
    said = np.where(y[index[:, 0]] == y[index[:, 1]], 1.0, -1.0)
    lesson = teacher.teach(index, said)
    np.testing.assert_array_equal(lesson.scores.answered, np.arange(251))
    agree = np.mean((lesson.model.predict(X) > 0) == (y == 1))
    assert max(agree, 1 - agree) > 0.97
    assert MOST_WRONG > 60


def test_many_points_of_a_class_are_partners_and_the_choice_is_quick():
    """With 1,200 known points, 500 of each class are looked at."""
    ledger, y = tree(1200, 2)
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(1300, 3)) + 3 * np.append(y, np.zeros(99))[:, None]
    chooser = Chooser(np.arange(1300), Z, as_strategy("mixed"), 2)
    partners = set()
    for number in range(40):
        found = chooser.choose(
            ledger, None, [], 0.0, None, np.random.default_rng(number)
        )
        target, partner, _ = found
        assert target > 1200 >= partner
        question = Question(len(ledger.questions), partner, target, "learn", target)
        ledger.ask(question)
        partners.add(partner)
    assert max(map(len, chooser._prepared.anchors)) == 500
    assert len(partners) >= 15
