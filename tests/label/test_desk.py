"""The desk: questions go out, and what is said to be saved is on the disk."""

import asyncio
import sqlite3
import threading
from itertools import chain

import pytest

from pairlearn.files.answers_store import StoreError
from pairlearn.label.desk import (
    Asked,
    Desk,
    Given,
    Hand,
    Item,
    Outcome,
    Person,
    Refused,
)
from pairlearn.label.store import Store
from tests.support.label_events import asked_body

ANN, BOB, EVE = Person("Ann", owner=True), Person("Bob"), Person("Eve")
POINTS = "id,size\n" + "".join(f"p{k},{k}\n" for k in range(40))


class Clock:
    """A clock that stands still until it is told to go."""

    def __init__(self):
        self.now = 1_700_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def make(where, tmp_path, clock):
    """Return what makes desks about one file or database, without a back room."""
    points = tmp_path / "points.csv"
    points.write_text(POINTS)

    def make(given=None, **options):
        options = {"room": None, "patience": 0.0, "clock": clock} | options
        return Desk(where, points, given, **options)

    return make


def run(desk, work):
    """Open a desk, do something with it, and close it."""

    async def whole():
        await desk.open()
        try:
            return await work(desk)
        finally:
            await desk.close()

    return asyncio.run(asyncio.wait_for(whole(), 120))


async def supply(desk, n, purpose="learn", first=0):
    """Put questions into the stock, as the back room does."""

    def do(clerk):
        for number in range(first, first + n):
            left, right = 2 * number, 2 * number + 1
            clerk.ask(number, asked_body(left, right, purpose))

    await desk._do(do)


async def answer(desk, person, question, said=1, request=None, **more):
    given = Given(request or f"{person.name}-{question}", question, said, **more)
    outcomes, _ = await desk.answer(person, "page", [given], [], 0)
    return outcomes[0]


def test_questions_go_out_and_come_back_answered(make):
    async def work(desk):
        await supply(desk, 3)
        hand = await desk.hand(ANN, "a", [], 2)
        assert hand == Hand([Asked(0, 0, 1), Asked(1, 2, 3)])
        # The page has one left, and wants two.
        given = Given("r1", 0, 1, "surely", 1.25)
        outcomes, hand = await desk.answer(ANN, "a", [given], [1], 2)
        assert outcomes == [Outcome("r1", "saved")]
        assert hand == Hand([Asked(2, 4, 5)])
        assert desk.n_answers(ANN) == 1
        assert desk.people() == ["Ann"]
        progress = await desk.progress()
        assert progress["answers"] == {"same": 1, "different": 0, "unsure": 0}
        assert progress["people"] == [{"name": "Ann", "n": 1}]
        known = {"name": "Ann", "spammer": True, "sentence": "Ann guesses."}
        desk._training.panel = desk._training.panel | {"people": [known]}
        told = (await desk.progress())["people"]
        assert told == [{"n": 1} | known]
        assert progress["back_room"] == "starting"
        at = "2023-11-14T22:13:20.000Z"
        item = Item(5, 0, 0, 1, 1, "Ann", at, "surely", False)
        assert (await desk.history(ANN)).items == [item]
        assert await desk.question(ANN, 0) == item

    run(make(), work)


def test_a_page_that_is_loaded_again_gets_the_same_and_others_get_others(make):
    async def work(desk):
        await supply(desk, 6)
        first = await desk.hand(ANN, "a", [], 2)
        assert (await desk.hand(ANN, "a", [], 2)) == first
        second_tab = await desk.hand(ANN, "b", [], 2)
        bob = await desk.hand(BOB, "c", [], 2)
        numbers = [q.number for h in (first, second_tab, bob) for q in h.questions]
        assert numbers == [0, 1, 2, 3, 4, 5]
        assert await desk.hand(EVE, "d", [], 2) == Hand(waiting=True)
        assert await desk.hand(EVE, "d", [], 0) == Hand()

    run(make(), work)


