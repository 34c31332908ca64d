"""Second opinions: which pairs are asked twice, of whom, and what stays as it is."""

from collections import Counter

import numpy as np
import pytest

from pairlearn.ask import Interview, Question
from pairlearn.ask.ledger import Ledger
from pairlearn.ask.overlap import SingleAnswers, wants_overlap
from tests.ask.test_interview import make, quick, resume, same

CHECK = "second opinion: a random check"


def ask_people(interview, y, n, people=("Ada", "Bob", "Cy"), named=True):
    """Let people answer in turn, and return who answered which question."""
    asked = []
    for number in range(n):
        who = people[number % len(people)]
        question = interview.next_question(who if named else None)
        interview.answer(question, same(y, question), who)
        asked.append((question, who))
    return asked


def test_the_coin_is_thrown_as_often_as_was_said():
    share = np.mean([wants_overlap(7, n, 0.2) is not None for n in range(4000)])
    assert 0.18 < share < 0.22


def test_pairs_are_asked_again_of_others_only_once_and_keep_their_purpose():
    X, y = make(1000)
    interview = quick(X, overlap=0.3, audits=0.3, random_state=0)
    asked = ask_people(interview, y, 200)
    first, checks = {}, 0
    for question, who in asked:
        if question.why == CHECK:
            checks += 1
            before, other = first.pop(question.pair)
            assert other != who
            assert question.purpose == before.purpose
            assert question.target == before.target
        else:
            first[question.pair] = question, who
    assert 35 < checks < 85
    purposes = Counter(q.purpose for q, _ in asked if q.why == CHECK)
    assert min(purposes["audit"], purposes["learn"]) > 5


def test_there_is_no_overlap_for_one_person_or_for_nobody_in_particular():
    X, y = make(400)
    for people in (("Ada",), (None,)):
        interview = quick(X, overlap=0.9, random_state=0)
        asked = ask_people(interview, y, 40, people)
        assert CHECK not in {q.why for q, _ in asked}


def test_if_nobody_says_who_is_going_to_answer_any_pair_may_come_again():
    X, y = make(400)
    interview = quick(X, overlap=0.3, random_state=0)
    asked = ask_people(interview, y, 100, named=False)
    assert sum(q.why == CHECK for q, _ in asked) > 15


def test_audits_are_the_same_ones_in_the_same_order_with_overlap():
    X, y = make(1000)
    orders = []
    for overlap in (0.0, 0.4):
        interview = quick(X, overlap=overlap, audits=0.4, random_state=0)
        ask_people(interview, y, 100)
        orders.append([q.pair for q in interview.ledger.audits()])
    without, with_overlap = orders
    assert with_overlap == without[: len(with_overlap)]
    assert len(with_overlap) > 15


def test_second_opinions_do_not_disturb_the_certificate():
    """Whatever the second person says about audits, and no point is used up by it."""
    X, y = make(1000)
    honest, lying = (
        quick(X, overlap=0.3, audits=0.4, noise=None, random_state=0) for _ in "ab"
    )
    n_lies = 0
    for number in range(150):
        who = ("Ada", "Bob")[number % 2]
        questions = [interview.next_question(who) for interview in (honest, lying)]
        assert questions[0] == questions[1]
        truth = same(y, questions[0])
        lies = questions[0].why == CHECK and questions[0].purpose == "audit"
        n_lies += lies
        honest.answer(questions[0], truth, who)
        lying.answer(questions[1], truth != lies, who)
    assert n_lies > 10
    assert honest.certificate == lying.certificate
    audited = [i for q in honest.ledger.audits() for i in q.pair]
    assert len(set(audited)) == len(audited)
    fresh = honest._audits.unused(honest.ledger)
    assert len(fresh) == len(honest._audits.reserve) - len(audited)
    assert resume(X, honest.state()).certificate == honest.certificate


def test_the_first_sure_answer_to_an_audit_stands():
    ledger = Ledger()
    for number in range(3):
        ledger.ask(Question(number, 4, 9, "audit"))
    ledger.answer(1, -1, "Bob")
    assert ledger.audit_answers() == {(4, 9): -1}
    ledger.answer(2, 1, "Cy")
    assert ledger.audit_answers() == {(4, 9): -1}
    ledger.answer(0, 0, "Ada")
    assert ledger.audit_answers() == {(4, 9): -1}
    # Ada was asked first, so what she says after all counts.
    ledger.undo(0)
    ledger.answer(0, 1, "Ada")
    assert ledger.audit_answers() == {(4, 9): 1}
    for number in range(3):
        ledger.undo(number)
    assert ledger.audit_answers() == {}
    assert [q.number for q in ledger.audits()] == [0]


