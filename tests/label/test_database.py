"""A database that several processes share: what a file does not have."""

import asyncio
import threading
import time

import pytest
from sqlalchemy.exc import DBAPIError

from pairlearn import Pairs
from pairlearn.cli.options import _answers
from pairlearn.data.databases import address_of, called, is_address, make_engine
from pairlearn.files.answers_store import VERSION, StoreError
from pairlearn.files.tables.reading import read_table
from pairlearn.label.clerk import Clerk
from pairlearn.label.desk import Desk, Given, Person, Refused
from pairlearn.label.made_files import MadeFiles
from pairlearn.label.store import Store, copy_store
from tests.support.databases import execute
from tests.support.label_events import asked_body

ANN, BOB = Person("Ann", owner=True), Person("Bob")
POINTS = "id,size\n" + "".join(f"p{k},{k}\n" for k in range(40))
# For what happens in another thread or process; far more than it takes.
LONG = 120.0


@pytest.fixture
def address(postgresql):
    return postgresql.make_database()


@pytest.fixture
def stores(address):
    """Two processes, as far as the database knows."""
    both = [Store(address, time.time) for _ in range(2)]
    yield both
    for store in both:
        store.close()


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(POINTS)
    return path


def run(work):
    return asyncio.run(asyncio.wait_for(work, LONG))


async def until(found):
    """Wait until something is so, whatever other threads take for it."""
    while not await found():
        await asyncio.sleep(0.05)


