"""The clerk against a simple model: nothing lost, nothing doubled, nothing repeated."""

import shutil
import sqlite3
import tempfile
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import text

from pairlearn.label.clerk import Clerk
from pairlearn.label.records import Records
from pairlearn.label.store import Store
from pairlearn.label.values import SAID, Given, Person, Refused
from pairlearn.label.web.tickets import proper_name
from tests.support.databases import execute
from tests.support.label_events import asked_body

LEASE, KEPT = 600.0, 180.0
ANN, BOB, EVE = Person("Ann", owner=True), Person("Bob"), Person("Eve")
PEOPLE = st.sampled_from([ANN, BOB, EVE])
PAGES = st.sampled_from(["one", "two"])
ANSWERS = st.sampled_from([-1, 0, 1])


class Broken(sqlite3.OperationalError):
    """What happens when the disk does not take it."""


class ClerkMachine(RuleBasedStateMachine):
    """Random commands, restarts and failures, and what should come of them."""

    @initialize()
    def begin(self):
        self.folder = Path(tempfile.mkdtemp())
        self.now, self.n_requests, self.n_questions = 1000.0, 0, 0
        self.pairs = {}
        # For whom a question is kept, and until when.
        self.kept = {}
        # What stands, by question and person; who answered a question first.
        self.stands, self.first, self.comments = {}, {}, {}
        self.sent = []
        self.pages = {}
        self.where = self.place()
        self.open()

    def place(self):
        return self.folder / "answers.sqlite"

    def rows(self, statement):
        return execute(self.where, statement)

    def open(self):
        self.store = Store(self.where, lambda: self.now)
        # No fsync: this is about order, and the store's own tests about the disk.
        raw = self.store._connection.connection.dbapi_connection
        if self.store.is_shared:
            raw.execute("SET synchronous_commit = off")
            raw.commit()
        else:
            raw.execute("PRAGMA synchronous = OFF")
        self.clerk = Clerk(self.store, lambda: self.now, LEASE)

    def teardown(self):
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)

    def do(self, work):
        with self.store.transaction():
            self.clerk.follow()
            return work(self.clerk)

    def request(self):
        self.n_requests += 1
        return f"r{self.n_requests}"

    @rule(left=st.integers(0, 4), right=st.integers(5, 8), keep_for=st.none() | PEOPLE)
    def ask(self, left, right, keep_for):
        number = self.n_questions
        body = asked_body(left, right)
        if keep_for is not None:
            body["for"] = keep_for.name
            self.kept[number] = keep_for.name, self.now + KEPT
        self.do(lambda clerk: clerk.ask(number, body))
        self.pairs[number] = (left, right)
        self.n_questions += 1

    @rule(person=PEOPLE, page=PAGES, want=st.integers(0, 3))
    def hand(self, person, page, want):
        before = list(self.held(person, page))
        got = self.do(lambda clerk: clerk.hand(person, page, [], want))
        numbers = [asked.number for asked in got]
        assert len(numbers) == len(set(numbers)) <= want
        # What the page had comes first, and again; of what came at one time, in any
        # order.
        assert len(set(numbers[: len(before)]) & set(before)) == min(want, len(before))
        for number in numbers:
            assert (number, person.name) not in self.stands
            for (name, other), held in self.pages.items():
                if (name, other) != (person.name, page):
                    assert held.get(number, 0) <= self.now, "on two pages at once"
        for number in set(numbers) - set(before):
            name, until = self.kept.pop(number, ("", 0.0))
            assert until <= self.now or name == person.name, "kept for somebody else"
            answered = {self.pairs[n] for n, who in self.stands if who == person.name}
            assert self.pairs[number] not in answered
        held = self.pages.setdefault((person.name, page), {})
        for number in [*before, *numbers]:
            if held.get(number, 0) - self.now < LEASE / 2 or number not in before:
                held[number] = self.now + LEASE

    def held(self, person, page):
        held = self.pages.get((person.name, page), {})
        return {n: until for n, until in held.items() if until > self.now}

    @precondition(lambda self: self.n_questions)
    @rule(person=PEOPLE, said=ANSWERS, data=st.data(), text=st.sampled_from(["", "x"]))
    def answer(self, person, said, data, text):
        # Any question, also one that was never on the page: late, or from elsewhere.
        number = data.draw(st.integers(0, self.n_questions - 1))
        given = Given(self.request(), number, said, text or None, 1.0)
        outcome = self.do(lambda clerk: clerk.answer(person, given))
        own = self.stands.get((number, person.name))
        if own is None:
            assert outcome.status == "saved"
            self.stands[number, person.name] = said
            self.first.setdefault(number, person.name)
            if text:
                self.comments[number, person.name] = text
            self.sent.append((person, given))
            self.off_pages(number, person.name)
        else:
            assert (outcome.status == "saved") == (own == said)

    def off_pages(self, number, who):
        for (name, _), held in self.pages.items():
            if name == who:
                held.pop(number, None)

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def send_again(self, data):
        person, given = data.draw(st.sampled_from(self.sent))
        last = self.store.last
        outcome = self.do(lambda clerk: clerk.answer(person, given))
        assert outcome.status == "saved"
        assert self.store.last == last

    @rule(person=PEOPLE, page=PAGES, again=st.booleans())
    def undo(self, person, page, again):
        request = self.request()
        own = [n for n, who in self.stands if who == person.name]
        if not own:
            with pytest.raises(Refused, match="no answer of yours"):
                self.do(lambda clerk: clerk.undo(person, page, request, None))
            return
        newest = own[-1]
        for _ in range(1 + again):
            asked, said = self.do(lambda clerk: clerk.undo(person, page, request, None))
            assert (asked.number, asked.left, asked.right) == (
                newest,
                *self.pairs[newest],
            )
        assert said == self.stands.pop((newest, person.name))
        if self.first.get(newest) == person.name:
            del self.first[newest]
        for held in self.pages.values():
            held.pop(newest, None)
        self.pages.setdefault((person.name, page), {})[newest] = self.now + LEASE

    @precondition(lambda self: self.n_questions)
    @rule(person=PEOPLE, said=ANSWERS, data=st.data(), again=st.booleans())
    def edit(self, person, said, data, again):
        number = data.draw(st.integers(0, self.n_questions - 1))
        request = self.request()
        whose = person.name
        if (number, whose) not in self.stands and person.owner:
            whose = self.first.get(number)
        if (number, whose) not in self.stands:
            with pytest.raises(Refused, match="no answer to this question"):
                self.do(lambda clerk: clerk.edit(person, request, number, said))
            return
        for _ in range(1 + again):
            self.do(lambda clerk: clerk.edit(person, request, number, said))
        del self.stands[number, whose]
        self.stands[number, person.name] = said
        if self.first.get(number) == whose:
            self.first[number] = person.name
        comment = self.comments.get((number, whose))
        if comment:
            self.comments[number, person.name] = comment
        if whose != person.name:
            self.off_pages(number, person.name)

    @rule(seconds=st.sampled_from([1.0, LEASE / 2, LEASE + 1]))
    def wait(self, seconds):
        self.now += seconds

    @rule()
    def restart(self):
        self.store.close()
        self.open()

    @precondition(lambda self: self.n_questions)
    @rule(person=PEOPLE, said=ANSWERS, data=st.data())
    def fail(self, person, said, data):
        """Nothing of what could not be committed is there, on the disk or in memory."""
        number = data.draw(st.integers(0, self.n_questions - 1))
        given = Given(self.request(), number, said, "lost", 1.0)

        def work(clerk):
            clerk.answer(person, given)
            clerk.hand(person, "one", [], 3)
            raise Broken

        with pytest.raises(Broken):
            self.do(work)
        self.clerk.begin_again()

    @invariant()
    def all_is_on_the_disk_once(self):
        if not hasattr(self, "store"):
            return
        rows = self.rows("SELECT question, annotator, answer, comment FROM answers")
        expected = {
            (n, who, SAID[said], self.comments.get((n, who)))
            for (n, who), said in self.stands.items()
        }
        assert len(rows) == len(expected)
        assert set(rows) == expected

    @invariant()
    def memory_is_what_the_disk_says(self):
        if not hasattr(self, "store"):
            return
        records = self.clerk.records
        assert {(i.question, i.who): i.said for i in records.items.values()} == (
            self.stands
        )
        first = {n: records.items[e].who for n, e in records.first.items()}
        assert first == self.first
        assert set(records.open) == set(self.pairs) - set(self.first)
        again = Records.read(self.store.events())
        assert again.items == records.items
        # Every open question is free, or on a page.
        with self.store.transaction():
            free = self.store.leases.free(self.now)
            leases = self.store.leases.all()
        assert set(free) <= set(records.open)
        assert {lease.question for lease in leases if lease.is_open} == set(
            records.open
        )
        unsuitable = {
            who: sum(records.has_answered(who, number) for number in records.open)
            for who in records.people
        }
        for who, n in unsuitable.items():
            assert records.n_unsuitable(who) == n


