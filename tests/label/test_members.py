"""Invitations and the trail on the disk: what holds at once, and after a restart."""

import asyncio

import pytest

from pairlearn.label.desk import Desk, Given, Person, Refused
from pairlearn.label.invitations import InvitationEnded, Invitations
from pairlearn.label.records import Records
from pairlearn.label.store import Event
from tests.support.label_events import asked_body

ANN = Person("Ann", owner=True)
# One link of an earlier version, by the name alone.
OLD = Person("Old")


@pytest.fixture
def make(tmp_path):
    points = tmp_path / "points.csv"
    points.write_text("id,size\n" + "".join(f"p{k},{k}\n" for k in range(40)))

    def make():
        return Desk(tmp_path / "answers.sqlite", points, room=None, patience=0.0)

    return make


def run(desk, work):
    async def whole():
        await desk.open()
        try:
            return await work(desk)
        finally:
            await desk.close()

    return asyncio.run(asyncio.wait_for(whole(), 120))


async def supply(desk, n):
    def do(clerk):
        for number in range(n):
            clerk.ask(number, asked_body(2 * number, 2 * number + 1))

    await desk._do(do)


async def person(desk, name, role="annotator"):
    made = await desk.members.invite("Ann", name, role)
    return Person(name, role == "owner", made.id)


async def answer(desk, who, question):
    given = Given(f"{who.name}-{question}", question, 1)
    return await desk.answer(who, "page", [given], [], 0)


async def texts(desk, who=None):
    lines, more, _ = await desk.members.trail(None, 100, who)
    assert not more
    return [line.text for line in lines]


def test_a_revoked_person_does_nothing_more_and_keeps_the_answers(make):
    async def work(desk):
        await supply(desk, 4)
        bob = await person(desk, "Bob")
        eve = await person(desk, "Eve", "owner")
        await answer(desk, bob, 0)
        await answer(desk, eve, 1)
        await answer(desk, OLD, 2)
        await desk.members.revoke("Ann", bob.invitation, "Bob", "r1")
        # Also if a request had been let in before: it is asked again when it is done.
        for wish in [
            desk.hand(bob, "page", [], 1),
            answer(desk, bob, 3),
            desk.undo(bob, "page", "u1"),
            desk.edit(bob, "e1", 0, -1),
            desk.comment(bob, "c1", 0, "why"),
            desk.question(bob, 0),
            desk.history(bob),
        ]:
            with pytest.raises(InvitationEnded, match="answers that you gave are kept"):
                await wish
        await desk.members.revoke("Ann", eve.invitation, "Eve", "r2")
        with pytest.raises(InvitationEnded):
            await desk.name_groups(eve, "n1", [])
        assert (await answer(desk, OLD, 3))[0][0].status == "saved"
        await desk.members.revoke("Ann", None, "Old", "r3")
        with pytest.raises(InvitationEnded):
            await desk.hand(OLD, "page", [], 1)
        assert (await desk.progress())["answers"]["same"] == 4
        # Whoever is invited again goes on with what was answered.
        again = await person(desk, "Bob")
        assert (await desk.question(again, 0)).said == 1
        assert {each["name"]: each["stands"] for each in await desk.members.listed()}

    run(make(), work)

    async def later(desk):
        known = await desk.invitations()
        stands = [(each.name, each.stands) for each in known.listed()]
        assert stands[0] == ("Bob", True)
        assert sorted(stands[1:]) == [("Bob", False), ("Eve", False), ("Old", False)]
        listed = await desk.members.listed()
        assert {(each["name"], each["n"]) for each in listed} == {
            ("Bob", 1), ("Eve", 1), ("Old", 2),
        }  # fmt: skip

    run(make(), later)


def test_the_same_invitation_is_printed_again_until_it_is_revoked(make):
    async def work(desk):
        first = await desk.members.link_for(None, "Bob")
        assert await desk.members.link_for("Ann", "Bob") == first
        await desk.members.revoke("Ann", first.id, "Bob", "r1")
        assert (await desk.members.link_for(None, "Bob")).id != first.id
        # A request that comes twice makes one invitation.
        one = await desk.members.invite("Ann", "Eve", "owner", "i1")
        assert await desk.members.invite("Ann", "Eve", "owner", "i1") == one
        with pytest.raises(Refused, match="used for something else"):
            await desk.members.revoke("Ann", one.id, "Eve", "i1")
        with pytest.raises(Refused, match="annotator or as owner"):
            await desk.members.invite("Ann", "Eve", "king")

    run(make(), work)


def test_a_new_secret_ends_every_invitation(make):
    async def work(desk):
        first = await desk.secret()
        assert await desk.secret() == first
        bob = await person(desk, "Bob")
        await desk.secret("Ann", new=True)
        assert await desk.secret() != first
        known = await desk.invitations()
        assert known.renewed > 0
        assert not known.of("Bob", bob.invitation).stands
        with pytest.raises(InvitationEnded):
            await desk.hand(bob, "page", [], 1)
        assert (await texts(desk))[0] == "Ann made all links from before invalid."
        return await desk.secret()

    secret = run(make(), work)

    async def later(desk):
        assert await desk.secret() == secret

    run(make(), later)


