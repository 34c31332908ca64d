"""What goes on in the back room, in this process and one thing after the other."""

import queue
import re
import time

import pytest

from pairlearn.ask.question import IN_DOUBT, TO_LEARN, Question
from pairlearn.label.interviewer import Interviewer
from pairlearn.label.settings import DEFAULTS
from pairlearn.label.store import Store
from tests.support.label_events import two_kinds

HOOK = "tests.support.quick_model:quick_model"
# For what happens in another thread; far more than it takes.
LONG = 120.0


class Front:
    """Stands for the front: keeps what the back room says, and tells it of answers."""

    def __init__(self, folder, **settings):
        self.path = folder / "answers.sqlite"
        self.points = folder / "points.csv"
        self.settings = DEFAULTS | {"noise": None} | settings
        self.said = {"asked": [], "learned": [], "panel": []}
        self.mark, self.first = None, {}
        self.store = Store(self.path, time.time)

    def begin(self):
        self.inbox = queue.SimpleQueue()
        task = {
            "store": str(self.path),
            "points": str(self.points),
            "settings": self.settings,
            "mark": self.mark,
            "upto": self.store.last,
            "hook": HOOK,
        }
        self.room = Interviewer(task, self.hear, self.inbox)
        return self

    def hear(self, message):
        what, *values = message
        if what == "ready":
            (self.mark,) = values
        elif what == "asked":
            questions, short = values
            self.said["asked"].append((questions, short))
            for number, body in questions:
                self.keep("ask", body, None, number)
        elif what == "learned":
            self.said["learned"].append(values[0])
            self.keep("learn", values[0], None, None)
        elif what == "panel":
            self.said["panel"].append(values[0])

    def keep(self, kind, body, who, question):
        with self.store.transaction():
            event = self.store.append(kind, body, who=who, question=question)
        return event.number, kind, question, who, body

    def choose(self, n, who):
        self.room._on_choose(n, who)
        return self.said["asked"][-1]

    def tell(self, kind, body, who, question):
        event = self.keep(kind, body, who, question)
        if kind == "answer":
            self.first[question] = event[0]
        self.room._on_events([event])

    def settle(self):
        """Begin what is due, and take what comes of it until nothing more does."""
        self.room._next_panel = 0.0
        self.room._look()
        while self.room._learning is not None or self.room._paneling:
            what, *values = self.inbox.get(timeout=LONG)
            getattr(self.room, f"_on_{what}")(*values)
            self.room._next_panel = 0.0
            self.room._look()
        return self.said["panel"][-1] if self.said["panel"] else None

    def answer_all(self, kinds, who, most=10_000, flip=()):
        """Answer until nothing is left; return what was asked."""
        asked = []
        while len(asked) < most:
            questions, short = self.choose(4, who)
            for number, body in questions:
                same = kinds[body["left"]] == kinds[body["right"]]
                said = 1 if same != (number in flip) else -1
                self.tell("answer", {"said": said}, who, number)
                asked.append((number, body))
            self.settle()
            if short:
                break
        return asked


@pytest.fixture
def front(tmp_path):
    fronts = []

    def front(n_points, **settings):
        kinds = two_kinds(tmp_path / "points.csv", n_points)
        fronts.append(Front(tmp_path, **settings))
        return fronts[-1].begin(), kinds

    yield front
    for each in fronts:
        each.store.close()


def pair(body):
    return frozenset((body["left"], body["right"]))


def test_everything_is_asked_once_and_then_nothing_is_left(front):
    room, kinds = front(24)
    asked = room.answer_all(kinds, "Ann")
    assert [number for number, _ in asked] == list(range(len(asked)))
    assert len({pair(body) for _, body in asked}) == len(asked)
    assert room.choose(3, "Ann") == ([], True)
    assert {body["purpose"] for _, body in asked} == {"learn", "audit"}
    for _, body in asked:
        assert body["why"]
        assert body["left_id"] == f"p{body['left']}"


def test_a_second_person_is_asked_a_few_pairs_again(front):
    room, kinds = front(60)
    first = room.answer_all(kinds, "Ann", 30)
    second = []
    for _ in range(10):
        second += room.answer_all(kinds, "Bob", 4)
    again = {pair(body) for _, body in first} & {pair(body) for _, body in second}
    assert 0 < len(again) < len(second) / 2
    shown = room.settle()["agreement"]
    assert shown["persons"] == {"Ann": 1.0, "Bob": 1.0}
    assert "drawn at random for a second opinion" in " ".join(shown["sentences"])
    assert shown["disagreements"] == []