def test_numbers_have_no_gaps_whoever_adds(stores, address):
    """Also if a transaction is undone, and while many add at the same time."""

    def fail(store, clerk):
        with store.transaction():
            clerk.follow()
            store.append("join", {}, who="nobody")
            raise ZeroDivisionError

    def add(store, name):
        clerk = Clerk(store, time.time, 600.0)
        for number in range(30):
            with store.transaction():
                clerk.follow()
                clerk._add("join", {"owner": False}, name, None, f"{name}{number}")
            if number % 7 == 0:
                with pytest.raises(ZeroDivisionError):
                    fail(store, clerk)
        found.append(clerk)

    found = []
    threads = [
        threading.Thread(target=add, args=(store, name))
        for store, name in zip(stores, "AB", strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    rows = execute(address, "SELECT number, request FROM events ORDER BY number")
    assert [number for number, _ in rows] == list(range(1, 61))
    assert {request for _, request in rows} == {
        f"{n}{k}" for n in "AB" for k in range(30)
    }
    assert len(found) == 2


def test_two_processes_take_other_questions_and_do_not_wait(stores):
    one, two = (Clerk(store, lambda: 1000.0, 600.0) for store in stores)
    with stores[0].transaction():
        one.follow()
        for number in range(6):
            one.ask(number, asked_body(2 * number, 2 * number + 1))
        for person in (ANN, BOB):
            one._meet(person)
    # Both are in the middle of a transaction, and neither has committed.
    with stores[0].transaction(log=False):
        one.follow()
        first = one.hand(ANN, "a", [], 2)
        with stores[1].transaction(log=False):
            two.follow()
            second = two.hand(BOB, "b", [], 3)
    assert [asked.number for asked in first] == [0, 1]
    assert [asked.number for asked in second] == [2, 3, 4]
    # The other process knows who has what, and who answered.
    with stores[1].transaction():
        two.follow()
        assert two.answer(BOB, Given("r1", 2, 1)).status == "saved"
    with stores[0].transaction():
        one.follow()
        assert one.records.own("Bob", 2).said == 1
        assert [a.number for a in one.hand(BOB, "b", [], 2)] == [3, 4]
        # What was sent to the other process is known here.
        last = stores[0].last
        assert one.answer(BOB, Given("r1", 2, 1)).status == "saved"
        assert stores[0].last == last


def test_one_process_trains_and_another_takes_over(stores):
    assert [store.may_train() for store in stores] == [True, False]
    assert stores[0].may_train()
    stores[0].close()
    # The server notices the end of a connection in a moment.
    begin = time.monotonic()
    while not stores[1].may_train():
        assert time.monotonic() < begin + LONG
        time.sleep(0.01)


def test_a_connection_that_is_lost_is_made_again(stores, postgresql):
    store = stores[0]
    with store.transaction():
        store.append("join", {}, who="Ann")

    def lose():
        with store.transaction():
            store.append("join", {}, who="Bob")
            postgresql.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'pairlearn label'"
            )

    with pytest.raises(DBAPIError):
        lose()
    assert (store.last, store.session) == (1, 0)
    with store.transaction():
        store.append("join", {}, who="Eve")
    assert store.session == 1
    assert [event.who for event in store.events()] == ["Ann", "Eve"]


def test_desks_of_two_processes_are_one(address, points):
    async def work():
        desks = [Desk(address, points, room=None, patience=0.0) for _ in range(2)]
        one, two = desks
        for desk in desks:
            await desk.open()

        def ask(clerk):
            for number in range(4):
                clerk.ask(number, asked_body(2 * number, 2 * number + 1))

        await one._do(ask)
        first = await one.hand(ANN, "a", [], 2)
        second = await two.hand(BOB, "b", [], 2)
        numbers = [asked.number for h in (first, second) for asked in h.questions]
        assert numbers == [0, 1, 2, 3]
        # A page goes on wherever its proxy leads it.
        assert await two.hand(ANN, "a", [], 2) == first
        outcomes, _ = await two.answer(ANN, "a", [Given("r1", 0, 1)], [1], 2)
        again, _ = await one.answer(ANN, "a", [Given("r1", 0, 1)], [1], 2)
        assert outcomes == again
        assert [i.question for i in (await one.history(ANN)).items] == [0]
        secrets = [
            await desk.settle_fact("secret", name)
            for desk, name in zip(desks, "xy", strict=True)
        ]
        assert secrets == ["x", "x"]
        # The trainer's panel is seen by both.
        one._training.heard(("ready", "mark"))
        one._training.heard(("panel", {"version": 7}))

        async def is_seen():
            progress = await two.progress()
            return progress.get("version") == 7 and progress["back_room"] == "ready"

        await until(is_seen)
        assert (await two.progress())["answers"]["same"] == 1
        # It ends, and the other one takes over.
        await one.close()

        async def trains():
            return two._training._is_trainer

        await until(trains)
        assert (await two.hand(BOB, "b", [], 2)).questions == second.questions
        await two.close()

    run(work())


def test_people_of_other_processes_are_told_when_nothing_is_left(address, points):
    async def work():
        one, two = (Desk(address, points, room=None, patience=LONG) for _ in range(2))
        await one.open()
        await two.open()
        orders = asyncio.Queue()
        loop = asyncio.get_running_loop()

        class Outbox:
            def put(self, message):
                loop.call_soon_threadsafe(orders.put_nowait, message)

        one._training._outbox = Outbox()
        one._training.heard(("ready", "mark"))
        waits = asyncio.create_task(two.hand(BOB, "b", [], 2))
        while (order := await orders.get())[0] != "choose" or order[2] != "Bob":
            one._training.heard(("asked", [], False))
        one._training.heard(("asked", [(0, asked_body(0, 1))], True))
        hand = await waits
        assert [asked.number for asked in hand.questions] == [0]
        await two.answer(BOB, "b", [Given("r1", 0, 1)], [], 0)
        waits = asyncio.create_task(two.hand(BOB, "b", [], 2))
        while not waits.done():
            done, _ = await asyncio.wait(
                [waits, asyncio.ensure_future(orders.get())],
                return_when=asyncio.FIRST_COMPLETED,
            )
            del done
            one._training.heard(("asked", [], True))
        assert waits.result().done
        await one.close()
        await two.close()

    run(work())


def test_a_process_with_another_table_is_refused(address, points, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(POINTS + "p40,40\n")

    async def work():
        one, two = Desk(address, points, room=None), Desk(address, other, room=None)
        await one.open()
        try:
            with pytest.raises(StoreError, match="give each of them the same file"):
                await two.open()
        finally:
            await one.close()

    run(work())


def test_while_the_database_is_away_people_are_told_and_the_server_goes_on(
    address, points, postgresql
):
    async def work():
        desk = Desk(address, points, room=None, patience=0.0)
        await desk.open()
        await desk._do(lambda clerk: clerk.ask(0, asked_body(0, 1)))
        assert len((await desk.hand(ANN, "a", [], 1)).questions) == 1
        await asyncio.to_thread(postgresql.stop, "immediate")
        given = Given("r1", 0, 1)
        for _ in range(3):
            with pytest.raises(
                Refused, match="cannot be reached at the moment"
            ) as told:
                await desk.answer(ANN, "a", [given], [], 0)
            assert told.value.status == 503
        await asyncio.to_thread(postgresql.start)

        async def is_saved():
            try:
                outcomes, _ = await desk.answer(ANN, "a", [given], [], 0)
            except Refused:
                return False
            return outcomes[0].status == "saved"

        await until(is_saved)
        assert [i.said for i in (await desk.history(ANN)).items] == [1]
        await desk.close()

    run(work())


def test_fit_and_downloads_read_the_database(address, points, tmp_path):
    import pandas as pd

    store = Store(address, time.time)
    with pytest.raises(ValueError, match="holds no answer yet"):
        read_table(address)
    with store.transaction():
        for number in range(3):
            store.append("ask", asked_body(number, number + 5), question=number)
            store.append("answer", {"said": 1 - number}, who="Ann", question=number)
    store.close()
    table = read_table(address)
    assert table.columns["answer"].tolist() == ["same", "unsure", "different"]
    frame = pd.read_csv(points, index_col="id")
    pairs, t = Pairs.from_answers(frame, address)
    assert (pairs.index.tolist(), t.tolist()) == ([[0, 5], [2, 7]], [1, -1])
    path = tmp_path / "copy.sqlite"
    copy_store(address, path)
    again, _ = Pairs.from_answers(frame, path)
    assert again.index.tolist() == pairs.index.tolist()
    with pytest.raises(StoreError, match="holds answers already"):
        copy_store(path, address)


def test_a_newer_database_and_one_of_somebody_else_are_left_alone(postgresql, address):
    Store(address, time.time).close()
    Store(address, time.time).close()
    assert VERSION == 2
    execute(address, "UPDATE pairlearn_version SET version_num = '3'")
    with pytest.raises(StoreError, match="was written by a newer version"):
        Store(address, time.time)
    foreign = postgresql.make_database()
    execute(foreign, "CREATE TABLE events (title text)")
    with pytest.raises(
        StoreError, match="has tables that pairlearn label did not make"
    ):
        Store(foreign, time.time)
    tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = "
    assert execute(foreign, f"{tables}current_schema()") == [("events",)]
    empty = postgresql.make_database()
    with pytest.raises(StoreError, match="holds no answers of pairlearn label"):
        Pairs.from_answers(None, empty)


def test_what_cannot_be_reached_is_told_in_one_sentence(postgresql):
    postgresql.sql("CREATE ROLE guest LOGIN")
    place = address_of(postgresql.make_database())
    addresses = {
        "there is no database": place.set(database="nowhere"),
        "does not let you in": place.set(username="nobody_here"),
        "no right to make": place.set(username="guest"),
        "no server answers there": place.set(query={"host": "/nowhere"}),
        "no machine of that name": place.set(host="nowhere.invalid", query={}),
    }
    for told, url in addresses.items():
        where = url.set(password="s3cret")  # noqa: S106 - of nobody
        where = where.render_as_string(hide_password=False)
        with pytest.raises(StoreError, match=told) as problem:
            Store(where, time.time)
        assert "s3cret" not in str(problem.value)
        assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("mysql://ann@localhost/team", "the database of a team is PostgreSQL"),
        ("postgresql+psycopg2://ann@localhost/team", "cannot be kept at"),
        ("postgresql+psycopg://ann@localhost:port/team", "is not understood"),
    ],
)
def test_other_addresses_are_refused(address, told):
    assert is_address(address)
    with pytest.raises(StoreError, match=told):
        make_engine(address)


