"""Several people in one interview: what answers are worth, and who is asked again."""

import json
from dataclasses import replace

import numpy as np
import pytest

from pairlearn.ask import Interview, Question
from pairlearn.ask.doubts import Doubts
from pairlearn.ask.judging import by_people
from pairlearn.ask.ledger import Ledger
from pairlearn.ask.outlook import Outlook
from pairlearn.ask.question import IN_DOUBT
from pairlearn.ask.scores import Scores
from pairlearn.ask.worth import Worth, gather_people
from pairlearn.people.rates import PeopleRates, PersonRates
from pairlearn.trust.beliefs import Beliefs
from tests.ask.test_interview import make, quick, resume, same


def person(name, r1, r0, verdict=""):
    return PersonRates(name, 60, 9, r1, r0, (0.0, 1.0), (0.0, 1.0), 0.5, verdict)


CROWD = PeopleRates(
    (
        person("Ada", 0.95, 0.05),
        person("Bob", 0.93, 0.06),
        person("Cy", 0.7, 0.3),
        person("Eve", 0.51, 0.49, "at chance"),
        person("Zoe", 0.1, 0.9, "adverse"),
    )
)


def ask_crowd(interview, y, n, accuracy, seed=0, lessons=()):
    """Let people answer in random order; return questions with who answered."""
    rng = np.random.default_rng(seed)
    names, asked = list(accuracy), []
    for k in range(n):
        if k in lessons:
            interview.learn()
        who = names[rng.integers(len(names))]
        question = interview.next_question(who, learn=False)
        right = rng.random() < accuracy[who]
        interview.answer(question, same(y, question) == right, who)
        asked.append((question, who))
    return asked


def doubts():
    """Return four pairs in doubt, the second one most, and an outlook."""
    Z = np.eye(8)
    pairs = np.array([[0, 4], [1, 5], [2, 6], [3, 7]])
    pi = np.array([0.9, 0.5, 0.8, 0.95])
    who = [{"Cy"}, {"Cy"}, {"Ada"}, {"Eve"}]
    return Doubts(pairs, pairs[:, 1], pi, np.ones(4), who), Outlook(
        Scores.before(Z, 2), Z
    )


EVERYBODY = ["Ada", "Bob", "Cy", "Eve", "Zoe"]


def test_a_second_opinion_goes_to_who_is_most_likely_right():
    found, outlook = doubts()
    worth = Worth(CROWD)

    def best(who, active=EVERYBODY, closed=()):
        answer = found.best(who, worth, active, outlook, closed)
        return None if answer is None else answer[0]

    assert best("Ada") == 1
    # Bob is about as good as Ada, who is asked before him about what she did not say.
    assert best("Bob") == 1
    assert best("Bob", closed={5}) == 2
    for who in ("Cy", "Eve", "Zoe", "Nobody knows"):
        assert best(who) is None
    # With those who are better gone, Cy is asked, but never about his own answers.
    assert best("Cy", ["Cy", "Eve"]) == 2
    assert best("Eve", ["Eve"]) == 1
    assert best("Ada", closed={4, 5, 7}) is None


def test_nobody_is_asked_again_of_whom_too_little_is_known():
    found, outlook = doubts()
    for n_answers in (Worth.ENOUGH - 1, Worth.ENOUGH):
        rows = tuple(
            replace(row, n_answers=n_answers) if row.name == "Ada" else row
            for row in CROWD
        )
        worth = Worth(PeopleRates(rows))
        answer = found.best("Ada", worth, EVERYBODY, outlook, ())
        assert (answer is not None) == worth.is_known("Ada")
    assert worth.is_known("Ada")
    assert not worth.is_known("Nobody knows")


def test_of_what_is_answered_the_most_open_pairs_are_kept():
    index = np.arange(80).reshape(40, 2)
    who = ["Ada", "Bob"] * 20
    together = gather_people(index, np.ones(40), who)
    sure = np.linspace(0.5, 0.99, 80)
    probability = np.column_stack([sure, 1 - sure])
    beliefs = Beliefs(
        np.arange(80), probability, 2, np.array([79, 0]), np.zeros(40), 0.0
    )
    found = Doubts.of(together, index + 100, index, index, beliefs)
    assert found.rows[0].tolist() == [100, 101]
    assert found.pi[0] == pytest.approx(sure[1])
    assert found.b[0] == pytest.approx(sure[0])
    assert np.all(np.diff(found.pi * (1 - found.pi)) <= 0)