def test_a_question_is_shown_to_those_who_have_it(make):
    async def work(desk):
        await supply(desk, 3)
        bob, eve = await person(desk, "Bob"), await person(desk, "Eve")
        await desk.hand(bob, "page", [], 1)
        await desk.hand(eve, "page", [], 1)
        assert (await desk.question(bob, 0)).said is None
        for number in (1, 2):
            with pytest.raises(Refused, match="not on your page"):
                await desk.question(bob, number)
        for number in (0, 1, 2):
            assert (await desk.question(ANN, number)).said is None
        await answer(desk, bob, 0)
        assert (await desk.question(bob, 0)).said == 1
        with pytest.raises(Refused, match="not on your page"):
            await desk.question(eve, 0)
        # What another person said to a question on one's page is not told.
        await answer(desk, bob, 1)
        assert (await desk.question(eve, 1)).who is None

    run(make(), work)


def test_a_point_is_shown_to_those_who_are_asked_about_it(make):
    async def work(desk):
        await supply(desk, 3)
        bob, eve = await person(desk, "Bob"), await person(desk, "Eve")
        await desk.hand(bob, "page", [], 1)
        await desk.hand(eve, "page", [], 1)
        await answer(desk, bob, 0)
        await desk.hand(bob, "page", [], 1)

        async def seen(who):
            return [row for row in range(8) if await desk.may_see(who, row)]

        # Question k is about rows 2 k and 2 k + 1.
        assert await seen(bob) == [0, 1, 4, 5]
        assert await seen(eve) == [2, 3]
        assert await seen(ANN) == list(range(8))
        await desk.undo(bob, "page", "u1", 0)
        assert await seen(bob) == [0, 1, 4, 5]

    run(make(), work)


def test_the_trail_tells_what_was_done_to_others(make):
    async def work(desk):
        await supply(desk, 3)
        bob = await person(desk, "Bob")
        await answer(desk, bob, 0)
        await answer(desk, bob, 1)
        await desk.comment(bob, "c0", 0, "my own")
        await desk.undo(bob, "page", "u0", 1)
        await desk.comment(ANN, "c1", 0, "are you sure?")
        await desk.edit(ANN, "e1", 0, -1)
        await desk._do(lambda clerk: clerk.name_groups(ANN, "n1", NAMES))
        assert await texts(desk) == [
            "Ann named the groups: “good”, “bad”.",
            "Ann changed the answer of Bob to question 0.",
            "Ann commented on the answer of Bob to question 0.",
            "Ann took part for the first time, as owner.",
            "Bob took part for the first time.",
            "Ann invited Bob as annotator.",
        ]
        assert len(await texts(desk, "Bob")) == 4

    run(make(), work)


NAMES = [{"name": name, "members": ["p1"]} for name in ("good", "bad")]


def test_what_one_server_revokes_another_one_refuses_at_once(tmp_path, postgresql):
    points = tmp_path / "points.csv"
    points.write_text("id,size\n" + "".join(f"p{k},{k}\n" for k in range(40)))
    address = postgresql.make_database()

    def desk():
        return Desk(address, points, room=None, patience=0.0)

    async def work():
        one, two = desk(), desk()
        await one.open()
        await two.open()
        try:
            secret = await one.secret()
            assert await two.secret() == secret
            bob = await person(one, "Bob")
            # Known there as soon as it is here, and not when that next looks round.
            assert (await two.invitations()).of("Bob", bob.invitation).stands
            await one.members.revoke("Ann", bob.invitation, "Bob", "r1")
            assert not (await two.invitations()).of("Bob", bob.invitation).stands
            await supply(one, 1)
            eve = await person(one, "Eve")
            await two.hand(eve, "page", [], 1)
            await one.members.revoke("Ann", eve.invitation, "Eve", "r2")
            with pytest.raises(InvitationEnded):
                await answer(two, eve, 0)
            await one.secret("Ann", new=True)
            assert (await two.invitations()).renewed > 0
            assert await two.secret() == await one.secret() != secret
        finally:
            await one.close()
            await two.close()

    asyncio.run(asyncio.wait_for(work(), 120))


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("invite", {"name": "Bob"}),
        ("invite", {"name": "Bob", "role": "king", "id": "k1"}),
        ("revoke", {"id": "k1"}),
        ("join", {}),
        ("download", {}),
        ("export", {"place": "x", "n_events": "many"}),
    ],
)
def test_a_forged_log_is_told_and_not_believed(kind, body):
    event = Event(1, "", "Eve", kind, None, None, body)
    with pytest.raises((KeyError, TypeError, ValueError)):
        Records.read([event])


def test_who_joined_by_a_link_is_no_link_of_an_earlier_version():
    known = Invitations()
    for number, (owner, id_) in enumerate([(True, None), (False, "k1")], 1):
        body = {"owner": owner, "invitation": id_}
        known = known.after(Event(number, "", "Eve", "join", None, None, body))
    assert known.listed() == []