TestClerk = ClerkMachine.TestCase
TestClerk.settings = settings(max_examples=20, stateful_step_count=40, deadline=None)


def test_the_clerk_of_a_database(postgresql):
    """The same with a database, and each command at one of two processes."""

    class Two(ClerkMachine):
        other = None

        def place(self):
            return postgresql.make_database()

        def open(self):
            super().open()
            self.one = self.store, self.clerk
            super().open()
            self.other = self.store, self.clerk

        def rows(self, statement):
            store = self.other[0]
            with store.transaction(log=False):
                return [tuple(row) for row in store._run(text(statement))]

        def do(self, work):
            self.store, self.clerk = self.one
            self.one, self.other = self.other, self.one
            return super().do(work)

        def teardown(self):
            if self.other is not None:
                self.one[0].close()
                self.store = self.other[0]
            super().teardown()

    run_state_machine_as_test(
        Two, settings=settings(max_examples=3, stateful_step_count=25, deadline=None)
    )


@pytest.fixture
def clerk(where):
    store = Store(where, lambda: 1000.0)
    clerk = Clerk(store, lambda: 1000.0, LEASE)
    with store.transaction():
        clerk.ask(0, asked_body(0, 5))
        clerk.ask(1, asked_body(1, 6))
        yield clerk
    store.close()