def test_answers_count_for_what_their_person_is_worth():
    index = np.array([(2 * k, 2 * k + 1) for k in range(10)] * 4)
    said = np.repeat([1.0, -1.0, 1.0, 1.0], 10)
    who = np.repeat(["Ada", "Eve", "Cy", "Zoe"], 10).tolist()
    together = gather_people(index, said, who)
    t, weight = together.told(CROWD)
    worth = Worth(CROWD)
    each = [
        worth.log_ratio(w, int(s)) for w, s in zip(who[::10], said[::10], strict=True)
    ]
    ada, eve, cy, zoe = each
    assert 0 < -eve < 0.05 < cy < ada
    assert zoe == pytest.approx(-np.log(9))
    assert t.tolist() == [np.sign(sum(each))] * 10
    np.testing.assert_allclose(weight, abs(sum(each)) / np.log(19))


def test_people_are_told_apart_from_thirty_answers_of_two_people_on():
    index = np.arange(80).reshape(40, 2)
    said = np.tile([1.0, -1.0], 20)
    assert gather_people(index, said, [None] * 40) is None
    assert gather_people(index, said, ["Ada"] * 37 + ["Bob"] * 3) is None
    assert gather_people(index[:20], said[:20], ["Ada", "Bob"] * 10) is None
    assert gather_people(index, said, ["Ada", None] * 15 + ["Bob"] * 10) is not None


@pytest.fixture(scope="module")
def crowd():
    """An interview with four people, one of whom answers at random."""
    X, y = make(500, gap=4.0)
    accuracy = {"Ada": 1.0, "Bob": 0.95, "Cy": 0.9, "Eve": 0.5}
    interview = quick(X, audits=0.1, overlap=0.15, random_state=0)
    asked = ask_crowd(interview, y, 150, accuracy, seed=1, lessons=(40, 80, 110))
    interview.learn()
    return X, y, interview, asked


def test_who_answers_at_random_is_noticed_told_and_weighed_down(crowd):
    _, _, interview, _ = crowd
    people = interview.people()
    assert [row.name for row in people if row.is_spammer] == ["Eve"]
    (warning,) = people.warnings
    assert warning.startswith("Eve seems to answer at random")
    worth = Worth(people)
    assert abs(worth.log_ratio("Eve", 1)) < 0.3 * worth.log_ratio("Ada", 1)
    assert "Eve" in {answer.who for answer in interview.ledger.answers.values()}


def test_pairs_in_doubt_are_asked_again_of_others_who_are_good(crowd):
    asked = crowd[-1]
    first, again = {}, []
    for question, who in asked:
        if question.why == IN_DOUBT and question.pair in first:
            again.append((first[question.pair], who))
        first.setdefault(question.pair, who)
    assert again
    assert all(before != who for before, who in again)
    assert "Eve" not in {who for _, who in again}


@pytest.mark.parametrize("margin", [0.0, np.inf])
def test_a_second_opinion_must_be_worth_more_by_a_margin(crowd, margin, monkeypatch):
    X, _, interview, _ = crowd
    monkeypatch.setattr("pairlearn.ask.choosing.MARGIN", margin)
    again = resume(X, interview.state())
    asked = [again.next_question("Ada", learn=False) for _ in range(8)]
    assert any(question.why == IN_DOUBT for question in asked) == (margin == 0)


def test_an_interview_with_people_goes_on_from_its_state(crowd):
    X, _, interview, _ = crowd
    again = resume(X, interview.state())
    assert again.people() == interview.people()
    assert again.certificate == interview.certificate
    asked = again.next_question("Bob", learn=False)
    assert asked == resume(X, interview.state()).next_question("Bob", learn=False)


def test_with_one_person_nothing_changes():
    X, y = make(300, gap=2.0)
    rng = np.random.default_rng(0)
    wrong = rng.random(60) < 0.15
    runs = []
    for who in (None, "Ada"):
        interview = quick(X, random_state=1)
        asked = []
        for k in range(60):
            question = interview.next_question(who)
            interview.answer(question, same(y, question) != wrong[k], who)
            asked.append(question)
        runs.append(asked)
        assert interview.people() is None
    assert runs[0] == runs[1]