def test_an_address_is_called_by_what_is_no_secret():
    address = "postgresql+psycopg://ann:s3cret@db.example.org:5433/team?sslmode=require"
    assert called(address) == "postgresql://ann@db.example.org:5433/team"
    assert called("postgresql:/ann:s3cret@host/team") == "postgresql://ann@host/team"


def test_an_address_survives_the_command_line():
    for said, host in [
        ("postgresql+psycopg:///team", None),
        ("postgresql+psycopg://h/team", "h"),
    ]:
        url = address_of(_answers(said))
        assert (url.host or None, url.database) == (host, "team")
        assert called(_answers(said)) == f"postgresql://{host or ''}/team"


def test_files_are_made_of_a_database_without_its_password(
    address, points, tmp_path, monkeypatch
):
    store = Store(address, time.time)
    with store.transaction():
        store.keep_fact("secret", "s3cret")
        store.append("ask", asked_body(0, 5), question=0)
        store.append("answer", {"said": 1}, who="Ann", question=0)
    store.close()
    started = []
    start = asyncio.create_subprocess_exec

    async def note(*words, **options):
        started.append(words)
        return await start(*words, **options)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", note)

    async def work():
        async def known():
            return 1, []

        files = MadeFiles(points, address, known=known)
        table = await files.pairs_csv()
        assert table.decode().splitlines()[1].startswith("p0,p5,same,Ann,")
        return await files._answers_file(tmp_path)

    path = run(work())
    copy = Store(path, time.time)
    assert [event.kind for event in copy.events()] == ["ask", "answer"]
    assert copy.facts() == {}
    copy.close()
    assert len(started) == 2
    assert not any(address in str(word) for words in started for word in words)