@pytest.mark.parametrize("comment", [None, "both red"])
def test_an_id_that_comes_again_with_another_answer_is_not_called_saved(clerk, comment):
    first, other = Given("r1", 0, 1, comment), Given("r1", 0, -1, comment)
    for given in (first, first, replace(first, seconds=2.0)):
        assert clerk.answer(BOB, given).status == "saved"
    told = clerk.answer(BOB, other)
    assert (told.status, clerk.records.own("Bob", 0).said) == ("refused", 1)
    assert "used for something else" in told.reason
    with pytest.raises(Refused, match="used for something else"):
        clerk.edit(BOB, "r1", 0, -1)
    clerk.edit(BOB, "r2", 0, -1)
    clerk.edit(BOB, "r2", 0, -1)
    with pytest.raises(Refused, match="used for something else"):
        clerk.edit(BOB, "r2", 0, 0)
    assert clerk.records.own("Bob", 0).said == -1


def test_an_answer_about_another_pair_is_refused(clerk):
    """As it comes from a page that was open when an older copy was put back."""
    told = clerk.answer(BOB, Given("r1", 0, 1, rows=(1, 6)))
    assert told.status == "refused"
    assert "older copy" in told.reason
    assert clerk.records.own("Bob", 0) is None
    for number, rows in enumerate([(5, 0), (1, 6)]):
        given = Given(f"s{number}", number, 1, rows=rows)
        assert clerk.answer(BOB, given).status == "saved"


def test_the_id_of_a_comment_is_not_that_of_an_answer(clerk):
    clerk.answer(BOB, Given("r1", 0, 1))
    clerk.comment(BOB, "r2", 0, "sure")
    with pytest.raises(Refused, match="used for something else"):
        clerk.edit(BOB, "r2", 0, -1)
    assert clerk.records.own("Bob", 0).said == 1