def test_leases_run_out_and_are_kept_over_a_restart(make, clock):
    async def before(desk):
        await supply(desk, 2)
        assert len((await desk.hand(ANN, "a", [], 2)).questions) == 2

    async def after(desk):
        assert await desk.hand(BOB, "b", [], 1) == Hand(waiting=True)
        assert len((await desk.hand(ANN, "a", [], 2)).questions) == 2
        clock.now += 100
        # Whoever is heard of keeps them.
        await desk.hand(ANN, "a", [0, 1], 2)
        clock.now += 30
        assert await desk.hand(BOB, "b", [], 1) == Hand(waiting=True)
        clock.now += 130
        hand = await desk.hand(BOB, "b", [], 1)
        assert [q.number for q in hand.questions] == [0]
        # The other one is still free, and Ann's page has it.
        assert await desk.hand(ANN, "a", [0, 1], 2) == Hand()
        assert await desk.hand(EVE, "e", [], 1) == Hand(waiting=True)

    run(make(lease_seconds=120.0), before)
    clock.now += 110
    run(make(lease_seconds=120.0), after)


def test_a_late_answer_is_kept_as_an_opinion(make, clock, where):
    async def work(desk):
        await supply(desk, 1)
        await desk.hand(ANN, "a", [], 1)
        clock.now += 10_000
        await desk.hand(BOB, "b", [], 1)
        assert (await answer(desk, BOB, 0, -1)).status == "saved"
        assert (await answer(desk, ANN, 0, 1)).status == "saved"
        # Ann takes hers back, and Bob's stays; she may answer again.
        question, said = await desk.undo(ANN, "a", "u1")
        assert (question, said) == (Asked(0, 0, 1), 1)
        assert await desk.hand(ANN, "a", [], 1) == Hand([Asked(0, 0, 1)])
        assert [i.who for i in (await desk.history(ANN, everyone=True)).items] == [
            "Bob"
        ]
        assert (await answer(desk, ANN, 0, 0, "again")).status == "saved"

    run(make(), work)
    store = Store(where, clock)
    kinds = [e.kind for e in store.events() if e.kind not in ("ask", "join")]
    store.close()
    assert kinds == ["answer", "opinion", "undo", "opinion"]


def test_who_answers_first_counts_also_if_the_lease_had_gone(make, clock):
    async def work(desk):
        await supply(desk, 2)
        await desk.hand(ANN, "a", [], 1)
        clock.now += 10_000
        assert (await desk.hand(BOB, "b", [], 1)).questions == [Asked(0, 0, 1)]
        assert (await answer(desk, ANN, 0)).status == "saved"
        # Bob has it on his page, also after loading it again, and may answer.
        assert (await desk.hand(BOB, "b", [], 1)).questions == [Asked(0, 0, 1)]
        assert (await answer(desk, BOB, 0)).status == "saved"
        assert [q.number for q in (await desk.hand(BOB, "b", [], 1)).questions] == [1]

    run(make(), work)


def test_nobody_gets_a_pair_again_that_they_have_answered(make):
    async def work(desk):
        await supply(desk, 1)
        await desk._do(lambda clerk: clerk.ask(1, asked_body(1, 0)))
        await answer(desk, ANN, 0)
        assert await desk.hand(ANN, "a", [], 1) == Hand(waiting=True)
        assert (await desk.hand(BOB, "b", [], 1)).questions == [Asked(1, 1, 0)]

    run(make(), work)


def test_what_is_sent_twice_is_done_once_also_after_a_restart(make):
    async def before(desk):
        await supply(desk, 3)
        for _ in range(2):
            assert (await answer(desk, ANN, 0, 1, "r1", comment="c")).status == "saved"
            await answer(desk, ANN, 1, 1, "r2")
            await desk.edit(ANN, "e1", 1, -1)
            await desk.comment(ANN, "c1", 1, "hm")
            assert await desk.undo(ANN, "a", "u1", 0) == (Asked(0, 0, 1), 1)
        return await desk._do(lambda clerk: clerk.store.last)

    async def after(desk):
        assert (await answer(desk, ANN, 0, 1, "r1", comment="c")).status == "saved"
        await desk.edit(ANN, "e1", 1, -1)
        await desk.comment(ANN, "c1", 1, "hm")
        assert await desk.undo(ANN, "a", "u1", 0) == (Asked(0, 0, 1), 1)
        assert [
            (i.question, i.said, i.comment) for i in (await desk.history(ANN)).items
        ] == [(1, -1, "hm")]
        return await desk._do(lambda clerk: clerk.store.last)

    assert run(make(), before) == run(make(), after)