def test_opinions_teach_are_stored_and_can_be_taken_back():
    X, y = make(300, gap=4.0)
    interview = quick(X, audits=0.2, random_state=0)
    asked = ask_crowd(interview, y, 50, {"Ada": 1.0, "Bob": 1.0})
    before = interview.state()
    to_learn = [q for q, who in asked if q.purpose == "learn"]
    audits = [q for q, who in asked if q.purpose == "audit"]
    for question in (*to_learn[:12], audits[0]):
        interview.opinion(question, not same(y, question), "Cy")
    interview.unsay(to_learn[0], "Cy")
    answers = interview.ledger.audit_answers()
    assert answers == Ledger.read(before["events"]).audit_answers()
    more = interview.ledger.opinions_at(len(interview.ledger.events))
    assert {number for number, _ in more} == {q.number for q in to_learn[1:12]}
    homework = interview._homework(interview.ledger.teaching(), False)
    assert homework.more[2] == ["Cy"] * 11
    assert homework.learn().worth.people.named("Cy").n_answers == 11
    state = json.loads(json.dumps(interview.state()))
    again = Ledger.read(state["events"])
    assert again.opinions == interview.ledger.opinions
    # What a version had learned from before is known.
    assert interview.ledger.opinions_at(len(before["events"])) == {}
    with pytest.raises(ValueError, match="already"):
        interview.opinion(to_learn[1], 1, "Cy")
    with pytest.raises(ValueError, match="no opinion"):
        interview.unsay(to_learn[0], "Cy")
    for line in (["opinion", 0, 5, "Cy"], ["opinion", 0, 1, None], ["unsay", 0, "X"]):
        with pytest.raises(ValueError, match=r"damaged|no opinion"):
            Ledger.read([*before["events"], line])


def audited(said):
    """Return a ledger with one audit per row: who says what of it."""
    ledger = Ledger()
    for k, row in enumerate(said):
        for who, answer in row:
            number = len(ledger.questions)
            ledger.ask(Question(number, 2 * k, 2 * k + 1, "audit"))
            ledger.answer(number, answer, who)
    return ledger


def test_of_an_audit_the_best_persons_answer_counts_and_a_guessers_never():
    ledger = audited(
        [
            [("Cy", -1), ("Ada", 1)],
            [("Eve", -1)],
            [("Zoe", -1)],
            [("Eve", 1), ("Cy", 0)],
            [("Nobody knows", 1)],
        ]
    )
    found = by_people(ledger, CROWD)
    # Zoe says the opposite of what is right, almost certainly.
    assert found.said == {(0, 1): 1, (4, 5): 1, (6, 7): 0}
    assert found.left_out == {(2, 3), (8, 9)}
    r1, r0 = found.rates
    assert (r1, r0) == pytest.approx(((0.95 + 0.9 + 0.7) / 3, (0.05 + 0.1 + 0.3) / 3))
    alike = by_people(ledger, None)
    assert alike.said == ledger.audit_answers()
    assert not alike.left_out


def test_a_certificate_says_which_audits_do_not_count():
    X, y = make(800, gap=4.0)
    accuracy = {"Ada": 1.0, "Bob": 0.95, "Cy": 0.9, "Eve": 0.5}
    interview = quick(X, random_state=0)
    ask_crowd(interview, y, 40, {"Ada": 1.0})
    interview.freeze(60)
    asked = ask_crowd(interview, y, 60, accuracy, seed=1)
    alike = interview.certificate
    assert alike.n_left_out == 0
    interview._lesson = replace(interview._lesson, worth=Worth(CROWD))
    found = interview.certificate
    n_guessed = sum(who == "Eve" for _, who in asked)
    assert found.n_left_out == n_guessed > 5
    assert found.n_pairs == 60 - n_guessed
    assert found.noise == "unknown"
    assert f"{n_guessed} more by people who do not count" in str(found)
    assert found.clustering_interval[1] < alike.clustering_interval[1]


@pytest.mark.parametrize("noise", [None, 0.1])
def test_where_the_rate_of_wrong_answers_is_given_people_are_alike(noise):
    X, y = make(300, gap=4.0)
    interview = Interview(X, noise=noise, audits=0, random_state=0)
    for k, question in enumerate(interview.next_questions(40, learn=False)):
        interview.answer(question, same(y, question), ("Ada", "Bob")[k % 2])
    interview.learn()
    assert interview.people() is None