@pytest.mark.parametrize(
    "name", ["\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "\U0001f469\u200d\U0001f467"]
)
def test_names_are_taken_here_that_are_taken_at_the_door(clerk, name):
    # With signs between letters that cannot be seen, and without which they are wrong.
    assert proper_name(name) == name
    assert clerk.answer(Person(name), Given("r1", 0, 1)).status == "saved"


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200b", "\ue000", "\0"])
def test_nor_are_others_that_would_be_refused_here(clerk, sign):
    assert proper_name(f"A{sign}nn") is None
    assert clerk.answer(Person(f"A{sign}nn"), Given("r1", 0, 1)).status == "refused"


def test_a_clock_that_is_put_back_does_not_keep_questions_on_pages(where):
    now = [1_000_000.0]
    store = Store(where, lambda: now[0])
    clerk = Clerk(store, lambda: now[0], LEASE)
    with store.transaction():
        clerk.ask(0, asked_body(0, 5))
        assert [q.number for q in clerk.hand(BOB, "one", [], 1)] == [0]
        now[0] -= 86_400.0
        # Bob is still there, and then not any more.
        assert clerk.hand(EVE, "two", [], 1) == []
        now[0] += LEASE + 1
        assert [q.number for q in clerk.hand(EVE, "two", [], 1)] == [0]
    store.close()


@pytest.fixture
def second_opinion(where):
    """A pair that Ann has answered, and that Bob is to be asked about again."""
    now = [1000.0]
    store = Store(where, lambda: now[0])
    clerk = Clerk(store, lambda: now[0], LEASE)
    with store.transaction():
        clerk.ask(0, asked_body(0, 5))
        assert [each.number for each in clerk.hand(ANN, "a", [], 1)] == [0]
        assert clerk.answer(ANN, Given("r1", 0, 1)).status == "saved"
        clerk.ask(1, asked_body(1, 6))
        clerk.ask(2, asked_body(0, 5) | {"for": "Bob"})
    yield clerk, now
    store.close()


def handed(clerk, person, page, want):
    with clerk.store.transaction():
        clerk.follow()
        return [each.number for each in clerk.hand(person, page, [], want)]


def test_a_second_opinion_waits_for_the_person_it_was_chosen_for(second_opinion):
    clerk, now = second_opinion
    assert handed(clerk, EVE, "e", 5) == [1]
    with clerk.store.transaction():
        assert clerk.n_suitable("Bob") == 1
        assert clerk.n_suitable("Eve") == 0
    now[0] += KEPT - 1
    assert handed(clerk, EVE, "e", 5) == [1]
    assert handed(clerk, BOB, "b", 5) == [2]


def test_it_comes_before_what_anybody_may_answer(second_opinion):
    clerk, _ = second_opinion
    assert handed(clerk, BOB, "b", 1) == [2]
    assert handed(clerk, BOB, "b", 2) == [2, 1]


def test_it_goes_to_others_if_that_person_is_away(second_opinion):
    clerk, now = second_opinion
    now[0] += KEPT
    # Never to the one whose answer is in doubt.
    assert handed(clerk, ANN, "a", 5) == [1]
    assert handed(clerk, EVE, "e", 5) == [2]
    assert handed(clerk, BOB, "b", 5) == []


def test_it_goes_to_others_if_that_person_is_not_welcome_any_more(second_opinion):
    clerk, _ = second_opinion
    with clerk.store.transaction():
        clerk.note("Ann", "revoke", {"id": None, "name": "Bob"}, "r2")
    assert handed(clerk, ANN, "a", 5) == [1]
    assert handed(clerk, EVE, "e", 5) == [2]


def test_two_processes_keep_it_for_the_same_person(postgresql):
    address = postgresql.make_database()
    stores = [Store(address, lambda: 1000.0) for _ in range(2)]
    one, two = (Clerk(store, lambda: 1000.0, LEASE) for store in stores)
    with stores[0].transaction():
        one.follow()
        one.ask(0, asked_body(0, 5) | {"for": "Bob"})
    assert handed(two, EVE, "e", 3) == []
    assert handed(two, BOB, "b", 3) == [0]
    assert handed(one, BOB, "c", 3) == []
    for store in stores:
        store.close()