def test_an_id_of_somebody_else_or_of_something_else_is_refused(make):
    async def work(desk):
        await supply(desk, 2)
        await answer(desk, ANN, 0, 1, "r1")
        for person, question in ((BOB, 0), (ANN, 1)):
            outcome = await answer(desk, person, question, 1, "r1")
            assert outcome.status == "refused"
            assert "used for something else" in outcome.reason
        with pytest.raises(Refused, match="something else"):
            await desk.undo(ANN, "a", "r1")
        assert desk.n_answers(ANN) == 1
        assert desk.n_answers(BOB) == 0

    run(make(), work)


def test_a_second_answer_of_one_person_does_not_overwrite_the_first(make):
    async def work(desk):
        await supply(desk, 1)
        await answer(desk, ANN, 0, 1, "r1")
        assert (await answer(desk, ANN, 0, 1, "r2")).status == "saved"
        outcome = await answer(desk, ANN, 0, -1, "r3")
        assert outcome.status == "refused"
        assert "change it in the history" in outcome.reason
        assert [i.said for i in (await desk.history(ANN)).items] == [1]

    run(make(), work)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (Given("r", 7, 1), "no question 7"),
        (Given("r", 0, 2), "same, different or unsure"),
        (Given("", 0, 1), "id of a request"),
        (Given("a/1", 0, 1), "slash"),
        (Given("r" * 101, 0, 1), "1 to 100"),
        (Given("r\x00", 0, 1), "cannot be shown"),
        (Given("r", 0, 1, "x" * 10_001), "at most 10,000"),
    ],
)
def test_what_makes_no_sense_is_refused_and_the_rest_is_saved(make, given, told):
    async def work(desk):
        await supply(desk, 2)
        outcomes, _ = await desk.answer(ANN, "a", [given, Given("other", 1, -1)], [], 0)
        assert [each.status for each in outcomes] == ["refused", "saved"]
        assert told in outcomes[0].reason
        assert [i.question for i in (await desk.history(ANN)).items] == [1]

    run(make(), work)


def test_comments_of_any_letters_and_odd_times_are_kept(make):
    async def work(desk):
        await supply(desk, 1)
        text = "a\ud800b \u202e<script>"
        outcome = await answer(desk, ANN, 0, comment=text, seconds=float("nan"))
        assert outcome.status == "saved"
        (item,) = (await desk.history(ANN)).items
        assert item.comment == "a?b \u202e<script>"

    run(make(), work)


def test_undo_goes_back_to_the_first_answer_newest_first(make):
    async def work(desk):
        await supply(desk, 4)
        for number in range(4):
            await answer(desk, ANN, number, (-1) ** number)
        await answer(desk, BOB, 0)
        undone = [await desk.undo(ANN, "a", f"u{k}") for k in range(4)]
        assert [(q.number, said) for q, said in undone] == [
            (3, -1),
            (2, 1),
            (1, -1),
            (0, 1),
        ]
        with pytest.raises(Refused, match="no answer of yours") as told:
            await desk.undo(ANN, "a", "u4")
        assert told.value.status == 409
        with pytest.raises(Refused, match="no answer to this question"):
            await desk.undo(ANN, "a", "u5", 0)
        hand = await desk.hand(ANN, "a", [], 4)
        assert sorted(q.number for q in hand.questions) == [0, 1, 2, 3]
        assert desk.n_answers(BOB) == 1

    run(make(), work)


def test_edits_are_for_ones_own_answers_and_the_owner_changes_all(make):
    async def work(desk):
        await supply(desk, 2)
        await answer(desk, BOB, 0, 1, comment="mine")
        await answer(desk, ANN, 1)
        with pytest.raises(Refused, match="no answer"):
            await desk.edit(BOB, "e1", 1, 0)
        with pytest.raises(Refused, match="no answer"):
            await desk.comment(EVE, "c1", 0, "hm")
        await desk.comment(ANN, "c2", 0, "theirs")
        (bobs,) = (await desk.history(BOB)).items
        assert (bobs.comment, bobs.edited) == ("theirs", False)
        await desk.edit(BOB, "e2", 0, -1)
        (bobs,) = (await desk.history(BOB)).items
        assert (bobs.said, bobs.comment, bobs.edited) == (-1, "theirs", True)
        await desk.edit(ANN, "e3", 0, 0)
        assert (await desk.history(BOB)).items == []
        newest = (await desk.history(ANN)).items[0]
        assert (newest.question, newest.said, newest.comment) == (0, 0, "theirs")
        with pytest.raises(Refused) as told:
            await desk.question(BOB, 0)
        assert told.value.status == 403

    run(make(), work)