def test_pairs_that_people_answer_differently_are_listed_and_audits_never(front):
    room, kinds = front(60)
    room.answer_all(kinds, "Ann", 30)
    assert room.settle()["agreement"] is None
    asked = []
    for _ in range(12):
        for number, body in room.choose(4, "Bob")[0]:
            same = kinds[body["left"]] == kinds[body["right"]]
            room.tell("answer", {"said": -1 if same else 1}, "Bob", number)
            asked.append((number, body))
    shown = room.settle()["agreement"]
    assert shown["persons"] == {"Ann": 0.0, "Bob": 0.0}
    divided = {number for pair in shown["disagreements"] for number in pair}
    purposes = {number: body["purpose"] for number, body in asked}
    assert divided
    assert all(purposes.get(number, "learn") == "learn" for number in divided)


def test_answers_that_are_in_doubt_are_listed_and_audits_never(front):
    room, kinds = front(80)
    asked = room.answer_all(kinds, "Ann", 40)
    to_learn = [number for number, body in asked if body["purpose"] == "learn"]
    audits = [number for number, body in asked if body["purpose"] == "audit"]
    before = room.settle()
    assert before["suspicious"] == before["contradictions"] == []
    for number in (*to_learn[-3:], *audits):
        body = dict(asked)[number]
        same = kinds[body["left"]] == kinds[body["right"]]
        event = room.first[number]
        room.tell("undo", {"of": event, "said": 2 * int(same) - 1}, "Ann", number)
        room.tell("answer", {"said": -1 if same else 1}, "Ann", number)
    panel = room.settle()
    listed = {each["question"] for each in panel["suspicious"]}
    assert set(to_learn[-3:]) <= listed
    listed |= {number for cycle in panel["contradictions"] for number in cycle}
    assert audits
    assert not listed & set(audits)


def test_the_owner_is_told_how_often_each_person_is_right(front):
    room, kinds = front(120, noise="auto")
    room.answer_all(kinds, "Ann", 30)
    room.answer_all(kinds, "Bob", 20)
    panel = room.settle()
    assert [each["name"] for each in panel["people"]] == ["Ann", "Bob"]
    for each in panel["people"]:
        assert each["sentence"].startswith(f"{each['name']} is right about ")
        for rate in (each["right_same"], each["right_different"]):
            assert 0 <= rate["low"] <= rate["rate"] <= rate["high"] <= 1
        assert not each["spammer"]
        assert not each["adversary"]
    assert panel["warnings"] == []


def test_an_opinion_and_its_end_reach_the_interview_and_the_answer_stands(front):
    room, kinds = front(40)
    (number, _), *_ = room.answer_all(kinds, "Ann", 4)
    ledger = room.room._interview.ledger
    opinion = room.keep("opinion", {"said": 1}, "Bob", number)
    room.room._on_events([opinion])
    assert ledger.opinions == {(number, "Bob"): 1}
    undo = room.keep("undo", {"of": opinion[0], "said": 1}, "Bob", number)
    room.room._on_events([undo])
    assert ledger.opinions == {}
    assert ledger.answers[number].who == "Ann"
    room.tell("undo", {"of": room.first[number], "said": 1}, "Ann", number)
    assert number in ledger.open
    room.tell("withdraw", {}, None, number)
    assert number not in ledger.open


def test_a_new_room_goes_on_where_the_last_one_was(front):
    room, kinds = front(80)
    room.answer_all(kinds, "Ann", 42)
    # Something is out, and one answer came while nobody had learned from it.
    questions, _ = room.choose(3, "Ann")
    (number, _), *_ = questions
    room.tell("answer", {"said": 0}, "Ann", number)
    old = room.room._interview
    room.begin()
    new = room.room._interview
    for name in ("questions", "answers", "open"):
        assert getattr(new.ledger, name) == getattr(old.ledger, name)
    assert [v.answers for v in new.ledger.learned] == [
        v.answers for v in old.ledger.learned
    ]
    n_versions = len(new.ledger.learned)
    room.room._learn(new.last_lesson())
    room.settle()
    assert len(new.ledger.learned) == n_versions
    assert len(room.said["learned"]) == n_versions
    rows = list(range(80))
    said = [each.model.predict(each.X[rows]).tolist() for each in (old, new)]
    assert said[0] == said[1]
    expected = [q.pair for q in old.next_questions(3, "Ann", learn=False)]
    assert [pair(body) for _, body in room.choose(3, "Ann")[0]] == [
        frozenset(each) for each in expected
    ]


