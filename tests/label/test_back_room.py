"""The back room for real: a process that chooses, learns, dies and comes back."""

import asyncio
import os
import signal
import subprocess
import sys
import time

import pytest

from pairlearn.label.desk import Desk, Given, Person, Refused
from pairlearn.label.store import Store
from tests.support.label_events import dies, two_kinds

ANN = Person("Ann", owner=True)
HOOK = "tests.support.quick_model:quick_model"
# Far more than anything here takes, also beside other programs.
LONG = 120.0


@pytest.fixture
def points(tmp_path):
    return tmp_path / "points.csv"


@pytest.fixture
def make(tmp_path, points):
    def make(given=None, **options):
        options = {"hook": HOOK, "patience": LONG} | options
        return Desk(tmp_path / "answers.sqlite", points, given, **options)

    return make


def run(desk, work):
    async def whole():
        await desk.open()
        try:
            return await work(desk)
        finally:
            await desk.close()

    return asyncio.run(asyncio.wait_for(whole(), 2 * LONG))


async def answer_some(desk, person, kinds, n):
    """Answer so many questions; return their numbers, and whether none is left."""
    page, numbers = f"page of {person.name}", []
    hand = await desk.hand(person, page, [], 1)
    while len(numbers) < n and not hand.done:
        if not hand.questions:
            assert hand.waiting
            hand = await desk.hand(person, page, [], 1)
            continue
        (question,) = hand.questions
        same = kinds[question.left] == kinds[question.right]
        said = 1 if same else -1
        given = Given(f"{person.name}-{question.number}", question.number, said)
        numbers.append(question.number)
        want = int(len(numbers) < n)
        outcomes, hand = await desk.answer(person, page, [given], [], want)
        assert outcomes[0].status == "saved"
    return numbers, hand.done


async def until(desk, holds):
    """Wait until the panel is as it should be."""
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        panel = await desk.progress()
        if holds(panel):
            return panel
        await asyncio.sleep(0.02)
    raise AssertionError(f"the panel stays as it is: {panel}")


def learned(n):
    return lambda panel: panel.get("curve") and panel["curve"][-1]["n_answers"] >= n


def test_from_the_first_question_to_a_panel(make, points):
    kinds = two_kinds(points, 80)

    async def work(desk):
        assert await desk.ready()
        first = await until(desk, lambda panel: "no_certificate" in panel)
        assert first["version"] == 0
        assert "There is no model yet" in first["no_certificate"]
        await answer_some(desk, ANN, kinds, 40)
        panel = await until(desk, learned(25))
        assert sum(group["share"] for group in panel["groups"]) == pytest.approx(1)
        for group in panel["groups"]:
            assert len(group["typical"]) == len(set(group["typical"])) == 6
            assert len({kinds[row] for row in group["typical"]}) == 1
            assert group["members"] == [f"p{row}" for row in group["typical"]]
        # The second column of two, without the ids.
        assert panel["columns"][0] == 1
        assert panel["suspicious"] == panel["contradictions"] == []
        names = [
            {"key": group["key"], "name": f"kind {kinds[group['typical'][0]]}"}
            for group in panel["groups"]
        ]
        await desk.name_groups(ANN, "names", names)

        def named(panel):
            return all(group["name"] for group in panel["groups"])

        panel = await until(desk, named)
        await answer_some(desk, ANN, kinds, 15)
        panel = await until(desk, learned(panel["curve"][-1]["n_answers"] + 1))
        for group in panel["groups"]:
            assert group["name"] == f"kind {kinds[group['typical'][0]]}"

    run(make({"noise": None}), work)


def test_a_back_room_that_is_killed_comes_back_and_so_does_the_front(
    make, points, tmp_path
):
    kinds = two_kinds(points, 80)

    async def before(desk):
        numbers, _ = await answer_some(desk, ANN, kinds, 20)
        await until(desk, learned(10))
        pid = desk.back_room_pid
        os.kill(pid, signal.SIGKILL)
        # People go on meanwhile, and questions come as soon as it is back.
        more, _ = await answer_some(desk, ANN, kinds, 20)
        await until(desk, lambda _: desk.back_room_pid not in (pid, None))
        await desk.ready()
        numbers += more
        assert len(set(numbers)) == len(numbers)
        panel = await until(desk, learned(25))
        assert panel["back_room"] == "ready"
        return numbers, panel["curve"]

    async def after(desk):
        # The model is there again, without a new one.
        panel = await until(desk, learned(25))
        more, _ = await answer_some(desk, ANN, kinds, 5)
        return more, panel["curve"]

    numbers, curve = run(make({"noise": None}), before)
    more, again = run(make(), after)
    assert again[: len(curve)] == curve
    assert not set(more) & set(numbers)
    store = Store(tmp_path / "answers.sqlite", time.time)
    lessons = [event for event in store.events() if event.kind == "learn"]
    store.close()
    assert len(lessons) >= len(again)
    for event in lessons:
        # It knew of answers up to there, and came later.
        assert 0 < event.body["upto"] < event.number


def test_other_points_are_refused_with_the_way_out(make, points, tmp_path):
    two_kinds(points)

    async def work(desk):
        with pytest.raises(Refused, match="are not those that the answers") as told:
            await desk.ready()
        assert told.value.status == 503
        assert (await desk.progress())["back_room"] == "failed"
        with pytest.raises(Refused, match="are not those that the answers"):
            await desk.hand(ANN, "a", [], 1)

    store = Store(tmp_path / "answers.sqlite", time.time)
    with store.transaction():
        store.keep_fact("points", "60 x 2, another mark")
    store.close()
    run(make(), work)


def test_one_that_cannot_live_is_told(make, points, monkeypatch):
    two_kinds(points)
    monkeypatch.setattr("pairlearn.label.link._PAUSE", 0.0)

    async def work(desk):
        with pytest.raises(Refused, match="has ended several times"):
            await desk.ready()

    run(make(room=dies), work)


def test_it_ends_when_the_front_is_killed(points, tmp_path):
    two_kinds(points)
    program = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from pairlearn.label.desk import Desk\n"
        "async def main():\n"
        "    desk = Desk(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "    await desk.open()\n"
        "    await desk.ready()\n"
        "    print(desk.back_room_pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "if __name__ == '__main__':\n"
        "    asyncio.run(main())\n"
    )
    script = tmp_path / "front.py"
    script.write_text(program)
    with subprocess.Popen(
        [sys.executable, script, tmp_path / "answers.sqlite", points],
        stdout=subprocess.PIPE,
        text=True,
    ) as front:
        pid = int(front.stdout.readline())
        front.kill()
    end = time.monotonic() + LONG
    while _lives(pid) and time.monotonic() < end:
        time.sleep(0.02)
    assert not _lives(pid)


def _lives(pid):
    """Whether a process runs, and is not one that nobody has cleared away."""
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123 - it may vanish
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