def test_the_history_is_searched_and_read_in_parts(make):
    words = {0: "a red house", 1: "a blue house"}

    async def work(desk):
        await supply(desk, 10)
        for number in range(10):
            who = BOB if number == 9 else ANN
            comment = "Strange" if number == 4 else None
            await answer(desk, who, number, -1 if number == 3 else 1, comment=comment)

        async def found(search, **more):
            history = await desk.history(ANN, search, **more)
            return [item.question for item in history.items]

        assert await found("") == [8, 7, 6, 5, 4, 3, 2, 1, 0]
        assert await found("", everyone=True) == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
        assert await found("p6") == [3]
        assert await found("STRANGE") == [4]
        assert await found("different") == [3]
        assert await found("red blue") == [0]
        assert await found("red different") == []
        assert await found("bob", everyone=True) == [9]
        with pytest.raises(Refused, match="Only the owner"):
            await desk.history(BOB, everyone=True)
        first = await desk.history(ANN, limit=5)
        assert first.more
        rest = await desk.history(ANN, before=first.items[-1].number, limit=5)
        assert [item.question for item in rest.items] == [3, 2, 1, 0]
        assert not rest.more

    run(make(words=lambda row: words.get(row, "")), work)


class Unwilling(Store):
    """A store whose commits can fail."""

    fails = threading.Event()

    def _commit(self):
        if self.fails.is_set():
            raise sqlite3.OperationalError("disk I/O error")
        super()._commit()


@pytest.fixture
def unwilling(monkeypatch):
    monkeypatch.setattr("pairlearn.label.writer.open_store", Unwilling)
    yield Unwilling.fails
    Unwilling.fails.clear()


def test_what_could_not_be_committed_is_nowhere_and_nobody_is_told_it_was(
    make, unwilling
):
    async def work(desk):
        await supply(desk, 4)
        await answer(desk, ANN, 0)
        before = await desk.history(ANN)
        unwilling.set()
        requests = [
            answer(desk, ANN, 1, request="lost", comment="lost"),
            desk.hand(BOB, "b", [], 2),
            desk.undo(ANN, "a", "u1"),
            desk.edit(ANN, "e1", 0, -1),
            desk.keep_fact("port", 1),
        ]
        results = await asyncio.gather(*requests, return_exceptions=True)
        assert [type(each) for each in results] == [Refused] * 5
        assert {each.status for each in results} == {503}
        assert "nothing was changed" in str(results[0])
        unwilling.clear()
        assert await desk.history(ANN) == before
        assert desk.people() == ["Ann"]
        assert desk.fact("port") is None
        # The same request again is not taken for one that was done.
        assert (await answer(desk, ANN, 1, request="lost")).status == "saved"
        hand = await desk.hand(BOB, "b", [], 4)
        assert [q.number for q in hand.questions] == [2, 3]

    run(make(), work)


def test_questions_that_could_not_be_kept_come_later(make, unwilling):
    async def work(desk):
        unwilling.set()
        desk._training.heard(("asked", [(0, asked_body(0, 1))], False))
        with pytest.raises(Refused):
            await desk.hand(ANN, "a", [], 1)
        unwilling.clear()
        while True:
            hand = await desk.hand(ANN, "a", [], 1)
            if hand.questions:
                return hand

    assert run(make(), work) == Hand([Asked(0, 0, 1)])


def test_one_that_cannot_be_done_does_not_spoil_the_others(make):
    async def work(desk):
        await supply(desk, 1)

        def spoil(clerk):
            clerk.store.keep_fact("half", "done")
            raise ZeroDivisionError("a mistake of ours")

        results = await asyncio.gather(
            desk._do(spoil), answer(desk, ANN, 0), return_exceptions=True
        )
        assert isinstance(results[0], Refused)
        assert "a mistake of ours" in str(results[0])
        assert results[1].status == "saved"
        assert await desk._do(lambda clerk: clerk.store.facts().get("half")) is None

    run(make(), work)