def test_names_go_with_the_members_they_were_given_for(front):
    room, kinds = front(80)
    room.answer_all(kinds, "Ann", 30)
    groups = room.settle()["groups"]
    assert [group["name"] for group in groups] == [None, None]
    names = [
        {"name": f"kind {kinds[group['typical'][0]]}", "members": group["members"]}
        for group in groups
    ]
    # In the other order than the groups, and with one who is not there any more.
    names = [names[1], names[0] | {"members": ["gone", *names[0]["members"]]}]
    room.tell("name", {"names": names}, "Ann", None)
    for group in room.settle()["groups"]:
        assert {f"kind {kinds[row]}" for row in group["typical"]} == {group["name"]}
    aside = set(room.room._interview._audits.reserve.tolist())
    for group in groups:
        assert not aside & set(group["typical"])
        assert group["members"] == [f"p{row}" for row in group["typical"]]


def test_the_panel_says_why_there_is_no_certificate_and_then_shows_it(front):
    room, kinds = front(200, audits=0.5)
    room.answer_all(kinds, "Ann", 8)
    room.room._panel_due = True
    assert room.settle()["certificate"] is None
    room.answer_all(kinds, "Ann", 72)
    panel = room.settle()
    found = panel["certificate"]
    assert panel["no_certificate"] is None
    assert 0 <= found["low"] <= found["error"] <= found["high"] < 0.5
    assert found["n_audits"] >= 20
    assert "however often you look" in found["sentence"]
    assert found["granted"][0].startswith("Every answer is taken as right")
    assert panel["goal_reached"] == (found["high"] <= panel["goal"])
    assert [v["n_answers"] for v in panel["curve"]] == sorted(
        v["n_answers"] for v in panel["curve"]
    )
    # The column that divides the kinds comes first; the ids do not count.
    assert panel["columns"][0] == 1


def test_without_audits_there_is_never_a_certificate(front):
    room, kinds = front(30, audits=0.0)
    room.answer_all(kinds, "Ann", 20)
    panel = room.settle()
    assert panel["certificate"] is None
    assert "--audits 0" in panel["no_certificate"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("p3,", "q3,"),
        lambda text: text.replace("p3,", "p3,9"),
        lambda text: "".join(text.splitlines(True)[:-1]),
    ],
    ids=["id", "cell", "row"],
)
def test_other_points_are_noticed(front, change):
    room, _ = front(20)
    room.points.write_text(change(room.points.read_text()))
    with pytest.raises(ValueError, match="are not those that the answers"):
        room.begin()


@pytest.mark.parametrize(
    ("text", "settings", "told"),
    [
        ("id,x\na,1\n", {}, "holds one point"),
        ("id,x\na,1\nb,2\n", {"seed": 3}, "too few points"),
        ("id,x\na,1\nb,2\nc,3\n", {"strategy": "magic"}, "unknown strategy"),
    ],
)
def test_points_or_settings_that_do_not_do(tmp_path, text, settings, told):
    (tmp_path / "points.csv").write_text(text)
    front = Front(tmp_path, **settings)
    with pytest.raises(ValueError, match=told):
        front.begin()
    front.store.close()


def test_a_model_learned_out_of_turn_is_said_to_be_wrong_where_it_was_judged(front):
    room, kinds = front(400, audits=0.5)
    interview = room.room._interview
    everything = set(range(1000))
    # Every answer is wrong, so that the audits before are wrong, too.
    room.answer_all(kinds, "Ann", 40, flip=everything)
    number = next(iter(interview.ledger.learned[-1].answers))
    room.tell("undo", {"of": room.first[number]}, "Ann", number)
    room.settle()
    assert not interview.ledger.learned[-1].on_time
    purpose = number = None
    while purpose != "audit":
        [(number, body)] = room.choose(1, "Ann")[0]
        purpose = body["purpose"]
    room.tell("answer", {"said": 1}, "Ann", number)
    shown = room.settle()["certificate"]
    assert not interview.ledger.learned[-1].on_time
    said = re.match(r"1 question has tested .*, and it got (\d+) ", shown["sentence"])
    assert shown["n_audits"] == 1
    assert int(said[1]) <= 1


def test_a_second_opinion_names_whom_it_was_chosen_for(front):
    """Once people are told apart; before, anybody may answer what is in doubt."""
    room, kinds = front(120, noise="auto")
    again, new = (Question(900, 3, 7, "learn", 7, why) for why in (IN_DOUBT, TO_LEARN))
    room.answer_all(kinds, "Ann", 30)
    room.settle()
    assert "for" not in room.room._body(again, "Bob")
    room.answer_all(kinds, "Bob", 20)
    room.settle()
    assert room.room._body(again, "Bob")["for"] == "Bob"
    assert "for" not in room.room._body(again, None)
    assert "for" not in room.room._body(new, "Bob")