def test_pairs_are_drawn_uniformly():
    single = SingleAnswers()
    for number in range(12):
        question = Question(number, 2 * number, 2 * number + 1)
        single.asked(question)
        single.answered(question, "Ada" if number < 9 else "Bob")
    rng = np.random.default_rng(0)
    anyone = Counter(single.draw(rng, None).number for _ in range(2400))
    assert len(anyone) == 12
    assert min(anyone.values()) > 140
    assert max(anyone.values()) < 270
    others = {single.draw(rng, "Ada").number for _ in range(100)}
    assert others == {9, 10, 11}


def test_what_is_out_or_taken_back_is_not_drawn():
    """Against a slow count, through any order of asking, answering and taking back."""
    rng = np.random.default_rng(1)
    ledger, people = Ledger(), ["Ada", "Bob", None]
    for step in range(600):
        kind = rng.choice(["ask", "ask", "answer", "answer", "undo", "withdraw"])
        if kind == "answer" and ledger.open:
            number = int(rng.choice(list(ledger.open)))
            ledger.answer(number, int(rng.integers(-1, 2)), people[rng.integers(3)])
        elif kind == "undo" and ledger.answers:
            ledger.undo(int(rng.choice(list(ledger.answers))))
        elif kind == "withdraw" and ledger.open:
            ledger.withdraw(int(rng.choice(list(ledger.open))))
        else:
            left = 2 * int(rng.integers(15))
            ledger.ask(Question(len(ledger.questions), left, left + 1, "audit"))
        said, out = {}, {q.pair for q in ledger.open.values()}
        for answer in ledger.answers.values():
            said.setdefault(answer.question.pair, []).append(answer.who)
        names = {who for whos in said.values() for who in whos} - {None}
        for who in ("Ada", None):
            wanted = {
                pair
                for pair, whos in said.items()
                if len(whos) == 1 and whos[0] not in (None, who) and pair not in out
            }
            if len(names) < 2:
                wanted = set()
            found = {
                q.pair
                for q in (ledger.summary.single.draw(rng, who) for _ in range(80))
                if q is not None
            }
            assert found <= wanted
            assert bool(found) == bool(wanted)
        owed = {q.pair for q in ledger.audits()} - set(ledger.audit_answers()) - out
        assert set(ledger.summary.owed) == owed
        if step % 50 == 0:
            again = Ledger.read(ledger.events).summary
            assert vars(again.single) == vars(ledger.summary.single)
            assert again.owed == ledger.summary.owed
            assert again.unsure == ledger.summary.unsure


def test_no_overlap_after_learning_has_ended():
    X, y = make(1000)
    interview = quick(X, overlap=0.5, noise=None, random_state=0)
    ask_people(interview, y, 60)
    interview.freeze(30)
    asked = ask_people(interview, y, 30)
    assert {q.why for q, _ in asked} == {"to judge the model"}
    assert interview.next_question() is None
    assert interview.certificate.n_pairs == 30


@pytest.mark.parametrize("share", [-0.1, 1.0, "a", None])
def test_a_share_that_cannot_be_is_refused(share):
    with pytest.raises(ValueError, match="overlap must be a share"):
        Interview(make(30)[0], overlap=share)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_question_says_why_it_is_asked(n_classes):
    X, y = make(500, n_classes=n_classes, gap=2.5)
    interview = Interview(
        X, n_classes=n_classes, overlap=0.15, noise=0.1, random_state=0
    )
    free = interview._candidates[:4].reshape(2, 2)
    interview.bring(free, np.where(y[free[:, 0]] == y[free[:, 1]], 1, -1))
    rng = np.random.default_rng(0)
    reasons = {
        "brought along", "to judge the model", "to find the kinds", "to learn most",
        "drawn at random", "second opinion: somebody was unsure",
        "second opinion: the answer is in doubt", CHECK,
    }  # fmt: skip
    given: set[str] = set()
    number = 0
    # Some are rare: until each has occurred.
    while given != reasons and number < 600:
        number += 1
        who = ("Ada", "Bob")[number % 2]
        question = interview.next_question(who)
        said = same(y, question) != (rng.random() < 0.1)
        interview.answer(question, None if rng.random() < 0.1 else said, who)
        given = {q.why for q in interview.ledger.questions.values()}
    assert given == reasons
    for question in interview.ledger.questions.values():
        judges = question.why == "to judge the model"
        assert judges <= (question.purpose == "audit")
    random = quick(X, audits=0, strategy="random").next_questions(5, learn=False)
    assert {q.why for q in random} == {"drawn at random"}