def test_many_at_once_are_all_saved_once(make):
    async def one(desk, name):
        person, seen = Person(name), []
        hand = await desk.hand(person, name, [], 2)
        while hand.questions:
            question = hand.questions[0].number
            seen.append(question)
            given = Given(f"{name}-{question}", question, 1)
            have = [q.number for q in hand.questions[1:]]
            outcomes, more = await desk.answer(person, name, [given], have, 2)
            assert outcomes[0].status == "saved"
            hand = Hand(hand.questions[1:] + more.questions)
        return seen

    async def work(desk):
        await supply(desk, 300)
        seen = await asyncio.gather(*(one(desk, f"n{k}") for k in range(20)))
        assert sorted(chain.from_iterable(seen)) == list(range(300))
        assert sum(desk.n_answers(Person(name)) for name in desk.people()) == 300

    run(make(), work)


def test_other_settings_are_refused_in_the_middle(make, where):
    async def work(desk):
        return desk.settings

    assert run(make({"seed": 3}), work)["seed"] == 3
    assert run(make(), work)["seed"] == 3
    with pytest.raises(
        StoreError, match=r"was begun with --seed 3.*--(answers|database)"
    ):
        run(make({"seed": 4}), work)
    with pytest.raises(ValueError, match="no setting 'nonsense'"):
        run(make({"nonsense": 4}), work)
    Store(where, Clock()).close()


def test_facts_and_what_files_depend_on(make):
    async def before(desk):
        await supply(desk, 1)
        await desk.keep_fact("secret", "s3cret")
        changed, names = await desk.for_files()
        assert (changed, names) == (0, [])
        await answer(desk, ANN, 0)
        changed, _ = await desk.for_files()
        assert changed == (await desk.history(ANN)).items[0].number

    async def after(desk):
        return desk.fact("secret"), desk.fact("nothing")

    run(make(), before)
    assert run(make(), after) == ("s3cret", None)


def test_names_of_groups_are_kept_with_their_members(make):
    async def work(desk):
        groups = [{"key": "-1", "members": ["p1"]}, {"key": "1", "members": ["p2"]}]
        desk._training.panel = {"groups": groups}
        names = [{"key": "1", "name": " good "}, {"key": "-1", "name": ""}]
        for _ in range(2):
            await desk.name_groups(ANN, "n1", names)
        assert (await desk.for_files())[1] == [{"name": "good", "members": ["p2"]}]
        with pytest.raises(Refused, match="Only the owner"):
            await desk.name_groups(BOB, "n2", names)
        with pytest.raises(Refused, match="have changed meanwhile"):
            await desk.name_groups(ANN, "n3", [{"key": "7", "name": "x"}])
        with pytest.raises(Refused, match="same name"):
            await desk.name_groups(ANN, "n4", [names[0], {"key": "-1", "name": "good"}])

    run(make(), work)


def test_a_table_that_was_changed_gives_nothing_out_until_it_was_checked(
    make, tmp_path
):
    async def before(desk):
        await supply(desk, 1)

    async def after(desk):
        assert await desk.hand(ANN, "a", [], 1) == Hand(waiting=True)
        desk._training.heard(("ready", "mark"))
        await desk.ready()
        assert (await desk.hand(ANN, "a", [], 1)).questions == [Asked(0, 0, 1)]

    run(make(), before)
    points = tmp_path / "points.csv"
    points.write_text(POINTS.replace("p1,1\n", "p1,1.0\n"))
    run(make(), after)


def test_after_closing_nothing_is_taken(make):
    desk = make()

    async def work(desk):
        await supply(desk, 1)

    run(desk, work)
    with pytest.raises(Refused, match="closed"):
        asyncio.run(answer(desk, ANN, 0))
    asyncio.run(desk.close())


def test_questions_that_are_too_many_and_old_are_taken_back(make):
    async def work(desk):
        await supply(desk, 100)
        await supply(desk, 5, "audit", first=100)
        await desk.hand(ANN, "a", [], 3)
        body = {"expected_error": 0.1, "n_audits": 0, "n_wrong": 0, "on_time": True}
        desk._training.heard(("learned", body | {"upto": 1}))

        def look(clerk):
            return clerk.store.leases.free(clerk._clock()), set(clerk.records.withdrawn)

        free, withdrawn = await desk._do(look)
        assert set(range(100, 105)) < set(free)
        assert len(free) < 50
        assert withdrawn
        assert not withdrawn & {0, 1, 2}
        # An answer to one of them, which nobody should have, is kept all the same.
        late = max(withdrawn)
        assert (await answer(desk, BOB, late)).status == "saved"
        assert (await desk.history(BOB)).items[0].question == late

    run(make(), work)
